"""What every registered mechanism keeps to, whatever it offers; its line in `MECHANISMS` is enough to test it here."""

from __future__ import annotations

import copy
import dataclasses
import functools
import inspect
import itertools
import math
from collections.abc import Iterator, Sequence
from fractions import Fraction
from types import ModuleType
from typing import Any

import pytest

from dpsql.errors import InvariantBroken
from dpsql.mechanisms import MECHANISMS, by_name
from dpsql.mechanisms.base import Mechanism, Offer, Price, Refusal, Request, Top, derive
from dpsql.mechanisms.capped.statistics import CappedStatistics
from dpsql.mechanisms.located.search import PlaceSearch
from dpsql.mechanisms.metric.release.cells_release import CellsRelease
from dpsql.plan.needs import Aggregates, Contribution, Sized, Values
from dpsql.plan.options import Options
from dpsql.plan.types import Facts, Grid, Type
from dpsql.prepare.identity import canonical
from dpsql.privacy.account import DELTA_UNIT, units
from dpsql.privacy.kinds import Free
from dpsql.privacy.loss import decode, encode
from dpsql.privacy.tables import RawTable
from dpsql.testing_samplers import FixedSampler, Noiseless
from tests.unit.mechanisms.asking import (
    BY_RHO,
    CITY,
    CONSENT,
    COST,
    FEW_ROWS,
    HALF,
    ONE_ROW,
    OPEN,
    WITH_DELTA,
    asking,
    counted,
    of_classes,
)
from tests.unit.mechanisms.metric.asking import BY_AGE, BY_SEX, EVERY, METRICS, cells, under_metric

PLAIN = ("count_rows", "count", "count_units", "count_distinct", "sum", "avg")
MOMENTS = ("var_samp", "stddev_pop", "covar_pop", "corr", "regr_slope")
MORE = (*MOMENTS, "quantile_cont", "quantile_disc", "min", "max", "mode")
PRICES = (
    HALF,
    WITH_DELTA,
    BY_RHO,
    Price(Fraction(1, 3), Fraction(1, 10**9)),  # no whole number of the ledger's units
    Price(None, Fraction(1, 10**9), rho=Fraction(2, 3)),
)
NAMED = "random_dp"  # it makes no offer to a statement that does not name it
GRIDS = (Grid(Fraction(1, 10), 0, 1000), Grid(Fraction(1), -50, 20), Grid(Fraction(7), 0, 0))


def requests() -> Iterator[Request]:
    """Requests of every shape."""
    asked = [*itertools.product(PLAIN, PRICES), *itertools.product(MORE, PRICES[1:4])]
    for (function, price), neighbours in itertools.product(asked, ("add_remove", "replace_one")):
        if neighbours == "replace_one" and price not in (WITH_DELTA, BY_RHO):
            continue
        for held, keys, selects in [
            (ONE_ROW, (), False),
            (FEW_ROWS, (CITY,), False),
            (Contribution(40, 40, 40), (CITY,), False),
            (ONE_ROW, (OPEN,), True),
            (FEW_ROWS, (OPEN,), True),
        ]:
            numeric = function in MORE[:-1] or function in ("sum", "avg")
            grids = GRIDS if price is WITH_DELTA else GRIDS[:1] if price is HALF else GRIDS[1:2]
            for grid in grids if numeric else (None,):
                yield asking(
                    function, held=held, keys=keys, selects=selects, price=price, neighbours=neighbours, grid=grid
                )
        yield asking(function, price=price, neighbours=neighbours, rows_public=True)
        for held, keys in [(ONE_ROW, (CITY,)), (FEW_ROWS, (CITY,)), (FEW_ROWS, ())]:  # what must be named
            yield asking(
                function, held=held, keys=keys, price=price, neighbours=neighbours, options=Options(mechanism=NAMED)
            )
    for function, price in itertools.product(("quantile_cont", "quantile_disc", "min", "max"), PRICES[1:4]):
        yield asking(function, price=price, grid=GRIDS[1], options=Options(interval="none"))
    yield from first_groups()
    yield from around_a_centre()
    yield from at_a_scale()
    yield from under_metrics()


every_request = functools.cache(lambda: tuple(requests()))


def first_groups() -> Iterator[Request]:
    """Requests that choose the first groups of an order."""
    for function, price, neighbours, held, top in itertools.product(
        (*PLAIN, "min"), PRICES, ("add_remove", "replace_one"), (ONE_ROW, FEW_ROWS), (Top(1, True, 2), Top(2, False, 3))
    ):
        for grid in GRIDS[:2] if function == "sum" else (None,):
            yield asking(
                function, held=held, keys=(CITY,), selects=True, price=price, neighbours=neighbours, grid=grid, top=top
            )


