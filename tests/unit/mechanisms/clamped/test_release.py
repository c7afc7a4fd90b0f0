"""What the interval of a total allows for, by the clamp that was chosen and by what shows."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest

from dpsql.plan.types import Grid
from dpsql.privacy.tables import RawTable, ReleasedTable
from dpsql.testing_samplers import Noiseless
from tests.unit.mechanisms.clamped.test_mechanism import offered, request


@pytest.mark.parametrize("grouped", [False, True])
def test_a_clamp_far_below_what_is_guessed_holds_all_that_caps_allow_unless_more_shows(grouped: bool) -> None:
    offer = offered(request(grouped=grouped, grid=Grid(Fraction(1), 0, 10_000)))
    edges, low = offer.need.edges, 0
    assert edges[low] * 64 < edges[offer.guess]
    one = int(offer.law(low).scale * offer.epsilon)  # what a unit above the clamp counts with, in finer steps
    for people, seen in ((20, False), (100_000, True)):
        columns: dict[str, list[Any]] = {"value": [0], "noised": [people * one], "place": [low]}
        released = ReleasedTable(columns)
        ((_, high),) = offer.intervals(released, 0.95)
        assert high is not None and (high >= people * edges[-1]) != seen
        assert ("all may have more" in offer.told(released)[0]) != seen


def test_totals_of_more_steps_than_two_numbers_of_64_bits_can_be_added_from_are_told_as_they_are() -> None:
    # A real number of many fine steps is no whole number that a database adds up: cut, it was far off its interval.
    offer = offered(request(grid=Grid(Fraction(1, 10**6), 0, 10**15)))
    place, people, most = len(offer.search.edges) - 1, 20_000, offer.search.edges[-1]
    total = float(people * most * offer.need.grid.step)
    raw = {"group": [0], "bin": [place], "units": [people], "signs": [people], "total": [people * most]}
    released = offer.release(RawTable(raw, 1), Noiseless())
    assert released.columns["place"] == [place]
    assert people * most > 2**60
    assert released.values == [total]
    ((low, high),) = offer.intervals(released, 0.95)
    assert low is not None
    assert high is not None
    assert low < total < high
