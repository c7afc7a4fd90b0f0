"""Personalised privacy from SQL to ledger: what each class of units loses, and what is left to it."""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable, Iterator
from fractions import Fraction
from pathlib import Path

import duckdb
import pytest

import dpsql.testing
from dpsql.cli import main
from dpsql.errors import BudgetExceeded, PolicyError, ProgrammingError, UnsupportedQuery
from dpsql.policy import load_policy
from dpsql.privacy.loss import PrivacyLoss
from dpsql.proxy import open_ledger, pinned_of
from dpsql.server.tools import Tools
from dpsql.session import Session

POLICY = """\
version: 1
name: clinic
engine: {kind: duckdb, database: clinic.duckdb, deadline: 60s}
neighbours: add_remove
budget:
  ledger: ledger/clinic.ledger.db
  mark: mark
  composition: basic
  total: {epsilon: 90, delta: 1.0e-5}
  analysts: {ANALYSTS}
  per_query: {epsilon: 0.5}
privacy_classes: {table: people, column: consent, share: {strict: 0.25, normal: 1}}
tables:
  people:
    unit: person
    rows_per_unit: 1
    columns: {age: {type: integer, bounds: [0, 110]}, job: {type: text}}
  visits:
    unit: person
    rows_per_unit: 3
    columns: {cost: {type: integer, bounds: [0, 100], centre: 4, spread: 1}}
"""
NAMES = [f"ana{i}" for i in range(20)]
POLICY = POLICY.replace("ANALYSTS", ", ".join(f"{name}: {{epsilon: 2, delta: 1.0e-6}}" for name in NAMES))
COUNT = "SELECT COUNT(*) AS n FROM people"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("clinic")
    (folder / "ledger").mkdir()
    with duckdb.connect(str(folder / "clinic.duckdb")) as connection:
        connection.execute(
            "CREATE TABLE people AS SELECT i AS person, i AS age, 'clerk' AS job, "
            "CASE WHEN i < 40 THEN 'normal' WHEN i < 60 THEN 'strict' END AS consent FROM range(100) t(i)"
        )
        connection.execute("CREATE TABLE visits AS SELECT i % 110 AS person, i % 100 AS cost FROM range(300) t(i)")
    return folder


Ana = Callable[..., Session]


def opened(folder: Path, *changes: tuple[str, str]) -> dpsql.testing.TestProxy:
    """The clinic without noise, after each pair of texts is replaced in its policy."""
    text = POLICY
    for old, new in changes:
        assert old in text
        text = text.replace(old, new)
    (folder / "clinic.yaml").write_text(text)
    return dpsql.testing.open(folder / "clinic.yaml", dpsql.testing.Noiseless())


@pytest.fixture(scope="module")
def clinic(folder: Path) -> Iterator[dpsql.testing.TestProxy]:
    with opened(folder) as proxy:
        yield proxy


@pytest.fixture(scope="module")
def names() -> Iterator[str]:
    return iter(NAMES)


@pytest.fixture
def ana(folder: Path, clinic: dpsql.testing.TestProxy, names: Iterator[str]) -> Iterator[Ana]:
    """A session of an analyst who has asked nothing yet, under the policy or one that was changed."""
    others: list[dpsql.testing.TestProxy] = []

    def session(*changes: tuple[str, str]) -> Session:
        if changes:
            others.append(opened(folder, *changes))
        return (others[-1] if changes else clinic).session(analyst=next(names))

    yield session
    for proxy in others:
        proxy.close()


ZCDP = ("composition: basic", "composition: zcdp")


def test_a_statement_runs_at_the_strictest_class_s_share_of_its_price(ana: Ana) -> None:
    quote = ana().explain(COUNT, epsilon=1)
    assert quote.columns[0].scale == 4
    assert quote.cost.epsilon == 0.25
    assert quote.cost.classes == {"strict": 0.25, "normal": 0.25}
    assert "At a price of epsilon 1 a unit of each class loses at most: strict 0.25, normal 1." in quote.notes


def test_the_answer_and_the_budget_show_an_epsilon_for_each_class(ana: Ana) -> None:
    session = ana()
    answer = session.query(COUNT, epsilon=1)
    assert answer.cost.classes == {"strict": 0.25, "normal": 0.25}
    assert "epsilon 0.25 for class strict, epsilon 0.25 for class normal" in str(answer)
    budget = session.budget()
    assert budget.spent.classes == {"strict": 0.25, "normal": 0.25}
    assert budget.limit.classes == {"strict": 0.5, "normal": 2}
    (row,) = session.query("SHOW BUDGET").rows
    assert row[:2] == (
        "epsilon 0.25, epsilon 0.25 for class strict, epsilon 0.25 for class normal",
        "epsilon 2, delta 1e-06, epsilon 0.5 for class strict, epsilon 2 for class normal",
    )


