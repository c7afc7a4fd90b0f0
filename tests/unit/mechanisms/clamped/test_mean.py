"""Means from units' totals: the exact loss of whole transcripts, DuckDB's own means, intervals, and real SQL."""

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
from dpsql.mechanisms.clamped import mean as clamped_mean
from dpsql.mechanisms.clamped import units as of_units
from dpsql.mechanisms.clamped.mean import FEW, ClampedMean
from dpsql.mechanisms.clamped.mechanism import Clamped
from dpsql.mechanisms.clamped.units import UnitsQuery
from dpsql.mechanisms.located.parts import COUNT, Shares
from dpsql.mechanisms.located.place import Bins, Clip
from dpsql.mechanisms.noise.laws import LaplaceLaw
from dpsql.plan.needs import Contribution
from dpsql.plan.types import Grid
from dpsql.privacy.kinds import Pure
from dpsql.session import Session
from dpsql.testing_samplers import FixedSampler, Noiseless
from tests.unit.mechanisms.asking import BY_RHO, CITY, COST, asking
from tests.unit.mechanisms.clamped import transcripts
from tests.unit.mechanisms.clamped.transcripts import Side, Units, raw_of
from tests.unit.mechanisms.shop import policy, sessions

WIDE = Grid(Fraction(1), 0, 100_000)
MOST = 20
OFTEN = Contribution(rows=MOST, groups=1, rows_in_group=MOST)
ONE, TEN = Price(Fraction(1), Fraction(0)), Price(Fraction(10), Fraction(0))


def request(price: Price = ONE, grid: Grid = WIDE, held: Contribution = OFTEN, **more: Any) -> Request:
    facts = replace(COST.facts, low=grid.low * grid.step, high=grid.high * grid.step)
    return asking("avg", held=held, grid=grid, price=price, facts=facts, **more)


def release_of(price: Price = ONE, grid: Grid = WIDE, **more: Any) -> ClampedMean:
    offer = Clamped().offer(request(price, grid, **more))
    assert isinstance(offer, ClampedMean), offer
    return offer


def people(seed: int, many: int, place: float) -> Units:
    random = np.random.default_rng(seed)
    rows = random.integers(1, MOST + 1, many)
    values = [np.minimum(random.lognormal(np.log(place), 0.8, n), WIDE.high).round() for n in rows]
    return Counter((int(own.sum()), len(own)) for own in values)


def loss(release: ClampedMean, one: Units, two: Units, seed: str) -> float:
    return transcripts.loss(release, one, two, seed, _scores, _numbers)


def _scores(release: ClampedMean, side: Side, row: dict[str, Any]) -> list[list[int]]:
    """Of each choice by permute-and-flip: the cap, and where units are few the clamps of means and of totals."""
    query = release.query
    scores = [query.cap.scores(by_edges([(side[0][:, 1], side[1])], query.cap.edges))]
    if row["clamp"] is None:
        return scores
    search = query.places.search(FEW.tails * query.epsilon, query.moved, 1)
    assert release._search is not None
    totals = side[0][:, 0] - row["centre"] * side[0][:, 1]
    counted = query.clamps.counts([(totals, side[1])])
    return [
        *scores,
        search.scores(query.places.counts([of_units.means_of(*side, WIDE)])),
        release._search.scores(counted),
    ]


def _numbers(release: ClampedMean, side: Side, row: dict[str, Any]) -> list[list[int]]:
    """The exact numbers behind each draw of noise, at what was released before it."""
    (sums, rows), units = side[0].T, side[1]
    totals = sums - row["centre"] * rows
    near = [] if row["clamp"] is not None else [Bins(release.query.grid).counts(totals, units, 0)]
    within = vars(clamped_mean)["total"](totals, units, _window(row))  # its own sum, whatever was planted there
    capped = np.minimum(rows, release.query.cap.edges[row["cap"]])
    return [[int(units.sum())], *near, [within], [int((capped * units).sum())]]


def _window(row: dict[str, Any]) -> Clip:
    return Clip(0, row["half"], row["low"], row["high"], 0.0, 0.0, 0.0)


SOME = ((MOST * 100_000, MOST), (0, MOST), (MOST * 30_000, MOST), (100_000, 1), (29_000, 1))


@pytest.mark.parametrize(("many", "price"), [(2, ONE), (150, TEN), (150, ONE), (2_000, ONE)])
def test_no_transcript_tells_more_of_a_unit_than_epsilon(many: int, price: Price) -> None:
    release, held, largest = release_of(price), people(many, many, 30_000.0), 0.0
    assert price.epsilon is not None
    for at, unit in enumerate(SOME):
        real = loss(release, held + Counter([unit]), held, f"{at}") / float(price.epsilon)
        assert real <= 1 + 1e-9
        largest = max(largest, real)
    assert largest > 0.5  # some unit is told of nearly as much as is charged: with all of its rows at a bound


