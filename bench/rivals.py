"""Rivals of preprocessing, as small as they can be written: for figures alone, in floats, never for a release.

Each takes the sorted values of one data set and an epsilon, and gives the mean squared error of its answer there:
exactly, or over draws of the noise where the answer is not linear in it.
"""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Whole = npt.NDArray[np.int64]

DRAWS = 10_000  # of the noise, for each data set


def clipped_mean(
    values: Whole,
    epsilon: float,
    *,
    centre: float,
    width: float,
    bounds: tuple[float, float],
    share: float,
    random: np.random.Generator,
) -> float:
    """The sum of the distances from a centre, clipped to +- width, at a share of epsilon; over a count at the rest.

    The answer is put inside the bounds; a noised count below 1 counts as 1.
    """
    total = np.clip(values - centre, -width, width).sum() + random.laplace(0, width / (share * epsilon), DRAWS)
    count = np.maximum(len(values) + random.laplace(0, 1 / ((1 - share) * epsilon), DRAWS), 1)
    return mean_square(np.clip(centre + total / count, *bounds) - values.mean())


def clipped_variance(
    values: Whole, epsilon: float, *, centre: float, width: float, random: np.random.Generator
) -> float:
    """Sums of the clipped distances and of their squares at 0.45 epsilon each, and a count at the rest."""
    distances = np.clip(values - centre, -width, width)
    count = np.maximum(len(values) + random.laplace(0, 1 / (0.1 * epsilon), DRAWS), 1)
    first = (distances.sum() + random.laplace(0, width / (0.45 * epsilon), DRAWS)) / count
    second = ((distances**2).sum() + random.laplace(0, width**2 / (0.45 * epsilon), DRAWS)) / count
    return mean_square(np.maximum(second - first**2, 0) - values.var())


def exponential_median(values: Whole, epsilon: float, *, bounds: tuple[float, float]) -> float:
    """A point between the bounds with density exp(-epsilon |number below - n / 2|); exactly."""
    middle, edges = float(np.median(values)), np.concatenate([bounds[:1], values, bounds[1:]])
    density = np.exp(-epsilon * np.abs(np.arange(len(values) + 1) - len(values) / 2))
    return float(density @ np.diff((edges - middle) ** 3) / 3 / (density @ np.diff(edges)))


def smooth_median(values: Whole, epsilon: float, *, bounds: tuple[float, float], delta: float | None = None) -> float:
    """The median with noise by its smooth sensitivity: density 1 / (1 + z^4) without delta, Laplace with it; exactly.

    Source: Nissim, Raskhodnikova, Smith 2007, sections 2 and 3.1. Their local sensitivities are for a value that is
    replaced; halved here for one that comes or goes, in the rival's favour.
    """
    if delta is None:
        beta, noise = epsilon / 10, 10 / epsilon  # gamma = 4: such noise has a second moment of 1
    else:
        beta, noise = epsilon / (2 * math.log(2 / delta)), 2 * math.sqrt(2) / epsilon
    return (smooth_sensitivity(values, beta, bounds) / 2 * noise) ** 2


def smooth_sensitivity(values: Whole, beta: float, bounds: tuple[float, float]) -> float:
    """The greatest e^(-beta k) (x_(m + t) - x_(m + t - k - 1)) over k >= 0 and t from 0 to k + 1; m is the middle.

    >>> round(smooth_sensitivity(np.arange(1, 1002), 0.1, (0, 1001)), 2)
    4.07
    """
    n, middle = len(values), (len(values) + 1) // 2 - 1
    most = 0.0
    for k in range(n + 1):
        if math.exp(-beta * k) * (bounds[1] - bounds[0]) <= most:
            break
        above = np.arange(middle, middle + k + 2)
        high = np.where(above < n, values[np.minimum(above, n - 1)], bounds[1])
        low = np.where(above > k, values[np.maximum(above - k - 1, 0)], bounds[0])
        most = max(most, math.exp(-beta * k) * float((high - low).max()))
    return most


def mean_square(errors: Floats) -> float:
    """Of several errors.

    >>> mean_square(np.array([3.0, -4.0]))
    12.5
    """
    return float(np.mean(errors**2))
