"""A lower bound on the privacy loss that a release really has, from many draws on two neighbouring tables.

Every draw becomes one number, the log-likelihood ratio of the two tables under the noise that the sampler was asked
for: no other number tells more. For events {ratio >= c} and {ratio < c}, with cuts c fixed beforehand, the
Clopper-Pearson bounds of both chances bound the loss from below. All bounds hold together with probability
1 - ``miss``, so a correct release exceeds its claim no more often.

Tests: tests/statistical/test_measured_loss.py, tests/statistical/test_metric_loss.py.
"""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt
from scipy.special import betainccinv, betaincinv  # what scipy.stats has in beta, whose import takes a second

from dpsql.audit.moves import numbers
from dpsql.audit.replay import RunPart
from dpsql.privacy.sampling import Sampler
from dpsql.privacy.tables import RawTable

__all__ = [
    "ALONE", "BOUNDS", "CUTS", "MISS", "Floats", "at_least", "loss_between", "lower", "measured_loss", "ratios",
    "upper",
]  # fmt: skip

Floats = npt.NDArray[np.float64]

CUTS = np.linspace(-1.5, 1.5, 49)  # In units of the claimed epsilon: a choice, fixed before anything is drawn.
BOUNDS = 2 * 2 * len(CUTS)  # From above and below on either side; a bound for an event is one for its complement.
ALONE = 1e9  # The ratio of a group that one side alone can show: beyond every cut.
MISS = 1e-9  # The chance that a bound is above the true loss, where none is asked for. It is that of the house's tests.


def lower(hits: int, size: int, miss: float = MISS) -> float:
    """The true chance is below this with probability at most ``miss``."""
    return float(betaincinv(hits, size - hits + 1, miss)) if hits else 0.0


def upper(hits: int, size: int, miss: float = MISS) -> float:
    """The true chance is above this with probability at most ``miss``."""
    return float(betainccinv(hits + 1, size - hits, miss)) if hits < size else 1.0


def at_least(more: int, less: int, size: int, delta: float, miss: float) -> float:
    """The epsilon at least for which (epsilon, delta)-DP holds, by the hits of one event on either side.

    Either bound of a chance that it rests on is wrong with probability at most ``miss``.
    """
    gain = lower(more, size, miss) - delta
    return math.log(gain / upper(less, size, miss)) if gain > 0 else -math.inf


def measured_loss(one: RunPart, two: RunPart, size: int, sampler: Sampler, epsilon: float, delta: float) -> float:
    """A lower bound on the epsilon for which (epsilon, delta)-DP holds between two runs of one release.

    Args:
        one, two: The release on either table: the same offer, other raw numbers.
        size: Draws on each side.
        sampler: The source of noise.
        epsilon: The claim, which places the cuts.
        delta: The delta that is charged.
    """
    first, second = ratios(one, one, two, size, sampler), ratios(two, one, two, size, sampler)
    return loss_between(first, second, epsilon, delta)


def loss_between(first: Floats, second: Floats, epsilon: float, delta: float, miss: float = MISS) -> float:
    """The same bound, from the log-likelihood ratios of draws on either side: (size,) each.

    It is above the loss with probability at most ``miss``.
    """
    size = len(first)
    best = -math.inf
    for cut in CUTS * epsilon:
        for event in (first >= cut, second >= cut), (first < cut, second < cut):
            hits = [int(side.sum()) for side in event]
            for more, less in (hits, hits[::-1]):
                best = max(best, at_least(more, less, size, delta, miss / BOUNDS))
    return best


def ratios(real: RunPart, one: RunPart, two: RunPart, size: int, sampler: Sampler) -> Floats:
    """(size,) log-likelihood ratios of table one to table two, for draws on ``real``, which is one of them.

    Only groups whose numbers differ are released: the others tell nothing.
    """
    named = numbers(one)
    nothing = (0,) * len(named)
    sides_of = {group: [part.raw.get(group, nothing) for part in (real, one, two)] for group in {**one.raw, **two.raw}}
    moved = [sides for sides in sides_of.values() if sides[1] != sides[2]]
    table = RawTable({f"m{at}": [sides[0][at] for sides in moved] * size for at in range(len(nothing))})
    columns = one.release.release(table, sampler).columns
    total = np.zeros(size)
    for at, (name, draw) in enumerate(named):
        if draw is None:  # it is public, and alike on both
            continue
        x = np.array([math.nan if k is None else k for k in columns[name]]).reshape(size, len(moved))
        a, b = (np.array([sides[side][at] for sides in moved]) for side in (1, 2))
        if draw.law == "laplace":
            ratio = (np.abs(x - b) - np.abs(x - a)) / float(draw.parameter)
        else:
            ratio = ((x - b) ** 2 - (x - a) ** 2) / (2 * float(draw.parameter))
        if real.selects:  # a group that does not appear tells little; one that only one side holds tells all
            ratio = np.where(a == 0, -ALONE, np.where(b == 0, ALONE, ratio))
            ratio = np.where(np.isnan(x), 0.0, ratio)
        total += ratio.sum(axis=1)
    return total
