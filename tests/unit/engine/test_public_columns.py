"""Combinations of public columns are read of public tables alone, and a failure to read them costs nothing."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from dpsql.engine.base import EngineStatement
from dpsql.engine.duckdb.dialect import DUCKDB
from dpsql.engine.public_columns import MOST_COMBINED, PublicColumns
from dpsql.errors import EngineFailed, OperationalError
from dpsql.limits import MOST_LISTED
from dpsql.plan.catalog import Catalog, ColumnInfo, TableInfo
from dpsql.plan.known.relations import column_of
from dpsql.plan.nodes import AWAITED, Column, Filter, Scan
from dpsql.plan.types import Facts, Type
from dpsql.privacy.tables import RawTable

FACTS = Facts(Type.INTEGER)
ITEMS = TableInfo("items", {name: ColumnInfo(name, FACTS) for name in ("a", "b")}, public=True, rows=9)


class Told:
    """An engine that says what it is told to, and keeps what it is asked."""

    dialect = DUCKDB

    def __init__(self, answer: RawTable | Exception) -> None:
        self.answer, self.asked = answer, list[EngineStatement]()

    def run(self, statement: EngineStatement) -> RawTable:
        self.asked.append(statement)
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer


def read(answer: RawTable | Exception, table: TableInfo = ITEMS) -> tuple[Any, int]:
    """The combinations of two columns, and how often the engine was asked."""
    engine: Any = Told(answer)
    scan = Scan(table, "t0")
    columns = [column_of(scan, name) for name in table.columns]
    found = PublicColumns(engine, Catalog({}, "add_remove", "shop", 1)).combinations(scan, columns)
    return found, len(engine.asked)


PAIRS = RawTable({"c0": [1, 2, None], "c1": [3, 3, None]})


def test_combinations_are_rows_of_the_table() -> None:
    assert read(PAIRS) == ([(1, 3), (2, 3), (None, None)], 1)


def test_more_combinations_than_are_listed_are_none() -> None:
    many = range(MOST_LISTED + 1)
    assert read(RawTable({"c0": many, "c1": many})) == (None, 1)


@pytest.mark.parametrize("facts", [{"rows": MOST_COMBINED + 1}, {"released": "f"}, {"unread": "cost"}, {"answer": 0}])
def test_large_tables_and_what_is_released_are_not_read(facts: dict[str, Any]) -> None:
    assert read(PAIRS, replace(ITEMS, **facts)) == (None, 0)


def test_a_failure_says_that_nothing_was_spent() -> None:
    with pytest.raises(OperationalError, match="Nothing was spent") as failure:
        read(EngineFailed())
    assert not isinstance(failure.value, EngineFailed)


def test_a_failure_to_read_a_column_says_so_too() -> None:
    engine: Any = Told(EngineFailed())
    catalog = Catalog({"items": replace(ITEMS, key="a")}, "add_remove", "shop", 1)
    with pytest.raises(OperationalError, match="Nothing was spent") as failure:
        PublicColumns(engine, catalog)("items", ["b"])
    assert not isinstance(failure.value, EngineFailed)


def test_rows_that_await_a_release_are_not_read() -> None:
    engine: Any = Told(PAIRS)
    scan = Scan(ITEMS, "t0")
    waits = Filter(scan, Column(AWAITED, "v0", Facts(Type.BOOLEAN)))
    columns = [column_of(scan, "a"), column_of(scan, "b")]
    assert PublicColumns(engine, Catalog({}, "add_remove", "shop", 1)).combinations(waits, columns) is None
    assert not engine.asked
