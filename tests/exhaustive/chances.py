"""Chances as exact numbers: sums of rational multiples of exponentials of rationals, over products of such sums.

    discrete Laplace     q^|k| (1 - q) / (1 + q), where q = exp(-1 / scale)
    a tail of it         q^k / (1 + q)
    discrete Gaussian    exp(-k^2 / (2 variance)) / (the sum of these over all integers)
    choices              rational polynomials of exp(-exponent gap), over their total

Whether one such number is at most another is decided without rounding. With both sides over one denominator the
question is the sign of a sum of c exp(-x) with distinct rational x and rational c. By Lindemann and Weierstrass
it is 0 only if all c are; otherwise integers that enclose it, with twice as many bits each time, show its sign. Where
an infinite total does not cancel, and for deltas, numbers are enclosed by integers over 2^320.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property, lru_cache, reduce

from dpsql.privacy.probabilities import ExpOf

__all__ = ["BITS", "ONE", "Chance", "Factor", "Terms", "at_most", "exponential", "finite", "infinite", "sign"]

Terms = Mapping[Fraction, Fraction]
"""Exponent x to coefficient c: the sum of c exp(-x)."""

Bounds = tuple[int, int]

BITS = 320
"""Binary digits behind the point of enclosures: what is left after sums and products is far tighter than 2^-200."""

MOST_BITS = 1 << 14  # Binary digits at which a sign must have shown: a sum that is so small would be a mistake.


@lru_cache(maxsize=1 << 16)
def exponential(x: Fraction, bits: int) -> Bounds:
    """Integers enclosing exp(-x) 2^bits, for x >= 0."""
    return ExpOf(x).enclosed(bits)


def sign(terms: Terms) -> int:
    """-1, 0 or 1: that of the sum of c exp(-x), exactly.

    >>> sign({Fraction(1): Fraction(3), Fraction(0): Fraction(-1)}), sign({Fraction(1): Fraction(0)})
    (1, 0)
    """
    kept = {x: c for x, c in terms.items() if c}
    if not kept:
        return 0
    if len({c > 0 for c in kept.values()}) == 1:
        return 1 if next(iter(kept.values())) > 0 else -1
    least, unit = min(kept), math.lcm(*(c.denominator for c in kept.values()))
    whole = [(x - least, int(c * unit)) for x, c in kept.items()]
    bits = 128
    while bits <= MOST_BITS:
        low, high = _weighed([(exponential(x, bits), c) for x, c in whole])
        if low > 0 or high < 0:
            return 1 if low > 0 else -1
        bits *= 2
    raise ArithmeticError("a sum of exponentials shows no sign")


def _weighed(parts: Iterable[tuple[Bounds, int]]) -> Bounds:
    low = high = 0
    for (below, above), c in parts:
        low, high = (low + c * below, high + c * above) if c > 0 else (low + c * above, high + c * below)
    return low, high


@dataclass(frozen=True, eq=False)
class Finite:
    """A positive sum of exponentials, as a factor. Equal ones are one object (`finite`): quick to find.

    Attributes:
        terms: Exponents, >= 0 and rising, with their coefficients.
    """

    terms: tuple[tuple[Fraction, Fraction], ...]

    def enclosed(self) -> Bounds:
        """Integers enclosing it times 2^`BITS`."""
        return _enclosed(dict(self.terms))


@dataclass(frozen=True, eq=False)
class GaussianTotal:
    """The sum of exp(-k^2 / (2 variance)) over all integers, as a factor; equal ones are one object (`infinite`)."""

    variance: Fraction

    def enclosed(self) -> Bounds:
        """Integers enclosing it times 2^`BITS`.

        From k on, with 2 k + 1 >= 2 variance, each term is less than half of the one before: what is left out weighs
        less than twice the first term that is.
        """
        low = high = 1 << BITS
        k = 1
        while True:
            below, above = exponential(Fraction(k * k) / (2 * self.variance), BITS)
            low, high = low + 2 * below, high + 2 * above
            if above <= 1 and 2 * k + 1 >= 2 * self.variance:
                return low, high + 4 * above
            k += 1


_finite, infinite = lru_cache(maxsize=None)(Finite), lru_cache(maxsize=None)(GaussianTotal)


def finite(terms: Terms) -> Finite:
    """The factor of these terms."""
    return _finite(tuple(sorted((x, c) for x, c in terms.items() if c)))


Factor = Finite | GaussianTotal
Powers = tuple[tuple[Factor, int], ...]
"""Factors and their powers, not 0, in a fixed order."""


@lru_cache(maxsize=1 << 12)
def _power(factor: Factor, power: int) -> Bounds:
    """Integers enclosing a factor's power times 2^`BITS`."""
    low, high = factor.enclosed()
    if power < 0:
        low, high = (1 << 2 * BITS) // high, -(-(1 << 2 * BITS) // low)
    return reduce(_times, [(low, high)] * abs(power))


def _times(one: Bounds, two: Bounds) -> Bounds:
    """The product of a number of either sign and a positive one."""
    low = one[0] * (two[0] if one[0] > 0 else two[1]) >> BITS
    high = -(-one[1] * (two[1] if one[1] > 0 else two[0]) >> BITS)
    return low, high


