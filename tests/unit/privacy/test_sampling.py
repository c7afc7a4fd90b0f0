"""The laws of the sampler: enumerated trees of decisions, scripted tapes, refusals, and sums with noise."""

from __future__ import annotations

import itertools
import math
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from scipy.stats import chi2, gamma

from dpsql.errors import InvariantBroken
from dpsql.privacy.probabilities import DigitOf
from dpsql.privacy.sampling import ExactSampler, ExpOf, Sampler
from dpsql.testing_samplers import FixedSampler, Noiseless
from tests.statistical.laws import fits
from tests.statistical.thresholds import P_THRESHOLD
from tests.unit.privacy.tapes import Tape, TapeEndedError, exp_minus, flip, value, walk, words

# --- discrete Laplace


def test_each_word_sets_its_own_digit_of_its_own_lane() -> None:
    scale, lanes = Fraction(100), 3
    digits = 13  # 45 * 100 <= 2^13
    for digit, lane in itertools.product(range(digits - 3), range(2 * lanes)):  # the last ones are no yes at word 0
        tape = [2**32 - 1] * (2 * lanes * (digits + 1))
        tape[2 * lanes * digit + lane] = 0
        read = words(*tape)
        expected = [0] * lanes
        expected[lane % lanes] = 2**digit if lane < lanes else -(2**digit)
        assert ExactSampler(read).laplace(scale, lanes).tolist() == expected
        assert read.at == len(read.content)  # every word was read, and read once


def test_the_whole_tree_of_a_geometric_variable_is_the_product_of_its_digits() -> None:
    def draw(sampler: ExactSampler) -> int:
        def read(size: int) -> bytes:
            if size == 1:
                raise TapeEndedError(100)  # a tie: leave it open, so that what is decided has a closed form
            return sampler.read(size)

        return int(ExactSampler(read=read, word_bits=2)._geometric(Fraction(1), 1)[0])

    masses = walk(draw, bits=2, depth=7)
    probabilities = [value(DigitOf(Fraction(2**j))) for j in range(6)]
    never = Fraction(3, 4)  # a tail of exp(-64): three of four words say no, one is a tie
    for k in range(64):
        expected = never
        for j, p in enumerate(probabilities):
            yes, no = Fraction(math.floor(4 * p), 4), 1 - Fraction(math.ceil(4 * p), 4)
            expected *= yes if k >> j & 1 else no
        assert masses[k] == expected


@pytest.mark.parametrize("scale", [Fraction(1, 10), Fraction(1), Fraction(7, 3), Fraction(1000)])
def test_the_digits_make_exactly_a_geometric_variable(scale: Fraction) -> None:
    digits = (math.ceil(45 * scale) - 1).bit_length()
    q = exp_minus(1 / scale)
    for k in {0, 1, 2, 3, 7, 20, 1000} & set(range(1 << digits)):
        product = 1 - exp_minus(Fraction(1 << digits) / scale)
        for j in range(digits):
            p = value(DigitOf(Fraction(1 << j) / scale))
            product *= p if k >> j & 1 else 1 - p
        assert abs(product - (1 - q) * q**k) < Fraction(1, 1 << 1500)


@pytest.mark.every(2)
@pytest.mark.parametrize("order", [2, 8, 32])
def test_the_renyi_loss_of_the_enumerated_law_is_that_of_the_formula(order: int) -> None:
    def digit(j: int) -> Fraction:
        masses = walk(lambda s: flip(s, DigitOf(Fraction(2**j))), bits=4, depth=10)
        return Fraction(masses[True])

    def loss(law: list[float]) -> float:
        return math.log(sum(p**order * q ** (1 - order) for p, q in itertools.pairwise(law))) / (order - 1)

    tree = [digit(j) for j in range(5)]
    geometric = [math.prod(float(p if k >> j & 1 else 1 - p) for j, p in enumerate(tree)) for k in range(32)]
    law = [sum(geometric[m] * geometric[m + abs(k)] for m in range(32 - abs(k))) for k in range(-12, 13)]
    formula = [math.tanh(0.5) * math.exp(-abs(k)) for k in range(-12, 13)]
    assert loss(law) == pytest.approx(loss(formula), abs=2e-5)
    assert max(abs(math.log(p / q)) for p, q in itertools.pairwise(law)) < 1 + 2e-5


