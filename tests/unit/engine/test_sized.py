"""Totals of units: what the worker adds up from rows as they lie is what the database finds by grouping them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from operator import contains
from typing import Any
from unittest.mock import patch

import pytest

from dpsql.engine import lower, streamed
from dpsql.engine.duckdb.dialect import DUCKDB
from dpsql.engine.side_by_side import MOST_BESIDE
from dpsql.engine.sized import cells_of
from dpsql.mechanisms.clamped.release import sizes_of
from dpsql.plan.needs import Values
from dpsql.prepare import readings
from dpsql.privacy.tables import listed
from dpsql.session import Session
from dpsql.worker.making import Added, Counted, Made
from tests.unit.mechanisms.shop import policy, prepared_for, sessions

ORDERS = """
  orders:
    unit: customer
    rows_per_unit: 500
    columns:
      region: {type: text, values: [S, N, E], nullable: true}
      amount: {type: decimal, bounds: [-1000, 1000], grid: 0.01, nullable: true}
      paid: {type: boolean}
      placed: {type: date, bounds: [2024-01-01, 2024-04-09], nullable: true}
      month: {type: integer, bounds: [1, 12]}
"""
RETURNS = """\
  returns:
    unit: customer
    rows_per_unit: 9
    columns:
      reason: {type: text, values: [late, broken], nullable: true}
      back: {type: integer, bounds: [1, 12]}
      fee: {type: integer, bounds: [-5, 40], nullable: true}
      sent: {type: date, bounds: [2024-02-25, 2024-04-09], nullable: true}
      weight: {type: decimal, bounds: [0, 30], grid: 0.1, nullable: true}
"""
MEMBERS = """\
  members:
    unit: customer
    rows_per_unit: 1
    columns:
      score: {type: decimal, bounds: [-50, 50], grid: 0.5, nullable: true}
      spent: {type: real, bounds: [0, 10000], grid: 0.01}
      club: {type: boolean, nullable: true}
      kind: {type: text, values_from: kinds.name}
  kinds: {public: true, key: name}
"""
TRIPS = """\
  trips:
    unit: customer
    rows_per_unit: 60
    columns:
      way: {type: text, values_from: ways.name}
      state: {type: text, values: [open, shut]}
      cost: {type: integer, bounds: [0, 900]}
      gain: {type: integer, bounds: [-40, 40], nullable: true}
  ways: {public: true, columns: {name: {type: text}}}