def under_metrics() -> Iterator[Request]:
    """Requests that a metric prices."""
    for function, keys, multiple, metric in itertools.product(
        ("count_rows", "count", "sum", "avg", "mode"),
        ((), (BY_SEX,), (BY_AGE,), (BY_AGE, BY_SEX)),
        (Fraction(1), Fraction(1, 3)),
        METRICS,
    ):
        yield from under_metric([function], keys, multiple, metric)


def around_a_centre() -> Iterator[Request]:
    """Requests for columns with a centre and a spread, with bounds and without, and with a sensitivity of their own."""
    known = dataclasses.replace(COST.facts, centre=Fraction(40), spread=Fraction(10))
    named = Options(mechanism="preprocessing", sensitivity=Fraction(24))
    for function, neighbours, held in itertools.product(
        ("avg", "quantile_cont", "trimmed_mean", "var_pop", "stddev_samp", "min", "max", "sum"),
        ("add_remove", "replace_one"),
        ((ONE_ROW, ()), (FEW_ROWS, (CITY,))),
    ):
        for grid, options, price in [
            (GRIDS[0], None, HALF),
            (None, None, BY_RHO),
            (None, named, WITH_DELTA),
            (GRIDS[1], named, BY_RHO),
        ]:
            fraction = Fraction(1, 10) if function == "trimmed_mean" else Fraction(1, 2)
            yield asking(
                function, held=held[0], keys=held[1], price=price, neighbours=neighbours, grid=grid, facts=known,
                fraction=fraction, options=options, rows_at_least=5_000,
            )  # fmt: skip


def at_a_scale() -> Iterator[Request]:
    """Requests for columns of which a scale is known, with bounds and without."""
    known = Facts(Type.REAL, nullable=False, scale=(Fraction(1, 2), Fraction(10**5)))
    for neighbours, price, grid, (held, keys) in itertools.product(
        ("add_remove", "replace_one"),
        (HALF, WITH_DELTA, BY_RHO, PRICES[-1]),
        (None, GRIDS[0]),
        ((ONE_ROW, ()), (Contribution(2, 2, 1), (CITY,)), (FEW_ROWS, (CITY,))),
    ):
        yield asking("avg", held=held, keys=keys, price=price, neighbours=neighbours, grid=grid, facts=known)
    yield asking("avg", price=WITH_DELTA, neighbours="replace_one", grid=None, facts=known, rows_public=True)
    yield asking("avg", price=PRICES[-1], neighbours="replace_one", grid=None, facts=known, rows_public=True)


def answer_of(mechanism: Mechanism, request: Request) -> Offer | Refusal:
    """What a mechanism says to a statement with this request alone."""
    if not request.whole:
        return mechanism.offer(request)
    (joint,) = mechanism.together([request])
    assert (joint.members, joint.places) == ((0,), (0,))
    return joint.offers[0]


def asked_of(mechanism: Mechanism) -> list[Request]:
    """The requests that are of its kind."""
    return [request for request in every_request() if mechanism.takes(request)]


def offers(mechanism: Mechanism) -> list[tuple[Request, Offer]]:
    """Every offer it makes to those requests."""
    return [(request, answer) for request, answer in answers(mechanism.name) if not isinstance(answer, Refusal)]


@functools.cache
def answers(name: str) -> list[tuple[Request, Offer | Refusal]]:
    """What the mechanism of this name says to those requests."""
    mechanism = next(mechanism for mechanism in EVERY if mechanism.name == name)
    return [(request, answer_of(mechanism, request)) for request in asked_of(mechanism)]


def table(release: Offer, rows: int) -> RawTable:
    """Exact numbers in the shape that the offer needs."""
    if isinstance(release, CellsRelease):
        return cells(release, rows)
    if isinstance(release.need, Values):
        low = 0 if release.need.grid is None else release.need.grid.low
        values = ("no", "yes") if release.need.grid is None else (low, low + 1, low + 5)
        each = 1_500 if release.mechanism == "friendly_core" else 3  # it answers nothing about a few rows
        found = counted(*[dict.fromkeys(values, each)] * rows)
        if not release.need.ranks:
            return found
        columns: dict[str, Sequence[Any]] = {name: found.column(name) for name in ("group", "value", "rows")}
        return RawTable({**columns, "rank": [0] * len(found), "units": columns["rows"]}, rows)  # of a row each
    if isinstance(release.need, Sized):
        held = {"bin": 0, "units": 1_000, "signs": 1_000, "total": 1_000}
        columns = {name: [number] * rows for name, number in held.items()}
        return RawTable({"group": list(range(rows)), **columns}, rows)
    assert isinstance(release.need, Aggregates)
    return RawTable({f"m{i}": [10_000 * (i + 1)] * rows for i in range(len(release.need.measures))})


