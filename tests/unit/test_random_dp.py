"""Random differential privacy from SQL to the ledger: what is answered, what it costs, and what it says it gives up."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import duckdb
import pytest

import dpsql.testing
from dpsql.answers.answer import Answer
from dpsql.errors import BudgetExceeded, PolicyError, UnsupportedQuery
from dpsql.testing import TestProxy
from examples import hospital

ROOT = Path(__file__).parents[2]

POLICY = """
version: 1
name: survey
engine: {kind: duckdb, database: survey.duckdb}
neighbours: add_remove
budget:
  ledger: survey.ledger.db
  composition: basic
  total: {epsilon: 1000, delta: 1.0e-5, gamma: 0.05}
  analysts:
    ana: {epsilon: 50, delta: 1.0e-6, gamma: 0.04}
    bob: {epsilon: 50, delta: 1.0e-6, gamma: 0.02}
    cem: {epsilon: 50, delta: 1.0e-6, gamma: 0.02}
    eve: {epsilon: 50, delta: 1.0e-6}
  per_query: {epsilon: 1}
tables:
  people:
    unit: pid
    rows_per_unit: 1
    rows_about: 500
    columns:
      town: {type: text, values_from: towns.name}
      sex:  {type: text, values: [F, M]}
      age:  {type: integer, bounds: [0, 110]}
  visits:
    unit: pid
    rows_per_unit: 3
    columns: {ward: {type: text, values: [a, b, c, d], nullable: true}}
  towns: {public: true, key: name}
random_dp:
  people: {assume: exchangeable, base_partition: [town, sex], gamma_limit: 0.02, row_floor: 500}
  visits: {assume: iid, base_partition: [ward], gamma_limit: 0.02, row_floor: 100}
"""
REPLACED = [
    ("neighbours: add_remove", "neighbours: replace_one"),
    ("rows_about: 500", "every_unit: true"),
    ("row_floor: 100", "row_floor: 200"),
]
BY_TOWN = "SELECT town, COUNT(*) AS n FROM people GROUP BY town"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The data: one person lives in Delft, nobody in Goes, and one where the policy knows no town."""
    folder = tmp_path_factory.mktemp("survey")
    with duckdb.connect(str(folder / "survey.duckdb")) as data:
        data.execute("CREATE TABLE towns AS FROM (VALUES ('Aix'), ('Bonn'), ('Cork'), ('Delft'), ('Goes')) t(name)")
        data.execute(
            "CREATE TABLE people AS SELECT i AS pid, CASE WHEN i = 0 THEN 'Delft' WHEN i = 1 THEN 'elsewhere' "
            "ELSE ['Aix', 'Bonn', 'Cork'][1 + i % 3] END AS town, ['F', 'M'][1 + i % 2] AS sex, i % 100 AS age "
            "FROM range(600) t(i)"
        )
        data.execute(
            "CREATE TABLE visits AS SELECT i % 200 AS pid, ['a', 'b', NULL][1 + i % 3] AS ward FROM range(600) t(i)"
        )
    return folder


@pytest.fixture(scope="module")
def shared(folder: Path) -> Iterator[TestProxy]:
    """The survey without noise; each test has an account or a question of its own."""
    with opened(folder) as proxy:
        yield proxy


def opened(folder: Path, *changes: tuple[str, str], noise: bool = False) -> TestProxy:
    """The survey's policy in force, after replacing each pair of texts."""
    text = POLICY
    for old, new in changes:
        assert old in text
        text = text.replace(old, new)
    (folder / "survey.yaml").write_text(text)
    sampler = dpsql.testing.FixedSampler(5) if noise else dpsql.testing.Noiseless()
    return dpsql.testing.open(folder / "survey.yaml", sampler)


def asked(proxy: TestProxy, sql: str = BY_TOWN, analyst: str = "ana", **options: Any) -> Answer:
    return proxy.session(analyst=analyst).query(sql, mechanism="random_dp", **options)


# ------------------------------------------------------------------------------------------------------- answers


def test_the_histogram_without_noise_is_the_true_one(shared: TestProxy) -> None:
    assert asked(shared).rows == [("Aix", 199), ("Bonn", 199), ("Cork", 200), ("Delft", 1), ("Goes", 0)]


