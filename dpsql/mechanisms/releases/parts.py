"""One column's noised numbers of rows; one of many codes is cut into parts of about equal numbers, and filled in again.

Neighbours: ``add_remove`` and ``replace_one`` (`payment`). Loss: `Pure` with discrete Laplace noise, `Concentrated`
with discrete Gaussian noise.

Up to 48 codes get noise one by one. More are the leaves of a tree with 16 children a node, as in `tree`, its root
noised too: every level is a histogram of the table.

1. All levels get noise, and are made consistent by least squares.
2. *The expected rows of each code*, from the root down. A node's rows are shared out between even shares and what the
   noise shows of its children: with the distances d of the k children from even shares and v the variance of the noise,
   max(0, 1 - (k - 1) v / |d|^2) of the way (James and Stein's estimator). Where there is nothing but noise, codes get
   even shares; one code with many rows stands out of them.
3. *Parts*: from the first code on, a part is closed where the next code would bring it above a share of the rows. A
   code with more than such a share is a part by itself, and so is one that is named, such as NULL's.
4. *Rows* of a part get codes in the proportions of 2, each as often as that to less than one row.

Theorem. The release is epsilon-DP, or rho-zCDP, under the neighbours of its payment.

Proof. Levels are histograms (`payment`, 1 and 2); 2 to 4 are post-processing of them.  QED

So cuts are quantiles of the rows that cost nothing of their own. What a code has in common with other columns is known
of its part alone.

Source: Hay, Rastogi, Miklau, Suciu 2010 (1); James, Stein 1961 (2); the rest is ours.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from dpsql.mechanisms.noise.laws import GaussianLaw, LaplaceLaw
from dpsql.mechanisms.releases.payment import Payment
from dpsql.mechanisms.releases.reach import deviation_of
from dpsql.mechanisms.releases.shares import NOTHING, Floats, Whole, nearest, sums
from dpsql.mechanisms.releases.tree import TreeShape
from dpsql.privacy.sampling import Sampler, noised

__all__ = ["LONG", "MOST_CODES", "CutColumn", "FlatColumn", "NoisyCodes", "noisy_codes"]

LONG = 48  # Codes above which a column is cut. It is a choice: pairs of shorter columns have few cells.
BRANCHING = 16  # Children of a node: Qardaji, Yang, Li 2013 find 8 to 16 good for ranges. It is a choice.
MOST_CODES = 16**5  # Codes of one column: a tree of five levels, 60 MB. It is a choice.
LEAST = 1e-9  # In rows: what every code has at least, so that rows of an empty part have codes. It is a choice.
STEPS = 1 << 30  # Into how many steps the random offset of rows is cut. It is a choice: it moves one row at most.
Codes = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class FlatColumn:
    """The noised numbers of a short column, which is not cut.

    Attributes:
        numbers: (s,) unbiased numbers of rows.
        variances: (s,) of their noise.
        law: Of it.
    """

    numbers: Whole
    variances: Floats
    law: LaplaceLaw | GaussianLaw

    @property
    def total(self) -> tuple[float, float]:
        """The noised number of all rows, and the variance of its noise."""
        return float(self.numbers.sum()), float(self.variances.sum())

    def cut(self, parts: int, alone: int | None = None) -> FlatColumn:
        """Itself."""
        return self


@dataclass(frozen=True, slots=True)
class NoisyCodes:
    """The noised numbers of all codes of a long column.

    Attributes:
        estimates: (s,) unbiased numbers of rows.
        expected: (s,) numbers of rows, >= 0, even where there is but noise.
        shape: Of the tree.
        law: The noise of each node.
    """

    estimates: Floats
    expected: Floats
    shape: TreeShape
    law: LaplaceLaw | GaussianLaw

    @property
    def total(self) -> tuple[float, float]:
        """The noised number of all rows, and the variance of its noise."""
        every = np.ones(self.shape.cells)
        return float(self.estimates.sum()), self.shape.deviation(every, self.law) ** 2

    def cut(self, parts: int, alone: int | None = None) -> CutColumn:
        """The codes in about so many parts.

        Args:
            parts: How many, at most twice as many if single codes hold much, >= 1.
            alone: A code that shares its part with no other.
        """
        most = max(float(self.expected.sum()) / parts, LEAST)
        of_code, part, held = [], 0, 0.0
        lonely = False  # whether the part so far takes no other code
        for code, rows in enumerate(self.expected.tolist()):
            heavy = rows > most or code == alone
            if code and (heavy or lonely or held + rows > most):
                part, held = part + 1, 0.0
            of_code.append(part)
            held, lonely = held + rows, heavy
        of = np.array(of_code, dtype=np.int64)
        spread = [self.shape.deviation((of == p).astype(np.float64), self.law) ** 2 for p in range(part + 1)]
        numbers: Floats = np.asarray(np.bincount(of, self.estimates), dtype=np.float64)
        return CutColumn(of, self.expected, numbers, np.array(spread))


@dataclass(frozen=True, slots=True)
class CutColumn:
    """The parts of a long column.

    Attributes:
        of: (s,) the part of each code, from 0.
        expected: (s,) the expected numbers of rows, >= 0.
        numbers: (k,) the noised numbers of rows of the parts.
        variances: (k,) of their noise.
    """

    of: Codes
    expected: Floats
    numbers: Floats
    variances: Floats

    def filled(self, parts: Codes, sampler: Sampler) -> Codes:
        """(n,) a code of its part for each row, as often as expected, in a random order (4)."""
        held = np.bincount(parts, minlength=len(self.numbers))
        weights = self.expected + LEAST
        of_part = np.bincount(self.of, weights)
        up_to = np.cumsum(weights * (held / of_part)[self.of])
        ends = np.flatnonzero(np.diff(self.of, append=len(held)))
        up_to[ends] = np.cumsum(held)  # whole numbers, whatever float64 made of them
        offset = int(sampler.integers(STEPS, 1)[0]) / STEPS
        often = np.maximum(np.diff(np.floor(up_to + offset), prepend=0), 0).astype(np.int64)
        order = sampler.order(len(parts)).astype(np.int64)
        rows = np.empty_like(parts)
        rows[order[np.argsort(parts[order], kind="stable")]] = np.repeat(np.arange(len(self.of)), often)
        return rows


def noisy_codes(
    counts: Codes, payment: Payment, share: Fraction, columns: int, sampler: Sampler
) -> FlatColumn | NoisyCodes:
    """The noised numbers of one of so many columns that cost ``share`` of the price together.

    Args:
        counts: (s,) exact numbers of rows, in the order of the codes.
        payment: The price and the neighbours.
        share: Of the price, for all columns.
        columns: How many there are.
        sampler: Of the noise.

    Raises:
        ValueError: If there are too many codes.
    """
    if len(counts) > MOST_CODES:
        raise ValueError(f"a column has {len(counts):,} codes, above {MOST_CODES:,}; cut it into fewer")
    if len(counts) <= LONG:
        law = payment.noise(share, histograms=columns)
        drawn = np.asarray(noised(counts, law.draw(sampler, len(counts))))
        return FlatColumn(drawn, np.full(len(counts), deviation_of(law) ** 2), law)
    shape = TreeShape(len(counts), BRANCHING, root=True)
    law = payment.noise(share, histograms=columns * shape.levels)
    seen = [noised(level, law.draw(sampler, len(level))).astype(np.float64) for level in sums(counts, BRANCHING)]
    found = shape.consistent(seen, None)
    cells = [level.astype(np.float64) for level in sums(np.ones(len(counts), dtype=np.int64), BRANCHING)]
    expected = np.maximum(found[0], 0)
    variance = deviation_of(law) ** 2
    for held, numbers in zip(cells[1:], found[1:], strict=True):
        expected = _between(expected, held.reshape(-1, BRANCHING), numbers.reshape(-1, BRANCHING), variance).ravel()
    return NoisyCodes(found[-1][: len(counts)], expected[: len(counts)], shape, law)


def _between(rows: Floats, cells: Floats, noisy: Floats, variance: float) -> Floats:
    """(nodes, children) each node's rows, between even shares of its cells and what was noised (2)."""
    there = cells > 0
    even = cells * (rows / np.maximum(cells.sum(axis=1), 1))[:, None]
    apart = np.where(there, noisy - even, 0)
    apart -= np.where(there, (apart.sum(axis=1) / np.maximum(there.sum(axis=1), 1))[:, None], 0)
    far = (apart**2).sum(axis=1)
    way = np.maximum(0, 1 - (there.sum(axis=1) - 1) * variance / np.maximum(far, LEAST))
    found = np.where(there, even + way[:, None] * apart, NOTHING)
    return nearest(found, rows)
