"""What the worker adds up by group, of first rows or groups or clamped totals, is what the database finds."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from dpsql.engine.duckdb.dialect import DUCKDB
from dpsql.engine.lower import lowering
from dpsql.plan.needs import Aggregates
from dpsql.session import Session
from dpsql.sql.parse import parse
from tests.unit.engine.test_sized import ORDERS
from tests.unit.mechanisms.shop import policy, sessions

pytestmark = pytest.mark.chance(0, "no noise is drawn")

ROWS = "SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS (max_rows_contributed = {}) "
CAP = "SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS (max_groups_contributed = {}) "
BOUNDS = "contribution_bounds_per_group => "


@pytest.fixture(scope="module", params=["i * 7 % 1000", "'é' || (i * 7 % 1000)"], ids=["numbers", "texts"])
def session(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Session]:
    made = (
        f"CREATE TABLE orders AS SELECT {request.param} AS customer, ['N', 'S', 'E', NULL][1 + i % 31 % 4] AS region, "
        "CASE WHEN i % 13 > 0 THEN (i % 97) / 4 - (i % 11) END AS amount, i % 5 <> 0 AS paid, 1 + i % 12 AS month, "
        "DATE '2024-01-01' + (i % 101)::INTEGER AS placed FROM range(9000) AS t(i)"
    )
    yield from sessions(tmp_path_factory.mktemp("streamed"), made, policy(ORDERS))


@pytest.mark.every(3)
@pytest.mark.parametrize("where", ["", " WHERE region IN ('N', 'S')"])
@pytest.mark.parametrize(
    ("asked", "streamed"),
    [
        (CAP.format(1) + "region, COUNT(*), SUM(amount) FROM orders GROUP BY 1", True),
        (CAP.format(1) + "region, COUNT(DISTINCT customer), AVG(amount) FROM orders GROUP BY 1", True),
        (CAP.format(2) + "region, paid, SUM(amount * 2.5) FROM orders GROUP BY 1, 2", True),
        (CAP.format(3) + "month, COUNT(*) FROM orders GROUP BY 1", True),
        (CAP.format(2) + "region, VAR_POP(amount) FROM orders GROUP BY 1", False),
        (f"SELECT region, SUM(amount, {BOUNDS}(-3, 20)), COUNT(*) FROM orders GROUP BY 1", True),
        (f"SELECT region, paid, SUM(amount, {BOUNDS}(0, 9)) FROM orders GROUP BY 1, 2", True),
        (f"SELECT SUM(amount, {BOUNDS}(0, 30)) FROM orders", True),
        (f"SELECT region, SUM(amount, {BOUNDS}(2, 30)) FROM orders GROUP BY 1", False),
    ],
)
def test_what_the_worker_adds_up_is_what_the_database_finds(
    session: Session, asked: str, streamed: bool, where: str
) -> None:
    assert (True in added_up_alike(session, asked.replace("FROM orders", f"FROM orders{where}"))) == streamed


@pytest.mark.every(3)
@pytest.mark.parametrize(
    ("asked", "streamed"),
    [
        ("COUNT(*), SUM(amount) FROM orders WHERE paid", True),
        ("region, COUNT(*), SUM(amount) FROM orders WHERE placed > DATE '2024-02-01' GROUP BY 1", True),
        ("COUNT(DISTINCT customer), COUNT(*) FROM orders WHERE month < 9", True),
        ("COUNT(*), SUM(amount) FROM orders", False),
        ("VAR_POP(amount) FROM orders WHERE paid", False),
    ],
)
@pytest.mark.parametrize("rows", [1, 3, 8])
def test_each_units_first_rows_are_those_of_the_database(
    session: Session, asked: str, streamed: bool, rows: int
) -> None:
    assert (True in added_up_alike(session, ROWS.format(rows) + asked)) == streamed


def added_up_alike(session: Session, asked: str) -> set[bool]:
    """Whether the worker added up what was needed; both ways find the same."""
    parsed: Any = parse(asked)
    plan: Any = session._plan(parsed.select, ())
    prepared: Any = session._prepare(plan, {"epsilon": 20})
    engine, groups, seen = session._backend.engine, prepared.groupings[0].groups or ((),), set[bool]()
    needs = [reading.need for reading in prepared.readings if isinstance(reading.need, Aggregates)]
    for need in needs:
        both = [lowering(dialect, b"a secret")(need) for dialect in (DUCKDB, replace(DUCKDB, counts=False))]
        assert both[1].made is None
        names = {f"m{index}": f"m{index}" for index in range(len(need.measures))}
        tables = [engine.run(own).aligned(need.source.key_names, groups, names) for own in both]
        found = [[list(table.column(name)) for name in names] for table in tables]
        assert found[0] == found[1]
        assert all(map(any, found[0]))
        seen.add(both[0].made is not None)
    return seen


OPEN = """
  visits:
    unit: customer
    rows_per_unit: 12
    columns:
      reason: {type: text, nullable: true}
      size: {type: real, nullable: true}
      placed: {type: date, nullable: true}
      code: {type: integer, nullable: true}
      amount: {type: decimal, bounds: [-10, 10], grid: 0.01, nullable: true}
      paid: {type: boolean}
      day: {type: date, bounds: [2024-01-01, 2024-12-31]}
