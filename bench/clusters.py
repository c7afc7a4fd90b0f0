"""Clusters and covariances by their core, at many prices: how good they are, how often there is no answer, how long.

    python bench/clusters.py            # writes the tables of docs/friendly_core.md
    python bench/clusters.py --quick    # prints a smaller trial

Eight clusters in the disc of radius 1 (standard deviation 0.02, centres at least 0.25 apart); two normal distributions
in 50 dimensions around corners of a cube; correlations of normal pairs. Beside clusters stands a rival by
locality-sensitive hashing (hashing.py).
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from fractions import Fraction
from pathlib import Path

import numpy as np
import numpy.typing as npt

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from bench.hashing import centres_by_hashing
from bench.page import ROOT, circumstances, table, write
from dpsql.mechanisms.base import Price
from dpsql.mechanisms.friendly_core.clusters import k_means, plan_k_means
from dpsql.mechanisms.friendly_core.covariance import covariance
from dpsql.privacy.sampling import ExactSampler

Floats = npt.NDArray[np.float64]

PAGE = ROOT / "docs" / "friendly_core.md"
ADD, SWAP = "add_remove", "replace_one"


def priced(text: str) -> Price:
    """``rho 1`` or ``epsilon 2`` with the delta of its kind."""
    kind, amount = text.split()
    if kind == "rho":
        return Price(None, Fraction(1, 10**8), Fraction(amount))
    return Price(Fraction(amount), Fraction(1, 10**6))


def discs(n: int, seed: int) -> tuple[Floats, Floats]:
    """(n, 2) points of eight clusters, and their (8, 2) centres."""
    rng = np.random.default_rng(seed)
    centres: list[Floats] = []
    while len(centres) < 8:
        centre = rng.uniform(-0.95, 0.95, 2)
        if np.linalg.norm(centre) < 0.95 and all(np.linalg.norm(centre - other) >= 0.25 for other in centres):
            centres.append(centre)
    truth = np.array(centres)
    return truth[rng.integers(0, 8, n)] + rng.normal(0, 0.02, (n, 2)), truth


def cost(points: Floats, centres: Floats) -> float:
    """Sum of squared distances from the nearest centre."""
    return float(np.min([((points - centre) ** 2).sum(axis=1) for centre in centres], axis=0).sum())


def eight_clusters(runs: int, cases: list[tuple[int, str, str, int | None]]) -> Iterator[list[str]]:
    """One row a case: how often there was an answer, its cost beside the true centres', the time of one run."""
    for n, price, neighbours, parts in cases:
        plan = plan_k_means(8, priced(price), neighbours, parts)
        ratios, rival, seconds = [], [], []
        for seed in range(runs):
            points, truth = discs(n, seed)
            hashed = centres_by_hashing(points, 8, 1, priced(price), neighbours, seed)
            rival.append(cost(points, hashed) / cost(points, truth))
            start = time.perf_counter()
            found = k_means(points, 8, 1, (0.001, 1), priced(price), neighbours, ExactSampler(), parts)
            seconds.append(time.perf_counter() - start)
            if found is not None:
                ratios.append(cost(points, found) / cost(points, truth))
        worst = f"{np.median(ratios):.4f} ({max(ratios):.4f})" if ratios else ""
        yield [price, neighbours, f"{n:,}", str(plan.parts), f"{len(ratios)} of {runs}", worst,
               f"{np.median(rival):.4f} ({max(rival):.4f})", f"{min(seconds):.1f}"]  # fmt: skip


