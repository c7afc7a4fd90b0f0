"""How far neighbours' raw numbers are apart, draw by draw, and what a release claims of that."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction

import numpy as np

from dpsql.audit.places import at_its_place, chooses_otherwise, lacks_choices
from dpsql.audit.replay import Drawing, Pick, RunPart
from dpsql.audit.watched import Recorder, preprocessed
from dpsql.errors import InvariantBroken
from dpsql.mechanisms.base import Offer
from dpsql.mechanisms.capped.groups import CappedThreshold
from dpsql.mechanisms.capped.quantile import CappedQuantile
from dpsql.mechanisms.capped.release import CappedRelease
from dpsql.mechanisms.capped.statistics import CappedStatistics
from dpsql.mechanisms.choice.clamp import ClampSearch
from dpsql.mechanisms.choice.quantile import QuantileRelease
from dpsql.mechanisms.clamped.release import ClampedRelease
from dpsql.mechanisms.noise.mean import MeanRelease
from dpsql.mechanisms.noise.moments import MomentsRelease
from dpsql.mechanisms.preprocessing.personalised_release import ClippedTotal, PersonalisedExtreme
from dpsql.mechanisms.preprocessing.release import ByRows, PreprocessedRelease
from dpsql.mechanisms.random_dp.histogram import SparseHistogram
from dpsql.mechanisms.shared import SharedRelease
from dpsql.mechanisms.top_k import TopKRelease
from dpsql.plan.needs import Aggregates, Histogram
from dpsql.privacy.conversions import epsilon_of_rho
from dpsql.privacy.kinds import Approximate, Concentrated, Free, Loss, Pure, RandomDPLoss
from dpsql.privacy.loss import Composed
from dpsql.privacy.sampling import Integers
from dpsql.privacy.tables import Group
from dpsql.testing_samplers import Noiseless

__all__ = [
    "additive",
    "at_its_cap",
    "at_its_counts",
    "chosen",
    "claims",
    "epsilon_of_choices",
    "exposes",
    "follows",
    "implied",
    "losses",
    "moved_draws",
    "moves",
    "numbers",
    "undrawn",
]

Numbers = Mapping[Group, tuple[int, ...]]
"""Each group's exact integers."""


def at_its_cap(part: RunPart, like: RunPart | None = None) -> RunPart:
    """A choice of groups within a cap that was found, as the threshold that it is there; any other part as it is.

    Args:
        part: The part.
        like: Another, whose cap it is; by default its own.
    """
    release, caps = part.release, (like or part).released.get("cap")
    if not isinstance(release, CappedThreshold) or not caps or part.ranked is None:
        return part
    units = release.within(part.ranked, caps[0]).column("m0")
    raw = {group: (n,) for group, n in zip(part.groups, units, strict=True) if n}
    return replace(part, release=release.inners[caps[0]], raw=raw, draws=part.draws[1:], ranked=None)


class GivenNoise(Noiseless):
    """A sampler whose Laplace noise is given."""

    def __init__(self, noise: Sequence[int]) -> None:
        self._noise = noise

    def laplace(self, scale: Fraction, size: int) -> Integers:
        """(size,) noise."""
        return np.array(self._noise, dtype=np.int64)


def at_its_counts(part: RunPart, like: RunPart) -> RunPart:
    """A quantile as it is drawn from where the groups have the counts that another side released; else as it is.

    These decide how often is drawn, and at which exponents (`mechanisms.choice.quantile`). Groups that the other side
    lacks keep their own.
    """
    release = part.release
    if not isinstance(release, QuantileRelease) or part.again is None or not (_counted(part) and _counted(like)):
        return part
    own, told = (dict(zip(side.groups, side.released["count"], strict=True)) for side in (part, like))
    wanted = {**own, **{group: rows for group, rows in told.items() if group in own}}
    if all(release.draws(own[group]) == release.draws(wanted[group]) for group in own):
        return part
    recorder = Recorder(GivenNoise([wanted[group] - rows for group, rows in _counted(part).items()]))
    released = part.again(recorder)
    columns = {name: list(values) for name, values in released.columns.items()}
    return replace(part, released=columns, draws=tuple(recorder.draws), choices=tuple(recorder.choices))


def _counted(part: RunPart) -> dict[Group, int]:
    """How many values each group has, of which a quantile released the noised number; empty where it did not."""
    if not isinstance(part.release, QuantileRelease) or not part.release.count or not part.groups:
        return {}
    released = zip(part.groups, part.released["count"], part.draws[0].noise, strict=True)
    return {group: rows - noise for group, rows, noise in released}


