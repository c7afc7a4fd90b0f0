"""How many spreads a median's n Delta should be: eight families of data, four places of the centre, true spreads.

    python bench/median_rule.py

The spread is what somebody who knows the data would declare: half of the values lie further from the centre than it, or
it is their mean distance. For each of these cases the error of Delta = k spreads / n is divided by that of the best k,
and these ratios are summed up by their geometric mean and their maximum.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from fractions import Fraction
from itertools import product

import numpy as np
from accuracy import PAGE
from page import table, write
from rivals import Floats, Whole

from dpsql.mechanisms.preprocessing import Counts, median

Generator = np.random.Generator
FAMILIES: Mapping[str, Callable[[int, Generator], Floats]] = {
    "normal": lambda n, random: random.normal(1e5, 2e4, n),
    "lognormal, narrow": lambda n, random: np.exp(random.normal(10.3, 0.5, n)),
    "lognormal": lambda n, random: np.exp(random.normal(10.3, 0.9, n)),
    "lognormal, wide": lambda n, random: np.exp(random.normal(10.3, 1.3, n)),
    "Pareto": lambda n, random: 20_000 * random.random(n) ** (-1 / 2.5),
    "exponential": lambda n, random: random.exponential(3e4, n),
    "uniform": lambda n, random: random.uniform(0, 1e5, n),
    "two humps": lambda n, random: np.where(random.random(n) < 0.6, 3e4, 9e4) + random.normal(0, 5e3, n),
}
MULTIPLES = (Fraction(2), Fraction(5, 2), Fraction(3), Fraction(7, 2), Fraction(4))
PRICES = ((1000, Fraction(1, 10), 60), (1000, Fraction(1), 60), (10_000, Fraction(1), 20))
"""n, epsilon and how many data sets."""


def places(values: Floats) -> Iterator[tuple[Fraction, float]]:
    """Centres, each with the spreads that belong to it."""
    middle = float(np.median(values))
    away = float(np.median(np.abs(values - middle))) / 2
    for centre in (middle, float(values.mean()), middle + away, middle - away):
        distances = np.abs(values - centre)
        for spread in (float(np.median(distances)), float(distances.mean())):
            yield Fraction(round(centre)), spread


def ratios(drawn: list[Whole], centre: Fraction, spread: float, epsilon: Fraction) -> Floats:
    """The error of each multiple, over the least."""
    squares = np.zeros(len(MULTIPLES))
    for values in drawn:
        counts, truth = Counts.of(values), float(np.median(values))
        for index, multiple in enumerate(MULTIPLES):
            delta = Fraction(round(multiple * Fraction(spread)), len(values))
            moved = float(median(counts, centre=centre, sensitivity=delta)) - truth
            squares[index] += moved**2 + 2 * float(delta / epsilon) ** 2
    errors = np.sqrt(squares)
    found: Floats = errors / errors.min()
    return found


def main() -> None:
    """Measures and writes the table."""
    random = np.random.default_rng(3)
    found: dict[float, list[Floats]] = {float(n * epsilon): [] for n, epsilon, _ in PRICES}
    for draw, (n, epsilon, sets) in product(FAMILIES.values(), PRICES):
        drawn = [draw(n, random).astype(np.int64) for _ in range(sets)]
        for centre, spread in places(draw(200_000, random)):
            found[float(n * epsilon)].append(ratios(drawn, centre, spread, epsilon))
    lines = []
    for price, cases in found.items():
        means, worst = np.exp(np.log(cases).mean(axis=0)), np.max(cases, axis=0)
        cells = [f"{mean:.2f} ({most:.3g})" for mean, most in zip(means, worst, strict=True)]
        lines.append([f"{price:,.0f}", *cells])
    titles = ["n epsilon", *(f"{float(multiple):g} spreads / n" for multiple in MULTIPLES)]
    write("rule", table(titles, lines), page=PAGE)


if __name__ == "__main__":
    main()