def test_empty_cells_are_zero_under_noise_and_the_points_are_public_under_replace_one(folder: Path) -> None:
    limits = ("gamma_limit: 0.02, row_floor: 500", "gamma_limit: 0.04, row_floor: 500")
    with opened(folder, *REPLACED, limits, noise=True) as proxy:
        answer = asked(proxy, "SELECT town, sex, COUNT(*) AS n FROM people GROUP BY town, sex")
        assert [n for town, _, n in answer.rows if town == "Goes"] == [0, 0]
        ends = dict(zip([row[:2] for row in answer.rows], answer.interval("n"), strict=True))
        assert ends["Goes", "F"] == ends["Delft", "M"] == (0, 0)
        assert ends["Delft", "F"] != (0, 0)  # whoever is alone shows
        assert sum(n for *_, n in answer.rows) == 600
        some = asked(proxy, BY_TOWN.replace("GROUP", "WHERE town <> 'Aix' GROUP"))
        assert 0 < sum(n for _, n in some.rows) < 600


def test_a_declared_mean_is_answered_and_charged_its_own_gamma(folder: Path) -> None:
    means = "statistics: [{column: age, h: absolute_difference, gamma: 0.005}, {column: age, h: absolute_difference, "
    means += "where: sex = 'F' AND age >= 18, gamma: 0.005}]"
    replaced = [
        *REPLACED,
        ("gamma_limit: 0.02, row_floor: 500", f"gamma_limit: 0.05, row_floor: 500, {means}"),
        ("gamma: 0.04", "gamma: 0.05"),
    ]
    with opened(folder, *replaced) as proxy:
        for where in ("", " WHERE age >= 18 AND sex = 'F'", " WHERE age >= 18 AND sex = 'F'"):
            exact = duckdb.connect(str(folder / "survey.duckdb"), read_only=True).execute(
                f"SELECT AVG(age) FROM people{where}"
            ).fetchone()  # fmt: skip
            assert asked(proxy, f"SELECT AVG(age) FROM people{where}", delta=1e-7).rows == [pytest.approx(exact)]
        spent = proxy.session(analyst="ana").budget().spent
        assert spent == dpsql.PrivacyLoss(epsilon=2, delta=2e-7, gamma=0.01)
        asked(proxy)
        assert proxy.session(analyst="ana").budget().spent.gamma == 0.05
        for sql in ("SELECT AVG(age) FROM people WHERE age > 18", "SELECT AVG(pid) FROM people"):
            with pytest.raises(UnsupportedQuery):
                asked(proxy, sql, delta=1e-7)


@pytest.mark.parametrize(
    ("where", "reason"),
    [
        ("pid = 7", "this is no condition: "),
        ("age >", "this is no condition: "),
        ("age > 3) GROUP BY (sex", "write a condition on the columns of people"),
        ("pid IN (SELECT pid FROM visits)", "this is no condition: "),
    ],
)
def test_a_mean_over_what_is_no_condition_is_refused(folder: Path, where: str, reason: str) -> None:
    mean = f"statistics: [{{column: age, h: absolute_difference, where: '{where}', gamma: 0.005}}]"
    limits = ("gamma_limit: 0.02, row_floor: 500", f"gamma_limit: 0.05, row_floor: 500, {mean}")
    with pytest.raises(PolicyError, match=f"random_dp.people.statistics.0.where: {reason}"):
        opened(folder, *REPLACED, limits)


def test_a_union_of_cells_may_be_asked_for(shared: TestProxy) -> None:
    answer = asked(shared, "SELECT sex, COUNT(*) AS n FROM people WHERE town IN ('Aix', 'Delft') GROUP BY sex")
    assert sum(n for _, n in answer.rows) == 200


def test_rows_outside_the_declared_values_are_in_no_cell(shared: TestProxy) -> None:
    assert sum(n for _, n in asked(shared, BY_TOWN).rows) == 599
    elsewhere = "SELECT coalesce(town, 'none') AS t, COUNT(*) FROM people GROUP BY 1 ORDER BY 1 DESC"
    assert asked(shared, elsewhere).rows[0] == ("none", 0)


def test_units_of_several_rows_are_answered_at_their_own_scale(shared: TestProxy) -> None:
    rows = asked(shared, "SELECT ward, COUNT(*) FROM visits GROUP BY ward")
    units = asked(shared, "SELECT ward, COUNT(DISTINCT pid) AS n FROM visits GROUP BY ward")
    assert rows.measurements[0].scale == 3
    assert units.rows == [("a", 200), ("b", 200), ("c", 0), ("d", 0), (None, 200)]


