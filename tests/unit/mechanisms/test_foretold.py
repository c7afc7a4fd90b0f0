"""What can show nothing but noise, or no row at all, says so before the charge and beside the answer; or is refused."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import duckdb
import pytest

import dpsql.testing
from dpsql.errors import UnsupportedQuery
from dpsql.mechanisms.base import Offer
from dpsql.mechanisms.clamped.mechanism import Clamped
from dpsql.mechanisms.foretold import foretold
from dpsql.plan.needs import Contribution
from dpsql.session import Session
from tests.unit.mechanisms.asking import CITY, asking

POLICY = """
version: 1
name: clinic
engine: {kind: duckdb, database: clinic.duckdb}
neighbours: add_remove
budget:
  ledger: clinic.ledger.db
  composition: basic
  total: {epsilon: 1000, delta: 1.0e-3}
  analysts: {"*": {epsilon: 1000, delta: 1.0e-3}}
  per_query: {epsilon: 1, delta: 1.0e-8}
tables:
  visits:
    unit: pid
    rows_per_unit: 4
    columns:
      year: {type: integer, bounds: [1900, 2030], nullable: true}
      cost: {type: real, bounds: [0, 50], grid: 1}
      day:  {type: date, bounds: [2020-01-01, 2020-12-31]}
      kind: {type: text, values: [x, y]}
      note: {type: text}
