"""The methods that release a table of listed columns: what each fits, foretells, proves and releases.

Each is one of the releases of this room with what SQL needs around it. Which cells a row is in follows from the row and
public lists of values alone; rows in no listed cell are left out, which moves no more. Neighbours, loss and theorem are
those of the module that makes the release.

    name         made by                       is asked for
    cells        `cells`                       all cells of up to a million
    tree         `tree`                        one ordered column
    marginals    `marginals`, `rows`           two columns or more, of any number
    mbi          `marginals`, `graphical`      the same, by name alone
    halfspaces   `halfplanes`                  two columns of numbers: half planes

`classical` has those of Blum, Ligett and Roth, and MWEM.

**Expected errors** are root mean squares over the questions of the workload, in rows, from public facts: of noise with
a known law its deviation. `marginals` foretells the noise of what it measures alone; how far columns depend on each
other otherwise than along a tree is not foretold.

**Largest errors** (`largest`) hold for all questions of the workload at once but for a probability beta, for the noised
numbers before they are made whole rows. Noise on K sums of M cells or fewer: each is within reach_of(ones(M),
beta / (2 K)), union bound, and likewise below. For a tree: a range is the sum of at most V = 2 (b - 1) h nodes, and
least squares has the smallest variance of all unbiased estimates that are linear (Gauss, Markov), so the squares of its
weights add up to at most V; ln E[exp(u w X)] is a convex function of w^2, 0 at 0, for both laws, so that of all weights
with squares up to V a single weight sqrt(V) bounds Chernoff's sum.

Tests: tests/unit/mechanisms/releases/test_table.py.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np

from dpsql.mechanisms.releases.cells import TOTAL_SHARE, noisy_cells, sum_deviation
from dpsql.mechanisms.releases.foretold import boxes_asked, cell_shares, codes_asked, extent, one_column
from dpsql.mechanisms.releases.graphical import MISSING, SmallModel, graphical_rows, installed
from dpsql.mechanisms.releases.halfplanes import SECTORS, sectors_of
from dpsql.mechanisms.releases.marginals import (
    COLUMNS_SHARE,
    MOST,
    TREE,
    Codes,
    Graph,
    NoisyMarginals,
    noisy_marginals,
    pair_share,
)
from dpsql.mechanisms.releases.parts import MOST_CODES
from dpsql.mechanisms.releases.payment import Payment
from dpsql.mechanisms.releases.proofs import Proof, cells_proof, marginals_proofs, tree_proof
from dpsql.mechanisms.releases.ranges import least_error, noisy_ranges, root_mean
from dpsql.mechanisms.releases.reach import deviation_of, every_range, reach_of
from dpsql.mechanisms.releases.rows import synthetic_rows
from dpsql.mechanisms.releases.shares import shared_out
from dpsql.mechanisms.releases.tree import NoisyTree, TreeShape, noisy_tree
from dpsql.mechanisms.releases.waiting import Told, unheard
from dpsql.mechanisms.releases.workload import Wanted
from dpsql.privacy.sampling import Sampler

__all__ = [
    "MOST_CELLS",
    "ByCells",
    "ByHalfSpaces",
    "ByMarginals",
    "ByMbi",
    "ByTree",
    "Made",
    "Method",
    "histogram",
    "made_of",
]

MOST_CELLS = 10**6  # Cells of one histogram: each gets noise, in memory. It is a choice.
MOST_MADE = 10**7
"""Codes of synthetic rows that are made of a small table, too. It is a choice: they take some seconds, and 240 MB."""
TIMES_THE_GUESS = 8  # How many times as many rows as the policy guesses are thought likely. A guess.
BYTES_OF_A_CELL = 110
"""Bytes that one cell takes at the most while it is noised and made whole: a dozen arrays of 8 bytes, and more."""
BYTES_OF_MBI = 1_300_000_000
"""What `mbi` and its libraries take besides. Measured on the 14 columns of Adult; a guess for other tables."""


@dataclass(frozen=True, slots=True)
class Made:
    """What was released.

    Attributes:
        codes: (k, d) the distinct rows, as the places of their values in the lists.
        rows: (k,) how many there are of each, > 0.
        proofs: What is proved of it; none for nothing.
    """

    codes: Codes
    rows: Codes
    proofs: tuple[Proof, ...] = ()


class Method(Protocol):
    """A way to release a table."""

    @property
    def name(self) -> str:
        """What SQL calls it."""
        ...

    def unfit(self, asked: Wanted, payment: Payment) -> str:
        """Why it cannot release that, with its limit and the size asked; '' where it can. From public facts."""
        ...

    def deviation(self, asked: Wanted, payment: Payment) -> float:
        """The expected error of the workload's questions, root mean square, in rows."""
        ...

    def largest(self, asked: Wanted, payment: Payment, beta: float) -> float | None:
        """Rows within which all questions are but for a probability beta; None where nothing is proved."""
        ...

    def memory(self, asked: Wanted) -> int:
        """Bytes that the release takes, nearly, at the most."""
        ...

    def release(self, asked: Wanted, payment: Payment, exact: Exact, sampler: Sampler, told: Told = unheard) -> Made:
        """The release of what was counted; ``told`` the share done, where it takes long."""
        ...


