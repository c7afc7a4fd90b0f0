"""Metric privacy in figures: improvement over plain noise, sharing among queries, thresholds, and the time it takes.

    python bench/metric.py [--only SECTION ...] [--only-print] [--largest N]

Sections: plane, cities, several, ranges, thresholds, time. Writes the tables of docs/metric.md. The improvement factor
of a query is the scale of plain Laplace noise, at the epsilon of the two closest values, over the scale that its metric
asks for. `--largest` is the most points of the timings.
"""

from __future__ import annotations

import argparse
import csv
import statistics
import time
from collections.abc import Callable, Sequence
from fractions import Fraction

import numpy as np
import numpy.typing as npt
from page import ROOT, circumstances, table, write
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components

from dpsql.mechanisms.metric import (
    STRATEGIES,
    Chain,
    Discrete,
    Lines,
    Pairs,
    Points,
    Product,
    Query,
    Star,
    branch_release,
    together,
)
from dpsql.mechanisms.metric.distances.slopes import slope_of_pairs
from dpsql.mechanisms.metric.release.strategies import RATIO, optimum

PAGE = ROOT / "docs" / "metric.md"
CITIES = ROOT / "examples" / "data" / "us_cities_50k.csv"
SIDE = 100  # of the lattice
FINE = 2**30  # steps of a random coefficient
KINDS = ("uniform", "binary")

Integers = npt.NDArray[np.int64]


def lattice(seed: int, size: int) -> list[list[int]]:
    """Different points of the lattice."""
    chosen = np.random.default_rng(seed).choice(SIDE * SIDE, size=size, replace=False)
    return np.stack(np.divmod(chosen, SIDE), axis=1).tolist()


def coefficients(rng: np.random.Generator, kind: str, size: int) -> Integers:
    """One query: numbers of [0, 1] in fine steps, or 0 and 1."""
    return np.round(rng.random(size) * FINE).astype(np.int64) if kind == "uniform" else rng.integers(0, 2, size)


def improvement(metric: Points, query: Integers, closest: float) -> float:
    """Range / closest distance, over the scale under the metric."""
    return float(np.ptp(query)) / closest / float(metric.slope(Lines(query[None, :])))


def closest_of(metric: Points) -> float:
    """The least distance of two values."""
    pairs = metric.pairs()
    assert pairs is not None
    return float(int(pairs.distance.min()) * pairs.unit)


def summary(factors: Sequence[float]) -> list[str]:
    """Mean, median, 95th percentile, maximum, share above 7.5."""
    high = np.mean(np.array(factors) > 7.5)
    middle = [statistics.fmean(factors), statistics.median(factors), float(np.quantile(factors, 0.95)), max(factors)]
    return [*(f"{number:.2f}" for number in middle), f"{high:.1%}"]


TITLES = ("mean", "median", "95%", "most", "above 7.5")


def plane(_: int) -> list[str]:
    """Random queries over random points, ten times a thousand."""
    rows = []
    for size in (50, 100, 200, 500):
        for kind in KINDS:
            factors = []
            for seed in range(10):
                metric = Points.of(lattice(seed, size), Fraction(1))
                rng, closest = np.random.default_rng(seed + 100), closest_of(metric)
                queries = [coefficients(rng, kind, size) for _ in range(1000)]
                factors += [improvement(metric, query, closest) for query in queries if np.ptp(query)]
            rows.append([f"{size} points, {kind}", *summary(factors)])
    return table(["10 lattices of 100 x 100, 1000 queries each", *TITLES], rows)


def cities(_: int) -> list[str]:
    """Random queries over the cities, and queries that mean something."""
    with CITIES.open() as file:
        found = list(csv.DictReader(file))

    def column(name: str, steps: int) -> Integers:
        return np.array([round(float(city[name]) * steps) for city in found])

    lon, lat, height = column("lon", 10**5), column("lat", 10**5), column("elevation_m", 1)
    metric = Points.of(np.stack([lon, lat], axis=1).tolist(), Fraction(1, 10**5))
    closest, rows = closest_of(metric), []
    for kind in KINDS:
        rng = np.random.default_rng(0)
        factors = [improvement(metric, coefficients(rng, kind, len(found)), closest) for _ in range(2000)]
        rows.append([f"2000 queries, {kind}", *summary(factors)])
    meant = {
        "SUM(elevation)": height,
        "SUM(latitude)": lat,
        "COUNT, longitude < -100": (lon < -100 * 10**5).astype(np.int64),
        "COUNT, elevation > 1000 m": (height > 1000).astype(np.int64),
        "SUM(rank by population)": np.argsort(np.argsort(-column("population", 1))),
    }
    lines = table([f"{len(found)} cities, distance in degrees", *TITLES], rows)
    named = [[name, f"{improvement(metric, query, closest):.1f}"] for name, query in meant.items()]
    return [*lines, "", *table(["query", "improvement"], named)]


def several(_: int) -> list[str]:
    """K queries over 100 points: the mean of 20 matrices' geometric mean improvement."""
    metric, rows = Points.of(lattice(1, 100), Fraction(1)), []
    pairs, closest = metric.pairs(), closest_of(metric)
    assert pairs is not None
    apart = pairs.distance * float(pairs.unit)
    ways: dict[str, Callable[[npt.NDArray[np.float64]], npt.NDArray[np.float64]]] = {
        **{name: lambda moves, name=name: STRATEGIES[name](moves, np.ones(moves.shape[1])) for name in STRATEGIES},
        "optimum": lambda moves: optimum(moves, np.ones(moves.shape[1]), RATIO),
    }
    for kind in KINDS:
        for size in (1, 2, 4, 6, 8, 10):
            rng, scores = np.random.default_rng(200 + size), []
            for _ in range(20):
                matrix = rng.random((size, 100)) if kind == "uniform" else rng.integers(0, 2, (size, 100)).astype(float)
                costs = np.abs(matrix[:, pairs.one] - matrix[:, pairs.other])
                plain = costs.sum(axis=0).max() / closest
                scores.append([np.exp(np.log(way((costs / apart).T) * plain).mean()) for way in ways.values()])
            means = np.mean(scores, axis=0)
            rows.append([f"{kind}, K = {size}", *(f"{mean:.2f}" for mean in means)])
    return table(["100 points", *(name.replace("_", " ") for name in ways)], rows)


