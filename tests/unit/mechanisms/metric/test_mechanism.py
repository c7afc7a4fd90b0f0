"""Statements under a metric: their exact part, what they cost, what is refused."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

import dpsql
import dpsql.testing
from dpsql.errors import BudgetExceeded, PolicyError, ProgrammingError, UnsupportedQuery
from dpsql.owner.checking.metric_report import metric_findings
from dpsql.plan.plans import Plan
from dpsql.policy import load_policy
from dpsql.privacy.kinds import Free, MetricLoss
from dpsql.privacy.loss import Composed
from dpsql.session import Session
from dpsql.sql.parse import parse
from dpsql.sql.syntax import QueryStatement
from dpsql.testing import FixedSampler, TestProxy
from tests.unit.mechanisms.metric.homes import asked, homes, opened, policy

OPTIONS: dict[str, Any] = {"mechanism": "metric", "metric": "home", "multiple": 1}


@pytest.fixture(scope="module")
def proxy(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TestProxy]:
    with opened(tmp_path_factory.mktemp("homes"), policy()) as proxy:
        yield proxy


@pytest.fixture
def session(proxy: TestProxy) -> Session:
    return proxy.session(analyst="ana")


@pytest.mark.every(2)
@pytest.mark.parametrize(
    ("sql", "rows"),
    [
        ("SELECT COUNT(*) FROM people", [(10,)]),  # nobody is left out: one row is of nobody
        ("SELECT COUNT(*) FROM people WHERE age >= 4", [(5,)]),  # 9 counts as 5
        ("SELECT COUNT(*) FROM people WHERE town = 'Alm'", [(5,)]),  # NULL counts as the first town
        ("SELECT sex, COUNT(*) FROM people GROUP BY sex", [("F", 5), ("M", 4), ("X", 1)]),
        ("SELECT SUM(age), COUNT(*) FILTER (WHERE sex = 'M') FROM people", [(31, 4)]),
        ("SELECT AVG(age) FROM people", [(3.1,)]),
        ("SELECT AVG(t.height) FROM people p JOIN towns t ON p.town = t.name", [(65.0,)]),
        ("SELECT region, COUNT(*) FROM people p JOIN towns ON name = town GROUP BY 1", [("hills", 7), ("plain", 3)]),
        ("SELECT COUNT(*) FROM people p LEFT JOIN towns t ON p.town = t.name WHERE t.height > 50", [(7,)]),
        ("SELECT COUNT(*) FROM people WHERE age + 1 > 3 AND (sex = 'F' OR town = 'Alm')", [(5,)]),
        ("SELECT sex, town, COUNT(*) FROM people WHERE age < 1 GROUP BY sex, town LIMIT 1", [("F", "Alm", 1)]),
        ("SELECT MODE(sex) FROM people WHERE town = 'Alm'", [("M",)]),
        ("SELECT MODE(town) FROM people GROUP BY sex ORDER BY sex", [("Alm",), ("Alm",), ("Cern",)]),
        ("SELECT age / 2 AS pair, COUNT(*) FROM people WHERE age IN (1, 3) GROUP BY age / 2 HAVING COUNT(*) > 0",
         [(0.5, 1), (1.5, 1)]),
        ("SELECT SUM(n) AS n FROM (SELECT sex, COUNT(*) AS n FROM people GROUP BY sex)", [(10,)]),
    ],
)  # fmt: skip
def test_without_noise_the_answer_is_that_of_all_rows(
    session: Session, sql: str, rows: list[tuple[object, ...]]
) -> None:
    assert asked(session, sql, multiple=0.01) == rows


@pytest.mark.parametrize(
    ("sql", "cost"),
    [
        ("SELECT COUNT(*) FROM people WHERE age >= 4", {"age": 0.5}),
        ("SELECT COUNT(*) FROM people WHERE sex = 'F'", {"sex": 0.5}),
        ("SELECT COUNT(*) FROM people WHERE age >= 4 AND sex = 'F'", {"age": 0.5, "sex": 0.125}),
        ("SELECT COUNT(*) FROM people", {}),
        ("SELECT age, COUNT(*) FROM people GROUP BY age", {"age": 0.5}),
        ("SELECT COUNT(*) FROM people WHERE town = 'Alm'", {"town": 0.5}),
    ],
)
def test_only_attributes_that_a_statement_looks_at_pay(session: Session, sql: str, cost: dict[str, float]) -> None:
    quote = session.explain(sql, **OPTIONS | {"multiple": 0.5})
    paid = quote.cost.metric.get("home", {})
    assert quote.cost.epsilon == 0
    assert isinstance(paid, dict) and {name: pytest.approx(x) for name, x in paid.items()} == cost


@pytest.mark.parametrize(
    ("sql", "scale"),
    [
        ("SELECT COUNT(*) FROM people WHERE age >= 4", 2),  # neighbours are 0.5 apart
        ("SELECT COUNT(*) FROM people WHERE sex = 'F'", 0.5),
        ("SELECT SUM(age) FROM people", 2),
        ("SELECT age, COUNT(*) FROM people WHERE sex = 'F' GROUP BY age", 4),  # out of one group, into the next
        ("SELECT COUNT(*) FROM people WHERE town = 'Alm'", 2),  # 5 km to Bach
        ("SELECT SUM(t.height) FROM people p JOIN towns t ON p.town = t.name", 80),  # 40 m in 5 km
        ("SELECT COUNT(*) FROM people WHERE town = 'Cern'", Fraction(1, 45) * 10),
    ],
)
def test_the_noise_is_that_of_the_closest_rows_it_tells_apart(session: Session, sql: str, scale: float) -> None:
    (column,) = session.explain(sql, **OPTIONS).columns
    assert column.mechanism == "metric"
    assert column.scale == pytest.approx(float(scale), rel=1e-6)


def test_a_statement_is_answered_again_for_free_and_another_is_not(tmp_path: Path) -> None:
    with opened(tmp_path, policy(), FixedSampler(5)) as proxy:
        session = proxy.session(analyst="ana")
        old, again, young = (
            session.query(f"SELECT COUNT(*) FROM people WHERE age {condition}", **OPTIONS)
            for condition in (">= 3", ">= 3", "< 3")
        )
        assert (old.replayed, again.replayed, young.replayed) == (False, True, False)
        assert old.rows == again.rows
        (first, second) = proxy.ledger.log()[-2:]
        assert first.loss == second.loss == Composed((MetricLoss("home", {"age": Fraction(1)}),))


def test_every_attribute_has_a_limit_of_its_own_and_epsilon_is_left_alone(tmp_path: Path) -> None:
    with opened(tmp_path, policy()) as proxy:
        session = proxy.session(analyst="ana")
        for low in range(1, 5):
            asked(session, f"SELECT COUNT(*) FROM people WHERE age >= {low}")
        with pytest.raises(BudgetExceeded, match=r"costs metric home\.age 1; analyst 'ana' has 0 of 4 left"):
            asked(session, "SELECT COUNT(*) FROM people WHERE age >= 5")
        asked(session, "SELECT COUNT(*) FROM people WHERE sex = 'F'")
        assert session.budget().spent.metric == {"home": {"age": 4, "sex": 1}}
        assert session.budget().remaining == 5
        assert "age 4, sex 1 times metric home" in str(session.budget())


def test_a_constant_is_exact_where_the_number_of_rows_is_public_and_pays_for_presence_elsewhere(tmp_path: Path) -> None:
    with opened(tmp_path, policy("add_remove", presence=True)) as proxy:
        session = proxy.session(analyst="ana")
        quote = session.explain("SELECT COUNT(*) FROM people", **OPTIONS)
        assert (quote.columns[0].scale, quote.cost.metric) == (1, {"home": {"presence": 1}})
        asked(session, "SELECT COUNT(*) FROM people")
        assert proxy.ledger.log()[-1].loss == Composed((MetricLoss("home", {"presence": Fraction(1)}),))
    (tmp_path / "public").mkdir()
    with opened(tmp_path / "public", policy()) as proxy:
        session = proxy.session(analyst="ana")
        assert session.explain("SELECT COUNT(*) FROM people", **OPTIONS).columns[0].scale == 0
        asked(session, "SELECT COUNT(*) FROM people")
        assert proxy.ledger.log()[-1].loss == Composed((Free("public"),))


@pytest.mark.parametrize("combine", ["sup", "l2"])
def test_a_metric_that_is_no_sum_costs_one_number(tmp_path: Path, combine: str) -> None:
    with opened(tmp_path, policy(combine=combine)) as proxy:
        session = proxy.session(analyst="ana")
        quote = session.explain("SELECT COUNT(*) FROM people WHERE age >= 4 AND sex = 'F'", **OPTIONS)
        assert quote.cost.metric == {"home": 1}
        asked(session, "SELECT COUNT(*) FROM people WHERE age >= 4")
        assert session.budget().spent.metric == {"home": 1}


REFUSED = [
    ("SELECT COUNT(*) FROM people WHERE shoe > 40", "shoe: it is no attribute of metric home"),
    ("SELECT SUM(shoe) FROM people", "ask for other columns at a price in epsilon"),
    ("SELECT COUNT(DISTINCT id) FROM people", "a metric prices COUNT(*), COUNT(x)"),
    ("SELECT MEDIAN(age) FROM people", "a metric prices COUNT(*), COUNT(x)"),
    ("SELECT COUNT(*, epsilon => 0.1) FROM people", "a metric prices COUNT(*), COUNT(x)"),
    ("SELECT COUNT(*) FROM visits", "metric home is one of the rows of people, not of visits"),
    ("SELECT COUNT(*) FROM people p JOIN visits v ON p.id = v.id", "not of people, visits"),
    ("SELECT COUNT(*) FROM people WHERE id IN (SELECT id FROM visits)", "not of people, visits"),
    ("SELECT COUNT(*) FROM (SELECT id, MAX(age) AS a FROM people GROUP BY id) WHERE a > 3", "reads rows as they are"),
    ("SELECT COUNT(*) FROM (SELECT age AS a FROM people UNION ALL SELECT age FROM people)", "not of people, people"),
    ("SELECT COUNT(*) FROM people p JOIN towns t ON p.age = t.height", "is not joined on its key name alone"),
    ("SELECT COUNT(*) FROM people p JOIN towns t ON p.town = t.name AND p.sex = t.region", "key name alone"),
    ("SELECT MODE(age) FROM people WHERE sex = 'F' AND sex = 'M'", "it is the same for all rows"),
]


@pytest.mark.parametrize(("sql", "why"), REFUSED)
def test_what_is_no_linear_query_over_the_attributes_is_refused(proxy: TestProxy, sql: str, why: str) -> None:
    before = len(proxy.ledger.log())
    with pytest.raises(UnsupportedQuery) as refused:
        asked(proxy.session(analyst="ana"), sql)
    assert why in str(refused.value)
    assert len(proxy.ledger.log()) == before


@pytest.mark.parametrize(
    ("options", "why"),
    [
        ({"mechanism": "metric"}, "mechanism 'metric' needs a metric. Write metric = NAME; the policy has home."),
        ({"metric": "home"}, "is priced by a multiple of it. Write multiple = 0.5"),
        ({"multiple": 1}, "needs a metric"),
        ({"metric": "work", "multiple": 1}, "There is no metric work. The policy has home."),
        ({"metric": "home", "multiple": 1, "epsilon": 1}, "multiple is the whole price of a statement under a metric"),
        ({"metric": "home", "multiple": 1, "delta": 1e-9}, "Leave delta out"),
        ({"metric": "home", "multiple": 0}, "multiple is 0; write a number above 0"),
        ({"metric": "home", "multiple": 1, "mechanism": "laplace"}, "not 'laplace'. Leave one out"),
        ({"metric": "home", "multiple": 1, "max_groups_per_unit": 2}, "max_groups_per_unit means nothing"),
        ({"metric": "home", "multiple": 1, "gamma": 0.1}, "gamma is an option of mechanism random_dp"),
        ({"metric": "home", "multiple": 1, "scale": (1, 2)}, "scale is an option of mechanism friendly_core"),
        ({"metric": "home", "multiple": 1, "min_privacy_units_per_group": 2}, "groups that must be chosen"),
        ({"metric": "home", "multiple": 1, "privacy_unit_column": "nobody"}, "privacy_unit_column is nobody"),
    ],
)
def test_options_that_do_not_fit_are_refused(session: Session, options: dict[str, Any], why: str) -> None:
    with pytest.raises(ProgrammingError) as refused:
        session.query("SELECT COUNT(*) FROM people", **options)
    assert why in str(refused.value)


def test_the_price_stands_in_the_statement_or_in_the_session(session: Session) -> None:
    clause = "WITH DIFFERENTIAL_PRIVACY OPTIONS (mechanism = 'metric', metric = 'home', multiple = 0.25)"
    assert session.explain(f"SELECT {clause} COUNT(*) FROM people WHERE age > 3").cost.metric == {"home": {"age": 0.25}}
    session.query("SET metric = 'home'")
    session.query("SET multiple = 0.125")
    assert session.explain("SELECT COUNT(*) FROM people WHERE age > 3").cost.metric == {"home": {"age": 0.125}}
    # A price in epsilon is another one.
    assert session.explain("SELECT COUNT(*) FROM people WHERE age > 3", epsilon=0.1).cost.epsilon == 0.1


def test_several_answers_share_the_price(session: Session) -> None:
    quote = session.explain(
        "SELECT COUNT(*) FILTER (WHERE age > 3), COUNT(*) FILTER (WHERE sex = 'F') FROM people", **OPTIONS
    )
    assert quote.cost.metric == {"home": {"age": 1, "sex": 1}}  # each has its own attribute for itself
    quote = session.explain(
        "SELECT COUNT(*) FILTER (WHERE sex = 'M'), COUNT(*) FILTER (WHERE sex = 'F') FROM people", **OPTIONS
    )
    paid = quote.cost.metric["home"]
    assert isinstance(paid, dict) and paid["sex"] <= 1


def test_the_budget_says_what_all_answers_mean_together(tmp_path: Path) -> None:
    with opened(tmp_path, policy("add_remove", presence=True)) as proxy:
        session = proxy.session(analyst="ana")
        session.query("SELECT COUNT(*) FROM people", epsilon=0.5)
        assert session.budget().promise == ""
        asked(session, "SELECT COUNT(*) FROM people WHERE age >= 4")
        # One scale is steep enough for two years that are 0.5 apart: presence, 1, then pays half.
        assert session.budget().promise == (
            "In total, a change of one row from i to j loses at most epsilon 1 + 1 d_age(i, j) + 0.5 d_presence(i, j) "
            "by metric home: epsilon 2 for the two rows that are farthest apart."
        )
        assert session.budget().promise in str(session.budget())


def test_a_delta_counts_more_for_a_change_than_for_a_coming(tmp_path: Path) -> None:
    text = policy("add_remove", presence=True).replace("total: {epsilon: 10}", "total: {epsilon: 10, delta: 0.1}")
    with opened(tmp_path, text.replace("ana: {epsilon: 5}", "ana: {epsilon: 5, delta: 0.01}")) as proxy:
        session = proxy.session(analyst="ana")
        session.query("SELECT COUNT(*) FROM people", epsilon=0.5, delta=1e-6, mechanism="gaussian")
        asked(session, "SELECT COUNT(*) FROM people")
        said = "but for a chance of 2.649e-06 (delta: 1e-06 times 1 + e^0.5, as one person goes and one comes)."
        assert session.budget().promise.endswith(said)


def test_groups_along_a_chain_are_worked_out_from_counts_up_to_each_value(session: Session) -> None:
    (column,) = session.explain("SELECT age, COUNT(*) FROM people GROUP BY age", **OPTIONS).columns
    (other,) = session.explain("SELECT age, COUNT(*) FROM people WHERE sex = 'F' GROUP BY age", **OPTIONS).columns
    assert (column.scale, other.scale) == (None, 4)  # a row leaves one group and enters the next: 2 / 0.5
    # Two noises of scale 2 each, in place of one of scale 4.
    assert (column.half_width, other.half_width) == (10, 12)
    answer = session.query("SELECT age, COUNT(*) AS n FROM people GROUP BY age", **OPTIONS)
    assert [row[1] for row in answer.rows] == [1, 1, 2, 1, 2, 3]
    assert answer.interval("n")[2] == (-8, 12)
    assert any("noised counts of the rows up to each value" in note for note in answer.notes)


@pytest.mark.every(2, 1)
@pytest.mark.parametrize("presence", [False, True])
def test_the_same_way_as_a_chain_and_as_a_tree_has_the_same_noise(tmp_path: Path, presence: bool) -> None:
    chain = "{kind: chain, epsilon: 0.5}"
    tree = "{kind: tree, edges: [[3, 4, 0.5], [0, 1, 0.5], [2, 1, 0.5], [2, 3, 0.5], [5, 4, 0.5]]}"
    described = policy("add_remove" if presence else "replace_one", presence=presence)
    found = []
    for name, kind in (("chain", chain), ("tree", tree)):
        (tmp_path / name).mkdir()
        with opened(tmp_path / name, described.replace(chain, kind)) as proxy:
            quote = proxy.session(analyst="ana").explain("SELECT age, COUNT(*) FROM people GROUP BY age", **OPTIONS)
            (column,) = quote.columns
            found.append((column.half_width, column.scale))
    assert found[0] == found[1]
    assert (found[0][1] is None) is not presence  # from counts beyond each step, where those are the best way


def test_groups_along_a_tree_are_worked_out_from_counts_beyond_each_branch(tmp_path: Path) -> None:
    tree = "{kind: tree, edges: [[0, 1, 0.5], [0, 2, 0.5], [0, 3, 0.5], [3, 4, 0.5], [3, 5, 0.5]]}"
    with opened(tmp_path, policy().replace("{kind: chain, epsilon: 0.5}", tree)) as proxy:
        sql = "SELECT age, COUNT(*) AS n FROM people GROUP BY age"
        answer = proxy.session(analyst="ana").query(sql, **OPTIONS)
    assert [row[1] for row in answer.rows] == [1, 1, 2, 1, 2, 3]
    assert any("noised counts of the rows beyond each branch of the tree" in note for note in answer.notes)


def test_a_group_that_no_row_can_be_in_is_exactly_0(tmp_path: Path) -> None:
    # No town of the plain is so high: what is shown of it rests on public facts alone.
    sql = (
        "SELECT region, COUNT(*) AS n, SUM(height) FROM people p JOIN towns t ON p.town = t.name WHERE height > 50 "
        "AND age < 9 GROUP BY region"
    )
    for neighbours, presence in (("replace_one", False), ("add_remove", True)):
        (folder := tmp_path / neighbours).mkdir()
        with opened(folder, policy(neighbours, presence=presence), FixedSampler(5)) as proxy:
            answer = proxy.session(analyst="ana").query(sql, **OPTIONS)
            assert answer.rows[1] == ("plain", 0, 0)
            assert answer.rows[0][1:] != (7, 620)
            assert answer.interval("n")[1] == (0, 0)
            assert "groups to which no row can add anything are exactly 0." in " ".join(answer.notes)


@pytest.mark.every(2)
@pytest.mark.parametrize("combine", ["sum", "sup", "l2"])
def test_several_answers_that_look_at_no_attribute_share_presence(tmp_path: Path, combine: str) -> None:
    with opened(tmp_path, policy("add_remove", combine, presence=True)) as proxy:
        answer = proxy.session(analyst="ana").query(
            "SELECT COUNT(*), COUNT(*) FILTER (WHERE 1 = 1) FROM people", **OPTIONS
        )
        assert answer.rows == [(10, 10)]
        assert [round(measurement.scale or 0, 6) for measurement in answer.measurements] == [2, 2]


def test_groups_may_have_noise_of_their_own(session: Session) -> None:
    # Few kilometres from Alm to Bach, many from there to Cern: fewer rows near by, less noise.
    (column,) = session.explain("SELECT town, COUNT(*) FROM people WHERE age < 9 GROUP BY town", **OPTIONS).columns
    assert column.scale is None
    answer = session.query("SELECT town, COUNT(*) AS n FROM people WHERE age < 9 GROUP BY town", **OPTIONS)
    assert [row[1] for row in answer.rows] == [5, 2, 3]
    widths = [high - low for low, high in answer.interval("n") if low is not None and high is not None]
    assert widths[2] < widths[0]


def test_a_wanted_precision_has_its_multiple(session: Session) -> None:
    sql = "SELECT COUNT(*) AS n FROM people WHERE age >= 4"
    quote = session.explain(sql, metric="home", half_width={"n": 12})
    assert quote.columns[0].half_width <= 12
    paid = quote.cost.metric["home"]
    assert isinstance(paid, dict) and 0.45 < paid["age"] < 0.55


def test_long_chains_fit_and_too_many_combinations_are_refused(tmp_path: Path) -> None:
    long = policy().replace("age:  {type: integer, bounds: [0, 5]}", "age:  {type: integer, bounds: [0, 300000]}", 1)
    with opened(tmp_path, long) as proxy:
        session = proxy.session(analyst="ana")
        assert asked(session, "SELECT COUNT(*) FROM people WHERE age >= 4 AND sex = 'F'", multiple=0.01) == [(2,)]
        with pytest.raises(
            UnsupportedQuery, match=r"counted for 2,700,009 combinations of age, sex, town, more than 2,0"
        ):
            asked(session, "SELECT sex, town, COUNT(*) FROM people WHERE age >= 4 GROUP BY sex, town")
        with pytest.raises(UnsupportedQuery, match=r"age, sex, town have 2,700,009 combinations of values together"):
            asked(session, "SELECT COUNT(*) FROM people WHERE concat(age::TEXT, sex, town) = '4FAlm'")


def test_a_metric_that_is_none_is_refused_before_anything_is_built(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    text = policy().replace("{kind: discrete, epsilon: 2}", "{kind: chain, gaps: [1]}")
    with pytest.raises(PolicyError, match=r"homes\.yaml:\d+: metrics\.home\.attributes\.sex: 3 values have 2 gaps"):
        dpsql.open(homes(tmp_path, text))


def test_a_question_and_its_complement_have_the_same_noise_and_price(tmp_path: Path) -> None:
    # Budgets on values would leak: the number of X is all rows less the others. Distances are between values.
    star = "{kind: star, parts: [[F, 2], [M, 2], [X, 0.25]]}"
    with opened(tmp_path, policy().replace("{kind: discrete, epsilon: 2}", star)) as proxy:
        session = proxy.session(analyst="ana")
        asked_for = [
            session.explain(f"SELECT COUNT(*) FROM people WHERE sex {rest}", **OPTIONS)
            for rest in ("= 'X'", "<> 'X'", "IN ('F', 'M')")
        ]
        assert {quote.columns[0].scale for quote in asked_for} == {1 / 2.25}
        assert session.explain("SELECT COUNT(*) FROM people WHERE sex = 'F'", **OPTIONS).columns[0].scale == 1 / 2.25


def test_the_owner_may_ban_metrics_for_a_column(tmp_path: Path) -> None:
    with opened(tmp_path, policy() + "mechanisms: {people.age: {ban: [metric]}}\n") as proxy:
        session = proxy.session(analyst="ana")
        with pytest.raises(UnsupportedQuery, match=r"SUM\(age\) at 1:8: the policy bans mechanism 'metric' for age"):
            asked(session, "SELECT SUM(age) FROM people")
        assert asked(session, "SELECT COUNT(*) FROM people WHERE sex = 'X'") == [(1,)]


def test_coordinates_that_are_not_in_the_data_are_an_error_of_the_policy(tmp_path: Path) -> None:
    file = homes(tmp_path, policy().replace("towns.y", "towns.z"))
    with pytest.raises(PolicyError, match=r"towns\.z is in the policy but not in the data"):
        dpsql.testing.open(file)
    assert [finding.severity for finding in metric_findings(load_policy(file))] == ["error"]


def test_another_wording_of_the_notes_is_no_other_statement(session: Session) -> None:
    statement = parse("SELECT sex, AVG(age), COUNT(*) FROM people GROUP BY sex")
    assert isinstance(statement, QueryStatement)
    plan = session._plan(statement.select, ())
    assert isinstance(plan, Plan)
    prepared = session._prepare(plan, {"metric": "home", "multiple": 1})
    releases = [measured.choice.release for measured in prepared.measured]
    assert all(release.notes for release in releases)
    measured = tuple(
        replace(one, choice=replace(one.choice, release=replace(release, notes=("In other words.",))))
        for one, release in zip(prepared.measured, releases, strict=True)
    )
    reworded = replace(prepared, measured=measured)
    assert reworded.fingerprint("ana", 1) == prepared.fingerprint("ana", 1)
    assert reworded.fingerprint("bob", 1) != prepared.fingerprint("ana", 1)
