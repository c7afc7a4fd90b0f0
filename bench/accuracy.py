"""Accuracy of preprocessed AVG, MEDIAN and VAR beside their rivals, for docs/preprocessing.md and its figure.

    python bench/accuracy.py [--data-sets 4000]

Data: whole numbers within [0, 10^6], lognormal exp(N(10.3, 0.9)) and Pareto 20,000 U^(-1 / 2.5). Public facts: centre
40,000, typical distance s = 20,000, and n. Every error is from the data set's own AVG, MEDIAN or VAR_POP, root mean
squared over noise and data sets.

The preprocessed statistics are the product's own, exact. Their noise is independent of them: for AVG and MEDIAN its
variance, 2 (Delta / epsilon)^2, is added; for VAR, where answers below 0 count as 0, it is drawn.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import product

import numpy as np
from page import ROOT, circumstances, table, write
from rivals import (
    DRAWS,
    Whole,
    clipped_mean,
    clipped_variance,
    exponential_median,
    mean_square,
    smooth_median,
)

from dpsql.mechanisms.preprocessing import Counts, mean_of, median, variance_of
from dpsql.mechanisms.preprocessing.mechanism import COUNT_SHARE, LEAST_ROWS
from dpsql.mechanisms.preprocessing.rules import MeanRule, MedianRule, Rule, VarianceRule

PAGE = ROOT / "docs" / "preprocessing.md"
FIGURE = ROOT / "docs" / "figures" / "preprocessing_accuracy.svg"
CENTRE, SPREAD, TOP = 40_000, Fraction(20_000), Fraction(10**6)
BOUNDS = (0.0, float(TOP))
MEAN, MEDIAN, VARIANCE = MeanRule(SPREAD, TOP), MedianRule(SPREAD, TOP), VarianceRule(SPREAD, TOP)
SIZES, EPSILONS = (100, 1000, 10_000), (Fraction(1, 10), Fraction(1))


@dataclass(frozen=True, slots=True)
class Sample:
    """One data set and a price.

    Attributes:
        values: (n,) int64, ascending.
        counts: The same, counted.
        epsilon: Of the answer.
        random: Draws of the rivals' noise.
    """

    values: Whole
    counts: Counts
    epsilon: Fraction
    random: np.random.Generator


@dataclass(frozen=True, slots=True)
class Error:
    """A root mean squared error and its own standard error, both in the answer's unit."""

    root: float
    uncertain: float

    @classmethod
    def of(cls, squares: Sequence[float]) -> Error:
        """From the mean squared error of each data set."""
        root = math.sqrt(np.mean(squares))
        return cls(root, float(np.std(squares)) / math.sqrt(len(squares)) / (2 * root))


def reach_of(rule: Rule, rows: int, epsilon: Fraction) -> Fraction:
    """W, by the rule.

    >>> reach_of(MEAN, 1000, Fraction(1))
    Fraction(300000, 1)
    """
    reach = rule.reach(rows, epsilon)
    if reach is None:
        raise ValueError("a rule without a spread has no reach")
    return reach


def wanted(rule: Rule, rows: int, epsilon: Fraction) -> Fraction:
    """Delta, by the rule."""
    return rule.sensitivity(reach_of(rule, rows, epsilon), rows)


def preprocessed_mean(sample: Sample) -> float:
    """With the rule's Delta = W / n."""
    return _mean(sample, len(sample.values), sample.epsilon)


def preprocessed_mean_of_noised(sample: Sample) -> float:
    """The same where n is secret: a tenth of epsilon buys a noised n first, as the product does it."""
    share = sample.epsilon * COUNT_SHARE
    rest = sample.epsilon - share
    noised = len(sample.values) + round(sample.random.laplace(0, float(1 / share)))
    return _mean(sample, max(noised, math.ceil(LEAST_ROWS / rest)), rest)


def _mean(sample: Sample, rows: int, epsilon: Fraction) -> float:
    delta = wanted(MEAN, rows, epsilon)
    moved = float(mean_of(sample.counts, centre=CENTRE, sensitivity=delta)) - sample.values.mean()
    return float(moved**2 + 2 * (delta / epsilon) ** 2)


def preprocessed_median(sample: Sample) -> float:
    """With the rule's Delta = 3 s / n."""
    delta = wanted(MEDIAN, len(sample.values), sample.epsilon)
    moved = float(median(sample.counts, centre=CENTRE, sensitivity=delta)) - float(np.median(sample.values))
    return float(moved**2 + 2 * (delta / sample.epsilon) ** 2)


