"""Time of preprocessed statistics against the number of values: from value counts, and from an array in memory.

    python bench/preprocessing.py [LARGEST]

Values are lognormal incomes in whole units, exp(N(10.3, 0.9)); centre 40,000, typical distance s = 20,000. The
sensitivity is that of the rules for epsilon = 1: W / n for the mean, W^2 / n for the variance, W = 1.5 s n^(1/3) within
[0, 10^6]; 3 s / n for the median; W / n for the trimmed mean. A silly one follows, far too small: two standard
deviations / n for the mean, (four standard deviations)^2 / n for the variance. The quickest of three runs counts. With
matplotlib a figure is written to docs/figures/preprocessing_time.svg.
"""

from __future__ import annotations

import math
import platform
import sys
import time
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path

import numpy as np

from dpsql.mechanisms.preprocessing import (
    Counts,
    maximum,
    mean,
    mean_of,
    median,
    minimum,
    total,
    trimmed_mean,
    variance,
    variance_of,
)

FIGURE = Path(__file__).parents[1] / "docs" / "figures" / "preprocessing_time.svg"
CENTRE, SPREAD, TOP = 40_000, 20_000, 10**6
TAIL = 10_000


def calls(values: np.ndarray, counts: Counts) -> dict[str, Callable[[], object]]:
    """What is timed, by name."""
    n, sd = len(values), round(float(values.std()))
    w = min(round(1.5 * SPREAD * n ** (1 / 3)), TOP)
    sums = n, int(values.sum()), counts_of_squares(counts)
    ends = np.sort(values)[:TAIL].tolist(), np.sort(values)[-TAIL:].tolist()
    width, area, middle = Fraction(w, n), Fraction(w * w, n), Fraction(3 * SPREAD, n)
    return {
        "value counts of an array": lambda: Counts.of(values),
        "mean, from sums and ends": lambda: mean(*sums[:2], *ends, centre=CENTRE, sensitivity=width),
        "variance, from sums and ends": lambda: variance(*sums, *ends, sensitivity=area),
        "mean": lambda: mean_of(counts, centre=CENTRE, sensitivity=width),
        "trimmed mean": lambda: trimmed_mean(counts, Fraction(1, 10), centre=CENTRE, sensitivity=width),
        "median": lambda: median(counts, centre=CENTRE, sensitivity=middle),
        "variance": lambda: variance_of(counts, sensitivity=area),
        "maximum": lambda: maximum(counts, 1000, centre=CENTRE),
        "minimum": lambda: minimum(counts, 1000, centre=CENTRE),
        "total": lambda: total(counts, w),
        "mean, silly": lambda: mean_of(counts, centre=CENTRE, sensitivity=Fraction(2 * sd, n)),
        "variance, silly": lambda: variance_of(counts, sensitivity=Fraction(16 * sd * sd, n)),
    }


def counts_of_squares(counts: Counts) -> int:
    """The sum of squares, exactly."""
    return sum(v * v * k for v, k in zip(counts.values, counts.counts, strict=True))


def seconds(call: Callable[[], object]) -> float:
    """Wall time of one call, the best of three; of one where it is long."""
    best = math.inf
    for _ in range(3):
        start = time.perf_counter()
        call()
        best = min(best, time.perf_counter() - start)
        if best > 2:
            break
    return best


def draw(sizes: list[int], times: dict[str, list[float]]) -> None:
    """The figure: a line a statistic, both axes logarithmic."""
    try:
        from matplotlib.figure import Figure
    except ImportError:
        print("no figure: matplotlib is not installed")
        return
    figure = Figure(figsize=(8, 4.5), layout="constrained")
    axes = figure.subplots()
    for name, line in times.items():
        axes.loglog(sizes[: len(line)], line, marker="o", markersize=3, label=name, ls="--" if "silly" in name else "-")
    axes.set_xlabel("values")
    axes.set_ylabel("seconds")
    axes.grid(alpha=0.3)
    figure.legend(fontsize=7, handlelength=3, loc="outside right upper")
    FIGURE.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(FIGURE)
    print(f"figure: {FIGURE}")


def main(largest: int = 10**7) -> None:
    """Print one row a statistic, and draw them."""
    sizes = [10**k for k in range(2, round(math.log10(largest)) + 1)]
    times: dict[str, list[float]] = {}
    for n in sizes:
        values = np.exp(np.random.default_rng(n).normal(10.3, 0.9, n)).astype(np.int64)
        for name, call in calls(values, Counts.of(values)).items():
            times.setdefault(name, []).append(seconds(call))
    print(f"Python {platform.python_version()}, numpy {np.__version__}, {platform.machine()}; seconds")
    print(f"{'values':32}" + "".join(f"{f'10^{round(math.log10(n))}':>10}" for n in sizes))
    for name, line in times.items():
        print(f"{name:32}" + "".join(f"{each:>10.4f}" for each in line))
    draw(sizes, times)


if __name__ == "__main__":
    main(*(int(float(argument)) for argument in sys.argv[1:2]))
