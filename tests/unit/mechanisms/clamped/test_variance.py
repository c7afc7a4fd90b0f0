"""Variances from units' totals and squares: the exact loss of whole transcripts, DuckDB's own, intervals, real SQL."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from fractions import Fraction
from typing import Any
from unittest.mock import patch

import duckdb
import numpy as np
import pytest

from dpsql.mechanisms.base import Price, Refusal, Request
from dpsql.mechanisms.choice.clamp import by_edges
from dpsql.mechanisms.choose import choose
from dpsql.mechanisms.clamped import mean as means
from dpsql.mechanisms.clamped import units as of_units
from dpsql.mechanisms.clamped.mean import ClampedMean
from dpsql.mechanisms.clamped.mechanism import Clamped
from dpsql.mechanisms.clamped.units import UnitsQuery
from dpsql.mechanisms.clamped.variance import FEW, ClampedVariance
from dpsql.mechanisms.located.parts import COUNT, FEWEST, Shares
from dpsql.mechanisms.located.place import Bins, Clip
from dpsql.mechanisms.noise.laws import LaplaceLaw
from dpsql.plan.needs import Contribution
from dpsql.plan.types import Grid
from dpsql.privacy.kinds import Pure
from dpsql.session import Session
from dpsql.testing_samplers import FixedSampler, Noiseless
from tests.unit.mechanisms.asking import COST, asking
from tests.unit.mechanisms.clamped import transcripts
from tests.unit.mechanisms.clamped.test_mean import ORDERS
from tests.unit.mechanisms.clamped.transcripts import Side, Units, raw_of
from tests.unit.mechanisms.shop import policy, sessions

WIDE = Grid(Fraction(1), 0, 100_000)
MOST = 20
OFTEN = Contribution(rows=MOST, groups=1, rows_in_group=MOST)
ONE, TEN = Price(Fraction(1), Fraction(0)), Price(Fraction(10), Fraction(0))
FUNCTIONS = ("var_pop", "var_samp", "stddev_pop", "stddev_samp")


def request(function: str = "stddev_pop", price: Price = ONE, grid: Grid = WIDE, **more: Any) -> Request:
    facts = replace(COST.facts, low=grid.low * grid.step, high=grid.high * grid.step)
    given = {"held": OFTEN, **more}
    return asking(function, grid=grid, price=price, facts=facts, **given)


def release_of(function: str = "stddev_pop", price: Price = ONE, **more: Any) -> ClampedVariance:
    offer = Clamped().offer(request(function, price, **more))
    assert isinstance(offer, ClampedVariance), offer
    return offer


def values_of(seed: int, many: int, place: float) -> list[Any]:
    random = np.random.default_rng(seed)
    rows = random.integers(1, MOST + 1, many)
    return [np.minimum(random.lognormal(np.log(place), 0.8, n), WIDE.high).round().astype(int) for n in rows]


def unit(values: Any, coarse: int) -> tuple[int, int, int]:
    return int(sum(values)), len(values), sum(int(x) ** 2 for x in values) // coarse


def people(release: ClampedVariance, seed: int, many: int, place: float) -> Units:
    return Counter(unit(own, release.query.coarse) for own in values_of(seed, many, place))


def loss(release: ClampedVariance, one: Units, two: Units, seed: str) -> float:
    return transcripts.loss(release, one, two, seed, _scores, _numbers)


def _scores(release: ClampedMean, side: Side, row: dict[str, Any]) -> list[list[int]]:
    """Of each choice by permute-and-flip: the cap, and where units are few the clamps of means, totals and squares."""
    assert isinstance(release, ClampedVariance)
    query = release.query
    scores = [query.cap.scores(by_edges([(side[0][:, 1], side[1])], query.cap.edges))]
    if row["clamp"] is None:
        return scores
    search, squares = query.places.search(FEW.tails * query.epsilon, query.moved, 1), query.squares
    of_totals, of_squares = release._search, release._choice(squares)
    assert of_totals is not None
    assert of_squares is not None
    totals, squared = _added(release, side, row)
    return [
        *scores,
        search.scores(query.places.counts([of_units.means_of(*side, WIDE)])),
        of_totals.scores(query.clamps.counts([totals])),
        of_squares.scores(squares.counts([squared])),
    ]


def _added(release: ClampedMean, side: Side, row: dict[str, Any]) -> list[Side]:
    """Each unit's total and square, worked out in whole numbers of any size."""
    coarse, c = release.query.coarse, row["centre"]
    totals = [int(s) - c * int(n) for s, n, _ in side[0]]
    squares = [max(0, coarse * int(q) - 2 * c * int(s) + c * c * int(n)) // coarse for s, n, q in side[0]]
    return [(np.array(own, dtype=np.int64), side[1]) for own in (totals, squares)]


def _numbers(release: ClampedMean, side: Side, row: dict[str, Any]) -> list[list[int]]:
    """The exact numbers behind each draw of noise, at what was released before it."""
    numbers = [[int(side[1].sum())]]
    for prefix, own, grid in zip(("", "squared_"), _added(release, side, row), _grids(release), strict=True):
        if row["clamp"] is None:
            numbers.append(Bins(grid).counts(*own, 0))
        window = Clip(0, row[f"{prefix}half"], row[f"{prefix}low"], row[f"{prefix}high"], 0.0, 0.0, 0.0)
        numbers.append([vars(means)["total"](*own, window)])  # its own sum, whatever was planted there
    capped = np.minimum(side[0][:, 1], release.query.cap.edges[row["cap"]])
    return [*numbers, [int((capped * side[1]).sum())]]


def _grids(release: ClampedMean) -> tuple[Grid, Grid]:
    return release.query.grid, release.query.squares.grid


SOME = ([100_000] * MOST, [0] * MOST, [30_000] * MOST, [0, 100_000] * (MOST // 2), [100_000], [29_000])


@pytest.mark.parametrize(("many", "price"), [(2, ONE), (150, TEN), (150, ONE), (2_000, ONE)])
def test_no_transcript_tells_more_of_a_unit_than_epsilon(many: int, price: Price) -> None:
    named = replace(request().options, mechanism="clamped")
    release, largest = release_of(price=price, options=named), 0.0
    held = people(release, many, many, 30_000.0)
    assert price.epsilon is not None
    for at, values in enumerate(SOME):
        more = held + Counter([unit(values, release.query.coarse)])
        real = loss(release, more, held, f"{at}") / float(price.epsilon)
        assert real <= 1 + 1e-9
        largest = max(largest, real)
    assert largest > 0.5  # some unit is told of nearly as much as is charged: with all of its rows at a bound


def test_no_transcript_tells_more_of_a_swapped_unit_than_epsilon() -> None:
    release = release_of(price=TEN, neighbours="replace_one")
    held, some = people(release, 5, 600, 30_000.0), [unit(own, release.query.coarse) for own in SOME]
    for at, own in enumerate(some):
        real = loss(release, held + Counter([own]), held + Counter([some[at - 1]]), f"swap {at}")
        assert real <= 10 * (1 + 1e-9)


def _unclipped() -> AbstractContextManager[object]:
    return patch.object(means, "total", lambda values, units, _: int((values * units).sum()))


def _less_noise() -> AbstractContextManager[object]:
    def quiet(query: UnitsQuery, share: Fraction, reach: int = 1) -> LaplaceLaw:
        return LaplaceLaw(own(query, share, reach).scale / 2)

    own = UnitsQuery.law
    return patch.object(UnitsQuery, "law", quiet)


@pytest.mark.parametrize("bug", [None, _unclipped, _less_noise])
def test_planted_bugs_show_in_the_exact_loss(bug: Any) -> None:
    with bug() if bug else nullcontext():
        release = release_of()
        held = people(release, 3, 2_000, 30_000.0)
        found = [
            loss(release, held + Counter([unit(own, release.query.coarse)]), held, f"bug {at}")
            for at, own in enumerate(SOME)
        ]
    assert (max(found) > 1.0) == (bug is not None)


def test_all_parts_together_cost_the_price() -> None:
    release = release_of()
    located = release.located(10_000)
    assert isinstance(release.loss, Pure)
    assert located is not None
    for shares in (located, release.few):
        parts: tuple[Fraction, ...] = (COUNT, shares.centre, shares.tails, shares.again, shares.answer)
        assert isinstance(shares, Shares)
        assert min(parts) >= 0
        assert sum(parts) * release.query.epsilon + release.query.cap.epsilon == release.loss.epsilon


@pytest.mark.parametrize("function", FUNCTIONS)
def test_without_noise_it_is_near_the_statistic_and_in_its_interval(function: str) -> None:
    release = release_of(function)
    values = values_of(7, 4_000, 30_000.0)
    released = release.release(raw_of(Counter(unit(own, release.query.coarse) for own in values)), Noiseless())
    every, ddof = np.concatenate(values), int(function.endswith("samp"))
    true = every.std(ddof=ddof) if function.startswith("stddev") else every.var(ddof=ddof)
    assert released.values[0] == pytest.approx(true, rel=0.05)  # a window may end before the last few units
    ((low, high),) = release.intervals(released, 0.95)
    assert low is not None
    assert high is not None
    assert low <= true <= high


def test_a_sample_of_one_row_may_spread_as_far_as_the_bounds_allow() -> None:
    release = release_of("var_samp")
    for rows in (1, 0):
        assert release._shown(0.0, rows) == release._greatest == WIDE.high**2 / 2
    assert release._shown(9.0, 10) == 10


@pytest.mark.parametrize(("many", "sure"), [(3_000, 0.95), (60, 0.9)])
def test_intervals_hold_the_deviation_of_all_rows(many: int, sure: float) -> None:
    release, values, draws, inside = release_of(), values_of(11, many, 3_000.0), 40, 0
    true = float(np.concatenate(values).std())
    raw = raw_of(Counter(unit(own, release.query.coarse) for own in values))
    for seed in range(draws):  # fixed seeds: nothing is left to chance
        released = release.release(raw, FixedSampler(f"{many} {seed}"))
        ((low, high),) = release.intervals(released, 0.95)
        assert low is not None
        assert high is not None
        assert 0 <= low <= released.values[0] <= high <= WIDE.high / 2
        inside += low <= true <= high
    assert inside >= sure * draws


def test_several_statistics_of_the_same_values_are_one_release() -> None:
    joints = Clamped().together([request(function) for function in ("var_pop", "stddev_samp")])
    (joint,) = joints
    assert joint.loss == Pure(Fraction(2))
    values = values_of(9, 3_000, 30_000.0)
    every = np.concatenate(values)
    first = joint.offers[0]
    assert isinstance(first, ClampedVariance)
    released = first.release(raw_of(Counter(unit(own, first.query.coarse) for own in values)), Noiseless())
    for offer, truth in zip(joint.offers, (every.var(), every.std(ddof=1)), strict=True):
        assert isinstance(offer, ClampedVariance)
        own = released.place(offer.at)
        assert float(own.values[0]) == pytest.approx(truth, rel=0.05)
    assert Clamped().together([request("var_pop")]) == ()


@pytest.mark.parametrize(
    ("more", "reason"),
    [
        ({"held": Contribution(1, 1, 1)}, "one row"),
        ({"held": Contribution(8, 1, 8)}, "few rows a unit"),
        ({"grid": Grid(Fraction(1), 0, 16)}, "reach over all of their bounds"),
        ({"grid": Grid(Fraction(1), 0, 2**33)}, "squares of its values"),
        ({"price": Price(Fraction(1, 100), Fraction(0))}, "too few units"),
    ],
)
def test_it_says_why_it_makes_no_offer(more: dict[str, Any], reason: str) -> None:
    answer = Clamped().offer(request(**more))
    assert isinstance(answer, Refusal)
    assert reason in answer.reason


SCORES = Grid(Fraction(1), 0, 100)
RATINGS = Contribution(rows=200, groups=1, rows_in_group=200)


def test_within_narrow_bounds_it_is_taken_of_few_units_too() -> None:
    about: dict[str, Any] = {"grid": SCORES, "held": RATINGS, "rows_about": 667}
    assert choose(request(**about)).release.mechanism == "clamped"  # `capped` expects to err twice as much
    release = release_of(**about)
    assert release.query.rows_about < FEWEST  # too few to find a centre: within wide bounds it makes no offer
    assert isinstance(Clamped().offer(request(**{**about, "grid": WIDE})), Refusal)


@pytest.mark.parametrize(("epsilon", "most"), [(1, 0.4), (Fraction(1, 5), 4.0)])
def test_ratings_from_1_to_5_within_bounds_of_100_err_little(epsilon: Fraction, most: float) -> None:
    random, sampler = np.random.default_rng(3), FixedSampler("ratings")
    values = [random.integers(1, 6, n) for n in np.minimum(random.geometric(0.25, 1_100), 28)]
    release = release_of(grid=SCORES, held=RATINGS, price=Price(Fraction(epsilon), Fraction(0)))
    raw = raw_of(Counter(unit(own, release.query.coarse) for own in values))
    truth = float(np.concatenate(values).std())
    for _ in range(20):  # of a fixed sampler: nothing fails by chance
        released = release.release(raw, sampler)
        ((low, high),) = release.intervals(released, 0.95)
        assert abs(float(released.values[0]) - truth) < most
        assert low is not None
        assert high is not None
        assert low <= truth <= high


def test_intervals_hold_where_units_of_many_rows_lie_apart() -> None:
    random, sampler = np.random.default_rng(5), FixedSampler("apart")
    many = random.random(3_000) < 0.05  # of the units, with about half of all rows
    values = [
        random.integers(87, 94, 40) if more else random.integers(7, 14, n)
        for more, n in zip(many, np.minimum(random.geometric(0.25, 3_000), 40), strict=True)
    ]
    release = release_of(grid=SCORES, held=Contribution(rows=40, groups=1, rows_in_group=40))
    raw = raw_of(Counter(unit(own, release.query.coarse) for own in values))
    truth = float(np.concatenate(values).std())
    assert truth > 30
    intervals = [release.intervals(release.release(raw, sampler), 0.95)[0] for _ in range(20)]
    known = [(low, high) for low, high in intervals if low is not None and high is not None]
    assert sum(low <= truth <= high for low, high in known) >= 19  # of a fixed sampler: nothing fails by chance


MADE = (
    "CREATE TABLE orders AS SELECT i % 4000 AS customer, i % 5 <> 0 AS paid, "
    "CASE WHEN i % 13 <> 0 THEN 300 + (i % 97) / 4 - (i % 11) END AS amount FROM range(38000) AS t(i)"
)


@pytest.fixture(scope="module")
def session(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Session]:
    yield from sessions(tmp_path_factory.mktemp("clamped_variance"), MADE, policy(ORDERS))


@pytest.mark.parametrize("sql", ["SELECT STDDEV(amount) FROM orders", "SELECT VAR_POP(2 * amount) FROM orders"])
def test_it_is_near_what_the_engine_finds(session: Session, sql: str) -> None:
    answer = session.query(sql, epsilon=20, mechanism="clamped")
    assert {m.mechanism for m in answer.measurements} == {"clamped"}
    with duckdb.connect() as connection:
        connection.execute(MADE)
        ((true,),) = connection.execute(sql).fetchall()
    assert answer.rows[0][0] == pytest.approx(float(true), rel=0.06)  # windows and the cap may leave out the last few
    assert any("clipped at" in note for note in answer.notes)