def test_remaining_is_a_price_and_repeats_left_holds_for_the_class_with_least_left(ana: Ana) -> None:
    session = ana()
    assert session.budget().remaining == 2
    session.query(COUNT, epsilon=0.5)
    assert session.budget().remaining == 1.5
    quote = session.explain(COUNT, epsilon=0.3)
    assert quote.repeats_left == 5
    session.query("SELECT COUNT(*), SUM(age) FROM people", epsilon=1.5)
    assert session.budget().remaining == 0
    assert session.explain(COUNT, epsilon=0.3).repeats_left == 0


def test_a_statement_beyond_a_class_s_budget_says_what_to_ask_instead(ana: Ana) -> None:
    session = ana()
    session.query(COUNT, epsilon=1.2)
    with pytest.raises(BudgetExceeded) as caught:
        session.query("SELECT SUM(age) FROM people", epsilon=1)
    assert str(caught.value) == (
        f"This query costs epsilon of class strict 0.25; analyst '{session.analyst}' has 0.2 of 0.5 left for unit "
        "'person'. Nothing was read. Ask again with epsilon = 0.8 or less."
    )
    assert session.query("SELECT SUM(age) FROM people", epsilon=0.8).cost.classes["strict"] == 0.2


def test_the_inverse_question_names_the_price_beside_the_cost(ana: Ana) -> None:
    session = ana()
    quote = session.explain(COUNT, half_width={"n": 24})
    (found,) = re.findall(r"At a price of epsilon (\S+) a unit", " ".join(quote.notes))
    price = float(found)
    assert session.explain(COUNT, epsilon=price).columns[0].half_width <= 24
    assert quote.cost.classes["strict"] == pytest.approx(price / 4)


def test_what_was_released_meanwhile_is_no_other_price_than_an_agent_agreed_on(ana: Ana) -> None:
    session = ana()
    tools = Tools(session, lambda: 0.0, str)
    asked = tools.asked(COUNT, 0.25)
    assert (asked.told, asked.question is None) == (None, False)
    assert session.query(COUNT, epsilon=0.25).cost == asked.cost
    assert session.price(COUNT, epsilon=0.25) == PrivacyLoss()
    assert tools.query(COUNT, 0.25, asked.cost).cost == session.query(COUNT, epsilon=0.25).paid


def test_a_price_in_rho_costs_a_class_the_square_of_its_share(ana: Ana) -> None:
    session = ana(ZCDP)
    quote = session.explain(COUNT, rho=0.016, mechanism="gaussian")
    assert quote.cost.rho == 0.001
    assert quote.columns[0].scale == pytest.approx((1 / 0.002) ** 0.5)
    assert "At a price of rho 0.016 a unit of each class loses at most: strict 0.001, normal 0.016." in quote.notes
    session.query(COUNT, rho=0.001, mechanism="gaussian")
    assert set(session.budget().spent.classes) == {"strict", "normal"}


def test_every_kind_of_statement_charges_a_class_its_share_at_most(ana: Ana) -> None:
    session = ana()
    for sql in (
        COUNT,
        "SELECT COUNT(*), AVG(age), VAR_POP(age), MEDIAN(age), MAX(age) FROM people",
        "SELECT COUNT(*, epsilon => 0.1), SUM(cost) FROM visits",
        "SELECT age, COUNT(*) FROM people WHERE age IN (1, 2) GROUP BY ROLLUP (age)",
        "SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS (delta = 1e-7) job, AVG(age) FROM people GROUP BY job",
        "SELECT SUM(cost, contribution_bounds_per_group => (0, 50)) FROM visits",
    ):
        cost = session.explain(sql, epsilon=0.4).cost
        assert Fraction(str(cost.classes["strict"])) <= Fraction(1, 10), sql
        assert Fraction(str(cost.classes["normal"])) <= Fraction(4, 10), sql


def test_quantiles_of_classes_are_answered(ana: Ana) -> None:
    clause = "WITH DIFFERENTIAL_PRIVACY OPTIONS (mechanism = 'preprocessing', sensitivity = 0.5, epsilon = 0.5)"
    assert len(ana().query(f"SELECT {clause} MIN(cost), MAX(cost) FROM visits").rows) == 1


def test_explain_shows_both_ways_and_says_what_is_biased(ana: Ana) -> None:
    session = ana()
    summed = "SELECT SUM(cost) AS c FROM visits"
    for sql in (COUNT, summed):
        (column,) = session.explain(sql, epsilon=0.4).columns
        assert column.mechanism in ("laplace", "clamped")
        assert "taken by name alone. In a group a unit counts" in dict(column.others)["preprocessing"]
    total = session.explain(summed, epsilon=0.4, mechanism="preprocessing")
    assert total.cost.classes == {"strict": 0.1, "normal": 0.4}
    (note,) = [note for note in total.notes if "its class allows" in note]
    assert "strict 75, normal 300. The answer is biased by what lies beyond" in note
    named = session.query(COUNT, epsilon=0.4, mechanism="preprocessing")
    assert named.rows == [(55,)]  # 40 normal ones and a quarter of 60 others
    assert named.cost.classes == {"strict": 0.1, "normal": 0.4}


