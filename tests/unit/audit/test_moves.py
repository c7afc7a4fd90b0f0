"""Neighbours' quantiles whose released counts lie on two sides of what is enough for an interval."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from unittest.mock import patch

import pytest

from dpsql.audit.audits import charge, sensitivity
from dpsql.audit.moves import GivenNoise, at_its_counts, chosen, losses, undrawn
from dpsql.audit.replay import Promise, Replay, Run, RunPart
from dpsql.audit.seen import control_flow
from dpsql.audit.template import Template
from dpsql.audit.watched import Recorder
from dpsql.mechanisms.base import Price
from dpsql.mechanisms.choice import quantile as module
from dpsql.mechanisms.choice.quantile import QuantileRelease
from dpsql.mechanisms.exponential import Exponential
from dpsql.plan.types import Grid
from tests.unit.mechanisms.asking import CITY, asking, counted, offered

SMALL = Grid(Fraction(1), low=0, high=9)
GROUPS: tuple[tuple[str | None, ...], ...] = (("Delft",), ("Leiden",), (None,))
PROMISE = Promise("add_remove", "basic")
ROWS = [[0, 3, 3, 9], [1, 2], []]
PRICES = [
    Price(Fraction(3), Fraction(0)),
    Price(None, Fraction(0), rho=Fraction(1, 2)),
    Price(Fraction(20), Fraction(0)),
]


def quantile(price: Price = PRICES[0], fraction: Fraction = Fraction(1, 2)) -> QuantileRelease:
    """Of three groups."""
    release = offered(
        Exponential().offer(asking("quantile_cont", grid=SMALL, keys=(CITY,), price=price, fraction=fraction))
    )
    assert isinstance(release, QuantileRelease)
    return release


def part(release: QuantileRelease, groups: Sequence[Sequence[int]], noise: Sequence[int]) -> RunPart:
    """A release of these rows, with this noise of their numbers."""
    raw, recorder = counted(*map(Counter, groups)), Recorder(GivenNoise(noise))
    released = {name: list(column) for name, column in release.release(raw, recorder).columns.items()}
    draws, choices = tuple(recorder.draws), tuple(recorder.choices)
    return RunPart(
        release, False, False, GROUPS, {}, released, draws, choices, again=lambda sampler: release.release(raw, sampler)
    )


def sides(
    release: QuantileRelease, one: Sequence[Sequence[int]] = ROWS, gone: int = 0, off: int = 0
) -> tuple[RunPart, RunPart]:
    """Two neighbours, by the same noise: the first has one row more, and just enough of them but for ``off``."""
    enough = math.floor(min(release._fewest().values())) + 1
    noise = [enough - len(group) + off for group in one]
    two = [list(group)[1:] if at == gone else list(group) for at, group in enumerate(one)]
    return part(release, one, noise), part(release, two, noise)


def replayed(one: RunPart, two: RunPart) -> Replay:
    """Two runs of one release each."""
    asked = Template("SELECT city, MEDIAN(cost) FROM visits GROUP BY city")

    def run(own: RunPart) -> Run:
        return Run(asked, PROMISE, (), (own,), (own.release.loss,), None, None, "")

    return Replay({(PROMISE, "everybody"): [run(one)], (PROMISE, "without unit 0"): [run(two)]})


@pytest.mark.parametrize("price", PRICES)
@pytest.mark.parametrize("fraction", [Fraction(1, 2), Fraction(1, 5)])
def test_counts_on_two_sides_of_enough_convict_nobody(price: Price, fraction: Fraction) -> None:
    release = quantile(price, fraction)
    one, two = sides(release)
    assert len(one.choices) > len(two.choices)  # else it tells nothing
    for pair in ((one, two), (two, one)):
        assert all(real <= said for real, said in losses(*pair))
    for replay in (replayed(one, two), replayed(two, one)):
        assert control_flow(replay) == sensitivity(replay) == charge(replay) == []


def test_the_second_side_is_drawn_under_the_counts_of_the_first() -> None:
    one, two = sides(quantile())
    under = at_its_counts(two, like=one)
    assert under.released["count"] == one.released["count"] != two.released["count"]
    assert [choice.exponent for choice in under.choices] == [choice.exponent for choice in one.choices]
    assert at_its_counts(one, like=one) is one
    assert at_its_counts(two, like=two) is two


@pytest.mark.parametrize("price", PRICES)
def test_what_is_claimed_is_reached_and_not_passed_whatever_the_noise(price: Price) -> None:
    release, shares = quantile(price), []
    for off in range(-8, 9):
        for gone in (0, 1):
            for one, two in (sides(release, gone=gone, off=off), sides(release, gone=gone, off=off)[::-1]):
                assert control_flow(replayed(one, two)) == undrawn(one) == []
                both = losses(one, two)
                assert all(real <= said for real, said in both)
                shares.append(max(real / said for real, said in both))
    assert max(shares) > Fraction(99, 100)  # the count's part is in it


def test_a_large_loss_in_rho_is_what_its_epsilon_says() -> None:
    release = quantile(PRICES[2])
    one, two = sides(release, off=-10)  # one draw for each group, at nearly all of epsilon
    epsilon, rho = chosen(one, two)
    assert rho < epsilon * Fraction(math.tanh(epsilon / 2)) < epsilon**2 / 8
    assert charge(replayed(one, two)) == []


# ---------------------------------------------------------------------------------------------------- seeded bugs


def louder(release: QuantileRelease) -> QuantileRelease:
    """The answer without an interval at twice its price, which nothing is charged for."""
    return replace(release, merged=tuple(2 * rate for rate in release.merged))


def counted_loudly(release: QuantileRelease) -> QuantileRelease:
    """Counts at twenty times their price, which nothing is charged for."""
    return replace(release, count=20 * release.count)


@pytest.mark.parametrize("bug", [louder, counted_loudly])
def test_what_is_drawn_above_its_price_is_convicted_where_counts_lie_on_two_sides(bug: object) -> None:
    assert callable(bug)
    one, two = sides(bug(quantile()))
    assert len(one.choices) > len(two.choices)
    for pair in ((one, two), (two, one)) if bug is counted_loudly else ((two, one),):
        assert any(real > said for real, said in losses(*pair))
        assert sensitivity(replayed(*pair))


def test_draws_that_do_not_follow_from_the_released_counts_are_convicted() -> None:
    release = quantile()
    enough = math.floor(min(release._fewest().values())) + 1
    with patch.object(module, "_beyond", lambda fewest, rows: tuple(fewest) if rows < enough else ()):
        one, two = sides(release)
    assert one.released["count"][0] == enough
    assert undrawn(one)
    assert control_flow(replayed(one, two))


def test_other_rates_for_a_neighbour_are_convicted() -> None:
    one, _ = sides(quantile())
    _, two = sides(quantile(Price(Fraction(2), Fraction(0))))
    assert control_flow(replayed(one, two))
