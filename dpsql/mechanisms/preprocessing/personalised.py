"""Totals and extremes in which each class of units has a sensitivity of its own: the personalised part of
preprocessing.

Neighbours: ``add_remove``. Loss: `PerClass`.

Theorem. Let every unit of class k bring to each of at most U groups one whole number clipped to +- d_k, and these
numbers add up to at most m_k <= U d_k in absolute value; or let each group's number be the least or largest value,
preprocessed with d_k for the units of class k (`preprocessing.extremes`) and rounded down to whole steps, m_k = U d_k.
With discrete Laplace noise of scale b on each number, b being the largest m_k / e_k over all classes that the policy
has, a unit of class k that comes or goes changes no chance by a factor of more than exp(e_k).

Proof. The unit moves the vector of numbers by at most m_k in L1: a sum at once, an extreme because d_k is a whole
number of steps (`preprocessing.output`). So its loss is at most m_k / b <= e_k. The classes are all that there could
be: a scale over those that are present would tell who is.  QED

Under ``replace_one`` a strict unit that is exchanged for a normal one moves the vector by the sensitivities of both,
and would lose more than its share: it is not offered there.

Clipping a unit's total is preprocessing of a sum (`preprocessing.extremes`). The m_k are in the proportion of the e_k:
then no class could have more at the same noise. The largest is what a unit's rows can add up to, all groups together,
so that nothing of the least strict class is clipped; or what ``OPTIONS (sensitivity = ...)`` says. The units of the
other classes count with as much less, an equal part in each group.

What this costs is bias. A strict unit of share 1/4 counts as a quarter of a unit in COUNT(*), and with up to a quarter
of the largest total in a SUM: nothing is taken away where totals are far below what is possible. How much is taken away
depends on the data and is in no interval. It is guessed, to choose a mechanism, as if all units were of the strictest
class, from ``rows_about`` and the column's centre and spread (`preprocessing.rules`), or its bounds.

Source: Cummings, Durfee 2020, section 7 (Theorem 7.2, for any statistic with individual sensitivities).
"""

from __future__ import annotations

import math
from fractions import Fraction

from dpsql.errors import InvariantBroken
from dpsql.limits import FARTHEST_STEP
from dpsql.mechanisms.base import Personal, Refusal, Request
from dpsql.mechanisms.laplace import TOO_SMALL, pure_loss
from dpsql.mechanisms.preprocessing.personalised_release import ClippedTotal, PersonalisedExtreme, Sensitivities
from dpsql.mechanisms.preprocessing.rules import ExtremeRule, SumRule
from dpsql.plan.aggregates import FUNCTIONS, ByUnit
from dpsql.plan.grids import grid_of, saturating_grid
from dpsql.plan.needs import Aggregates, Measure, MeasureKind, Values
from dpsql.plan.types import Facts, Grid
from dpsql.privacy.kinds import PerClass

__all__ = ["personalised", "sensitivities_of"]

FINE = 10**6  # Steps of the largest sensitivity, at least, so that shares of it are whole numbers. It is a choice.
EXACT = 2**50  # In steps: up to so many, a value of float64 is within half a step of what it stands for.


def sensitivities_of(
    personal: Personal, *, most: Fraction | None, in_group: Fraction | None, named: Fraction | None, base: Fraction
) -> Sensitivities | str:
    """Sensitivities in the proportion of what each class pays, or in a sentence why there are none.

    Args:
        personal: The values, and what each class pays.
        most: What the values of one unit can add up to over all groups, in absolute value; None where nothing bounds
            them. In the column's unit, as the others.
        in_group: What one of them can be; None likewise.
        named: The sensitivity of the least strict class that the statement asks for, or None.
        base: The grid step of the values.
    """
    losses = {name: pure_loss(price) for name, price in personal.prices.items()}
    epsilons = {name: loss.epsilon for name, loss in losses.items() if loss is not None}
    if len(epsilons) < len(losses):
        return TOO_SMALL
    whole = min((x for x in (named, most) if x is not None), default=None)
    if whole is None:
        return NO_SENSITIVITY
    whole = min(whole, FARTHEST_STEP * base)  # the engine's integers hold that many steps
    groups, top, step = personal.source.contribution.total, max(epsilons.values()), base
    while whole < FINE * groups * step:
        step /= 10
    clips, moved = {}, {}
    for name, epsilon in epsilons.items():
        clip = math.floor(whole * epsilon / (top * groups * step))
        moved[name] = groups * clip
        if most is not None and in_group is not None and whole * epsilon / top >= most and in_group <= EXACT * step:
            clip = math.ceil(in_group / step)
            moved[name] = min(math.ceil(most / step) + groups, groups * clip)  # each value is rounded by less than 1
        clips[name] = clip
    return Sensitivities(clips, moved, step, PerClass(epsilons))


