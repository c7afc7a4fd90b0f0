"""Noisy marginals of a table of any width: every column, and pairs of columns that form a tree, chosen privately.

Neighbours: ``add_remove`` and ``replace_one`` (`payment`). Loss: `Concentrated` with discrete Gaussian noise and the
exponential mechanism, or `Pure` with discrete Laplace noise and permute-and-flip.

With d columns of s_1, ..., s_d codes:

1. A share of the price buys the d histograms of single columns, with noise: of up to 48 codes flat, of more on a tree
   (`parts`). Where the number of rows is private, it is the mean of their sums, weighted by the inverse of the sums'
   variances. Columns of more codes are then cut into parts, by what was released of them: as many parts as leave the
   noise of step 3 in a pair of two such columns at a tenth of the rows, or so. From here on, parts are their codes.
   Each histogram is made whole rows of that number.
2. A share for d - 1 private choices. As in Kruskal's algorithm, each takes one pair of columns that joins two parts of
   the forest chosen so far; `graphical` takes more pairs than a tree has. The score of a pair is how far its exact
   table lies, in L1, from whole numbers that the noised columns give if the two were independent, less what the noise
   of step 3 is expected to add in its cells.
3. The rest: the d - 1 tables of the chosen pairs, with noise.

Theorem. The release is epsilon-DP, or rho-zCDP, under the neighbours of its payment.

Proof. Columns and pairs are histograms of the table, those of parts too (`payment`, 1 and 2; `parts`). Given what step
1 released, parts and whole numbers are fixed and a score is |table - fixed| in L1 less a public number: it moves by at
most what the table moves, l in L1. Which pairs are candidates follows from earlier choices and public sizes. So step 2
is `payment`, 4, and the whole 5.  QED

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
from typing import Protocol

import numpy as np
import numpy.typing as npt

from dpsql.mechanisms.noise.laws import GaussianLaw, LaplaceLaw
from dpsql.mechanisms.releases.parts import CutColumn, FlatColumn, NoisyCodes, noisy_codes
from dpsql.mechanisms.releases.payment import Payment
from dpsql.mechanisms.releases.reach import deviation_of
from dpsql.mechanisms.releases.shares import Floats, Whole, shared_out
from dpsql.privacy.sampling import Sampler, noised

__all__ = ["Graph", "NoisyMarginals", "Pair", "noisy_marginals", "pair_score", "pair_share", "table_of"]

COLUMNS_SHARE = Fraction(1, 10)  # Of the price, for single columns. Measured on Adult: docs/releases.md.
CHOICES_SHARE = Fraction(1, 10)  # Of the price, for the choice of pairs. Measured on Adult: docs/releases.md.
NOISE = 0.1
"""What noise adds up to in a pair of cut columns, as a share of the rows. It is a choice: on Adult, 0.05 to 0.4 differ
little."""
CLEAR = 60  # Standard deviations. It is a choice: a draw of Laplace noise is half as large once in e^42.
FEWEST, MOST = 4, 48  # Parts of a column that is cut. It is a choice.
Pair = tuple[int, int]
Codes = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class NoisyMarginals:
    """What was released of a table: no more than this is ever read for its rows.

    Attributes:
        sizes: (d,) how many codes each column has; parts, where it is cut.
        total: The number of rows, public or noised, >= 0.
        columns: d histograms, each (s_j,) noised numbers.
        variances: d times (s_j,) the variances of their noise.
        cuts: The columns that are cut, and how.
        pairs: d - 1 pairs of columns, each with its (s_a, s_b) unbiased noised table; they form a tree.
        pair_law: The noise of each number of a pair.
        seen: The columns of all codes, as they were noised.
    """

    sizes: tuple[int, ...]
    total: int
    columns: tuple[Whole, ...]
    variances: tuple[Floats, ...]
    cuts: dict[int, CutColumn]
    pairs: dict[Pair, Whole]
    pair_law: LaplaceLaw | GaussianLaw
    seen: tuple[FlatColumn | NoisyCodes, ...] = ()


class Graph(Protocol):
    """Which pairs may be chosen, by public facts."""

    def pairs(self, columns: int) -> int:
        """How many pairs of so many columns are chosen, at most."""
        ...

    def candidates(self, chosen: Sequence[Pair], sizes: Sequence[int]) -> Sequence[Pair]:
        """The pairs that may follow those chosen, for columns of so many codes."""
        ...


class TreeOfPairs:
    """Pairs that join all columns without a circle."""

    def pairs(self, columns: int) -> int:
        """One less than columns."""
        return columns - 1

    def candidates(self, chosen: Sequence[Pair], sizes: Sequence[int]) -> Sequence[Pair]:
        """The pairs of columns that those chosen do not join yet."""
        part = list(range(len(sizes)))
        for a, b in chosen:
            part = [part[a] if p == part[b] else p for p in part]
        return [(a, b) for a, b in combinations(range(len(sizes)), 2) if part[a] != part[b]]


TREE = TreeOfPairs()


def noisy_marginals(
    codes: Codes,
    sizes: Sequence[int],
    payment: Payment,
    sampler: Sampler,
    total: int | None = None,
    weights: Whole | None = None,
    alone: Sequence[int | None] | None = None,
    graph: Graph = TREE,
    likely: int | None = None,
) -> NoisyMarginals:
    """Noisy histograms of all columns, and of pairs of columns.

    Args:
        codes: (n, d) integers, column j from 0 to sizes[j] - 1.
        sizes: (d,) how many codes each column has, >= 1; d >= 2.
        payment: The price and the neighbours.
        sampler: Of noise and choices.
        total: The number of rows where it is public (``replace_one``, one row a unit).
        weights: (n,) how many rows each line of codes stands for; 1 where left out.
        alone: (d,) a code of each column that is joined with no other, such as NULL's, or None.
        graph: Of the pairs; without it a tree.
        likely: More rows than so many are believed only as `believed` says; any number where left out.

    Raises:
        ValueError: If there are fewer than two columns, a column has too many codes, or a total is named where it is
            private.
    """
    payment.check_total(total)
    d = len(sizes)
    if d < 2:
        raise ValueError(f"{d} columns have no pairs; take two or more, or `cells` or `tree` for one")
    pair_law = payment.noise(pair_share(), histograms=graph.pairs(d))
    exact = [table_of(codes, sizes, (j,), weights) for j in range(d)]
    seen = [noisy_codes(counts, payment, COLUMNS_SHARE, d, sampler) for counts in exact]
    if total is None:
        sums, precisions = [n for n, _ in (column.total for column in seen)], [1 / column.total[1] for column in seen]
        total = max(0, round(float(np.average(sums, weights=precisions))))
        total = total if likely is None else believed(total, sum(precisions) ** -0.5, likely)
    lone = [None] * d if alone is None else alone
    parts = parts_for(total, pair_law)
    columns = [column.cut(parts, lone[j]) for j, column in enumerate(seen)]
    cuts = {j: column for j, column in enumerate(columns) if isinstance(column, CutColumn)}
    sizes = tuple(len(column.numbers) for column in columns)
    codes = np.stack([cuts[j].of[codes[:, j]] if j in cuts else codes[:, j] for j in range(d)], axis=1)
    whole = _whole_columns([column.numbers for column in columns], total)
    chosen = _chosen_pairs(codes, sizes, payment, sampler, weights, whole, pair_law, graph)
    pairs = {}
    for pair in chosen:
        table = table_of(codes, sizes, pair, weights)
        drawn = noised(table, pair_law.draw(sampler, len(table)))
        pairs[pair] = np.asarray(drawn).reshape(sizes[pair[0]], sizes[pair[1]])
    numbers, variances = tuple(c.numbers for c in columns), tuple(c.variances for c in columns)
    return NoisyMarginals(sizes, total, numbers, variances, cuts, pairs, pair_law, tuple(seen))


def believed(total: int, spread: float, likely: int) -> int:
    """The number of rows that are made of a noised one: ``likely`` at most, unless it is clear of its noise.

    Rows take memory and time, and a small price makes millions of none. It is a function of what was released.

    Theorem. Where noise is within ``CLEAR / 2`` standard deviations, as it is but once in e^40 draws, no more rows are
    made than ``likely``, or than twice those that there are.
    Proof. What is more than ``likely`` is ``CLEAR`` standard deviations at least, so that noise is half of it at most.
    QED

    >>> believed(900, 100.0, 1000), believed(2000, 100.0, 1000), believed(9000, 100.0, 1000)
    (900, 1000, 9000)
    """
    return total if total >= CLEAR * spread else min(total, likely)


def parts_for(total: int, law: LaplaceLaw | GaussianLaw) -> int:
    """Into how many parts long columns are cut: noise of that law in a pair adds up to a tenth of the rows, or so.

    >>> [parts_for(rows, GaussianLaw(Fraction(400))) for rows in (10**3, 10**5, 10**7)]
    [4, 25, 48]
    """
    wanted = math.sqrt(NOISE * total / (math.sqrt(2 / math.pi) * deviation_of(law)))
    return max(FEWEST, min(MOST, round(wanted)))


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
    graph: Graph,
) -> list[Pair]:
    """The pairs of the graph, chosen privately one by one."""
    d, total = len(sizes), int(columns[0].sum())
    expected = math.sqrt(2 / math.pi) * deviation_of(pair_law)  # of one normal draw's absolute value; a guess of it
    scores = {}
    for a, b in combinations(range(d), 2):
        penalty = math.floor(expected * sizes[a] * sizes[b])
        scores[a, b] = pair_score(table_of(codes, sizes, (a, b), weights), columns[a], columns[b], total, penalty)
    chosen: list[Pair] = []
    while len(chosen) < graph.pairs(d) and (candidates := graph.candidates(chosen, sizes)):
        of_candidates = [scores[pair] for pair in candidates]
        best = payment.choose(of_candidates, sampler, CHOICES_SHARE, choices=graph.pairs(d), moved=payment.l1)
        chosen.append(candidates[best])
    return chosen