def module(mechanism: Mechanism) -> ModuleType:
    found = inspect.getmodule(type(getattr(mechanism, "loaded", mechanism)))
    assert found is not None
    return found


def noisy(release: Offer, rows: int) -> bool:
    """Whether other noise makes another release of so many rows."""
    first, second = (release.release(table(release, rows), FixedSampler(seed)) for seed in (1, 2))
    return first != second


STEPS = pytest.mark.parametrize("step", [7, pytest.param(1, marks=pytest.mark.slow)])
"""Every seventh offer, and all of them: releasing takes longer than offering. Those of one
kind do not follow each other by sevens: none is left out each time."""
STRIDES = pytest.mark.parametrize("step", [5, pytest.param(1, marks=pytest.mark.slow)])
"""Every fifth request or offer, and all of them, where each is asked once more."""
every = pytest.mark.parametrize("mechanism", EVERY, ids=lambda mechanism: mechanism.name)


@every
def test_it_answers_something_and_refuses_the_rest_in_a_sentence(mechanism: Mechanism) -> None:
    refusals = [answer for _, answer in answers(mechanism.name) if isinstance(answer, Refusal)]
    assert len(refusals) < len(answers(mechanism.name))
    for refusal in refusals:
        assert refusal.mechanism == mechanism.name
        assert refusal.reason.endswith(".")


@every
def test_its_module_states_neighbours_loss_theorem_and_source(mechanism: Mechanism) -> None:
    text = module(mechanism).__doc__ or ""
    for word in ("Theorem", "Source:", "Loss", "add_remove", "replace_one"):
        assert word in text, word
    assert by_name(mechanism.name) == mechanism
    assert [own.name for own in EVERY] == [own.name for own in MECHANISMS]


@every
def test_an_offer_is_frozen_and_names_its_mechanism(mechanism: Mechanism) -> None:
    for _, release in offers(mechanism):
        assert release.mechanism == mechanism.name
        assert dataclasses.is_dataclass(release)
        assert release.__dataclass_params__.frozen  # type: ignore[attr-defined]  # every dataclass has them


@STRIDES
@every
def test_another_wording_of_its_notes_is_no_other_identity(mechanism: Mechanism, step: int) -> None:
    for _, release in offers(mechanism)[::step]:
        form, other = canonical(release), copy.copy(release)
        derive(other, notes=("Said in other words.",))
        assert canonical(other) == form
        assert not any(note in form for note in release.notes)


@every
def test_offers_of_one_identity_differ_in_what_they_read_alone(mechanism: Mechanism) -> None:
    known: dict[str, Offer] = {}
    for _, release in offers(mechanism):
        other = known.setdefault(canonical(release), release)
        assert (release.loss, release.sensitivity, release.scale) == (other.loss, other.sensitivity, other.scale)


@STRIDES
@every
def test_the_same_request_gets_the_same_offer(mechanism: Mechanism, step: int) -> None:
    for request, release in offers(mechanism)[::step]:
        again = answer_of(mechanism, request)
        assert not isinstance(again, Refusal)
        assert (again.loss, again.need, again.half_width) == (release.loss, release.need, release.half_width)


@every
def test_its_loss_is_within_the_price(mechanism: Mechanism) -> None:
    for request, release in offers(mechanism):
        price, charged = request.price, release.loss.account("zcdp" if request.price.rho else "basic")
        if price.rho is not None:
            assert charged.rho <= units(price.rho)
        else:
            assert charged.epsilon is not None
            assert charged.epsilon <= units(price.epsilon or Fraction(0))
        assert all(paid <= units(price.multiple or Fraction(0)) for paid in charged.metric.values())
        assert release.loss.priced().delta <= units(price.delta, DELTA_UNIT)


SHARES = {"strict": Fraction(1, 3), "normal": Fraction(1), "open": Fraction(1, 2)}


