"""Whole columns of public tables: coordinates, and what private rows are joined with."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from dpsql.engines.base import Engine
from dpsql.engines.lower import lower_public
from dpsql.errors import UnsupportedQuery
from dpsql.plan.catalog import Catalog
from dpsql.plan.nodes import Output, PublicPlan, Scan, Stage
from dpsql.plan.relations import column_of
from dpsql.plan.types import Value

__all__ = ["PublicColumns"]

MOST_ROWS = 1_000_000


class PublicColumns:
    """Reads columns of public tables, each once.

    Args:
        engine: Holds the tables.
        catalog: Describes them.
    """

    def __init__(self, engine: Engine, catalog: Catalog) -> None:
        self._engine = engine
        self._catalog = catalog
        self._known: dict[tuple[str, str], Sequence[Value]] = {}

    def __call__(self, table: str, names: Sequence[str]) -> Mapping[str, Sequence[Value]]:
        """The columns, row by row in one and the same order.

        Raises:
            UnsupportedQuery: If the table is too large to be looked up in.
        """
        info = self._catalog.tables[table]
        if info.rows > MOST_ROWS:
            raise UnsupportedQuery(
                f"{table} has more than {MOST_ROWS:,} rows, too many to be looked up in under a metric.",
                construct=table,
                hint="Keep what is needed of it in a smaller public table.",
            )
        missing = [name for name in names if (table, name) not in self._known]
        if missing:
            self._read(table, [*info.columns])
        return {name: self._known[table, name] for name in names}

    def _read(self, table: str, names: Sequence[str]) -> None:
        """All columns at once, so that their rows are in one order."""
        scan = Scan(self._catalog.tables[table], "t0")
        outputs = tuple(Output(name, column_of(scan, name)) for name in names)
        raw = self._engine.run(lower_public(PublicPlan(scan, Stage(outputs))))
        for place, name in enumerate(names):
            column = raw.column(f"c{place}")
            self._known[table, name] = column.tolist() if hasattr(column, "tolist") else list(column)