@lru_cache(maxsize=1 << 14)
def _joined(one: Powers, two: Powers) -> Powers:
    powers = dict(one)
    for factor, power in two:
        powers[factor] = powers.get(factor, 0) + power
    return tuple(sorted(((f, p) for f, p in powers.items() if p), key=lambda own: id(own[0])))


def _product(one: Terms, two: Terms) -> Terms:
    if len(one) == len(two) == 1:
        return {x + y: c * d for x, c in one.items() for y, d in two.items()}
    found: dict[Fraction, Fraction] = {}
    for x, c in one.items():
        for y, d in two.items():
            found[x + y] = found.get(x + y, Fraction(0)) + c * d
    return found


def _enclosed(terms: Terms) -> Bounds:
    unit = math.lcm(*(c.denominator for c in terms.values()))
    low, high = _weighed([(exponential(x, BITS), int(c * unit)) for x, c in terms.items()])
    return low // unit, -(-high // unit)


@dataclass(frozen=True)
class Chance:
    """An exact number, >= 0.

    Attributes:
        pieces: Powers of factors to the terms that they multiply; the number is the sum of all.
    """

    pieces: Mapping[Powers, Terms] = field(default_factory=dict)

    @classmethod
    def of(cls, terms: Terms, powers: Mapping[Factor, int] | None = None) -> Chance:
        """One piece."""
        return cls({_joined((), tuple((powers or {}).items())): terms})

    def __mul__(self, other: Chance) -> Chance:
        if self is ONE:
            return other
        found: dict[Powers, Terms] = {}
        if len(self.pieces) == len(other.pieces) == 1:
            ((powers, terms),), ((more, others),) = self.pieces.items(), other.pieces.items()
            return Chance({_joined(powers, more): _product(terms, others)})
        for powers, terms in self.pieces.items():
            for more, others in other.pieces.items():
                found = _more(found, _joined(powers, more), _product(terms, others))
        return Chance(found)

    def __add__(self, other: Chance) -> Chance:
        found = dict(self.pieces)
        for powers, terms in other.pieces.items():
            found = _more(found, powers, terms)
        return Chance(found)

    def enclosed(self) -> Bounds:
        """Integers enclosing it times 2^`BITS`."""
        return self._bounds

    @cached_property
    def _bounds(self) -> Bounds:
        """Worked out once: each pair of neighbours and each order asks for it again."""
        low = high = 0
        for powers, terms in self.pieces.items():
            bounds = reduce(_times, (_power(*own) for own in powers), _enclosed(terms))
            low, high = low + bounds[0], high + bounds[1]
        return low, high


def _more(pieces: dict[Powers, Terms], powers: Powers, terms: Terms) -> dict[Powers, Terms]:
    found = dict(pieces.get(powers, {}))
    for x, c in terms.items():
        found[x] = found.get(x, Fraction(0)) + c
    pieces[powers] = found
    return pieces


ONE = Chance.of({Fraction(0): Fraction(1)})


def at_most(one: Chance, two: Chance, epsilon: Fraction) -> bool:
    """Whether one <= e^epsilon two, exactly.

    >>> e = Chance.of({Fraction(-1): Fraction(1)})
    >>> at_most(e, ONE, Fraction(1)), at_most(e, ONE, Fraction(99, 100))
    (True, False)
    """
    if len(one.pieces) == len(two.pieces) == 1 and one.pieces.keys() == two.pieces.keys():
        (first,), (second,) = one.pieces.values(), two.pieces.values()
        if len(first) == len(second) == 1:
            ((x, c),), ((y, d),) = first.items(), second.items()
            if c == d:
                return y - epsilon <= x
    else:
        least = _least([*one.pieces, *two.pieces])
        first, second = _over(one, least), _over(two, least)
    moved = {y - epsilon: d for y, d in second.items()}
    for x, c in first.items():
        moved[x] = moved.get(x, Fraction(0)) - c
    return sign(moved) >= 0


def _least(all_powers: Iterable[Powers]) -> Mapping[Factor, int]:
    """The least power of each factor in any piece."""
    listed = [dict(powers) for powers in all_powers]
    factors = {factor for powers in listed for factor in powers}
    return {factor: min(powers.get(factor, 0) for powers in listed) for factor in factors}


def _over(chance: Chance, least: Mapping[Factor, int]) -> Terms:
    """The number divided by the least powers: one sum of exponentials.

    Raises:
        ArithmeticError: An infinite total does not cancel.
    """
    whole: dict[Fraction, Fraction] = {}
    for powers, terms in chance.pieces.items():
        own, left = dict(powers), terms
        for factor, power in least.items():
            for _ in range(own.get(factor, 0) - power):
                if not isinstance(factor, Finite):
                    raise ArithmeticError("an infinite total does not cancel")
                left = _product(left, dict(factor.terms))
        for x, c in left.items():
            whole[x] = whole.get(x, Fraction(0)) + c
    return whole