@STRIDES
@every
def test_no_class_of_units_loses_more_than_its_share_of_the_price(mechanism: Mechanism, step: int) -> None:
    for request in asked_of(mechanism)[::step]:
        if request.price.multiple is not None:
            return  # no policy has both classes and metrics
        asked = request.price
        offer = mechanism.offer(of_classes(request, SHARES))
        if isinstance(offer, Refusal):
            continue
        charged = offer.loss.account("zcdp" if asked.rho else "basic")
        for name, share in SHARES.items():
            lost = charged.of_class(name)
            if asked.epsilon is not None:
                assert lost.epsilon is not None
                assert lost.epsilon <= units(share * asked.epsilon)
            else:
                assert asked.rho is not None
                assert lost.rho <= units(share**2 * asked.rho)


@every
def test_its_loss_survives_the_ledger(mechanism: Mechanism) -> None:
    for _, release in offers(mechanism):
        assert decode(encode(release.loss)) == release.loss


@STEPS
@every
def test_what_is_not_free_has_noise_and_an_expected_error(mechanism: Mechanism, step: int) -> None:
    for _, release in offers(mechanism)[::step]:
        if isinstance(release.loss, Free):
            continue
        assert math.isfinite(release.half_width)
        assert release.half_width >= 0
        assert release.scale is None or release.scale > 0
        assert release.sensitivity is None or release.sensitivity > 0
        rows = 12 if isinstance(release.need, Values) else 400
        assert any(noisy(release, some) for some in (max(1, rows // 100), rows, 0))


@STEPS
@every
def test_it_releases_one_value_and_one_interval_for_every_row(mechanism: Mechanism, step: int) -> None:
    for request, release in offers(mechanism)[::step]:
        declined = request.options.interval is not None and "interval" in mechanism.options
        for rows in (0, 1, 3):
            released = release.release(table(release, rows), Noiseless())
            groups = math.prod(len(key.domain or ()) for key in request.source.keys) if request.whole else rows
            assert {len(column) for column in released.columns.values()} == {groups}
            intervals = release.intervals(released, 0.9)
            assert len(intervals) == groups
            open_ended = request.grid is None and request.aggregate.function == "quantile_cont"
            declined = declined or request.top is not None or not release.bracketed
            for (low, high), value in zip(intervals, released.values, strict=True):
                number = isinstance(value, int | float) and request.aggregate.function != "mode"
                if number and not declined and not open_ended:
                    assert low is not None and high is not None and low <= value <= high
                elif open_ended and not declined and value is not None:  # by a centre and a spread it has both ends
                    assert (low is None or low <= value) and (high is None or value <= high)
                else:  # nothing, a value of a domain, a place, or what declines it has no error bar
                    assert (low, high) == (None, None) or (None in (low, high) and not release.bracketed)


@STEPS
@every
def test_only_selecting_offers_decide_which_groups_appear(mechanism: Mechanism, step: int) -> None:
    for request, release in offers(mechanism)[::step]:
        released = release.release(table(release, 3), FixedSampler(2))
        if request.selects:
            assert set(release.selected(released)) <= set(range(3))
        else:
            with pytest.raises(InvariantBroken):
                release.selected(released)


@STEPS
@every
def test_more_confidence_never_narrows_an_interval(mechanism: Mechanism, step: int) -> None:
    for _, release in offers(mechanism)[::step]:
        released = release.release(table(release, 2), FixedSampler(8))
        pairs = zip(release.intervals(released, 0.8), release.intervals(released, 0.99), strict=True)
        for (low, high), (lower, higher) in pairs:
            assert lower is None or (low is not None and lower <= low)  # without an end it reaches farthest
            assert higher is None or (high is not None and higher >= high)


@STEPS
@every
def test_released_values_are_plain_numbers_or_values_of_a_domain(mechanism: Mechanism, step: int) -> None:
    for _, release in offers(mechanism)[::step]:
        for value in release.release(table(release, 2), FixedSampler(4)).values:
            assert type(value) in (int, float, type(None)) or value in (CONSENT.values or ())


@STEPS
@every
def test_twice_the_price_never_costs_precision(mechanism: Mechanism, step: int) -> None:
    for request, release in offers(mechanism)[::step]:
        price = request.price
        epsilon, rho, multiple = (part and 2 * part for part in (price.epsilon, price.rho, price.multiple))
        better = answer_of(mechanism, dataclasses.replace(request, price=Price(epsilon, price.delta, rho, multiple)))
        assert not isinstance(better, Refusal)
        assert better.expected_error <= release.expected_error * (1 + 1e-9)
        if not isinstance(release, PlaceSearch | CappedStatistics):  # they count more outside once a group is located
            assert better.half_width <= release.half_width * (1 + 1e-9)
