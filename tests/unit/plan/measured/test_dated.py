"""MIN, MAX and QUANTILE_DISC of dates: dates leave, with dates as the ends of their intervals, at every door."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import date, timedelta
from pathlib import Path
from typing import Any

import pytest

import dpsql.testing
from dpsql.errors import ProgrammingError, UnsupportedQuery
from dpsql.plan.types import ListOf, Type
from dpsql.server.tools import Tools
from dpsql.session import Session
from dpsql.testing_samplers import FixedSampler, Noiseless
from tests.connected import connected
from tests.unit.mechanisms.shop import policy, sessions

pytestmark = pytest.mark.chance(0, "noise is drawn from fixed words, or none is")

TABLES = """
  visits:
    unit: person
    rows_per_unit: 2
    rows_about: 2000
    columns:
      ward: {type: text, values: [A, B, C]}
      day: {type: date, bounds: [2020-01-01, 2025-12-31], nullable: true}
      other: {type: date, bounds: [2020-01-01, 2025-12-31], nullable: true}
      any_day: {type: date}
      noted_at: {type: timestamp, bounds: [2020-01-01 00:00:00, 2025-12-31 00:00:00], nullable: true}
"""
MADE = (
    "CREATE TABLE visits AS SELECT i // 2 AS person, ['A', 'B', 'C'][1 + i % 3] AS ward, day, day AS other, "
    "day AS any_day, day::TIMESTAMP AS noted_at FROM (SELECT i, CASE WHEN i % 10 > 0 "
    "THEN DATE '2021-01-01' + (i % 1000)::INTEGER END AS day FROM range(2000) AS t(i))"
)
FIRST, LAST = date(2020, 1, 1), date(2025, 12, 31)


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the shop, whose data no test changes."""
    return tmp_path_factory.mktemp("dated")


@pytest.fixture
def session(home: Path) -> Iterator[Session]:
    yield from sessions(home, MADE, policy(TABLES))


@pytest.fixture
def noised(home: Path) -> Iterator[Session]:
    yield from sessions(home, MADE, policy(TABLES), FixedSampler(3))


@pytest.mark.every(3)
@pytest.mark.parametrize(
    "columns",
    [
        "MIN(day), MAX(day)",
        "QUANTILE_DISC(day, 0.5), PERCENTILE_DISC(0.25) WITHIN GROUP (ORDER BY day)",
        "MIN(day) FILTER (WHERE day > DATE '2021-08-01'), MAX(day) - MIN(day)",
        "MAX(CAST(noted_at AS DATE))",
        "year(MAX(day)), date_trunc('month', MIN(day))",
    ],
)
@pytest.mark.parametrize("rest", ["", "WHERE day > DATE '2021-06-15'", "GROUP BY ward ORDER BY ward"])
def test_without_noise_dates_are_as_in_the_database(session: Session, home: Path, columns: str, rest: str) -> None:
    asked = f"SELECT {columns} FROM visits {rest}"
    with connected(home / "shop.duckdb", read_only=True) as connection:
        expected = connection.execute(asked).fetchall()
    answer = session.query(asked, epsilon=500)
    assert [tuple(map(str, row)) for row in answer.rows] == [tuple(map(str, row)) for row in expected]


def test_of_people_each_has_one_date(session: Session, home: Path) -> None:
    asked = "SELECT QUANTILE_DISC(first, 0.5) FROM (SELECT person, MIN(day) AS first FROM visits GROUP BY person)"
    with connected(home / "shop.duckdb", read_only=True) as connection:
        assert session.query(asked, epsilon=50).rows == connection.execute(asked).fetchall()


def test_ends_are_dates_that_hold_the_truth_within_the_bounds(noised: Session) -> None:
    answer = noised.query("SELECT ward, QUANTILE_DISC(day, 0.5) AS middle FROM visits GROUP BY ward")
    for (_, middle), (low, high) in zip(answer.rows, answer.interval("middle"), strict=True):
        assert type(low) is type(high) is type(middle) is date
        assert FIRST <= low <= middle <= high <= LAST
        assert low < date(2022, 5, 15) < high  # the fixed words are no rare ones
    assert noised.query("SELECT ward, QUANTILE_DISC(day, 0.5) AS middle FROM visits GROUP BY ward").replayed


def test_ends_leave_as_columns_in_texts_files_and_reports(noised: Session, tmp_path: Path) -> None:
    asked = "SELECT QUANTILE_DISC(day, 0.5) AS middle FROM visits"
    answer = noised.query(asked)
    ((middle,),) = answer.rows
    ((low, high),) = answer.interval("middle")
    wide = answer.with_intervals()
    assert wide.columns == ("middle", "middle_low", "middle_high")
    assert wide.types == (Type.DATE,) * 3
    assert wide.rows == [(middle, low, high)]
    assert answer.to_arrow(intervals=True).to_pylist() == [{"middle": middle, "middle_low": low, "middle_high": high}]
    assert f"{middle} [{low}, {high}]" in str(answer)
    assert f"middle ± {(high - low).days / 2:g} days." in answer.footnote
    shown = noised.query(f"SELECT DP_INTERVAL_LOW(middle) AS a, DP_INTERVAL_HIGH(middle) AS b, {asked[7:]}")
    assert shown.rows == [(low, high, middle)] or shown.types == (Type.DATE,) * 3
    report = noised.query("SELECT MAX(day, report_format => 'JSON') AS last FROM visits").rows[0][0]
    told = json.loads(report)["result"]
    assert FIRST <= date.fromisoformat(told["noise_confidence_interval"]["lower_bound"]) <= LAST


