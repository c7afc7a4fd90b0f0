"""Histograms of random differential privacy beside private ones: L1 risk in the paper's two settings, and its growth.

    python bench/random_dp.py [RUNS]

Hall, Rinaldo and Wasserman's section 8, with the settings that it gives: n people fall into r of k cells at random, all
r alike, and one of them may be replaced. Risk is the mean of the L1 distance between true and shown shares, over RUNS
(300) histograms. The mechanisms are the product's own, on exact noise. *all cells* is noise on every cell; *first ties*
projects it onto histograms of n points and takes what ties leave open from the first cells, *shared ties* as dpsql
does; *occupied* is random differential privacy, without and with the projection; *stability* is the
(epsilon, 1e-6)-DP histogram that dpsql takes by itself. At 300 runs the tables go to docs/random_dp.md, and with
matplotlib the figure to docs/figures/random_dp.svg.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from fractions import Fraction
from pathlib import Path

import numpy as np
import numpy.typing as npt

from dpsql.mechanisms.noise.laws import LaplaceLaw
from dpsql.mechanisms.noise.thresholds import threshold_for
from dpsql.mechanisms.random_dp.histogram import sparse_histogram
from dpsql.mechanisms.random_dp.projection import project
from dpsql.privacy.exposure import gamma_of_cells
from dpsql.privacy.sampling import ExactSampler, noised

sys.path.insert(0, str(Path(__file__).resolve().parent))
from page import ROOT, circumstances, table, write

PAGE = ROOT / "docs" / "random_dp.md"
FIGURE = ROOT / "docs" / "figures" / "random_dp.svg"
FULL = 300
DELTA = Fraction(1, 10**6)
SETTINGS = [(25, 500, 2), (400, 8000, 16)]
EPSILONS = [Fraction(1, 20), Fraction(1, 10), Fraction(1, 5), Fraction(1, 2), Fraction(1)]
GROWTH = Fraction(1, 5)
SAMPLER = ExactSampler()
Whole = npt.NDArray[np.int64]
Shown = Callable[[Whole, Fraction], Sequence[int] | Whole]


def all_cells(counts: Whole, epsilon: Fraction) -> Whole:
    """Noise on every cell."""
    return np.array(noised(counts, SAMPLER.laplace(2 / epsilon, len(counts))))


def first_ties(counts: Whole, epsilon: Fraction) -> Whole:
    """A nearest histogram, the surplus and the deficit falling on the first cells."""
    shown = np.maximum(all_cells(counts, epsilon), 0)
    missing = int(counts.sum() - shown.sum())
    if missing > 0:
        shown[0] += missing
    for cell in range(len(shown)):
        taken = min(shown[cell], max(0, -missing))
        shown[cell] -= taken
        missing += taken
    return shown


def shared_ties(counts: Whole, epsilon: Fraction) -> Whole:
    """The nearest histogram as dpsql takes it."""
    return project(all_cells(counts, epsilon), int(counts.sum()))


def occupied(counts: Whole, epsilon: Fraction) -> list[int]:
    """Random differential privacy before the projection."""
    before, _ = sparse_histogram(counts.tolist(), 2 / epsilon, SAMPLER)
    return [k or 0 for k in before]


def random_dp(counts: Whole, epsilon: Fraction) -> list[int]:
    """Random differential privacy."""
    return sparse_histogram(counts.tolist(), 2 / epsilon, SAMPLER, int(counts.sum()))[1]


def stability(counts: Whole, epsilon: Fraction) -> Whole:
    """The (epsilon, delta)-DP stability histogram."""
    shown = all_cells(counts, epsilon)
    return np.where((counts > 0) & (shown > threshold_for(LaplaceLaw(2 / epsilon), 1, DELTA)), shown, 0)


METHODS: dict[str, Shown] = {
    "all cells": all_cells,
    "first ties": first_ties,
    "shared ties": shared_ties,
    "occupied, no projection": occupied,
    "occupied": random_dp,
    "stability": stability,
}


def risks(method: Shown, setting: tuple[int, int, int], epsilon: Fraction, runs: int) -> npt.NDArray[np.float64]:
    """(runs,) L1 distances between the true and the shown shares."""
    cells, people, held = setting
    random = np.random.default_rng(42)
    found = np.empty(runs)
    for run in range(runs):
        counts = np.zeros(cells, dtype=np.int64)
        counts[random.choice(cells, held, replace=False)] = random.multinomial(people, [1 / held] * held)
        found[run] = np.abs(np.array(method(counts, epsilon), dtype=float) - counts).sum() / people
    return found


def section_8(runs: int) -> tuple[list[list[str]], dict[tuple[int, str], list[float]]]:
    """The table's rows, and setting and method to one mean risk for each epsilon."""
    rows: list[list[str]] = []
    means: dict[tuple[int, str], list[float]] = {}
    for at, setting in enumerate(SETTINGS):
        for epsilon in EPSILONS:
            found = {name: risks(method, setting, epsilon, runs) for name, method in METHODS.items()}
            for name, values in found.items():
                means.setdefault((at, name), []).append(float(values.mean()))
            rows.append(
                [
                    f"{setting[0]}, {setting[1]}, {setting[2]}; {float(epsilon):g}",
                    *(f"{values.mean():.4f}" for values in found.values()),
                    f"{np.mean(found['first ties'] > 0.5):.2f}",
                    f"{found['shared ties'].mean() / found['occupied'].mean():.1f}",
                    f"{found['all cells'].mean() / found['occupied'].mean():.1f}",
                ]
            )
    return rows, means


