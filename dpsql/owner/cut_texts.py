"""How many texts are longer than the bounded tables keep them, and whose: for `dpsql check`, in the owner's process.

Tests: tests/unit/owner/test_check.py.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from fractions import Fraction

from dpsql.engine.database import SourceTable
from dpsql.owner.bounded import READABLE, reading
from dpsql.owner.finding import Finding
from dpsql.owner.owners import Owned
from dpsql.owner.shape import TableShape

__all__ = ["cut_texts"]


def cut_texts(
    table: TableShape, source: SourceTable, rows: Owned, row: Callable[[str], tuple[int, ...]]
) -> Iterator[Finding]:
    """A finding for each column of which texts are cut.

    Args:
        table: A private table.
        source: Its source.
        rows: Its rows, with their units.
        row: The one row of a query of counts.
    """
    for column in table.columns:
        kind = source.type_of(column.name)
        if column.max_length is None or kind is None or kind.family not in READABLE[column.type]:
            continue
        shown = f"SELECT {rows.unit} AS u, {reading(table, column, source, None).cut} AS c FROM {rows.sql}"
        counts = "count(*), count(*) FILTER (WHERE c), count(DISTINCT CASE WHEN c THEN u END)"
        every, cut, units = row(f"SELECT {counts} FROM ({shown}) AS r")
        if cut:
            whose = f"texts, of {units:,} unit{'s' * (units != 1)},"
            what = f"{whose} are longer than max_length: {column.max_length:,}. They are cut; write more to keep more."
            yield Finding(
                table.name, column.name, what, cut, Fraction(cut, every), "warning", read_as="their first letters"
            )  # fmt: skip
