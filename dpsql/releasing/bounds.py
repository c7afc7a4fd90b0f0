"""What is proved of a free answer: intervals of counts and sums over one synthetic table.

A COUNT(*), COUNT(x) or SUM(x), under any WHERE and GROUP BY, is linear in the numbers of rows of the table's cells: its
weights are found by asking the same statement of a table with one row for every cell, in the worker without data. What
is proved of these numbers (`mechanisms.releases.proofs`) is then an interval of what the same question would find in
the private rows that were counted, within the cells that are listed. It is stretched to what the answer shows.

Where LIMIT or HAVING picks rows by what was released, all groups hold at once (union bound). For all else, joins and
means too, nothing is claimed.

Tests: tests/unit/releasing/test_reading.py.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from dpsql.answers.postprocess import PostProcess
from dpsql.answers.screen import Ends
from dpsql.engine.dialect import WIRE
from dpsql.engine.over_release import lower_over_grid
from dpsql.mechanisms.releases.proofs import Proof
from dpsql.mechanisms.releases.shares import Floats
from dpsql.plan.nodes import Apply, Constant, Expression, Filter, Scan
from dpsql.plan.plans import PublicPlan
from dpsql.plan.stages import COUNT_DISTINCT, COUNT_ROWS, is_aggregate
from dpsql.plan.types import Facts, Type
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
    scan, proof, stage = _one_table(plan), stored.proof, plan.stage
    outputs = [output.expression for output in stage.outputs]
    if scan is None or proof is None or proof.cells > MOST_CELLS or not stage.aggregates:
        return lambda column, confidence: []
    if not all(key in outputs for key in stage.group_by):
        return lambda column, confidence: []
    places = [outputs.index(key) for key in stage.group_by]
    picked = stage.limit is not None or stage.having is not None or bool(stage.offset)

    def bounds(column: int, confidence: float) -> list[Ends]:
        asked = _linear(outputs[column])
        if asked is None:
            return []
        value, counts = asked
        weights = _weights(plan, scan, value, stored, proof, post_process, counts=counts)
        if len(weights) * proof.cells > MOST_WORK:
            return []
        level = 1 - (1 - confidence) / max(1, len(weights)) if picked else confidence
        found = []
        for row in rows:
            ends = proof.interval(weights.get(tuple(row[place] for place in places), np.zeros(proof.cells)), level)
            if ends is None:
                return []
            found.append(_stretched(ends, row[column], 0.0 if counts else -np.inf))
        return found

    return bounds


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
    proof: Proof,
    post_process: PostProcess,
    *,
    counts: bool,
) -> dict[tuple[Any, ...], Floats]:
    """The weight of every cell in each group, by the group's keys."""
    places = np.unravel_index(np.arange(proof.cells), tuple(map(len, stored.domains)))
    grid: dict[str, tuple[str, Sequence[Any]]] = {
        column.name: (WIRE[column.facts.type], [domain[at] for at in place.tolist()])
        for column, domain, place in zip(stored.info.columns.values(), stored.domains, places, strict=True)
    }
    grid[CELL] = ("BIGINT", list(range(proof.cells)))
    raw = post_process.over_release(lower_over_grid(plan, scan, [value], CELL), {scan.table.name: grid})
    keys = [f"c{1 + i}" for i in range(len(plan.stage.group_by))]
    found: dict[tuple[Any, ...], Floats] = {}
    if not keys:
        found[()] = np.zeros(proof.cells)
    for cell, *key, x in raw.groups(["c0", *keys, f"c{1 + len(keys)}"]):
        own = found.setdefault(tuple(key), np.zeros(proof.cells))
        own[cell] = 0.0 if x is None else 1.0 if counts else float(x)
    return found


def _stretched(ends: tuple[float, float], shown: Any, least: float) -> Ends:
    """The interval, of what is no less than ``least``, with what the answer shows."""
    low, high = (max(least, end) for end in ends)
    return (low, high) if shown is None else (min(low, float(shown)), max(high, float(shown)))