def numbers(part: RunPart) -> list[tuple[str, Drawing | None]]:
    """Each raw integer's name among the released columns, in order, with its draw; None where it is public."""
    release, draws = part.release, iter(part.draws)
    match release:
        case SharedRelease():
            named = [(name, law is not None) for name, law in zip(release.names, release.laws, strict=True)]
        case MeanRelease():
            named = [("sum", True), ("count", release.count_law is not None)]
        case MomentsRelease():
            laws = zip(release.query.statistic.moments, release.laws, strict=True)
            named = [(name, law is not None) for name, law in laws]
        case PreprocessedRelease():
            counted = [("rows", release.count_law is not None)] if isinstance(release.amount, ByRows) else []
            named = [*counted, ("noised", True)]
        case SparseHistogram():
            named = [("noised", True), *[("every row", False)] * (len(release.need.measures) - 1)]
        case ClampedRelease():
            named = [("noised", True)]
        case CappedRelease():
            return []
        case _ if part.choices or (not part.raw and "steps" not in part.released):
            return []
        case _:
            named = [("steps", True)] if "steps" in part.released else [("value", False)]
    return [(name, next(draws, None) if drawn else None) for name, drawn in named]


def additive(part: RunPart) -> bool:
    """Whether all that a release draws is noise, added to numbers that are on record."""
    drawn = [draw for _, draw in numbers(part) if draw is not None]
    if not drawn or drawn != list(part.draws) or part.choices or part.drawn:
        return False
    by_class = isinstance(part.release, ClippedTotal | PersonalisedExtreme)
    return isinstance(part.release.need, Aggregates | Histogram) and not by_class


def undrawn(part: RunPart) -> list[str]:
    """What is wrong with a clamp that is said to be chosen privately, nothing was drawn for it; or with a quantile that
    released counts, and draws otherwise than these say."""
    if _counted(part) and not follows(part):
        return ["its draws do not follow from the counts that it released"]
    if chooses_otherwise(part):
        return ["its choices do not follow from the numbers that it released"]
    if lacks_choices(part):
        return ["its place is not drawn"]
    searched = isinstance(part.release, ClampedRelease) and isinstance(part.release.search, ClampSearch)
    return ["its clamp is not drawn"] if searched and len(part.choices) != 1 else []


def follows(part: RunPart) -> bool:
    """Whether a quantile released counts, from which all follows that is public of its draws."""
    told = [exponent for exponent, _ in _told(part.release, part.released["count"])] if _counted(part) else None
    return told == [choice.exponent for choice in part.choices]


def _told(release: Offer, counts: Sequence[int | None]) -> list[tuple[Fraction, int]]:
    """The exponent and the group of each choice of a quantile, in order, that follow from such released counts."""
    if not isinstance(release, QuantileRelease):
        raise InvariantBroken("a quantile's counts say what is drawn")
    found = list[tuple[Fraction, int]]()
    for alike in release.ways(counts).values():
        for draw in release.draws(counts[alike[0]]).values():
            found += [(draw.exponent, group) for group in alike]
    return found


def _groups_of_choices(part: RunPart) -> list[int]:
    """The group of each choice, in order: quantiles draw for one group after the other, and then once more."""
    many, each = len(part.groups), len(part.choices) // len(part.groups)
    if isinstance(part.release, QuantileRelease):
        counts = part.released["count"] if _counted(part) else [None] * many
        return [group for _, group in _told(part.release, counts)]
    if isinstance(part.release, CappedQuantile):
        return [*range(many)] * each
    return [group for group in range(many) for _ in range(each)]


def exposes(one: RunPart, two: RunPart) -> bool:
    """Whether one side alone holds rows in a cell whose emptiness shows: what gamma is charged for, and no epsilon."""
    occupied = [{group for group, (n, *_) in part.raw.items() if n} for part in (one, two)]
    return isinstance(one.release, SparseHistogram) and occupied[0] != occupied[1]


def moves(one: RunPart, two: RunPart) -> list[tuple[int, int]]:
    """For each raw column: how far it moved, in L1 and in squared L2, over all groups of either side."""
    width = len(numbers(one))
    first, second = _at_the_same_rows(one, two)
    groups = {**first, **second}
    nothing = (0,) * width
    changes = [
        [a - b for a, b in zip(first.get(group, nothing), second.get(group, nothing), strict=True)] for group in groups
    ]
    columns = list(zip(*changes, strict=True)) or [()] * width
    return [(sum(map(abs, column)), sum(k * k for k in column)) for column in columns]


