"""What every offer of one release for several aggregates keeps to; a line in `MECHANISMS` is enough to test it here."""

from __future__ import annotations

import copy
import dataclasses
import functools
import itertools
import math
from collections.abc import Iterator, Sequence
from fractions import Fraction

import pytest

from dpsql.mechanisms.base import Joint, Mechanism, Offer, Price, Request, derive, total_price
from dpsql.mechanisms.choice.mode import ModeRelease
from dpsql.mechanisms.metric.release.cells_release import CellsRelease
from dpsql.plan.needs import Aggregates, Contribution, Values
from dpsql.plan.plans import TableFunction
from dpsql.plan.types import Facts, Grid, Type
from dpsql.prepare.identity import canonical
from dpsql.privacy.account import DELTA_UNIT, units
from dpsql.privacy.loss import Composed, decode, encode
from dpsql.privacy.sampling import Sampler
from dpsql.privacy.tables import RawTable, ReleasedTable
from dpsql.testing_samplers import FixedSampler, Noiseless
from tests.unit.mechanisms.asking import BY_RHO, CITY, COST, FEW_ROWS, HALF, ONE_ROW, OPEN, WEIGHT, WITH_DELTA, asking
from tests.unit.mechanisms.metric.asking import BY_AGE, BY_SEX, EVERY, METRICS, cells, under_metric

GRID = Grid(Fraction(1, 10), -50, 1000)
SCALED = Facts(Type.REAL, nullable=False, scale=(Fraction(1, 2), Fraction(10**5)))
PRICES = (
    HALF,
    WITH_DELTA,
    BY_RHO,
    Price(Fraction(1, 3), Fraction(1, 10**9)),  # no whole number of the ledger's units
    Price(None, Fraction(1, 10**9), rho=Fraction(2, 3)),
)
FUNCTIONS = (
    ("avg", "sum", "count"),
    ("count", "avg"),
    ("var_pop", "stddev_samp", "var_samp"),
    ("corr", "regr_slope"),
    ("covar_samp", "regr_slope", "corr", "covar_pop"),
    ("var_pop", "count", "avg", "sum", "stddev_samp"),
    ("min", "max"),
)


@functools.cache
def statements() -> list[list[Request]]:
    """Several requests each, of every shape."""
    return list(_statements())


def _statements() -> Iterator[list[Request]]:
    for price, neighbours, (held, keys) in itertools.product(
        PRICES,
        ("add_remove", "replace_one"),
        ((ONE_ROW, ()), (Contribution(2, 2, 1), (CITY,)), (FEW_ROWS, (CITY,))),
    ):
        for functions in FUNCTIONS:
            asked = [
                asking(function, price=price, neighbours=neighbours, held=held, keys=keys, grid=GRID)
                for function in functions
            ]
            yield [dataclasses.replace(request, grid=GRID) for request in asked]  # of COUNT(x) too
        vector = asking("avg", price=price, neighbours=neighbours, held=held, keys=keys, grid=None, facts=SCALED)
        yield [vector] * 3
    for named, by, multiple, metric in itertools.product(
        (("count_rows", "avg"), ("sum", "sum", "count"), ("mode", "count", "avg", "mode")),
        ((), (BY_SEX,), (BY_AGE, BY_SEX)),
        (Fraction(1), Fraction(1, 3)),
        METRICS,
    ):
        yield under_metric(named, by, multiple, metric)
    rollup = [under_metric(("count_rows", "avg"), keys) for keys in ((BY_AGE, BY_SEX), (BY_AGE,), ())]
    yield list(itertools.chain.from_iterable(rollup))


@functools.cache
def offers(mechanism: Mechanism) -> list[tuple[list[Request], Joint]]:
    """Every joint offer to those statements, with the requests that it answers."""
    return [
        ([requests[member] for member in joint.members], joint)
        for requests in statements()
        for joint in mechanism.together(requests)
    ]


