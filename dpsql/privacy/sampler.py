"""What draws noise: the methods that mechanisms ask, whoever answers.

Tests: tests/unit/privacy/test_sampling.py, tests/exhaustive/test_sampler.py.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Protocol

import numpy as np
import numpy.typing as npt

from dpsql.privacy.probabilities import ExpOf
from dpsql.privacy.words import Integers

__all__ = ["Sampler"]


class Sampler(Protocol):
    """What mechanisms draw from. Release paths are given an `ExactSampler`, tests a stand-in."""

    def laplace(self, scale: Fraction, size: int) -> Integers:
        """(size,) draws of discrete Laplace noise, P(k) ~ exp(-|k| / scale); 0 < scale, in grid steps."""

    def gaussian(self, variance: Fraction, size: int) -> Integers:
        """(size,) draws of discrete Gaussian noise, P(k) ~ exp(-k^2 / (2 variance)); 0 < variance, in grid steps^2."""

    def bernoulli(self, p: Fraction | ExpOf, size: int) -> npt.NDArray[np.bool_]:
        """(size,) bool, each True with probability p."""

    def bernoulli_of_each(self, gaps: Integers, exponent: Fraction) -> npt.NDArray[np.bool_]:
        """(n,) bool, lane i True with probability exp(-exponent gaps[i]), independently; gaps >= 0."""

    def integers(self, m: int, size: int) -> Integers:
        """(size,) integers, uniform on 0 ... m - 1."""

    def chances(self, numerators: Integers, m: int) -> npt.NDArray[np.bool_]:
        """(n,) bool, lane i True with probability numerators[i] / m, independently."""

    def order(self, size: int) -> Integers:
        """(size,) the numbers 0 ... size - 1 in a uniformly random order."""

    def permute_and_flip(self, scores: Sequence[int], exponent: Fraction) -> int:
        """Index of the chosen candidate; exponent = epsilon / (2 sensitivity of the scores) >= 0."""

    def intervals(self, widths: Sequence[int], scores: Sequence[int], exponent: Fraction) -> tuple[int, int]:
        """Index i and offset in 0 ... widths[i] - 1 of the chosen point; P(i) ~ widths[i] exp(exponent scores[i])."""

    def intervals_of_each(
        self, starts: Integers, widths: Integers, scores: Integers, exponent: Fraction
    ) -> tuple[Integers, Integers]:
        """(k,) and (k,): the same of each of k groups, which begin at (k + 1,) starts, the last of them an end."""