"""

MANY = "placed,", "month,", "sent,", "week"  # What stands in the keys of statements with more groups than columns.


@pytest.fixture(
    scope="module",
    params=["i % 2000", pytest.param("'é' || (i % 2000)", marks=pytest.mark.slow)],
    ids=["numbers", "texts"],
)
def session(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Session]:
    made = (
        f"CREATE TABLE orders AS SELECT {request.param} AS customer, ['N', 'S', 'E', NULL][1 + i % 4] AS region, "
        "CASE WHEN i % 13 > 0 THEN (i % 97) / 4 - (i % 11) END AS amount, i % 5 <> 0 AS paid, 1 + i % 12 AS month, "
        "DATE '2024-01-01' + (i % 101)::INTEGER AS placed FROM range(9000) AS t(i); "
        f"CREATE TABLE returns AS SELECT {request.param} AS customer, ['broken', 'late', NULL][1 + i % 3] AS reason, "
        "1 + i % 12 AS back, CASE WHEN i % 7 > 0 THEN i % 41 - 5 END AS fee, "
        "CASE WHEN i % 11 > 0 THEN DATE '2024-02-20' + (i % 57)::INTEGER END AS sent, "
        "CASE WHEN i % 5 > 0 THEN i % 33 - 1.5 END AS weight FROM range(3000) AS t(i); "
        f"CREATE TABLE members AS SELECT {request.param} AS customer, "
        "CASE WHEN i % 9 > 0 THEN i % 101 - 50 END AS score, i * 4.99 AS spent, "
        "[TRUE, FALSE, NULL][1 + i % 3] AS club, ['x', 'y', 'z', 'w'][1 + i % 4] AS kind "
        "FROM range(2000) AS t(i); "
        f"CREATE TABLE trips AS SELECT {request.param.replace('2000', '700')} AS customer, "
        "['air', 'road', 'sea'][1 + i % 3] AS way, ['draft', 'open', 'shut'][1 + i // 5 % 3] AS state, "
        "1 + 7 * (i % 100) AS cost, i % 81 - 40 AS gain "
        "FROM range(8000) AS t(i); "
        "CREATE TABLE kinds AS SELECT unnest(['z', 'x', 'y']) AS name; "
        "CREATE TABLE ways AS SELECT unnest(['sea', 'air', 'sea', NULL]) AS name"
    )
    yield from sessions(tmp_path_factory.mktemp("sized"), made, policy(ORDERS + RETURNS + MEMBERS + TRIPS))


@pytest.mark.every(3)
@pytest.mark.parametrize("where", ["", " WHERE paid"])
@pytest.mark.parametrize(
    "asked",
    [
        "SELECT SUM(amount), COUNT(*), COUNT(amount) FROM orders",
        "SELECT COUNT(*) FROM orders",
        "SELECT SUM(amount * 2.5) FROM orders",
        "SELECT region, SUM(amount), COUNT(*), COUNT(DISTINCT customer) FROM orders GROUP BY region",
        "SELECT region, month, SUM(amount) FROM orders GROUP BY region, month",
        "SELECT placed, SUM(amount), COUNT(*) FROM orders GROUP BY placed",
        "SELECT paid, region, SUM(amount), COUNT(*), COUNT(amount) FROM orders GROUP BY paid, region",
        "SELECT paid, COUNT(*), COUNT(amount) FROM orders GROUP BY paid",
        "SELECT region, COUNT(DISTINCT customer), COUNT(*) FROM orders GROUP BY region",
    ],
)
def test_rows_that_lie_by_unit_are_added_up_as_the_database_would(session: Session, asked: str, where: str) -> None:
    assert added_up_alike(session, asked.replace("FROM orders", f"FROM orders{where}")) == {True}


@pytest.mark.parametrize(
    "asked",
    [
        "SELECT SUM(spent), SUM(score) FROM members",
        "SELECT club, SUM(score), SUM(spent) FROM members GROUP BY club",
        "SELECT kind, club, SUM(spent), SUM(score) FROM members GROUP BY kind, club",
    ],
)
def test_rows_of_units_that_have_one_are_stored_as_the_database_adds_them_up(session: Session, asked: str) -> None:
    assert added_up_alike(session, asked) == {False}
    prepared = prepared_for(session, asked, mechanism="clamped")
    assert {reading.statement.tables for reading in prepared.readings} == {frozenset({"members$sizes"})}


@pytest.mark.parametrize(
    ("keys", "tables"),
    [
        ("way", {"trips$cells$sizes", "trips$cells"}),
        ("state", {"trips$cells$sizes", "trips$cells"}),
        ("way, state", {"trips$cells$sizes"}),
        ("state, way", {"trips$cells$sizes"}),
    ],
)
def test_units_count_wherever_they_are_beside_values_that_are_not_listed(
    session: Session, keys: str, tables: set[str]
) -> None:
    asked = f"SELECT {keys}, COUNT(*), SUM(cost), SUM(gain) FROM trips GROUP BY {keys}"
    assert added_up_alike(session, asked) == {True}
    prepared = prepared_for(session, asked, mechanism="clamped")
    assert {table for reading in prepared.readings for table in reading.statement.tables} == tables
    found = [sizes(session, prepared, *pair) for pair in zip(prepared.measured, prepared.readings, strict=True)]
    assert [sum(own[0]) for own in found] == [700, 700, 700]


@pytest.mark.parametrize(
    "asked",
    [
        "SELECT sent, COUNT(*), SUM(weight) FROM returns GROUP BY sent",
        "SELECT month(sent), SUM(back), COUNT(*), SUM(weight) FROM returns GROUP BY 1",
        "SELECT date_trunc('week', sent), dayofweek(sent), SUM(weight) FROM returns GROUP BY 1, 2",
        "SELECT sent > DATE '2024-03-15', COUNT(*), SUM(back) FROM returns GROUP BY 1",
    ],
)
def test_days_are_added_up_as_their_rows_would_be(session: Session, asked: str) -> None:
    assert added_up_alike(session, asked) == {True}
    prepared = prepared_for(session, asked, mechanism="clamped")
    assert {table for reading in prepared.readings for table in reading.statement.tables} == {"returns$days$sent"}


@pytest.mark.parametrize(("few", "grouped"), [(streamed.FEW_UNITS, True), (0, False)])
@pytest.mark.parametrize("where", [" WHERE month < 9", " WHERE amount IS NULL OR amount < 0"])
def test_few_units_are_added_up_by_the_database_and_many_by_the_worker(
    session: Session, monkeypatch: pytest.MonkeyPatch, where: str, few: int, grouped: bool
) -> None:
    monkeypatch.setattr(streamed, "FEW_UNITS", few)
    asked = f"SELECT SUM(amount), COUNT(*), COUNT(amount), SUM(month) FROM orders{where}"
    assert added_up_alike(session, asked) == {True}
    prepared = prepared_for(session, asked, mechanism="clamped")
    assert {"GROUP BY" in reading.statement.sql for reading in prepared.readings} == {grouped}
    made = [reading.statement.made for reading in prepared.readings]
    assert {isinstance(own, Added) and own.alone for own in made} == {grouped}


@pytest.mark.parametrize(
    ("asked", "grouped"), [("COUNT(*)", False), ("COUNT(amount)", True), ("COUNT(*), COUNT(DISTINCT customer)", True)]
)
def test_rows_alone_are_counted_as_they_come(session: Session, asked: str, grouped: bool) -> None:
    prepared = prepared_for(session, f"SELECT {asked} FROM orders WHERE month < 9")
    first = prepared.readings[0].statement
    assert (first.by_unit, "GROUP BY" in first.sql) == (True, grouped)


@pytest.mark.parametrize(
    "asked",
    [
        "SELECT COUNT(*), SUM(fee), SUM(amount) FROM returns JOIN orders USING (customer)",
        "SELECT reason, COUNT(*), SUM(amount) FROM orders JOIN returns ON orders.customer = returns.customer "
        "AND month = back WHERE paid AND fee > 3 GROUP BY reason",
        "SELECT reason, region, COUNT(fee), SUM(amount) FROM orders LEFT JOIN returns "
        "ON orders.customer = returns.customer AND month = back AND fee < 20 GROUP BY reason, region",
        "SELECT region, SUM(amount) FROM orders WHERE customer IN (SELECT customer FROM returns WHERE fee < 4) "
        "GROUP BY region",
    ],
)
def test_rows_of_joins_are_added_up_as_the_database_would(session: Session, asked: str) -> None:
    assert added_up_alike(session, asked) == {True}


@pytest.mark.parametrize(
    ("asked", "grouped"),
    [
        ("reason, COUNT(*), SUM(fee), COUNT(score) FROM returns JOIN members USING (customer)", False),
        ("back, SUM(weight * 2.5), SUM(score) FROM returns JOIN members USING (customer)", False),
        ("sent, COUNT(*), SUM(fee) FROM returns JOIN members USING (customer)", False),
        ("reason, COUNT(*), SUM(fee) FROM returns JOIN orders USING (customer)", True),
        ("club, COUNT(*), SUM(fee) FROM returns JOIN members USING (customer)", True),  # each member is in one club
    ],
)
def test_rows_of_joins_are_sorted_where_units_have_few_rows_a_group(
    session: Session, asked: str, grouped: bool
) -> None:
    asked = f"SELECT {asked} WHERE fee > 1 GROUP BY 1"
    assert added_up_alike(session, asked) == {True}
    statements = {reading.statement for reading in prepared_for(session, asked, mechanism="clamped").readings}
    assert {"GROUP BY" in own.sql for own in statements} == {grouped}
    assert all("ORDER BY" in own.sql for own in statements)


@pytest.mark.parametrize(
    ("asked", "streamed"),
    [
        (
            "SELECT SUM(total) FROM (SELECT customer, COUNT(*) AS n, SUM(amount) AS total FROM orders GROUP BY 1) AS q",
            True,
        ),
        ("SELECT SUM(n) FROM (SELECT customer, MIN(month) AS m, COUNT(*) AS n FROM orders GROUP BY 1) AS q", True),
        (
            "SELECT m, SUM(n) FROM (SELECT customer, MIN(month) AS m, COUNT(*) AS n FROM orders GROUP BY 1) AS q "
            "GROUP BY m",
            False,
        ),
        (
            "SELECT m, SUM(n) FROM (SELECT customer, region, MIN(month) AS m, COUNT(*) AS n FROM orders GROUP BY 1, 2) "
            "AS q GROUP BY m",
            False,
        ),
    ],
)
def test_an_analysts_own_totals_are_added_up_as_the_database_would(
    session: Session, asked: str, streamed: bool
) -> None:
    assert added_up_alike(session, asked) == {streamed}


def added_up_alike(session: Session, asked: str) -> set[bool]:
    """Whether rows are added up as they lie; both ways must find the same, and all totals of one look at the rows."""
    prepared = prepared_for(session, asked, mechanism="clamped")
    needs = [measured.choice.release.need for measured in prepared.measured]
    plain = replace(DUCKDB, counts=False)
    ways = {"worker": (DUCKDB, MOST_BESIDE), "side by side": (plain, MOST_BESIDE), "each": (plain, 0)}
    found, kinds = dict[str, list[Any]](), dict[str, set[tuple[bool, bool]]]()
    for way, (dialect, most) in ways.items():
        with pytest.MonkeyPatch.context() as patch:
            for module in (lower, readings):
                patch.setattr(module, "MOST_BESIDE", most)
            own, _ = readings.readings_of(needs, lower.lowering(dialect, b"a secret"))
        found[way] = [sizes(session, prepared, *pair) for pair in zip(prepared.measured, own, strict=True)]
        kinds[way] = {(bool(reading.statement.bins), bool(reading.statement.beside)) for reading in own}
        beside = sum(lower.lowering(plain, b"a secret")(need).beside for need in needs)
        together = way == "worker" or beside <= MOST_BESIDE
        if (False, False) not in kinds[way] and together:
            looks = {reading.statement for reading in own}
            assert len(looks) == len({look.made is None for look in looks})  # what is stored is read apart
    assert found["worker"] == found["side by side"] == found["each"]
    possible = kinds["worker"] != {(False, False)} and not any(many in asked for many in MANY)
    assert kinds["side by side"] == {(False, possible)}
    assert kinds["each"] == {(False, False)}
    assert all(any(own[0]) for own in found["each"])
    return {streamed for streamed, _ in kinds["worker"]}


@pytest.mark.parametrize("dialect", [DUCKDB, replace(DUCKDB, counts=False)], ids=["worker", "database"])
def test_no_group_at_all_is_asked_for_without_an_error(session: Session, dialect: Any) -> None:
    for what in ("SUM(amount)", "COUNT(*)", "AVG(amount)", "MEDIAN(amount)"):
        with patch("dpsql.backend.refuse_no_rows"):  # a group that sums up others may stand beside none
            prepared = prepared_for(
                session, f"SELECT region, {what} FROM orders WHERE region IS NULL AND region = 'N' GROUP BY region"
            )
        assert prepared.groupings[0].groups == ()
        for measured in prepared.measured:
            need = measured.choice.release.need
            session._backend.engine.run(lower.lowering(dialect, b"a secret")(need))


def sizes(session: Session, prepared: Any, measured: Any, reading: Any) -> tuple[Any, ...]:
    """What a reading finds, whatever comes first of it: units, signs, and the cells where anything is."""
    need, groups = measured.choice.release.need, prepared.groupings[0].groups or ((),)
    raw = reading.own(session._backend.engine.run(reading.statement))
    own = sizes_of(raw.by_group(prepared.keys_of(measured), groups, need.columns, rest=True), len(need.edges) + 1)
    signs = () if need.source.keys else own.signs  # of whichever group a unit is counted in: nobody reads them
    cells = zip(*(column.tolist() for column in (own.group, own.bin, own.total)), strict=True)
    return own.units, signs, sorted(cell for cell in cells if cell[2]), own.groups


def test_totals_of_many_groups_are_no_more_together_than_a_worker_holds(session: Session) -> None:
    prepared = prepared_for(
        session,
        "SELECT region, month, SUM(amount), COUNT(*), COUNT(amount) FROM orders GROUP BY region, month",
        mechanism="clamped",
    )
    lowered = lower.lowering(DUCKDB, b"a secret")
    needs = [measured.choice.release.need for measured in prepared.measured]
    each = [cells_of(lowered(need)) for need in needs]
    most = each[0] + each[1]
    found, _ = readings.readings_of(needs, lowered, most)
    assert [reading.of for reading in found] == [0, 1, None]
    assert [cells_of(reading.statement) for reading in found] == [most, most, each[2]]


def test_totals_stand_no_more_than_so_many_side_by_side(session: Session) -> None:
    asked = ", ".join(f"SUM(amount * {factor})" for factor in range(2, 12))
    prepared = prepared_for(session, f"SELECT region, {asked} FROM orders GROUP BY region", mechanism="clamped")
    needs = [measured.choice.release.need for measured in prepared.measured]
    found, _ = readings.readings_of(needs, lower.lowering(replace(DUCKDB, counts=False), b"a secret"))
    assert [reading.of for reading in found] == [*range(6), *range(4)]
    assert [reading.statement.beside for reading in found] == [30] * 6 + [20] * 4


def both_ways(session: Session, asked: str, mechanism: str) -> Iterator[tuple[Values, Made | None, list[list[Any]]]]:
    """Of all that is counted by value: what the worker makes of it, and the rows that it and the database find."""
    prepared = prepared_for(session, f"SELECT {asked}", mechanism=mechanism)
    for need in [reading.need for reading in prepared.readings if isinstance(reading.need, Values)]:
        both = [lower.lowering(dialect, b"a secret")(need) for dialect in (DUCKDB, replace(DUCKDB, counts=False))]
        assert both[1].made is None
        names = [*need.source.key_names, *need.columns]
        tables = [session._backend.engine.run(own) for own in both]
        found = [list(zip(*(listed(table.column(name)) for name in names), strict=True)) for table in tables]
        yield need, both[0].made, found


@pytest.mark.parametrize(
    ("asked", "counted"),
    [
        ("AVG(amount) FROM orders", True),
        ("AVG(amount) FROM orders WHERE paid", True),
        ("VAR_POP(month) FROM orders WHERE amount IS NULL OR month < 4", True),
        ("AVG(month * 2) FROM orders WHERE region = 'N'", True),
        ("STDDEV(amount) FROM orders", False),  # squares have a coarser grid
        ("AVG(amount) FROM orders JOIN members USING (customer) WHERE kind = 'x'", True),
        ("club, AVG(fee) FROM returns JOIN members USING (customer) GROUP BY 1", True),
        ("kind, club, VAR_POP(gain) FROM trips JOIN members USING (customer) GROUP BY 1, 2", True),
    ],
)
def test_units_totals_that_the_worker_counts_are_those_that_the_database_counts(
    session: Session, asked: str, counted: bool
) -> None:
    seen = False
    for need, made, found in both_ways(session, asked, "clamped"):
        domains = [set(key.domain or ()) for key in need.source.keys]
        inside = [[row for row in rows if all(map(contains, domains, row))] for rows in found]
        assert sorted(map(repr, inside[0])) == sorted(map(repr, inside[1]))
        assert inside[0]
        seen = seen or (isinstance(made, Counted) and made.of is not None)
    assert seen == counted


@pytest.mark.parametrize(
    ("asked", "counted"),
    [
        ("MEDIAN(amount) FROM orders", True),
        ("region, MEDIAN(month) FROM orders WHERE paid GROUP BY 1", True),
        ("paid, AVG(month) FROM orders WHERE amount > 0 GROUP BY 1", True),
        ("kind, MEDIAN(fee) FROM returns JOIN members USING (customer) WHERE score > 0 GROUP BY 1", True),
        ("reason, club, VAR_POP(back) FROM returns JOIN members USING (customer) GROUP BY 1, 2", True),
        ("MEDIAN(fee) FROM returns JOIN orders USING (customer)", False),  # two ranks tell its rows apart
    ],
)
def test_places_that_the_worker_finds_are_those_that_the_database_finds(
    session: Session, asked: str, counted: bool
) -> None:
    seen = False
    for need, made, both in both_ways(session, asked, "capped"):
        assert need.ranks
        found = list[dict[tuple[Any, ...], list[int]]]()
        for own in both:
            sums: dict[tuple[Any, ...], list[int]] = {}
            for *at, units, rows in own:
                if all(value in (key.domain or ()) for key, value in zip(need.source.keys, at, strict=False)):
                    held = sums.setdefault(tuple(at), [0, 0])
                    held[:] = held[0] + int(units or 0), held[1] + int(rows)
            found.append(sums)
        assert found[0] == found[1]
        assert found[0]
        seen = seen or (isinstance(made, Counted) and bool(made.edges))
    assert seen == counted