def released(joint: Joint, sampler: Sampler) -> list[ReleasedTable]:
    """What each member gets of exact numbers, as an answer is made: place 0 draws, the others follow it."""
    found: list[ReleasedTable] = []
    for offer, place in zip(joint.offers, joint.places, strict=True):
        if place == 0:
            first = offer.release(raw(offer), sampler)
        found.append(first.place(place))
    return found


def chosen(offer: Offer) -> bool:
    """Whether it releases one of several candidates, which has no error bar."""
    return isinstance(offer, CellsRelease) and isinstance(offer.inner, ModeRelease)


def raw(offer: Offer) -> RawTable:
    """Exact numbers of one group, or of all cells of a metric."""
    need = offer.need
    if isinstance(offer, CellsRelease):
        return cells(offer, 100)
    if isinstance(need, Aggregates):
        return RawTable({f"m{i}": [10_000 * (i + 1)] for i in range(len(need.measures))})
    assert isinstance(need, Values)
    values = {name: [1, 2, 6] for name in need.columns[:-1]}
    ranked = {"rank": [0] * 3, "units": [1_500] * 3} if need.ranks else {}
    return RawTable({"group": [0] * 3, **values, **ranked, "rows": [1_500] * 3}, size=1)


makers = [mechanism for mechanism in EVERY if type(mechanism).together is not Mechanism.together]
every = pytest.mark.parametrize("mechanism", makers, ids=lambda mechanism: mechanism.name)
STEPS = pytest.mark.parametrize("step", [7, pytest.param(1, marks=pytest.mark.slow)])
"""Every seventh offer, and all of them: releasing takes longer than offering."""


def test_some_mechanisms_make_joint_offers() -> None:
    assert {mechanism.name for mechanism in makers} >= {"laplace", "gaussian", "friendly_core", "metric"}


@every
def test_it_answers_two_or_more_and_each_of_them_once(mechanism: Mechanism) -> None:
    for requests, joint in offers(mechanism):
        assert len(set(joint.members)) == len(joint.members) == len(requests) >= 2
        assert len(joint.offers) == len(joint.places) == len(joint.members)
        assert all(offer.mechanism == mechanism.name for offer in joint.offers)
        assert not any(request.selects for request in requests)


@every
def test_every_place_of_a_release_is_the_same_release(mechanism: Mechanism) -> None:
    for _, joint in offers(mechanism):
        for offer, place, before in zip(joint.offers, joint.places, (None, *joint.offers), strict=False):
            if place == 0:
                first = offer
                assert first.placed(0) == first
            else:
                assert before is not None
                assert (offer.loss, offer.need) == (before.loss, before.need)
                assert (offer.placed(0), first.placed(place)) == (first, offer)


@every
def test_all_cost_no_less_than_each_release_and_no_more_than_their_sum(mechanism: Mechanism) -> None:
    for _, joint in offers(mechanism):
        own = [offer.loss for offer, place in zip(joint.offers, joint.places, strict=True) if place == 0]
        if len(own) == 1:
            assert joint.loss == own[0]
            continue
        together, added = joint.loss.account("basic"), Composed(tuple(own)).account("basic")
        assert set(together.metric) == set(added.metric)
        for column, paid in together.metric.items():
            assert max(loss.account("basic").metric.get(column, 0) for loss in own) <= paid
            assert paid <= added.metric[column] * (1 + Fraction(1, 2**38)) + 1  # it is rounded up, by 2^-40 twice


@every
def test_its_loss_is_within_the_sum_of_the_prices(mechanism: Mechanism) -> None:
    for requests, joint in offers(mechanism):
        within(joint, requests[0].price if requests[0].whole else total_price(requests))


def within(joint: Joint, price: Price) -> None:
    """All that a joint offer costs is within a price."""
    charged = joint.loss.account("zcdp" if price.rho else "basic")
    if price.rho is not None:
        assert charged.rho <= units(price.rho)
    else:
        assert charged.epsilon is not None
        assert charged.epsilon <= units(price.epsilon or Fraction(0))
    assert all(paid <= units(price.multiple or Fraction(0)) for paid in charged.metric.values())
    assert joint.loss.priced().delta <= units(price.delta, DELTA_UNIT)