def test_the_tail_beyond_the_last_digit_is_drawn_and_ends() -> None:
    no, zeros = 2**32 - 1, [0, 0, 0]  # exp(-64) needs 93 bits of zeros
    scale, digits = Fraction(1), 6
    tape = [no] * 2 * digits + [0, no] + zeros + [0] + zeros + [no]  # lane 0: the tail says yes, yes, no
    assert ExactSampler(words(*tape)).laplace(scale, 1).tolist() == [2 * 2**digits]


@pytest.mark.chance(gamma.cdf(1600, 2000) + gamma.sf(2400, 2000), "the mean of 2,000 exponentials is 20% off")
@pytest.mark.parametrize("scale", [Fraction(1, 1000), Fraction(10**15), Fraction(10**30), Fraction(1, 2**200)])
def test_very_small_and_very_large_scales_work(scale: Fraction) -> None:
    draws = ExactSampler().laplace(scale, 2000)
    mean_size = float(sum(abs(int(k)) for k in draws) / (2000 * scale))
    assert len(draws) == 2000
    assert mean_size == 0 if scale < 1 else 0.8 < mean_size < 1.2


@pytest.mark.chance(1225 / 2**39, "two of 50 have the same 40 digits: 1,225 pairs, and no value has more than 2^-39")
def test_noise_beyond_62_bits_comes_as_python_ints() -> None:
    draws = ExactSampler().laplace(Fraction(2**90), 50)
    assert draws.dtype == object
    assert all(type(k) is int for k in draws)
    assert len({k % 2**40 for k in draws}) == 50  # the low digits are drawn too


# --- discrete Gaussian


