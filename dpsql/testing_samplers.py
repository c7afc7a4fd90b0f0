"""Samplers that are not private, for tests only: no noise at all, or the same noise every time."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from fractions import Fraction
from itertools import count
from math import gcd

import numpy as np
import numpy.typing as npt

from dpsql.privacy.inversion import checked, one_by_one
from dpsql.privacy.probabilities import check_positive
from dpsql.privacy.sampling import ExactSampler, ExpOf, Integers

__all__ = ["FixedSampler", "Noiseless"]


class Noiseless:
    """Draws nothing: noise is 0, a choice is the best one, a coin shows its likelier side.

    >>> Noiseless().laplace(Fraction(5), size=3).tolist()
    [0, 0, 0]
    """

    def laplace(self, scale: Fraction, size: int) -> Integers:
        """(size,) zeros."""
        check_positive("laplace scale", scale)
        return np.zeros(size, dtype=np.int64)

    def gaussian(self, variance: Fraction, size: int) -> Integers:
        """(size,) zeros."""
        check_positive("gaussian variance", variance)
        return np.zeros(size, dtype=np.int64)

    def bernoulli(self, p: Fraction | ExpOf, size: int) -> npt.NDArray[np.bool_]:
        """(size,) all True where p >= 1/2, otherwise all False."""
        likely = p.enclosed(bits=64)[0] >= 1 << 63 if isinstance(p, ExpOf) else p >= Fraction(1, 2)
        return np.full(size, likely)

    def bernoulli_of_each(self, gaps: Integers, exponent: Fraction) -> npt.NDArray[np.bool_]:
        """(n,) the same of each exp(-exponent gaps[i])."""
        return np.array([self.bernoulli(ExpOf(exponent * int(gap)), 1)[0] for gap in gaps], dtype=np.bool_)

    def integers(self, m: int, size: int) -> Integers:
        """(size,) zeros."""
        return np.zeros(size, dtype=np.int64)

    def chances(self, numerators: Integers, m: int) -> npt.NDArray[np.bool_]:
        """(n,) True where numerators / m >= 1/2."""
        return np.asarray(2 * numerators >= m, dtype=np.bool_)

    def order(self, size: int) -> Integers:
        """(size,) the numbers 0 ... size - 1, those next to each other about 0.38 size apart."""
        stride = next(k for k in count(max(1, round(0.382 * size))) if gcd(k, size) == 1) if size else 1
        return np.arange(size, dtype=np.int64) * stride % max(1, size)

    def permute_and_flip(self, scores: Sequence[int], exponent: Fraction) -> int:
        """The best candidate, the first of ties."""
        return max(range(len(scores)), key=lambda i: scores[i])

    def intervals(self, widths: Sequence[int], scores: Sequence[int], exponent: Fraction) -> tuple[int, int]:
        """The best interval that is not empty, the first of ties, and its middle."""
        sizes, gaps = checked(widths, scores)
        i = next(i for i, size in enumerate(sizes) if size and not gaps[i])
        return i, int(sizes[i]) // 2

    def intervals_of_each(
        self, starts: Integers, widths: Integers, scores: Integers, exponent: Fraction
    ) -> tuple[Integers, Integers]:
        """The same of each group."""
        return one_by_one(self.intervals, starts, widths, scores, exponent)


class FixedSampler:
    """The exact laws over a reproducible stream: call k draws the same words in every run with this seed.

    The words of a call depend on the seed and its number alone, so that two runs that make the same calls on
    neighbouring data see the same noise, whatever else their arguments (scores, widths) hold.

    Args:
        seed: Any text or number; it names the stream.

    >>> bool((FixedSampler(7).laplace(Fraction(5), 9) == FixedSampler(7).laplace(Fraction(5), 9)).all())
    True
    """

    def __init__(self, seed: int | str) -> None:
        self._seed = seed
        self._calls = count()

    def _call(self) -> ExactSampler:
        return ExactSampler(read=_stream(f"{self._seed!r}, call {next(self._calls)}"))

    def laplace(self, scale: Fraction, size: int) -> Integers:
        """(size,) discrete Laplace noise."""
        return self._call().laplace(scale, size)

    def gaussian(self, variance: Fraction, size: int) -> Integers:
        """(size,) discrete Gaussian noise."""
        return self._call().gaussian(variance, size)

    def bernoulli(self, p: Fraction | ExpOf, size: int) -> npt.NDArray[np.bool_]:
        """(size,) coins."""
        return self._call().bernoulli(p, size)

    def bernoulli_of_each(self, gaps: Integers, exponent: Fraction) -> npt.NDArray[np.bool_]:
        """(n,) independent coins."""
        return self._call().bernoulli_of_each(gaps, exponent)

    def integers(self, m: int, size: int) -> Integers:
        """(size,) uniform integers below m."""
        return self._call().integers(m, size)

    def chances(self, numerators: Integers, m: int) -> npt.NDArray[np.bool_]:
        """(n,) independent coins."""
        return self._call().chances(numerators, m)

    def order(self, size: int) -> Integers:
        """(size,) numbers in a random order."""
        return self._call().order(size)

    def permute_and_flip(self, scores: Sequence[int], exponent: Fraction) -> int:
        """Index of the chosen candidate."""
        return self._call().permute_and_flip(scores, exponent)

    def intervals(self, widths: Sequence[int], scores: Sequence[int], exponent: Fraction) -> tuple[int, int]:
        """Index and offset of the chosen point."""
        return self._call().intervals(widths, scores, exponent)

    def intervals_of_each(
        self, starts: Integers, widths: Integers, scores: Integers, exponent: Fraction
    ) -> tuple[Integers, Integers]:
        """(k,) and (k,): those of each group."""
        return self._call().intervals_of_each(starts, widths, scores, exponent)


def _stream(name: str) -> Callable[[int], bytes]:
    """A byte source: its k-th read is SHAKE-256 of the name and k, so no two reads share a byte."""
    reads = count()
    return lambda size: hashlib.shake_256(f"{name}, read {next(reads)}".encode()).digest(size)