def personalised(request: Request, personal: Personal, name: str) -> ClippedTotal | PersonalisedExtreme | Refusal:
    """An offer with a sensitivity for each class, or why there is none.

    Args:
        request: Of a count, sum, least or largest value, under ``add_remove``.
        personal: Its values, one for each unit and group.
        name: The mechanism's name.
    """
    if request.neighbour_rows == 2:
        raise InvariantBroken("sensitivities of classes are proved for add_remove alone")
    if FUNCTIONS[request.aggregate.function].by_unit is ByUnit.TOTAL:
        return _total(request, personal, name)
    return _extreme(request, personal, name)


def _total(request: Request, personal: Personal, name: str) -> ClippedTotal | Refusal:
    values, held = personal.values, request.source.contribution
    in_group = Fraction(1) if request.aggregate.function == "count_units" else _reach(values.value.facts)
    argument = request.aggregate.argument if request.aggregate.function == "sum" else None
    one_row = Fraction(1) if argument is None else _grid_reach(argument.facts)
    rows = held.of_units().total if request.aggregate.function == "count_units" else held.total
    found = sensitivities_of(
        personal,
        most=None if one_row is None else one_row * rows,
        in_group=in_group,
        named=request.options.sensitivity if request.options.mechanism == name else None,
        base=saturating_grid(values.value.facts).step,
    )
    if isinstance(found, str):
        return Refusal(name, found)
    measures = tuple(
        Measure(MeasureKind.SUM, values.of_class(k), Grid(found.step, -clip, clip)) for k, clip in found.clips.items()
    )
    return ClippedTotal(
        mechanism=name,
        sensitivities=found,
        need=Aggregates(personal.source, measures),
        base=saturating_grid(values.value.facts).step,
        bias=_bias(request, found, in_group),
    )


def _extreme(request: Request, personal: Personal, name: str) -> PersonalisedExtreme | Refusal:
    value, options = personal.values.value, request.options
    if options.sensitivity is None or options.mechanism != name:
        return Refusal(name, NAME_IT)
    if not value.facts.type.numeric:
        return Refusal(name, f"{request.aggregate.text} is not a number.")
    grid, bounded = saturating_grid(value.facts), value.facts.bounded
    middle = (grid.low + grid.high) * grid.step / 2 if bounded else None
    centre = next((c for c in (options.centre, value.facts.centre, middle) if c is not None), None)
    if centre is None:
        return Refusal(name, NO_CENTRE)
    found = sensitivities_of(personal, most=None, in_group=None, named=options.sensitivity, base=grid.step)
    if isinstance(found, str):
        return Refusal(name, found)
    need = Values(personal.source, value, grid, by=personal.values.of)
    width = (grid.high - grid.low) * grid.step if bounded else None
    least = min(found.clips.values()) * found.step
    bias = ExtremeRule(value.facts.spread, width).bias(least, request.rows_about)
    return PersonalisedExtreme(
        name, need, found, bias, grid, centre, request.aggregate.function, request.aggregate.since
    )


def _grid_reach(facts: Facts) -> Fraction | None:
    """The largest absolute value on the grid, whose ends lie outside the bounds; None without bounds."""
    grid = grid_of(facts)
    return None if grid is None else grid.reach * grid.step or None


def _reach(facts: Facts) -> Fraction | None:
    """The largest absolute value, or None where there are no bounds or nothing but 0."""
    if not isinstance(facts.low, Fraction) or not isinstance(facts.high, Fraction):
        return None
    return max(abs(facts.low), abs(facts.high)) or None


def _bias(request: Request, found: Sensitivities, in_group: Fraction | None) -> float:
    """A guess of what clipping takes away if all units were of the strictest class, in the column's unit.

    With r rows a unit in a group, a total exceeds d by no more than the rows exceed d / r. Without a spread to go by, a
    total t between 0 and T exceeds d by at most t (1 - d / T), and the rows are taken to be as large as they can be.
    """
    least, most = (end(found.clips.values()) * found.step for end in (min, max))
    if in_group is not None and least >= in_group:
        return 0.0
    rows, argument = request.source.contribution.rows_in_group, request.aggregate.argument
    facts = None if argument is None or request.aggregate.function != "sum" else argument.facts
    if facts is not None and facts.spread is not None:
        low, high = facts.low, facts.high
        width = high - low if isinstance(low, Fraction) and isinstance(high, Fraction) else None
        return SumRule(facts.spread, width, facts.centre or Fraction(0)).bias(least / rows, request.rows_about)
    largest = most if in_group is None else in_group
    one_row = largest / rows if request.aggregate.function == "sum" else Fraction(1)
    return float(request.rows_about * one_row * max(Fraction(0), 1 - least / largest))


NAME_IT = (
    "no rule sets its sensitivity; write OPTIONS (mechanism = 'preprocessing', sensitivity = ...), how far one person "
    "of the least strict class may move it, or ask for a quantile."
)
NO_CENTRE = "there is no centre; declare one in the policy, or write OPTIONS (centre = ...)."
NO_SENSITIVITY = (
    "there are no bounds; write OPTIONS (mechanism = 'preprocessing', sensitivity = ...), how far one person of the "
    "least strict class may move it."
)
