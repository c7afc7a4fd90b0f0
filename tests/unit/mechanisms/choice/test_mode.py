"""MODE: exact losses of both choices on a tiny domain, ties, empty groups, and domains."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal
from fractions import Fraction
from itertools import product

import pytest

from dpsql.mechanisms.base import Price, Refusal
from dpsql.mechanisms.choice.mode import ExponentialChoice, ModeRelease, PermuteAndFlip
from dpsql.mechanisms.exponential import Exponential
from dpsql.plan.needs import Contribution, Values
from dpsql.plan.nodes import Apply, Column
from dpsql.plan.types import Facts, Grid, Type
from dpsql.privacy.kinds import Pure
from dpsql.privacy.tables import RawTable
from dpsql.testing_samplers import FixedSampler, Noiseless
from tests.unit.mechanisms import chances
from tests.unit.mechanisms.asking import BY_RHO, CITY, CONSENT, HALF, OPEN, asking, counted, offered

ORDERS = (2, 10)
BRIGHT = Price(Fraction(3), Fraction(0))


def mode(**facts: object) -> ModeRelease:
    release = offered(Exponential().offer(asking("mode", **facts)))  # type: ignore[arg-type]  # passed on to asking
    assert isinstance(release, ModeRelease)
    return release


def outcomes(release: ModeRelease, counts: tuple[int, ...]) -> list[Decimal]:
    if isinstance(release.chooser, PermuteAndFlip):
        return chances.permute_and_flip(counts, release.chooser.exponent)
    return chances.exponential([1] * len(counts), counts, release.chooser.exponent)


def moves(rows: int, swap: bool) -> list[tuple[int, ...]]:
    """Every change of three counts by one unit of so many rows."""
    units = [unit for unit in product(range(rows + 1), repeat=3) if sum(unit) <= rows]
    if not swap:
        return units
    return list(dict.fromkeys(tuple(a - b for a, b in zip(one, two, strict=True)) for one in units for two in units))


@pytest.mark.every(2)
@pytest.mark.parametrize("price", [HALF, BRIGHT, BY_RHO])
@pytest.mark.parametrize("rows", [1, 2])
@pytest.mark.parametrize("neighbours", ["add_remove", "replace_one"])
def test_no_unit_loses_more_than_is_charged(price: Price, rows: int, neighbours: str) -> None:
    release = mode(price=price, held=Contribution(rows, 1, rows), neighbours=neighbours)
    assert isinstance(release.loss, Pure)
    worst = Decimal(0)
    for counts in product(range(3), repeat=3):
        for move in moves(rows, neighbours == "replace_one"):
            other = tuple(a + b for a, b in zip(counts, move, strict=True))
            if min(other) < 0:
                continue
            one, two = outcomes(release, counts), outcomes(release, other)
            worst = max(worst, chances.loss(one, two))
            for order in ORDERS:
                rho = release.loss.rho
                assert rho is None or chances.within(chances.renyi(one, two, order), order * rho)
    assert chances.within(worst, release.loss.epsilon)
    assert worst > Decimal(float(release.loss.epsilon)) / 4  # the charge is not idle either


def test_several_groups_share_the_price() -> None:
    alone = mode(held=Contribution(1, 1, 1)).chooser.exponent
    assert mode(held=Contribution(4, 4, 4), keys=(CITY,)).chooser.exponent == alone / 4
    assert mode(held=Contribution(4, 4, 4), keys=(CITY,), neighbours="replace_one").chooser.exponent == alone / 8
    by_rho = mode(held=Contribution(4, 4, 1), keys=(CITY,), price=BY_RHO).chooser.exponent
    assert float(by_rho) == pytest.approx(0.5)  # 8 rho = 4 exponent^2: four groups of one row


def test_priced_by_epsilon_it_flips_and_by_rho_it_draws() -> None:
    assert isinstance(mode(price=HALF).chooser, PermuteAndFlip)
    drawn = mode(price=BY_RHO)
    assert isinstance(drawn.chooser, ExponentialChoice)
    assert drawn.loss == Pure(Fraction(1), rho=Fraction(1, 8))


def test_without_noise_it_is_the_most_frequent_value_and_the_first_of_equals() -> None:
    table = counted({"no": 1, "some": 2, "yes": 9}, {"some": 4, "yes": 4}, {}, {"yes": 1})
    for price in (HALF, BY_RHO):
        assert list(mode(price=price).release(table, Noiseless()).values) == ["yes", "some", "no", "yes"]


def test_values_outside_the_domain_are_left_out() -> None:
    assert mode().release(counted({"maybe": 100, "yes": 1}), Noiseless()).values == ["yes"]


def test_whole_numbers_are_counted_as_steps_of_their_grid_in_any_order_of_groups() -> None:
    request = asking("mode")
    column = Column("t0", "floor", Facts(Type.INTEGER, Fraction(3), Fraction(5)))
    request = replace(request, aggregate=replace(request.aggregate, argument=column), grid=Grid(Fraction(1), 3, 5))
    release = offered(Exponential().offer(request))
    assert isinstance(release, ModeRelease)
    assert isinstance(release.need, Values)
    assert release.need.grid == request.grid
    shown = RawTable({"group": [2, 0, 2, 0], "value": [5, 4, 3, 3], "rows": [2, 7, 3, 1]}, size=3)
    assert release.release(shown, Noiseless()).values == [4, 3, 3]
    narrowed = offered(Exponential().offer(replace(request, grid=Grid(Fraction(1), 3, 4))))
    assert isinstance(narrowed, ModeRelease)
    assert isinstance(narrowed.need, Values)
    assert (narrowed.need.grid, narrowed.candidates) == (None, (3, 4, 5))


def test_a_clear_mode_is_nearly_always_found() -> None:
    table = counted(*[{"some": 200, "yes": 100}] * 200)
    for price in (HALF, BY_RHO):
        assert set(mode(price=price).release(table, FixedSampler(3)).values) == {"some"}


@pytest.mark.parametrize("price", [HALF, BY_RHO])
def test_the_expected_shortfall_holds_19_times_in_20(price: Price) -> None:
    release = mode(price=price)
    behind = int(release.half_width) + 1
    chance = outcomes(release, (behind, 0, 0))
    assert sum(chance[1:]) <= Decimal(1) / 20


def test_values_have_no_interval() -> None:
    release = mode()
    released = release.release(counted({"yes": 3}, {}), Noiseless())
    assert release.intervals(released, 0.95) == [(None, None), (None, None)]


@pytest.mark.parametrize(
    ("type_", "low", "high", "expected"),
    [(Type.INTEGER, Fraction(3), Fraction(5), (3, 4, 5)), (Type.BOOLEAN, None, None, (False, True))],
)
def test_the_domain_may_follow_from_bounds_or_the_type(
    type_: Type, low: Fraction | None, high: Fraction | None, expected: tuple[int, ...]
) -> None:
    request = asking("mode")
    column = Column("t0", "floor", Facts(type_, low, high))
    release = offered(Exponential().offer(replace(request, aggregate=replace(request.aggregate, argument=column))))
    assert isinstance(release, ModeRelease)
    assert release.candidates == expected


def test_a_mode_without_a_domain_is_refused() -> None:
    request = asking("mode")
    for argument in (replace(CONSENT, values=None), Apply(None, (CONSENT,), CONSENT.facts)):  # type: ignore[arg-type]
        answer = Exponential().offer(replace(request, aggregate=replace(request.aggregate, argument=argument)))
        assert isinstance(answer, Refusal)
        assert "without them write SELECT x, COUNT(*)" in answer.reason


def test_a_mode_of_one_value_is_refused() -> None:
    request = asking("mode")
    argument = replace(CONSENT, values=("no",))
    answer = Exponential().offer(replace(request, aggregate=replace(request.aggregate, argument=argument)))
    assert isinstance(answer, Refusal)


def test_it_does_not_choose_groups_and_knows_its_functions() -> None:
    for request, why in ((asking("mode", keys=(OPEN,), selects=True), "threshold"), (asking("sum"), "quantiles")):
        answer = Exponential().offer(request)
        assert isinstance(answer, Refusal)
        assert why in answer.reason