def test_a_class_s_share_is_parted_among_the_groups_of_the_cap_not_among_the_rows(ana: Ana) -> None:
    by_age = "SELECT age, COUNT(DISTINCT person) AS n FROM visits JOIN people USING (person) WHERE age < 3 GROUP BY age"
    for cap in (1, 2):  # of 3 rows
        quote = ana().explain(by_age, epsilon=1, mechanism="preprocessing", max_groups_per_unit=cap)
        assert any("strict 0.25, normal 1." in note for note in quote.notes), quote.notes


def test_under_replace_one_everybody_loses_the_strictest_share(ana: Ana) -> None:
    session = ana(("add_remove", "replace_one"))
    quote = session.explain("SELECT COUNT(*) AS n, SUM(cost) AS c FROM visits", epsilon=1)
    assert [column.mechanism for column in quote.columns] == ["laplace", "clamped"]
    assert quote.cost.classes == {"strict": 0.25, "normal": 0.25}
    with pytest.raises(UnsupportedQuery, match="COUNT"):
        session.explain(COUNT, epsilon=1, mechanism="preprocessing")


def test_a_statement_with_row_caps_or_bounds_of_its_own_has_the_strictest_share(ana: Ana) -> None:
    session = ana()
    for sql, cap in (
        ("SELECT SUM(cost) AS c FROM visits", 2),
        ("SELECT SUM(cost, contribution_bounds_per_row => (0, 9)) AS c FROM visits", None),
        ("SELECT SUM(cost, contribution_bounds_per_group => (0, 9)) AS c FROM visits", None),
        ("SELECT COUNT(*) AS c FROM (SELECT DISTINCT cost FROM visits) AS t", None),
    ):
        quote = session.explain(sql, epsilon=0.4, max_rows_per_group=cap)
        assert quote.columns[0].mechanism == "laplace", sql
        assert quote.cost.classes == {"strict": 0.1, "normal": 0.1}


@pytest.mark.chance(0, "asserts nothing of the draws")
def test_the_command_line_shows_an_epsilon_for_each_class(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    shutil.copytree(folder, tmp_path / "copy")
    (tmp_path / "copy" / "clinic.yaml").write_text(POLICY.replace("deadline: 60s", "cache: cache"))
    printed = []
    for command in (["query", COUNT, "--analyst", "ana0"], ["log"], ["budget"]):
        with pytest.raises(SystemExit) as end:
            main([command[0], str(tmp_path / "copy" / "clinic.yaml"), *command[1:]])
        assert end.value.code == 0
        printed.append(capsys.readouterr().out)
    for out in printed[:2]:
        assert "epsilon 0.125, epsilon 0.125 for class strict, epsilon 0.125 for class normal" in out
    assert "0.125 for class strict" in printed[2]


def test_a_price_that_a_share_makes_nothing_is_refused(ana: Ana) -> None:
    session = ana(("strict: 0.25", "strict: 0.0001"))
    with pytest.raises(ProgrammingError, match="too small"):
        session.query(COUNT, epsilon=1e-9)


def test_a_ledger_keeps_its_classes_and_their_shares(folder: Path) -> None:
    (folder / "clinic.yaml").write_text(POLICY)
    policy = load_policy(folder / "clinic.yaml")
    assert pinned_of(policy).classes == "'normal' 1, 'strict' 1/4"
    open_ledger(policy).close()
    for changed in (("strict: 0.25", "strict: 0.5"), ("strict: 0.25, ", ""), ("normal: 1", "normal: 1, open: 1")):
        (folder / "clinic.yaml").write_text(POLICY.replace(*changed))
        with pytest.raises(PolicyError, match="The ledger was made for classes: 'normal' 1, 'strict' 1/4, the policy"):
            open_ledger(load_policy(folder / "clinic.yaml"))
    (folder / "clinic.yaml").write_text("".join(x for x in POLICY.splitlines(True) if "privacy_classes" not in x))
    with pytest.raises(PolicyError, match="the policy now says classes: none"):
        open_ledger(load_policy(folder / "clinic.yaml"))


def test_a_synthetic_table_costs_every_class_the_strictest_ones_share(ana: Ana) -> None:
    session = ana()
    sql = "CREATE SYNTHETIC TABLE ages WITH (epsilon = 0.8) AS SELECT age FROM people"
    assert session.explain(sql).cost.classes == {"strict": 0.2, "normal": 0.2}
    made = session.query(sql)
    assert made.cost.classes == session.budget().spent.classes == {"strict": 0.2, "normal": 0.2}
    assert session.query("SELECT COUNT(*) FROM ages").cost.classes.get("strict", 0) == 0
    with pytest.raises(BudgetExceeded):
        session.query("CREATE SYNTHETIC TABLE more WITH (epsilon = 1.6) AS SELECT age FROM people")
    wanted = session.explain("CREATE SYNTHETIC TABLE w WITH (alpha = 0.01) AS SELECT age FROM people")
    assert wanted.cost.classes["strict"] == wanted.cost.classes["normal"]
