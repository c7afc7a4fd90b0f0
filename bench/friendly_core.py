"""Means by FriendlyCore in figures: error beside CoinPress and Karwa-Vadhan, the lean of skewed data, time, a demo.

    python bench/friendly_core.py error     # against the bound R, the dimension d and the number of rows n
    python bench/friendly_core.py lean      # skewed data: how far the answer is from the mean of all rows
    python bench/friendly_core.py cost      # yearly cost of a patient, in SQL, beside a mean clamped to loose bounds
    python bench/friendly_core.py place     # where patients live on average, in SQL, likewise
    python bench/friendly_core.py time      # seconds and memory of one mean of 10^4 to 10^6 rows
    python bench/friendly_core.py figure    # the tables of `error` and `time`, as they stand on the page, drawn
    python bench/friendly_core.py           # all of these

`error` follows section 6.1 of Tsfadia et al. 2022: N(mu, I), rho = 1, delta = 1e-8, 800 rows, the distance from mu,
averaged over the runs without the least and the greatest tenth. Each table goes to docs/friendly_core.md.
"""

from __future__ import annotations

import math
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from pathlib import Path

import duckdb
import numpy as np
from scipy.stats import norm

import dpsql.testing
from dpsql.mechanisms.friendly_core.place import PlaceByNoise
from dpsql.mechanisms.friendly_core.prices import Setting, best_for_epsilon, best_for_rho
from dpsql.privacy.sampling import ExactSampler

sys.path.insert(0, str(Path(__file__).resolve().parent))
from page import ROOT, circumstances, table, write

PAGE = ROOT / "docs" / "friendly_core.md"
FIGURE = ROOT / "docs" / "figures" / "friendly_core.svg"
RHO, DELTA, ROWS = Fraction(1), Fraction(1, 10**8), 800
GRID = 1000  # steps in a standard deviation
SAMPLER = ExactSampler()
RNG = np.random.default_rng(2022)

Points = np.ndarray
Estimate = Callable[[Points, float], np.ndarray]


# ------------------------------------------------------------------------------------------------------- estimators


def radius(points: Points) -> float:
    """The diameter of nearly all N(mu, I) data, which the paper takes as known."""
    n, d = points.shape
    return math.sqrt(2) * (math.sqrt(d) + math.sqrt(math.log(100 * n)))


def on_grid(points: Points) -> Points:
    return np.rint(points * GRID).astype(np.int64)


def paper(points: Points, _: float) -> np.ndarray:
    """The filter and the friendly average, nothing else."""
    found = PlaceByNoise(RHO, DELTA).find(on_grid(points), math.ceil(radius(points) * GRID), len(points), SAMPLER)
    return (
        np.full(points.shape[1], np.nan)
        if found is None
        else np.array([float(s * found.step) for s in found.steps]) / GRID
    )


def located(points: Points, _: float) -> np.ndarray:
    """What dpsql offers: the place, then a clamped mean there."""
    n, d = points.shape
    reach = math.ceil(radius(points) * GRID)
    bought = best_for_rho(RHO, DELTA, Setting(n, GRID, reach, reach, d))
    found = None if bought is None else bought.parts.run(on_grid(points), SAMPLER)
    return np.full(d, np.nan) if found is None else np.array([float(x) for x in found.mean]) / GRID


def coinpress(steps: int) -> Estimate:
    """CoinPress (Biswas, Dong, Kamath, Ullman 2020), after its authors' code; n is public, a neighbour swaps a row."""

    def estimate(points: Points, bound: float) -> np.ndarray:
        n, d = points.shape
        centre, reach = np.zeros(d), bound
        shares = [float(RHO) / 4 / (steps - 1)] * (steps - 1) + [0.75 * float(RHO)]
        for share in shares:
            tail = math.sqrt(d + 2 * math.sqrt(d * math.log(100)) + 2 * math.log(100))
            clip = reach + math.sqrt(d + 2 * math.sqrt(d * math.log(n / 0.01)) + 2 * math.log(n / 0.01))
            left = points - centre
            norms = np.linalg.norm(left, axis=1, keepdims=True)
            clipped = left * np.minimum(1, clip / norms)
            spread = 2 * clip / n / math.sqrt(2 * share)
            centre = centre + clipped.mean(axis=0) + spread * RNG.standard_normal(d)
            reach = math.sqrt(1 / n + spread**2) * tail
        return centre

    return estimate


