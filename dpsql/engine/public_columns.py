"""Whole columns of public tables: coordinates, what private rows are joined with, and values that stand together.

Tests: tests/unit/mechanisms/metric, tests/unit/engine/test_public_columns.py.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from dpsql.engine.base import Engine, EngineStatement
from dpsql.engine.guarded import NOT_READY
from dpsql.engine.released import lower_public
from dpsql.errors import EngineFailed, OperationalError, PolicyError, UnsupportedQuery
from dpsql.limits import MOST_LISTED
from dpsql.plan.catalog import Catalog, TableInfo
from dpsql.plan.known.relations import column_of, scans, size_of
from dpsql.plan.measured.domains import Cell
from dpsql.plan.nodes import Column, Relation, Scan
from dpsql.plan.plans import Output, PublicPlan, Stage
from dpsql.plan.types import Value
from dpsql.privacy.tables import RawTable

__all__ = ["PublicColumns"]

MOST_LOOKED_UP = 1_000_000
"""Rows of a public table, which are held as Python values while they are looked up in. It is a choice between memory
and use."""
MOST_COMBINED = 2_000_000
"""Rows of public tables of which the combinations of some columns are read. It is a choice: DuckDB groups so many in
some tenths of a second, and what is only planned costs nobody anything."""


class PublicColumns:
    """Reads columns of public tables with a key, each once.

    Args:
        engine: Holds the tables.
        catalog: Describes them.
    """

    def __init__(self, engine: Engine, catalog: Catalog) -> None:
        self._engine = engine
        self._catalog = catalog
        self._keys: dict[str, Sequence[Value]] = {}
        self._known: dict[tuple[str, str], Sequence[Value]] = {}

    def __call__(self, table: str, names: Sequence[str]) -> Mapping[str, Sequence[Value]]:
        """The columns, row by row in one and the same order; of rows with equal keys one is as good as another.

        Raises:
            UnsupportedQuery: If the table is too large to be looked up in.
            PolicyError: If it has no such column.
            OperationalError: The engine gives no answer. Nothing is charged.
        """
        info = self._catalog.tables[table]
        if info.rows > MOST_LOOKED_UP:
            raise UnsupportedQuery(
                f"{table} has more than {MOST_LOOKED_UP:,} rows, too many to be looked up in under a metric.",
                construct=table,
                hint="Keep what is needed of it in a smaller public table.",
            )
        for name in names:
            if name not in info.columns:
                raise PolicyError(f"{table}.{name} is in the policy but not in the data. Write the data's own name.")
            if (table, name) not in self._known:
                self._known[table, name] = self._column(info, name)
        return {name: self._known[table, name] for name in names}

    def _column(self, info: TableInfo, name: str) -> Sequence[Value]:
        """One column in the order of the keys."""
        scan = Scan(info, "t0")
        outputs = (Output("key", column_of(scan, str(info.key))), Output("value", column_of(scan, name)))
        raw = self._found(lower_public(PublicPlan(scan, Stage(outputs)), self._engine.dialect))
        found: dict[Value, Value] = dict(raw.groups(["c0", "c1"]))
        keys = self._keys.setdefault(info.name, list(found))
        return [found[key] for key in keys]

    def combinations(self, relation: Relation, columns: Sequence[Column]) -> Sequence[Cell] | None:
        """The values that columns have together in the rows of a public relation, each once, in no order.

        They are read anew each time: how fast a statement is planned tells nobody what others ask (`shelf`).

        Returns:
            None where there are more than are listed, where it is too large, and where it is made of what is released:
            that is read when it is paid for.

        Raises:
            OperationalError: The engine gives no answer. Nothing is charged.
        """
        own = [scan.table for scan in scans(relation)]
        if size_of(relation) > MOST_COMBINED or any(t.released or t.unread or t.answer is not None for t in own):
            return None
        outputs = tuple(Output(f"c{place}", column) for place, column in enumerate(columns))
        stage = Stage(outputs, group_by=tuple(columns), limit=MOST_LISTED + 1, aggregates=True)
        statement = lower_public(PublicPlan(relation, stage), self._engine.dialect)
        if statement.awaited:
            return None
        cells = self._found(statement).groups([name for name, _ in statement.columns])
        return cells if len(cells) <= MOST_LISTED else None

    def _found(self, statement: EngineStatement) -> RawTable:
        try:
            return self._engine.run(statement)
        except EngineFailed as failure:  # whose text says that a cost stays charged
            raise OperationalError(NOT_READY) from failure
