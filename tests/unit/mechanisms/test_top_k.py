"""The choice of the first groups of an order: its exact law, what that loses, and what it costs."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import permutations, product

import pytest

from dpsql.mechanisms.base import Price, Refusal, Top
from dpsql.mechanisms.top_k import TopK, TopKRelease
from dpsql.plan.needs import Contribution
from dpsql.plan.types import Grid
from dpsql.privacy.kinds import Concentrated, Pure
from dpsql.testing_samplers import FixedSampler, Noiseless
from tests.unit.mechanisms.asking import BY_RHO, CITY, FEW_ROWS, HALF, ONE_ROW, WITH_DELTA, asking, raw

Law = dict[tuple[int, ...], float]


def offered(function: str = "count_rows", count: int = 2, **asked: object) -> TopKRelease:
    given: dict[str, object] = {"held": FEW_ROWS, "keys": (CITY,), "selects": True, "top": Top(count, True, 4), **asked}
    offer = TopK().offer(asking(function, **given))  # type: ignore[arg-type]  # what tests give is of its kind
    assert isinstance(offer, TopKRelease)
    return offer


def law(scores: Sequence[int], count: int, c: Fraction) -> Law:
    """Every order of ``count`` groups and its chance, straight from the definition."""
    found: Law = {}
    for order in permutations(range(len(scores)), count):
        chance, left = 1.0, list(range(len(scores)))
        for group in order:
            weights = {other: math.exp(float(c) * scores[other]) for other in left}
            chance *= weights[group] / sum(weights.values())
            left.remove(group)
        found[order] = chance
    return found


def order_of(values: Sequence[int | None]) -> tuple[int, ...]:
    places = {place: row for row, place in enumerate(values) if place is not None}
    return tuple(places[place] for place in sorted(places))


def test_draws_follow_the_law_that_is_proved() -> None:
    # FixedSampler: the same draws in every run.
    release, size = offered(), 4000
    scores = [3, 9, 3, 0]
    expected = law(scores, 2, release.exponent)
    found = Counter(order_of(release.release(raw(scores), FixedSampler(seed)).values) for seed in range(size))
    for order, chance in expected.items():
        assert abs(found[order] / size - chance) < 5 * math.sqrt(chance * (1 - chance) / size), order


def neighbours(r: int, groups: int) -> Iterator[tuple[tuple[int, ...], tuple[int, ...]]]:
    """Counts without somebody and with them, in some groups with up to r rows each."""
    for base, person in product(product((0, 2), repeat=groups), product(range(r + 1), repeat=groups)):
        yield base, tuple(map(sum, zip(base, person, strict=True)))


def divergence(p: Law, q: Law, alpha: float) -> float:
    return math.log(sum(p[x] ** alpha * q[x] ** (1 - alpha) for x in p)) / (alpha - 1)


@pytest.mark.parametrize("count", [1, 2])
def test_no_neighbour_moves_the_law_further_than_is_charged(count: int) -> None:
    """Oracle: the exact law of the ordered draw, over every small table and everybody who may join it."""
    release = offered(count=count, held=Contribution(8, 4, 2), top=Top(count, True, 3))
    assert isinstance(release.loss, Pure) and release.loss.rho is not None
    worst, largest = 0.0, 0.0
    for one, two in neighbours(2, 3):
        p, q = law(one, count, release.exponent), law(two, count, release.exponent)
        worst = max(worst, *(abs(math.log(p[x] / q[x])) for x in p))
        largest = max(
            largest, *(divergence(a, b, alpha) / alpha for a, b in ((p, q), (q, p)) for alpha in (1.01, 2, 9))
        )
    assert 0.4 * float(release.loss.epsilon) < worst <= float(release.loss.epsilon) + 1e-9
    assert largest <= float(release.loss.rho) + 1e-9


def test_a_signed_sum_and_a_swap_cost_the_whole_range() -> None:
    signed = Grid(Fraction(1), -50, 20)
    assert offered("sum", grid=signed).reach == 70 * 5  # five rows a group
    assert offered("sum", grid=signed, neighbours="replace_one").reach == 2 * 70 * 5
    assert offered("sum", grid=Grid(Fraction(1), 10, 20)).reach == 20 * 5
    assert offered("count_units").reach == 1 and offered("count_rows", held=ONE_ROW).reach == 1


@pytest.mark.parametrize(("price", "kind"), [(HALF, Pure), (WITH_DELTA, Pure), (BY_RHO, Concentrated)])
def test_it_costs_its_price(price: Price, kind: type) -> None:
    release = offered(price=price)
    assert isinstance(release.loss, kind)
    rho = 2 * (release.exponent * release.reach) ** 2 / 8
    if isinstance(release.loss, Pure):
        assert (release.loss.epsilon, release.loss.rho) == (2 * release.exponent * release.reach, rho)
    else:
        assert rho <= Fraction(1, 8)


def test_many_draws_cost_less_by_rho() -> None:
    assert isinstance(offered(count=200, price=WITH_DELTA, top=Top(200, True, 1000)).loss, Concentrated)


def test_without_noise_the_first_are_chosen_and_the_smallest_where_asked() -> None:
    numbers: Mapping[bool, tuple[int | None, ...]] = {True: (None, 1, 2, None), False: (2, None, None, 1)}
    for largest, places in numbers.items():
        release = offered(top=Top(2, largest, 4))
        released = release.release(raw([3, 9, 4, 0]), Noiseless())
        assert tuple(released.values) == places
        assert release.selected(released) == [row for row, place in enumerate(places) if place]


def test_how_far_a_chosen_group_may_be_below_one_that_is_not() -> None:
    release = offered(top=Top(2, True, 4))
    worst = law([int(release.half_width) + 1, 0, 0, 0], 1, release.exponent)
    assert sum(chance for (first,), chance in worst.items() if first) < 0.05


@pytest.mark.parametrize("function", ["avg", "min", "median", "var_pop"])
def test_what_has_no_sensitivity_is_refused(function: str) -> None:
    asked = "quantile_cont" if function == "median" else function
    answer = TopK().offer(asking(asked, keys=(CITY,), selects=True, top=Top(1, True, 2)))
    assert isinstance(answer, Refusal)
