"""The place of each value in a list is its place there, whichever way it is found; all others are behind the end."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import replace
from datetime import date, datetime, timedelta
from typing import Any

import pytest

from dpsql.engine.dialect import WIRE
from dpsql.engine.duckdb.dialect import DUCKDB
from dpsql.engine.places import MOST_COMPARED, MOST_FOUND, MOST_HALVED, by_place, placeable, rising
from dpsql.engine.printer import Printer
from dpsql.plan.catalog import ColumnInfo, TableInfo
from dpsql.plan.needs import Contribution, Source
from dpsql.plan.nodes import Column, Scan
from dpsql.plan.plans import Key
from dpsql.plan.types import Facts, Type
from tests.connected import connected

pytestmark = pytest.mark.chance(0, "no noise is drawn")

FIRST, NOON = date(2019, 11, 1), datetime(2024, 2, 29, 12)
MONTHS = [date(2020 + at // 12, 1 + at % 12, 1) for at in range(80)]
NAMES = ["", "a", "b'c", "É", "é", "日本", " a", "a ", "😀", "x\ny", '"', "\\", "%", "NULL", "A"]
LISTS: dict[str, tuple[Type, list[Any], list[Any]]] = {
    "few days": (Type.DATE, MONTHS[:3], [FIRST, MONTHS[2], MONTHS[3]]),
    "days": (Type.DATE, [FIRST + timedelta(days=at) for at in range(500)], [FIRST - timedelta(days=1), MONTHS[40]]),
    "months": (Type.DATE, MONTHS, [FIRST, MONTHS[1] + timedelta(days=1), date(2030, 1, 1)]),
    "numbers": (Type.INTEGER, list(range(-7, 300)), [-8, 300, 2**40]),
    "some numbers": (Type.INTEGER, [at * at - 9 for at in range(60)], [-10, -7, 3000, -(2**40)]),
    "few reals": (
        Type.REAL,
        [at / 10 for at in range(MOST_COMPARED - 1)],
        [-0.1, 0.30000000000000004, math.nan, math.inf],
    ),
    "whole reals": (Type.REAL, [at * 5.0 - 50 for at in range(99)], [-55.0, 0.1, 7.0, 445.0, math.nan, math.inf]),
    "far reals": (Type.REAL, [at * 2.0**45 - 2.0**51 for at in range(99)], [0.1, -0.1, 2.0**51 - 1, -(2.0**51) - 1]),
    "large reals": (
        Type.REAL,
        [2.0**51 + at for at in range(99)],
        [2.0**51 - 0.5, 2.0**51 + 0.5, 2.0**51 + 99, -math.inf],
    ),
    "hours": (Type.TIMESTAMP, [NOON + timedelta(hours=at) for at in range(1_100)], [NOON + timedelta(microseconds=1)]),
    "quarters of hours since long ago": (
        Type.TIMESTAMP,
        [datetime(1899, 12, 31) + timedelta(minutes=15 * at) for at in range(99)],
        [datetime(1899, 12, 30, 23, 45), datetime(1899, 12, 31, 0, 7, 30), datetime(1900, 1, 2)],
    ),
    "days as moments": (Type.TIMESTAMP, [datetime(2020, 1, 1) + timedelta(days=at) for at in range(99)], [NOON]),
    "moments": (
        Type.TIMESTAMP,
        [NOON + timedelta(hours=at + at // 9) for at in range(900)],
        [NOON + timedelta(minutes=5)],
    ),
    "midnights": (Type.TIMESTAMP, [datetime(d.year, d.month, 1) for d in MONTHS], [NOON, datetime(2020, 1, 1, 12)]),
    "texts": (Type.TEXT, [*NAMES, *(f"v{at}" for at in range(200))], ["z", "B'C", "v", "v200"]),
    "truth": (Type.BOOLEAN, [False, True], []),
}


def source_of(kind: Type, domain: Sequence[Any], known: Sequence[Any] | None) -> Source:
    """Rows of one table, grouped by a column of these values; the owner listed those that are known."""
    facts = Facts(kind)
    table = TableInfo("t", {"k": ColumnInfo("k", facts, values=None if known is None else tuple(known))}, unit="k")
    return Source(Scan(table, "t0"), (Key("k0", Column("t0", "k", facts), tuple(domain)),), Contribution(1, 1, 1))


@pytest.mark.every(3)
@pytest.mark.parametrize("counts", [True, False])
@pytest.mark.parametrize("missing", [True, False])
@pytest.mark.parametrize("name", LISTS)
def test_a_value_is_found_at_its_place_in_the_list(name: str, missing: bool, counts: bool) -> None:
    kind, values, others = LISTS[name]
    domain = [*values, *([None] if missing else [])]
    source, printer = source_of(kind, domain[::-1], values), Printer(replace(DUCKDB, counts=counts))
    assert placeable(source)
    _, (column,) = by_place(printer, source)
    places, wire = rising(domain), WIRE[kind]
    with connected() as connection:
        connection.execute(f"CREATE TABLE q(k0 {wire})")
        connection.execute(f"INSERT INTO q SELECT unnest(CAST(? AS {wire}[]))", [[*values, *others, None]])
        sql = re.sub(r"\s+AS \"k0\"$", " AS place", column)
        parameters: Any = printer.parameters or None
        found = connection.execute(f"SELECT k0, {sql} FROM q", parameters).fetchall()
    assert len(found) == len(values) + len(others) + 1
    for value, place in found:
        assert place == (places.index(value) if value in places else len(places)), value


def test_texts_that_an_analyst_wrote_stand_in_no_statement() -> None:
    texts = [f"v{at}" for at in range(MOST_COMPARED + 1)]
    for known in (None, texts[1:]):
        assert not placeable(source_of(Type.TEXT, texts, known))
        source, printer = source_of(Type.TEXT, texts[:9], known), Printer(DUCKDB)
        assert placeable(source)
        _, (column,) = by_place(printer, source)
        if known is None:
            assert "'" not in column
            assert printer.parameters == texts[:9]


@pytest.mark.parametrize(
    ("kind", "values", "found"),
    [
        (Type.TEXT, [f"v{at}" for at in range(MOST_FOUND)], True),
        (Type.TEXT, [f"v{at}" for at in range(MOST_FOUND + 1)], False),
        (Type.INTEGER, [*range(0, MOST_FOUND, 5), MOST_FOUND - 1], True),
        (Type.INTEGER, [*range(0, MOST_FOUND, 5), MOST_FOUND], False),
        (Type.INTEGER, [3, 2**60], True),  # each is compared
        (Type.TIMESTAMP, [NOON + timedelta(days=at, hours=at % 2) for at in range(MOST_HALVED + 1)], False),
        (Type.TIMESTAMP, [NOON + timedelta(hours=at) for at in range(99_000)], True),
        (Type.REAL, [at / 10 for at in range(MOST_COMPARED + 1)], False),
        (Type.REAL, [2.0**52 + at for at in range(MOST_COMPARED + 1)], False),
        (Type.REAL, [7.0 * at for at in range(99_000)], True),
    ],
)
def test_places_are_found_where_that_is_fast(kind: Type, values: list[Any], found: bool) -> None:
    assert placeable(source_of(kind, values, values)) == found
