"""Histograms of `dpsql advise`: what may be concluded from noised counts."""

from __future__ import annotations

from fractions import Fraction

from dpsql.plan.advised import LogHistogram, Signed

HISTOGRAM = LogHistogram(Fraction(1, 2), counts=(300, -20, 100, 40), reach=60, likely=45, near=10)


def test_a_bin_holds_the_sizes_from_one_power_of_two_to_the_next_in_steps() -> None:
    assert (HISTOGRAM.low(0), HISTOGRAM.high(0)) == (Fraction(1, 2), Fraction(1))
    assert (HISTOGRAM.low(3), HISTOGRAM.high(3)) == (Fraction(4), Fraction(8))


def test_the_largest_size_of_a_bin_is_one_step_below_its_end() -> None:
    assert [HISTOGRAM.largest(j) for j in range(3)] == [Fraction(1, 2), Fraction(3, 2), Fraction(7, 2)]


def test_exact_counts_are_within_reach_of_the_noised_ones_and_never_negative() -> None:
    assert [(HISTOGRAM.least(j), HISTOGRAM.most(j)) for j in range(4)] == [(240, 360), (0, 40), (40, 160), (0, 100)]


def test_counts_below_the_noise_are_not_seen() -> None:
    assert HISTOGRAM.seen == (300, 0, 100, 0)
    assert HISTOGRAM.units == 400


def test_values_equal_to_a_bound_do_not_lie_beyond_it() -> None:
    def seen(*counts: int) -> LogHistogram:
        return LogHistogram(Fraction(1), counts, reach=60, likely=45, near=10)

    children = Signed(seen(1000, 900, 500, 200, 0, 0))
    assert children.beyond(Fraction(0), Fraction(8)) == 0  # 200 from 8 to 15, who may all have 8
    assert children.beyond(Fraction(0), Fraction(7)) == 200
    assert Signed(seen(1000, 900, 500, 200, 90)).beyond(Fraction(0), Fraction(8)) == 290
    assert Signed(seen(1000), seen(0, 100, 0)).beyond(Fraction(-2), Fraction(4)) == 0
    assert Signed(seen(1000), seen(0, 100, 70)).beyond(Fraction(-2), Fraction(4)) == 170
    assert Signed(seen(1000), seen(0, 100, 70)).beyond(Fraction(0), Fraction(1)) == 170