@dataclass(frozen=True, slots=True)
class Exact:
    """What was counted of private rows. It may not leave.

    Attributes:
        codes: (k, d) the cells with rows, as the places of their values in the lists.
        weights: (k,) how many rows each has.
        unlisted: How many rows are in no listed cell.
    """

    codes: Codes
    weights: Codes
    unlisted: int


@dataclass(frozen=True, slots=True)
class ByCells:
    """Noise on every cell."""

    name: str = "cells"

    def unfit(self, asked: Wanted, payment: Payment) -> str:
        return too_many(asked)

    def deviation(self, asked: Wanted, payment: Payment) -> float:
        return root_mean([sum_deviation(asked.cells, share, payment) for share in cell_shares(asked)])

    def largest(self, asked: Wanted, payment: Payment, beta: float) -> float | None:
        law = payment.noise(1 - TOTAL_SHARE)
        if len(asked.sizes) == 1 and asked.asks("ranges"):
            return every_range(law, asked.cells, beta)
        number, most = extent(asked)
        return reach_of(law, np.ones(most), beta / (2 * number))

    def memory(self, asked: Wanted) -> int:
        return BYTES_OF_A_CELL * asked.cells

    def release(self, asked: Wanted, payment: Payment, exact: Exact, sampler: Sampler, told: Told = unheard) -> Made:
        found = noisy_cells(histogram(asked, exact), payment, sampler)
        return made_of(asked, found.counts, cells_proof(found))


@dataclass(frozen=True, slots=True)
class ByTree:
    """Noise on a tree of ranges of one column.

    Attributes:
        branching: Children of a node.
    """

    branching: int
    name: str = "tree"

    def unfit(self, asked: Wanted, payment: Payment) -> str:
        if len(asked.sizes) > 1:
            return f"it releases one ordered column, and there are {len(asked.sizes)}."
        return too_many(asked)

    def deviation(self, asked: Wanted, payment: Payment) -> float:
        shape = self._shape(asked)
        law = payment.noise(histograms=shape.levels)
        errors = [shape.deviation(shape.range_query(*ends), law) for ends in one_column(asked)]
        return root_mean(errors)

    def largest(self, asked: Wanted, payment: Payment, beta: float) -> float | None:
        shape, (number, _) = self._shape(asked), extent(asked)
        nodes = 2 * (self.branching - 1) * shape.height
        return reach_of(payment.noise(histograms=shape.levels), [math.sqrt(nodes)], beta / (2 * number))

    def memory(self, asked: Wanted) -> int:
        shape = self._shape(asked)
        return int(2 * BYTES_OF_A_CELL * self.branching**shape.height)

    def release(self, asked: Wanted, payment: Payment, exact: Exact, sampler: Sampler, told: Told = unheard) -> Made:
        found = noisy_tree(histogram(asked, exact), payment, sampler, branching=self.branching)
        return made_of(asked, found.counts, tree_proof(found))

    def _shape(self, asked: Wanted) -> TreeShape:
        return TreeShape(asked.cells, self.branching, root=True)