"""
UNMET = [
    "SELECT COUNT(*) FROM visits WHERE 1 = 0",
    "SELECT COUNT(*) FROM visits WHERE FALSE",
    "SELECT COUNT(*) FROM visits WHERE cost > 5 AND cost < 3",
    "SELECT COUNT(*) FROM (SELECT pid FROM visits GROUP BY pid HAVING COUNT(*) > 4) AS often",
]
MET = [
    "SELECT COUNT(*) FROM visits WHERE year = 1900",
    "SELECT COUNT(*) FROM visits WHERE 1 = 1",
    "SELECT COUNT(*) FROM visits WHERE cost >= 50",
    "SELECT COUNT(*) FROM visits WHERE cost > 0 OR cost < 0",
    "SELECT COUNT(*) FROM visits WHERE year = 9 OR cost > 5",
    "SELECT COUNT(*) FROM visits WHERE year IS NULL AND cost <= 0",
    "SELECT COUNT(*) FROM visits WHERE (year = 9) IS NULL",
    "SELECT SUM(CASE WHEN year = 9 THEN cost ELSE 1 END) FROM visits",
    "SELECT COUNT(*) FROM visits a LEFT JOIN (SELECT pid FROM visits WHERE year = 9) AS b USING (pid)",
    "SELECT COUNT(*) FROM visits WHERE pid NOT IN (SELECT pid FROM visits WHERE year = 9)",
    "SELECT year, COUNT(*) FROM visits GROUP BY year HAVING year = 1900 OR COUNT(*) > 5",
]
OUTSIDE = [
    "SELECT COUNT(*) FROM visits WHERE pid IN (SELECT pid FROM visits WHERE year = 9)",
    "SELECT COUNT(*) FILTER (WHERE year = 9) FROM visits",
    "SELECT AVG(cost) FROM visits WHERE NOT (day > DATE '2019-01-01')",
    "SELECT COUNT(*) FROM visits WHERE year < 1000 OR cost > 60",
    "SELECT COUNT(*) FROM visits WHERE year > 1950 AND cost > 50",
    "SELECT COUNT(*) FROM visits WHERE year = 9",
    "SELECT COUNT(*) FROM visits WHERE cost < 0",
    "SELECT kind, SUM(cost) FROM visits WHERE year IN (1, 2) GROUP BY kind",
    "SELECT SUM(CASE WHEN year = 9 THEN cost END) FROM visits",
    "SELECT COUNT(*) FROM visits a JOIN (SELECT pid FROM visits WHERE year = 9) AS b USING (pid)",
    "SELECT COUNT(*) FILTER (WHERE year = 9), SUM(cost) FILTER (WHERE year < 100) FROM visits",
]
"""Conditions that no value within the bounds of their column meets."""
NO_ROW = [
    "SELECT year, COUNT(*) FROM visits GROUP BY year HAVING year = 9",
    "SELECT year, COUNT(*) FROM visits GROUP BY year HAVING year > 2000 AND year < 1990",
    "SELECT kind, COUNT(*) FROM visits GROUP BY kind HAVING 1 = 0 AND COUNT(*) > 5",
    "SELECT kind, COUNT(*) FROM visits WHERE kind = 'x' AND kind = 'y' GROUP BY kind",
    "SELECT kind, COUNT(*) FROM visits WHERE kind IS NULL GROUP BY kind",
    "SELECT upper(kind), COUNT(*) FROM visits WHERE kind IS NULL GROUP BY ALL",
    "SELECT day, COUNT(*) FROM visits WHERE day > DATE '2021-02-03' GROUP BY day",
    "SELECT kind, COUNT(*) FROM visits GROUP BY kind HAVING kind IS NULL",
    "SELECT kind, COUNT(*) FROM visits GROUP BY kind HAVING kind LIKE 'z%' AND COUNT(*) > 5",
    "SELECT kind, n FROM (SELECT kind, COUNT(*) AS n FROM visits GROUP BY kind) WHERE kind = 'z'",
]
SOME_ROW = [
    "SELECT COUNT(*) FROM visits WHERE kind IS NULL",
    "SELECT year, COUNT(*) FROM visits WHERE year IS NULL GROUP BY year",
    "SELECT kind, COUNT(*) FROM visits WHERE kind IS NULL GROUP BY ROLLUP (kind)",
    "SELECT kind, COUNT(*) FROM visits GROUP BY kind HAVING kind = 'x' OR COUNT(*) > 5",
    "SELECT kind, COUNT(*) FROM visits GROUP BY ROLLUP (kind) HAVING kind IS NULL",
    "SELECT note, COUNT(*) FROM visits GROUP BY note HAVING note IS NULL",
    "SELECT COUNT(*) FROM (SELECT kind, COUNT(*) AS n FROM visits GROUP BY kind) WHERE kind = 'z'",
    "SELECT kind FROM (SELECT kind, COUNT(*) AS n FROM visits GROUP BY kind) WHERE kind = 'x' AND n > (SELECT 3)",
]


ONE_VALUE = [
    ("SELECT COUNT(*) * 0 AS n FROM visits", "n is 0 whatever the data say."),
    ("SELECT COUNT(*) / 0 AS n FROM visits", "n is NULL whatever the data say."),
    ("SELECT kind, SUM(cost) % 0 AS n FROM visits GROUP BY kind", "n is NULL whatever the data say."),
    ("SELECT 1 + COUNT(*) // (3 - 3) AS n FROM visits", "n is NULL whatever the data say."),
    ("SELECT CASE WHEN 1 = 2 THEN COUNT(*) END AS n FROM visits", "n is NULL whatever the data say."),
    ("SELECT ROUND(0 * AVG(cost), 2) AS n FROM visits", "n is 0 or NULL whatever the data say."),
    ("SELECT LEAST(GREATEST(COUNT(*), 3), 3) AS n FROM visits", "n is 3 whatever the data say."),
    ("SELECT 7 - n * 0 AS m FROM (SELECT COUNT(*) AS n FROM visits)", "m is 7 whatever the data say."),
    ("SELECT COUNT(year / 0) AS n FROM visits", "What it aggregates is always NULL: it will show nothing but noise"),
    ("SELECT SUM(year * 0) AS n FROM visits", "it is 0 whatever the data say: it shows only noise."),
    ("SELECT AVG(cost) AS n FROM visits WHERE cost >= 50", "it is 50 whatever the data say: it shows only noise."),
    ("SELECT VAR_POP(year) AS n FROM visits WHERE year = 1900", "it is 0 whatever the data say: it shows only noise."),
]
SEVERAL_VALUES = [
    "SELECT COUNT(*) * 1 AS n, 0 AS zero, COUNT(*) FROM visits",
    "SELECT COUNT(*) / COUNT(DISTINCT pid) AS n FROM visits",
    "SELECT kind, 1 AS one, COUNT(*) AS n FROM visits GROUP BY kind",
    "SELECT CASE WHEN COUNT(*) > 3 THEN 1 ELSE 0 END AS n FROM visits",
    "SELECT NULLIF(COUNT(*), 0) AS n FROM visits",
    "SELECT SUM(year * 0 + 3) AS n FROM visits",
    "SELECT SUM(cost) AS n FROM visits WHERE cost >= 50",
    "SELECT COUNT(year * 0) AS n FROM visits",
]


@pytest.fixture(scope="module")
def session(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Session]:
    home: Path = tmp_path_factory.mktemp("foretold")
    with duckdb.connect(str(home / "clinic.duckdb")) as data:
        data.execute(
            "CREATE TABLE visits AS SELECT i AS pid, 1900 AS year, 10.0::DOUBLE AS cost, DATE '2020-02-02' AS day, "
            "'x' AS kind, 'seven' AS note FROM range(5) AS t(i)"
        )
    (home / "clinic.yaml").write_text(POLICY)
    with dpsql.testing.open(home / "clinic.yaml", sampler=dpsql.testing.Noiseless()) as proxy:
        yield proxy.session(analyst="ana")


def said(session: Session, sql: str) -> tuple[str, str]:
    """The notes of the quote and of the answer."""
    quote, answer = session.explain(sql), session.query(sql)
    return " ".join(quote.notes), " ".join(note for m in answer.measurements for note in m.notes)


@pytest.mark.every(2)
@pytest.mark.parametrize("sql", UNMET)
def test_conditions_that_no_row_can_meet_are_foretold(session: Session, sql: str) -> None:
    for notes in said(session, sql):
        assert "no row can meet its conditions" in notes
    assert all(row[-1] in (0, None) or "AVG" in sql for row in session.query(sql).rows)


@pytest.mark.parametrize("sql", MET)
def test_conditions_that_some_row_may_meet_are_not(session: Session, sql: str) -> None:
    for notes in said(session, sql):
        assert "no row" not in notes


@pytest.mark.parametrize("sql", NO_ROW)
def test_an_answer_without_rows_is_refused_and_with_limit_0_free(session: Session, sql: str) -> None:
    spent = session.budget().spent
    with pytest.raises(UnsupportedQuery, match=r": no.* so that the answer would have no row\."):
        session.query(sql)
    assert session.query(f"{sql} LIMIT 0").rows == []
    assert session.outline(sql).columns
    assert session.budget().spent == spent


@pytest.mark.parametrize("sql", OUTSIDE)
def test_a_condition_outside_the_bounds_of_its_column_is_refused_with_them(session: Session, sql: str) -> None:
    spent = session.budget().spent
    for asked in (session.query, session.explain):
        with pytest.raises(UnsupportedQuery, match=r"no row can meet its condition, .* within \[[\d-]+, [\d-]+\]"):
            asked(sql)
    assert len(session.query(f"{sql} LIMIT 0").rows) == 0
    assert session.outline(sql).columns
    assert session.budget().spent == spent


@pytest.mark.parametrize("sql", SOME_ROW)
def test_an_answer_that_may_have_rows_is_not(session: Session, sql: str) -> None:
    assert session.explain(sql).cost.epsilon > 0


@pytest.mark.every(2)
@pytest.mark.parametrize(("sql", "expected"), ONE_VALUE)
def test_a_column_that_is_one_value_whatever_the_data_say_is_foretold(
    session: Session, sql: str, expected: str
) -> None:
    for notes in said(session, sql):
        assert expected in notes


@pytest.mark.parametrize("sql", SEVERAL_VALUES)
def test_a_column_that_may_have_several_values_is_not(session: Session, sql: str) -> None:
    for notes in said(session, sql):
        assert "whatever the data say" not in notes


def test_how_few_different_values_are_lost_in_noise_is_foretold(session: Session) -> None:
    few = "different values it says next to nothing, and no public fact tells how many there are."
    assert few in " ".join(session.explain("SELECT COUNT(DISTINCT note) FROM visits").notes)
    assert few not in " ".join(session.explain("SELECT COUNT(DISTINCT note) FROM visits", epsilon=100).notes)
    assert few not in " ".join(session.explain("SELECT COUNT(DISTINCT kind) FROM visits").notes)


def test_of_different_values_that_noise_hides_quote_and_answer_say_what_to_write(tmp_path: Path) -> None:
    """The noise is 0, so the answer is the number of values: it is below the half width, or above it."""
    (tmp_path / "clinic.yaml").write_text(POLICY.replace("rows_per_unit: 4", "rows_per_unit: 64"))
    with duckdb.connect(str(tmp_path / "clinic.duckdb")) as owner:
        owner.execute(
            "CREATE TABLE visits AS SELECT i AS pid, 2000 AS year, 1.0 AS cost, DATE '2020-01-01' + (i % 300)::INTEGER "
            "AS day, 'x' AS kind, 'n' || i % 5 AS note FROM range(9000) r(i)"
        )
    few = "Of fewer than about 192 different values it says next to nothing"
    write = "OPTIONS (max_rows_contributed = 4) .. counts those in 4 rows of each unit, within about ±12. GROUP BY note"
    with dpsql.testing.open(tmp_path / "clinic.yaml", sampler=dpsql.testing.Noiseless()) as proxy:
        session = proxy.session(analyst="ana")
        hidden = "SELECT COUNT(DISTINCT note) FROM visits"
        for notes in said(session, hidden):
            assert few in notes
            assert write in notes
        assert write not in " ".join(session.explain(hidden, max_rows_contributed=4).notes)
        quoted, answered = said(session, "SELECT COUNT(DISTINCT note || day) FROM visits")
        assert few in quoted
        assert few not in answered


def test_a_misspelt_value_in_having_is_refused_as_in_where(session: Session) -> None:
    spent = session.budget().spent
    for sql in (
        "SELECT kind, COUNT(*) FROM visits GROUP BY kind HAVING kind = 'z'",
        "SELECT kind, COUNT(*) FROM visits GROUP BY kind HAVING COUNT(*) > 5 AND kind IN ('z')",
    ):
        with pytest.raises(UnsupportedQuery, match=r"kind at 1:\d+: 'z' is none of its values. They are 'x', 'y'."):
            session.query(sql)
    assert session.budget().spent == spent


def test_a_condition_on_the_empty_text_is_answered_with_a_note(session: Session) -> None:
    for condition in ("kind = ''", "'' = kind", "kind IN ('')"):
        for notes in said(session, f"SELECT COUNT(*) FROM visits WHERE {condition}"):
            assert "no row can meet its conditions" in notes
    for condition in ("kind <> ''", "kind IN ('', 'x')", "kind = '' OR kind IS NULL"):
        for notes in said(session, f"SELECT COUNT(*) FROM visits WHERE {condition}"):
            assert "no row can meet its conditions" not in notes


WIDE = """
version: 1
name: wide
engine: {kind: duckdb, database: wide.duckdb}
neighbours: add_remove
budget:
  ledger: wide.ledger.db
  composition: basic
  total: {epsilon: 1000, delta: 1.0e-3}
  analysts: {"*": {epsilon: 1000, delta: 1.0e-3}}
  per_query: {epsilon: 1, delta: 1.0e-8}