def karwa_vadhan(points: Points, bound: float) -> np.ndarray:
    """Karwa, Vadhan 2018, one coordinate at a time: a noisy histogram of bins of one deviation, then a clamped mean."""
    n, d = points.shape
    each = float(RHO) / d
    noise = 1 / math.sqrt(each / 2)  # of counts: a swap moves two of them by 1, at half of the coordinate's share
    bins = math.ceil(2 * bound)
    means = np.empty(d)
    for at, column in enumerate(points.T):
        occupied, counts = np.unique(np.floor(column), return_counts=True)
        noisy = counts + noise * RNG.standard_normal(len(counts))
        empty = max(1, bins - len(counts))
        highest = noise * norm.ppf(RNG.random() ** (1 / empty))  # the greatest of so many empty bins
        place = occupied[noisy.argmax()] + 0.5 if noisy.max() > highest else RNG.uniform(-bound, bound)
        clip = 1 + math.sqrt(2 * math.log(2 * n / 0.01))
        clipped = np.clip(column, place - clip, place + clip).mean()
        means[at] = clipped + 2 * clip / n / math.sqrt(2 * each / 2) * RNG.standard_normal()
    return means


def plain(points: Points, _: float) -> np.ndarray:
    return points.mean(axis=0)


# ------------------------------------------------------------------------------------------------------------ tables


