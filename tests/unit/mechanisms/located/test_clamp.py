"""Where values are thought to lie while rows are too few to tell."""

from __future__ import annotations

from fractions import Fraction

import pytest

from dpsql.mechanisms.base import Price
from dpsql.mechanisms.located.clamp import clamps_of
from dpsql.plan.types import Grid
from dpsql.testing_samplers import Noiseless
from tests.unit.mechanisms.asking import COST, counted
from tests.unit.mechanisms.located.test_mechanism import FOUR_ROWS, release_of


@pytest.mark.parametrize(
    ("low", "high", "place"),
    [(500, 5_000, 2_750), (-8_000, -500, -4_250), (0, 5_000, 512), (10, 5_000, 633), (-500, 5_000, 262)],
)
def test_where_rows_are_too_few_bounds_of_one_scale_are_taken_whole_and_others_are_thought_loose(
    low: int, high: int, place: int
) -> None:
    clamps = clamps_of(Grid(Fraction(1, 1000), low, high), COST.facts)
    assert clamps.window(clamps.guess).middle == pytest.approx(place, rel=0.5)


def test_a_mean_of_ratings_whose_number_is_noise_is_in_the_middle_of_the_bounds() -> None:
    ratings = Grid(Fraction(1, 1000), 500, 5_000)
    release = release_of(price=Price(Fraction(1, 5), Fraction(0)), grid=ratings, held=FOUR_ROWS)
    (value,) = release.release(counted({3_500: 0}), Noiseless()).values
    assert value == 2.75