tables:
  sales:
    unit: pid
    rows_per_unit: 1
    rows_about: 1
    columns:
      paid: {type: real, bounds: [0, 1.0e+9], grid: 1}
      shop: {type: text, values: [few, many, more]}
      open: {type: text}
"""
GUESSED = "Expected to say next to nothing"
ONE_END = "Expected to tell one end alone: its interval reaches about "


@pytest.fixture(scope="module")
def wide(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Session]:
    """Some 30,000 rows where the policy guesses one."""
    home: Path = tmp_path_factory.mktemp("wide")
    with duckdb.connect(str(home / "wide.duckdb")) as data:
        data.execute(
            "CREATE TABLE sales AS SELECT i AS pid, 4e8 AS paid, "
            "CASE WHEN i < 2 THEN 'few' WHEN i % 2 = 0 THEN 'many' ELSE 'more' END AS shop, shop AS open "
            "FROM range(30000) AS t(i)"
        )
    (home / "wide.yaml").write_text(WIDE)
    with dpsql.testing.open(home / "wide.yaml", sampler=dpsql.testing.Noiseless()) as proxy:
        yield proxy.session(analyst="ana")


@pytest.mark.every(2)
@pytest.mark.parametrize("aggregate", ["COUNT(*)", "SUM(paid)", "AVG(paid)", "MEDIAN(paid)", "STDDEV_POP(paid)"])
@pytest.mark.parametrize("rest", ["", " GROUP BY shop"])
def test_a_guess_that_the_released_numbers_show_to_be_wrong_stands_in_the_quote_alone(
    wide: Session, aggregate: str, rest: str
) -> None:
    quote, answer = said(wide, f"SELECT {aggregate} FROM sales{rest}")
    assert GUESSED in quote
    assert GUESSED not in answer
    replayed = wide.query(f"SELECT {aggregate} FROM sales{rest}")
    assert replayed.replayed
    assert not any(GUESSED in note for note in replayed.notes)


@pytest.mark.parametrize("aggregate", ["COUNT(*)", "SUM(paid)", "AVG(paid)"])
def test_a_guess_that_the_released_numbers_bear_out_stands_beside_the_answer(wide: Session, aggregate: str) -> None:
    for notes in said(wide, f"SELECT {aggregate} FROM sales WHERE shop = 'few'"):
        assert GUESSED in notes


@pytest.mark.parametrize("key", ["open", "shop"])
def test_groups_that_appear_against_the_guess_are_not_said_to_stay_away(wide: Session, key: str) -> None:
    sql = f"SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS (mechanism = 'threshold') {key}, COUNT(*) FROM sales GROUP BY 1"
    quote, answer = said(wide, sql)
    assert "none is expected to" in quote
    assert "A group" in answer
    assert "expected" not in answer


@pytest.mark.parametrize(("rows", "many"), [(67_108_865, True), (67_108_864, False)])
def test_rows_that_may_have_too_many_keys_are_foretold(tmp_path: Path, rows: int, many: bool) -> None:
    with duckdb.connect(str(tmp_path / "clinic.duckdb")) as data:
        data.execute(
            "CREATE TABLE visits (pid INTEGER, year INTEGER, cost DOUBLE, day DATE, kind VARCHAR, note VARCHAR, "
            "moment TIMESTAMP)"
        )
    policy = POLICY.replace("rows_per_unit: 4", f"rows_per_unit: 4\n    rows_about: {rows}")
    (tmp_path / "clinic.yaml").write_text(policy + "      moment: {type: timestamp}\n")
    with dpsql.testing.open(tmp_path / "clinic.yaml") as proxy:
        session = proxy.session(analyst="ana")
        notes = " ".join(session.explain("SELECT moment, COUNT(*) FROM visits GROUP BY moment").notes)
        assert ("may have more than 67,108,864 different keys: then there is no answer" in notes) is many
        assert "different keys" not in " ".join(
            session.explain("SELECT kind, COUNT(*) FROM visits GROUP BY kind").notes
        )


@pytest.mark.every(2)
@pytest.mark.parametrize("value", ["length(note)", "TRY_CAST(note AS INTEGER)", "2 * length(concat(note, kind))"])
@pytest.mark.parametrize("function", ["AVG", "SUM", "STDDEV"])
def test_that_nothing_is_known_of_an_expression_is_said_before_the_charge(
    session: Session, function: str, value: str
) -> None:
    def named(argument: str) -> bool:
        notes = session.explain(f"SELECT {function}({argument}) AS x FROM visits").notes
        return any("Name where they do: contribution_bounds_per_row" in note for note in notes)

    assert named(value)
    assert not any(map(named, (f"{value}, contribution_bounds_per_row => (0, 50)", "cost * 3", "year", "year * cost")))


@pytest.mark.parametrize(
    ("sql", "most"),
    [
        ("SELECT COUNT(DISTINCT kind) FROM visits", 2),
        ("SELECT COUNT(DISTINCT year) FROM visits WHERE cost > 3", 131),
        ("SELECT COUNT(DISTINCT kind) FROM visits WHERE kind = 'x'", 1),
    ],
)
def test_a_count_of_different_values_is_foretold_to_say_nothing_where_it_errs_by_all_of_them(
    session: Session, sql: str, most: int
) -> None:
    told = f"where any answer lies between 0 and {most}."
    quote = " ".join(session.explain(sql, epsilon=0.1).notes)
    assert told in quote
    assert told in " ".join(session.query(sql, epsilon=0.1).notes)
    assert told not in " ".join(session.explain(sql, epsilon=100).notes)


def test_a_count_of_units_is_compared_with_the_units_that_are_guessed(session: Session) -> None:
    """Of 10,000 rows guessed, of up to 4 a unit, 5,000 units."""
    told = "where a group has about 5000 units by the number that rows_about and rows_per_unit make likely"
    assert told in " ".join(session.explain("SELECT COUNT(DISTINCT pid) FROM visits", epsilon=0.0005).notes)
    assert "Expected" not in " ".join(session.explain("SELECT COUNT(DISTINCT pid) FROM visits", epsilon=0.001).notes)


def test_a_count_of_values_that_nobody_lists_is_compared_with_values_that_ten_rows_have(session: Session) -> None:
    counted, told = (
        "SELECT COUNT(DISTINCT note) FROM visits",
        "have about 1000 different values, if each is in 10 of them.",
    )
    found = [" ".join(session.explain(counted, epsilon=epsilon).notes) for epsilon in (0.005, 0.5)]
    assert [told in notes for notes in found] == [True, False]


@pytest.mark.parametrize("function", ["count_rows", "sum"])
def test_a_total_whose_interval_is_long_on_one_side_is_foretold_to_tell_one_end(function: str) -> None:
    """What is clipped lies above: the other end is as far from the value as the noise, and tells it from 0."""
    request = asking(function, held=Contribution(rows=64, groups=64, rows_in_group=64), keys=(CITY,))
    offer = Clamped().offer(request)
    assert isinstance(offer, Offer)
    assert offer.near_end * 3 < offer.half_width
    one = 1 if request.grid is None or function == "count_rows" else float(request.grid.high * request.grid.step) / 2
    for width, begins in ((2 * offer.half_width, None), (2 * offer.near_end, ONE_END), (offer.near_end / 2, GUESSED)):
        found = foretold(replace(request, rows_about=math.ceil(width / one)), offer)
        assert found[0].startswith(begins) if begins else not found, (width, found)
