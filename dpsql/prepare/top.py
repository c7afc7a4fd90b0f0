"""ORDER BY a count or a sum with LIMIT: the first groups chosen before they are measured, or all measured and cut.

Both are always private (`mechanisms.top_k`; LIMIT over released values is post-processing). The one that is expected
to err less is taken, by public facts: d listed groups, k of them wanted, the noise of both. Each error is that of the
order and that of the values, 95 times of 100, by the union bound:
- measured and cut: a difference of two noises decides between one of k groups and one of d, and the values that are
  kept are those whose noise was upward: sqrt(2) q(1 - 0.05 / (k d)) + q(1 - 0.05 k / d), q the quantile of the noise;
- chosen first: how far a chosen group may be below the best that is not, and the noise of k values.

Tests: tests/unit/prepare/test_top.py.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction

from dpsql.mechanisms.base import Offer, Request, Top
from dpsql.mechanisms.choose import Other
from dpsql.mechanisms.noise.noised import NoisedRelease, in_unit
from dpsql.mechanisms.noise.sensitivity import KINDS
from dpsql.plan.nodes import Aggregate, Column, Expression, Windowed
from dpsql.plan.options import Options
from dpsql.plan.over_answers.stages import RELEASED
from dpsql.plan.plans import Plan
from dpsql.plan.values.expressions import arguments_of
from dpsql.prepare.prepared import Grouping, Measured, Prepared
from dpsql.prepare.selection import SELECTION

__all__ = ["TOP_SHARE", "better", "only_first", "top_of", "with_top"]

TOP_SHARE = Fraction(1, 2)  # Of the price that no aggregate names for itself, for choosing the groups. A choice.

MISSED = 0.05  # The chance that an expected error is exceeded, as for half widths of 95%.


def top_of(plan: Plan, groupings: Sequence[Grouping], options: Options) -> Top | None:
    """Which groups are wanted, where choosing them first would give the same answer; None elsewhere.

    Args:
        plan: What is asked.
        groupings: What the answer's rows are grouped by.
        options: In force for this statement.
    """
    groups = groupings[0].groups
    if plan.limit is None or plan.sets is not None or plan.table is not None or plan.having is not None or not groups:
        return None
    if options.multiple is not None or options.mechanism not in (None, "top_k"):
        return None
    if ordered_by(plan) is None or any(map(_sees_others, _expressions(plan))):
        return None
    count = plan.limit + plan.offset
    return Top(count, plan.order_by[0].descending, len(groups)) if plan.limit and count < len(groups) else None


def ordered_by(plan: Plan) -> Aggregate | None:
    """The count or sum that the answer is ordered by first, as it stands."""
    first = plan.order_by[0].expression if plan.order_by else None
    if not isinstance(first, Column) or first.alias != RELEASED:
        return None
    found = (aggregate for aggregate in plan.aggregates if aggregate.name == first.name)
    return next((aggregate for aggregate in found if aggregate.function in KINDS), None)


def with_top(plan: Plan, top: Top) -> tuple[Aggregate, ...]:
    """The aggregates, with what chooses the groups in front."""
    ordered, which = ordered_by(plan), "largest" if top.largest else "smallest"
    if ordered is None:
        return plan.aggregates
    text = f"choice of the {top.count} {which} of {top.listed} groups"
    return (replace(ordered, name=SELECTION, text=text, epsilon=None), *plan.aggregates)


def only_first(request: Request, top: Top | None) -> Request:
    """The request for the first groups alone: the engine reads all, and of a unit those count that it has in them."""
    if top is None:
        return request
    held = request.source.contribution
    source = replace(request.source, contribution=replace(held, groups=min(held.groups, top.count)), cut=held)
    return replace(request, source=source, top=top if request.selects else None)


def better(every: Prepared, first: Prepared, top: Top) -> Prepared:
    """The statement as it is expected to err less.

    Args:
        every: With all groups measured.
        first: With the first ones chosen before.
        top: Which ones.
    """
    ordered = ordered_by(every.plan)
    names = [measured.aggregate.name for measured in every.measured]
    value, choice = (_release(first, name) for name in ("" if ordered is None else ordered.name, SELECTION))
    at = names.index("" if ordered is None else ordered.name)
    own, listed = every.measured[at].choice, top.listed
    order, values = (_reach(own.release, 1 - MISSED * share) for share in (1 / top.count / listed, top.count / listed))
    all_err = math.sqrt(2) * order + values
    first_errs = choice.half_width + value.half_width
    if first_errs < all_err:
        other = Other(own.release.mechanism, all_err, f"on all {listed} groups, which are then cut: {NOT_SMALLER}")
        chooser = first.measured[first.selection or 0]
        choices = replace(chooser.choice, unchosen=lambda: (other, *chooser.choice.others))
        return replace(first, measured=_with(first, first.selection or 0, replace(chooser, choice=choices)))
    other = Other(
        "top_k",
        first_errs,
        f"±{choice.half_width:.4g} for choosing the groups first, ±{value.half_width:.4g} for their values; on all "
        f"{listed} groups, which are then cut, the same is ±{all_err:.4g}.",
    )
    measured = replace(every.measured[at], choice=replace(own, unchosen=lambda: (*own.others, other)))
    return replace(every, measured=_with(every, at, measured))


NOT_SMALLER = "its expected error, of the order and the values, is not smaller."


def _with(prepared: Prepared, at: int, measured: Measured) -> tuple[Measured, ...]:
    return tuple(measured if index == at else own for index, own in enumerate(prepared.measured))


def _release(prepared: Prepared, name: str) -> Offer:
    return next(measured.choice.release for measured in prepared.measured if measured.aggregate.name == name)


def _reach(release: Offer, level: float) -> float:
    """How far a value is off with that confidence; for noise of another law as if its tails were exponential."""
    if isinstance(release, NoisedRelease):
        return float(in_unit(release.law.quantile(level), release.step))
    return release.expected_error * math.log(1 / (1 - level)) / math.log(1 / MISSED)


def _expressions(plan: Plan) -> list[Expression]:
    return [output.expression for output in plan.outputs] + [order.expression for order in plan.order_by]


def _sees_others(expression: Expression) -> bool:
    """Whether its value in one row depends on other rows."""
    return isinstance(expression, Windowed) or any(map(_sees_others, arguments_of(expression)))
