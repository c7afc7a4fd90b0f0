"""The sampler's tree of decisions against the exact laws that the rest of this room takes for granted.

1. Coins, uniform numbers and choices: on all strings of bits up to a length the chance of every result lies between
   the share of strings that return it, and that share with all that are undecided.
2. A geometric variable is a function of its coins: the chances of all their sides, multiplied, are its law, exactly.
3. Laplace noise is the difference of two of them: the sum over g of (1 - q)^2 q^(2 g + |k|) is q^|k| (1 - q) / (1 + q).
4. Gaussian noise is Laplace noise y that is kept with a chance; both weights, multiplied, are exp(-y^2 / (2 v)) times a
   constant, exactly; and the coin that keeps it decides every word as the exact chance does.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from fractions import Fraction
from itertools import chain, product, repeat
from math import isqrt

import numpy as np
import pytest

from dpsql.privacy.probabilities import DigitOf, ExpOf, Probability
from dpsql.privacy.sampling import ExactSampler, Sampler, _digits_of
from tests.exhaustive.branching import Branching, Window
from tests.exhaustive.chances import BITS, Chance, at_most
from tests.exhaustive.trees import tree_of

ANY = Window(Fraction(0), Fraction(1))
SCALES = [Fraction(1, 8), Fraction(1, 2), pytest.param(Fraction(1), marks=pytest.mark.slow)]
VARIANCES = [Fraction(1, 4), Fraction(1), Fraction(9, 4)]
LEAST_SHARE = Fraction(9, 10)  # Of all strings, those that decide: so that the comparison says something.

Call = Callable[[ExactSampler], Hashable]
CALLS: dict[str, tuple[Call, int]] = {
    "a third": (lambda s: bool(s.bernoulli(Fraction(1, 3), 1)[0]), 64),
    "three quarters": (lambda s: bool(s.bernoulli(Fraction(3, 4), 1)[0]), 64),
    "exp(-1/2)": (lambda s: bool(s.bernoulli(ExpOf(Fraction(1, 2)), 1)[0]), 64),
    "exp(-7)": (lambda s: bool(s.bernoulli(ExpOf(Fraction(7)), 1)[0]), 64),
    "exp(-1/2) and exp(-3/2)": (lambda s: tuple(s.bernoulli_of_each(np.array([1, 3]), Fraction(1, 2)).tolist()), 20),
    "one of 2": (lambda s: int(s.integers(2, 1)[0]), 2),
    "one of 3": (lambda s: int(s.integers(3, 1)[0]), 4),
    "one of 5": (lambda s: int(s.integers(5, 1)[0]), 6),
    "chances": (lambda s: bool(s.chances(np.array([1]), 3)[0]), 4),
    "permute and flip": (lambda s: s.permute_and_flip([2, 1], Fraction(1, 2)), 16),
    "intervals": (lambda s: s.intervals([1, 2, 1], [0, 1, 3], Fraction(1, 2)), 24),
    "intervals of one score": (lambda s: s.intervals([3, 1], [1, 1], Fraction(1)), 24),
    "intervals of a group": (lambda s: of_each(s, [1, 2, 1], [0, 1, 3], Fraction(1, 2), 0), 24),
    "intervals of two groups": (lambda s: of_each(s, [1, 3, 3, 1], [0, 1, 1, 1], Fraction(1, 3), 0, 2), 16),
}


def of_each(sampler: ExactSampler, widths: list[int], scores: list[int], exponent: Fraction, *begins: int) -> Hashable:
    """Places and offsets of groups of intervals that begin so."""
    starts = np.array([*begins, len(widths)])
    drawn = sampler.intervals_of_each(starts, np.array(widths), np.array(scores), exponent)
    return tuple(tuple(own.tolist()) for own in drawn)


@pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=[pytest.mark.slow] if name == "intervals of two groups" else []) for name in CALLS],
)
def test_every_string_of_bits_leads_where_the_law_says(name: str) -> None:
    call, bits = CALLS[name]
    tree = tree_of(call, bits)
    assert sum(tree.returned.values(), tree.undecided) == 1
    least = Fraction(3, 4) ** 2 if name.startswith(("one of", "chances")) else LEAST_SHARE
    assert 1 - tree.undecided >= least
    double = Branching(ANY)
    call(double)  # type: ignore[arg-type]  # it has the same methods
    chances: dict[Hashable, Chance] = {}
    for path in _paths(call):
        double = Branching(ANY, path)
        result = call(double)  # type: ignore[arg-type]
        chance = Chance.of({Fraction(0): Fraction(1)})
        for outcome in double.taken:
            chance *= outcome.chance
        chances[result] = chances[result] + chance if result in chances else chance
    assert tree.returned.keys() <= chances.keys()
    for result, chance in chances.items():
        low, high = chance.enclosed()
        share = tree.returned[result]
        assert share <= Fraction(high, 1 << BITS)
        assert Fraction(low, 1 << BITS) <= share + tree.undecided


def _paths(call: Call) -> list[tuple[int, ...]]:
    """All paths of the double; no call here has more than two forks."""
    found = []
    for first in range(64):
        for second in range(64):
            double = Branching(ANY, (first, second))
            try:
                call(double)  # type: ignore[arg-type]
            except IndexError:
                break
            found.append((first, second)[: len(double.forks)])
            if len(double.forks) < 2:
                break
    return list(dict.fromkeys(found))


@pytest.mark.parametrize("scale", SCALES, ids=str)
def test_a_geometric_variable_is_the_product_of_its_coins(scale: Fraction) -> None:
    coins = _digits_of(scale, 32)
    *digits, tail = coins.ps
    assert [coin.x for coin in digits if isinstance(coin, DigitOf)] == [(1 << j) / scale for j in range(len(digits))]
    assert tail == ExpOf((1 << len(digits)) / scale)
    for sides in product((False, True), repeat=len(digits)):
        for beyond in range(3):
            after: list[list[tuple[Probability, bool]]] = [[(tail, more < beyond)] for more in range(1, beyond + 1)]
            drawn = _forced([*zip(coins.ps, [*sides, beyond > 0], strict=True)], *after)
            value = int(drawn._geometric(scale, 1)[0])
            assert value == sum(1 << j for j, side in enumerate(sides) if side) + (beyond << len(digits))
            # Of the coins: q^(what is set) (1 - tail) / product of (1 + q^(2^j)), where q^(2^j) / (1 + q^(2^j)) is set.
            set_digits = sum((coin.x for coin, side in zip(digits, sides, strict=True) if side), Fraction(0))  # type: ignore[attr-defined]
            found = {set_digits + beyond * tail.x: Fraction(1), set_digits + (beyond + 1) * tail.x: Fraction(-1)}
            # Of the law: (1 - q) q^value, times the same product.
            wanted = {value / scale: Fraction(1), (value + 1) / scale: Fraction(-1)}
            for coin in digits:
                assert isinstance(coin, DigitOf)
                grown = dict(wanted)
                for x, c in wanted.items():
                    grown[x + coin.x] = grown.get(x + coin.x, Fraction(0)) + c
                wanted = {x: c for x, c in grown.items() if c}
            assert found == wanted


def _forced(*flips: list[tuple[Probability, bool]]) -> ExactSampler:
    """A sampler whose coins fall as they are told: 0 is below every chance that words can tell from 0, the largest word
    above all. Where a chance is so small that the first words do not tell, more follow.
    """
    reads: list[bytes] = []
    for coins in flips:
        reads.append(b"".join(bytes(4) if side else b"\xff" * 4 for _, side in coins))
        for coin, side in coins:
            words = 1
            while side and not coin.enclosed(32 * words)[0]:
                reads.append(bytes(4))
                words += 1

    def read(size: int) -> bytes:
        assert size == len(reads[0])
        return reads.pop(0)

    return ExactSampler(read=read)


@pytest.mark.parametrize("scale", SCALES[:2], ids=str)
def test_laplace_noise_is_the_difference_of_two(scale: Fraction) -> None:
    coins = _digits_of(scale, 32).ps
    count = len(coins)
    for sides in product((False, True), repeat=2 * (count - 1)):
        pairs = [(*sides[2 * j : 2 * j + 2],) for j in range(count - 1)]  # coin by coin, of both variables
        drawn = _forced(
            [(coin, side) for coin, pair in zip(coins, [*pairs, (False, False)], strict=True) for side in pair]
        )
        first, second = (sum(1 << j for j, pair in enumerate(pairs) if pair[at]) for at in (0, 1))
        assert drawn.laplace(scale, 1).tolist() == [first - second]


@pytest.mark.parametrize("variance", VARIANCES, ids=str)
def test_gaussian_noise_keeps_what_its_coin_keeps(variance: Fraction) -> None:
    a, b = variance.numerator, variance.denominator
    t = isqrt(a // b) + 1
    constants = set()
    for y in range(-8, 9):
        x = (abs(y) - variance / t) ** 2 / (2 * variance)
        constants.add(Fraction(abs(y), t) + x - Fraction(y * y) / (2 * variance))
        low, high = ExpOf(x).enclosed(8)
        for word in range(1 << 8):
            for after in (0, 255):
                kept = len(ExactSampler(_served(word, after), word_bits=8)._accepted(np.array([y]), t, a, b))
                if word + 1 <= low or word >= high:
                    assert kept == (word + 1 <= low)
                else:  # the next words decide: the lowest ones below the chance, the highest above it
                    assert kept == (after == 0)
    assert len(constants) == 1


def _served(first: int, after: int) -> Callable[[int], bytes]:
    """A source of one word, and of others behind it."""
    words = chain([first], repeat(after))
    return lambda size: bytes(next(words) for _ in range(size))


def test_the_double_and_the_sampler_have_the_same_methods() -> None:
    public = {name for name in vars(ExactSampler) if not name.startswith("_")} - {"read", "word_bits"}
    assert public == {name for name in vars(Branching) if not name.startswith("_")}


def test_chances_of_one_draw_add_up_to_one() -> None:
    window = Window(Fraction(2), Fraction(1))
    draws: list[Callable[[Sampler], object]] = [
        lambda s: s.laplace(Fraction(3, 2), 1),
        lambda s: s.gaussian(Fraction(5, 2), 1),
        lambda s: s.permute_and_flip([3, 1, 1, 0], Fraction(1, 3)),
        lambda s: s.intervals([2, 0, 3], [0, 9, 1], Fraction(1, 3)),
        lambda s: s.order(3),
    ]
    for draw in draws:
        double = Branching(window)
        draw(double)
        (fork,) = double.forks
        low, high = (sum(outcome.chance.enclosed()[side] for outcome in fork) for side in (0, 1))
        assert low <= 1 << BITS <= high
        assert high - low < 1 << BITS - 200


def test_equal_numbers_are_told_from_nearly_equal_ones() -> None:
    one = Chance.of({Fraction(1): Fraction(1), Fraction(2): Fraction(-1)})
    near = Chance.of({Fraction(1): Fraction(1) - Fraction(1, 10**80), Fraction(2): Fraction(-1)})
    assert at_most(one, one, Fraction(0))
    assert at_most(near, one, Fraction(0))
    assert not at_most(one, near, Fraction(0))
