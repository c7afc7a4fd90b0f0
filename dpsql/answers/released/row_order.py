"""The order of an answer's rows where nobody asked for one: that of the keys as they are written.

What is released has its groups in the order of the plan's own keys (`plan.one_order`), which is not that of the text.

Tests: tests/sql/test_released_once.py.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from dpsql.answers.released.release import in_order_of
from dpsql.prepare import Prepared
from dpsql.privacy.tables import GroupColumns, listed

__all__ = ["rows_as_written"]


def rows_as_written(prepared: Prepared, groups: GroupColumns) -> Sequence[int] | None:
    """Where each row of the answer stands among the groups; None where they are in order.

    Args:
        prepared: The statement.
        groups: One value for each of its keys, in the order of these; the rest comes last, if there is one.
    """
    plan = prepared.plan
    if not plan.rows_by:
        return None
    rest = any(measured.rest for measured in prepared.measured)
    own = groups.take(np.arange(len(groups) - rest))
    columns = [own.columns[place] for place in plan.rows_by]
    if prepared.groupings[0].groups is not None or prepared.candidates is not None:  # listed: in that of the domains
        ranks = [{value: rank for rank, value in enumerate(key.domain or ())} for key in plan.written]
        columns = [_placed(column, rank) for column, rank in zip(columns, ranks, strict=True)]
    return [*in_order_of(columns).tolist(), *range(len(own), len(groups))]


def _placed(column: Sequence[Any], ranks: Mapping[Any, int]) -> Sequence[Any]:
    """The places of values in the domain of a key."""
    return np.array([ranks[value] for value in listed(column)], dtype=np.int64)  # type: ignore[return-value]  # an array
