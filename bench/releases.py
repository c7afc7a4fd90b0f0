"""Releases: ranges from noisy cells and trees, and synthetic rows of a wide table beside what else there is.

    python bench/releases.py [ADULT.csv]

*Ranges.* n normal values on 1,024 and 65,536 ordered cells, epsilon 1, one row replaced: the largest error of all
ranges, as a share of n, median of 5 releases; and what one Laplace answer a range would leave of it if 10,000 ranges
shared the price.

*Usefulness.* For alpha from 0.3 to 0.1 the number of rows that theorems ask for, of cuts (`intervals`) and of boxes
(`rectangles`), and the largest error that 20 releases of so many rows had; boxes at epsilon 1,000, for fewer rows.

*Rectangles.* n rows, half of them around two places, on a grid of 64 x 64 x ..: the largest error of 2,000 rectangles,
from boxes (the best of several numbers of parts in hindsight) and from noisy cells.

*The paper's mechanisms.* The same with cuts (`intervals`) and small databases (`smalldb_paths`), 1,024 cells; and MWEM
beside noisy cells on the 3-way tables of ten binary columns.

*Rows.* With a file of whole codes, a line of names and a line for each person (Adult: 48,842 rows, 14 columns): columns
of more than 42 codes are cut into 16 bins of equal width; delta 1e-9, one row more or less. Mean total variation
distance over all pairs and over 200 triples of columns. *Columns alone* draws columns independently from exact
histograms, *direct* puts Gaussian noise on each of the tables asked, for the whole price, and makes them whole rows;
*drawn rows* draws as many of the true rows with replacement. *Uncut* gives the file's own codes to `marginals`, which
cuts long columns itself; its rows are put into the 16 bins afterwards. *mbi* is one release by the extra ``synthetic``,
where it is installed. At last a classifier (scikit-learn) of the last column,
trained on synthetic rows of two thirds of the people, and tried on the others. The tables go to docs/releases.md.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from fractions import Fraction
from itertools import combinations, product
from pathlib import Path

import numpy as np
import numpy.typing as npt

from dpsql.mechanisms.releases.cells import NoisyCells, noisy_cells
from dpsql.mechanisms.releases.graphical import SmallModel, graphical_rows, installed
from dpsql.mechanisms.releases.intervals import noisy_cuts, rows_needed
from dpsql.mechanisms.releases.marginals import noisy_marginals, table_of
from dpsql.mechanisms.releases.mwem import learnt_histogram
from dpsql.mechanisms.releases.payment import Payment
from dpsql.mechanisms.releases.ranges import least_error, noisy_ranges
from dpsql.mechanisms.releases.rectangles import cells_needed, noisy_boxes
from dpsql.mechanisms.releases.rectangles import rows_needed as boxes_needed
from dpsql.mechanisms.releases.rows import synthetic_rows
from dpsql.mechanisms.releases.shares import shared_out
from dpsql.mechanisms.releases.smalldb_paths import small_ordered_database
from dpsql.mechanisms.releases.tree import NoisyTree, noisy_tree
from dpsql.privacy.conversions import rho_of_epsilon
from dpsql.privacy.sampling import ExactSampler

sys.path.insert(0, str(Path(__file__).resolve().parent))
from page import ROOT, circumstances, table, write

PAGE = ROOT / "docs" / "releases.md"
FIGURE = ROOT / "docs" / "figures" / "releases.svg"
SAMPLER = ExactSampler()
EPSILONS = [Fraction(1, 10), Fraction(3, 10), Fraction(1), Fraction(3), Fraction(10)]
DELTA = Fraction(1, 10**9)
RUNS = 5
ASKED = 10**4
Codes = npt.NDArray[np.int64]


def worst(released: NoisyCells | NoisyTree, counts: Codes) -> float:
    """The largest error of all ranges, as a share of the rows."""
    off = np.concatenate([[0], np.cumsum(released.counts - counts)])
    return float((off.max() - off.min()) / counts.sum())


def ranges() -> list[list[str]]:
    """A row for each size."""
    payment, rows = Payment("replace_one", epsilon=Fraction(1)), []
    for cells, n in [(2**10, 2000), (2**10, 20000), (2**10, 200000), (2**16, 20000), (2**16, 200000)]:
        values = np.random.default_rng(7).normal(0.4, 0.1, n)
        counts = np.bincount(np.clip(values * cells, 0, cells - 1).astype(int), minlength=cells)
        found = [
            float(np.median([worst(release(counts, payment, SAMPLER, n), counts) for _ in range(RUNS)]))
            for release in (noisy_cells, noisy_tree, noisy_ranges)
        ]
        plan = least_error(cells, payment, n)[0]
        alone = float(np.log(ASKED) * ASKED / n)  # the largest of so many Laplace draws of this scale, about
        chosen = f"{plan.method}{f' of {plan.branching}' if plan.branching else ''}"
        figures = [f"{x:.4f}" for x in found]
        rows.append([f"{cells:,}, {n:,}", *figures, chosen, f"{plan.deviation / n:.5f}", f"{alone:.3g}"])
    return rows


def paper() -> list[list[str]]:
    """A row for each number of values: cuts and small databases, each the best of several in hindsight."""
    payment, rows, cells = Payment("replace_one", epsilon=Fraction(1)), [], 2**10
    for n in (2000, 20000, 200000):
        values = np.random.default_rng(7).normal(0.4, 0.1, n)
        counts = np.bincount(np.clip(values * cells, 0, cells - 1).astype(int), minlength=cells)
        exact = np.concatenate([[0], np.cumsum(counts)])

        def off(up_to: npt.NDArray[np.float64], exact: Codes = exact) -> float:
            return float(np.ptp(up_to - exact) / exact[-1])

        def cut(parts: int, exact: Codes = exact) -> float:
            released = noisy_cuts(lambda b: int(exact[b]), cells, payment, SAMPLER, int(exact[-1]), parts)
            return off(np.array([released.up_to(b) for b in range(cells + 1)]), exact)

        def small(size: int, counts: Codes = counts, exact: Codes = exact) -> float:
            chosen = small_ordered_database(counts, size, payment, SAMPLER)
            return off(np.concatenate([[0], np.cumsum(chosen)]) * exact[-1] / size, exact)

        cuts = min(float(np.median([cut(parts) for _ in range(RUNS)])) for parts in (8, 16, 32, 64))
        best = min(float(np.median([small(size) for _ in range(3)])) for size in (50, 100))
        noisy = float(np.median([worst(noisy_cells(counts, payment, SAMPLER, n), counts) for _ in range(RUNS)]))
        rows.append([f"1,024, {n:,}", f"{cuts:.4f}", f"{best:.4f}", f"{noisy:.4f}"])
    return rows


def workload() -> list[list[str]]:
    """A row for each number of rows: MWEM, noisy cells, and the uniform histogram."""
    payment, rows = Payment("replace_one", epsilon=Fraction(1)), []
    bits = np.array(list(product([0, 1], repeat=10)))
    triples = [list(triple) for triple in combinations(range(10), 3)]
    asked = np.array([(bits[:, t] == v).all(axis=1) for t in triples for v in product([0, 1], repeat=3)])
    for n in (1000, 10000, 100000):
        rng = np.random.default_rng(11)
        kinds, of_kind = rng.random((4, 10)), rng.integers(0, 4, n)
        cells = (rng.random((n, 10)) < kinds[of_kind]).astype(int) @ 2 ** np.arange(9, -1, -1)
        counts = np.bincount(cells, minlength=1024)

        def error(shown: npt.NDArray[np.float64], counts: Codes = counts) -> tuple[float, float]:
            missed = np.abs(asked @ shown - asked @ counts) / counts.sum()
            return float(missed.max()), float(missed.mean())

        found = [
            [error(learnt_histogram(counts, asked, payment, SAMPLER, n, rounds).cells) for _ in range(3)]
            for rounds in (10, 20, 40)
        ]
        found.append([error(noisy_cells(counts, payment, SAMPLER, n).counts) for _ in range(3)])
        found.append([error(np.full(1024, n / 1024))])
        medians = [np.median(errors, axis=0) for errors in found]
        rows.append([f"{n:,}", *(f"{most:.4f} / {mean:.4f}" for most, mean in medians)])
    return rows


def usefulness() -> list[list[str]]:
    """A row for each alpha and class: the rows that its theorem needs, and how far 20 releases of so many erred."""
    rows = []
    for alpha in (0.3, 0.2, 0.1):
        payment, cells = Payment("replace_one", epsilon=Fraction(1)), 1024
        n = rows_needed(alpha, cells, payment)
        counts = np.bincount(skewed(n, cells), minlength=cells)
        exact = np.concatenate([[0], np.cumsum(counts)])
        found = []
        for _ in range(20):
            cuts = noisy_cuts(lambda b, exact=exact: int(exact[b]), cells, payment, SAMPLER, n)
            found.append(float(np.ptp(np.array([cuts.up_to(b) for b in range(cells + 1)]) - exact)) / n)
        rows.append(["ranges of 1,024 cells", "1", f"{alpha:g}", f"{n:,}", f"{max(found):.4f}"])
    for sizes in ((64, 64), (16, 16, 16)):
        payment, alpha = Payment("replace_one", epsilon=Fraction(1000)), 0.3
        n, parts = boxes_needed(alpha, sizes, payment)
        codes = np.stack([skewed(n, size, seed) for seed, size in enumerate(sizes)], axis=1)
        grid = cumulated(codes, sizes)
        asked = rectangles_asked(sizes)
        found = [
            max(
                abs(released.rectangle(*one) - inside(grid, one)) / n
                for released in [noisy_boxes(codes, sizes, parts, payment, SAMPLER, n)]
                for one in asked[:300]
            )
            for _ in range(2)
        ]
        name = f"rectangles of {' x '.join(map(str, sizes))} cells"
        rows.append([name, "1,000", f"{alpha:g}", f"{n:,}", f"{max(found):.4f}"])
    return rows


def skewed(n: int, cells: int, seed: int = 7) -> Codes:
    """(n,) cells, normal with half of them near the middle."""
    return np.clip(np.random.default_rng(seed).normal(0.4, 0.1, n) * cells, 0, cells - 1).astype(np.int64)


def cumulated(codes: Codes, sizes: Sequence[int]) -> Codes:
    """The numbers of rows up to each point of a grid, on all axes, with a border of zeros."""
    grid = np.bincount(np.ravel_multi_index(tuple(codes.T), tuple(sizes)), minlength=int(np.prod(sizes))).reshape(sizes)
    return border(grid)


def border(grid: npt.NDArray[np.int64]) -> Codes:
    """Sums up to each point."""
    for axis in range(grid.ndim):
        grid = np.cumsum(grid, axis=axis)
    return np.pad(grid, [(1, 0)] * grid.ndim)


def inside(grid: Codes, rectangle: Sequence[tuple[int, int]]) -> int:
    """The rows of a rectangle, from the numbers up to its corners."""
    corners = product(*[((first, -1), (last + 1, 1)) for first, last in rectangle])
    return int(sum(grid[tuple(at for at, _ in corner)] * np.prod([sign for _, sign in corner]) for corner in corners))


def rectangles_asked(sizes: Sequence[int]) -> list[list[tuple[int, int]]]:
    """2,000 rectangles."""
    rng = np.random.default_rng(1)
    drawn = [np.sort(rng.integers(0, size, (2000, 2)), axis=1).tolist() for size in sizes]
    return [[(first, last) for first, last in ends] for ends in zip(*drawn, strict=True)]


def rectangles() -> list[list[str]]:
    """A row for each grid and number of rows."""
    payment, rows = Payment("replace_one", epsilon=Fraction(1)), []
    for sizes, n in [((64, 64), 20000), ((64, 64), 200000), ((32, 32, 32), 20000), ((32, 32, 32), 200000)]:
        rng = np.random.default_rng(2)
        near = np.where(rng.random((n, 1)) < 0.5, 0.3, 0.7)
        codes = np.clip(rng.normal(near, 0.1, (n, len(sizes))) * sizes, 0, np.array(sizes) - 1).astype(np.int64)
        exact, asked = cumulated(codes, sizes), rectangles_asked(sizes)

        def boxes(parts: int, codes: Codes = codes, sizes: Sequence[int] = sizes, exact: Codes = exact) -> float:
            released = noisy_boxes(codes, sizes, parts, payment, SAMPLER, len(codes))
            return max(abs(released.rectangle(*one) - inside(exact, one)) for one in rectangles_asked(sizes)) / len(
                codes
            )

        best = min(float(np.median([boxes(parts) for _ in range(3)])) for parts in (4, 8, 16))
        counts = np.bincount(np.ravel_multi_index(tuple(codes.T), sizes), minlength=int(np.prod(sizes)))
        found = []
        for _ in range(3):
            shown = border(noisy_cells(counts, payment, SAMPLER, n).counts.reshape(sizes))
            found.append(max(abs(inside(shown, one) - inside(exact, one)) for one in asked) / n)
        needs = [boxes_needed(0.3, sizes, payment)[0], cells_needed(0.3, sizes, payment)]
        name = " x ".join(map(str, sizes))
        rows.append([f"{name}, {n:,}", f"{best:.4f}", f"{np.median(found):.4f}", *(f"{need:.2g}" for need in needs)])
    return rows


class Marginals:
    """The exact pairs and triples of a table, and how far others are from them."""

    def __init__(self, codes: Codes, sizes: Sequence[int]) -> None:
        self.codes, self.sizes = codes, sizes
        triples = list(combinations(range(len(sizes)), 3))
        chosen = np.random.default_rng(5).choice(len(triples), min(200, len(triples)), replace=False)
        self.kinds = [list(combinations(range(len(sizes)), 2)), [triples[i] for i in chosen]]
        self.exact = {columns: table_of(codes, sizes, columns) for kind in self.kinds for columns in kind}

    def distances(self, shown: dict[tuple[int, ...], npt.NDArray[np.float64]]) -> tuple[float, float]:
        """Mean total variation distance over the pairs and over the triples, of shares."""
        n = len(self.codes)
        pairs, triples = [
            float(np.mean([np.abs(shown[columns] - self.exact[columns] / n).sum() / 2 for columns in kind]))
            for kind in self.kinds
        ]
        return pairs, triples

    def of_rows(self, rows: Codes) -> tuple[float, float]:
        """The same of synthetic rows."""
        return self.distances({columns: table_of(rows, self.sizes, columns) / len(rows) for columns in self.exact})

    def direct(self, rho: Fraction) -> tuple[float, float]:
        """Noise on each table; pairs and triples each for the whole price."""
        shown, n = {}, np.array([len(self.codes)])
        for kind in self.kinds:
            law = Payment("add_remove", rho=rho).noise(histograms=len(kind))
            for columns in kind:
                exact = self.exact[columns]
                seen = (exact + law.draw(SAMPLER, len(exact))).astype(float)
                shown[columns] = shared_out(seen[None], n)[0] / n
        return self.distances(shown)


def read(file: Path) -> tuple[Codes, list[int]]:
    """The codes of a file, and how many each column has."""
    codes = np.loadtxt(file, delimiter=",", skiprows=1, dtype=np.int64)
    return codes, [int(size) for size in codes.max(axis=0) + 1]


def binned(codes: Codes, sizes: Sequence[int]) -> Codes:
    """The same with long columns cut into 16 bins of equal width."""
    return np.where(np.array(sizes) > 42, codes * 16 // np.array(sizes), codes)


def bins(file: Path) -> tuple[Codes, list[int]]:
    """The codes of a file, long columns cut into 16 bins, and how many codes each column has."""
    codes, sizes = read(file)
    return binned(codes, sizes), [16 if size > 42 else size for size in sizes]


def wide(file: Path) -> list[list[str]]:
    """A row for each epsilon."""
    (own, own_sizes), (codes, sizes) = read(file), bins(file)
    exact, rng, rows = Marginals(codes, sizes), np.random.default_rng(3), []
    alone = exact.of_rows(np.stack([rng.permutation(codes[:, j]) for j in range(len(sizes))], axis=1))
    drawn = exact.of_rows(codes[rng.integers(0, len(codes), len(codes))])
    for epsilon in EPSILONS:
        by_rho = Payment("add_remove", rho=rho_of_epsilon(epsilon, DELTA))
        found: list[list[tuple[float, float]]] = [[], [], []]
        for _ in range(RUNS):
            for place, payment in enumerate((by_rho, Payment("add_remove", epsilon=epsilon))):
                released = noisy_marginals(codes, sizes, payment, SAMPLER)
                found[place].append(exact.of_rows(synthetic_rows(released, SAMPLER)))
            uncut = synthetic_rows(noisy_marginals(own, own_sizes, by_rho, SAMPLER), SAMPLER)
            found[2].append(exact.of_rows(binned(uncut, own_sizes)))
        start = time.perf_counter()
        synthetic_rows(noisy_marginals(codes, sizes, by_rho, SAMPLER), SAMPLER)
        seconds = [time.perf_counter() - start]
        if installed():
            start = time.perf_counter()
            modelled = graphical_rows(noisy_marginals(codes, sizes, by_rho, SAMPLER, graph=SmallModel()), SAMPLER)
            seconds.append(time.perf_counter() - start)
            found.append([exact.of_rows(modelled)])
        means = [np.mean(values, axis=0) for values in found]
        shown = [*means, *[np.full(2, np.nan)] * (4 - len(means)), exact.direct(by_rho.amount), alone, drawn]
        figures = [f"{pair:.3f} / {three:.3f}" for pair, three in map(np.asarray, shown)]
        rows.append([f"{float(epsilon):g}", *figures, " / ".join(f"{spent:.1f}" for spent in seconds)])
        print(*rows[-1], flush=True)
    return rows


def model(file: Path) -> list[list[str]]:
    """A row for each epsilon: a classifier of the last column, trained on synthetic rows, its score on real ones."""
    from sklearn.ensemble import HistGradientBoostingClassifier
    from sklearn.metrics import roc_auc_score

    codes, sizes = bins(file)
    order = np.random.default_rng(9).permutation(len(codes))
    test, real = codes[order[: len(codes) // 3]], codes[order[len(codes) // 3 :]]

    def score(rows: Codes) -> list[str]:
        learnt = HistGradientBoostingClassifier(max_iter=60, random_state=0).fit(rows[:, :-1], rows[:, -1])
        shown = learnt.predict_proba(test[:, :-1])[:, 1]
        right = float(((shown > 0.5) == test[:, -1]).mean())
        return [f"{right:.3f}", f"{float(roc_auc_score(test[:, -1], shown)):.3f}"]

    found = [["real rows", *score(real)]]
    for epsilon in EPSILONS:
        payment = Payment("add_remove", rho=rho_of_epsilon(epsilon, DELTA))
        rows = synthetic_rows(noisy_marginals(real, sizes, payment, SAMPLER), SAMPLER)
        found.append([f"epsilon {float(epsilon):g}", *score(rows)])
    if installed():
        payment = Payment("add_remove", rho=rho_of_epsilon(Fraction(1), DELTA))
        released = noisy_marginals(real, sizes, payment, SAMPLER, graph=SmallModel())
        found.append(["epsilon 1, mbi", *score(graphical_rows(released, SAMPLER))])
    most = max(float((test[:, -1] == value).mean()) for value in (0, 1))
    return [*found, ["the commoner value", f"{most:.3f}", "0.500"]]


def draw(rows: Sequence[Sequence[str]]) -> None:
    """Distance of pairs against epsilon."""
    try:
        from matplotlib.figure import Figure
    except ImportError:
        print("no figure: matplotlib is not installed")
        return
    figure = Figure(figsize=(9, 3.6), layout="constrained")
    for which, panel in enumerate(figure.subplots(1, 2)):
        for at, name in enumerate(
            ("marginals", "marginals, delta 0", "uncut", "mbi", "direct", "columns alone"), start=1
        ):
            found = [float(row[at].split(" / ")[which]) for row in rows]
            panel.loglog([float(epsilon) for epsilon in EPSILONS], found, ".-", label=name)
        panel.set_title(("pairs of columns", "triples of columns")[which], fontsize=10)
        panel.set_xlabel("epsilon")
    figure.axes[0].set_ylabel("mean total variation distance")
    figure.axes[1].legend(fontsize=8)
    figure.savefig(FIGURE)


def main(file: Path | None) -> None:
    """Measures, and writes the page."""
    titles = ["cells, n", "noisy cells", "binary tree", "chosen", "which", "foretold", "10,000 Laplace answers"]
    write("ranges", [circumstances(), "", *table(titles, ranges())], page=PAGE)
    titles = ["class", "epsilon", "alpha", "rows needed", "largest error"]
    write("usefulness", table(titles, usefulness()), page=PAGE)
    titles = ["cells, n", "boxes", "noisy cells", "boxes need for 0.3", "cells need for 0.3"]
    write("rectangles", table(titles, rectangles()), page=PAGE)
    titles = ["cells, n", "cuts", "smalldb", "noisy cells"]
    write("paper", table(titles, paper()), page=PAGE)
    titles = ["n", *(f"MWEM, {rounds} rounds" for rounds in (10, 20, 40)), "noisy cells", "uniform"]
    write("workload", table(titles, workload()), page=PAGE)
    if file is None:
        print("no synthetic rows: name the file of a wide table, such as Adult's")
        return
    rows = wide(file)
    titles = ["epsilon", "marginals", "marginals, delta 0", "uncut", "mbi", "direct", "columns alone", "drawn rows"]
    titles.append("seconds, and of mbi")
    write("rows", [f"Means over {RUNS} releases; pairs / triples.", "", *table(titles, rows)], page=PAGE)
    draw(rows)
    write("model", table(["trained on", "accuracy", "area under the curve"], model(file)), page=PAGE)


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else None)