def preprocessed_variance(sample: Sample) -> float:
    """With the rule's Delta = W^2 / n."""
    delta = wanted(VARIANCE, len(sample.values), sample.epsilon)
    noise = sample.random.laplace(0, float(delta / sample.epsilon), DRAWS)
    answers = np.maximum(float(variance_of(sample.counts, sensitivity=delta)) + noise, 0)
    return mean_square(answers - sample.values.var())


def _clipped(sample: Sample) -> float:
    reach, price = float(reach_of(MEAN, len(sample.values), sample.epsilon)), float(sample.epsilon)
    return clipped_mean(
        sample.values, price, centre=CENTRE, width=reach, bounds=BOUNDS, share=0.9, random=sample.random
    )


def _wide(sample: Sample) -> float:
    price = float(sample.epsilon)
    return clipped_mean(sample.values, price, centre=0, width=BOUNDS[1], bounds=BOUNDS, share=0.5, random=sample.random)


def _clipped_variance(sample: Sample) -> float:
    reach = float(reach_of(MEAN, len(sample.values), sample.epsilon))
    return clipped_variance(sample.values, float(sample.epsilon), centre=CENTRE, width=reach, random=sample.random)


METHODS: Mapping[str, Mapping[str, Callable[[Sample], float]]] = {
    "AVG": {
        "preprocessing": preprocessed_mean,
        "preprocessing, n noised": preprocessed_mean_of_noised,
        "clipping": _clipped,
        "wide bounds": _wide,
    },
    "MEDIAN": {
        "preprocessing": preprocessed_median,
        "exponential": lambda sample: exponential_median(sample.values, float(sample.epsilon), bounds=BOUNDS),
        "exponential with interval": lambda sample: exponential_median(
            sample.values, float(sample.epsilon) / 2, bounds=BOUNDS
        ),
        "smooth sensitivity": lambda sample: smooth_median(sample.values, float(sample.epsilon), bounds=BOUNDS),
    },
    "VAR": {"preprocessing": preprocessed_variance, "clipping": _clipped_variance},
}
UNITS = {"AVG": 1.0, "MEDIAN": 1.0, "VAR": 1e8}


def lognormal(n: int, random: np.random.Generator) -> Whole:
    """(n,) int64, ascending."""
    return _whole(np.exp(random.normal(10.3, 0.9, n)))


def pareto(n: int, random: np.random.Generator) -> Whole:
    """(n,) int64, ascending."""
    return _whole(20_000 * random.random(n) ** (-1 / 2.5))


def _whole(values: np.ndarray) -> Whole:
    return np.sort(np.clip(values, *BOUNDS).astype(np.int64))


DATA: Mapping[str, Callable[[int, np.random.Generator], Whole]] = {"lognormal": lognormal, "Pareto": pareto}

Row = tuple[str, int, Fraction]
Errors = Mapping[str, Mapping[str, Error]]
"""By statistic and method."""


def measured(data_sets: Callable[[int], int]) -> dict[Row, Errors]:
    """The errors of all methods for each kind of data, n and epsilon.

    Args:
        data_sets: How many for each n.
    """
    rows: dict[Row, Errors] = {}
    for kind, n in product(DATA, SIZES):
        random = np.random.default_rng(n)
        drawn = [DATA[kind](n, random) for _ in range(data_sets(n))]
        counted = [Counts.of(values) for values in drawn]
        for epsilon in EPSILONS:
            samples = [Sample(values, counts, epsilon, random) for values, counts in zip(drawn, counted, strict=True)]
            rows[kind, n, epsilon] = {
                statistic: {name: Error.of([error(sample) for sample in samples]) for name, error in methods.items()}
                for statistic, methods in METHODS.items()
            }
    return rows


def example(n: int, epsilon: Fraction) -> dict[str, float]:
    """Errors, times n / R, for x_i = i R / n with Delta = R / (2 n) and the centre R / 2; R = n in whole numbers.

    >>> {name: round(error, 2) for name, error in example(101, Fraction(1)).items()}["preprocessing"]
    0.71
    """
    values, bounds, price = np.arange(1, n + 1), (0.0, float(n)), float(epsilon)
    moved = median(values, centre=Fraction(n, 2), sensitivity=Fraction(1, 2)) - Fraction(n + 1, 2)
    squares = {
        "preprocessing": float(moved**2 + 2 * (Fraction(1, 2) / epsilon) ** 2),
        "exponential": exponential_median(values, price, bounds=bounds),
        "smooth, noise ~ 1 / (1 + z^4)": smooth_median(values, price, bounds=bounds),
        "smooth, Laplace, delta 1e-6": smooth_median(values, price, bounds=bounds, delta=1e-6),
        "smooth, Laplace, delta 1e-9": smooth_median(values, price, bounds=bounds, delta=1e-9),
    }
    return {name: math.sqrt(square) for name, square in squares.items()}