"""


@pytest.fixture(scope="module")
def visits(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Session]:
    made = (
        "CREATE TABLE visits AS SELECT 'é' || (i * 7 % 1000) AS customer, "
        "['', 'ä', 'b', NULL][1 + i % 31 % 4] AS reason, "
        "['0', '-0', 'nan', '1.5', NULL][1 + i % 31 % 5]::DOUBLE AS size, "
        "CASE WHEN i % 89 > 0 THEN DATE '2024-01-01' + (i % 97 % 9)::INTEGER END AS placed, "
        "CASE WHEN i % 6 > 0 THEN 10 ** 15 * (i // 3000) END::BIGINT AS code, (i % 97) / 40 AS amount, "
        "i % 5 <> 0 AS paid, DATE '2024-03-01' + (i % 40)::INTEGER AS day FROM range(9000) AS t(i)"
    )
    yield from sessions(tmp_path_factory.mktemp("repeats"), made, policy(OPEN, delta=True))


@pytest.mark.every(3)
@pytest.mark.parametrize("where", ["", " WHERE paid AND amount > 0.5"])
@pytest.mark.parametrize(
    ("asked", "counted"),
    [
        ("reason, COUNT(*) FROM visits GROUP BY 1", True),
        ("upper(reason), COUNT(DISTINCT customer), SUM(amount) FROM visits GROUP BY 1", True),
        ("size, COUNT(amount), COUNT(*) FROM visits GROUP BY 1", True),
        ("date_trunc('month', placed), VAR_POP(amount) FROM visits GROUP BY 1", True),
        ("date_trunc('week', placed), COUNT(*), COUNT(DISTINCT customer) FROM visits GROUP BY 1", True),
        ("placed, COUNT(*) FROM visits GROUP BY 1", True),
        ("code, COUNT(*) FROM visits GROUP BY 1", True),
        ("placed, reason, COUNT(*) FROM visits GROUP BY 1, 2", True),
        ("code, paid, COUNT(*) FROM visits GROUP BY 1, 2", True),
        ("day, COUNT(DISTINCT customer) FROM visits GROUP BY 1", True),
        ("month(day), COUNT(DISTINCT customer) FROM visits GROUP BY 1", True),
        ("paid, COUNT(*), COUNT(DISTINCT customer) FROM visits GROUP BY 1", False),
    ],
)
def test_units_of_many_groups_are_those_of_the_database(visits: Session, asked: str, counted: bool, where: str) -> None:
    assert counted_alike(visits, f"SELECT {asked.replace(' GROUP', f'{where} GROUP')}") == counted


@pytest.mark.parametrize(
    "asked",
    [
        ROWS.format(3) + "reason, COUNT(*) FROM visits GROUP BY 1",
        CAP.format(2) + "reason, COUNT(*) FROM visits GROUP BY 1",
        CAP.format(2) + "placed, COUNT(*), SUM(amount) FROM visits GROUP BY 1",
        CAP.format(2) + "placed, code, COUNT(*) FROM visits GROUP BY 1, 2",
        CAP.format(2) + "v.placed, COUNT(*) FROM visits v JOIN visits w ON v.customer = w.customer GROUP BY 1",
        "SELECT v.reason, COUNT(*) FROM visits v JOIN visits w ON v.customer = w.customer GROUP BY 1",
    ],
)
def test_units_of_groups_in_joins_and_caps_are_counted_by_the_database(visits: Session, asked: str) -> None:
    assert not counted_alike(visits, asked)


@pytest.mark.parametrize(
    ("groups", "rows", "counted"), [(" GROUP BY paid", 4, True), (" GROUP BY paid", 5, False), ("", 2, False)]
)
def test_units_are_counted_as_rows_stream_by_where_groups_are_many_beside_them(
    visits: Session, groups: str, rows: int, counted: bool
) -> None:
    parsed: Any = parse(f"SELECT COUNT(DISTINCT customer) FROM visits{groups}")
    plan: Any = visits._plan(parsed.select, ())
    needs = [reading.need for reading in visits._prepare(plan, {"epsilon": 20}).readings]
    own = [need for need in needs if isinstance(need, Aggregates)]
    assert own
    for need in own:
        source = replace(need.source, contribution=replace(need.source.contribution, rows=rows))
        assert bool(lowering(DUCKDB, b"a secret")(replace(need, source=source)).ways) == counted


@pytest.mark.every(3)
@pytest.mark.parametrize("where", ["", " WHERE paid AND amount > 0.5"])
@pytest.mark.parametrize("most", [1, 2, 7])
@pytest.mark.parametrize(
    "asked",
    [
        "placed, COUNT(*) FROM visits GROUP BY 1",
        "date_trunc('week', placed), COUNT(*), COUNT(DISTINCT customer) FROM visits GROUP BY 1",
        "code, COUNT(DISTINCT customer) FROM visits GROUP BY 1",
        "day, COUNT(*) FROM visits GROUP BY 1",
    ],
)
def test_first_rows_and_groups_by_a_whole_key_are_those_of_the_database(
    visits: Session, asked: str, most: int, where: str
) -> None:
    for cap in (CAP.format(most), ROWS.format(most)):
        assert counted_alike(visits, cap + asked.replace(" GROUP", f"{where} GROUP"))


def counted_alike(session: Session, asked: str) -> bool:
    """Whether the worker counted units, or did when the table was built; both ways find the same groups."""
    parsed: Any = parse(asked)
    plan: Any = session._plan(parsed.select, ())
    prepared: Any = session._prepare(plan, {"epsilon": 20})
    engine, seen = session._backend.engine, False
    for need in [reading.need for reading in prepared.readings]:
        both = [lowering(dialect, b"a secret")(need) for dialect in (DUCKDB, replace(DUCKDB, counts=False))]
        assert not both[1].ways
        tables = [engine.run(own) for own in both]
        names = [name for name, _ in both[0].columns]
        found = [sorted(map(repr, zip(*(table.column(name) for name in names), strict=True))) for table in tables]
        assert found[0] == found[1]
        assert found[0]
        seen = seen or bool(both[0].ways) or both[0].tables != both[1].tables
    return seen
