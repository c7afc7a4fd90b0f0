"""One draw of a release in two tables at once: what shows of it, and what each thing that may show costs at most.

    noise      shows the sum of an exact number and its noise, for each number
    a choice   shows a place: the index of a candidate, or of a point among those of all intervals, in their order
    coins      show themselves; they are the same for both tables

Costs are exact. That of one Laplace noise with a scale s, where the exact numbers are v and v' and y shows, is
(|y - v'| - |y - v|) / s, and never above |v - v'| / s. For independent noises costs add up, since their law is a
product. Of a choice both chances are sums of exponentials (`chances`).

At an order a of Renyi's divergence a draw costs the logarithm of the sum of P(y)^a P'(y)^(1 - a) over all y, whatever
shows. For discrete Gaussian noise with a variance v this is a (a - 1) (v - v')^2 / (2 v) for numbers v and v', exactly:
the sum is that over all integers of the same terms, moved by a whole number. For discrete Laplace noise it has a closed
form; of a choice it is enclosed by integers.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache, reduce
from itertools import product
from math import ceil

from tests.exhaustive.branching import UnlistedError, choice_of, flip_of
from tests.exhaustive.chances import BITS, ONE, Chance, at_most, exponential, finite

__all__ = ["ALL", "FEW", "FEWEST", "Chosen", "Coins", "Cost", "Noised", "Seen", "Step", "worst"]

Seen = tuple[int, ...]
"""What shows of a draw."""

MOST_SEEN = 400
"""Of one draw, the most combinations of its numbers that are tried. It is a choice."""

FAR = 12
"""Numbers are tried up to 2^12 steps beyond what is near, at powers of two: it is beyond any threshold here."""

FARTHER = 64
"""Or up to so many scales of the noise, if that is farther. It is a choice: none is drawn there."""

DENSE = 64
"""So many numbers near both are all tried; of more, those that are powers of two away. It is a choice."""

ALL, FEW, FEWEST = 1, 3, 12
"""How many powers of two lie between those that are tried; but for `ALL`, of the numbers next to both one on either
side is. It is a choice: with fewer of them, longer releases are followed in the same time."""

NEAR_TIE = 1e-9
"""Costs whose logarithms are nearer to each other than this are both kept: floats, which err by less than 1e-12, only
tell which of the others are smaller."""


@dataclass(frozen=True)
class Likely:
    """A chance of a choice, with its size apart: it may be far below 2^-`BITS`.

    Attributes:
        chance: It.
        lead: Its largest term is about exp(-lead).
        rest: Integers enclosing exp(lead) times it, times 2^`BITS`.
        log: Its logarithm, nearly.
    """

    chance: Chance
    lead: Fraction
    rest: tuple[int, int]
    log: float

    @classmethod
    def of(cls, chance: Chance) -> Likely:
        """The parts of a chance, however small."""
        lead = min(x for terms in chance.pieces.values() for x in terms)
        moved = Chance({own: {x - lead: c for x, c in terms.items()} for own, terms in chance.pieces.items()})
        low, high = moved.enclosed()
        return cls(chance, lead, (low, high), math.log(high) - BITS * math.log(2) - float(lead))

    def __hash__(self) -> int:
        return hash((self.lead, self.rest))


@dataclass(frozen=True)
class Cost:
    """What some draws cost together, as the logarithm of a ratio.

    Attributes:
        exponent: A part of the logarithm.
        ratios: Chances above and below the line: what their quotients come to is the rest.
        bounds: Integers; over 2^`BITS` each bounds another factor of the ratio from above.
    """

    exponent: Fraction = Fraction(0)
    ratios: tuple[tuple[Likely, Likely], ...] = ()
    bounds: tuple[int, ...] = ()

    @property
    def log(self) -> float:
        """Nearly."""
        log = float(self.exponent) + sum(math.log(bound) - BITS * math.log(2) for bound in self.bounds)
        return log + sum(above.log - below.log for above, below in self.ratios)

    @property
    def spent(self) -> tuple[Fraction, Fraction]:
        """The exponent, and a factor beside it that is never too small; of a cost without ratios."""
        factors = (Fraction(bound, 1 << BITS) for bound in self.bounds)
        return self.exponent, reduce(Fraction.__mul__, factors, Fraction(1))

    def __add__(self, other: Cost) -> Cost:
        return Cost(self.exponent + other.exponent, self.ratios + other.ratios, self.bounds + other.bounds)

    def within(self, limit: Fraction) -> bool:
        """Whether it is at most a limit; never True where it is not."""
        if not self.bounds:
            above, below = (reduce(Chance.__mul__, (own[side].chance for own in self.ratios), ONE) for side in (0, 1))
            return at_most(above, below, limit - self.exponent)
        if self.exponent > limit:
            return False
        total = reduce(lambda one, two: -(-one * two >> BITS), self.bounds)
        return total * exponential(limit - self.exponent, BITS)[1] <= 1 << 2 * BITS


def worst(costs: Sequence[Cost]) -> list[Cost]:
    """The largest cost, and all that floats cannot tell from it; equal ones once."""
    most = max(cost.log for cost in costs)
    return list(dict.fromkeys(cost for cost in costs if cost.log >= most - NEAR_TIE))


@dataclass(frozen=True)
class Noised:
    """Exact numbers with noise of one law.

    Attributes:
        law: ``laplace`` or ``gaussian``.
        spread: Scale or variance.
        values: The exact numbers.
    """

    law: str
    spread: Fraction
    values: tuple[int, ...]

    def alike(self, other: Step) -> bool:
        """Whether the same can show of the other."""
        if not isinstance(other, Noised) or len(self.values) != len(other.values):
            return False
        return (self.law, self.spread) == (other.law, other.spread)

    def moved(self, other: Noised) -> list[int]:
        """How far each number is from that of the other."""
        return [abs(one - two) for one, two in zip(self.values, other.values, strict=True)]

    def most(self, other: Noised) -> Cost | None:
        """What nothing that shows exceeds; None where nothing bounds it."""
        moved = sum(self.moved(other))
        return Cost(moved / self.spread) if self.law == "laplace" or not moved else None

    def seen(self, other: Noised, apart: int) -> Iterator[tuple[Seen, Cost | None]]:
        """What may show, and its cost. Of many numbers not all combinations are tried, and each costs the most."""
        lanes = [self._lane(*both, apart) for both in zip(self.values, other.values, strict=True)]
        most = self.most(other)
        if math.prod(map(len, lanes)) <= MOST_SEEN:
            for shown in product(*lanes):
                yield shown, self._cost(other, shown) if self.law == "laplace" else most
            return
        for place, lane in enumerate(lanes):
            for one in lane:
                yield (*self.values[:place], one, *self.values[place + 1 :]), most
        ends = [dict.fromkeys((lane[0], own, lane[-1])) for lane, own in zip(lanes, self.values, strict=True)]
        if math.prod(map(len, ends)) <= MOST_SEEN:
            yield from ((shown, most) for shown in product(*ends))

    def order(self, other: Noised, order: int) -> Cost:
        """What it costs at an order."""
        if self.law == "gaussian":
            squares = sum(distance**2 for distance in self.moved(other))
            return Cost(order * (order - 1) * squares / (2 * self.spread))
        return Cost(bounds=tuple(_renyi(self.spread, d, order) for d in self.moved(other) if d))

    def _cost(self, other: Noised, shown: Seen) -> Cost:
        further = sum(abs(y - two) - abs(y - one) for y, one, two in zip(shown, self.values, other.values, strict=True))
        return Cost(further / self.spread)

    def _lane(self, one: int, two: int, apart: int) -> list[int]:
        """Each number near both, and powers of two beyond; of large noise each near either, and powers of two."""
        spread = ceil(self.spread if self.law == "laplace" else math.isqrt(ceil(self.spread)) + 1)
        farthest = max(FAR, (FARTHER * spread).bit_length())
        powers = [1 << k for k in (*range(0, farthest, apart), farthest)]
        reach = spread + 1 if apart == ALL else 1
        low, high = min(one, two) - reach, max(one, two) + reach
        if high - low <= DENSE:
            return [*(low - k for k in reversed(powers)), *range(low, high + 1), *(high + k for k in powers)]
        return sorted({value + side * k for value in (one, two) for side in (-1, 1) for k in (0, *powers)})


@dataclass(frozen=True)
class Chosen:
    """A choice.

    Attributes:
        widths: How many points each candidate has; None for permute-and-flip.
        scores: Of the candidates.
        exponent: Of the choice.
    """

    widths: tuple[int, ...] | None
    scores: tuple[int, ...]
    exponent: Fraction

    @property
    def places(self) -> int:
        """How many there are."""
        return len(self.scores) if self.widths is None else sum(self.widths)

    def alike(self, other: Step) -> bool:
        """Whether the same can show of the other."""
        return isinstance(other, Chosen) and self.places == other.places

    def seen(self, other: Chosen, apart: int) -> Iterator[tuple[Seen, Cost | None]]:
        """What may show, and its cost."""
        for place, (one, two) in enumerate(zip(self.law(), other.law(), strict=True)):
            yield (place,), Cost(ratios=((one, two),))

    def order(self, other: Chosen, order: int) -> Cost:
        """What it costs at an order."""
        return Cost(bounds=(sum(_power(*both, order) for both in zip(self.law(), other.law(), strict=True)),))

    def law(self) -> tuple[Likely, ...]:
        """The chance of each place."""
        best = max(self.scores)
        return _law(self.widths, tuple(best - score for score in self.scores), self.exponent)


@dataclass(frozen=True)
class Coins:
    """A draw that no data bear on: of its outcomes a first and a last are tried.

    Attributes:
        asked: What was asked of the sampler.
        ends: These two.
    """

    asked: tuple[object, ...]
    ends: tuple[Seen, Seen]

    def alike(self, other: Step) -> bool:
        """Whether the same can show of the other."""
        return self == other

    def seen(self, other: Coins, apart: int) -> Iterator[tuple[Seen, Cost | None]]:
        """Both, for nothing."""
        for end in dict.fromkeys(self.ends):
            yield end, Cost()

    def order(self, other: Coins, order: int) -> Cost:
        """Nothing."""
        return Cost()


Step = Noised | Chosen | Coins


@lru_cache(maxsize=1 << 12)
def _law(widths: tuple[int, ...] | None, gaps: tuple[int, ...], exponent: Fraction) -> tuple[Likely, ...]:
    flipped = tuple(-gap for gap in gaps)
    chances = flip_of(flipped, exponent) if widths is None else choice_of(widths, gaps, exponent)
    return tuple(map(Likely.of, chances))


def _power(one: Likely, two: Likely, order: int) -> int:
    """P^a P'^(1 - a), times 2^`BITS`, from above."""
    found: int = -(-(one.rest[1] ** order) // two.rest[0] ** (order - 1))
    left = order * one.lead - (order - 1) * two.lead
    low, high = exponential(abs(left), BITS)
    return -(-found * high >> BITS) if left >= 0 else -(-(found << BITS) // low)


@lru_cache(maxsize=1 << 10)
def _renyi(scale: Fraction, moved: int, order: int) -> int:
    """Of discrete Laplace noise: the sum of P(k)^a P(k - d)^(1 - a) over all k, times 2^`BITS`, from above.

    With q = exp(-1 / s) it is (1 - q) / (1 + q) times: q^((1 - a) d) / (1 - q) from k <= 0, where both fall alike,
    q^(a d) / (1 - q) from k >= d, and q^(a k + (1 - a) (d - k)) from each k between.
    """
    a, d = order, moved
    terms: dict[Fraction, Fraction] = {}

    def more(power: int, c: int) -> None:
        x = (power + (a - 1) * d) / scale  # divided by q^((1 - a) d), so that no exponent is negative
        terms[x] = terms.get(x, Fraction(0)) + c

    for power in ((1 - a) * d, a * d):
        more(power, 1)
    for k in range(1, d):
        more(a * k + (1 - a) * (d - k), 1)
        more(a * k + (1 - a) * (d - k) + 1, -1)
    chance = Chance.of(terms, {finite({Fraction(0): Fraction(1), 1 / scale: Fraction(1)}): -1})
    low, _ = exponential((a - 1) * d / scale, BITS)
    if not low:
        raise UnlistedError("an order is too high for so small a noise")
    return -(-(chance.enclosed()[1] << BITS) // low)
