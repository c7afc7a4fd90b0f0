"""What is proved of a release's numbers, kept beside it: intervals of whatever is linear in its cells.

Let x be the exact numbers of N cells and w public weights; the question is w'x. With `cells`, x is known as x + Z with
independent Z of a known law; with `tree`, as an unbiased estimate whose error is a known linear function of independent
Z: both give an interval by Chernoff's bound (`reach`), for any w. With `uniform`, every range is within a number of
rows of the truth at once, at 95%: then w is 0 or 1 and one run of 1.

A proof may be of some of a table's columns (``columns``): its cells are the combinations of their values, as the
noised columns and pairs of `marginals` are. It may be of coarser cells (``of``: which of them each cell is in, as the
sectors of `halfplanes`, the boxes of `rectangles` or the pairs of columns that were cut): the rows of one, X_c, are
>= 0 and spread in some way over its cells, so that w'x lies between the sums of X_c times the least and the largest
weight in c. Each end fails with half the probability.

Where several proofs cover a question, as a noised column of `marginals` and the pairs that it is in, the one whose
noise has the least deviation is taken, at half the chance of failure (`least_interval`). Of noised columns, which one
that would be is public; which pairs there are, and into which parts columns were cut, hangs on the noise of columns,
but not on that of pairs. So the column that may be taken misses with half the chance at most, and so does, whatever the
noise of columns, the pair.

All of it is made of what was released: post-processing.

Tests: tests/unit/mechanisms/releases/test_proofs.py, tests/statistical/test_release_intervals.py.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from dpsql.mechanisms.noise.laws import GaussianLaw, LaplaceLaw
from dpsql.mechanisms.releases.cells import NoisyCells
from dpsql.mechanisms.releases.marginals import NoisyMarginals
from dpsql.mechanisms.releases.parts import FlatColumn
from dpsql.mechanisms.releases.reach import deviation_of, reach_of
from dpsql.mechanisms.releases.rectangles import NoisyBoxes
from dpsql.mechanisms.releases.shares import Floats, Whole
from dpsql.mechanisms.releases.tree import NoisyTree, TreeShape

__all__ = [
    "MOST_PROVED",
    "Proof",
    "boxes_proofs",
    "cells_proof",
    "least_interval",
    "marginals_proofs",
    "read_proof",
    "tree_proof",
    "uniform_proof",
]

MOST_PROVED = 50_000
"""Values of a column, a pair or a grid that intervals are kept for. It is a choice: the ledger holds them."""
UNIFORM = 0.95  # The probability with which a bound of all ranges at once holds. It is a choice: beta is 0.05.


@dataclass(frozen=True, slots=True)
class Proof:
    """What is proved.

    Attributes:
        numbers: (N,) what is known of the cells: unbiased, or, with ``within``, shown.
        law: The noise behind unbiased numbers.
        shape: Of the tree that it was added to; None where it was added to every cell.
        within: Rows within which every range is; None for unbiased numbers.
        of: Where the numbers are of coarser cells: (N,) the one that each cell is in.
        columns: Of the table, rising; None for all of them.
    """

    numbers: Floats
    law: LaplaceLaw | GaussianLaw | None = None
    shape: TreeShape | None = None
    within: float | None = None
    of: Whole | None = None
    columns: tuple[int, ...] | None = None

    @property
    def cells(self) -> int:
        """N."""
        return len(self.numbers if self.of is None else self.of)

    def interval(self, weights: Floats, confidence: float) -> tuple[float, float] | None:
        """An interval that holds the weighted sum of the exact numbers with that probability; None where none is
        proved.

        Args:
            weights: (N,) one for each cell.
            confidence: Between 0 and 1.
        """
        if self.of is None:
            return self._interval(weights, confidence)
        least, largest = self._ends(weights, self.of)
        low, high = self._interval(least, confidence), self._interval(largest, confidence)
        return None if low is None or high is None else (low[0], high[1])

    def deviation(self, weights: Floats) -> float:
        """The standard deviation of the noise in the weighted sum; infinite where more than noise is unknown."""
        if self.of is not None:
            weights, largest = self._ends(weights, self.of)
            if (weights != largest).any():
                return math.inf
        if self.law is None:
            return math.inf
        on_noise = weights if self.shape is None else self.shape.weights(weights)
        return math.sqrt(float(on_noise @ on_noise)) * deviation_of(self.law)

    def _ends(self, weights: Floats, of: Whole) -> tuple[Floats, Floats]:
        """The least and the largest weight in each coarser cell; 0 where it has none."""
        least, largest = np.full(len(self.numbers), np.inf), np.full(len(self.numbers), -np.inf)
        np.minimum.at(least, of, weights)
        np.maximum.at(largest, of, weights)
        return np.where(np.isfinite(least), least, 0.0), np.where(np.isfinite(largest), largest, 0.0)

    def _interval(self, weights: Floats, confidence: float) -> tuple[float, float] | None:
        middle = float(weights @ self.numbers)
        if self.within is not None:
            held = np.flatnonzero(weights)
            run = not len(held) or (held[-1] - held[0] + 1 == len(held) and bool((weights[held] == 1).all()))
            return (max(0.0, middle - self.within), middle + self.within) if run and confidence <= UNIFORM else None
        if self.law is None:
            return None
        on_noise = weights if self.shape is None else self.shape.weights(weights)
        reach = reach_of(self.law, on_noise, (1 - confidence) / 2) if on_noise.any() else 0.0
        return middle - reach, middle + reach

    def told(self) -> Mapping[str, Any]:
        """As it is kept."""
        law = self.law
        noise = [] if law is None else [type(law).__name__, law.scale if isinstance(law, LaplaceLaw) else law.variance]
        shape = [] if self.shape is None else [self.shape.cells, self.shape.branching, self.shape.root]
        of = None if self.of is None else self.of.tolist()
        columns = None if self.columns is None else list(self.columns)
        return {
            **{"numbers": self.numbers.tolist(), "noise": noise, "shape": shape},
            **{"within": self.within, "of": of, "columns": columns},
        }


def least_interval(spread: Sequence[tuple[Proof, Floats]], confidence: float) -> tuple[float, float] | None:
    """The interval of the proof with the least noise.

    Args:
        spread: Proofs, each with the question's weights over its own cells.
        confidence: Between 0 and 1.
    """
    if len(spread) == 1:
        ((proof, weights),) = spread
        return proof.interval(weights, confidence)
    proof, weights = min(spread, key=lambda pair: pair[0].deviation(pair[1]))
    return proof.interval(weights, (1 + confidence) / 2)


def cells_proof(released: NoisyCells) -> Proof:
    """What is proved of noised cells."""
    return Proof(released.noised.astype(np.float64), released.law)


def tree_proof(released: NoisyTree) -> Proof:
    """What is proved of a noised tree."""
    return Proof(released.estimates, released.law, released.shape)


def uniform_proof(shown: Floats, within: float) -> Proof:
    """That every range of what is shown is within so many rows, at 95%."""
    return Proof(shown, within=math.ceil(within))


def marginals_proofs(released: NoisyMarginals, sizes: Sequence[int]) -> tuple[Proof, ...]:
    """What is proved of noised columns of so many codes, and of noised pairs of them."""
    found = []
    for j, column in enumerate(released.seen):
        if isinstance(column, FlatColumn):
            found.append(Proof(column.numbers.astype(np.float64), column.law, columns=(j,)))
        elif len(column.estimates) <= MOST_PROVED:
            found.append(Proof(column.estimates, column.law, column.shape, columns=(j,)))
    for (a, b), table in released.pairs.items():
        parts = [released.cuts[j].of if j in released.cuts else np.arange(sizes[j]) for j in (a, b)]
        if sizes[a] * sizes[b] <= MOST_PROVED:
            of = (parts[0][:, None] * table.shape[1] + parts[1]).ravel() if {a, b} & released.cuts.keys() else None
            found.append(Proof(table.ravel().astype(np.float64), released.pair_law, of=of, columns=(a, b)))
    return tuple(found)


def boxes_proofs(released: NoisyBoxes) -> tuple[Proof, ...]:
    """What is proved of the cells that noised boxes fill, where they are few enough to be kept."""
    cells = math.prod(released.sizes)
    return (Proof(released.numbers, released.law, of=released.box_of()),) if cells <= MOST_PROVED else ()


def read_proof(told: Mapping[str, Any]) -> Proof:
    """What `Proof.told` kept."""
    law: LaplaceLaw | GaussianLaw | None = None
    if told["noise"]:
        kind, amount = told["noise"]
        law = LaplaceLaw(Fraction(amount)) if kind == "LaplaceLaw" else GaussianLaw(Fraction(amount))
    shape = TreeShape(*told["shape"]) if told["shape"] else None
    of = None if told["of"] is None else np.array(told["of"], dtype=np.int64)
    columns = None if told.get("columns") is None else tuple(told["columns"])
    return Proof(np.array(told["numbers"], dtype=np.float64), law, shape, told["within"], of, columns)