def two_gaussians(runs: int, cases: list[tuple[int, str, str, int | None]]) -> Iterator[list[str]]:
    """One row a case: the share of rows whose nearest centre is their own, beside that of the true centres."""
    for n, price, neighbours, parts in cases:
        plan = plan_k_means(2, priced(price), neighbours, parts)
        shares, best, rival, seconds = [], [], [], []
        for seed in range(runs):
            rng = np.random.default_rng(seed)
            truth = rng.integers(0, 2, (2, 50)).astype(np.float64)
            labels = rng.integers(0, 2, n)
            points = truth[labels] + rng.normal(0, 1, (n, 50))
            best.append(_told_apart(points, labels, truth))
            hashed = centres_by_hashing(points, 2, 14, priced(price), neighbours, seed)
            rival.append(_told_apart(points, labels, hashed))
            start = time.perf_counter()
            found = k_means(points, 2, 14, (0.05, 20), priced(price), neighbours, ExactSampler(), parts)
            seconds.append(time.perf_counter() - start)
            if found is not None:
                shares.append(_told_apart(points, labels, found))
        got = f"{np.median(shares):.4f}" if shares else ""
        answered = f"{len(shares)} of {runs}"
        yield [price, neighbours, f"{n:,}", str(plan.parts), answered, got, f"{np.median(rival):.4f}",
               f"{np.median(best):.4f}", f"{min(seconds):.1f}"]  # fmt: skip


def _told_apart(points: Floats, labels: npt.NDArray[np.int64], centres: Floats) -> float:
    distances = [((points - centre) ** 2).sum(axis=1) for centre in centres]
    share = float(((distances[1] < distances[0]) == labels).mean())
    return max(share, 1 - share)


def correlations(runs: int, cases: list[tuple[str, int, int]]) -> Iterator[list[str]]:
    """One row a case: the error of the correlation 0.6 of normal pairs."""
    law = np.array([[1.0, 0.6], [0.6, 1.0]])
    for price, parts, rows in cases:
        found, seconds = [], []
        for seed in range(runs):
            points = np.random.default_rng(seed).multivariate_normal([50, -3], law, parts * rows)
            start = time.perf_counter()
            matrix = covariance(points, priced(price), ExactSampler(), parts)
            seconds.append(time.perf_counter() - start)
            if matrix is not None:
                found.append(matrix[0, 1] / np.sqrt(matrix[0, 0] * matrix[1, 1]) - 0.6)
        error = f"{np.sqrt(np.mean(np.square(found))):.4f}" if found else ""
        yield [price, f"{parts * rows:,}", str(parts), f"{len(found)} of {runs}", error, f"{min(seconds):.1f}"]


def main(quick: bool) -> None:
    """All tables."""
    runs = 2 if quick else 5

    def shown(section: str, titles: list[str], rows: Callable[[], Iterator[list[str]]]) -> None:
        write(section, [*table(titles, rows()), "", circumstances()], page=PAGE, only_print=quick)

    discs_at = [
        (6_000, "rho 1", ADD, None), (12_000, "rho 1", ADD, None),
        (24_000, "rho 1", ADD, None), (60_000, "rho 1", ADD, 1000), (60_000, "rho 1", SWAP, 1000),
        (24_000, "rho 1", ADD, 200), (60_000, "rho 1/2", ADD, None),
        (24_000, "epsilon 3", ADD, None), (60_000, "epsilon 1", ADD, None), (200_000, "epsilon 1", ADD, None),
    ]  # fmt: skip
    shown(
        "eight clusters",
        [
            "price",
            "neighbours",
            "rows",
            "parts",
            "answers",
            "cost beside the true centres', median (largest)",
            "by hashing",
            "s",
        ],
        lambda: eight_clusters(runs, discs_at[:2] if quick else discs_at),
    )
    gaussians_at = [
        (360_000, "rho 1", ADD, None), (600_000, "rho 1", SWAP, 1000), (60_000, "rho 1", ADD, None),
        (300_000, "epsilon 3", ADD, None),
    ]  # fmt: skip
    shown(
        "two gaussians",
        ["price", "neighbours", "rows", "parts", "answers", "told apart", "by hashing", "by the true centres", "s"],
        lambda: two_gaussians(1 if quick else 2, gaussians_at[:1] if quick else gaussians_at),
    )
    pairs_at = [("epsilon 1", 1000, 100), ("epsilon 1", 2000, 100), ("epsilon 1", 1000, 400), ("epsilon 3", 500, 100)]
    shown(
        "correlations",
        ["price", "rows", "parts", "answers", "root mean square error", "s"],
        lambda: correlations(runs if quick else 20, pairs_at[:1] if quick else pairs_at),
    )


if __name__ == "__main__":
    main("--quick" in sys.argv[1:])