def _at_the_same_rows(
    one: RunPart, two: RunPart
) -> tuple[Mapping[Group, tuple[int, ...]], Mapping[Group, tuple[int, ...]]]:
    """The raw integers of both sides; with the sensitivity, or within the clamp, that the first side released.

    The loss of a number that rests on an earlier release is that of two tables under the same earlier release. Where
    groups are discovered, those are compared that both sides have. What is hidden is all but the groups that the first
    side showed; where groups were drawn, those count that the first side drew.
    """
    release = one.release
    if isinstance(release, TopKRelease):  # its choices tell what it loses
        return {}, {}
    if one.drawn:
        sides = [{group: part.raw[group] for group in one.groups if group in part.raw} for part in (one, two)]
        return sides[0], sides[1]
    if one.cells or two.cells:
        return one.raw, one.over(two.cells)
    if isinstance(release, ClampedRelease):
        return one.raw, _within(two, release, one.released["place"][:1])
    if not isinstance(release, PreprocessedRelease):
        return one.raw, two.raw
    rows = dict(zip(one.groups, one.released["rows"], strict=True))
    sides = [
        {group: preprocessed(release, *counts, rows[group]) for group, counts in part.values.items() if group in rows}
        for part in (one, two)
    ]
    return {group: steps for group, steps in sides[0].items() if group in sides[1]}, sides[1]


def _within(part: RunPart, release: ClampedRelease, places: Sequence[int]) -> Numbers:
    """One side's totals within the clamp at that place; nothing where no group showed one."""
    if part.sizes is None or not places:
        return {}
    return {group: (k,) for group, k in zip(part.groups, release.within(part.sizes, places[0]), strict=True)}


def moved_draws(one: RunPart, two: RunPart) -> list[tuple[Drawing | None, tuple[int, int]]]:
    """Each raw column's draw, and how far neighbours move it; none where a pair exposes somebody."""
    if exposes(one, two):
        return []
    return [(draw, far) for (_, draw), far in zip(numbers(one), moves(one, two), strict=True)]


def implied(draw: Drawing, moved: tuple[int, int]) -> Fraction:
    """The loss of noise with that law and parameter for that move: epsilon for laplace, rho for gaussian."""
    parameter = Fraction(draw.parameter)
    return moved[0] / parameter if draw.law == "laplace" else moved[1] / (2 * parameter)


def chosen(one: RunPart, two: RunPart) -> tuple[Fraction, Fraction]:
    """(epsilon, rho) that the choices of two neighbours imply together: the theorem of `exponential`, from the scores.

    A choice whose scores move by d(v) loses w c in epsilon, w being the range of d(v); and in rho (w c)^2 / 8, or
    what Kearns and Saul give for that epsilon, as for permute-and-flip. With groups of the data's own one side may lack
    a choice; such groups are compared where both have them. Where released counts decide what is drawn, their noise
    loses its part, and the choices are compared under the counts that the first side released.
    """
    if isinstance(one.release, TopKRelease):
        return _drawn(one, two)
    one, two = (at_its_place(at_its_counts(part, like=one), like=one) for part in (one, two))
    epsilon, rho = _of_counts(one, two)
    for a, b in zip(_by_group(one, two), _by_group(two, one), strict=True):
        loss = a.exponent * range_of_moves(a, b)
        epsilon += loss
        rho += min(loss**2 / 8, _rho_of(loss)) if a.law == "intervals" else _rho_of(loss)
    return epsilon, rho


def epsilon_of_choices(one: RunPart, two: RunPart) -> Fraction:
    """The epsilon that the choices of two neighbours let slip.

    Choices that were priced in rho, for epsilon and delta, hold by the rho that their scores imply: what their chances
    lose alone is more than the epsilon of that rho, and delta covers the rest.
    """
    epsilon, rho = chosen(one, two)
    loss = one.release.loss
    if epsilon and isinstance(loss, Concentrated) and loss.delta is not None:
        return min(epsilon, epsilon_of_rho(rho, loss.delta - (loss.outside or 0)))
    return epsilon


def _rho_of(loss: Fraction) -> Fraction:
    """What is so private in epsilon is in rho (`conversions.rho_of_pure`), as a float; never above its limit."""
    return min(loss**2 / 2, Fraction(float(loss) * math.tanh(float(loss) / 2)))