def growth(runs: int) -> list[list[str]]:
    """Rows of risk against r at k = 400, and against k at r = 16."""
    rows = []
    for cells, held in [*((400, r) for r in (2, 4, 8, 16, 32, 64)), *((k, 16) for k in (50, 100, 200, 400, 800))]:
        risk = risks(random_dp, (cells, 8000, held), GROWTH, runs).mean()
        private = risks(shared_ties, (cells, 8000, held), GROWTH, runs).mean()
        bound = float(4 * held / (8000 * GROWTH))
        rows.append([f"k = {cells}, r = {held}", f"{risk:.4f}", f"{bound:.4f}", f"{private:.4f}"])
    return rows


def draw(means: dict[tuple[int, str], list[float]]) -> None:
    """Risk against epsilon in both settings."""
    try:
        from matplotlib.figure import Figure
    except ImportError:
        print("no figure: matplotlib is not installed")
        return
    figure = Figure(figsize=(9, 3.6), layout="constrained")
    panels = figure.subplots(1, 2, sharey=True)
    styles = {"all cells": ":", "first ties": "-.", "shared ties": "--", "stability": "-", "occupied": "-"}
    for at, (panel, (cells, people, held)) in enumerate(zip(panels, SETTINGS, strict=True)):
        for name, style in styles.items():
            panel.loglog([float(x) for x in EPSILONS], means[at, name], style, marker=".", label=name)
        panel.set_title(f"k = {cells}, n = {people}, {held} occupied", fontsize=10)
        panel.set_xlabel("epsilon")
    panels[0].set_ylabel("mean L1 distance of shares")
    panels[1].legend(fontsize=8)
    figure.savefig(FIGURE)


def main(runs: int) -> None:
    """Measures, and writes the page at full size."""
    rows, means = section_8(runs)
    gammas = "; ".join(
        f"k = {k}, n = {n}: {float(gamma_of_cells(k, n, 'replace_one', 'exchangeable')):.3g}, "
        f"{float(gamma_of_cells(k, n, 'replace_one', 'iid')):.3g} for independent draws"
        for k, n, _ in SETTINGS
    )
    titles = ["k, n, occupied; epsilon", *METHODS, "first ties above 0.5", "shared / occupied", "all / occupied"]
    lines = [circumstances(), "", f"gamma is {gammas}. Means over {runs} histograms.", "", *table(titles, rows)]
    write("section 8", lines, page=PAGE, only_print=runs != FULL)
    more = growth(runs)
    titles = ["epsilon 0.2, n = 8000", "random_dp", "bound 4 r / (n epsilon)", "shared ties on all cells"]
    write("growth", [*table(titles, more)], page=PAGE, only_print=runs != FULL)
    if runs == FULL:
        draw(means)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else FULL)
