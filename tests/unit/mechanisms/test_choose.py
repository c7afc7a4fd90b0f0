"""Choosing: least expected error at the same price, of those alike the shortest interval, with everybody's reasons."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from fractions import Fraction

import pytest

from dpsql.errors import UnsupportedQuery
from dpsql.mechanisms import MECHANISMS, by_name
from dpsql.mechanisms.base import Offer, Price, Request
from dpsql.mechanisms.choose import choose
from dpsql.mechanisms.foretold import nothing_from
from dpsql.mechanisms.laplace import Laplace
from dpsql.mechanisms.noise.noised import NoisedRelease
from dpsql.plan.needs import Contribution
from dpsql.plan.nodes import Filter
from dpsql.plan.types import Grid
from tests.effort import few_calls
from tests.unit.mechanisms.asking import BY_RHO, CITY, CONSENT, HALF, OPEN, WITH_DELTA, asking

MANY_GROUPS = Contribution(rows=100, groups=100, rows_in_group=1)


def test_one_count_by_epsilon_goes_to_laplace() -> None:
    choice = choose(asking("count_rows", price=WITH_DELTA))
    assert choice.release.mechanism == "laplace"
    assert [other.mechanism for other in choice.others] == [
        "public",
        "gaussian",
        "clamped",
        "threshold",
        "random_dp",
    ]


def test_many_groups_a_unit_go_to_gaussian_at_the_same_price() -> None:
    request = asking("count_rows", held=MANY_GROUPS, keys=(CITY,), price=WITH_DELTA)
    choice = choose(request)
    laplace = next(other for other in choice.others if other.mechanism == "laplace")
    assert choice.release.mechanism == "gaussian"
    assert laplace.half_width is not None
    assert laplace.half_width > choice.release.half_width


@pytest.mark.parametrize(
    ("rows", "whole", "part"),
    [(4, "laplace", "laplace"), (8, "laplace", "clamped"), (12, "laplace", "clamped"), (64, "clamped", "clamped")],
)
def test_counts_of_a_whole_table_are_clamped_where_caps_are_far_above_what_units_have(
    rows: int, whole: str, part: str
) -> None:
    request = asking("count_rows", held=Contribution(rows, rows, rows), keys=(CITY,), price=HALF)
    picked = Filter(request.source.relation, CONSENT)
    of_part = replace(request, source=replace(request.source, relation=picked))
    assert [choose(own).release.mechanism for own in (request, of_part)] == [whole, part]


@pytest.mark.parametrize(("low", "mechanism"), [(0, "clamped"), (100, "clamped"), (700, "laplace"), (-2000, "clamped")])
def test_sums_of_bounds_of_one_scale_are_not_clamped_where_the_cap_of_rows_is_tight(low: int, mechanism: str) -> None:
    grid = Grid(Fraction(1, 100), low, 2000)
    assert choose(asking("sum", held=Contribution(5, 1, 5), grid=grid, price=HALF)).release.mechanism == mechanism


def test_without_delta_gaussian_is_not_considered_and_says_why() -> None:
    choice = choose(asking("count_rows", held=MANY_GROUPS, keys=(CITY,), price=HALF))
    gaussian = next(other for other in choice.others if other.mechanism == "gaussian")
    assert choice.release.mechanism in ("laplace", "clamped")
    assert gaussian.half_width is None
    assert "add delta" in gaussian.reason


def test_an_open_domain_goes_to_threshold() -> None:
    assert choose(asking("count_units", keys=(OPEN,), selects=True, price=WITH_DELTA)).release.mechanism == "threshold"


def test_a_public_number_is_taken_for_free() -> None:
    assert choose(asking("count_rows", neighbours="replace_one", rows_public=True)).release.mechanism == "public"


def test_the_wanted_mechanism_is_taken_although_another_is_better() -> None:
    choice = choose(asking("count_rows", price=WITH_DELTA), wanted="gaussian")
    laplace = next(other for other in choice.others if other.mechanism == "laplace")
    assert choice.release.mechanism == "gaussian"
    assert laplace.reason == "mechanism = 'gaussian' was asked for."


def test_a_banned_mechanism_is_left_out() -> None:
    choice = choose(asking("count_rows", price=WITH_DELTA), banned={"laplace"})
    assert choice.release.mechanism == "gaussian"
    assert "the policy bans it for this column." in [other.reason for other in choice.others]


def test_a_wanted_mechanism_that_refuses_says_why_and_where() -> None:
    with pytest.raises(UnsupportedQuery, match=r"at 1:8: mechanism 'gaussian' does not answer this: it needs delta"):
        choose(asking("count_rows", price=HALF), wanted="gaussian")


def test_where_all_may_say_nothing_the_one_that_finds_out_more_is_taken() -> None:
    held, price = Contribution(rows=1000, groups=3, rows_in_group=1000), Price(Fraction(1, 5), Fraction(0))
    request = asking("avg", held=held, keys=(CITY,), price=price, rows_about=100)
    choice = choose(request)
    expected = {other.mechanism: other.half_width for other in choice.others}
    assert choice.release.expected_error == expected["laplace"] == expected["located"]
    assert choice.release.mechanism == "capped"


def test_a_wanted_mechanism_that_is_banned_is_refused() -> None:
    with pytest.raises(UnsupportedQuery, match="the policy bans it"):
        choose(asking("count_rows"), wanted="laplace", banned=("laplace",))


def test_an_unknown_mechanism_is_refused_with_the_known_ones() -> None:
    with pytest.raises(
        UnsupportedQuery, match=r"no mechanism 'laplac'.* public, capped, located, laplace, gaussian, clamped"
    ):
        choose(asking("count_rows"), wanted="laplac")


def test_what_nobody_answers_is_refused_with_the_reasons_of_all_that_might() -> None:
    with pytest.raises(UnsupportedQuery) as refused:
        choose(asked := asking("count_units", keys=(OPEN,), selects=True, price=HALF))
    assert refused.value.position == (1, 8)
    assert refused.value.construct == "COUNT_UNITS(...)"
    told = str(refused.value).removesuffix(".")
    assert {m.name for m in MECHANISMS if f"{m.name}: " in told or f"{m.name}, " in told} == {
        m.name for m in MECHANISMS if m.may_answer(asked)
    }


def test_of_equal_offers_the_first_registered_is_taken() -> None:
    first, second = Laplace("one"), Laplace("two")
    assert choose(asking("sum"), mechanisms=(first, second)).release.mechanism == "one"
    assert choose(asking("sum"), mechanisms=(second, first)).release.mechanism == "two"


@dataclass(frozen=True, slots=True)
class Guessed(NoisedRelease):
    """Laplace's offer, with another expected error."""

    error: float = field(kw_only=True)

    @property
    def expected_error(self) -> float:
        return self.error