def shown(error: Error, unit: float = 1) -> str:
    """Two digits, and the standard error in percent where it is 5% or more.

    >>> shown(Error(11_432, 100)), shown(Error(2.5e8, 2e7), unit=1e8)
    ('11,000', '2.5 (8%)')
    """
    percent = 100 * error.uncertain / error.root
    return _digits(error.root / unit) + (f" ({percent:.0f}%)" if percent >= 5 else "")


def _digits(number: float) -> str:
    """Two digits, without an exponent."""
    digits = 1 - math.floor(math.log10(number))
    return f"{round(number, digits):,.{max(0, digits)}f}"


def lines_of(rows: Mapping[Row, Errors]) -> list[str]:
    """A table for each statistic."""
    lines = []
    for statistic, methods in METHODS.items():
        unit = UNITS[statistic]
        cells = [
            [kind, f"{n:,}", f"{float(epsilon):g}", *(shown(error, unit) for error in errors[statistic].values())]
            for (kind, n, epsilon), errors in rows.items()
        ]
        lines += ["", f"**{statistic}**{'' if unit == 1 else f', in units of {unit:,.0f}'}", ""]
        lines += table(["data", "n", "epsilon", *methods], cells)
    return lines


def example_lines(n: int) -> list[str]:
    """The paper's example, and how many times the error of preprocessing each rival has."""
    rows = []
    for epsilon in reversed(EPSILONS):
        errors = example(n, epsilon)
        least = errors["preprocessing"]
        cells = [
            _digits(error) + ("" if name == "preprocessing" else f" ({_digits(error / least)} x)")
            for name, error in errors.items()
        ]
        rows.append([f"{float(epsilon):g}", *cells])
    return table(["epsilon", *example(n, Fraction(1))], rows)


def draw(rows: Mapping[Row, Errors]) -> None:
    """The figure: a panel for each statistic and kind of data, both axes logarithmic."""
    import matplotlib
    from matplotlib.figure import Figure

    matplotlib.rcParams["svg.hashsalt"] = "accuracy"  # the same figures make the same file
    names = list(dict.fromkeys(name for methods in METHODS.values() for name in methods))
    styles = dict(zip(EPSILONS, ("--", "-"), strict=True))
    figure = Figure(figsize=(10, 6.5), layout="constrained")
    panels = figure.subplots(len(DATA), len(METHODS), sharex=True, sharey="col")
    for (kind, statistic), axes in zip(product(DATA, METHODS), panels.flat, strict=True):
        for name, epsilon in product(METHODS[statistic], EPSILONS):
            line = [rows[kind, n, epsilon][statistic][name].root for n in SIZES]
            axes.loglog(SIZES, line, styles[epsilon], marker="o", markersize=3, color=f"C{names.index(name)}")
        axes.set_title(f"{statistic}, {kind}", fontsize=9)
        axes.grid(alpha=0.3)
    for axes in panels[-1]:
        axes.set_xlabel("values")
    for axes in panels[:, 0]:
        axes.set_ylabel("root mean squared error")
    handles = [
        panels[0][0].plot([], [], color=f"C{i}", marker="o", markersize=3, label=n)[0] for i, n in enumerate(names)
    ]
    handles += [panels[0][0].plot([], [], styles[e], color="black", label=f"epsilon {float(e):g}")[0] for e in EPSILONS]
    figure.legend(handles=handles, fontsize=8, ncols=5, loc="outside lower center")
    FIGURE.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(FIGURE, metadata={"Date": None})
    print(f"figure: {FIGURE}")


def main() -> None:
    """Measures, writes both tables, draws the figure."""
    arguments = argparse.ArgumentParser(description="Measures the accuracy of preprocessed statistics.")
    arguments.add_argument(
        "--data-sets", type=int, default=4000, help="of 100 values; a quarter of 1,000, a tenth of 10,000"
    )
    given = arguments.parse_args()
    sets = {n: max(10, given.data_sets // part) for n, part in zip(SIZES, (1, 4, 10), strict=True)}
    rows = measured(sets.__getitem__)
    small = given.data_sets < 4000
    counted = ", ".join(f"{count:,} of {n:,} values" for n, count in sets.items())
    write(
        "accuracy",
        [circumstances(), "", f"Data sets: {counted}.", "", *lines_of(rows)],
        page=PAGE,
        only_print=small,
    )
    write("example", example_lines(10_001), page=PAGE, only_print=small)
    if not small:
        draw(rows)


if __name__ == "__main__":
    main()
