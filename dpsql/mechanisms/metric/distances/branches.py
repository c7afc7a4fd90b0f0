"""One unit of the metric buys every linear query over an ordered attribute or a hierarchy: the release of branches.

Let the values be the nodes of a tree, and d the length of the way between two of them (a chain is a tree of two
branches, a star one whose root is no value). For each branch e, count the rows whose value lies beyond it, seen from
the root:

    S_e = number of rows with values beyond e,  released with discrete Laplace noise of scale 1 / w_e.

Theorem. With w_e = length of e the release is d-private. A row's move from u to v changes S_e for the branches on the
way from u to v, each by one, and the lengths of these add up to d(u, v).

Every query over the attribute follows from the counts: with f(v) what a row of value v adds,

    sum over rows of f = f(root) n + sum over branches of (f(end) - f(start)) S_e,

n being the number of rows. A range over a chain ends at two branches, whatever its length, so that its variance is
4 / epsilon^2 where the gaps are epsilon: there is no logarithm, as hierarchies of ranges have under ordinary DP.

Rows that come or go. Where n is not public, it is released too, with scale 1 / w_0. A row of value v that comes or goes
changes n and the counts on the way from the root to v. So the weights w_e = x length and w_0 are d-private, for
x <= 1, if x R + w_0 <= presence, R being the longest way from the root. x is chosen for the least variance.

Source: the line graph of Blowfish privacy (He, Machanavajjhala, Ding 2014; Haney, Machanavajjhala, Ding 2015) is the
chain; trees of any lengths and rows that come or go are ours, proved above.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from dpsql.mechanisms.metric.distances.base import Branches, Integers, Metric

__all__ = ["BranchRelease", "branch_release"]

MANY_NUMBERS = 1 << 22
"""Queries times values: above it, branches are not looked at. A guess."""
HARDLY = 1e-9
"""What branches that no query needs count for, as a share of all, so that nothing is divided by 0. A guess."""


@dataclass(frozen=True, slots=True, eq=False)
class BranchRelease:
    """Noised counts beyond each branch, and what queries they answer.

    Attributes:
        branches: The tree.
        scales: (n,) of the noise on each count, in rows.
        total_scale: Of the noise on the number of rows; None where that is public or not needed.
        presence: What it costs of each unit of presence; 0 where the number of rows is public.
        slope: What it costs of each unit of the attribute's metric: x.
    """

    branches: Branches
    scales: tuple[Fraction, ...]
    total_scale: Fraction | None
    presence: Fraction
    slope: Fraction

    def counts(self, histogram: Integers) -> Integers:
        """(n,) exact S_e from the number of rows with each value, (size,) integers."""
        beyond = histogram.copy()
        for parent, child in zip(
            self.branches.parents[::-1].tolist(), self.branches.children[::-1].tolist(), strict=True
        ):
            if parent >= 0:
                beyond[parent] += beyond[child]
        return np.asarray(beyond[self.branches.children])

    def answers(self, queries: Integers, counts: Integers, total: int) -> Integers:
        """(K,) integers: the queries' answers from noised counts and the public or noised number of rows.

        Args:
            queries: (K, size) integers: what a row of each value adds.
            counts: (n,) noised S_e.
            total: Number of rows. It is multiplied by 0 where the root is no value.
        """
        rises, at_root = self.branches.rises(queries), self.branches.at_root(queries)
        return np.asarray(rises.astype(object) @ counts.astype(object) + at_root.astype(object) * total)

    def variances(self, queries: Integers) -> tuple[float, ...]:
        """Of each answer, in steps^2: those of continuous noise, which are a little above."""
        rises, at_root = self.branches.rises(queries), self.branches.at_root(queries)
        scales = np.array([float(scale) for scale in self.scales])
        total = float(self.total_scale or 0)
        found = 2 * (rises.astype(np.float64) ** 2) @ scales**2 + 2 * (at_root.astype(np.float64) * total) ** 2
        return tuple(found.tolist())


def branch_release(
    metric: Metric, queries: Integers, presence: Fraction | None, worth: Sequence[float] | None = None
) -> BranchRelease | None:
    """The release for these queries; None if the metric is no tree, or has one value, or the queries too many numbers.

    Args:
        metric: Of the one attribute that the queries look at.
        queries: (K, size) integers: what a row of each value adds.
        presence: Distance of an absent row; None where the number of rows is public.
        worth: What each query's variance counts when x is chosen; None for 1.

    >>> from dpsql.mechanisms.metric.distances.chain import Chain
    >>> ages = Chain.even(100, Fraction(1, 10))
    >>> ranges = np.array([[20 <= age < 65 for age in range(100)]]).astype(int)
    >>> branch_release(ages, ranges, presence=None).variances(ranges)
    (400.0,)
    """
    branches = metric.branches()
    if branches is None or metric.size < 2 or queries.size > MANY_NUMBERS:
        return None
    if presence is None:
        return BranchRelease(branches, _scales(branches, Fraction(1)), None, Fraction(0), Fraction(1))
    reach = branches.reach()
    on_total = branches.at_root(queries).astype(np.float64) ** 2
    on_branches = ((branches.rises(queries) / (branches.lengths * float(branches.unit))) ** 2).sum(axis=1)
    counts = np.ones(len(queries)) if worth is None else np.array(worth, dtype=np.float64)
    x = _share(float(counts @ on_branches), float(counts @ on_total), reach, presence)
    total = presence - x * reach if on_total.any() else Fraction(0)
    return BranchRelease(
        branches, _scales(branches, x), 1 / total if total else None, (x * reach + total) / presence, x
    )


def _scales(branches: Branches, x: Fraction) -> tuple[Fraction, ...]:
    """1 / (x length) of each branch."""
    lengths = branches.lengths.tolist()
    scales = {length: 1 / (x * branches.unit * length) for length in set(lengths)}
    return tuple(scales[length] for length in lengths)


def _share(on_branches: float, on_total: float, reach: Fraction, presence: Fraction) -> Fraction:
    """The x <= 1 with the least on_branches / x^2 + on_total / (presence - x reach)^2.

    Where the derivative is 0, (presence - x reach) / x = cube root of (reach on_total / on_branches).
    """
    most = min(Fraction(1), presence / reach)
    if not on_total:
        return most
    room = float(reach) + np.cbrt(float(reach) * on_total / max(on_branches, HARDLY * on_total))
    return min(most * (1 - Fraction(HARDLY)), Fraction(float(presence) / room))
