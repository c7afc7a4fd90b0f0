"""How near a measured loss (`dpsql.audit.measured`) must come to the loss that is there, and noise by itself."""

from __future__ import annotations

import math
from collections.abc import Iterable

import numpy as np
import numpy.typing as npt
from scipy.stats import binom

from dpsql.audit.measured import BOUNDS, CUTS, lower, upper
from dpsql.audit.moves import numbers
from dpsql.audit.replay import RunPart
from dpsql.privacy.sampling import Sampler
from dpsql.privacy.tables import RawTable
from tests.statistical.thresholds import P_THRESHOLD

__all__ = ["certain", "laplace_below", "laplace_share", "laplace_shares", "noise_of"]

ROUNDED = 1e-6  # of a step: far more than the rounding of a ratio moves the value where it reaches a cut


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


def noise_of(part: RunPart, size: int, sampler: Sampler) -> list[npt.NDArray[np.int64]]:
    """For each noised number of a release: (size,) draws of what is added to a raw 10^6, far above any threshold."""
    named = numbers(part)
    table = RawTable({f"m{at}": [10**6] * size for at in range(len(named))})
    released = part.release.release(table, sampler).columns
    return [np.array(released[name], dtype=np.int64) - 10**6 for name, draw in named if draw is not None]
