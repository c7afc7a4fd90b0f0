"""One decision U < p: whole trees at four bits a word, and every edge at full width."""

from __future__ import annotations

import math
from decimal import Context, Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpsql.privacy.probabilities import DigitOf, Probability, Ratio, share_kept
from dpsql.privacy.sampling import ExactSampler, ExpOf
from tests.unit.privacy.tapes import TapeEndedError, exp_minus, flip, value, walk, words

PROBABILITIES: list[Probability] = [
    *(Ratio(Fraction(n, d)) for n, d in [(0, 1), (1, 3), (1, 2), (3, 16), (1, 1)]),
    *(ExpOf(Fraction(x)) for x in ["0", "1/1000", "1/3", "1", "5", "800"]),
    *(DigitOf(Fraction(x)) for x in ["1/1000", "1/3", "1", "5"]),
]


def decided(x: Fraction, *tape: int) -> bool:
    """Whether U < exp(-x), by the lane that has its own exponent."""
    return bool(ExactSampler(words(*tape))._flip_exp(np.array([float(x)]), lambda i: x)[0])


@pytest.mark.parametrize("p", PROBABILITIES, ids=str)
def test_a_whole_tree_of_four_bit_words_has_the_formulas_probability(p: Any) -> None:
    masses = walk(lambda sampler: flip(sampler, p), bits=4, depth=3)
    scaled = value(p) * 2**12
    assert masses[True] == Fraction(math.floor(scaled), 2**12)
    assert masses[False] == 1 - Fraction(math.ceil(scaled), 2**12)


@pytest.mark.parametrize("x", ["0", "1/1000", "1/3", "1", "5", "800"])
def test_lanes_with_their_own_exponents_have_the_formulas_probability(x: str) -> None:
    exact = Fraction(x)
    masses = walk(lambda s: bool(s._flip_exp(np.array([float(exact)]), lambda i: exact)[0]), bits=4, depth=3)
    scaled = exp_minus(exact) * 2**12
    assert masses[True] == Fraction(math.floor(scaled), 2**12)
    assert masses[False] == 1 - Fraction(math.ceil(scaled), 2**12)


def test_two_lanes_are_independent() -> None:
    p = ExpOf(Fraction(1, 3))
    masses = walk(lambda sampler: tuple(sampler.bernoulli(p, 2).tolist()), bits=4, depth=2)
    yes, no = math.floor(value(p) * 16), 16 - math.ceil(value(p) * 16)
    assert masses[True, True] == Fraction(yes * yes, 256)
    assert masses[True, False] == masses[False, True] == Fraction(yes * no, 256)
    assert masses[False, False] == Fraction(no * no, 256)


@pytest.mark.every(3)
@pytest.mark.parametrize("p", PROBABILITIES, ids=str)
@pytest.mark.parametrize("bits", [1, 8, 32, 64, 320])
def test_the_enclosure_is_as_tight_as_integers_allow(p: Any, bits: int) -> None:
    assert p.enclosed(bits) == (math.floor(value(p) * 2**bits), math.ceil(value(p) * 2**bits))


@pytest.mark.parametrize("p", [p for p in PROBABILITIES if 2**-32 < value(p) < 1 - 2**-32], ids=str)
def test_words_just_below_at_and_above_the_constant(p: Any) -> None:
    edge = math.floor(value(p) * 2**32)
    assert flip(ExactSampler(words(edge - 1)), p)
    assert not flip(ExactSampler(words(edge + 1)), p)
    rest = (value(p) * 2**32 - edge) * 2**32  # what the second word must fall below
    if rest == 0:
        assert not flip(ExactSampler(words(edge)), p)
        return
    assert flip(ExactSampler(words(edge, math.floor(rest) - 1)), p)
    assert not flip(ExactSampler(words(edge, math.floor(rest) + 1)), p)
    with pytest.raises(TapeEndedError):  # a second tie wants a third word
        flip(ExactSampler(words(edge, math.floor(rest))), p)