def ranges(_: int) -> list[str]:
    """Random ranges of 100 ages, 1/10 a year: the root mean square error of an answer at multiple 1."""
    metric, rows = Product((Chain.even(100, Fraction(1, 10)),)), []
    for size in (1, 2, 5, 10, 20, 50):
        rng, found = np.random.default_rng(300 + size), []
        for _ in range(5):
            ends = np.sort([rng.choice(101, size=2, replace=False) for _ in range(size)], axis=1)
            matrix = np.array([(np.arange(100) >= low) & (np.arange(100) < high) for low, high in ends]).astype(
                np.int64
            )
            variances = [together(metric, [Query(row) for row in matrix], name).variances for name in STRATEGIES]
            release = branch_release(metric.attributes[0], matrix, presence=None)
            assert release is not None
            found.append([np.mean(each) for each in (*variances, release.variances(matrix))])
        rows.append([f"{size} ranges", *(f"{root:.1f}" for root in np.sqrt(np.mean(found, axis=0)))])
    return table(["epsilon 0.1 a year", *(name.replace("_", " ") for name in STRATEGIES), "branches"], rows)


def thresholds(_: int) -> list[str]:
    """Blowfish over 100 points of the unit square: mean scale of 1000 queries, and improvement over plain noise."""
    points, rows = lattice(1, 100), []
    everywhere = Points.of(points, Fraction(1))
    rng = np.random.default_rng(5)
    queries = [coefficients(rng, "uniform", 100) for _ in range(1000)]
    plain = np.array([np.ptp(query) / FINE * 10 for query in queries])
    for theta in (5, 10, 20, 30, 50, 80, 150):
        near = [(u, v) for u in range(100) for v in range(u) if everywhere.distance(u, v) <= theta]
        smooth = Points.of(points, Fraction(1, 10 * theta), least=theta)
        ends = np.array(near).T
        # Hops' own pairs: with a small theta the points fall apart, which `Table.of_graph` refuses.
        hops = Pairs(ends[0], ends[1], np.ones(len(near), dtype=np.int64), Fraction(1, 10))
        whole = connected_components(csr_array((np.ones(len(near)), ends), shape=(100, 100)), directed=False)[0] == 1
        cells = [f"theta = {theta / 100:.2f}" + ("" if whole else " (falls apart)")]
        for slope in (lambda lines, hops=hops: slope_of_pairs(lines, hops), smooth.slope):
            scales = np.array([float(slope(Lines(query[None, :]))) / FINE for query in queries])
            cells += [f"{scales.mean():.2f}", f"{(plain / scales).mean():.2f}"]
        rows.append(cells)
    return table(["epsilon = 0.1", "hops: scale", "improvement", "smooth: scale", "improvement"], rows)


def timings(largest: int) -> list[str]:
    """Seconds of processor time to the scale of one query."""
    rng, rows = np.random.default_rng(0), []

    def timed(name: str, cells: int, find: Callable[[], object]) -> None:
        started = time.process_time()
        find()
        rows.append([name, f"{cells:,}", f"{time.process_time() - started:.2f}"])

    rays = [Fraction(int(ray), 10) for ray in rng.integers(1, 20, size=100)]
    products = {
        "chain": Product((Chain.even(10**6, Fraction(1, 100)),)),
        "sum of chain, discrete, star": Product(
            (Chain.even(1000, Fraction(1, 20)), Discrete(10, Fraction(1, 2)), Star.of(rays))
        ),
        "sup of discrete": Product(tuple(Discrete(100, Fraction(1, n)) for n in (1, 2, 3)), "sup"),
    }
    for name, product in products.items():
        query = Query(rng.integers(0, 1000, size=product.sizes))
        timed(name, query.cells, lambda product=product, query=query: product.lipschitz(query))
    for size in (10**5, 10**6):
        if size > largest:
            continue
        points = np.unique(rng.integers(0, 2**27, size=(size, 2)), axis=0)
        metric = Points(points, Fraction(1))
        waves = np.sin(points[:, 0] / 2**25) * np.cos(points[:, 1] / 2**25) * 10**9
        queries = {
            "white noise": rng.integers(0, 10**6, size=len(points)),
            "smooth": waves.astype(np.int64),
            "half-plane": (points.sum(axis=1) > 2**27).astype(np.int64),
            "a coordinate": points[:, 0],
        }
        for name, query in queries.items():
            timed(
                f"points, {name}", len(points), lambda query=query, metric=metric: metric.slope(Lines(query[None, :]))
            )
    return table(["metric", "cells", "seconds"], rows)


SECTIONS = {
    "plane": plane,
    "cities": cities,
    "several": several,
    "ranges": ranges,
    "thresholds": thresholds,
    "time": timings,
}


def main() -> None:
    """Writes the sections asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", nargs="*", choices=list(SECTIONS), default=list(SECTIONS))
    parser.add_argument("--only-print", action="store_true")
    parser.add_argument("--largest", type=int, default=10**6)
    given = parser.parse_args()
    for name in given.only:
        lines = SECTIONS[name](given.largest)
        about = ["", circumstances()] if name == "time" else []
        write(name, [*lines, *about], page=PAGE, only_print=given.only_print)


if __name__ == "__main__":
    main()