# ------------------------------------------------------------------------------------------------- what it costs


def test_answer_quote_and_budget_carry_gamma_and_what_is_given_up(shared: TestProxy) -> None:
    session = shared.session(analyst="bob")
    quote = session.explain(BY_TOWN, mechanism="random_dp")
    answer = session.query(BY_TOWN, mechanism="random_dp")
    assert quote.cost.gamma == answer.cost.gamma == session.budget().spent.gamma == 0.02
    for text in (str(quote), str(answer)):
        assert "whoever is alone in a cell of people: town, sex is shown exactly (up to 10 people)" in text
    assert "but for a chance of gamma 0.02 over the draw of the data" in str(session.budget())
    assert shared.session(analyst="eve").budget().promise == ""


def test_a_quote_says_that_a_public_number_of_rows_is_free_elsewhere(folder: Path) -> None:
    limits = ("gamma_limit: 0.02, row_floor: 500", "gamma_limit: 0.05, row_floor: 500")
    with opened(folder, *REPLACED, limits) as proxy:
        session = proxy.session(analyst="ana")
        said = "The number of rows is public: the count is exact and free where random_dp is not named."
        assert said in str(session.explain("SELECT COUNT(*) FROM people", mechanism="random_dp"))
        assert said not in str(session.explain(BY_TOWN, mechanism="random_dp"))
        assert session.explain("SELECT COUNT(*) FROM people").cost == dpsql.PrivacyLoss()


def test_gamma_is_charged_once_for_a_partition_and_an_account(folder: Path) -> None:
    with opened(folder) as proxy:
        for sql in (BY_TOWN, BY_TOWN.replace("town", "sex"), "SELECT COUNT(*) FROM people WHERE sex = 'F'"):
            asked(proxy, sql)
        assert proxy.session(analyst="ana").budget().spent == dpsql.PrivacyLoss(epsilon=3, gamma=0.02)
        assert proxy.session(analyst="bob").budget().spent.gamma == 0
        asked(proxy, analyst="bob")
        assert proxy.session(analyst="bob").budget().spent.gamma == 0.02
        assert proxy.ledger.budget(None).spent.gamma == 0.02


def test_another_partition_and_another_version_are_charged_anew(folder: Path) -> None:
    with opened(folder) as proxy:
        asked(proxy)
        asked(proxy, "SELECT ward, COUNT(*) FROM visits GROUP BY ward")  # 5 cells, 100 units: 5 / (100 e)
        assert proxy.ledger.budget(None).spent.gamma == pytest.approx(0.02 + 0.05 / 2.718281828)
        proxy.refresh()
        with pytest.raises(BudgetExceeded, match="gamma"):
            asked(proxy)
        assert proxy.ledger.budget(None).spent.epsilon == 2
        assert proxy.session(analyst="ana").query(BY_TOWN).cost.gamma == 0  # a plain query needs none


def test_an_account_without_gamma_cannot_ask(shared: TestProxy) -> None:
    with pytest.raises(BudgetExceeded, match="gamma"):
        asked(shared, analyst="eve")
    assert shared.session(analyst="eve").budget().spent == dpsql.PrivacyLoss()


def test_the_same_question_is_free_and_repeats_are_counted_by_epsilon(shared: TestProxy) -> None:
    first, second = (asked(shared, analyst="cem") for _ in range(2))
    assert (second.replayed, second.rows, second.cost.gamma) == (True, first.rows, 0)
    cem = shared.session(analyst="cem")
    assert cem.explain(BY_TOWN, mechanism="random_dp").repeats_left is None
    assert cem.explain(BY_TOWN.replace("town", "sex"), mechanism="random_dp").repeats_left == 49


def test_rollups_share_epsilon_and_one_gamma(shared: TestProxy) -> None:
    answer = asked(shared, "SELECT town, sex, COUNT(*) FROM people GROUP BY ROLLUP (town, sex)")
    assert (round(answer.cost.epsilon, 9), answer.cost.gamma) == (1, 0.02)


# ------------------------------------------------------------------------------------------------------- refusals