def test_no_transcript_tells_more_of_a_swapped_unit_than_epsilon() -> None:
    release, held = release_of(TEN, neighbours="replace_one"), people(5, 600, 30_000.0)
    for at, unit in enumerate(SOME):
        other = SOME[at - 1]
        assert loss(release, held + Counter([unit]), held + Counter([other]), f"swap {at}") <= 10 * (1 + 1e-9)


def _unclipped() -> AbstractContextManager[object]:
    return patch.object(clamped_mean, "total", lambda values, units, _: int((values * units).sum()))


def _less_noise() -> AbstractContextManager[object]:
    def quiet(query: UnitsQuery, shares: Shares, cap: int) -> LaplaceLaw:
        return LaplaceLaw(own(query, shares, cap).scale / 16)

    own = UnitsQuery.of_rows
    return patch.object(UnitsQuery, "of_rows", quiet)


@pytest.mark.parametrize("bug", [None, _unclipped, _less_noise])
def test_planted_bugs_show_in_the_exact_loss(bug: Any) -> None:
    with bug() if bug else nullcontext():
        release, held = release_of(ONE), people(3, 2_000, 30_000.0)
        largest = max(loss(release, held + Counter([unit]), held, f"bug {at}") for at, unit in enumerate(SOME))
    assert (largest > 1.0) == (bug is not None)


def test_all_parts_together_cost_the_price() -> None:
    release = release_of()
    query, located = release.query, release.located(10_000)
    assert isinstance(release.loss, Pure)
    assert located is not None
    for shares in (located, release.few):
        parts = (COUNT, shares.centre, shares.tails, shares.again, shares.answer)
        assert min(parts) >= 0
        assert sum(parts) * query.epsilon + query.cap.epsilon == release.loss.epsilon
    by_rho = release_of(BY_RHO).loss
    assert isinstance(by_rho, Pure)
    assert by_rho.rho is not None
    assert BY_RHO.rho is not None
    assert by_rho.rho <= BY_RHO.rho
    swapped = release_of(neighbours="replace_one").query
    assert (swapped.moved, swapped.cap.units) == (2, 2)


@pytest.mark.parametrize("many", [3_000, 60])
def test_without_noise_it_is_the_mean_of_what_is_within_the_window_and_the_cap(many: int) -> None:
    release, held = release_of(), people(7, many, 30_000.0)
    released = release.release(raw_of(held), Noiseless())
    row = {name: own[0] for name, own in released.columns.items()}
    assert (row["clamp"] is None) == (many > 250)
    totals, rows = 0, 0
    for (total, number), units in held.items():
        totals += units * min(max(total - row["centre"] * number, row["low"]), row["high"])
        rows += units * min(number, release.query.cap.edges[row["cap"]])
    assert (row["sum"], row["rows"]) == (totals, rows)
    assert row["value"] == pytest.approx(min(max(row["centre"] + totals / rows, WIDE.low), WIDE.high))
    true = sum(total * units for (total, _), units in held.items()) / sum(n * u for (_, n), u in held.items())
    ((low, high),) = release.intervals(released, 0.95)
    assert low is not None
    assert high is not None
    assert low <= true <= high
    assert row["value"] == pytest.approx(true, rel=0.5)


def test_of_few_units_with_many_rows_the_mean_is_not_drawn_to_the_middle_of_the_bounds() -> None:
    held, ratings = Contribution(rows=1024, groups=1, rows_in_group=1024), Grid(Fraction(1, 1000), 500, 5_000)
    release = release_of(Price(Fraction(1, 5), Fraction(0)), ratings, held=held, rows_about=100_000)
    raters = ((24, 144), (45, 173), (90, 143), (180, 114), (360, 97))
    units: Units = Counter({(3_500 * rows, rows): many for rows, many in raters})
    for seed in ("a", "b", "c", "d"):  # fixed seeds: nothing is left to chance
        released = release.release(raw_of(units), FixedSampler(seed))
        assert released.columns["clamp"] != [None]  # too few units to find a centre
        assert abs(released.values[0] - 3.5) < 0.5


@pytest.mark.parametrize(("many", "sure"), [(3_000, 0.95), (60, 0.9)])
def test_intervals_hold_the_mean_of_all_rows(many: int, sure: float) -> None:
    release, held, draws = release_of(), people(11, many, 3_000.0), 60
    true = sum(total * units for (total, _), units in held.items()) / sum(n * u for (_, n), u in held.items())
    inside = 0
    for seed in range(draws):  # fixed seeds: nothing is left to chance
        released = release.release(raw_of(held), FixedSampler(f"{many} {seed}"))
        ((low, high),) = release.intervals(released, 0.95)
        assert low is not None
        assert high is not None
        assert WIDE.low <= low <= released.values[0] <= high <= WIDE.high
        inside += low <= true <= high
    assert inside >= sure * draws


def test_nobody_has_all_of_the_bounds() -> None:
    release = release_of()
    released = release.release(raw_of(Counter()), Noiseless())
    assert release.intervals(released, 0.95) == [(0.0, 100_000.0)]


