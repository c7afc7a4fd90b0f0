"""What is proved of a free answer: intervals of counts and sums over one synthetic table.

A COUNT(*), COUNT(x) or SUM(x), under any WHERE and GROUP BY, is linear in the numbers of rows of the cells of the
columns that it reads: its weights are found by asking the same statement of a table with one row for every such cell,
in the worker without data. What is proved of these columns, or of these and others (`mechanisms.releases.proofs`), is
then an interval of what the same question would find in the private rows that were counted, within the cells that are
listed. It is stretched to what the answer shows.

Where LIMIT or HAVING picks rows by what was released, all groups hold at once (union bound). For all else, joins and
means too, nothing is claimed.

Tests: tests/unit/releasing/test_reading.py.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from dpsql.answers.computed.postprocess import PostProcess
from dpsql.answers.shown.screen import Ends
from dpsql.engine.dialect import WIRE
from dpsql.engine.over_release import lower_over_grid
from dpsql.mechanisms.releases.proofs import Proof, least_interval
from dpsql.mechanisms.releases.shares import Floats
from dpsql.plan.known.relations import predicates
from dpsql.plan.nodes import Apply, Constant, Expression, Filter, Scan
from dpsql.plan.over_answers.stages import COUNT_DISTINCT, COUNT_ROWS, is_aggregate
from dpsql.plan.plans import PublicPlan
from dpsql.plan.types import Facts, Type
from dpsql.plan.values.expressions import columns_of
from dpsql.releasing.stored import StoredTable

__all__ = ["bounds_of"]

CELL = "cell of dpsql"  # The column that numbers cells; no name of a column of a synthetic table has spaces and "of".
MOST_CELLS = 100_000  # Cells of a table whose answers have intervals. It is a choice: they travel to a process.
MOST_WORK = 20_000_000  # Cells times groups that intervals are worked out for. It is a choice: seconds.


def bounds_of(
    plan: PublicPlan, stored: StoredTable, post_process: PostProcess, rows: Sequence[tuple[Any, ...]]
) -> Callable[[int, float], list[Ends]]:
    """Column, from 0, and confidence to one interval a row; none where nothing is proved.

    Args:
        plan: The statement.
        stored: The synthetic table that it reads.
        post_process: The worker without data.
        rows: The answer's.
    """
    scan, stage = _one_table(plan), plan.stage
    outputs = [output.expression for output in stage.outputs]
    if scan is None or not stored.proofs or not stage.aggregates or not all(key in outputs for key in stage.group_by):
        return lambda column, confidence: []
    places = [outputs.index(key) for key in stage.group_by]
    picked = stage.limit is not None or stage.having is not None or bool(stage.offset)

    def bounds(column: int, confidence: float) -> list[Ends]:
        asked = _linear(outputs[column])
        if asked is None:
            return []
        value, counts = asked
        read = _columns_read(plan, stored, value)
        proofs = [proof for proof in stored.proofs if proof.columns is None or set(read) <= set(proof.columns)]
        most = max((proof.cells for proof in proofs), default=0)
        if not proofs or most > MOST_CELLS:
            return []
        weights = _weights(plan, scan, value, stored, read, post_process, counts=counts)
        if len(weights) * most > MOST_WORK:
            return []
        level = 1 - (1 - confidence) / max(1, len(weights)) if picked else confidence
        found = []
        for row in rows:
            own = weights.get(tuple(row[place] for place in places), np.zeros(tuple(_sizes(stored, read))))
            ends = _interval(stored, proofs, read, own, level)
            if ends is None:
                return []
            found.append(_stretched(ends, row[column], 0.0 if counts else -np.inf))
        return found

    return bounds


def _interval(
    stored: StoredTable, proofs: Sequence[Proof], read: Sequence[int], weights: Floats, confidence: float
) -> Ends | None:
    """The interval for weights of the columns that are read, whichever else a proof has."""
    spread = []
    for proof in proofs:
        own = range(len(stored.domains)) if proof.columns is None else proof.columns
        sizes = _sizes(stored, own)
        kept = [size if column in read else 1 for column, size in zip(own, sizes, strict=True)]
        spread.append((proof, np.broadcast_to(weights.reshape(kept), sizes).ravel()))
    return least_interval(spread, confidence)


def _sizes(stored: StoredTable, columns: Sequence[int]) -> list[int]:
    return [len(stored.domains[column]) for column in columns]


def _columns_read(plan: PublicPlan, stored: StoredTable, value: Expression) -> list[int]:
    """The places of the table's columns that conditions, keys and value read, rising."""
    names = list(stored.info.columns)
    expressions = (*predicates(plan.relation), *plan.stage.group_by, value)
    return sorted({names.index(column.name) for expression in expressions for column in columns_of(expression)})


def _one_table(plan: PublicPlan) -> Scan | None:
    """The one table that is read, under conditions alone; None for anything else."""
    relation = plan.relation
    while isinstance(relation, Filter):
        relation = relation.input
    return relation if isinstance(relation, Scan) else None


def _linear(expression: Expression) -> tuple[Expression, bool] | None:
    """What is added up over rows, and whether it is only counted where it is not NULL; None for anything else."""
    if not isinstance(expression, Apply) or not is_aggregate(expression) or expression.function in COUNT_DISTINCT:
        return None
    if expression.function is COUNT_ROWS:
        return Constant(1, Facts(Type.INTEGER)), True
    name = expression.function.name
    return (expression.arguments[0], name == "count") if name in ("count", "sum") else None


def _weights(
    plan: PublicPlan,
    scan: Scan,
    value: Expression,
    stored: StoredTable,
    read: Sequence[int],
    post_process: PostProcess,
    *,
    counts: bool,
) -> dict[tuple[Any, ...], Floats]:
    """The weight of every cell of the columns that are read, in each group, by the group's keys."""
    sizes, columns = _sizes(stored, read), list(stored.info.columns.values())
    cells = math.prod(sizes)
    places = np.unravel_index(np.arange(cells), tuple(sizes)) if read else ()
    grid: dict[str, tuple[str, Sequence[Any]]] = {
        columns[at].name: (WIRE[columns[at].facts.type], [stored.domains[at][code] for code in place.tolist()])
        for at, place in zip(read, places, strict=True)
    }
    grid[CELL] = ("BIGINT", list(range(cells)))
    raw = post_process.over_release(lower_over_grid(plan, scan, [value], CELL), {scan.table.name: grid})
    keys = [f"c{1 + i}" for i in range(len(plan.stage.group_by))]
    found: dict[tuple[Any, ...], Floats] = {}
    if not keys:
        found[()] = np.zeros(cells)
    for cell, *key, x in raw.groups(["c0", *keys, f"c{1 + len(keys)}"]):
        own = found.setdefault(tuple(key), np.zeros(cells))
        own[cell] = 0.0 if x is None else 1.0 if counts else float(x)
    return {key: own.reshape(sizes) for key, own in found.items()}


def _stretched(ends: tuple[float, float], shown: Any, least: float) -> Ends:
    """The interval, of what is no less than ``least``, with what the answer shows."""
    low, high = (max(least, end) for end in ends)
    return (low, high) if shown is None else (min(low, float(shown)), max(high, float(shown)))
