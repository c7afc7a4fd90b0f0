"""Noisy marginals of a table of any width: every column, and pairs of columns that form a tree, chosen privately.

Neighbours: ``add_remove`` and ``replace_one`` (`payment`). Loss: `Concentrated` with discrete Gaussian noise and the
exponential mechanism, or `Pure` with discrete Laplace noise and permute-and-flip.

With d columns of s_1, ..., s_d codes:

1. A share of the price buys the d histograms of single columns, with noise. Where the number of rows is private, it is
   the mean of their sums, weighted by the inverse of the sums' variances. Each is made whole rows of that number.
2. A share for d - 1 private choices. As in Kruskal's algorithm, each takes one pair of columns that joins two parts of
   the forest chosen so far. The score of a pair is how far its exact table lies, in L1, from whole numbers that the
   noised columns give if the two were independent, less what the noise of step 3 is expected to add in its cells.
3. The rest: the d - 1 tables of the chosen pairs, with noise.

Theorem. The release is epsilon-DP, or rho-zCDP, under the neighbours of its payment.

Proof. Columns and pairs are histograms of the table (`payment`, 1 and 2). Given what step 1 released, the whole numbers
are fixed and a score is |table - fixed| in L1 less a public number: it moves by at most what the table moves, l in L1.
Which pairs are candidates follows from earlier choices. So step 2 is `payment`, 4, and the whole 5.  QED

`rows` makes rows of the release: post-processing.

Source: McKenna, Miklau, Sheldon 2021, "Winning the NIST contest" (MST), with shares, public penalty and pure form of
our own: a tenth, a tenth and the rest erred least on Adult at epsilon 0.1 to 10 (docs/releases.md).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations

import numpy as np
import numpy.typing as npt

from dpsql.mechanisms.noise.laws import GaussianLaw, LaplaceLaw
from dpsql.mechanisms.releases.payment import Payment
from dpsql.mechanisms.releases.reach import deviation_of
from dpsql.mechanisms.releases.shares import Whole, shared_out
from dpsql.privacy.sampling import Sampler, noised

__all__ = ["NoisyMarginals", "Pair", "noisy_marginals", "pair_score", "pair_share", "table_of"]

COLUMNS_SHARE = Fraction(1, 10)  # Of the price, for single columns. Measured on Adult: docs/releases.md.
CHOICES_SHARE = Fraction(1, 10)  # Of the price, for the choice of pairs. Measured on Adult: docs/releases.md.
MOST_CELLS = 10**7  # Cells of one pair: its table, in float64, takes 80 MB. It is a choice.
Pair = tuple[int, int]
Codes = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class NoisyMarginals:
    """What was released of a table: no more than this is ever read for its rows.

    Attributes:
        sizes: (d,) how many codes each column has.
        total: The number of rows, public or noised, >= 0.
        columns: d histograms, each (s_j,) unbiased noised numbers.
        pairs: d - 1 pairs of columns, each with its (s_a, s_b) unbiased noised table; they form a tree.
        column_law, pair_law: The noise of each number.
    """

    sizes: tuple[int, ...]
    total: int
    columns: tuple[Whole, ...]
    pairs: dict[Pair, Whole]
    column_law: LaplaceLaw | GaussianLaw
    pair_law: LaplaceLaw | GaussianLaw


def noisy_marginals(
    codes: Codes,
    sizes: Sequence[int],
    payment: Payment,
    sampler: Sampler,
    total: int | None = None,
    weights: Whole | None = None,
) -> NoisyMarginals:
    """Noisy histograms of all columns, and of a tree of pairs.

    Args:
        codes: (n, d) integers, column j from 0 to sizes[j] - 1.
        sizes: (d,) how many codes each column has, >= 1; d >= 2.
        payment: The price and the neighbours.
        sampler: Of noise and choices.
        total: The number of rows where it is public (``replace_one``, one row a unit).
        weights: (n,) how many rows each line of codes stands for; 1 where left out.

    Raises:
        ValueError: If there are fewer than two columns, a pair has too many cells, or a total is named where it is
            private.
    """
    payment.check_total(total)
    d = len(sizes)
    if d < 2:
        raise ValueError(f"{d} columns have no pairs; take two or more, or `cells` or `tree` for one")
    if (cells := math.prod(sorted(sizes)[-2:])) > MOST_CELLS:
        raise ValueError(f"a pair of columns has {cells} cells, above {MOST_CELLS}; cut a column into fewer bins")
    column_law = payment.noise(COLUMNS_SHARE, histograms=d)
    columns = [
        np.asarray(noised(counts, column_law.draw(sampler, len(counts))))
        for counts in (table_of(codes, sizes, (j,), weights) for j in range(d))
    ]
    if total is None:
        total = max(0, round(float(np.average([int(c.sum()) for c in columns], weights=[1 / s for s in sizes]))))
    pair_law = payment.noise(pair_share(), histograms=d - 1)
    chosen = _chosen_pairs(codes, sizes, payment, sampler, weights, _whole_columns(columns, total), pair_law)
    pairs = {}
    for pair in chosen:
        exact = table_of(codes, sizes, pair, weights)
        drawn = noised(exact, pair_law.draw(sampler, len(exact)))
        pairs[pair] = np.asarray(drawn).reshape(sizes[pair[0]], sizes[pair[1]])
    return NoisyMarginals(tuple(sizes), total, tuple(columns), pairs, column_law, pair_law)


def table_of(codes: Codes, sizes: Sequence[int], columns: Sequence[int], weights: Whole | None = None) -> Codes:
    """(product of the columns' sizes,) exact numbers of rows, the last column's codes running fastest."""
    cell = np.zeros(len(codes), dtype=np.int64)
    for j in columns:
        cell = cell * sizes[j] + codes[:, j]
    cells = math.prod(sizes[j] for j in columns)
    if weights is None:
        return np.bincount(cell, minlength=cells)
    counts = np.zeros(cells, dtype=np.int64)
    np.add.at(counts, cell, weights)
    return counts


def pair_share() -> Fraction:
    """The share of the price that buys pairs."""
    return 1 - COLUMNS_SHARE - CHOICES_SHARE


def pair_score(exact: Codes, one: Codes, other: Codes, total: int, penalty: int) -> int:
    """How far a pair's exact table is from independence, less a public penalty.

    >>> pair_score(np.array([2, 0, 0, 2]), np.array([2, 2]), np.array([2, 2]), total=4, penalty=1)
    3
    """
    independent = np.rint(np.outer(one, other) / max(1, total)).astype(np.int64).ravel()
    return int(np.abs(exact - independent).sum()) - penalty


def _whole_columns(columns: Sequence[Whole], total: int) -> list[Codes]:
    """Each column's histogram as whole rows of that total."""
    return [shared_out(np.asarray(c, dtype=np.float64)[None], np.array([total]))[0] for c in columns]


def _chosen_pairs(
    codes: Codes,
    sizes: Sequence[int],
    payment: Payment,
    sampler: Sampler,
    weights: Whole | None,
    columns: Sequence[Codes],
    pair_law: LaplaceLaw | GaussianLaw,
) -> list[Pair]:
    """The d - 1 pairs of a tree, chosen privately one by one."""
    d, total = len(sizes), int(columns[0].sum())
    expected = math.sqrt(2 / math.pi) * deviation_of(pair_law)  # of one normal draw's absolute value; a guess of it
    scores = {}
    for a, b in combinations(range(d), 2):
        penalty = math.floor(expected * sizes[a] * sizes[b])
        scores[a, b] = pair_score(table_of(codes, sizes, (a, b), weights), columns[a], columns[b], total, penalty)
    part = list(range(d))
    chosen: list[Pair] = []
    for _ in range(d - 1):
        open_pairs = [(a, b) for a, b in scores if part[a] != part[b]]
        of_open = [scores[pair] for pair in open_pairs]
        a, b = open_pairs[payment.choose(of_open, sampler, CHOICES_SHARE, choices=d - 1, moved=payment.l1)]
        chosen.append((a, b))
        part = [part[a] if p == part[b] else p for p in part]
    return chosen
