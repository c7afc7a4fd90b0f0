"""Exact noise from the kernel's randomness: the only place where dpsql draws any.

Every decision asks whether U < p, for U uniform on [0, 1) revealed one word of bits at a time and p an exact
real number. Known bits of U leave a cell [u, u + 1) / 2^bits; integers ``low <= p 2^bits <= high`` enclose p:

    yes         u + 1 <= low      all of the cell is below p
    no          u >= high         none of it is
    otherwise   read another word, enclose p more tightly, ask again    (probability about 2^-32)

So nothing is rounded or truncated, and floats only ever decide what they can prove. No loop depends on the value
being drawn: the time of a call says nothing about its noise.

`os.urandom` has no seed and no state in this process: threads and forked processes never share a draw. Copies of
one virtual machine's snapshot are safe as far as their kernels reseed.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from math import ceil, isqrt, sqrt
from operator import index

import numpy as np
import numpy.typing as npt

from dpsql.privacy.inversion import checked, gaps_of_each, located, located_in_each, one_by_one
from dpsql.privacy.probabilities import DigitOf, ExpOf, Probability, Ratio, as_fraction, check_positive, share_kept
from dpsql.privacy.sampler import Sampler
from dpsql.privacy.words import (
    SPARE,
    Integers,
    Read,
    number_below,
    numbers_below,
    of_digits,
    uniform,
    whole_numbers,
    word,
)

__all__ = ["ExactSampler", "ExpOf", "Integers", "Sampler", "noised"]

LANES = 1 << 13  # Numbers drawn together. It is a choice: their arrays stay in the processor's cache.
MOST_DIGITS = 61  # Binary digits of a geometric variable in int64: the difference of two stays within +-2^62.
FAR = 3
"""Proposals beside those that are needed on average, for each root of a number of draws: their standard deviation is
below 1 for large variances, and up to 1.6 for those below 1. It is a choice: few draws propose twice."""


@dataclass(frozen=True, slots=True)
class _Coins:
    """Probabilities, and what the first word of U says about each.

    Args:
        ps: (k,) probabilities.
        lows: (k, 1) integers; a word below decides for yes.
        highs: (k, 1) integers; a word not below decides for no.
    """

    ps: Sequence[Probability]
    lows: Integers
    highs: Integers

    @classmethod
    def of(cls, ps: Sequence[Probability], bits: int) -> _Coins:
        """The probabilities with their edges for words of so many bits."""
        edges = np.array([p.enclosed(bits) for p in ps], dtype=np.uint64)
        narrow = edges.astype(np.min_scalar_type(int(edges.max())))  # compares faster with words as narrow
        return cls(ps, narrow[:, :1], narrow[:, 1:])


@lru_cache(maxsize=1024)
def _digits_of(scale: Fraction, bits: int) -> _Coins:
    """The digits of a geometric variable of this (public) scale, and last whether its tail is above 0."""
    digits = min((ceil(45 * scale) - 1).bit_length(), MOST_DIGITS)  # exp(-45) < 2^-64
    coins = [DigitOf((1 << j) / scale) for j in range(digits)]
    return _Coins.of([*coins, ExpOf((1 << digits) / scale)], bits)


@dataclass(frozen=True, slots=True)
class ExactSampler:
    """Exact draws over the operating system's randomness. There is no seed.

    Args:
        read: ``read(n)`` returns n fresh uniform bytes. Only tests give another than `os.urandom`.
        word_bits: Bits of U that the first comparison of a decision sees, 1 to 32. Every width gives the same laws;
            tests use few bits to walk the whole tree of decisions.

    Every method raises ValueError for a scale, variance, probability, exponent or size outside its range.

    >>> ExactSampler().laplace(Fraction(20), size=3).shape
    (3,)
    """

    read: Read = os.urandom
    word_bits: int = 32

    def __post_init__(self) -> None:
        if not 1 <= self.word_bits <= 32:
            raise ValueError(f"ExactSampler: word_bits is {self.word_bits}; write 1 to 32")

    def laplace(self, scale: Fraction, size: int) -> Integers:
        """(size,) draws of P(k) ~ exp(-|k| / scale): the difference of two geometric variables."""
        scale = check_positive("laplace scale", scale)
        return _joined([self._laplace(scale, n) for n in _pieces(size)])

    def gaussian(self, variance: Fraction, size: int) -> Integers:
        """(size,) draws of P(k) ~ exp(-k^2 / (2 variance)), by rejection from discrete Laplace.

        How many proposals are refused is independent of the values of those that are kept. So many are made at once
        that the rest is seldom asked for again.

        Source: Canonne, Kamath, Steinke 2020, Algorithm 3.
        """
        variance = check_positive("gaussian variance", variance)
        a, b = variance.numerator, variance.denominator
        t = isqrt(a // b) + 1
        each = 1 / share_kept(a / b, t)
        kept: list[Integers] = []
        for missing in _pieces(size):
            while missing:
                y = self._laplace(Fraction(t), ceil(missing * each + FAR * sqrt(missing)) + SPARE)
                kept.append(self._accepted(y, t, a, b)[:missing])
                missing -= len(kept[-1])
        return _joined(kept)

    def bernoulli(self, p: Fraction | ExpOf, size: int) -> npt.NDArray[np.bool_]:
        """(size,) bool, each True with probability exactly p, in [0, 1]."""
        coin = p if isinstance(p, ExpOf) else Ratio(as_fraction("bernoulli p", p))
        if size == 1:
            return np.array([self._settled(self._word(self.word_bits), coin)])
        flips = self._flip(_Coins.of([coin], self.word_bits), _checked_size(size))
        return np.asarray(flips[0])

    def bernoulli_of_each(self, gaps: Integers, exponent: Fraction) -> npt.NDArray[np.bool_]:
        """(n,) bool, lane i True with probability exactly exp(-exponent gaps[i]), independently; none below 0."""
        exponent, whole = _checked_exponent("bernoulli_of_each", exponent), whole_numbers(gaps)
        if len(whole) and whole.min() < 0:
            raise ValueError("bernoulli_of_each: a gap is below 0; give how far each score is below the best")
        return self._flip_each(whole, exponent)

    def integers(self, m: int, size: int) -> Integers:
        """(size,) integers, uniform on 0 ... m - 1, by rejection from the next power of two."""
        if index(m) < 1:
            raise ValueError(f"integers: m is {m}; write the number of choices, 1 or more")
        bits, missing = index(m - 1).bit_length(), _checked_size(size)
        kept: list[Integers] = []
        while missing:
            draws = self._uniform(bits, 2 * missing + SPARE)
            kept.append(draws[draws < m][:missing])
            missing -= len(kept[-1])
        return _joined(kept)

    def chances(self, numerators: Integers, m: int) -> npt.NDArray[np.bool_]:
        """(n,) bool, lane i True with probability numerators[i] / m, independently; 0 <= numerators <= m."""
        if len(numerators) and not (numerators.min() >= 0 and numerators.max() <= m):
            raise ValueError(f"chances: a numerator is below 0 or above m = {m}; write probabilities from 0 to 1")
        return np.asarray(self.integers(m, len(numerators)) < numerators, dtype=np.bool_)

    def order(self, size: int) -> Integers:
        """(size,) the numbers 0 ... size - 1 in a uniformly random order.

        The order of distinct uniform keys is uniform, given that they are distinct; otherwise all are drawn again.
        """
        while True:
            keys = self.integers(1 << 62, size)
            drawn = np.argsort(keys, kind="stable")
            if not np.any(np.diff(keys[drawn]) == 0):
                return drawn

    def permute_and_flip(self, scores: Sequence[int], exponent: Fraction) -> int:
        """Index of the candidate that permute-and-flip chooses.

        Each candidate comes up with probability exp(exponent (score - best score)); one of those that came up is
        chosen uniformly, which is the first success in a random order.

        Args:
            scores: (n,) integers, n >= 1; the highest is best.
            exponent: epsilon / (2 sensitivity of a score), rational, >= 0.

        Source: McKenna, Sheldon 2020, Algorithm 1.
        """
        exponent = _checked_exponent("permute_and_flip", exponent)
        quality = whole_numbers(scores)
        if not len(quality):
            raise ValueError("permute_and_flip: there are no scores; give one score per candidate")
        up = np.flatnonzero(self._flip_each(quality.max() - quality, exponent))
        return int(up[self._below(len(up))])

    def intervals(self, widths: Sequence[int], scores: Sequence[int], exponent: Fraction) -> tuple[int, int]:
        """One grid point from the exponential mechanism whose scores are constant on intervals.

        Args:
            widths: (n,) numbers of grid points in each interval, >= 0, not all 0.
            scores: (n,) integers; the highest is best.
            exponent: epsilon / (2 sensitivity of a score), rational, >= 0.

        Returns:
            Index i with P(i) ~ widths[i] exp(exponent scores[i]), and a uniform offset in 0 ... widths[i] - 1.

        Source: McSherry, Talwar 2007; inversion of the running sum, enclosed from both sides.
        """
        exponent = _checked_exponent("intervals", exponent)
        sizes, gaps = checked(widths, scores)
        i = self._inverted(self._word(4 * self.word_bits), 4 * self.word_bits, sizes, gaps, exponent)
        return i, self._below(int(sizes[i]))

    def intervals_of_each(
        self, starts: Integers, widths: Integers, scores: Integers, exponent: Fraction
    ) -> tuple[Integers, Integers]:
        """(k,) places within their groups, and (k,) offsets: what `intervals` draws, independently of each group.

        Args:
            starts: (k + 1,) where each group begins, and last n; none is empty.
            widths, scores, exponent: As there, (n,) of all groups; of each one some width is above 0.
        """
        exponent = _checked_exponent("intervals", exponent)
        widths, scores = whole_numbers(widths), whole_numbers(scores)
        if widths.dtype == object or scores.dtype == object:
            return one_by_one(self.intervals, starts, widths, scores, exponent)
        gaps = gaps_of_each(starts, widths, scores)
        words = self._uniform(self.word_bits, len(starts) - 1)
        found = located_in_each(words, self.word_bits, starts, widths, gaps, exponent)
        for group in np.flatnonzero(found < 0).tolist():
            own = slice(starts[group], starts[group + 1])
            found[group] = self._inverted(int(words[group]), self.word_bits, widths[own], gaps[own], exponent)
        return found, self._below_each(widths[starts[:-1] + found])

    def _inverted(self, u: int, bits: int, sizes: Integers, gaps: Integers, exponent: Fraction) -> int:
        """The interval that holds U times the total weight, where u is the first so many bits of U."""
        while (i := located(u, bits, sizes, gaps, exponent)) is None:
            u = u << self.word_bits | self._word(self.word_bits)
            bits += self.word_bits
        return i

    def _accepted(self, y: Integers, t: int, a: int, b: int) -> Integers:
        """Those y that are kept, each with probability exp(-(|y| - a / (b t))^2 / (2 a / b)).

        In floats the exponent x is within 2^-50 (1 + x) of itself: |y| and the centre a / (b t) carry a relative error
        of 2^-53 each, and the centre is below sqrt(a / b).
        """
        x = (np.abs(y).astype(np.float64) - a / (b * t)) ** 2 / (2 * a / b)
        return y[self._flip_exp(x, lambda i: Fraction((abs(int(y[i])) * t * b - a) ** 2, 2 * a * b * t * t))]

    def _laplace(self, scale: Fraction, size: int) -> Integers:
        draws = self._geometric(scale, 2 * size)
        return np.asarray(draws[:size] - draws[size:])

    def _geometric(self, scale: Fraction, size: int) -> Integers:
        """(size,) draws of G >= 0 with P(G >= k) = exp(-k / scale).

        Its binary digits are independent, digit j being set with probability 1 / (1 + exp(2^j / scale)), because
        (1 - q) / (1 - q z) is the product over j of (1 + (q z)^(2^j)) / (1 + q^(2^j)). What lies above the first
        few of them, the tail, is again geometric, and 0 but for a probability below 2^-64.
        """
        coins = _digits_of(scale, self.word_bits)
        flips = self._flip(coins, size)
        digits, tail = flips[:-1], flips[-1]
        low: Integers = of_digits(digits)
        if len(digits) == MOST_DIGITS:
            return (self._geometric(scale / (1 << MOST_DIGITS), size).astype(object) << MOST_DIGITS) + low
        if not tail.any():
            return low
        lanes, total = np.flatnonzero(tail), low.astype(object)
        while len(lanes):
            total[lanes] += 1 << len(digits)
            lanes = lanes[self._flip(_Coins.of(coins.ps[-1:], self.word_bits), len(lanes))[0]]
        return whole_numbers(total)

    def _flip(self, coins: _Coins, size: int) -> npt.NDArray[np.bool_]:
        """(number of coins, size) bool, row r True with probability coins.ps[r]."""
        words = self._uniform(self.word_bits, len(coins.ps) * size).reshape(len(coins.ps), size)
        yes = words < coins.lows
        undecided = yes ^ (words < coins.highs)
        for r, i in np.argwhere(undecided) if undecided.any() else ():  # mostly none is, which is seen faster
            yes[r, i] = self._settled(int(words[r, i]), coins.ps[r])
        return np.asarray(yes)

    def _flip_each(self, gaps: Integers, exponent: Fraction) -> npt.NDArray[np.bool_]:
        x = gaps.astype(np.float64) * float(exponent)
        return self._flip_exp(x, lambda i: exponent * int(gaps[i]))

    def _flip_exp(self, x: npt.NDArray[np.float64], exact: Callable[[int], Fraction]) -> npt.NDArray[np.bool_]:
        """(n,) bool, lane i True with probability exp(-exact(i)).

        Args:
            x: (n,) with ``abs(x[i] - exact(i)) <= 2^-48 (1 + exact(i))``.
            exact: The exponent of one lane, for the few lanes that floats cannot decide.
        """
        words = self._uniform(self.word_bits, len(x))
        cell = 2.0**-self.word_bits
        u = words.astype(np.float64) * cell
        x = np.minimum(x, 100.0)  # beyond it exp(-x) is far below the absolute part of the error
        e = np.exp(-x)
        error = 2.0**-44 * (1 + x) * e + 2.0**-60  # the float exponent's error, numpy's (4 ulp) and the sums', 8 times
        yes = u + cell <= e - error  # u is a floor: the cell's upper end must lie below exp(-x)
        for i in np.flatnonzero(~yes & (u < e + error)):
            yes[i] = self._settled(int(words[i]), ExpOf(exact(int(i))))
        return yes

    def _settled(self, u: int, p: Probability) -> bool:
        """Whether U < p, where u is the first word of U."""
        bits = self.word_bits
        while True:
            low, high = p.enclosed(bits)
            if u < low:
                return True
            if u >= high:
                return False
            u = u << self.word_bits | self._word(self.word_bits)
            bits += self.word_bits

    def _uniform(self, bits: int, size: int) -> Integers:
        return uniform(self.read, bits, size)

    def _word(self, bits: int) -> int:
        return word(self.read, bits)

    def _below(self, m: int) -> int:
        return number_below(self.read, m)

    def _below_each(self, most: Integers) -> Integers:
        return numbers_below(self.read, most)


def noised(values: Sequence[int] | Integers, noise: Integers) -> Integers:
    """The exact sums values + noise, lane by lane; they never wrap and never lose a bit.

    Whether they are int64 or Python ints depends on the sums alone, so that the type is post-processing too.

    Args:
        values: (n,) integers of any size, in grid steps.
        noise: (n,) as drawn, in grid steps.

    Raises:
        ValueError: If the lengths differ: one draw must never serve two values.
        TypeError: If an entry is not an integer; values are brought to their grid first.

    >>> noised([2**70, 3], np.array([1, -1])).tolist()
    [1180591620717411303425, 2]
    """
    exact, drawn = whole_numbers(values), whole_numbers(noise)
    if exact.shape != drawn.shape:
        raise ValueError(f"noised: {len(exact)} values beside {len(drawn)} draws; draw one for each value")
    return whole_numbers(exact + drawn)


def _checked_exponent(where: str, exponent: Fraction) -> Fraction:
    return Fraction(0) if exponent == 0 else check_positive(f"{where} exponent", exponent)


def _checked_size(size: int) -> int:
    if size < 0:
        raise ValueError(f"size is {size}; write how many draws you want, 0 or more")
    return index(size)


def _pieces(size: int) -> Iterator[int]:
    """How many lanes to draw at a time; they sum to size."""
    full, rest = divmod(_checked_size(size), LANES)
    yield from [LANES] * full
    if rest:
        yield rest


def _joined(parts: list[Integers]) -> Integers:
    if len(parts) == 1:
        return whole_numbers(parts[0])
    # numpy would join signed and unsigned 64-bit integers as floats
    return whole_numbers(np.concatenate([np.empty(0, dtype=np.int64), *map(whole_numbers, parts)]))
