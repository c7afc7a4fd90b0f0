"""Preprocessed statistics through SQL are those of the lists: NULLs, ties, empty groups, one value, bounds, caps."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Mapping
from fractions import Fraction
from pathlib import Path
from typing import Any

import duckdb
import pytest

import dpsql.testing
from dpsql.mechanisms.preprocessing import maximum, mean_of, median, minimum, total, trimmed_mean, variance_of
from dpsql.session import Session
from dpsql.sql.parse import parse
from tests.connected import fill

POLICY = """
version: 1
name: wages
engine: {kind: duckdb, database: wages.duckdb}
neighbours: add_remove
budget:
  ledger: wages.ledger.db
  composition: basic
  total: {epsilon: 100000}
  analysts: {"*": {epsilon: 100000}}
  per_query: {epsilon: 40}
tables:
  people:
    unit: person
    rows_per_unit: 1
    rows_about: 120
    columns:
      town: {type: text, values: [a, b, c, nowhere]}
      pay:  {type: decimal, grid: 0.01, centre: 30, spread: 10, nullable: true}
      days: {type: integer, bounds: [0, 40], centre: 20, spread: 6}
  jobs:
    unit: person
    rows_per_unit: 3
    rows_about: 300
    columns:
      hours: {type: integer, centre: 8, spread: 4}