@dataclass(frozen=True, slots=True)
class ByMarginals:
    """Noise on every column and on a tree of pairs."""

    name: str = "marginals"

    def unfit(self, asked: Wanted, payment: Payment) -> str:
        if len(asked.sizes) > 1 and max(asked.sizes) <= MOST_CODES:
            return ""
        asks = f"and one has {max(asked.sizes):,}" if len(asked.sizes) > 1 else "and there is one column"
        return f"it releases two columns or more, of at most {MOST_CODES:,} values each, {asks}."

    def deviation(self, asked: Wanted, payment: Payment) -> float:
        """A pair's cell errs by one draw; sums of M codes of a column by M times the best mean of what is measured of
        the column: its own histogram, and the sums of a pair with the widest other one. Cut columns count as their
        most parts."""
        d, most = len(asked.sizes), min(max(asked.sizes), MOST)
        pair = deviation_of(payment.noise(pair_share(), histograms=d - 1)) ** 2
        own = deviation_of(payment.noise(COLUMNS_SHARE, histograms=d)) ** 2
        errors = []
        for part in asked.workload:
            if part.kind == "halfspaces":
                errors.append(math.sqrt(pair * math.prod(min(asked.sizes[c], MOST) for c in part.columns) / 2))
            elif part.kind == "rectangles":
                errors += [math.sqrt(pair * m) for m in boxes_asked([min(asked.sizes[c], MOST) for c in part.columns])]
            elif part.kind == "marginals" and part.width > 1:
                errors.append(math.sqrt(pair))
            else:
                one = 1 / (1 / own + 1 / (pair * most))
                sums = [m for c in part.columns for m in codes_asked(min(asked.sizes[c], MOST), part.kind)]
                errors += [math.sqrt(one * m) for m in sums]
        return root_mean(errors)

    def largest(self, asked: Wanted, payment: Payment, beta: float) -> float | None:
        return None

    def memory(self, asked: Wanted) -> int:
        d = len(asked.sizes)
        return BYTES_OF_A_CELL * (sum(asked.sizes) + MOST**2) + 8 * (d * MOST) ** 2 + 24 * asked.rows_about * d

    def release(self, asked: Wanted, payment: Payment, exact: Exact, sampler: Sampler, told: Told = unheard) -> Made:
        found = _noised_marginals(asked, payment, exact, sampler)
        codes, rows = np.unique(synthetic_rows(found, sampler), axis=0, return_counts=True)
        return Made(codes, rows, marginals_proofs(found, asked.sizes))


@dataclass(frozen=True, slots=True)
class ByMbi:
    """Noise on every column and on about two pairs a column, and a graphical model of them: by name alone, for it takes
    a minute, and foretells more noise than a tree of pairs in each of them."""

    name: str = "mbi"

    def unfit(self, asked: Wanted, payment: Payment) -> str:
        return ByMarginals().unfit(asked, payment) or ("" if installed() else MISSING)

    def deviation(self, asked: Wanted, payment: Payment) -> float:
        d = len(asked.sizes)
        return ByMarginals().deviation(asked, payment) * math.sqrt(SmallModel().pairs(d) / (d - 1))

    def largest(self, asked: Wanted, payment: Payment, beta: float) -> float | None:
        return None

    def memory(self, asked: Wanted) -> int:
        return BYTES_OF_MBI + ByMarginals().memory(asked)

    def release(self, asked: Wanted, payment: Payment, exact: Exact, sampler: Sampler, told: Told = unheard) -> Made:
        found = _noised_marginals(asked, payment, exact, sampler, SmallModel())
        codes, rows = np.unique(graphical_rows(found, sampler, told), axis=0, return_counts=True)
        return Made(codes, rows, marginals_proofs(found, asked.sizes))


