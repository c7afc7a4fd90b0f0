"""Preprocessed quantiles beside the median's own form, the extremes and DuckDB's quantiles; where they are exact.

That they have their sensitivity and equal the general rule is in test_fast_forms.py, with the other forms.
"""

from __future__ import annotations

from fractions import Fraction

import duckdb
import numpy as np
import pytest

from dpsql.mechanisms.preprocessing import maximum, median, minimum, quantile
from dpsql.mechanisms.preprocessing.rules import MedianRule, QuantileRule
from tests.unit.mechanisms.preprocessing.oracles import small_data

HALF = Fraction(1, 2)
SHARES = (Fraction(1, 100), Fraction(1, 4), HALF, Fraction(9, 10), Fraction(99, 100))


def test_half_of_the_rows_make_the_median_and_all_or_none_the_extremes() -> None:
    for bag, centre, delta in small_data(5, 300, range(13)):
        assert quantile(bag, HALF, centre=centre, sensitivity=delta) == median(bag, centre=centre, sensitivity=delta)
        for share, extreme in ((0, minimum), (1, maximum)):
            wanted = extreme(bag, delta, centre=centre)
            assert quantile(bag, share, centre=centre, sensitivity=delta) == wanted
            assert quantile(bag, share, centre=centre, sensitivity=delta, discrete=True) == wanted


@pytest.mark.parametrize("share", SHARES, ids=str)
def test_with_sensitivity_enough_they_are_the_quantiles_of_duckdb(share: Fraction) -> None:
    values = np.random.default_rng(7).integers(-1000, 1000, 57)
    numbers = ", ".join(f"({value})" for value in values.tolist())
    asked = f"SELECT quantile_cont(x, {float(share)}), quantile_disc(x, {float(share)}) FROM (VALUES {numbers}) AS t(x)"
    between, at = duckdb.execute(asked).fetchone() or ()
    assert float(quantile(values, share, centre=0, sensitivity=10**6)) == pytest.approx(between)
    assert quantile(values, share, centre=0, sensitivity=10**6, discrete=True) == at


@pytest.mark.parametrize("share", SHARES, ids=str)
def test_by_the_rule_a_quantile_of_incomes_is_nearly_exact(share: Fraction) -> None:
    """Lognormal incomes, centre and spread 2.5 and 2.2 times off their middle; 10^5 of them, a fixed draw."""
    data = np.exp(np.random.default_rng(3).normal(10.3, 0.9, 10**5)).astype(np.int64)
    reach = QuantileRule(Fraction(20_000), None, share).reach(len(data), Fraction(1))
    assert reach is not None
    moved = float(quantile(data, share, centre=40_000, sensitivity=reach / len(data)))
    assert moved == pytest.approx(float(np.quantile(data, float(share))), rel=0.005)


def test_the_rule_is_the_medians_at_one_half_and_wider_farther_out() -> None:
    wide = [QuantileRule(Fraction(1), None, share).reach(100, Fraction(1)) for share in SHARES]
    middle = MedianRule(Fraction(1), None).reach(100, Fraction(1))
    assert middle is not None
    assert wide[0] == wide[4] and wide[2] is not None and abs(wide[2] / middle - 1) < Fraction(1, 50)
    assert wide[0] is not None and wide[1] is not None and wide[0] > wide[1] > wide[2]


def test_a_share_outside_0_to_1_is_refused() -> None:
    with pytest.raises(ValueError, match="the share is 3/2; write one from 0 to 1"):
        quantile([1, 2], Fraction(3, 2), centre=0, sensitivity=1)