@dataclass(frozen=True, slots=True)
class Guessing(Laplace):
    """A mechanism whose offers have a given expected error and half width."""

    error: float = 0.0
    width: float = 0.0

    def offer(self, request: Request) -> Offer:
        plain = Laplace(self.name).offer(request)
        assert isinstance(plain, NoisedRelease)
        guessed = Guessed(plain.mechanism, plain.loss, plain.need, law=plain.law, step=plain.step, error=self.error)
        object.__setattr__(guessed, "half_width", self.width)
        return guessed


@pytest.mark.parametrize(
    ("other", "taken", "reason"),
    [
        ((100.0, 150.0), "one", "farther off: by 100, that of one by 20 (95%)."),
        ((100.0, 900.0), "one", "its expected error is not smaller."),
        ((22.0, 150.0), "other", "it is expected to err hardly less, and its interval would be longer."),
        ((20.0, 150.0), "other", "its expected error is not smaller."),
        ((22.0, 300.0), "one", "its expected error is not smaller."),
        (
            (29.0, 60.0),
            "other",
            "by 20 where that of other does by 29 (95%), but its interval would be several times longer.",
        ),
        ((29.0, 90.0), "one", "farther off: by 29, that of one by 20 (95%)."),
        ((31.0, 20.0), "one", "farther off: by 31, that of one by 20 (95%)."),
    ],
)
def test_what_is_said_of_the_others_is_what_the_figures_say(
    other: tuple[float, float], taken: str, reason: str
) -> None:
    error, width = other
    rivals = (Guessing("one", error=20.0, width=200.0), Guessing("other", error=error, width=width))
    choice = choose(asking("sum"), mechanisms=rivals)
    assert choice.release.mechanism == taken
    assert choice.others[0].reason.endswith(reason)


def test_an_interval_over_all_of_the_bounds_gives_way_to_one_that_says_something() -> None:
    request = asking("sum")
    most = nothing_from(request)
    rivals = (Guessing("one", error=20.0, width=1.05 * most), Guessing("other", error=29.0, width=0.4 * most))
    choice = choose(request, mechanisms=rivals)
    assert choice.release.mechanism == "other"
    assert choice.others[0].reason.endswith("but its interval would reach over about all that the answer may be.")
    of_use = (Guessing("one", error=20.0, width=0.95 * most), rivals[1])
    assert choose(request, mechanisms=of_use).release.mechanism == "one"
    hopeless = (rivals[0], Guessing("other", error=29.0, width=1.01 * most))
    assert choose(request, mechanisms=hopeless).release.mechanism == "one"


def test_a_price_in_rho_lets_gaussian_win_without_delta() -> None:
    many = choose(asking("count_rows", held=MANY_GROUPS, keys=(CITY,), price=BY_RHO))
    assert many.release.mechanism == "gaussian"


def test_choosing_is_little_work_once_warm() -> None:
    request = asking("avg", held=MANY_GROUPS, keys=(CITY,), price=Price(Fraction(1, 3), Fraction(1, 10**7)))
    choose(request)
    with few_calls(30_000):
        choose(request)


def test_every_mechanism_is_found_by_its_name() -> None:
    assert [by_name(mechanism.name) for mechanism in MECHANISMS] == list(MECHANISMS)
    assert by_name("nothing") is None
