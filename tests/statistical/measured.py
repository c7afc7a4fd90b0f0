"""A lower bound on the privacy loss that a release really has, from many draws on two neighbouring tables.

Every draw becomes one number, the log-likelihood ratio of the two tables under the noise that the sampler was asked
for: no other number tells more. For events {ratio >= c} and {ratio < c}, with cuts c fixed beforehand, the
Clopper-Pearson bounds of both chances bound the loss from below. All bounds hold together with probability
1 - `P_THRESHOLD`, so a correct release exceeds its claim once in 10^9 runs.

How near the bound comes to the loss that is there is known, too: `certain` says what it exceeds but for `P_THRESHOLD`.
"""

from __future__ import annotations

import math
from collections.abc import Iterable

import numpy as np
import numpy.typing as npt
from scipy.stats import beta, binom

from dpsql.privacy.sampling import Sampler
from dpsql.privacy.tables import RawTable
from tests.attacks.moves import numbers
from tests.attacks.replay import Part
from tests.statistical.thresholds import P_THRESHOLD

__all__ = [
    "certain",
    "laplace_below",
    "laplace_shares",
    "loss_between",
    "lower",
    "measured_loss",
    "noise_of",
    "ratios",
    "upper",
]

Floats = npt.NDArray[np.float64]

CUTS = np.linspace(-1.5, 1.5, 49)  # in units of the claimed epsilon
BOUNDS = 2 * 2 * len(CUTS)  # from above and below on either side; a bound for an event is one for its complement
ROUNDED = 1e-6  # of a step: far more than the rounding of a ratio moves the value where it reaches a cut
ALONE = 1e9  # the ratio of a group that one side alone can show


def lower(hits: int, size: int, miss: float = P_THRESHOLD) -> float:
    """The true chance is below this with probability at most ``miss``."""
    return float(beta.ppf(miss, hits, size - hits + 1)) if hits else 0.0


def upper(hits: int, size: int, miss: float = P_THRESHOLD) -> float:
    """The true chance is above this with probability at most ``miss``."""
    return float(beta.isf(miss, hits + 1, size - hits)) if hits < size else 1.0


def measured_loss(one: Part, two: Part, size: int, sampler: Sampler, epsilon: float, delta: float) -> float:
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


def loss_between(first: Floats, second: Floats, epsilon: float, delta: float) -> float:
    """The same bound, from the log-likelihood ratios of draws on either side: (size,) each."""
    size = len(first)
    best = -math.inf
    for cut in CUTS * epsilon:
        for event in (first >= cut, second >= cut), (first < cut, second < cut):
            hits = [int(side.sum()) for side in event]
            for more, less in (hits, hits[::-1]):
                gain = lower(more, size, P_THRESHOLD / BOUNDS) - delta
                if gain > 0:
                    best = max(best, math.log(gain / upper(less, size, P_THRESHOLD / BOUNDS)))
    return best


def certain(shares: Iterable[tuple[float, float]], size: int) -> float:
    """What the measured loss exceeds, but for `P_THRESHOLD`.

    Args:
        shares: Of events {ratio >= cut}, the chances on either side, exactly.
        size: Draws on each side.

    The counts of one event are binomial. With `P_THRESHOLD` / 2 each, the first is at least its lower quantile and the
    second at most its upper one, and the measured loss at least what these two would give.
    """
    best = 0.0
    for p, q in shares:
        more, less = int(binom.ppf(P_THRESHOLD / 2, size, p)), int(binom.isf(P_THRESHOLD / 2, size, q))
        if more and less < size:
            found = lower(more, size, P_THRESHOLD / BOUNDS) / upper(less, size, P_THRESHOLD / BOUNDS)
            best = max(best, math.log(found))
    return best


def laplace_shares(scale: float, apart: int, epsilon: float) -> list[tuple[float, float]]:
    """The chances of each {ratio >= cut} for a number with discrete Laplace noise and one ``apart`` above it."""
    return [laplace_share(scale, apart, cut) for cut in CUTS * epsilon]


def laplace_share(scale: float, apart: int, cut: float) -> tuple[float, float]:
    """The same for one cut. Where a rounding may decide, the first chance is the smaller, the second the larger one.

    The ratio of x is ``apart / scale`` below the first number, its opposite above the second, and in between at least
    ``cut`` exactly where x <= (apart - cut scale) / 2.
    """
    reach = (apart - cut * scale) / 2
    last = math.floor(reach)
    first = last
    if abs(reach - round(reach)) < ROUNDED:
        first, last = round(reach) - 1, round(reach)
    p = 1.0 if reach > apart + ROUNDED else 0.0 if reach < ROUNDED else laplace_below(scale, first)
    q = 1.0 if reach > apart - ROUNDED else 0.0 if reach < -ROUNDED else laplace_below(scale, last - apart)
    return p, q


def laplace_below(scale: float, k: int) -> float:
    """P(X <= k) of discrete Laplace noise, in closed form."""
    q = math.exp(-1 / scale)
    return q**-k / (1 + q) if k < 0 else 1 - q ** (k + 1) / (1 + q)


def ratios(real: Part, one: Part, two: Part, size: int, sampler: Sampler) -> Floats:
    """(size,) log-likelihood ratios of table one to table two, for draws on ``real``, which is one of them.

    Only groups whose numbers differ are released: the others tell nothing.
    """
    named = [(name, draw) for name, draw in numbers(one) if draw is not None]
    nothing = (0,) * len(named)
    sides_of = {group: [part.raw.get(group, nothing) for part in (real, one, two)] for group in {**one.raw, **two.raw}}
    moved = [sides for sides in sides_of.values() if sides[1] != sides[2]]
    table = RawTable({f"m{at}": [sides[0][at] for sides in moved] * size for at in range(len(nothing))})
    columns = one.release.release(table, sampler).columns
    total = np.zeros(size)
    for at, (name, draw) in enumerate(named):
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


def noise_of(part: Part, size: int, sampler: Sampler) -> list[npt.NDArray[np.int64]]:
    """For each noised number of a release: (size,) draws of what is added to a raw 10^6, far above any threshold."""
    named = numbers(part)
    table = RawTable({f"m{at}": [10**6] * size for at in range(len(named))})
    released = part.release.release(table, sampler).columns
    return [np.array(released[name], dtype=np.int64) - 10**6 for name, draw in named if draw is not None]
