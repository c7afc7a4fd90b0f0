"""What each column of an answer is: a key, a number with an interval, one coordinate of a point.

Tests: tests/unit/plan/test_outline.py, tests/unit/answers/plots.
"""

from __future__ import annotations

import enum

from dpsql.plan.known.relations import scans
from dpsql.plan.measured.dated import days_within
from dpsql.plan.nodes import Column, Expression
from dpsql.plan.over_answers.grouping import GROUPING_SET
from dpsql.plan.plans import AnyPlan, Output, Plan, PublicPlan, Several
from dpsql.plan.rows.windows import between_stages
from dpsql.plan.values.expressions import columns_of, substituted

__all__ = ["ColumnRole", "answer_columns", "bars_of", "columns_read", "roles_of"]


class ColumnRole(enum.Enum):
    """What a column of an answer is."""

    KEY = "what rows are told apart by: no noise is in it"
    VALUE = "a number that is computed from noised values"
    COORDINATE = "one of several such numbers that are one point: of AVG_VECTOR, of dp_kmeans"
    COVARIANCE = "one of the columns of dp_covariance"
    DATE = "a date that is computed from a noised number of days"
    END = "an end of the interval of a column before it"
    OTHER = "what else is computed from noised values"

    @property
    def barred(self) -> bool:
        """Whether it may have intervals."""
        return self in (ColumnRole.VALUE, ColumnRole.COORDINATE, ColumnRole.COVARIANCE, ColumnRole.DATE)

    @property
    def noised(self) -> bool:
        """Whether it is computed from noised values."""
        return self not in (ColumnRole.KEY, ColumnRole.END)


_WHOLE = {"dp_kmeans": ColumnRole.COORDINATE, "dp_covariance": ColumnRole.COVARIANCE}
"""What the columns of table functions are."""


def answer_columns(plan: Plan) -> list[Expression]:
    """Each column of the answer as an expression over released aggregates, through all stages."""
    over = columns_read(plan, len(plan.stages) - 1)
    return [substituted(output.expression, over) for output in plan.answer]


def columns_read(plan: Plan, at: int) -> dict[str, Expression]:
    """What the columns are that a stage reads, as expressions over released aggregates.

    Args:
        plan: What is asked.
        at: Which stage, from 0; -1 for the plan's own outputs, which read none.
    """
    over: dict[str, Expression] = {}
    for outputs in (plan.outputs, *(stage.outputs for stage in plan.stages[:at])) if at >= 0 else ():
        over = {f"c{i}": between_stages(substituted(output.expression, over)) for i, output in enumerate(outputs)}
    return over


def bars_of(plan: AnyPlan) -> tuple[bool, ...]:
    """For each column of the answer whether it is a number with intervals; those are themselves not."""
    return tuple(role.barred for role in roles_of(plan))


def roles_of(plan: AnyPlan) -> tuple[ColumnRole, ...]:
    """What each column of the answer is."""
    if isinstance(plan, Several):
        return roles_of(plan.after)
    if isinstance(plan, PublicPlan):
        synthetic = any(scan.table.released for scan in scans(plan.relation))
        return tuple(
            _role(own, synthetic and not isinstance(own.expression, Column), ColumnRole.VALUE) for own in plan.answer
        )
    keys = {GROUPING_SET.name, *(key.name for key in plan.keys)}
    vectors = {own.name for own in plan.aggregates if own.vector}
    value = ColumnRole.VALUE if plan.table is None else _WHOLE[plan.table.name]
    found = []
    for own in plan.outputs:
        bare = own.expression.name if isinstance(own.expression, Column) else ""
        noised = any(read.name not in keys for read in columns_of(own.expression))
        found.append(_role(own, noised, ColumnRole.COORDINATE if bare in vectors else value))
    for stage in plan.stages:
        below = {f"c{i}": role for i, role in enumerate(found)}
        noised = stage.aggregates and any(role.noised for role in found)
        found = [_over(own, below, counts=noised and own.expression not in stage.group_by) for own in stage.outputs]
    return tuple(found)


def _over(own: Output, below: dict[str, ColumnRole], *, counts: bool) -> ColumnRole:
    """What a column is over the answer below; where rows of it are counted, which they are may be noised."""
    bare = below[own.expression.name] if isinstance(own.expression, Column) else None
    if bare is ColumnRole.END:
        return bare
    noised = any(below[read.name].noised for read in columns_of(own.expression))
    kept = bare if bare is not None and bare.barred and not counts else ColumnRole.VALUE
    return _role(own, noised or (counts and bare is None), kept)


def _role(own: Output, noised: bool, as_barred: ColumnRole) -> ColumnRole:
    """What a column is, if as a noised number, or date, it is that."""
    if own.end is not None:
        return ColumnRole.END
    if not noised:
        return ColumnRole.KEY
    if as_barred is ColumnRole.DATE or days_within(own.expression) is not None:
        return ColumnRole.DATE
    return as_barred if own.type.numeric else ColumnRole.OTHER
