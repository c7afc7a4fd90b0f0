"""MWEM beside the paper's own form of it, and SmallDB beside the law that it claims, gone through one by one.

    python bench/blum_ligett_roth.py

*MWEM.* 400 cells of 3-way tables of 16 correlated binary columns (65,536 cells), epsilon 1, one row replaced: the
largest and the mean error as a share of the rows, medians of 3. *As published* has no replays (Hardt, Ligett, McSherry
2012, Figure 1, with the last histogram in place of the mean); *each alone* is one Laplace answer a question for its
part of the price.

*SmallDB.* On universes so small that all databases can be written down: 20,000 draws beside the exact probabilities.
The distance is total variation; a sample of so many from the very law has the *expected* one, and the chance is that
of a chi-square statistic as large or larger (cells of fewer than 5 expected draws together). The tables go to
docs/releases.md.
"""

from __future__ import annotations

import math
import sys
from collections import Counter
from collections.abc import Callable, Sequence
from fractions import Fraction
from itertools import combinations_with_replacement, product
from pathlib import Path

import numpy as np
import numpy.typing as npt
from scipy.stats import chi2

from dpsql.mechanisms.releases import mwem
from dpsql.mechanisms.releases.cells import noisy_cells
from dpsql.mechanisms.releases.payment import Payment
from dpsql.mechanisms.releases.smalldb import small_database
from dpsql.mechanisms.releases.smalldb_paths import small_ordered_database
from dpsql.privacy.sampling import ExactSampler

sys.path.insert(0, str(Path(__file__).resolve().parent))
from page import ROOT, circumstances, table, write

PAGE = ROOT / "docs" / "releases.md"
SAMPLER = ExactSampler()
PAYMENT = Payment("replace_one", epsilon=Fraction(1))
DRAWS = 20_000
Codes = npt.NDArray[np.int64]


def learnt() -> list[list[str]]:
    """A row for each number of rows."""
    bits = np.array(list(product([0, 1], repeat=16)), dtype=np.int8)
    rng, found = np.random.default_rng(12), []
    triples = [(rng.choice(16, 3, replace=False), rng.integers(0, 2, 3)) for _ in range(400)]
    asked = np.array([(bits[:, t] == v).all(axis=1) for t, v in triples])
    for n in (1000, 10000):
        kinds, of_kind = rng.random((4, 16)), rng.integers(0, 4, n)
        cells = (rng.random((n, 16)) < kinds[of_kind]).astype(int) @ 2 ** np.arange(15, -1, -1)
        counts = np.bincount(cells, minlength=1 << 16)
        exact = asked @ counts

        def told(answer: Callable[[], npt.NDArray[np.float64]], n: int = n, exact: Codes = exact) -> str:
            errors = [np.abs(answer() - exact) / n for _ in range(3)]
            return f"{np.median([e.max() for e in errors]):.4f} / {np.median([e.mean() for e in errors]):.4f}"

        def learn(rounds: int, replays: int, counts: Codes = counts, n: int = n) -> npt.NDArray[np.float64]:
            kept, mwem.REPLAYS = mwem.REPLAYS, replays
            try:
                return asked @ mwem.learnt_histogram(counts, asked, PAYMENT, SAMPLER, n, rounds).cells
            finally:
                mwem.REPLAYS = kept

        row = [f"{n:,}", *(told(lambda r=r, p=p: learn(r, p)) for p in (0, mwem.REPLAYS) for r in (10, 30))]  # type: ignore[misc]  # bound at once
        alone = PAYMENT.number_noise(Fraction(1), numbers=len(asked))
        row.append(told(lambda: exact + alone.draw(SAMPLER, len(asked)).astype(float)))  # noqa: B023 - called at once
        row.append(told(lambda: asked @ noisy_cells(counts, PAYMENT, SAMPLER, n).counts))  # noqa: B023 - called at once
        row.append(told(lambda: np.full(len(asked), n / 8.0)))  # noqa: B023 - called at once
        found.append(row)
    return found


def enumerated() -> list[list[str]]:
    """A row for each universe."""
    corners = np.tril(np.ones((6, 6), dtype=np.int64))
    pairs = np.array([[1, 1, 0, 0], [1, 0, 1, 0], [0, 0, 1, 1]], dtype=np.int64)
    cases: list[tuple[str, Codes, Codes, int, bool]] = [
        ("any sets of 4 cells, 3 rows of 12", np.array([6, 3, 1, 2]), pairs, 3, False),
        ("ranges of 6 cells, 2 rows of 20", np.array([9, 0, 4, 1, 0, 6]), corners, 2, True),
        ("ranges of 6 cells, 4 rows of 40", np.array([20, 2, 0, 7, 1, 10]), corners, 4, True),
    ]
    return [
        [name, *_beside(counts, questions, rows, ordered=ordered)] for name, counts, questions, rows, ordered in cases
    ]


def _beside(counts: Codes, questions: Codes, rows: int, *, ordered: bool) -> list[str]:
    cells, n = len(counts), int(counts.sum())
    candidates = [np.bincount(c, minlength=cells) for c in combinations_with_replacement(range(cells), rows)]
    wanted = questions @ counts
    if ordered:  # as `smalldb_paths` scores: in rows, rounded up, less what the best database misses by, capped
        slack = n // (2 * rows)
        misses = [
            max(0, math.ceil(np.abs(n * (questions @ c) / rows - wanted).max() - 1e-9) - slack) for c in candidates
        ]
        weights = np.exp(-np.array(misses) / 2)
        draw: Callable[[], Codes] = lambda: small_ordered_database(counts, rows, PAYMENT, SAMPLER)  # noqa: E731
    else:
        misses = [int(np.abs(n * (questions @ c) - rows * wanted).max()) for c in candidates]
        weights = np.exp(-np.array(misses) / (2 * rows))
        draw = lambda: small_database(counts, questions, rows, PAYMENT, SAMPLER)  # noqa: E731
    law = weights / weights.sum()
    seen = Counter(tuple(draw().tolist()) for _ in range(DRAWS))
    often = np.array([seen[tuple(c.tolist())] for c in candidates])
    apart = np.abs(often / DRAWS - law).sum() / 2
    expected = np.sqrt(2 / np.pi * law * (1 - law) / DRAWS).sum() / 2
    return [str(len(candidates)), f"{law.max():.3f}", f"{apart:.4f}", f"{expected:.4f}", f"{_chance(often, law):.2f}"]


def _chance(often: Codes, law: Sequence[float] | npt.NDArray[np.float64]) -> float:
    hoped = np.asarray(law) * DRAWS
    few = hoped < 5
    seen = np.append(often[~few], often[few].sum()) if few.any() else often
    wanted = np.append(hoped[~few], hoped[few].sum()) if few.any() else hoped
    kept = wanted > 0
    return float(chi2.sf((((seen - wanted) ** 2)[kept] / wanted[kept]).sum(), kept.sum() - 1))


def main() -> None:
    """Measures, and writes the page."""
    titles = ["universe", "databases", "likeliest", "distance", "expected", "chance"]
    write("enumerated", [circumstances(), "", *table(titles, enumerated())], page=PAGE)
    titles = ["n", *(f"{name}, {r} rounds" for name in ("as published", "MWEM") for r in (10, 30))]
    write("learnt", table([*titles, "each alone", "noisy cells", "uniform"], learnt()), page=PAGE)


if __name__ == "__main__":
    main()