@every
def test_its_loss_survives_the_ledger(mechanism: Mechanism) -> None:
    for _, joint in offers(mechanism):
        assert decode(encode(joint.loss)) == joint.loss


@every
def test_the_same_requests_get_the_same_offers(mechanism: Mechanism) -> None:
    again = [joint for requests in statements() for joint in mechanism.together(requests)]
    assert again == [joint for _, joint in offers(mechanism)]


@every
def test_another_wording_of_its_notes_is_no_other_identity(mechanism: Mechanism) -> None:
    for _, joint in offers(mechanism):
        for offer in joint.offers:
            other = copy.copy(offer)
            derive(other, notes=("Said in other words.",))
            assert canonical(other) == canonical(offer)


@every
@STEPS
def test_it_releases_a_value_and_an_interval_at_every_place(mechanism: Mechanism, step: int) -> None:
    for _, joint in offers(mechanism)[::step]:
        for offer, own in zip(joint.offers, released(joint, Noiseless()), strict=True):
            assert math.isfinite(offer.half_width)
            for value, (low, high) in zip(own.values, offer.intervals(own, 0.9), strict=True):
                if value is None or chosen(offer) or not offer.bracketed:
                    assert (low, high) == (None, None)
                else:
                    assert low is not None
                    assert high is not None
                    assert low <= value <= high


@every
@STEPS
def test_each_of_its_releases_has_noise(mechanism: Mechanism, step: int) -> None:
    for _, joint in offers(mechanism)[::step]:
        first, second = (released(joint, FixedSampler(seed)) for seed in (1, 2))
        assert first != second


@every
def test_groups_that_must_be_chosen_are_not_answered_together(mechanism: Mechanism) -> None:
    for requests in statements():
        selecting = [
            dataclasses.replace(request, selects=True, source=dataclasses.replace(request.source, keys=(OPEN,)))
            for request in requests
        ]
        assert list(mechanism.together(selecting)) == []


def test_one_request_alone_gets_no_joint_offer() -> None:
    for mechanism, requests in itertools.product(EVERY, statements()):
        first: Sequence[Request] = requests[:1]
        if requests[0].whole:  # a statement of its own: what answers it all together answers it alone, too
            continue
        assert list(mechanism.together(first)) == []


def columns(price: Price, neighbours: str) -> list[Request]:
    """The columns of a function of a whole table."""
    table = TableFunction(
        "dp_kmeans",
        "dp_kmeans(cost, weight)",
        (("cost", COST), ("weight", WEIGHT)),
        (("k", (Fraction(2),)), ("bound", (Fraction(1),)), ("scale", (Fraction(1, 1000), Fraction(1)))),
    )
    request = asking("avg", price=price, neighbours=neighbours, rows_about=10**6)
    found = [
        dataclasses.replace(request.aggregate, name=name, function=table.name, argument=column)
        for name, column in table.columns
    ]
    return [dataclasses.replace(request, aggregate=aggregate, table=table) for aggregate in found]


@pytest.mark.parametrize("neighbours", ["add_remove", "replace_one"])
@pytest.mark.parametrize(
    "price", [Price(Fraction(4), Fraction(1, 10**6)), Price(None, Fraction(1, 10**6), rho=Fraction(1))]
)
def test_all_columns_of_a_whole_table_are_one_release_within_the_price_of_any(price: Price, neighbours: str) -> None:
    requests = columns(price, neighbours)
    ((mechanism, joint),) = [(one, joint) for one in EVERY for joint in one.together(requests)]
    assert joint.members == (0, 1)
    assert mechanism.together(requests) == [joint]
    assert joint.offers[0] == joint.offers[1]
    within(joint, price)
    assert decode(encode(joint.loss)) == joint.loss
