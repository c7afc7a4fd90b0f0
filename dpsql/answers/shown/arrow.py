"""Rows as an Arrow table. Needs pyarrow, which comes with the extras.

Tests: tests/unit/answers/test_answer.py.
"""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from dpsql.answers.shown.ends import distinct
from dpsql.plan.types import ListOf, Shown, Type

if TYPE_CHECKING:
    import pyarrow

__all__ = ["arrow_table"]


def arrow_table(columns: Sequence[str], types: Sequence[Shown], rows: Sequence[tuple[Any, ...]]) -> pyarrow.Table:
    """The rows as a `pyarrow.Table`, unrounded.

    Integers beyond 64 bits make their column decimal(38, 0). Repeated column names get ``_1``, ``_2`` ...
    """
    import pyarrow as pa

    kinds = {
        Type.INTEGER: pa.int64(),
        Type.REAL: pa.float64(),
        Type.BOOLEAN: pa.bool_(),
        Type.TEXT: pa.string(),
        Type.DATE: pa.date32(),
        Type.TIMESTAMP: pa.timestamp("us"),
        Type.NULL: pa.null(),
    }
    arrays = []
    for i, shown in enumerate(types):
        lists = [row[i] for row in rows] if isinstance(shown, ListOf) else None
        kind = shown.element if isinstance(shown, ListOf) else shown
        values = [row[i] for row in rows] if lists is None else [value for own in lists for value in own or ()]
        arrow = kinds[kind]
        if kind is Type.REAL:
            values = [None if value is None else float(value) for value in values]
        if kind is Type.INTEGER and any(value is not None and not -(2**63) <= value < 2**63 for value in values):
            values = [None if value is None else Decimal(value) for value in values]
            arrow = pa.decimal128(38, 0)
        if lists is None:
            arrays.append(pa.array(values, arrow))
            continue
        held = iter(values)
        cells = [None if own is None else [next(held) for _ in own] for own in lists]
        arrays.append(pa.array(cells, pa.list_(arrow)))
    return pa.Table.from_arrays(arrays, names=distinct(columns))