def trimmed(estimate: Estimate, n: int, d: int, bound: float, runs: int) -> str:
    """The mean distance from mu of the middle eight tenths of the runs; mu lies anywhere at half the bound."""
    errors = []
    for _ in range(runs):
        direction = RNG.standard_normal(d)
        mu = direction / np.linalg.norm(direction) * bound / 2
        errors.append(float(np.linalg.norm(estimate(mu + RNG.standard_normal((n, d)), bound) - mu)))
    middle = sorted(errors)[runs // 10 : runs - runs // 10]
    return "none" if math.isnan(sum(middle)) else f"{np.mean(middle):.3g}"


def error() -> None:
    ours: dict[str, Estimate] = {"FriendlyCore, as in the paper": paper, "located, as in dpsql": located}
    steps = {f"CoinPress, {t} steps": coinpress(t) for t in (2, 4, 10)}
    bounds = [10**2, 10**3, 10**4, 10**5, 10**6]
    lines = ["Against the bound R on the norm of the mean, d = 1000, n = 800:", ""]
    rows = [[name, *(trimmed(f, ROWS, 1000, r, 10) for r in bounds)] for name, f in {**ours, **steps}.items()]
    lines += table(["", *(f"R = 10^{round(math.log10(r))}" for r in bounds)], rows)
    dimensions = [1, 10, 100, 500, 1000]
    others: dict[str, Estimate] = {**ours, **steps, "Karwa-Vadhan": karwa_vadhan, "not private": plain}
    rows = [
        [name, *(trimmed(f, ROWS, d, 50 * math.sqrt(d), 60 if d <= 10 else 10) for d in dimensions)]
        for name, f in others.items()
    ]
    lines += [
        "",
        "Against the dimension, R = 50 sqrt(d), n = 800:",
        "",
        *table(["", *(f"d = {d}" for d in dimensions)], rows),
    ]
    sizes = [700, 1000, 2000, 4000]
    for d in (1, 10):
        few = {**ours, "CoinPress, 4 steps": coinpress(4), "Karwa-Vadhan": karwa_vadhan, "not private": plain}
        rows = [[name, *(trimmed(f, n, d, 50 * math.sqrt(d), 60) for n in sizes)] for name, f in few.items()]
        lines += [
            "",
            f"Against the number of rows, R = 50 sqrt(d), d = {d}:",
            "",
            *table(["", *(f"n = {n}" for n in sizes)], rows),
        ]
    write("means", [*lines, "", circumstances()], page=PAGE)


SKEWED: dict[str, Callable[[int], np.ndarray]] = {
    "normal": RNG.standard_normal,
    "exponential": RNG.standard_exponential,
    "lognormal(0, 1)": lambda n: RNG.lognormal(0, 1, n),
    "1 in 100 at 30 sd": lambda n: RNG.standard_normal(n) + 30 * (RNG.random(n) < 0.01),
}


def lean() -> None:
    rows = []
    for name, draw in SKEWED.items():
        deviation = float(draw(10**6).std())
        for n in (1000, 10_000, 100_000):
            setting = Setting(n, deviation * GRID, GRID // 1000, 10**6 * GRID, 1)
            bought = best_for_epsilon(Fraction(1), Fraction(1, 10**6), setting)
            if bought is None:
                continue
            errors = []
            for _ in range(40):
                values = draw(n)
                found = bought.parts.run(np.rint(values * GRID).astype(np.int64)[:, None], SAMPLER)
                if found is not None:
                    errors.append((float(found.mean[0]) / GRID - values.mean()) / deviation)
            rows.append([f"{name}, n = {n:,}", f"{np.mean(errors):+.4f}", f"{np.sqrt(np.mean(np.square(errors))):.4f}"])
    titles = ["data", "mean of the errors, in standard deviations", "root of their mean square"]
    write("lean", [*table(titles, rows), "", circumstances()], page=PAGE)


POLICY = """
version: 1
name: clinic
engine: {{kind: duckdb, database: clinic.duckdb}}
neighbours: add_remove
budget:
  ledger: clinic.ledger.db
  composition: basic
  total: {{epsilon: 1000, delta: 1.0e-3}}
  analysts: {{"*": {{epsilon: 1000, delta: 1.0e-3}}}}
  per_query: {{epsilon: 1, delta: 1.0e-6}}
tables:
  visits:
    unit: patient_id
    rows_per_unit: 12
    rows_about: 20000
    columns:
      cost: {{type: real, grid: 0.01, scale: [0.1, 100000]{bounds}}}
  patients:
    unit: patient_id
    rows_per_unit: 1
    rows_about: 5000
    columns:
      east: {{type: real, grid: 0.01, scale: [0.1, 100000]{bounds}}}
      north: {{type: real, grid: 0.01, scale: [0.1, 100000]{bounds}}}
"""
NORMAL = "sqrt(-2 * ln(1 - random())) * cos(2 * pi() * random())"
YEARLY = "SELECT AVG(s) AS cost_{0} FROM (SELECT patient_id, SUM(cost) AS s FROM visits GROUP BY patient_id) AS t"
HOME = "SELECT AVG(east) AS east_{0}, AVG(north) AS north_{0} FROM patients"


def beside_bounds(asked: str, exact: Sequence[float], highest: Sequence[int], folder: Path) -> list[list[str]]:
    """The error of a mean without bounds and with ever looser ones: 30 answers each, distances from the exact mean."""
    rows = []
    for mechanism, bounds in [("friendly_core", ""), *(("laplace", f", bounds: [0, {high}]") for high in highest)]:
        (folder / "clinic.yaml").write_text(POLICY.format(bounds=bounds))
        with dpsql.testing.open(folder / "clinic.yaml", sampler=dpsql.testing.FixedSampler(2022)) as proxy:
            session = proxy.session(analyst="ana")
            # Another name for a column is another question, and not replayed.
            answers = [session.query(asked.format(again), mechanism=mechanism).rows[0] for again in range(30)]
        squares = [sum((x - y) ** 2 for x, y in zip(answer, exact, strict=True)) for answer in answers]
        rows.append([f"`{mechanism}`{bounds or ', no bounds'}", f"{math.sqrt(np.mean(squares)):.3g}"])
    return rows


def made(folder: Path) -> tuple[float, ...]:
    """A clinic's database; the exact mean and deviation of yearly costs, the exact mean place."""
    with duckdb.connect(str(folder / "clinic.duckdb")) as data:
        data.execute(
            "CREATE TABLE visits AS SELECT i % 5000 AS patient_id, round(exp(4.5 + 0.8 * z), 2) AS cost FROM "
            f"(SELECT i, {NORMAL} AS z FROM range(20000) t(i))"
        )
        data.execute(
            f"CREATE TABLE patients AS SELECT i AS patient_id, 4830 + 20 * {NORMAL} AS east, "
            f"520 + 20 * {NORMAL} AS north FROM range(5000) t(i)"
        )
        yearly = "(SELECT sum(cost) AS s FROM visits GROUP BY patient_id)"
        ((cost, deviation, east, north),) = data.execute(
            f"SELECT (SELECT avg(s) FROM {yearly}), (SELECT stddev(s) FROM {yearly}), avg(east), avg(north) "
            "FROM patients"
        ).fetchall()
    return cost, deviation, east, north


def cost() -> None:
    with tempfile.TemporaryDirectory() as name:
        exact, deviation, *_ = made(Path(name))
        rows = beside_bounds(YEARLY, [exact], [2_000, 20_000, 200_000], Path(name))
    lines = [
        f"5,000 patients, four visits each: {exact:.0f} on average, standard deviation {deviation:.0f}; epsilon 1, "
        "delta 1e-6.",
        "",
    ]
    write("cost", [*lines, *table(["", "root of the mean square error"], rows), "", circumstances()], page=PAGE)


def place() -> None:
    with tempfile.TemporaryDirectory() as name:
        *_, east, north = made(Path(name))
        rows = beside_bounds(HOME, [east, north], [10_000, 100_000, 1_000_000], Path(name))
    lines = [
        f"Homes of 5,000 patients, {east:.0f} km east and {north:.0f} km north on average, standard deviation 20 km "
        "either way; epsilon 1, delta 1e-6 for both coordinates.",
        "",
    ]
    write("place", [*lines, *table(["", "root of the mean square distance, km"], rows), "", circumstances()], page=PAGE)


def once(n: int, d: int) -> None:
    """Prints seconds and mebibytes of one located mean."""
    points = np.rint(10**9 + 10**4 * np.random.default_rng(1).standard_normal((n, d))).astype(np.int64)
    bought = best_for_epsilon(Fraction(1), Fraction(1, 10**6), Setting(n, 10**4, 1, 10**9, d))
    if bought is None:
        raise SystemExit("too few rows")
    start = time.perf_counter()
    bought.parts.run(points, SAMPLER)
    print(time.perf_counter() - start, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)


def timing() -> None:
    rows = []
    for d in (1, 2, 10):
        for n in (10**4, 10**5, 10**6):
            command = [sys.executable, __file__, "once", str(n), str(d)]
            out = subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()
            rows.append([f"{n:,} rows, d = {d}", f"{float(out[0]):.2f}", f"{float(out[1]):,.0f}"])
    titles = ["", "seconds", "MiB of the process, data and libraries included"]
    write("time", [*table(titles, rows), "", circumstances()], page=PAGE)


def tables(section: str) -> list[tuple[list[str], dict[str, list[float]]]]:
    """The tables of one section of the page: titles of the columns, and each row's name with its numbers."""
    inside = PAGE.read_text().split(f"<!-- {section}:begin -->")[1].split(f"<!-- {section}:end -->")[0]
    found: list[tuple[list[str], dict[str, list[float]]]] = []
    for line in inside.splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if line.startswith("| ---"):
            continue
        if not line.startswith("|"):
            found.append(([], {}))
        elif not found[-1][0]:
            found[-1] = (cells[1:], {})
        else:
            numbers = (cell.replace(",", "") for cell in cells[1:])
            found[-1][1][cells[0]] = [math.nan if cell == "none" else float(cell) for cell in numbers]
    return [(titles, rows) for titles, rows in found if rows]


def draw() -> None:
    """The figure: error against the bound, the dimension and the rows; seconds against the rows."""
    import matplotlib
    from matplotlib.figure import Figure

    matplotlib.rcParams["svg.hashsalt"] = "friendly_core"  # the same numbers make the same file
    figure = Figure(figsize=(11, 7), layout="constrained")
    panels = figure.subplots(2, 3).flatten()
    names = ("the bound R, d = 1000", "the dimension d", "the rows n, d = 1", "the rows n, d = 10")
    styles = {}
    for panel, name, (titles, rows) in zip(panels, names, tables("means"), strict=False):
        at = [float(number_of(title.split("=")[1])) for title in titles]
        for row, errors in rows.items():
            style = styles.setdefault(row, {"color": f"C{len(styles)}", "marker": "o", "markersize": 3})
            panel.loglog(at, errors, label=row, **style)
        panel.set(xlabel=name, ylabel="distance from the mean")
    ((_, times),) = tables("time")
    for d in (1, 2, 10):
        mine = {row: numbers[0] for row, numbers in times.items() if row.endswith(f"d = {d}")}
        at = [float(row.split(" rows")[0].replace(",", "")) for row in mine]
        panels[4].loglog(at, list(mine.values()), marker="o", markersize=3, label=f"d = {d}")
    panels[4].set(xlabel="the rows n", ylabel="seconds of one mean")
    panels[4].legend(fontsize=8)
    panels[5].axis("off")
    panels[5].legend(handles=panels[1].get_lines(), fontsize=9, loc="center")
    figure.savefig(FIGURE, metadata={"Date": None})
    print(f"figure: {FIGURE}")


def number_of(text: str) -> int:
    """The number that a title names, also as a power.

    >>> number_of(" 10^3"), number_of("700")
    (1000, 700)
    """
    base, _, exponent = text.strip().partition("^")
    return int(base) ** int(exponent or 1)


def main(words: Iterator[str]) -> None:
    match next(words, ""):
        case "":
            for part in (error, lean, cost, place, timing, draw):
                part()
        case "figure":
            draw()
        case "error":
            error()
        case "lean":
            lean()
        case "cost":
            cost()
        case "place":
            place()
        case "time":
            timing()
        case "once":
            once(int(next(words)), int(next(words)))
        case _:
            raise SystemExit(__doc__)


if __name__ == "__main__":
    main(iter(sys.argv[1:]))
