"""What the interval of a total allows for, by the clamp that was chosen and by what shows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from dpsql.mechanisms.base import Price
from dpsql.mechanisms.choice.clamp import ClampSearch
from dpsql.mechanisms.clamped.release import sizes_of
from dpsql.plan.needs import Contribution
from dpsql.plan.types import Grid
from dpsql.privacy.tables import RawTable, ReleasedTable
from dpsql.testing_samplers import Noiseless
from tests.unit.mechanisms.asking import asking
from tests.unit.mechanisms.clamped.test_mechanism import offered, raw_of, request

WIDE = Grid(Fraction(1), 0, 10_000)


def chances(search: ClampSearch, units: Sequence[int]) -> list[float]:
    """Of each place of a clamp: candidates come at a time between 0 and 1, and the first that shows is taken."""
    scores = np.array(search.scores(units), dtype=np.float64)
    shown = np.exp(float(search.exponent) * (scores - scores.max()))
    times, weights = np.polynomial.legendre.leggauss(len(shown))  # exact for polynomials of that degree
    waits = 1 - np.outer((times + 1) / 2, shown)
    others = [np.delete(waits, place, axis=1).prod(axis=1) for place in range(len(shown))]
    return [float(own * (weights / 2) @ rest) for own, rest in zip(shown, others, strict=True)]


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


@pytest.mark.every(3)
@pytest.mark.parametrize("neighbours", ["add_remove", "replace_one"])
@pytest.mark.parametrize("grouped", [False, True])
@pytest.mark.parametrize("kind", ["count", "one row", "several rows"])
def test_few_units_that_hold_much_are_held_however_many_they_are(kind: str, grouped: bool, neighbours: str) -> None:
    asked = request(grouped=grouped, neighbours=neighbours, grid=None if kind == "count" else WIDE)
    if kind == "one row":
        one = Contribution(rows=1, groups=1, rows_in_group=1)
        asked = replace(asked, source=replace(asked.source, contribution=one))
    offer, usual, people = offered(asked), 3, 3_000
    edges, search = offer.search.edges, offer.search
    assert isinstance(search, ClampSearch)
    if kind != "count":
        usual = edges[max(1, offer.guess - 3)] - 1
    worst = 0.0
    for reach in (offer.far // 8, offer.far // 2, offer.far):
        for few in range(0, 120, 6):
            raw = raw_of(offer, [{0: reach}] * few + [{0: usual}] * people, 3 if grouped else 1)
            sizes = sizes_of(raw, len(edges) + 1)
            missed = 0.0
            for place, chance in enumerate(chances(search, sizes.units)):
                within = offer.within(sizes, place)
                released = ReleasedTable({"value": within, "noised": within, "place": [place] * len(within)})
                (_, high), *_ = offer.intervals(released, 0.95)
                assert high is not None
                noise = offer._reach(place, 0.95)  # as if none were drawn, and none allowed for
                missed += chance * (high - noise < few * reach + people * usual)
            worst = max(worst, missed)
    assert worst <= 0.05


@pytest.mark.parametrize("neighbours", ["add_remove", "replace_one"])
def test_a_sum_over_so_few_single_rows_that_all_may_lie_above_the_clamp_holds_them_all(neighbours: str) -> None:
    held, grid = Contribution(rows=1, groups=1, rows_in_group=1), Grid(Fraction(1), 0, 10_000)
    price = Price(Fraction(1), Fraction(0))
    offer = offered(asking("sum", held=held, grid=grid, neighbours=neighbours, price=price, rows_about=1_000))
    told = list[str]()
    for people in (20, 100_000):  # of 20 the choice can tell nothing; of so many most would be seen
        released = offer.release(raw_of(offer, [{0: 9_000}] * people, 1), Noiseless())
        ((_, high),) = offer.intervals(released, 0.95)
        assert high is not None and high >= 9_000 * people
        told += offer.told(released)
    assert "all may have more, up to 10,000" in told[0] and "all may have more" not in told[1]
    few, many = ([{0: 2}] * people for people in (20, 100_000))
    clamped = [offer.release(raw_of(offer, units, 1), Noiseless()) for units in (few, many)]
    wide, narrow = (offer.intervals(released, 0.95)[0][1] for released in clamped)
    assert wide is not None and narrow is not None
    assert wide > 4 * 10_000  # what nothing is known of may be anywhere
    (place,) = clamped[1].columns["place"]
    missed = offer.search.most_above(place)  # of many who are seen to have little, as many as the choice may miss
    assert missed < 150 and missed * (10_000 - offer.search.edges[place]) < narrow - 200_000 < missed * 10_000


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
