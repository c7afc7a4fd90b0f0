"""The pictures of docs/choosing.md: what each mechanism does, drawn from its laws of chance. `python bench/families.py`

Laws, scores and choices are those of `dpsql.mechanisms`. Rows are made up, from a fixed seed. The noise of two pictures
(which cap, which towns) is drawn anew each time, by the mechanisms themselves.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

from dpsql.mechanisms.base import Price
from dpsql.mechanisms.choice.clamp import ClampSearch, by_edges, edges_to
from dpsql.mechanisms.gaussian import gaussian_variance_of_rho, vector_loss
from dpsql.mechanisms.noise.laws import GaussianLaw, LaplaceLaw
from dpsql.mechanisms.noise.thresholds import threshold_for
from dpsql.mechanisms.top_k import TopKRelease
from dpsql.plan.needs import Contribution
from dpsql.plan.types import Grid
from dpsql.privacy.kinds import Pure
from dpsql.privacy.sampling import ExactSampler, noised
from dpsql.privacy.tables import RawTable

sys.path.insert(0, str(Path(__file__).parent.parent))  # a request that a mechanism can be asked by lives with the tests

from tests.unit.mechanisms.capped.test_mechanism import release_of

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


def visits(people: int, typical: float, spread: float) -> Any:
    """Made-up numbers of rows of people: most have a few, few have many, nobody above 1,024."""
    rows = np.random.default_rng(11).lognormal(math.log(typical), spread, people)
    return np.clip(np.ceil(rows), 1, 1024).astype(int)


def many() -> None:
    """Noise and threshold by the number of groups that one person counts in: plain and Gaussian."""
    figure, axes = drawn("many", height=2.8)
    epsilon, delta = Fraction(1), Fraction(1, 10**9)
    each = [round(2 ** (k / 2)) for k in range(2 * 9 + 1)]  # 1 to 512 groups
    loss = vector_loss(Price(epsilon, delta))
    if loss is None:
        raise SystemExit("no Gaussian noise at this price")
    plain = [LaplaceLaw(k / epsilon).quantile(0.95) for k in each]
    smooth = [GaussianLaw(gaussian_variance_of_rho(k, loss.rho)).quantile(0.95) for k in each]
    axes.loglog(each, plain, "-", color=INK, label="laplace")
    axes.loglog(each, smooth, "--", color=MIDDLE, label="gaussian, delta 1e-9")
    axes.set(
        xlabel="groups that one person counts in at most",
        ylabel="error of each count (95%)",
        title=f"epsilon {float(epsilon):g}, one row a person in each group",
    )
    axes.set_xticks([1, 4, 16, 64, 256], ["1", "4", "16", "64", "256"])
    axes.set_yticks([10, 100, 1000], ["10", "100", "1,000"])
    axes.legend(frameon=False)
    save(figure, "many")


def clamped() -> None:
    """How likely each number of rows is to be the clamp, beside what people have and what the policy allows."""
    figure, axes = drawn("clamped", height=2.9)
    rows, edges = visits(20_000, 5, 0.8), edges_to(1024)
    search = ClampSearch(edges, Fraction(3, 10), units=1, guess=7)  # 128, an eighth of what is allowed
    units = by_edges([(rows, np.ones(len(rows), dtype=int))], edges)
    chance = flipped(search.scores(units), float(search.exponent))
    places = np.arange(len(edges))
    axes.bar(
        places - 0.2, np.array(units[:-1]) / len(rows), 0.4, color=PALE, edgecolor=INK, label="people who have so many"
    )
    axes.bar(places + 0.2, chance, 0.4, color=INK, label="chance of being the clamp")
    axes.axvline(len(edges) - 1, color=INK, linestyle="--", linewidth=1)
    axes.text(len(edges) - 1.1, 0.5, "the policy\nallows 1,024", ha="right", va="center", color=INK)
    axes.set(
        xlabel="rows of one person, up to",
        yticks=[0, 0.5, 1],
        yticklabels=["0", "50%", "100%"],
        ylim=(0, 1.02),
        title="COUNT(*) of 20,000 people, epsilon 1",
    )
    axes.set_xticks(places, [f"{edge:,}" for edge in edges])
    axes.legend(frameon=False, loc="upper left")
    save(figure, "clamped")


def flipped(scores: Sequence[int], exponent: float) -> Any:
    """The chances of permute-and-flip, which is the largest score after exponential noise (Ding et al. 2021)."""
    behind = exponent * (max(scores) - np.array(scores, dtype=float))
    noise = np.linspace(0, 60, 60_001)  # of the candidate, in nats
    chance = []
    for own in behind:
        # The others stay below: 1 - e^-(noise - own + theirs), each where that is positive.
        room = np.clip(noise[:, None] - own + behind[None, :], 0, None)
        below = np.prod(1 - np.exp(-room), axis=1) / np.where(noise > 0, 1 - np.exp(-noise), np.inf)
        chance.append(float(np.trapezoid(np.exp(-noise) * below, noise)))
    return np.array(chance)


def capped() -> None:
    """Noised numbers of people by their rows, and what a cap costs: noise that grows, rows that shift."""
    figure, axes = drawn("capped", height=2.9)
    held = Contribution(rows=1024, groups=1, rows_in_group=1024)
    release = release_of("quantile_cont", Price(Fraction(1), Fraction(0)), Grid(Fraction(1), 0, 1000), held=held)
    edges, extent = release.search.edges, 1000  # the rows lie all over the bounds
    rows = visits(3_000, 5, 0.7)
    ranks = np.searchsorted(np.array(edges), rows)
    raw = RawTable({"rank": ranks.tolist(), "units": [1] * len(ranks)})
    sizes, places = release.search.believed(release.search.counted(raw, ExactSampler())), range(len(edges))
    noise = [100 * release.inners[at].foreseen(release.rows(sizes, at), extent) / extent for at in places]
    shift = [100 * release.share(sizes, at) for at in places]
    axes.plot(places, noise, "-o", color=INK, markersize=3, label="noise")
    axes.plot(places, shift, "--s", color=MIDDLE, markersize=3, label="rows left out may shift it so far")
    best = release.widest(sizes)
    axes.axvspan(best - 0.3, best + 0.3, color=PALE, alpha=0.6, zorder=0)
    axes.text(best + 0.4, 26, f"shortest interval:\n{edges[best]} rows of each", va="center")
    axes.text(len(edges) - 1, 40, "what the policy\nallows", ha="right", va="center")
    axes.set(xlabel="rows of each person that count, at most", ylabel="error, in % of the rows", ylim=(0, 45))
    axes.set_title("MEDIAN over the rows of 3,000 people, epsilon 1")
    axes.set_xticks(places, [f"{edge:,}" for edge in edges])
    axes.legend(frameon=False, loc="upper left", bbox_to_anchor=(0.12, 1))
    save(figure, "capped")


def top_k() -> None:
    """How often each of forty towns is among the first five: chosen, and cut from noise on all."""
    figure, axes = drawn("top_k", height=2.9)
    people = (700 * 0.93 ** np.arange(40)).astype(int)
    first, draws, epsilon, sampler = 5, 1_000, Fraction(1), ExactSampler()
    half = epsilon / 2
    offer = TopKRelease(
        "top_k",
        Pure(half),
        None,
        exponent=half / first,
        count=first,
        largest=True,
        listed=40,
        step=Fraction(1),
        reach=1,
    )
    raw, law = RawTable({"m0": people.tolist()}), LaplaceLaw(40 / epsilon)
    chosen, cut = np.zeros(40), np.zeros(40)
    for _ in range(draws):
        chosen[list(offer.selected(offer.release(raw, sampler)))] += 1
        all_of_them = noised(people.tolist(), law.draw(sampler, 40))
        cut[np.argsort([-number for number in all_of_them], kind="stable")[:first]] += 1
    towns = np.arange(1, 41)
    axes.bar(towns, chosen / draws, color=INK, width=0.8, label="top_k")
    axes.step(
        towns, cut / draws, where="mid", color=MIDDLE, linestyle="--", linewidth=1.5, label="noise on all 40, then cut"
    )
    axes.axvline(5.5, color=INK, linewidth=0.8, linestyle=":")
    axes.text(5.7, 1.02, "the true first five", va="bottom")
    axes.set(xlabel="town, by its true place", ylabel="answers that name it", xlim=(0.3, 20.5), ylim=(0, 1.14))
    axes.set_yticks([0, 0.5, 1], ["none", "half", "all"])
    axes.set_title("the first five of 40 towns, epsilon 1", fontsize=11)
    axes.set_xticks([1, 5, 10, 15, 20])
    axes.legend(frameon=False)
    save(figure, "top_k")


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
    for picture in (noise, many, clamped, groups, top_k, median, capped, window, metric):
        picture()
