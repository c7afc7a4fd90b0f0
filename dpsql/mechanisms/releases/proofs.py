"""What is proved of a release's numbers, kept beside it: intervals of whatever is linear in its cells.

Let x be the exact numbers of N cells and w public weights; the question is w'x. With `cells`, x is known as x + Z with
independent Z of a known law; with `tree`, as an unbiased estimate whose error is a known linear function of independent
Z: both give an interval by Chernoff's bound (`reach`), for any w. With `uniform`, every range is within a number of
rows of the truth at once, at 95%: then w is 0 or 1 and one run of 1.

A proof may be of coarser cells (``of``: which of them each cell is in, as the sectors of `halfplanes`): then w is 0 or
1, and w'x lies between the sum of the coarse cells that are counted whole and that of all that are touched. Each end
fails with half the probability.

All of it is made of what was released: post-processing.

Tests: tests/unit/mechanisms/releases/test_proofs.py, tests/statistical/test_release_intervals.py.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from dpsql.mechanisms.noise.laws import GaussianLaw, LaplaceLaw
from dpsql.mechanisms.releases.cells import NoisyCells
from dpsql.mechanisms.releases.reach import reach_of
from dpsql.mechanisms.releases.shares import Floats, Whole
from dpsql.mechanisms.releases.tree import NoisyTree, TreeShape

__all__ = ["Proof", "cells_proof", "read_proof", "tree_proof", "uniform_proof"]

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
    """

    numbers: Floats
    law: LaplaceLaw | GaussianLaw | None = None
    shape: TreeShape | None = None
    within: float | None = None
    of: Whole | None = None

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
        if not np.isin(weights, (0.0, 1.0)).all():
            return None
        number = np.bincount(self.of, minlength=len(self.numbers))
        counted = np.bincount(self.of, weights=weights, minlength=len(self.numbers))
        whole = self._interval((counted == number).astype(np.float64), confidence)
        touched = self._interval((counted > 0).astype(np.float64), confidence)
        return None if whole is None or touched is None else (whole[0], touched[1])

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
        return {"numbers": self.numbers.tolist(), "noise": noise, "shape": shape, "within": self.within, "of": of}


def cells_proof(released: NoisyCells) -> Proof:
    """What is proved of noised cells."""
    return Proof(released.noised.astype(np.float64), released.law)


def tree_proof(released: NoisyTree) -> Proof:
    """What is proved of a noised tree."""
    return Proof(released.estimates, released.law, released.shape)


def uniform_proof(shown: Floats, within: float) -> Proof:
    """That every range of what is shown is within so many rows, at 95%."""
    return Proof(shown, within=math.ceil(within))


def read_proof(told: Mapping[str, Any] | None) -> Proof | None:
    """What `Proof.told` kept."""
    if told is None:
        return None
    law: LaplaceLaw | GaussianLaw | None = None
    if told["noise"]:
        kind, amount = told["noise"]
        law = LaplaceLaw(Fraction(amount)) if kind == "LaplaceLaw" else GaussianLaw(Fraction(amount))
    shape = TreeShape(*told["shape"]) if told["shape"] else None
    of = None if told["of"] is None else np.array(told["of"], dtype=np.int64)
    return Proof(np.array(told["numbers"], dtype=np.float64), law, shape, told["within"], of)
