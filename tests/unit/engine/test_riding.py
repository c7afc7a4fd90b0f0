"""Plain totals that ride along with totals of units are those of statements of their own."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import pytest

from dpsql.engine.duckdb.dialect import DUCKDB
from dpsql.engine.lower import lowering
from dpsql.engine.sized import MOST_CELLS, cells_beside, cells_of
from dpsql.plan.needs import Aggregates, Sized
from dpsql.prepare.prepared import Reading
from dpsql.prepare.readings import readings_of
from dpsql.session import Session
from dpsql.sql.parse import parse
from dpsql.worker.making import Added
from tests.attacks.random_ways import numbers
from tests.unit.engine.test_sized import ORDERS, RETURNS
from tests.unit.mechanisms.shop import policy, sessions

pytestmark = pytest.mark.chance(0, "no noise is drawn")

KEY = b"a secret"
SUMS = "SUM(amount), COUNT(*)"
MEANS = "AVG(amount), COUNT(amount), COUNT(*), SUM(amount)"
ROWS = "orders WHERE month < 9"
CAPPED = "WITH DIFFERENTIAL_PRIVACY OPTIONS (max_rows_contributed = 2)"
RETURNED = (
    "returns JOIN orders ON orders.customer = returns.customer AND month = back WHERE paid GROUP BY reason, region"
)
LEFT = "orders LEFT JOIN returns ON orders.customer = returns.customer AND month = back AND fee < 20 GROUP BY reason"


@pytest.fixture(scope="module")
def session(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Session]:
    made = (
        "CREATE TABLE orders AS SELECT i % 2000 AS customer, ['N', 'S', 'E', NULL][1 + i % 4] AS region, "
        "CASE WHEN i % 13 > 0 AND i % 4 <> 2 THEN (i % 97) / 4 - (i % 11) END AS amount, i % 5 <> 0 AS paid, "
        "1 + i % 12 AS month, DATE '2024-01-01' + (i % 101)::INTEGER AS placed FROM range(9000) AS t(i); "
        "CREATE TABLE returns AS SELECT i % 2000 AS customer, ['broken', 'late', NULL][1 + i % 3] AS reason, "
        "1 + i % 12 AS back, CASE WHEN i % 7 > 0 THEN i % 41 - 5 END AS fee, i / 100 AS weight, "
        "DATE '2024-02-20' + (i % 57)::INTEGER AS sent FROM range(3000) AS t(i)"
    )
    yield from sessions(tmp_path_factory.mktemp("riding"), made, policy(ORDERS + RETURNS))


@pytest.mark.every(2)
@pytest.mark.parametrize(
    ("sums", "means", "rows"),
    [
        (SUMS, MEANS, ROWS),
        (SUMS, "AVG(amount) FILTER (WHERE paid), AVG(amount * 2.5)", ROWS),
        ("COUNT(*)", "AVG(amount, contribution_bounds_per_row => (-2, 3))", ROWS),
        (SUMS, MEANS, "orders WHERE amount IS NULL"),
        (SUMS, MEANS, "orders WHERE month > 11 AND month <> 12"),
        (SUMS, MEANS, "orders"),
        (SUMS, MEANS, "orders WHERE paid GROUP BY region"),
        ("SUM(amount)", "COUNT(*)", "orders GROUP BY region, paid"),
        (SUMS, "COUNT(DISTINCT customer)", ROWS),
        ("COUNT(*)", "COUNT(DISTINCT customer)", ROWS),
        ("COUNT(*)", "AVG(amount)", ROWS),
        ("SUM(month)", "AVG(amount), COUNT(DISTINCT customer)", "orders"),
        ("SUM(amount)", "COUNT(DISTINCT customer)", "orders WHERE paid GROUP BY region, paid"),
        ("COUNT(*), SUM(weight)", "COUNT(weight), AVG(weight), SUM(back), AVG(back)", "returns GROUP BY month(sent)"),
        ("SUM(fee)", f"COUNT(DISTINCT orders.customer), {MEANS}", RETURNED),
        ("COUNT(*), COUNT(fee)", "AVG(fee), AVG(amount * 2.5), AVG(month)", LEFT),
    ],
)
def test_plain_totals_ride_along_and_are_what_they_are_alone(
    session: Session, sums: str, means: str, rows: str
) -> None:
    found = readings(session, sums, means, rows)
    assert len({reading.statement for reading in found}) == 1
    assert found[0].statement.by_unit
    assert None in found[0].statement.bins
    assert_alike(session, found, rows)


@pytest.mark.parametrize(
    ("sums", "means", "rows"),
    [
        (SUMS, MEANS, "orders WHERE month < 9 GROUP BY region"),  # all rows travel to the worker
        (SUMS, "AVG(amount * 2.5)", "orders"),  # what is stored of each unit does not tell it
        (SUMS, "AVG(amount, contribution_bounds_per_row => (-2, 3))", "orders"),
        (SUMS, "VAR_POP(amount)", ROWS),
        (SUMS, f"{CAPPED} AVG(amount), COUNT(*)", ROWS),
        (SUMS, "AVG(amount), COUNT(DISTINCT month)", ROWS),
        (SUMS, "COUNT(DISTINCT customer)", "orders WHERE paid GROUP BY region"),  # cells are smaller than groups
    ],
)
def test_plain_totals_stay_apart_where_they_are_of_other_rows_or_no_sums_or_rows_are_many(
    session: Session, sums: str, means: str, rows: str
) -> None:
    found = readings(session, sums, means, rows)
    assert [reading.of is None for reading in found] == [isinstance(own.need, Aggregates) for own in found]
    assert_alike(session, found, rows)


@pytest.mark.parametrize("other", ["orders WHERE month < 8", "orders", "orders WHERE month < 9 GROUP BY region"])
def test_plain_totals_of_other_rows_or_groups_stay_apart(session: Session, other: str) -> None:
    needs = [*asked_for(session, "COUNT(*)", "clamped", ROWS), *asked_for(session, "AVG(amount)", "laplace", other)]
    found, _ = readings_of(needs, lowering(DUCKDB, KEY))
    assert [reading.of for reading in found] == [None, None]


def test_a_database_that_adds_up_by_itself_finds_plain_totals_apart(session: Session) -> None:
    found = readings(session, SUMS, MEANS, ROWS, replace(DUCKDB, counts=False))
    assert [reading.of for reading in found] == [0, 1, None]


def test_plain_totals_of_many_groups_ride_no_further_than_a_worker_holds(session: Session) -> None:
    rows = "orders WHERE paid GROUP BY region"
    *sized, plain = readings(session, SUMS, MEANS, rows)
    assert isinstance(plain.need, Aggregates)
    assert isinstance(sized[0].need, Sized)
    held = cells_of(plain.statement)
    assert cells_beside(plain.need, sized[0].need) == 5 * 3  # a sum, and how many values and rows it is of
    for most, riding in ((held, True), (held - 1, False)):
        found = readings(session, SUMS, MEANS, rows, most=most)
        assert (found[-1].of is not None) == riding
        assert_alike(session, found, rows)


def test_a_total_that_two_ask_for_is_added_up_once(session: Session) -> None:
    statement = readings(session, SUMS, "COUNT(*), AVG(amount)", ROWS)[0].statement
    assert statement.sql.count("COUNT(*)") == 1
    assert statement.made == Added((("sum", 0), ("sum", 1), ("sum", 0), ("sum", 1), ("sum", 2)), alone=True)


def readings(
    session: Session, sums: str, means: str, rows: str, dialect: Any = DUCKDB, most: int = MOST_CELLS
) -> Sequence[Reading]:
    """How totals of units and plain ones of the same rows are found together."""
    needs = [
        need for asked, by in ((sums, "clamped"), (means, "laplace")) for need in asked_for(session, asked, by, rows)
    ]
    found, _ = readings_of(needs, lowering(dialect, KEY), most)
    kinds = [type(reading.need) for reading in found]
    assert {Sized, Aggregates} == set(kinds)
    return found


def asked_for(session: Session, asked: str, mechanism: str, rows: str) -> list[Any]:
    """What a mechanism needs for a statement."""
    parsed: Any = parse(f"SELECT {asked} FROM {rows}")
    plan: Any = session._plan(parsed.select, ())
    prepared: Any = session._prepare(plan, {"mechanism": mechanism, "epsilon": 20})
    return [measured.choice.release.need for measured in prepared.measured]


def assert_alike(session: Session, found: Sequence[Reading], rows: str) -> None:
    """Each reading finds what a statement of its own finds, by the worker and by the database alone."""
    run, nothing = session._backend.engine.run, rows.endswith(("month <> 12", "IS NULL"))  # no row, or no value
    for reading in found:
        own = numbers(reading.need, reading.own(run(reading.statement)))
        for dialect in (DUCKDB, replace(DUCKDB, counts=False)):
            alone = numbers(reading.need, run(lowering(dialect, KEY)(reading.need)))
            assert alone or nothing
            assert own == alone