def test_dates_of_several_answers_keep_their_intervals(noised: Session) -> None:
    answer = noised.query(
        "SELECT a.first, b.last, b.last - a.first AS days, year(a.first) AS since, year(a.month) AS of_month, "
        "a.first + 1 AS next FROM (SELECT QUANTILE_DISC(day, 0.1) AS first, date_trunc('month', MIN(day)) AS month "
        "FROM visits) a, (SELECT QUANTILE_DISC(day, 0.9) AS last, COUNT(*) AS n FROM visits WHERE ward = 'A') b"
    )
    ((first, last, *_),) = answer.rows
    ((low, high),) = answer.interval("first")
    assert FIRST <= low <= first <= high <= LAST
    ((before, behind),) = answer.interval("last")
    assert answer.interval("days")[0][0] <= (last - first).days <= answer.interval("days")[0][1]
    assert answer.interval("days", 0.9)[0][1] <= (LAST - FIRST).days
    assert before <= last <= behind
    assert answer.interval("since")[0][0] <= first.year <= answer.interval("since")[0][1]
    assert str(answer)  # what is said of a moment that noise made up has no end
    with pytest.raises(ProgrammingError, match="'next' is no number"):
        answer.interval("next")


def test_lists_of_dates_rise(noised: Session) -> None:
    answer = noised.query("SELECT QUANTILE_DISC(day, [0.25, 0.5, 0.75]) AS quarters FROM visits", epsilon=0.01)
    assert answer.types == (ListOf(Type.DATE),)
    assert answer.rows[0][0] == sorted(answer.rows[0][0])
    ((low, high),) = answer.interval("quarters")
    assert all(a <= own <= b for a, own, b in zip(low, answer.rows[0][0], high, strict=True))


def test_an_agent_is_told_lists_of_dates_with_their_intervals(noised: Session) -> None:
    told = Tools(noised, lambda: 10.0, str).asked("SELECT QUANTILE_DISC(day, [0.25, 0.5]) AS q FROM visits", 1).told
    assert told is not None
    assert told.columns == ["q", "q_low", "q_high"]
    ((values, low, high),) = told.rows
    assert [a <= own <= b for a, own, b in zip(low, values, high, strict=True)] == [True, True]


def test_quotes_speak_of_days_and_foretell_widths(noised: Session) -> None:
    quote = noised.explain("SELECT QUANTILE_DISC(day, 0.5) AS middle FROM visits", half_width={"middle": 60})
    names = [column.name for column in quote.columns]
    assert names == ["middle", "middle: QUANTILE_DISC(day, 0.5), in days"]
    assert quote.columns[0].half_width is not None
    assert quote.columns[0].half_width <= 60


@pytest.mark.every(2)
@pytest.mark.parametrize(
    ("asked", "told"),
    [
        ("MEDIAN(day)", "Write QUANTILE_DISC(x, 0.5), which is one of the dates."),
        ("QUANTILE_CONT(day, 0.9)", "Write QUANTILE_DISC(x, 0.5), which is one of the dates."),
        ("AVG(day)", "Name a number, such as the days since one of them"),
        ("MIN(noted_at)", "Name its day, CAST(x AS DATE)"),
        ("MEDIAN(noted_at)", "Of seconds, date_diff('second', TIMESTAMP '2020-01-01', x), they are numbers"),
        ("MIN(any_day)", "Declare bounds in the policy, or write WHERE x BETWEEN"),
    ],
)
def test_what_is_no_date_says_what_to_write(session: Session, asked: str, told: str) -> None:
    with pytest.raises(UnsupportedQuery, match=told.replace("(", r"\(").replace(")", r"\)")):
        session.query(f"SELECT {asked} FROM visits")


def test_seconds_of_times_are_numbers(session: Session, home: Path) -> None:
    asked = "SELECT MAX(date_diff('second', TIMESTAMP '2020-01-01', noted_at)) AS s FROM visits"
    with connected(home / "shop.duckdb", read_only=True) as connection:
        assert session.query(asked).rows == connection.execute(asked).fetchall()


@pytest.mark.parametrize(
    ("asked", "named"), [("AVG(day - other)", True), ("SUM(day - other)", True), ("MIN(day)", False)]
)
def test_times_between_dates_are_mostly_short_which_the_analyst_may_say(
    session: Session, asked: str, named: bool
) -> None:
    notes = " ".join(session.explain(f"SELECT {asked} AS x FROM visits").notes)
    assert ("WHERE end <= start + INTERVAL 60 DAY or contribution_bounds_per_row => (low, high)" in notes) is named
    bounded = asked.replace(")", ", contribution_bounds_per_row => (0, 30))")
    assert not named or "name how long" not in " ".join(session.explain(f"SELECT {bounded} AS x FROM visits").notes)