def _of_counts(one: RunPart, two: RunPart) -> tuple[Fraction, Fraction]:
    """(epsilon, rho) of the noise of released counts, over the groups that both sides have."""
    first, second = _counted(one), _counted(two)
    losses = [Fraction(abs(rows - second[at])) / one.draws[0].parameter for at, rows in first.items() if at in second]
    return sum(losses, Fraction(0)), sum(map(_rho_of, losses), Fraction(0))


def _drawn(one: RunPart, two: RunPart) -> tuple[Fraction, Fraction]:
    """The same of groups drawn without replacement: each draw from those that the first side had left.

    The first side's raw numbers say how far each group moved, whatever the release says of that.
    """
    epsilon, rho = Fraction(0), Fraction(0)
    places = {place: group for group, place in zip(one.groups, one.released["value"], strict=True) if place}
    left = {group: one.raw.get(group, (0,))[0] - two.raw.get(group, (0,))[0] for group in one.groups}
    if len({(choice.law, choice.exponent) for choice in (*one.choices, *two.choices)}) > 1:
        raise InvariantBroken("neighbours choose by different laws")
    for place, choice in enumerate(one.choices, 1):
        loss = choice.exponent * (max(left.values()) - min(left.values()))
        epsilon, rho = epsilon + loss, rho + loss**2 / 8
        del left[places[place]]
    return epsilon, rho


def _by_group(part: RunPart, other: RunPart) -> list[Pick]:
    """The choices of the groups that both sides have, group after group."""
    if not part.choices:
        return []
    if isinstance(part.release, ClampedRelease) or not part.groups:  # one choice for all groups, however few
        return list(part.choices)
    of, shared = {group: list[Pick]() for group in part.groups}, set(other.groups)
    for choice, place in zip(part.choices, _groups_of_choices(part), strict=True):
        of[part.groups[place]].append(choice)
    return [choice for group in sorted(of, key=str) if group in shared for choice in of[group]]


def range_of_moves(one: Pick, two: Pick) -> int:
    """max d - min d over all candidates, d(v) being the score of v on one side less that on the other."""
    moved, place = [], [0, 0]
    ends = [[0, *np.cumsum(choice.widths).tolist()] for choice in (one, two)]
    if ends[0][-1] != ends[1][-1]:
        raise InvariantBroken("neighbours choose between different candidates")
    for edge in sorted({edge for own in ends for edge in own})[:-1]:
        for side in (0, 1):
            while ends[side][place[side] + 1] <= edge:
                place[side] += 1
        moved.append(one.scores[place[0]] - two.scores[place[1]])
    return max(moved) - min(moved)


def claims(part: RunPart) -> list[Fraction]:
    """What the release says it costs, for each of its draws, or one number for all of them together."""
    loss = part.release.loss
    losses = loss.parts if isinstance(loss, Composed) else (loss,)
    return [_native(loss) for loss in losses]


def _native(loss: Loss) -> Fraction:
    match loss:
        case Pure() | Approximate() | RandomDPLoss():
            return loss.epsilon
        case Concentrated():
            return loss.rho
        case Free():
            return Fraction(0)
    raise InvariantBroken(f"no audit knows the loss {loss}")


def losses(one: RunPart, two: RunPart) -> list[tuple[Fraction, Fraction]]:
    """(loss that this pair implies, loss claimed) for each noised number, or for all of them where one claim holds."""
    one, two = at_its_cap(one), at_its_cap(two, like=one)
    if isinstance(one.release, CappedStatistics):  # what it chooses is a part of all that it pays for
        return [(chosen(one, two)[0], sum(claims(one), Fraction(0)))]
    if isinstance(one.release, CappedRelease):  # test_replay_capped knows what moves there
        return []
    if one.choices and not isinstance(one.release, ClampedRelease):
        epsilon, rho = chosen(one, two)
        loss = one.release.loss
        if isinstance(loss, Concentrated):
            return [(rho, loss.rho)]
        if not isinstance(loss, Pure):
            raise InvariantBroken(f"no audit knows a choice at the loss {loss}")
        return [(epsilon, loss.epsilon), *([] if loss.rho is None else [(rho, loss.rho)])]
    actual = [implied(draw, far) for draw, far in moved_draws(one, two) if draw is not None]
    if isinstance(one.release, ClampedRelease) and len(claimed := claims(one)) > len(actual):
        actual.insert(0, chosen(one, two)[0])  # the choice of a clamp, then the noise for it
    claimed = claims(one)
    if len(claimed) != len(actual):  # moments by gaussian noise: one loss for all of them together
        actual = [sum(actual, Fraction(0))]
    return list(zip(actual, claimed, strict=True))