@dataclass(frozen=True, slots=True)
class ByHalfSpaces:
    """Angles of two columns of numbers: all half planes through the origin.

    The sectors are those that a point of the grid lies in, which is public. A sector's rows are spread evenly over its
    points: half planes that do not cut it are not moved.
    """

    name: str = "halfspaces"

    def unfit(self, asked: Wanted, payment: Payment) -> str:
        if len(asked.sizes) != 2:
            return f"it releases two columns of numbers, the plane, and there are {len(asked.sizes)}; mwem learns more."
        if not asked.asks("halfspaces"):
            return "its workload is halfspaces(x, y), and another one is asked."
        return too_many(asked)

    def deviation(self, asked: Wanted, payment: Payment) -> float:
        return least_error(int(self._sectors(asked).max()) + 1, payment)[0].deviation

    def largest(self, asked: Wanted, payment: Payment, beta: float) -> float | None:
        return None  # what the sectors hold that a half plane cuts is not known beforehand

    def memory(self, asked: Wanted) -> int:
        return 2 * BYTES_OF_A_CELL * asked.cells

    def release(self, asked: Wanted, payment: Payment, exact: Exact, sampler: Sampler, told: Told = unheard) -> Made:
        sectors = self._sectors(asked)
        counts = np.bincount(sectors, weights=histogram(asked, exact), minlength=sectors.max() + 1).astype(np.int64)
        found = noisy_ranges(counts, payment, sampler)
        around, proof = found.counts, tree_proof(found) if isinstance(found, NoisyTree) else cells_proof(found)
        shown = np.zeros(asked.cells, dtype=np.int64)
        for sector in np.flatnonzero(around):
            points = np.flatnonzero(sectors == sector)
            shown[points] = shared_out(np.zeros((1, len(points))), around[[sector]])[0]
        return made_of(asked, shown, replace(proof, of=sectors))

    @staticmethod
    def _sectors(asked: Wanted) -> Codes:
        """(N,) which of the sectors with a point each cell is in, around the circle; the origin is the last."""
        (part,) = asked.workload
        return np.unique(sectors_of(asked.points(part.columns), SECTORS), return_inverse=True)[1].ravel()


def _nulls(asked: Wanted) -> list[int | None]:
    """The place of NULL in each column's list, where it is there."""
    return [list(domain).index(None) if None in domain else None for domain in asked.domains]


def histogram(asked: Wanted, exact: Exact) -> Codes:
    """(N,) exact numbers of rows of all cells."""
    counts = np.zeros(asked.cells, dtype=np.int64)
    np.add.at(counts, np.ravel_multi_index(tuple(exact.codes.T), asked.sizes), exact.weights)
    return counts


def made_of(asked: Wanted, shown: Codes, *proofs: Proof) -> Made:
    """The rows of a released histogram."""
    held = np.flatnonzero(shown)
    return Made(np.stack(np.unravel_index(held, asked.sizes), axis=1), shown[held], proofs)


def _noised_marginals(
    asked: Wanted, payment: Payment, exact: Exact, sampler: Sampler, graph: Graph = TREE
) -> NoisyMarginals:
    """The histograms from which rows are made."""
    return noisy_marginals(
        exact.codes, asked.sizes, payment, sampler,
        weights=exact.weights, alone=_nulls(asked), graph=graph, likely=likely_rows(asked),
    )  # fmt: skip


def likely_rows(asked: Wanted) -> int:
    """More synthetic rows than so many are made only where their number is clear of its noise."""
    return max(TIMES_THE_GUESS * asked.rows_about, MOST_MADE // len(asked.sizes))


def too_many(asked: Wanted, most: int = MOST_CELLS) -> str:
    """Why a histogram of all cells is too large; '' where it is not."""
    if asked.cells <= most:
        return ""
    return f"{asked.cells:,} cells are more than the {most:,} that are released one by one."
