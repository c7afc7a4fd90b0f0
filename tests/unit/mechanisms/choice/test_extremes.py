"""MIN and MAX of many rows are asked some ranks inside: exact chances, and what is said of it."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest

from dpsql.mechanisms.choice.landscape import landscape
from dpsql.plan.types import Grid
from dpsql.testing_samplers import FixedSampler, Noiseless
from tests.unit.mechanisms import chances
from tests.unit.mechanisms.asking import asking, counted
from tests.unit.mechanisms.choice.test_quantile import drawn, outcomes, quantile


@pytest.mark.parametrize("function", ["min", "max"])
def test_an_extreme_of_many_rows_is_an_end_of_its_interval_and_nearly_never_beyond(function: str) -> None:
    # Exact chances: of 40 points below and above the rows, all but the outermost few are as far from them.
    grid = Grid(Fraction(1), 0, 100)
    release = quantile(asking(function, fraction=Fraction(function == "max"), grid=grid, rows_about=10**5))
    (draw,) = drawn(release, 10**5)
    assert draw.exponent == sum(release.rates) / 3
    data = dict.fromkeys(range(40, 61), 5000)
    widths, scores = landscape(np.array([*data]), np.array([*data.values()]), grid, draw.rank, draw.deepest)
    chance = chances.exponential(widths.tolist(), scores.tolist(), draw.exponent)
    outside = chance[:40] if function == "min" else chance[61:]
    assert sum(outside, Decimal(0)) < Decimal(1) / 200
    truth = 40 if function == "min" else 60
    assert chance[truth] > Decimal(99) / 100
    released = release.release(counted(data), Noiseless())
    assert list(released.values) == [truth]
    assert release.intervals(released, 0.99) == [(0, truth) if function == "min" else (truth, 100)]


def test_an_extreme_asked_inside_says_so_and_one_of_few_rows_does_not() -> None:
    few, many = (quantile(asking("min", fraction=Fraction(0), rows_about=rows)) for rows in (100, 10**5))
    (note,) = many.notes
    assert note.startswith(f"about {many.ranks:,} rows lie below the answer")
    assert f"{many.enough:,}" in note
    assert not few.notes
    released = few.release(counted(dict.fromkeys(range(1000), 100)), FixedSampler(2))
    assert few.told(released) == (note,)
    assert many.told(released) == ()
    assert few.told(few.release(counted({5: 10}), FixedSampler(2))) == ()


@pytest.mark.parametrize("function", ["min", "max"])
@pytest.mark.parametrize("rows", [1, 3, 100, 20_000])
def test_where_an_extreme_is_asked_inside_it_is_wrong_at_most_once_in_200(function: str, rows: int) -> None:
    # Also where the noised number of rows is far from theirs.
    grid, rng = Grid(Fraction(1), 0, 40), np.random.default_rng(4)
    release = quantile(asking(function, fraction=Fraction(function == "max"), grid=grid))
    (draw,) = drawn(release, 10**9)
    for data in (rng.integers(0, 41, rows), rng.integers(20, 22, rows), rng.integers(0, 2, rows) * 40):
        chance = outcomes(tuple(data.tolist()), draw, grid)
        wrong = chance[: min(data)] if function == "min" else chance[max(data) + 1 :]
        assert sum(wrong, Decimal(0)) <= Decimal(1) / 200