def test_where_groups_are_clipped_is_said_from_the_least_to_the_most() -> None:
    release = release_of(keys=(CITY,))
    groups = [people(at, 2_000, place) for at, place in enumerate((30_000.0, 90.0, 900.0))]
    (note,) = release.told(release.release(raw_of(*groups), Noiseless()))
    least, _, most = note.partition("clipped at ")[2].partition(", which")[0].partition(" to ")
    assert 0 < float(least.replace(",", "")) < float(most.replace(",", ""))


def test_of_no_group_nothing_is_released() -> None:
    release = release_of()
    assert release.release(raw_of(), Noiseless()).values == []
    assert release.told(release.release(raw_of(), Noiseless())) == ()


@pytest.mark.parametrize(
    ("more", "reason"),
    [
        ({"held": Contribution(1, 1, 1)}, "one row"),
        ({"held": Contribution(20, 3, 20), "keys": (CITY,)}, "in one alone"),
        ({"grid": Grid(Fraction(1), 5, 5)}, "bounds"),
        ({"grid": Grid(Fraction(1), 0, 2**52)}, "too large"),
        ({"rows_about": 3_000_000}, "only by name"),
    ],
)
def test_it_says_why_it_makes_no_offer(more: dict[str, Any], reason: str) -> None:
    answer = Clamped().offer(request(**more))
    assert isinstance(answer, Refusal)
    assert reason in answer.reason


MADE = (
    "CREATE TABLE customers AS SELECT i AS customer, ['N', 'S'][1 + i % 2] AS region FROM range(4000) AS t(i); "
    "CREATE TABLE orders AS SELECT i % 4000 AS customer, i % 5 <> 0 AS paid, "
    "CASE WHEN i % 13 <> 0 THEN 300 + (i % 97) / 4 - (i % 11) END AS amount FROM range(38000) AS t(i)"
)
ASKED = (
    "SELECT AVG(amount) FROM orders",
    "SELECT AVG(2 * amount - 1) FROM orders WHERE paid",
    "SELECT region, AVG(amount) FROM orders JOIN customers USING (customer) GROUP BY region ORDER BY region",
)


ORDERS = """
  orders:
    unit: customer
    rows_per_unit: 500
    columns:
      amount: {type: decimal, bounds: [-10000, 10000], grid: 0.01}
      paid: {type: boolean}
"""
CUSTOMERS = """
  customers:
    unit: customer
    key: customer
    rows_per_unit: 1
    columns:
      region: {type: text, values: [N, S]}
"""


@pytest.fixture(scope="module")
def session(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Session]:
    yield from sessions(tmp_path_factory.mktemp("clamped_mean"), MADE, policy(CUSTOMERS.rstrip() + ORDERS))


@pytest.mark.parametrize("sql", ASKED)
def test_it_is_taken_unasked_and_near_the_mean_that_the_engine_finds(session: Session, sql: str) -> None:
    answer = session.query(sql)
    assert {m.mechanism for m in answer.measurements} == {"clamped"}
    with duckdb.connect() as connection:
        connection.execute(MADE)
        true = connection.execute(sql).fetchall()
    for row, exact in zip(answer.rows, true, strict=True):
        assert row[:-1] == exact[:-1]
        assert row[-1] == pytest.approx(float(exact[-1]), rel=2e-3)  # a window may end before the last few units


def test_the_quote_and_the_answer_say_the_way_its_price_and_what_is_clipped(session: Session) -> None:
    quote, answer = session.explain(ASKED[1]), session.query(ASKED[1])
    assert quote.columns[0].mechanism == "clamped"
    assert any("What one unit adds to it is clipped" in note for note in quote.notes)
    assert any("clipped at" in note for note in answer.notes)
    assert any("rows are counted" in note for note in answer.notes)
    assert len(answer.notes) == 2  # beside the one on the rows that the policy keeps of each unit


def test_a_cap_of_the_statement_wins(session: Session) -> None:
    for asked in ("AVG(amount, contribution_bounds_per_row => (0, 500))", "AVG(amount)"):
        option = "" if "bounds" in asked else "WITH DIFFERENTIAL_PRIVACY OPTIONS (max_rows_contributed = 3) "
        quote = session.explain(f"SELECT {option}{asked} FROM orders")
        assert quote.columns[0].mechanism != "clamped"


def test_where_most_units_add_up_to_nothing_the_window_ends_at_totals_that_are_possible() -> None:
    """No total lies below those of values at their least, however far it might lie about another centre."""
    random = np.random.default_rng(5)
    units: Units = Counter({(0, 4): 4000})
    units.update((int(total), 4) for total in random.lognormal(6, 1, 1000).round())
    release = release_of(TEN)
    released = release.release(raw_of(units), Noiseless())
    assert released.columns["centre"] == [0]
    assert released.columns["low"] == [0]
    assert released.columns["half"][0] < WIDE.high * MOST / 16
    assert release.query.about(7).grid == Grid(Fraction(1), -7 * MOST, (WIDE.high - 7) * MOST)
