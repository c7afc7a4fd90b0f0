"""The pictures of docs/choosing.md: what each family does, drawn from its laws of chance. `python bench/families.py`

Everything is worked out, nothing is drawn by chance but the made-up rows: the laws are those of `dpsql.mechanisms`.
"""

from __future__ import annotations

import math
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

from dpsql.mechanisms.noise.laws import LaplaceLaw
from dpsql.mechanisms.noise.thresholds import threshold_for

FIGURES = Path(__file__).parents[1] / "docs" / "figures"
INK, MIDDLE, PALE = "#1f3b57", "#3f7fb5", "#c9d8e6"
"""Dark, middle, pale: told apart in black and white, too."""


def drawn(name: str, width: float = 6.4, height: float = 2.6) -> tuple[Any, Any]:
    """A figure and its axes, in one style."""
    import matplotlib as mpl

    mpl.use("svg")
    mpl.rcParams["svg.hashsalt"] = name  # the same file each time
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(figsize=(width, height), layout="constrained")
    axes.spines[["top", "right"]].set_visible(False)
    return figure, axes


def save(figure: Any, name: str) -> None:
    """Writes docs/figures/NAME.svg."""
    figure.savefig(FIGURES / f"{name}.svg", metadata={"Date": None})


def noise() -> None:
    """The discrete Laplace law of one count, for three prices."""
    figure, axes = drawn("noise")
    places = np.arange(-60, 61)
    for epsilon, colour, style in ((0.05, PALE, "-"), (0.1, MIDDLE, "--"), (0.5, INK, "-")):
        ratio = math.exp(-epsilon)
        axes.plot(
            places, (1 - ratio) / (1 + ratio) * ratio ** np.abs(places), style, color=colour, label=f"epsilon {epsilon}"
        )
    axes.set(xlabel="error of a count, in people", ylabel="chance", xlim=(-60, 60), ylim=(0, None))
    axes.legend(frameon=False)
    save(figure, "noise")


def groups() -> None:
    """Groups of an open key around the threshold: those above it are shown, with their noise."""
    figure, axes = drawn("groups", height=2.8)
    epsilon, delta = Fraction(1, 2), Fraction(1, 10**9)
    threshold = threshold_for(LaplaceLaw(1 / epsilon), 1, delta)
    names = ["flu", "cold", "asthma", "gout", "burn", "malaria", "rabies"]
    people = [190, 150, 88, 61, 34, 9, 1]
    half = math.log(1 / 0.05) / float(epsilon)  # of 95% of the noise
    shown = [number > threshold for number in people]
    axes.bar(names, people, color=[MIDDLE if one else "white" for one in shown], edgecolor=INK, hatch=None)
    kept = [at for at, one in enumerate(shown) if one]
    axes.errorbar(kept, [people[at] for at in kept], yerr=half, fmt="none", ecolor=INK, capsize=3)
    axes.axhline(threshold, color=INK, linestyle="--", linewidth=1)
    axes.text(6.5, threshold + 4, f"threshold {threshold:.0f}: below it hidden", ha="right", va="bottom")
    axes.set(ylabel="people", title=f"epsilon {float(epsilon):g}, delta 1e-9, one row a person", ylim=(0, 210))
    save(figure, "groups")


def median() -> None:
    """The exponential mechanism's chance of each age as the median of 500 people."""
    figure, axes = drawn("median")
    ages = np.sort(np.clip(np.random.default_rng(5).normal(44, 17, 500), 0, 110).astype(int))
    points = np.arange(0, 111)
    below = np.searchsorted(ages, points, side="left")
    above = len(ages) - np.searchsorted(ages, points, side="right")
    score = -np.maximum(np.maximum(below, above) - len(ages) / 2, 0)
    for epsilon, colour in ((0.5, INK), (0.1, PALE)):
        chance = np.exp(epsilon * score / 2)
        axes.bar(points, chance / chance.sum(), color=colour, width=0.9, label=f"epsilon {epsilon}", alpha=0.85)
    axes.axvline(float(np.median(ages)), color=INK, linestyle="--", linewidth=1)
    axes.text(float(np.median(ages)) + 1, axes.get_ylim()[1] * 0.92, "true median")
    axes.set(xlabel="age", ylabel="chance of being the answer", xlim=(20, 70))
    axes.legend(frameon=False)
    save(figure, "median")


def window() -> None:
    """Pay of two groups within bounds that are far too wide, and the windows that are found."""
    figure, axes = drawn("window")
    chance = np.random.default_rng(3)
    edges = np.arange(0, 1_000_001, 5_000)
    for name, place, width, count, colour in (("clerks", 32, 5, 9000, MIDDLE), ("directors", 185, 40, 900, INK)):
        rows = chance.normal(place, width, count) * 1000
        axes.hist(rows, bins=edges, color=colour, weights=np.full(count, 9000 / count), label=name)
        axes.axvspan((place - 3 * width) * 1000, (place + 3 * width) * 1000, color=PALE, alpha=0.5, zorder=0)
    axes.annotate("bounds of the policy: 0 to 1,000,000", (500_000, 0), (500_000, 2200), ha="center", color=INK)
    axes.annotate("", (1_000_000, 2000), (0, 2000), arrowprops={"arrowstyle": "<->", "color": INK})
    axes.set(
        xlabel="pay", yticks=[], xlim=(0, 1_000_000), title="noise is scaled to the grey windows, not to the bounds"
    )
    axes.ticklabel_format(axis="x", style="plain")
    axes.legend(frameon=False)
    save(figure, "window")


def metric() -> None:
    """How well two ages are told apart under a metric of 0.05 a year, beside plain differential privacy."""
    figure, axes = drawn("metric")
    years = np.arange(0, 101)
    axes.plot(years, 0.05 * years, color=INK, label="metric, 0.05 a year")
    axes.plot(years, np.where(years > 0, 5.0, 0.0), "--", color=MIDDLE, label="plain epsilon 5")
    axes.set(xlabel="how far apart two ages are, in years", ylabel="loss between them", xlim=(0, 100), ylim=(0, 5.4))
    axes.annotate("a year: 0.05", (1, 0.05), (8, 0.9), arrowprops={"arrowstyle": "->", "color": INK})
    axes.legend(frameon=False, loc="lower right")
    save(figure, "metric")


if __name__ == "__main__":
    for picture in (noise, groups, median, window, metric):
        picture()
