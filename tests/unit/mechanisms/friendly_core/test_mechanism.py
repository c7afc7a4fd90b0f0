"""Mechanism friendly_core: what it takes, what it costs, and what its intervals cover."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from dpsql.errors import UnsupportedQuery
from dpsql.mechanisms.base import Price, Refusal, Request
from dpsql.mechanisms.choose import choose
from dpsql.mechanisms.friendly_core.located import GaussianTotal, LaplaceTotal
from dpsql.mechanisms.friendly_core.mechanism import FriendlyCore, FriendlyMean
from dpsql.mechanisms.friendly_core.place import PlaceByCoins, PlaceByNoise
from dpsql.mechanisms.friendly_core.prices import Setting, best_for_epsilon, best_for_rho, halved
from dpsql.mechanisms.noise.laws import GaussianLaw, LaplaceLaw
from dpsql.plan.needs import Contribution
from dpsql.plan.options import Options
from dpsql.plan.types import Facts, Grid, Type
from dpsql.privacy.conversions import pure_epsilon_of_rho, rho_of_pure
from dpsql.privacy.kinds import Approximate, Concentrated
from dpsql.privacy.tables import RawTable
from dpsql.testing_samplers import FixedSampler, Noiseless
from tests.unit.mechanisms.asking import CITY, OPEN, WITH_DELTA, asking

SCALED = Facts(Type.REAL, nullable=False, step=Fraction(1, 10), scale=(Fraction(1), Fraction(10**5)))
ONE_EACH = Contribution(2, 2, 1)
RHO = Price(None, Fraction(1, 10**6), rho=Fraction(1, 20))


BY_NAME = Options(mechanism="friendly_core")


def mean(price: Price = WITH_DELTA, **others: object) -> Request:
    return asking("avg", **{"facts": SCALED, "grid": None, "price": price, **others})  # type: ignore[arg-type]  # named


def offer(request: Request) -> FriendlyMean:
    answer = FriendlyCore().offer(request)
    assert isinstance(answer, FriendlyMean), answer
    return answer


def reason(request: Request) -> str:
    answer = FriendlyCore().offer(request)
    assert isinstance(answer, Refusal)
    return answer.reason


def rows_of(*groups: np.ndarray) -> RawTable:
    """Values in grid steps, one array a group, as value counts."""
    parts = [(index, *np.unique(group, return_counts=True)) for index, group in enumerate(groups)]
    columns: dict[str, list[int]] = {"group": [], "value": [], "rows": []}
    for index, values, counts in parts:
        columns["group"] += [index] * len(values)
        columns["value"] += values.tolist()
        columns["rows"] += counts.tolist()
    return RawTable(columns, size=len(groups))


def normal(n: int, *, at: int, deviation: int, seed: int = 1) -> np.ndarray:
    return np.rint(at + deviation * np.random.default_rng(seed).standard_normal(n)).astype(np.int64)


@pytest.mark.parametrize(
    ("request_", "words"),
    [
        (asking("sum", facts=SCALED), "it answers means"),
        (mean(facts=replace(SCALED, scale=None)), "it needs a scale"),
        (mean(Price(Fraction(1), Fraction(0))), "it needs delta"),
        (mean(held=Contribution(12, 1, 12)), "several rows here"),
        (mean(held=Contribution(12, 3, 5), keys=(CITY,)), "several rows here"),
        (mean(keys=(OPEN,), selects=True), "only a threshold can"),
        (mean(Price(Fraction(1, 1000), Fraction(1, 10**6))), "too few for this price"),
        (mean(rows_about=50), "too few for this price"),
        (mean(Price(Fraction(2000), Fraction(1, 10**6)), neighbours="replace_one"), "too few"),
    ],
)
def test_what_it_cannot_answer_is_refused_with_what_to_write(request_: Request, words: str) -> None:
    assert words in reason(request_)


def test_a_scale_of_the_statement_takes_the_place_of_the_policys() -> None:
    own = offer(mean(options=Options(scale=(Fraction(2), Fraction(3)))))
    assert (own.coordinates[0].low, own.coordinates[0].high) == (20, 30)
    assert (offer(mean()).coordinates[0].low, offer(mean()).coordinates[0].high) == (10, 10**6)


def test_one_number_as_scale_is_a_known_diameter_and_needs_no_search() -> None:
    known = offer(mean(options=Options(scale=(Fraction(50), Fraction(50)))))
    assert known.priced.parts.search is None
    assert "taken as known" in known.notes[0]


def test_the_parts_of_a_price_in_epsilon_add_up_to_it() -> None:
    for groups, held, keys in ((1, Contribution(1, 1, 1), ()), (2, ONE_EACH, (CITY,))):
        parts = offer(mean(held=held, keys=keys)).priced.parts
        assert isinstance(parts.count, LaplaceLaw)
        assert isinstance(parts.place, PlaceByCoins)
        assert isinstance(parts.total, LaplaceTotal)
        spent = 1 / parts.count.scale + (parts.search or 0) + parts.place.epsilon + parts.total.epsilon
        assert spent * groups == Fraction(1, 2)
        assert parts.place.delta * groups == Fraction(1, 10**6)


def test_a_price_in_rho_under_replace_one_buys_the_epsilon_whose_rho_it_is() -> None:
    rho, delta = Fraction(4), Fraction(1, 10**6)
    epsilon = pure_epsilon_of_rho(rho)
    assert rho_of_pure(epsilon) <= rho
    bought = offer(mean(Price(None, delta, rho), neighbours="replace_one", rows_about=10**6))
    assert bought.loss == Concentrated(rho, outside=delta)
    assert bought.priced == offer(mean(Price(epsilon, delta), neighbours="replace_one", rows_about=10**6)).priced


def test_the_parts_of_a_price_in_rho_are_within_it() -> None:
    parts = offer(mean(RHO)).priced.parts
    assert isinstance(parts.count, GaussianLaw)
    assert isinstance(parts.place, PlaceByCoins)  # the place costs little either way
    assert isinstance(parts.total, GaussianTotal)
    assert parts.search is not None
    spent = 1 / (2 * parts.count.variance) + parts.search * parts.search / 8 + parts.total.rho
    spent += rho_of_pure(parts.place.epsilon)
    assert Fraction(49, 1000) < spent <= Fraction(1, 20)
    assert offer(mean(RHO)).loss == Concentrated(Fraction(1, 20), outside=Fraction(1, 10**6))


@pytest.mark.every(2)
@pytest.mark.parametrize("dimensions", [1, 2])
@pytest.mark.parametrize("rows", [10**4, 10**7])
def test_every_price_that_a_statement_may_name_buys_something_or_nothing(rows: int, dimensions: int) -> None:
    setting = Setting(rows=rows, deviation=300.0, low=1000, high=1000, dimensions=dimensions)
    for price in (Fraction(10) ** k for k in (-9, -7, -5, 0, 3, 6)):
        for delta in (Fraction(1, 10**15), Fraction(1, 10**6)):
            best_for_epsilon(price, delta, setting)
            best_for_rho(price, delta, setting)
            for epsilon in (price, pure_epsilon_of_rho(price)):
                pair = halved(epsilon, delta) if epsilon > 0 else None
                assert pair is None or best_for_epsilon(*pair, setting) is None or epsilon <= 500


def test_a_swap_costs_a_removal_and_an_addition() -> None:
    epsilon, delta = halved(Fraction(1, 2), Fraction(1, 10**6)) or (Fraction(0), Fraction(0))
    swapped = offer(mean(neighbours="replace_one"))
    assert swapped.priced == offer(mean(Price(epsilon, delta))).priced
    assert swapped.loss == Approximate(Fraction(1, 2), Fraction(1, 10**6))
    assert float(delta) * (1 + math.exp(0.25)) == pytest.approx(1e-6, rel=1e-6)
    assert float(delta) * (1 + math.exp(0.25)) <= 1e-6


def test_where_the_number_of_rows_is_public_a_swap_is_proved_directly_and_errs_less() -> None:
    direct = offer(mean(neighbours="replace_one", rows_public=True))
    assert direct.priced.parts.count is None
    assert direct.priced.parts.swap
    assert direct.half_width < offer(mean(neighbours="replace_one")).half_width
    nullable = replace(SCALED, nullable=True)  # then the number of values is private
    assert offer(mean(neighbours="replace_one", rows_public=True, facts=nullable)).priced.parts.count is not None
    assert not isinstance(FriendlyCore().offer(mean(RHO, neighbours="replace_one", rows_public=True)), Refusal)


def test_groups_are_answered_one_by_one_and_too_few_friends_are_null() -> None:
    release = offer(mean(keys=(CITY,), held=ONE_EACH, rows_about=3000))
    near, far = normal(3000, at=700, deviation=50), normal(3000, at=-(10**9), deviation=50, seed=2)
    lone = np.array([5, 6, 7])
    released = release.release(rows_of(near, lone, far), Noiseless())
    first, second, third = released.values
    assert first == pytest.approx(70, abs=0.3)
    assert second is None
    assert third == pytest.approx(-(10**8), abs=0.3)
    assert release.intervals(released, 0.95)[1] == (None, None)


def test_infinities_at_the_ends_of_the_grid_move_nothing_much() -> None:
    release = offer(mean(rows_about=3000))
    values = np.concatenate([normal(3000, at=700, deviation=50), np.full(9, 2**53), np.full(9, -(2**53))])
    (value,) = release.release(rows_of(values), Noiseless()).values
    assert value == pytest.approx(70, abs=0.5)


def test_intervals_cover_the_mean_of_the_rows_as_they_were_moved() -> None:
    sampler = FixedSampler(1)
    release, values = offer(mean(rows_about=2000, options=BY_NAME)), normal(2000, at=700, deviation=50)
    covered = 0
    for _ in range(150):
        released = release.release(rows_of(values), sampler)
        ((low, high),) = release.intervals(released, 0.9)
        if low is not None and high is not None:
            (centre,), (reach,) = released.columns["centre"], released.columns["reach"]
            exact = (centre + np.clip(values - centre, -reach, reach).mean()) / 10
            covered += low <= exact <= high
    assert covered >= 150 * 0.9 - 4 * math.sqrt(150 * 0.09)


def test_several_means_are_one_vector_at_the_sum_of_their_prices() -> None:
    heights = replace(SCALED, step=Fraction(1, 1000), scale=(Fraction(1, 100), Fraction(1000)))
    requests = [mean(RHO, options=BY_NAME), mean(RHO, facts=heights, options=BY_NAME)]
    together = FriendlyCore().vector(requests)
    assert not isinstance(together, Refusal)
    assert together.loss == Concentrated(Fraction(1, 10), outside=2 * Fraction(1, 10**6))
    assert together.need.columns == ("value", "value_1", "rows")
    first, second = together.coordinates
    assert 0.9 < first.factor * 3162.3 / (second.factor * 3162.3) < 1.1
    rng = np.random.default_rng(3)
    points = np.column_stack([700 + 50 * rng.standard_normal(4000), 1700 + 90 * rng.standard_normal(4000)])
    whole = np.rint(points).astype(np.int64)
    columns = {"group": [0] * 4000, "value": whole[:, 0].tolist(), "value_1": whole[:, 1].tolist(), "rows": [1] * 4000}
    released = together.release(RawTable(columns, size=1), Noiseless())
    own = [replace(together, at=at) for at in (0, 1)]
    (weight,), (height,) = (released.place(release.at).values for release in own)
    assert weight == pytest.approx(70, abs=0.5)
    assert height == pytest.approx(1.7, abs=0.005)
    for release, value in zip(own, (weight, height), strict=True):
        ((low, high),) = release.intervals(released.place(release.at), 0.95)
        assert low is not None
        assert high is not None
        assert low < value < high
    assert "its loss counts once" in own[1].notes[1]


def test_expected_errors_are_near_those_of_the_formula() -> None:
    # d = 1, r known: R = 1.5 r, and Laplace noise of scale R / (share epsilon) is within log(20) scales in 95%.
    setting = Setting(rows=10_000, deviation=30.0, low=100, high=100, dimensions=1)
    bought = best_for_epsilon(Fraction(1), Fraction(1, 10**6), setting)
    assert bought is not None
    assert bought.half_width == pytest.approx(150 * math.log(20) / (0.85 * 10_000), rel=0.1, abs=1)


@pytest.mark.parametrize("dimensions", [2, 10])
def test_the_least_expected_error_is_taken(dimensions: int) -> None:
    setting = Setting(rows=20_000, deviation=30.0, low=10, high=10**6, dimensions=dimensions)
    whole = best_for_epsilon(Fraction(1), Fraction(1, 10**6), setting)
    less = best_for_epsilon(Fraction(1, 2), Fraction(1, 10**6), setting)
    assert whole is not None
    assert less is not None
    assert whole.half_width < less.half_width
    assert best_for_rho(Fraction(1, 10), Fraction(1, 10**6), setting) is not None
    assert best_for_rho(Fraction(1, 10**6), Fraction(1, 10**6), setting) is None


def test_a_bounded_column_is_answered_within_its_bounds_where_no_place_is_found_and_at_the_same_loss() -> None:
    grid = Grid(Fraction(1, 10), 0, 10**7)
    release, free = (
        offer(mean(grid=g, keys=(CITY,), held=ONE_EACH, rows_about=3000, options=BY_NAME)) for g in (grid, None)
    )
    assert release.loss == free.loss
    near, lone, nobody = normal(3000, at=700, deviation=50), np.array([10, 10**6, 10**7]), np.array([], dtype=np.int64)
    released = release.release(rows_of(near, lone, nobody), Noiseless())
    first, second, third = released.values
    assert first == pytest.approx(70, abs=0.3)
    assert second == pytest.approx((1 + 10**5 + 10**6) / 3)
    assert third == 500_000
    intervals = release.intervals(released, 0.95)
    assert intervals[1:] == [(0, 10**6), (0, 10**6)]  # a few rows: the whole bounds
    assert "within the bounds" in release.notes[-1]


def test_beside_bounds_it_is_taken_by_name_alone() -> None:
    wide = Grid(Fraction(1, 10), 0, 10**8)
    known = replace(SCALED, spread=Fraction(5))
    beside = mean(facts=known, grid=wide)
    assert choose(beside).release.mechanism == "located"
    assert choose(beside, wanted="friendly_core").release.mechanism == "friendly_core"
    assert choose(replace(beside, options=Options(scale=(Fraction(1), Fraction(9))))).release.mechanism == (
        "friendly_core"
    )


def test_without_bounds_it_is_taken_unasked_for_a_whole_table_alone() -> None:
    whole = mean()
    release = choose(whole).release
    assert release.mechanism == "friendly_core"
    released = release.release(rows_of(normal(2000, at=700, deviation=50)), Noiseless())
    assert released.values[0] is not None
    assert release.intervals(released, 0.95) == [(None, None)]
    assert any("So it has no interval" in note for note in release.notes)
    with pytest.raises(UnsupportedQuery, match=r"unasked.* OPTIONS \(mechanism = 'friendly_core'\)"):
        choose(mean(keys=(CITY,), held=ONE_EACH))
    assert choose(mean(keys=(CITY,), held=ONE_EACH), wanted="friendly_core").release.mechanism == "friendly_core"


def test_an_unknown_scale_is_expected_anywhere_within_it() -> None:
    # (10^6 - 10) / ln(10^5) steps across, of which a standard deviation is 1 / 3.5.
    assert offer(mean()).coordinates[0].deviation == pytest.approx(24_816, rel=1e-3)
    assert offer(mean(facts=replace(SCALED, spread=Fraction(5)))).coordinates[0].deviation == 50


@pytest.mark.parametrize("rows", [2_000, 20_000, 10**6])
@pytest.mark.parametrize("dimensions", [1, 2, 10, 1000])
def test_the_papers_average_is_nowhere_expected_to_err_less(rows: int, dimensions: int) -> None:
    delta, radius = Fraction(1, 10**8), 100_000
    setting = Setting(rows, radius / 4 / math.sqrt(dimensions), radius, radius, dimensions)
    for rho in (Fraction(1, 20), Fraction(1)):
        ours, paper = best_for_rho(rho, delta, setting), PlaceByNoise(rho, delta).spread(rows, radius, dimensions)
        if not math.isinf(paper):
            assert ours is not None
            assert ours.half_width <= 1.96 * paper * 1.001
