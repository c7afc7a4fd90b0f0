"""The stability histogram: its (epsilon, delta) by enumeration for units of several rows, and what it shows."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from dpsql.mechanisms.base import Price, Refusal
from dpsql.mechanisms.choose import choose
from dpsql.mechanisms.noise.laws import LaplaceLaw
from dpsql.mechanisms.noise.thresholds import threshold_delta, threshold_for
from dpsql.mechanisms.stability import StabilityRelease
from dpsql.mechanisms.threshold import Threshold
from dpsql.plan.needs import Contribution, Source
from dpsql.plan.nodes import Scan
from dpsql.privacy.kinds import Approximate
from dpsql.testing_samplers import FixedSampler, Noiseless
from tests.unit.mechanisms.asking import (
    CITY,
    FEW_ROWS,
    HALF,
    OPEN,
    VISITS,
    WITH_DELTA,
    ConstantNoise,
    asking,
    offered,
    raw,
)
from tests.unit.mechanisms.test_threshold import hockey_stick

MILLIONTH = Fraction(1, 10**6)
MANY = replace(CITY, domain=tuple(range(5000)))


def stable(function: str = "count_rows", **facts: object) -> StabilityRelease:
    settings = {"keys": (CITY,), "price": WITH_DELTA, **facts}
    release = Threshold().offer(asking(function, **settings))  # type: ignore[arg-type]  # passed on to asking
    assert isinstance(release, StabilityRelease), release
    return release


def why(function: str = "count_rows", **facts: object) -> str:
    settings = {"keys": (CITY,), "price": WITH_DELTA, **facts}
    answer = Threshold().offer(asking(function, **settings))  # type: ignore[arg-type]  # passed on to asking
    assert isinstance(answer, Refusal)
    return answer.reason


# ---------------------------------------------------------------------------------- the theorem, by enumeration


def neighbours(held: Contribution, swap: bool) -> Iterator[tuple[tuple[int, ...], tuple[int, ...]]]:
    """Pairs of histograms of two cells: others hold 0, 1 or 3 of each; the one unit holds what its bounds allow."""
    most = range(min(held.total, held.rows_in_group) + 1)
    ways = [w for w in product(most, most) if sum(w) <= held.total and sum(map(bool, w)) <= held.groups]
    for others in product((0, 1, 3), repeat=2):
        for here in ways:
            for there in ways if swap else [(0, 0)]:
                yield (
                    (others[0] + here[0], others[1] + here[1]),
                    (others[0] + there[0], others[1] + there[1]),
                )


@pytest.mark.every(2)
@pytest.mark.parametrize("swap", [False, True])
@pytest.mark.parametrize("held", [Contribution(2, 1, 2), Contribution(3, 2, 2), Contribution(2, 2, 1)])
@pytest.mark.parametrize(("epsilon", "delta"), [(1.0, 0.05), (0.5, 0.01), (3.0, 0.2), (0.5, 0.99)])
def test_no_pair_of_neighbours_loses_more(epsilon: float, delta: float, held: Contribution, swap: bool) -> None:
    price = Price(Fraction(epsilon), Fraction(delta))
    release = stable(held=held, price=price, neighbours="replace_one" if swap else "add_remove")
    assert isinstance(release.loss, Approximate)
    claimed, scale = float(release.loss.delta), release.scale or math.inf
    assert claimed <= delta
    assert scale == held.total * (2 if swap else 1) / epsilon
    for one, two in neighbours(held, swap):
        assert hockey_stick(one, two, scale, release.threshold, epsilon) <= claimed * (1 + 1e-9)
        assert hockey_stick(two, one, scale, release.threshold, epsilon) <= claimed * (1 + 1e-9)


@pytest.mark.parametrize("held", [Contribution(2, 1, 2), Contribution(3, 1, 3)])
def test_the_claimed_delta_is_reached_by_a_unit_alone_in_its_cell(held: Contribution) -> None:
    release = stable(held=held, price=Price(Fraction(1), Fraction(1, 100)))
    assert isinstance(release.loss, Approximate)
    alone = hockey_stick((held.rows_in_group, 0), (0, 0), release.scale or 0, release.threshold, 1.0)
    assert alone == pytest.approx(float(release.loss.delta), rel=1e-9)
    assert hockey_stick((held.rows_in_group, 0), (0, 0), release.scale or 0, release.threshold - 1, 1.0) > 1 / 100


def test_one_row_each_is_the_threshold_of_open_groups() -> None:
    release = stable(held=Contribution(1, 1, 1))
    assert release.threshold == threshold_for(LaplaceLaw(Fraction(2)), 1, MILLIONTH)
    assert release.loss == Approximate(Fraction(1, 2), threshold_delta(LaplaceLaw(Fraction(2)), 1, release.threshold))
    open_groups = offered(Threshold().offer(asking("count_units", keys=(OPEN,), selects=True, price=WITH_DELTA)))
    assert open_groups.loss == release.loss


# ------------------------------------------------------------------------------------------------- what is shown


def test_empty_cells_are_zero_whatever_the_noise() -> None:
    release = stable()
    assert list(release.release(raw([0, 0, 0]), ConstantNoise(10**6)).values) == [0, 0, 0]


def test_a_cell_is_shown_only_strictly_above_the_threshold() -> None:
    release = stable()
    t = release.threshold
    assert list(release.release(raw([t - 1, t, t + 1]), Noiseless()).values) == [0, 0, t + 1]
    assert list(release.release(raw([1, t]), ConstantNoise(t)).values) == [t + 1, 2 * t]


def test_the_noise_is_drawn_for_every_cell() -> None:
    release = stable()
    one, two = (release.release(raw([first, 500]), FixedSampler(5)).values[1] for first in (0, 900))
    assert one == two


@pytest.mark.parametrize("beyond", [0, 1, 3, 10, 40])
def test_intervals_cover_cells_around_the_threshold(beyond: int) -> None:
    sampler = FixedSampler(1)
    release = stable(price=Price(Fraction(1, 2), Fraction(1, 100)))
    exact = release.threshold + beyond
    released = release.release(raw([exact] * 20_000), sampler)
    inside = [low <= exact <= high for low, high in release.intervals(released, 0.9) if low is not None and high]
    assert np.mean(inside) >= 0.9 - 0.01


def test_a_reader_learns_what_zero_means_and_what_is_promised() -> None:
    notes = " ".join(stable(keys=(MANY,)).notes)
    assert "0 stands for empty cells" in notes
    assert "noise on every cell would make it 1e+04" in notes
    assert "whatever the data are" in notes


# --------------------------------------------------------------------------------------------- when it is chosen


@pytest.mark.parametrize("rows", [1, 5000, 50_000, 10**9])
def test_it_is_taken_by_name_alone_whatever_rows_the_policy_guesses(rows: int) -> None:
    request = replace(asking("count_rows", keys=(MANY,), price=WITH_DELTA), source=_about(rows))
    choice = choose(request)
    assert choice.release.mechanism == "laplace"
    (other,) = (o for o in choice.others if o.mechanism == "threshold")
    assert other.half_width is not None
    assert "taken by name alone" in other.reason
    assert choose(request, wanted="threshold").release.mechanism == "threshold"


def _about(rows: int) -> Source:
    return replace(asking("count_rows", keys=(MANY,)).source, relation=Scan(replace(VISITS, rows_about=rows), "t0"))


def test_its_expected_error_is_that_of_the_guess_and_its_intervals_are_wider() -> None:
    release = stable(keys=(MANY,))  # 10,000 rows in 5,000 cells
    assert release.expected_error == pytest.approx(math.log(20) * 2)
    released = release.release(raw([0, 5000]), Noiseless())
    widths = [
        (high - low) / 2 for low, high in release.intervals(released, 0.95) if low is not None and high is not None
    ]
    assert max(widths) == release.half_width > release.expected_error


def test_what_it_does_not_answer_is_said() -> None:
    assert "no count" in why("sum")
    assert "single number" in why(keys=())
    assert "add delta" in why(price=HALF)
    assert "too small" in why(price=Price(None, MILLIONTH, rho=Fraction(1, 10**15)))


def test_every_count_is_answered_at_its_own_sensitivity() -> None:
    scales = {f: stable(f, held=FEW_ROWS).scale for f in ("count_rows", "count", "count_units", "count_distinct")}
    assert scales == {"count_rows": 24.0, "count": 24.0, "count_units": 6.0, "count_distinct": 24.0}


def test_a_price_in_rho_keeps_its_rho() -> None:
    loss = stable(price=Price(None, MILLIONTH, rho=Fraction(1, 8))).loss
    assert isinstance(loss, Approximate)
    assert loss.rho == Fraction(1, 8)