"""
TOWNS = ("a", "b", "c", "nowhere")
FORMS: Mapping[str, Callable[[list[Fraction], Fraction, Fraction], Fraction]] = {
    "MEDIAN({})": lambda x, c, d: median(x, centre=c, sensitivity=d),
    "AVG({})": lambda x, c, d: mean_of(x, centre=c, sensitivity=d),
    "TRIMMED_MEAN({}, 0.2)": lambda x, c, d: trimmed_mean(x, Fraction(1, 5), centre=c, sensitivity=d),
    "VAR_POP({})": lambda x, c, d: variance_of(x, sensitivity=d),
    "VARIANCE({})": lambda x, c, d: variance_of(x, sensitivity=d, ddof=1),
    "MIN({})": lambda x, c, d: minimum(x, d, centre=c),
    "MAX({})": lambda x, c, d: maximum(x, d, centre=c),
    "SUM({})": lambda x, c, d: total(x, d),
}

People = list[tuple[int, str, Fraction | None, int]]


@pytest.fixture(scope="module")
def people() -> People:
    """Town a has many ties and outliers, b a single value and NULLs, c ordinary values; nobody lives nowhere."""
    chance = random.Random(5)
    found: People = []
    for number in range(120):
        town = "b" if number < 4 else chance.choice("ac")
        pay: Fraction | None = Fraction(chance.choice((3000, 3000, 3500, 10**9, -(10**7))), 100)
        if town == "c":
            pay = Fraction(chance.randrange(1500, 5000), 100)
        if (town == "b" and number) or chance.random() < 0.2:
            pay = None
        found.append((number, town, pay, chance.randrange(-9, 60)))
    return found


@pytest.fixture(scope="module")
def session(people: People, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Session]:
    home: Path = tmp_path_factory.mktemp("wages")
    (home / "wages.yaml").write_text(POLICY)
    with duckdb.connect(str(home / "wages.duckdb")) as database:
        database.execute("CREATE TABLE people (person BIGINT, town VARCHAR, pay DECIMAL(12, 2), days INTEGER)")
        rows = [
            (number, town, None if pay is None else f"{float(pay):.2f}", days) for number, town, pay, days in people
        ]
        fill(database, "people", rows)
        database.execute("CREATE TABLE jobs AS SELECT i % 90 AS person, i % 11 AS hours FROM range(400) AS t(i)")
    with dpsql.testing.open(home / "wages.yaml", sampler=dpsql.testing.Noiseless()) as proxy:
        yield proxy.session(analyst="ana")


def asked(session: Session, statistic: str, **options: Any) -> dict[str, Any]:
    answer = session.query(f"SELECT town, {statistic} AS v FROM people GROUP BY town", **options)
    assert {m.mechanism for m in answer.measurements} == {"preprocessing"}
    return dict(answer.rows)


@pytest.mark.every(3)
@pytest.mark.parametrize("sensitivity", [Fraction(1, 4), Fraction(7), Fraction(10**6)])
@pytest.mark.parametrize("form", FORMS)
def test_each_group_has_the_statistic_of_its_list(
    session: Session, people: People, form: str, sensitivity: Fraction
) -> None:
    found = asked(session, form.format("pay"), mechanism="preprocessing", sensitivity=sensitivity)
    for town in TOWNS:
        values = [pay for _, own, pay, _ in people if own == town and pay is not None]
        wanted = FORMS[form](values, Fraction(30), sensitivity)
        on_grid = 0.005 if form.startswith("M") and "MEDIAN" not in form else 0.0
        assert found[town] == pytest.approx(float(wanted), abs=float(sensitivity) * 1.1e-6 + on_grid, rel=1e-12), town


@pytest.mark.parametrize("form", ["MEDIAN({})", "AVG({})", "TRIMMED_MEAN({}, 0.2)", "VAR_POP({})"])
def test_by_rule_delta_is_that_of_the_groups_own_number_of_rows(session: Session, people: People, form: str) -> None:
    found = asked(session, form.format("pay"), mechanism="preprocessing")
    statement: Any = parse(f"SELECT town, {form.format('pay')} FROM people GROUP BY town")
    plan: Any = session._plan(statement.select, ())
    prepared = session._prepare(plan, {"mechanism": "preprocessing"})
    release: Any = prepared.measured[0].choice.release
    for town in TOWNS:
        values = [pay for _, own, pay, _ in people if own == town and pay is not None]
        delta = release.amount.of(len(values))
        wanted = float(FORMS[form](values, Fraction(30), delta))
        assert found[town] == pytest.approx(wanted, abs=float(delta) * 1.1e-6, rel=1e-12), town


def test_values_are_put_inside_their_bounds_first(session: Session, people: People) -> None:
    found = asked(session, "AVG(days)", mechanism="preprocessing", sensitivity=1)
    for town in ("a", "b", "c"):
        days = [Fraction(min(max(days, 0), 40)) for _, own, _, days in people if own == town]
        assert found[town] == pytest.approx(float(mean_of(days, centre=20, sensitivity=1)), abs=2e-6)


def test_over_rows_a_named_sensitivity_is_shared_and_over_units_it_is_whole(session: Session) -> None:
    rows = session.query("SELECT MEDIAN(hours) AS v FROM jobs", sensitivity=3)
    assert rows.measurements[0].notes[0] == ("Over rows, at most 3 of one unit; one row moves it by at most Delta = 1.")
    assert rows.measurements[0].sensitivity == 3
    units = session.query(
        "SELECT MEDIAN(h) AS v FROM (SELECT person, SUM(hours) AS h FROM jobs GROUP BY person) AS t",
        sensitivity=3, centre=8,
    )  # fmt: skip
    assert units.measurements[0].notes[0] == "Over units, one row each; one row moves it by at most Delta = 3."
    assert units.measurements[0].scale == rows.measurements[0].scale


def test_notes_stand_under_the_answer_and_in_the_quote(session: Session) -> None:
    sql = "SELECT MEDIAN(pay) AS middle FROM people"
    note = "Note: middle: Exact if the median lies within half of 30 of the centre 30"
    assert note in str(session.query(sql, mechanism="preprocessing"))
    assert "more rows do not mend that" in str(session.explain(sql, mechanism="preprocessing"))


def test_another_centre_or_sensitivity_is_another_question(session: Session) -> None:
    sql = "SELECT MEDIAN(pay) AS v FROM people"
    first = session.query(sql, sensitivity=2, centre=30)
    assert not first.replayed
    assert session.query(sql, sensitivity=2, centre=30).replayed
    assert not session.query(sql, sensitivity=2, centre=31).replayed
    assert not session.query(sql, sensitivity=3, centre=30).replayed