@pytest.mark.parametrize("x", [Fraction(x) for x in (1, 20, 36, 40, 100, 800)] + [Fraction(1, 10**6)])
def test_float_decisions_agree_with_the_exact_number_at_every_edge(x: Fraction) -> None:
    p = exp_minus(x)
    edge = math.floor(p * 2**32)
    firsts = {0, 1, 2**32 - 1} | {min(max(edge + step, 0), 2**32 - 1) for step in range(-2, 3)}
    exact_digits = [math.floor(p * 2 ** (32 * n)) % 2**32 for n in range(2, 40)]
    for first in firsts:
        for rest in ([0] * 38, [2**32 - 1] * 38, exact_digits):
            u = Fraction(sum(w << 32 * (39 - 1 - n) for n, w in enumerate([first, *rest])), 1 << 32 * 39)
            if u <= p < u + Fraction(1, 1 << 32 * 39):
                continue  # the tape says p itself: nothing finite decides
            assert decided(x, first, *rest) == (u < p), (x, first)


def test_a_zero_word_is_no_yes_when_the_probability_is_below_one_word() -> None:
    assert not decided(Fraction(36), 0, 2**32 - 1)


def minus_log(p: Fraction) -> Fraction:
    """A rational x with exp(-x) = p to 90 digits."""
    precise = Context(prec=90)
    return -Fraction(precise.ln(precise.divide(Decimal(p.numerator), Decimal(p.denominator))))


@pytest.mark.parametrize("sign", [-1, 1])
def test_floats_leave_open_what_lies_closer_to_a_word_than_their_error(sign: int) -> None:
    for word in range(2**31, 2**32 - 1, 2**25 + 1):
        x = minus_log((word + sign * Fraction(1, 2**30)) / 2**32)  # floats cannot tell exp(-x) from word / 2^32
        tie = word - 1 if sign < 0 else word
        edge = 2**32 - 4 if sign < 0 else 4  # of the second word: 2^-30 of its range
        assert decided(x, tie - 1)
        assert not decided(x, tie + 1)
        assert decided(x, tie, edge - 2)
        assert not decided(x, tie, edge + 1)


@pytest.mark.parametrize("sign", [-1, 1])
@pytest.mark.parametrize("bits", [8, 32])
def test_the_enclosure_holds_however_close_the_number_is_to_an_integer(bits: int, sign: int) -> None:
    for n in range(2, 2**bits, 2**bits // 50):
        scaled = n + sign * Fraction(1, 10**45)
        low, high = ExpOf(minus_log(scaled / 2**bits)).enclosed(bits)
        assert low <= scaled <= high
        assert high - low <= 2


@settings(max_examples=3 * settings().max_examples, deadline=None)
@given(
    x=st.fractions(min_value=0, max_value=33, max_denominator=2**60)
    | st.integers(1, 2**300).map(lambda n: Fraction(1, n)),
    bits=st.integers(1, 32),
)
def test_what_floats_enclose_holds_the_number_as_tightly_as_integers_allow(x: Fraction, bits: int) -> None:
    finer, finest = ExpOf(x).enclosed(bits + 200)
    low, high = ExpOf(x).enclosed(bits)
    assert low == finer >> 200
    assert high == -(-finest >> 200)


def test_the_enclosure_of_nearly_one_stays_below_one() -> None:
    assert ExpOf(Fraction(1, 2**200)).enclosed(32) == (2**32 - 1, 2**32)


@pytest.mark.parametrize("variance", [Fraction(1, 10**6), Fraction(1, 4), Fraction(7, 3), Fraction(9), Fraction(2025)])
def test_so_many_proposals_are_kept_as_are_expected(variance: Fraction) -> None:
    t = math.isqrt(math.floor(variance)) + 1
    kept = sum(
        math.tanh(0.5 / t) * math.exp(-abs(y) / t - float((abs(y) - variance / t) ** 2 / (2 * variance)))
        for y in range(-40 * t, 40 * t + 1)
    )
    assert 0.97 * kept <= share_kept(float(variance), t) <= kept * (1 + 1e-12)