@pytest.mark.parametrize(
    ("sql", "options", "reason"),
    [
        (BY_TOWN, {"gamma": 0.01}, "more than the gamma 0.01"),
        ("SELECT age, COUNT(*) FROM people GROUP BY age", {}, "age is not in it"),
        ("SELECT town, COUNT(*) FROM people WHERE age > 60 GROUP BY town", {}, "age is not in it"),
        ("SELECT town, COUNT(*) FROM people JOIN visits USING (pid) GROUP BY town", {}, "no joins"),
        ("SELECT town, AVG(age) FROM people GROUP BY town", {}, "under replace_one alone"),
        ("SELECT town, COUNT(age) FROM people GROUP BY town", {}, "put conditions into WHERE"),
        ("SELECT town, COUNT(*) FILTER (WHERE sex = 'F') FROM people GROUP BY town", {}, "no FILTER"),
        ("SELECT town || age, COUNT(*) FROM people GROUP BY 1", {"delta": 1e-6}, "age is not in it"),
        ("SELECT ward, COUNT(*) FROM visits GROUP BY ward", {"max_groups_per_unit": 1}, "makes other cells"),
    ],
)
def test_what_is_refused_spends_nothing(shared: TestProxy, sql: str, options: dict[str, Any], reason: str) -> None:
    before = shared.session(analyst="ana").budget()
    with pytest.raises(UnsupportedQuery, match=reason):
        asked(shared, sql, **options)
    assert shared.session(analyst="ana").budget() == before


def test_it_is_never_the_default_and_the_reason_is_shown(shared: TestProxy) -> None:
    quote = shared.session(analyst="ana").explain(BY_TOWN)
    assert quote.columns[0].mechanism != "random_dp"
    said = dict(quote.columns[0].others)["random_dp"]
    assert said.startswith("it promises less than differential privacy, and answers only where it is named.")
    assert "Expected L1 error: 1 for each cell that holds somebody" in said
    plain = shared.session(analyst="ana").explain("SELECT SUM(age) FROM people").columns[0]
    assert dict(plain.others)["random_dp"].endswith("answers only where it is named.")


def test_beside_it_stands_the_stability_histogram(shared: TestProxy) -> None:
    quote = shared.session(analyst="ana").explain(BY_TOWN, mechanism="random_dp", delta=1e-6)
    assert "Expected L1 error" in " ".join(quote.notes)
    other = dict(quote.columns[0].others)["threshold"]
    assert "Expected L1 error" in other
    assert "whatever the data are" in other


def test_a_wanted_precision_is_that_of_the_printed_intervals(shared: TestProxy) -> None:
    # Few people in many cells: zeros err little, but the interval of a zero reaches up to the threshold.
    sql, session = (
        "SELECT age, sex, town, COUNT(*) AS n FROM people GROUP BY age, sex, town",
        shared.session(analyst="ana"),
    )
    quote = session.explain(sql, half_width={"n": 8}, delta=1e-6)
    answer = session.query(sql, epsilon=quote.cost.epsilon, delta=1e-6)
    assert all(high - low <= 16 for low, high in answer.interval("n") if low is not None and high is not None)


@pytest.mark.parametrize(
    ("floor", "reason"),
    [
        ("row_floor: 400", r"yaml:\d+: random_dp.people.gamma_limit: 10 cells and at least 400 units cost gamma 0.025"),
        ("row_floor: 499", "cost gamma 0.0201, which is above gamma_limit 0.02; name fewer columns"),
    ],
)
def test_a_policy_that_promises_less_gamma_than_it_costs_is_refused(folder: Path, floor: str, reason: str) -> None:
    with pytest.raises(PolicyError, match=reason):
        opened(folder, ("row_floor: 500", floor))


def test_the_sample_policy_answers_every_city(tmp_path: Path) -> None:
    hospital.build(tmp_path / "hospital.duckdb", patients=3000, visits=9)
    shutil.copy(ROOT / "policies" / "survey.yaml", tmp_path)
    with dpsql.testing.open(tmp_path / "survey.yaml", dpsql.testing.FixedSampler(2)) as proxy:
        answer = asked(proxy, "SELECT city, sex, COUNT(*) AS n FROM patients GROUP BY city, sex")
        assert len(answer) == 2481
        assert answer.cost.gamma == pytest.approx(2481 / 90000)
        assert sum(n == 0 for *_, n in answer.rows) > 1000
        with pytest.raises(BudgetExceeded, match="gamma"):
            asked(proxy, "SELECT sex, COUNT(*) FROM patients GROUP BY sex", analyst="somebody")
