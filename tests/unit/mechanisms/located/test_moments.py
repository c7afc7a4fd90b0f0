"""Statistics from the same located sums: by which noise their window is weighed. Losses, intervals: test_mechanism."""

from __future__ import annotations

from collections import Counter
from typing import Any
from unittest.mock import patch

import numpy as np
import pytest

from dpsql.mechanisms.located import search
from dpsql.mechanisms.located.moments import LocatedMoments
from dpsql.mechanisms.located.place import Clip, squares, window_of
from dpsql.privacy.tables import ReleasedTable
from dpsql.testing_samplers import FixedSampler
from tests.unit.mechanisms.asking import counted
from tests.unit.mechanisms.located.test_mechanism import FUNCTIONS, arrays, release_of

ROWS = Counter(np.random.default_rng(4).lognormal(6, 0.5, 5_000).astype(int).tolist())


@pytest.mark.parametrize("function", FUNCTIONS)
def test_a_window_is_weighed_by_the_noise_of_the_sum_that_has_the_most(function: str) -> None:
    release, costs = release_of(function), list[float]()

    def told(*given: Any) -> Any:
        costs.append(given[6])
        return window_of(*given)

    with patch.object(search, "window_of", told):
        released = release.release(counted(ROWS), FixedSampler("cost"))
    (row,) = search.rows_in(released)
    law = release.laws(release.shares(row), 1)[-1]
    assert costs == [pytest.approx(np.sqrt(2) * law.spread)]


def test_that_noise_is_what_squares_are_off_by() -> None:
    release, sampler, off = release_of("var_pop"), FixedSampler("squares"), list[float]()
    assert isinstance(release, LocatedMoments)
    group = arrays(ROWS)
    for _ in range(200):
        (row,) = search.rows_in(release.release(counted(ROWS), sampler))
        window = Clip(row["middle"], row["half"], row["low"], row["high"], 0.0, 0.0, 0.0)
        (exact,) = squares([group], window)
        off.append((row["xx"] - exact) / row["half"] ** 2)
        cost = np.sqrt(2) * release.query.law(release.shares(row).answer * release.heaviest).spread
    # The standard deviation of 200 draws is 8% off; the sampler is fixed, and nothing fails by chance.
    assert np.std(off) == pytest.approx(cost, rel=0.2)


@pytest.mark.parametrize("beside", [False, True], ids=["alone", "beside a variance"])
def test_a_mean_that_noise_puts_beyond_its_window_is_not_told_as_a_point(beside: bool) -> None:
    release, rows = release_of("avg"), Counter({3 * k: 20 for k in range(200)})
    if beside:
        release = LocatedMoments("located", release.loss, release.query, ("avg", "var_pop"))
    released = release.release(counted(rows), FixedSampler("beyond"))
    (row,) = search.rows_in(released)
    assert row["low"] == 0 > row["middle"] - row["half"]
    farther = ReleasedTable({**released.columns, "x" if beside else "sum": [-row["half"] * row["count"]]})
    for confidence in (0.5, 0.95, 0.99):
        ((low, high),) = release.intervals(farther, confidence)
        assert (low, high >= row["high"]) == (0, True)