def test_unbounded_dates_are_bounded_by_the_condition(session: Session) -> None:
    within = "any_day BETWEEN DATE '2021-01-01' AND DATE '2023-12-31'"
    ((last,),) = session.query(f"SELECT MAX(any_day) FROM visits WHERE {within}", epsilon=50).rows
    assert last == date(2021, 1, 1) + timedelta(days=999)


@pytest.mark.every(2)
@pytest.mark.parametrize(
    "sql",
    [
        "SELECT d - FIRST_VALUE(d) OVER (ORDER BY d) AS n FROM (SELECT ward, MIN(day) AS d FROM visits GROUP BY ward)",
        "SELECT ward, MAX(day) - MIN(MIN(day)) OVER () AS n FROM visits GROUP BY ward",
        "WITH t AS (SELECT ward, MIN(day) AS d FROM visits GROUP BY ward) SELECT MAX(d) - MIN(d) AS n FROM t",
        "WITH t AS (SELECT ward, MIN(day) AS d FROM visits GROUP BY ward) SELECT d - (SELECT MAX(d) FROM t) n FROM t",
    ],
)
def test_days_from_a_date_of_several_rows_are_quoted_and_answered(session: Session, sql: str) -> None:
    assert session.explain(sql).columns
    assert {type(row[-1]) for row in session.query(sql).rows} == {int}


def test_dates_between_the_calendars_ends_are_answered(session: Session, home: Path) -> None:
    everywhere = TABLES.replace("any_day: {type: date}", "any_day: {type: date, bounds: [0001-01-01, 9999-12-31]}")
    asked = "SELECT MIN(any_day) AS a, MAX(any_day) AS b, MAX(any_day) - MIN(any_day) AS n FROM visits"
    (home / "all.yaml").write_text(policy(everywhere))
    with dpsql.testing.open(home / "all.yaml", Noiseless()) as proxy:
        ((first, last, days),) = proxy.session(analyst="ana").query(asked).rows
    assert days == (last - first).days
    assert date.min < first < last < date.max


def test_what_is_so_of_any_date_is_told_to_the_last_digit(session: Session) -> None:
    sql = "SELECT year(MIN(day)) AS y FROM visits WHERE day BETWEEN DATE '2021-02-01' AND DATE '2021-12-31'"
    assert "y is 2021 whatever the data say." in session.explain(sql).notes


def test_the_mode_of_dates_is_a_date_whenever_it_is_asked(session: Session) -> None:
    sql = "SELECT MODE(day) AS d FROM visits WHERE day < DATE '2021-06-01'"
    first, again = session.query(sql).rows, session.query(sql).rows
    assert first == again
    assert type(again[0][0]) is date


@pytest.mark.every(2)
@pytest.mark.parametrize(
    ("asked", "options", "told"),
    [
        ("QUANTILE_DISC(day, 0.5)", {}, "well within 2190 days of the centre 2022-12-31"),
        ("QUANTILE_DISC(day, 0.5)", {}, "a tenth of the price: about 1.1 days, W = 2190 days."),
        ("MIN(day)", {"sensitivity": 5}, "one row moves it by at most Delta = 2.5 days."),
        ("MAX(day)", {"sensitivity": 5, "centre": 1000}, "it is pulled towards 2022-09-27. Intervals"),
    ],
)  # fmt: skip
def test_preprocessed_dates_are_told_as_dates(session: Session, asked: str, options: dict[str, Any], told: str) -> None:
    quote = session.explain(f"SELECT {asked} AS d FROM visits", mechanism="preprocessing", **options)
    assert told in " ".join(quote.notes)


def test_an_error_as_wide_as_the_bounds_is_told_in_days(session: Session) -> None:
    (note,) = (n for n in session.explain("SELECT MAX(day) FROM visits", epsilon=0.001).notes if "next to noth" in n)
    assert " days, where any answer lies between 2020-01-01 and 2025-12-31 with " in note


def test_where_units_have_classes_dates_are_told_as_dates(tmp_path: Path) -> None:
    text = policy(TABLES).replace(
        "tables:",
        "privacy_classes: {table: people, column: consent, share: {strict: 0.5, normal: 1}}\ntables:\n"
        "  people: {unit: person, rows_per_unit: 1, columns: {age: {type: integer}}}",
    )
    made = f"{MADE}; CREATE TABLE people AS SELECT i AS person, i AS age, 'normal' AS consent FROM range(1000) AS t(i)"
    for session in sessions(tmp_path, made, text):
        quote = session.explain("SELECT MIN(day) FROM visits", mechanism="preprocessing", sensitivity=5)
        (note,) = (note for note in quote.notes if "what its class allows" in note)
        assert "strict 2.5 days, normal 5 days. It starts at the centre, 2022-12-31, and" in note
