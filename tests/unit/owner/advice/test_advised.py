"""From noised histograms to bounds, caps and guesses."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from itertools import pairwise
from statistics import NormalDist

import pytest

from dpsql.owner.advice.advised import bounds_of, bounds_seen, rows_about, rows_lost, two_digits
from dpsql.owner.advice.recommend import cap_of
from dpsql.owner.advice.typical import Typical, place_of
from dpsql.plan.advised import LogHistogram, Signed

HIDDEN = 100


def histogram(*counts: int, step: Fraction = Fraction(1)) -> LogHistogram:
    return LogHistogram(step, counts, reach=60, likely=45, near=10)


def test_bounds_reach_to_the_largest_number_of_the_last_bin_that_is_seen_or_follows_one() -> None:
    assert bounds_of(Signed(histogram(0, 500, 400, 10)), "integer", HIDDEN) == (0, 7)
    assert bounds_of(Signed(histogram(0, 500, 400, 11)), "integer", HIDDEN) == (0, 15)
    assert bounds_of(Signed(histogram(0, 500, 400, 10, 60)), "integer", HIDDEN) == (0, 7)
    assert bounds_of(Signed(histogram(0, 500, 400, 10, 61)), "integer", HIDDEN) == (0, 31)


def test_bounds_over_all_that_is_seen_reach_to_what_stands_apart_and_may_be_noise() -> None:
    apart = Signed(histogram(0, 500, 100, 0, 0, 50))
    assert bounds_of(apart, "integer", HIDDEN) == (0, 7)
    assert bounds_seen(apart, "integer") == (0, 63)


def test_bounds_cut_a_thousandth_of_the_units_where_noise_hides_no_more() -> None:
    assert bounds_of(Signed(histogram(200_000, 0, 99)), "integer", HIDDEN) == (0, 1)
    assert bounds_of(Signed(histogram(200_000, 0, 101)), "integer", HIDDEN) == (0, 7)
    assert bounds_of(Signed(histogram(200_000, 0, 99)), "integer", 3 * HIDDEN) == (0, 7)


def test_bounds_of_a_column_of_0_and_1_end_at_1() -> None:
    assert bounds_of(Signed(histogram(900, 0, 0)), "integer", HIDDEN) == (0, 1)
    assert bounds_of(Signed(histogram(900, 0), histogram(900, 0)), "integer", HIDDEN) == (-1, 1)
    assert bounds_of(Signed(histogram(900, step=Fraction(10))), "integer", HIDDEN) == (0, 10)  # 10 alone is in the bin


def test_bounds_of_both_signs_hold_0_and_are_rounded_up_to_two_digits() -> None:
    signed = Signed(histogram(*[0] * 7, 900, step=Fraction(1, 100)), histogram(0, 0, 0, 300))
    assert bounds_of(signed, "real", HIDDEN) == (Decimal(-15), Decimal("2.6"))
    assert bounds_of(Signed(histogram(0, 900), histogram(10, 10)), "real", HIDDEN) == (Decimal(0), Decimal(3))


def test_where_nothing_is_seen_there_are_no_bounds_and_no_place() -> None:
    assert bounds_of(Signed(histogram(40, 3)), "integer", HIDDEN) is None
    assert place_of(Signed(histogram(40, 3))) is None


def test_a_place_is_the_middle_unit_and_what_the_middle_half_spans() -> None:
    found = place_of(Signed(histogram(0, 0, 0, 300, 300, 600, 500)))
    assert found == Typical(Fraction(45), Fraction(36))  # half of the 1,700 are within 24.3 of 45.3
    assert found.scale == (Fraction(36, 100), Fraction(3600))


def test_of_units_in_one_bin_it_is_the_spread_of_a_normal_law_with_as_few_beyond_its_ends() -> None:
    """Of 10,000, noise may hide 10 on either side; what is seen there counts. No end of bounds tells anything."""
    for counts, spread in (((0, 10_000, 0), "10"), ((0, 10_000, 50), "11"), ((400, 10_000, 0), "13")):
        found = place_of(Signed(histogram(*[0] * 5, *counts)))
        assert found is not None
        assert found.spread == Fraction(spread)
    cut = place_of(Signed(histogram(*[0] * 6, 10_000)), (Decimal(0), Decimal(120)))
    assert cut is not None
    assert cut.spread == Fraction(21)  # as if evenly spread between 64 and 120


@pytest.mark.parametrize(("middle", "spread"), [(170, 10), (140, 4), (75, 15), (40, 20), (300, 40)])
def test_the_spread_of_normal_values_is_told_to_a_factor_of_five(middle: float, spread: float) -> None:
    normal = NormalDist(middle, spread)
    ends = [0.0, *(float(2**bin_) for bin_ in range(1, 12))]
    counts = [round(40_000 * (normal.cdf(high) - normal.cdf(low))) for low, high in pairwise(ends)]
    found = place_of(Signed(histogram(*counts)))
    assert found is not None
    assert 0.9 * spread <= found.spread <= 5 * spread


def test_a_bin_of_whole_numbers_ends_at_its_largest_one() -> None:
    """Of a column of 0 and 1 the bin of 1 holds nothing but 1: its place is not 1.5."""
    assert place_of(Signed(histogram(10_000))) == Typical(Fraction(1), Fraction(0))
    found = place_of(Signed(histogram(0, 10_000)))
    assert found is not None
    assert found.centre == Fraction(5, 2)  # of 2 and 3


def test_where_half_of_the_units_have_one_number_and_others_another_the_spread_is_a_step_at_least() -> None:
    """Ranks of diagnoses: most are 1. A spread of next to nothing would take all others for far away."""
    for step in (Fraction(1), Fraction(1, 100)):
        found = place_of(Signed(histogram(9_000, 3_000, 1_000, step=step)))
        assert found is not None and found.centre == step <= found.spread


def test_a_centre_keeps_the_digits_that_its_spread_has() -> None:
    found = place_of(Signed(histogram(*[0] * 10, 1000)), (Decimal(1920), Decimal(2010)))
    assert found is not None and found.within == (Fraction(1920), Fraction(2010))
    assert found == Typical(Fraction(1965), Fraction(33))  # years of birth: 2000 would be more than a spread away


def test_no_place_is_told_where_noise_hides_more_than_a_quarter_of_the_units() -> None:
    """Of -8 to 1 and more alone one bin is seen, whose width is no spread."""
    assert place_of(Signed(histogram(40, 40, 40), histogram(40, 40, 140))) is None
    assert place_of(Signed(histogram(0, 0, 40), histogram(0, 20, 180))) is not None


def test_a_place_lies_inside_declared_bounds() -> None:
    found = place_of(Signed(histogram(0, 0, 0, 0, 0, 0, 1000)), (Decimal(0), Decimal(68)))
    assert found is not None
    assert (found.centre, found.spread) == (Fraction(66), Fraction("1.5"))


def test_a_place_may_be_below_0() -> None:
    found = place_of(Signed(histogram(0, 0, 100), histogram(0, 0, 0, 0, 900)))
    assert found is not None
    assert -32 <= found.centre <= -16


def test_where_most_units_have_0_the_place_is_0_and_the_spread_that_of_all() -> None:
    """Of 10,000 units 9,000 have 0, which is in no bin; 1,000 have 64 to 127."""
    single = Signed(histogram(*[0] * 6, 1000))
    assert place_of(single, zeros=9000) == Typical(Fraction(0), Fraction(31))  # the root of a tenth of 97 squared
    assert place_of(single, (Decimal(10), Decimal(200)), zeros=9000) == Typical(Fraction(10), Fraction(28))
    few = place_of(single, zeros=100)
    assert few is not None
    assert 64 <= few.centre <= 127


@pytest.mark.parametrize("cap", [1, 2, 3])
def test_rows_lost_are_worked_out_from_the_rows_of_each_unit(cap: int) -> None:
    # 200 units of 1 row, 200 of about 2.5: 700 rows
    per_unit = histogram(200, 200)
    kept = {1: 400, 2: 600, 3: 700}[cap]
    assert rows_lost(per_unit, cap, per_unit.counts) == pytest.approx(1 - kept / 700)
    assert rows_about(per_unit, cap) == kept


def test_the_advised_cap_is_the_least_power_of_two_that_keeps_all_but_a_thousandth() -> None:
    assert cap_of(Signed(histogram(900))) == 1
    assert cap_of(Signed(histogram(900, 100))) == 4
    assert cap_of(Signed(histogram(2_000_000, 0, 0, 0, 50))) == 1
    assert cap_of(Signed(histogram(10_000, 0, 0, 0, 100))) == 32
    assert cap_of(Signed(histogram(900, 100, 20, 11))) == 16  # of the last two none is seen alone


def test_two_digits() -> None:
    assert [f"{two_digits(Fraction(n)):f}" for n in (123456, 1, "0.04567")] == ["120000", "1", "0.046"]
