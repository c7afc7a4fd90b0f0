"""Rows as an Arrow table. Needs pyarrow, which comes with the extras.

Tests: tests/unit/answers/test_answer.py.
"""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from dpsql.answers.ends import distinct
from dpsql.plan.types import Type

if TYPE_CHECKING:
    import pyarrow

__all__ = ["arrow_table"]


def arrow_table(columns: Sequence[str], types: Sequence[Type], rows: Sequence[tuple[Any, ...]]) -> pyarrow.Table:
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
    for i, kind in enumerate(types):
        values = [row[i] for row in rows]
        arrow = kinds[kind]
        if kind is Type.REAL:
            values = [None if value is None else float(value) for value in values]
        if kind is Type.INTEGER and any(value is not None and not -(2**63) <= value < 2**63 for value in values):
            values = [None if value is None else Decimal(value) for value in values]
            arrow = pa.decimal128(38, 0)
        arrays.append(pa.array(values, arrow))
    return pa.Table.from_arrays(arrays, names=distinct(columns))
