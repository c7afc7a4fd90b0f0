"""The friendly answer to ``SELECT * FROM visits LIMIT 5``: what can be asked instead of single rows of people.

Tests: tests/sql/refused.sql.
"""

from __future__ import annotations

from dpsql.errors import UnsupportedQuery
from dpsql.plan.catalog import Catalog, TableInfo
from dpsql.plan.known.scope import same_name
from dpsql.sql import syntax

__all__ = ["refuse_single_rows"]


def refuse_single_rows(query: syntax.Select, catalog: Catalog) -> None:
    """Refuses all columns of a private table.

    Raises:
        UnsupportedQuery: With a question that the table can answer.
    """
    for item in query.items:
        if isinstance(item.expression, syntax.AllColumns) and isinstance(query.source, syntax.TableName):
            table = query.source.name[-1]
            known = next((t for name, t in catalog.tables.items() if same_name(name, table)), None)
            if known is None or known.public:
                continue
            names = ", ".join(name for name, info in known.columns.items() if not (info.unit or info.link))
            raise UnsupportedQuery(
                "single rows of people are never shown.", construct="SELECT *", position=item.position,
                hint=f"{table} has the columns {names} (DESCRIBE {table} tells more). "
                f"Ask for aggregates: {_example(known)}",
            )  # fmt: skip


def _example(table: TableInfo) -> str:
    """A question that a table can answer."""
    columns = [info for info in table.columns.values() if not (info.unit or info.link)]
    listed = next((info.name for info in columns if info.values is not None), None)
    number = next((info.name for info in columns if info.facts.type.numeric and info.facts.bounded), None)
    asked = f"COUNT(*), AVG({number})" if number else "COUNT(*)"
    return (
        f"SELECT {listed}, {asked} FROM {table.name} GROUP BY {listed}"
        if listed
        else f"SELECT {asked} FROM {table.name}"
    )
