"""What a statistic of noised moments could be: intervals of variances, covariances, correlations and slopes.

That of a correlation or a slope is proved: see `inverted`. For the others, the true moments are the noised ones less
their noise, whose laws are known. So the statistic is computed for 4,096 noises that stand for those laws, and the
interval leaves out equal parts on either side; where a noise leaves too few rows, the statistic could be anything
inside its bounds. For a statistic that is linear in the moments this has the wanted confidence exactly; for the others
it is measured. Where the interval reaches an end of the statistic's bounds, the noise is so large that it is far from
linear (a variance less the square of a noisy mean is 0 wherever that mean is): there it is the whole range over the
likeliest noises; and all of the bounds where no likely noise leaves anything but their end, for a variance that came as
0 is not known to be 0. With P_i = P(|noise_i| beyond its own), the sum of -ln P_i over k moments has a gamma law, and
those within its quantile hold the truth with the wanted chance, whatever the statistic is. The noises are the points of
a lattice: nothing is drawn, and the same release has the same interval every time. Above 99.8% it is all of the bounds.

Tests: tests/unit/mechanisms/noise/test_moments.py.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from dpsql.mechanisms.noise.central import Correlation, Moments, Slope, Statistic
from dpsql.mechanisms.noise.inverted import HALVINGS, solved_within
from dpsql.mechanisms.noise.laws import Law
from dpsql.mechanisms.noise.mean import USUAL_MISS

__all__ = ["gamma_quantile", "lattice", "ranges"]

Floats = npt.NDArray[np.float64]

POINTS = 4096
"""How many noises stand for their laws when an interval is worked out. A guess."""
CONFIDENCE = 0.998  # As a probability: the most for which `POINTS` noises can tell an interval.


def ranges(
    statistic: Statistic,
    laws: Sequence[Law | None],
    widths: Mapping[str, int],
    rows: Sequence[Moments],
    confidence: float,
    halvings: int = HALVINGS,
) -> list[tuple[float, float]]:
    """What the statistic of each group could be, in grid steps.

    Args:
        statistic: What is computed.
        laws: Noise of each of its moments; None where it is public.
        widths: high - low of each variable, in grid steps.
        rows: Noised moments of each group.
        confidence: Between 0 and 1.
        halvings: How precisely the ends of correlations and slopes are told, as of `inverted`.
    """
    if not 0 < confidence < 1:
        raise ValueError(f"confidence is {confidence}; write a number between 0 and 1, such as 0.95")
    bounds = statistic.bounds(widths)
    if isinstance(statistic, Correlation | Slope):
        own = dict(zip(statistic.moments, laws, strict=True))
        return solved_within(bounds, own, widths, rows, confidence, halvings)
    if confidence > CONFIDENCE:
        return [bounds] * len(rows)
    noises = dict(zip(statistic.moments, _noises(tuple(laws)), strict=True))
    drawn, usual = sum(law is not None for law in laws), 1 - USUAL_MISS
    found = []
    for m in rows:
        each = statistic.likely({name: m[name] - noise for name, noise in noises.items()}, widths)
        low, high = _ends(*each, bounds, drawn, confidence)
        if drawn and (low <= bounds[0] or high >= bounds[1]):
            least, most = (low, high) if confidence == usual else _ends(*each, bounds, drawn, usual)
            if least == most:
                low, high = bounds
            elif low == high:
                low, high = least, most
        found.append((low, high))
    return found


def _ends(
    lows: Floats, highs: Floats, bounds: tuple[float, float], drawn: int, confidence: float
) -> tuple[float, float]:
    """The interval of a group.

    Args:
        lows: (4096,) the least that the statistic can be, if the noise was that of a point.
        highs: The most.
        bounds: Of the statistic.
        drawn: How many of its moments are noised.
        confidence: Between 0 and 1.
    """
    miss = (1 - confidence) / 2
    left_out, last = math.floor((POINTS - 1) * miss), math.ceil((POINTS - 1) * (1 - miss))
    ends = [left_out, last]  # both at once: numpy takes five times as long for one, by 512 bits (measured)
    low, high = float(np.partition(lows, ends)[left_out]), float(np.partition(highs, ends)[last])
    if low <= bounds[0] or high >= bounds[1]:
        likely = _likely(drawn, confidence)
        low, high = min(low, float(lows[likely].min())), max(high, float(highs[likely].max()))
    return low, high


@lru_cache(maxsize=32)  # groups that are alike have the same ones, a megabyte for ten of these
def _noises(laws: tuple[Law | None, ...]) -> tuple[Floats, ...]:
    """(4096,) of each law: what it adds at the points of a `lattice`; 0 where there is none."""
    points = iter(lattice(sum(law is not None for law in laws)))
    return tuple(np.zeros(POINTS) if law is None else np.rint(law.at(next(points))) for law in laws)


@lru_cache(maxsize=8)
def _likely(dimensions: int, confidence: float) -> npt.NDArray[np.bool_]:
    """(4096,) whether all coordinates of a point of a `lattice` are as common as that together."""
    ranks = lattice(dimensions)
    rare = -np.log(2 * np.minimum(ranks, 1 - ranks)).sum(axis=0)
    found: npt.NDArray[np.bool_] = rare <= gamma_quantile(len(ranks), confidence)
    return found


def gamma_quantile(shape: int, level: float) -> float:
    """Where the sum of ``shape`` exponential variables of mean 1 lies below with this probability, to 1e-12.

    It is below x unless fewer than ``shape`` events of a Poisson process come before x.

    >>> round(gamma_quantile(1, 0.95), 9), round(gamma_quantile(3, 0.95), 9)
    (2.995732274, 6.295793622)
    """

    def below(x: float) -> float:
        return 1 - math.exp(-x) * sum(x**k / math.factorial(k) for k in range(shape))

    low, high = 0.0, 1.0
    while below(high) < level:
        high *= 2
    while high - low > 1e-12 * high:
        middle = (low + high) / 2
        low, high = (middle, high) if below(middle) < level else (low, middle)
    return high


@lru_cache(maxsize=8)
def lattice(dimensions: int) -> Floats:
    """(dimensions, 4096) float64 in (0, 1): points that fill the cube evenly.

    Source: Roberts 2018, "The unreasonable effectiveness of quasirandom sequences": multiples of the powers of the root
    of x^(d + 1) = x + 1, modulo 1.
    """
    root = 2.0
    for _ in range(60):  # a contraction: it has converged long before
        root = (1 + root) ** (1 / (dimensions + 1))
    steps = root ** -np.arange(1.0, dimensions + 1)
    points = np.outer(steps, np.arange(1, POINTS + 1)) % 1.0
    ranks = points.argsort(axis=1).argsort(axis=1)  # makes every side exactly even
    evenly: Floats = (ranks + 0.5) / POINTS
    return evenly