@pytest.mark.parametrize("variance", [Fraction(1, 4), Fraction(7, 3), Fraction(9)])
def test_proposals_are_kept_exactly_as_often_as_the_gaussian_wants(variance: Fraction) -> None:
    a, b = variance.numerator, variance.denominator
    t = math.isqrt(a // b) + 1

    def tree(y: int) -> Mapping[int, Fraction]:
        return walk(lambda sampler: len(sampler._accepted(np.array([y]), t, a, b)), bits=4, depth=3)

    kept = {}
    for y in range(-4, 5):
        want = exp_minus((abs(y) - variance / t) ** 2 / (2 * variance))
        assert tree(y)[1] == Fraction(math.floor(want * 2**12), 2**12)
        kept[y] = exp_minus(Fraction(abs(y), t)) * want
    for y in kept:  # proposal times acceptance is the Gaussian, up to one factor
        assert kept[y] / kept[0] == pytest.approx(float(exp_minus(Fraction(y * y) / (2 * variance))), rel=1e-14)


@pytest.mark.chance(chi2.cdf(1400, 2000) + chi2.sf(2600, 2000), "the mean of 2,000 squares is 30% off")
@pytest.mark.parametrize("variance", [Fraction(1, 10**6), Fraction(10**30), Fraction(10**18) + Fraction(1, 3**80)])
def test_very_small_and_very_large_variances_work(variance: Fraction) -> None:
    draws = ExactSampler().gaussian(variance, 2000)
    ratio = float(sum(int(k) ** 2 for k in draws) / (2000 * variance))
    assert ratio == 0 if variance < 1 else 0.7 < ratio < 1.3


def test_the_float_exponent_of_a_gaussian_is_as_close_as_its_proof_says() -> None:
    a, b = 10**19 + 7, 10**4 + 9
    t = math.isqrt(a // b) + 1
    for y in [0, 1, t // 2, t - 1, t, t + 1, 3 * t, 90 * t]:
        exact = Fraction((y * t * b - a) ** 2, 2 * a * b * t * t)
        rounded = (np.float64(y) - a / (b * t)) ** 2 / (2 * a / b)
        assert abs(Fraction(float(rounded)) - exact) <= Fraction(1, 2**50) * (1 + exact)


# --- integers and selection


@pytest.mark.parametrize("m", [1, 2, 3, 5, 16, 100, 255, 256])
def test_every_integer_below_m_has_the_same_number_of_tapes(m: int) -> None:
    tape = Tape(bytes(range(256)) * 3)  # 256 draws read 2 * 256 + 16 bytes
    counts = Counter(ExactSampler(tape).integers(m, 256).tolist()[: m * (256 // m)])
    assert set(counts) == set(range(m))
    assert len(set(counts.values())) == 1


def test_integers_reject_what_is_not_below_m() -> None:
    assert ExactSampler(Tape(bytes([3, 0xF3, 7, 2]) + bytes([1] * 14))).integers(3, 1).tolist() == [2]


@pytest.mark.parametrize("p", [ExpOf(Fraction(1, 3)), ExpOf(Fraction(9)), ExpOf(Fraction(0)), Fraction(1, 2)], ids=str)
def test_one_coin_falls_as_the_first_of_a_word_does(p: Any) -> None:
    for word in (0, 2**20, 2**31 - 1, 2**31, 2**32 - 2):
        coins = ExactSampler(words(word, 2**32 - 1, 0, 0)).bernoulli(p, 2)
        assert ExactSampler(words(word, 0, 0)).bernoulli(p, 1)[0] == coins[0]


@pytest.mark.chance(4.0**-299 + 300**2 / 2**101, "300 lie below 2^98, each with 1/4; or two are equal")
def test_integers_beyond_64_bits_stay_below_m() -> None:
    m = 2**100 + 1
    draws = ExactSampler().integers(m, 300)
    assert all(0 <= k < m for k in draws)
    assert max(draws) > 2**98
    assert len(set(draws)) == 300


@dataclass(frozen=True, slots=True)
class Choosing(ExactSampler):
    """Takes the integers it is told to, and says among how many."""

    choice: int = 0
    asked: tuple[list[int], ...] = ()

    def _below(self, m: int) -> int:
        self.asked[0].append(m)
        return min(self.choice, m - 1)


def test_permute_and_flip_has_the_law_of_a_random_order() -> None:
    scores, exponent = [3, 5, 4], Fraction(1, 2)
    masses: defaultdict[int, Fraction] = defaultdict(Fraction)
    for first, second in itertools.product(range(64), repeat=2):  # the flips of the two that are not the best
        for choice in range(3):
            asked: list[int] = []
            tape = Tape(bytes([first, 0, second]))
            try:
                i = Choosing(tape, 6, choice, (asked,)).permute_and_flip(scores, exponent)
            except TapeEndedError:
                continue
            if choice < asked[0]:
                masses[i] += Fraction(1, asked[0] * 64**2)
    p, r = (Fraction(math.floor(64 * exp_minus(x)), 64) for x in (Fraction(1), Fraction(1, 2)))
    not_p, not_r = p_open(p), p_open(r)
    assert masses[0] == p * not_r / 2 + p * r / 3
    assert masses[2] == r * not_p / 2 + p * r / 3
    assert masses[1] == not_p * not_r + (p * not_r + not_p * r) / 2 + p * r / 3


def p_open(yes: Fraction) -> Fraction:
    """The mass of a sure no beside a sure yes: all but one cell of 1/64."""
    return 1 - yes - Fraction(1, 64)


@pytest.mark.chance(2.0**-99 + 4 * 0.75**200 + math.exp(-100), "one of two, or four, is never chosen; or not the best")
def test_permute_and_flip_takes_the_best_when_the_exponent_is_large_and_any_when_it_is_zero() -> None:
    sampler = ExactSampler()
    assert {sampler.permute_and_flip([1, 9, 9, 3], Fraction(10**9)) for _ in range(100)} == {1, 2}
    assert {sampler.permute_and_flip([1, 9, 9, 3], Fraction(0)) for _ in range(200)} == {0, 1, 2, 3}
    assert sampler.permute_and_flip([2**70, -(2**70), 2**70 + 1], Fraction(100)) == 2


@pytest.mark.parametrize(
    ("widths", "scores", "exponent"),
    [
        ([3, 1, 0, 4], [0, 2, 9, 1], Fraction(1, 2)),
        ([1, 1], [0, -1], Fraction(3)),
        ([2, 5, 1], [7, 7, 7], Fraction(1)),
        ([10**6, 1], [0, 40], Fraction(1, 3)),
    ],
)
def test_intervals_are_chosen_by_width_times_weight(widths: list[int], scores: list[int], exponent: Fraction) -> None:
    best = max(scores)
    weights = [w * exp_minus(exponent * (best - q)) for w, q in zip(widths, scores, strict=True)]
    bounds = [sum(weights[:i], Fraction(0)) / sum(weights) for i in range(len(weights) + 1)]
    cells = 0
    for u in range(256):
        try:
            i, _ = Choosing(Tape(bytes([u])), 2, 0, ([],)).intervals(widths, scores, exponent)
        except TapeEndedError:  # undecided: a bound lies in the cell, or at its end
            assert any(Fraction(u, 256) <= b <= Fraction(u + 1, 256) for b in bounds)
            continue
        cells += 1
        assert bounds[i] - Fraction(1, 10**15) <= Fraction(u, 256)
        assert Fraction(u + 1, 256) <= bounds[i + 1] + Fraction(1, 10**15)
    assert cells >= 256 - len(widths)


def test_an_undecided_interval_reads_on() -> None:
    widths, scores = [1, 1], [0, 0]  # the bound lies at exactly 1/2
    third = [1, 2]  # and here at 1/3, binary 0.01010101 0101...
    assert Choosing(Tape(bytes([127])), 2, 0, ([],)).intervals(widths, scores, Fraction(1)) == (0, 0)
    assert Choosing(Tape(bytes([128])), 2, 0, ([],)).intervals(widths, scores, Fraction(1)) == (1, 0)
    assert Choosing(Tape(bytes([0b01010101, 1, 1, 0])), 2, 0, ([],)).intervals(third, scores, Fraction(1)) == (0, 0)
    assert Choosing(Tape(bytes([0b01010101, 1, 1, 2])), 2, 0, ([],)).intervals(third, scores, Fraction(1)) == (1, 0)


def test_an_interval_is_left_open_while_the_weight_before_it_is_uncertain() -> None:
    # exp(-99/2) 2^72 = 1.5, between the integers 1 and 2: at 8 bits of U the first interval ends between 7.8 and 15.1
    # of 256, in truth at 11.5.
    sampler = Choosing(Tape(bytes([8] + [0] * 60)), 2, 0, ([],))
    assert sampler.intervals([2**100, 2**33], [0, 99], Fraction(1, 2)) == (0, 0)


def test_u_close_to_one_reaches_a_last_interval_of_tiny_weight() -> None:
    sampler = Choosing(Tape(bytes([255] + [3] * 30 + [0] * 60)), 2, 0, ([],))  # U = 1 - 2^-68, the weight 2^-28
    assert sampler.intervals([2**100, 1], [0, 99], Fraction(1, 2)) == (1, 0)


@pytest.mark.chance(40 * math.exp(-50), "one of 20 lies 500 scores away, on either side")
def test_ten_thousand_scores_keep_their_enclosures_tight() -> None:
    n = 10_000
    chosen = [ExactSampler().intervals([1] * n, [-abs(i - 5000) for i in range(n)], Fraction(1, 10)) for _ in range(20)]
    assert all(abs(i - 5000) < 500 and offset == 0 for i, offset in chosen)


@pytest.mark.chance(3 * (2 / 3) ** 200, "one of three offsets is never drawn")
def test_offsets_fill_the_interval() -> None:
    assert {ExactSampler().intervals([0, 3, 0], [9, 1, 9], Fraction(50)) for _ in range(200)} == {
        (1, 0),
        (1, 1),
        (1, 2),
    }


# --- refusals


@pytest.mark.parametrize("sampler", [ExactSampler(), Noiseless(), FixedSampler(1)], ids=lambda s: type(s).__name__)
@pytest.mark.parametrize("scale", [0, -1, Fraction(-1, 3), math.nan, math.inf, 0.5, Fraction(2**201), "1", None])
def test_scales_and_variances_that_are_not_positive_rationals_are_refused(sampler: Sampler, scale: Any) -> None:
    with pytest.raises(ValueError, match=r"laplace scale is .* write a Fraction"):
        sampler.laplace(scale, 1)
    with pytest.raises(ValueError, match=r"gaussian variance is .* write a Fraction"):
        sampler.gaussian(scale, 1)


def test_arguments_out_of_range_are_refused() -> None:
    sampler = ExactSampler()
    refused: list[Callable[[], object]] = [
        lambda: sampler.bernoulli(Fraction(3, 2), 1),
        lambda: sampler.bernoulli(Fraction(-1, 2), 1),
        lambda: sampler.bernoulli(0.5, 1),  # type: ignore[arg-type]  # what a caller might try
        lambda: ExpOf(Fraction(-1)),
        lambda: ExpOf(math.nan),  # type: ignore[arg-type]  # what a caller might try
        lambda: sampler.integers(0, 1),
        lambda: sampler.laplace(Fraction(1), -1),
        lambda: sampler.permute_and_flip([], Fraction(1)),
        lambda: sampler.permute_and_flip([1], Fraction(-1)),
        lambda: sampler.intervals([1], [1, 2], Fraction(1)),
        lambda: sampler.intervals([0, 0], [1, 2], Fraction(1)),
        lambda: sampler.intervals([2, -1], [1, 2], Fraction(1)),
        lambda: sampler.intervals([1], [1], Fraction(-1)),
        lambda: ExactSampler(word_bits=33),
    ]
    for call in refused:
        with pytest.raises(ValueError, match=r"write|give"):
            call()


@pytest.mark.chance(0, "nothing is drawn")
@pytest.mark.parametrize("sampler", [ExactSampler(), Noiseless(), FixedSampler(1)], ids=lambda s: type(s).__name__)
def test_no_draws_are_an_empty_array(sampler: Sampler) -> None:
    one = Fraction(1)
    for draws in [sampler.laplace(one, 0), sampler.gaussian(one, 0), sampler.bernoulli(one, 0), sampler.integers(9, 0)]:
        assert draws.shape == (0,)


@pytest.mark.chance(200 * math.exp(-60), "one of 100 lies 60 scales away, on either side")
def test_numpys_integers_in_a_fraction_do_not_overflow() -> None:
    scale = Fraction(np.int64(2**62), np.int64(2**61))  # type: ignore[call-overload]  # what a caller might do
    assert abs(ExactSampler().laplace(scale, 100)).max() < 2 * 60


def test_a_source_that_runs_dry_stops_the_draw() -> None:
    with pytest.raises(InvariantBroken, match="too few bytes"):
        ExactSampler(read=lambda size: b"").laplace(Fraction(1), 1)


@pytest.mark.chance(2 * (7 / 8) ** 199, "none of 200 lies in the lowest, or highest, eighth")
@pytest.mark.parametrize("m", [2**32, 2**40 + 1, 2**62, 2**70])
def test_integers_of_any_size_are_below_m(m: int) -> None:
    draws = [int(k) for k in ExactSampler().integers(m, 200)]
    assert 0 <= min(draws) < m // 8
    assert m - m // 8 < max(draws) < m


# --- a coin for each lane, and orders


@pytest.mark.chance(P_THRESHOLD, "the coins do not fit their exact law")
def test_each_lane_has_a_chance_of_its_own() -> None:
    numerators, size = np.array([0, 1, 5, 6, 7]), 10_000
    seen = np.array([ExactSampler().chances(numerators, 7) for _ in range(size)]).sum(axis=0)
    assert (seen[0], seen[4]) == (0, size)
    assert fits(seen[1:4], numerators[1:4] / 7, size)
    assert ExactSampler().chances(np.zeros(0, dtype=np.int64), 7).tolist() == []


@pytest.mark.parametrize("numerators", [[-1], [8]])
def test_a_chance_outside_0_to_1_is_refused(numerators: list[int]) -> None:
    with pytest.raises(ValueError, match="below 0 or above m = 7"):
        ExactSampler().chances(np.array(numerators), 7)


@pytest.mark.chance(P_THRESHOLD, "the orders do not fit their exact law")
def test_every_order_is_equally_likely() -> None:
    size = 20_000
    seen = Counter(tuple(ExactSampler().order(4).tolist()) for _ in range(size))
    assert fits([seen[order] for order in itertools.permutations(range(4))], [1 / 24] * 24, size)
    assert ExactSampler().order(0).tolist() == []


def test_equal_keys_are_drawn_again() -> None:
    equal = bytes(8 * (2 * 3 + 16))
    distinct = b"".join(k.to_bytes(8, "little") for k in (7, 2, 5, *range(19)))
    contents = iter([equal, equal, distinct])
    assert ExactSampler(read=lambda size: next(contents)).order(3).tolist() == [1, 2, 0]


# --- values plus noise
