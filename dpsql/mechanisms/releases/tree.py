"""A tree of noisy ranges: every range of an ordered domain from few of its nodes, made consistent by least squares.

Neighbours: ``add_remove`` and ``replace_one`` (`payment`). Loss: `Pure` with discrete Laplace noise, `Concentrated`
with discrete Gaussian noise.

The N cells are the leaves of a tree in which every node has b children, filled up with empty cells to b^h. Every level
is a histogram of the table, and all of them share the price alike: h of them where the number of rows is public, for
the root is that number, and h + 1 where it is private.

1. Every node of these levels gets noise.
2. Least squares: the numbers nearest to the noised ones among those in which each node is the sum of its children.
3. From the root down, each node's whole rows are shared out among its children (`shares.shared_down`). Cells that only
   fill up the tree get none.

Theorem. The release is epsilon-DP, or rho-zCDP, under the neighbours of its payment.

Proof. The levels are histograms of one table (`payment`, 1 and 2); the rest is post-processing.  QED

Least squares in two passes. Let a node of height i have b^i leaves below it. Upwards, z is the best estimate of a node
from what is below and at it: z = y at a leaf, else z = (b^(i + 1) - b^i) / (b^(i + 1) - 1) y + (b^i - 1) / (b^(i + 1) -
1) (sum of the children's z). Downwards, x = z at the root (or the public number), and x = z + (x of the parent - sum of
the siblings' z) / b.

**Error of a linear query** w of the cells, before step 3. With A the nodes' sums, x = (A'A)^-1 A' y, so w'x has the
weights A (A'A)^-1 w on the noise and the variance w' (A'A)^-1 w times that of one draw. And (A'A)^-1 w is step 2 run on
y = w at the leaves and 0 above them, for then A'y = w: public, and in the same time. Intervals are Chernoff's bound for
these weights (`reach`), stretched to what the released rows show.

Source: Hay, Rastogi, Miklau, Suciu 2010, Theorem 3; the variances and step 3 are above.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from dpsql.mechanisms.noise.laws import GaussianLaw, LaplaceLaw
from dpsql.mechanisms.releases.payment import Payment
from dpsql.mechanisms.releases.reach import deviation_of, reach_of
from dpsql.mechanisms.releases.shares import Floats, Whole, shared_down, sums
from dpsql.privacy.sampling import Sampler, noised

__all__ = ["NoisyTree", "TreeShape", "noisy_tree"]


@dataclass(frozen=True, slots=True)
class TreeShape:
    """A tree over ordered cells.

    Attributes:
        cells: N >= 1.
        branching: b >= 2, the children of a node.
        root: Whether the root is noised: its number is private.
    """

    cells: int
    branching: int
    root: bool

    def __post_init__(self) -> None:
        if self.cells < 1 or self.branching < 2:
            raise ValueError(f"a tree of {self.cells} cells, {self.branching} children a node: give 1 and 2 or more")

    @property
    def height(self) -> int:
        """h, the levels below the root."""
        height = 1
        while self.branching**height < self.cells:
            height += 1
        return height

    @property
    def levels(self) -> int:
        """How many levels are noised."""
        return self.height + self.root

    def consistent(self, levels: Sequence[Floats], total: float | None) -> list[Floats]:
        """The consistent numbers nearest to those of all levels; ``total`` is the root's where it is public."""
        b = self.branching
        z = [levels[-1]]
        for i, level in enumerate(reversed(levels[:-1]), start=1):
            own = (b ** (i + 1) - b**i) / (b ** (i + 1) - 1)
            z.append(own * level + (b**i - 1) / (b ** (i + 1) - 1) * z[-1].reshape(-1, b).sum(axis=1))
        z.reverse()
        found = [z[0] if total is None else np.array([float(total)])]
        for level in z[1:]:
            rows = level.reshape(-1, b)
            found.append((rows + ((found[-1] - rows.sum(axis=1)) / b)[:, None]).ravel())
        return found

    def weights(self, query: Floats) -> Floats:
        """The weights that a linear query of the cells puts on the noise of all noised nodes."""
        empty = [np.zeros(self.branching**depth) for depth in range(self.height)]
        leaves = np.concatenate([query, np.zeros(self.branching**self.height - self.cells)])
        found = self.consistent([*empty, leaves], None if self.root else 0.0)
        return np.concatenate(found if self.root else found[1:])

    def range_query(self, start: int, stop: int) -> Floats:
        """(N,) 1 for the cells start ... stop - 1, else 0."""
        query = np.zeros(self.cells)
        query[start:stop] = 1
        return query

    def deviation(self, query: Floats, law: LaplaceLaw | GaussianLaw) -> float:
        """The standard deviation of a linear query's error before the rows are made whole, in rows."""
        weights = self.weights(query)
        return math.sqrt(float(weights @ weights)) * deviation_of(law)


@dataclass(frozen=True, slots=True)
class NoisyTree:
    """A histogram that was released through a tree.

    Attributes:
        counts: (N,) int64 whole numbers of rows, >= 0.
        estimates: (N,) float64, the unbiased numbers behind them.
        law: The noise of each node.
        shape: Of the tree.
    """

    counts: Whole
    estimates: Floats
    law: LaplaceLaw | GaussianLaw
    shape: TreeShape

    def range_interval(self, start: int, stop: int, confidence: float = 0.95) -> tuple[int, int]:
        """An interval that holds the true number of rows in the cells start ... stop - 1 with that probability."""
        weights = self.shape.weights(self.shape.range_query(start, stop))
        reach = reach_of(self.law, weights, (1 - confidence) / 2)
        middle, shown = float(self.estimates[start:stop].sum()), int(self.counts[start:stop].sum())
        return min(math.floor(middle - reach), shown), max(math.ceil(middle + reach), shown)


def noisy_tree(
    counts: Sequence[int] | Whole, payment: Payment, sampler: Sampler, total: int | None = None, branching: int = 2
) -> NoisyTree:
    """A histogram of ordered cells with noise on a tree of ranges.

    Args:
        counts: (N,) exact numbers of rows, in the order of the domain, N >= 1.
        payment: The price and the neighbours.
        sampler: Of the noise.
        total: The number of rows where it is public (``replace_one``, one row a unit).
        branching: The children of a node, >= 2.

    Raises:
        ValueError: If there is no cell, branching is below 2, or a total is named where it is private.

    >>> from dpsql.testing_samplers import Noiseless
    >>> from fractions import Fraction
    >>> noisy_tree([3, 0, 4], Payment("add_remove", epsilon=Fraction(1)), Noiseless()).counts.tolist()
    [3, 0, 4]
    """
    payment.check_total(total)
    shape = TreeShape(len(counts), branching, root=total is None)
    law = payment.noise(histograms=shape.levels)
    exact = sums(np.asarray(counts, dtype=np.int64), branching)
    noisy = exact if shape.root else exact[1:]
    drawn = noised(np.concatenate(noisy), law.draw(sampler, sum(map(len, noisy))))
    edges = np.cumsum([len(level) for level in noisy])[:-1]
    seen = [level.astype(np.float64) for level in np.split(drawn, edges)]
    found = shape.consistent(seen if shape.root else [np.zeros(1), *seen], None if total is None else float(total))
    rows = shared_down(found, max(0, round(float(found[0][0]))), shape.cells)
    return NoisyTree(rows, found[-1][: shape.cells], law, shape)
