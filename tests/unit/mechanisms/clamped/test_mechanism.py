"""Clamps that are found privately: the move of one unit by brute force, exact chances of the choice, and real SQL."""

from __future__ import annotations

import math
import random
from collections.abc import Iterator, Sequence
from dataclasses import astuple, replace
from decimal import Decimal
from fractions import Fraction
from typing import Any

import duckdb
import numpy as np
import pytest

from dpsql.engine.duckdb.dialect import DUCKDB
from dpsql.engine.lower import lowering
from dpsql.mechanisms.base import Price, Refusal, Request
from dpsql.mechanisms.choice.clamp import ClampSearch, place_of
from dpsql.mechanisms.clamped.mechanism import Clamped
from dpsql.mechanisms.clamped.release import ClampedRelease, Sizes, sizes_of
from dpsql.mechanisms.unasked import only_named
from dpsql.plan.needs import Contribution, Sized
from dpsql.plan.nodes import Filter
from dpsql.plan.options import Options
from dpsql.plan.types import Grid
from dpsql.privacy.tables import RawTable
from dpsql.session import Session
from dpsql.sql.parse import parse
from dpsql.testing_samplers import FixedSampler, Noiseless
from tests.unit.mechanisms.asking import CITY, CONSENT, COST, HALF, asking
from tests.unit.mechanisms.chances import permute_and_flip
from tests.unit.mechanisms.shop import policy, sessions

MANY = Contribution(rows=200, groups=3, rows_in_group=200)
ALONE = Contribution(rows=200, groups=1, rows_in_group=200)
SIGNED = Grid(Fraction(1), -50, 20)
Unit = dict[int, int]
"""Group to the unit's total there, in grid steps."""


def request(*, grouped: bool = False, neighbours: str = "add_remove", grid: Grid | None = None) -> Request:
    held, keys = (MANY, (CITY,)) if grouped else (ALONE, ())
    function = "count_rows" if grid is None else "sum"
    return asking(
        function, held=held, keys=keys, neighbours=neighbours, grid=grid, price=Price(Fraction(1), Fraction(0))
    )


def offered(asked: Request) -> ClampedRelease:
    offer = Clamped().offer(asked)
    assert isinstance(offer, ClampedRelease), offer
    return offer


def raw_of(offer: ClampedRelease, units: Sequence[Unit], groups: int) -> RawTable:
    """What an engine returns for these units, by another way: unit by unit."""
    edges = offer.need.edges
    cells: dict[tuple[int, int], list[int]] = {}
    for held_by in units:
        unit = {group: total for group, total in held_by.items() if total}
        size = sum(map(abs, unit.values()))
        held = next((place for place, edge in enumerate(edges) if size <= edge), len(edges))
        for at, (group, total) in enumerate(sorted(unit.items())):
            cell = cells.setdefault((group, held), [0, 0, 0])
            cell[0] += at == 0
            cell[1] += (at == 0) * ((total > 0) - (total < 0))
            cell[2] += total
    rows = [(group, held, *cell) for (group, held), cell in sorted(cells.items())]
    names = ("group", "bin", "units", "signs", "total")
    return RawTable({name: [row[at] for row in rows] for at, name in enumerate(names)}, groups)


def drawn(rng: random.Random, groups: int, *, signed: bool, most: int) -> Unit:
    """One unit with totals of every magnitude, within what its caps allow."""
    left, unit = most, {}
    for group in rng.sample(range(groups), rng.randint(1, groups)):
        total = min(left, round(math.exp(rng.uniform(0, math.log(most + 1)))) - rng.randint(0, 1))
        left -= total
        unit[group] = -total if signed and rng.random() < 0.5 else total
    return unit


@pytest.mark.every(2)
@pytest.mark.parametrize("neighbours", ["add_remove", "replace_one"])
@pytest.mark.parametrize(("grouped", "grid"), [(False, None), (True, None), (False, SIGNED), (True, SIGNED)])
def test_one_unit_moves_scores_and_sums_no_further_than_claimed(
    grouped: bool, grid: Grid | None, neighbours: str
) -> None:
    offer = offered(request(grouped=grouped, grid=grid, neighbours=neighbours))
    groups, rng = 3 if grouped else 1, random.Random(f"{grouped}, {grid}, {neighbours}")
    search, edges, reached = offer.search, offer.need.edges, Fraction(0)
    assert isinstance(search, ClampSearch)
    for _ in range(150):
        units = [drawn(rng, groups, signed=grid is not None, most=edges[-1]) for _ in range(rng.randint(1, 5))]
        other = units[1:]
        if neighbours == "replace_one":
            other.append(drawn(rng, groups, signed=grid is not None, most=edges[-1]))
        one, two = (sizes_of(raw_of(offer, side, groups), len(edges) + 1) for side in (units, other))
        moved = [a - b for a, b in zip(search.scores(one.units), search.scores(two.units), strict=True)]
        assert (max(*moved, 0) - min(*moved, 0)) * search.exponent <= search.epsilon
        for place in range(len(edges)):
            sums = zip(offer.within(one, place), offer.within(two, place), strict=True)
            far = sum(abs(a - b) for a, b in sums)
            claimed = offer.law(place).scale * offer.epsilon
            assert far <= claimed
            reached = max(reached, Fraction(far) / claimed)
    assert reached > Fraction(3, 4)  # the claim is no larger than it must be


def test_without_groups_each_unit_counts_with_the_clamp_at_most() -> None:
    offer = offered(request(grid=SIGNED))
    rng = random.Random(4)
    units = [drawn(rng, 1, signed=True, most=offer.need.edges[-1]) for _ in range(40)]
    sizes = sizes_of(raw_of(offer, units, 1), len(offer.need.edges) + 1)
    for place, edge in enumerate(offer.need.edges):
        assert offer.within(sizes, place) == [sum(max(-edge, min(edge, unit[0])) for unit in units)]


def test_with_groups_units_above_the_clamp_keep_their_proportions() -> None:
    offer = offered(request(grouped=True))
    edges = offer.need.edges
    sizes = sizes_of(raw_of(offer, [{0: 30, 1: 10}, {2: 3}], 3), len(edges) + 1)
    place = edges.index(16)  # 40 is in the bin up to 48: a third counts
    one = int(offer.law(place).scale * offer.epsilon) // 16
    third = one // 3
    assert offer.within(sizes, place) == [30 * third, 10 * third, 3 * one]
    assert offer.within(sizes, len(edges) - 1) == [30, 10, 3]


def test_with_groups_the_largest_units_lose_an_eighth_of_the_clamp_to_rounding_at_most() -> None:
    offer = offered(request(grouped=True))
    edges = offer.need.edges
    for place, edge in enumerate(edges):
        one = offer.law(place).scale * offer.epsilon / edge
        for size in edges[place:]:
            (counted, *_) = offer.within(sizes_of(raw_of(offer, [{0: size}], 3), len(edges) + 1), place)
            assert Fraction(7, 8) * edge < counted / one <= edge


@pytest.mark.slow
def test_few_people_with_most_of_the_rows_are_not_clipped_however_many_groups_there_are() -> None:
    months = replace(CITY, domain=tuple(range(1, 13)))
    held, price = Contribution(180, 12, 180), Price(Fraction(1, 3), Fraction(0))
    search = offered(asking("count_rows", held=held, keys=(months,), price=price)).search
    assert isinstance(search, ClampSearch)
    edges = search.edges
    sizes = [0] * (len(edges) + 1)
    sizes[place_of(edges, 1)], sizes[place_of(edges, 60)] = 2_850, 150
    chosen = permute_and_flip(search.scores(sizes), search.exponent)
    assert sum(chance for edge, chance in zip(edges, chosen, strict=True) if edge >= 60) > Decimal("0.99")


def test_data_within_one_power_of_two_get_that_clamp_and_an_interval_that_says_what_it_holds() -> None:
    offer = offered(request())
    raw = raw_of(offer, [{0: 5 + i % 4} for i in range(3_000)], 1)
    released = offer.release(raw, Noiseless())
    assert released.columns["place"] == [offer.need.edges.index(8)]
    assert released.values == [sum(5 + i % 4 for i in range(3_000))]
    ((low, high),) = offer.intervals(released, 0.95)
    assert low is not None and high is not None
    # 8 ln(20) / 0.6 of noise; for what is clipped, which only adds, as many units as the choice may miss, with all that
    # caps allow: an edge at 200 would have been taken but for one time of 20, were it worth more than its penalty and
    # ln(13 / 0.1), 0.4 for each unit.
    noise, units = 40, 30
    assert released.values[0] - low == noise
    assert high - released.values[0] == noise + units * (200 - 8)
    (note,) = offer.told(released)
    assert "at most 8, chosen privately" in note and "±40 is noise" in note
    assert "5,760 is for what is clipped: it holds whatever was clipped" in note
    assert note.endswith(
        "With contribution_bounds_per_group => (0, 8) in the call the clamp is part of what is asked: the interval is "
        "of noise alone, and need not hold what is clipped."
    )
    ((_, surer),) = offer.intervals(released, 0.99)
    assert surer is not None and surer > high + 4 * (200 - 8)  # ln(5) / 0.4 units more


@pytest.mark.parametrize("neighbours", ["add_remove", "replace_one"])
@pytest.mark.parametrize("grouped", [False, True])
def test_totals_of_few_people_under_a_condition_hold_all_that_their_caps_allow(neighbours: str, grouped: bool) -> None:
    asked = request(grouped=grouped, neighbours=neighbours, grid=Grid(Fraction(1), 0, 10_000))
    picked = replace(asked, source=replace(asked.source, relation=Filter(asked.source.relation, CONSENT)))
    offer, whole = offered(picked), offered(asked)
    assert isinstance(offer.search, ClampSearch)
    assert offer.search.guess < offer.search.standing < whole.search.standing  # halfway, for all know
    per_group, groups = 10_000 * 66, 3 if grouped else 1
    for people in (5, 20):
        units = [dict.fromkeys(range(groups), per_group)] * people  # about all that they may have
        released = offer.release(raw_of(offer, units, groups), Noiseless())
        assert released.columns["place"][0] == offer.search.standing
        for low, high in offer.intervals(released, 0.95):
            assert low is not None and high is not None and low < per_group * people <= high
        assert "so few show that all may have more" in offer.told(released)[0]
    light = [dict.fromkeys(range(groups), 100)] * 5_000  # of so many the choice tells that they have far less
    released = offer.release(raw_of(offer, light, groups), Noiseless())
    assert released.columns["place"][0] < offer.search.guess
    assert "so few show" not in offer.told(released)[0]


def test_what_names_its_bounds_or_has_none_to_find_is_refused() -> None:
    asked = request()
    bounded = replace(asked.aggregate, bounds=(Fraction(0), Fraction(1)))
    for other, reason in [
        (replace(asked, aggregate=bounded), "bounds of its own"),
        (replace(asked, source=replace(asked.source, cap_rows=True)), "bounds of its own"),
        (asking("count_rows"), "nothing to find"),
        (asking("sum", held=ALONE, grid=None), "has no bounds"),
        (replace(asked, selects=True), "only a threshold can"),
    ]:
        answer = Clamped().offer(other)
        assert isinstance(answer, Refusal)
        assert reason in answer.reason


def test_people_count_once_in_each_group_and_once_where_their_key_is_no_group() -> None:
    for listed in (("Delft", "Leiden", None), ("Delft", "Leiden")):
        held, key = Contribution(rows=200, groups=len(listed), rows_in_group=200), replace(CITY, domain=listed)
        assert offered(asking("count_units", held=held, keys=(key,))).need.edges[-1] == 3


def test_a_price_too_small_to_find_a_bound_is_refused_with_one_that_would_do() -> None:
    small = replace(request(grid=SIGNED), price=Price(Fraction(1, 10**4), Fraction(0)))
    answer = Clamped().offer(small)
    assert isinstance(answer, Refusal)
    assert "too small to find a bound" in answer.reason
    wanted = Fraction(answer.reason.split("about ")[1].split(" ")[0])
    offered(replace(small, price=Price(wanted * Fraction(11, 10), Fraction(0))))


def test_it_is_taken_unasked_where_caps_are_far_from_what_a_unit_has() -> None:
    assert only_named(Clamped(), request()) is None
    assert offered(request()).half_width > 0
    assert offered(replace(request(), price=HALF)).half_width > offered(request()).half_width


@pytest.fixture(scope="module")
def engine() -> Iterator[duckdb.DuckDBPyConnection]:
    with duckdb.connect() as connection:
        connection.execute("ATTACH ':memory:' AS bounded")
        yield connection


READ = {None: 0, math.nan: 0, 0.0: 0, 0.4: 0, -1.0: -1, 7.6: 8, -33.0: -33, 20.0: 20, 35.0: 20, -70.0: -50}
"""What a row may hold, and what it counts with on the grid `SIGNED`."""


@pytest.mark.every(2)
@pytest.mark.parametrize("neighbours", ["add_remove", "replace_one"])
@pytest.mark.parametrize("grouped", [False, True])
def test_the_one_row_of_a_unit_is_read_as_its_total_would_be(
    engine: duckdb.DuckDBPyConnection, grouped: bool, neighbours: str
) -> None:
    one, several = (of_rows(most, grouped, neighbours) for most in (1, 2))
    assert one.need.single and not several.need.single
    totals, edges = replace(several.need, grid=one.need.grid, edges=one.need.edges), one.need.edges
    search, rng = one.search, random.Random(f"{grouped}, {neighbours}")
    assert isinstance(search, ClampSearch)

    def person() -> tuple[int, float | None]:
        return rng.randrange(3), rng.choice(list(READ))

    for _ in range(8):
        people = [person() for _ in range(rng.randint(1, 9))]
        other = [*people[1:], *([person()] if neighbours == "replace_one" else [])]
        found = []
        for side in (people, other):
            units = [{place if grouped else 0: READ[held]} for place, held in side]
            found.append(sizes_of(raw_of(one, units, 3 if grouped else 1), len(edges) + 1))
            ways = (read(engine, one.need, side), read(engine, totals, side), found[-1])
            assert len({repr(astuple(own)) for own in ways}) == 1
        moved = [a - b for a, b in zip(*(search.scores(sizes.units) for sizes in found), strict=True)]
        assert (max(*moved, 0) - min(*moved, 0)) * search.exponent <= search.epsilon
        for place in range(len(edges)):
            far = sum(abs(a - b) for a, b in zip(*(one.within(sizes, place) for sizes in found), strict=True))
            assert far <= one.law(place).scale * one.epsilon


@pytest.mark.parametrize("large", [False, True], ids=["64 bits", "128 bits"])
def test_sums_of_large_totals_are_exact(large: bool) -> None:
    offer = of_rows(60, grouped=True, neighbours="add_remove")
    edges, far = offer.search.edges, 2**70 if large else 2**63 - 1
    groups, bins = np.array([0, 0, 1, 1, 2]), np.array([0, len(edges), 2, len(edges) - 1, 1])
    total = np.array([far, -far, 3, -far, far - 5], dtype=object if large else np.int64)
    for place in range(len(edges)):
        digits, found = offer._digits(place), [0, 0, 0]
        parts = [1 << digits if edge <= edges[place] else (edges[place] << digits) // edge for edge in edges]
        for group, held, own in zip(groups.tolist(), bins.tolist(), total.tolist(), strict=True):
            found[group] += int(own) * ([*parts, 0][held])
        assert offer.within(Sizes([], [], groups, bins, total, 3), place) == found


def of_rows(most: int, grouped: bool, neighbours: str) -> ClampedRelease:
    """The offer for a sum where a unit has so many rows at most, all in one group."""
    held, facts = Contribution(most, 1, most), replace(COST.facts, low=Fraction(-50), high=Fraction(20))
    keys, price = (CITY,) if grouped else (), Price(Fraction(1), Fraction(0))
    return offered(asking("sum", held=held, keys=keys, neighbours=neighbours, grid=SIGNED, facts=facts, price=price))


def read(engine: duckdb.DuckDBPyConnection, need: Sized, people: Sequence[tuple[int, float | None]]) -> Sizes:
    """What DuckDB finds of people with one row each: the place of their city, and what they hold."""
    statement, cities = lowering(DUCKDB, b"a secret")(need), CITY.domain or ()
    rows = [cell for number, (place, held) in enumerate(people) for cell in (f"p{number}", cities[place], held)]
    engine.execute("CREATE OR REPLACE TABLE bounded.main.visits (patient_id VARCHAR, city VARCHAR, cost DOUBLE)")
    if rows:
        engine.execute(f"INSERT INTO bounded.main.visits VALUES {', '.join(['(?, ?, ?)'] * len(people))}", rows)
    found = engine.execute(statement.sql, statement.parameters).fetchall()
    groups = [cities.index(row[0]) if need.source.keys else 0 for row in found]
    columns = {name: [row[at] for row in found] for at, name in enumerate(need.columns, -len(need.columns))}
    return sizes_of(RawTable({"group": groups, **columns}, 3 if need.source.keys else 1), len(need.edges) + 1)


MADE = (
    "CREATE TABLE orders AS SELECT i % 2000 AS customer, ['N', 'S', 'E', NULL][1 + i % 4] AS region, "
    "(i % 97) / 4 - (i % 11) AS amount, i % 5 <> 0 AS paid FROM range(9000) AS t(i)"
)
ORDERS = """
  orders:
    unit: customer
    rows_per_unit: 500
    columns:
      region: {type: text, values: [N, S, E]}
      amount: {type: decimal, bounds: [-1000, 1000], grid: 0.01}
      paid: {type: boolean}
"""


@pytest.fixture(scope="module")
def session(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Session]:
    yield from sessions(tmp_path_factory.mktemp("clamped"), MADE, policy(ORDERS))


@pytest.mark.parametrize(
    ("asked", "exact"),
    [
        ("SELECT SUM(amount) FROM orders WHERE paid", "SELECT SUM(amount) FROM orders WHERE paid"),
        ("SELECT COUNT(*) FROM orders WHERE paid", "SELECT COUNT(*) FROM orders WHERE paid"),
        (
            "SELECT region, SUM(amount), COUNT(DISTINCT customer), COUNT(amount) FROM orders WHERE paid "
            "GROUP BY region ORDER BY region",
            "SELECT region, SUM(amount), COUNT(DISTINCT customer), COUNT(amount) FROM orders WHERE paid "
            "AND region IS NOT NULL GROUP BY region ORDER BY region",
        ),
    ],
)
def test_the_engine_adds_up_what_the_clamp_leaves(session: Session, asked: str, exact: str) -> None:
    answer = session.query(asked, epsilon=20, mechanism="clamped")
    assert {m.mechanism for m in answer.measurements} == {"clamped"}
    with duckdb.connect() as connection:
        connection.execute(MADE)
        rows = connection.execute(exact).fetchall()
    for row, true in zip(answer.rows, rows, strict=True):
        assert row == pytest.approx(true, abs=3)  # halves of what little lies above the clamp


def test_the_quote_tells_the_way_and_its_price_and_the_answer_the_clamp(session: Session) -> None:
    sql = "SELECT COUNT(*) FROM orders WHERE paid"
    quote = session.explain(sql, epsilon=1)
    assert quote.columns[0].mechanism == "clamped"
    assert any("40% of its price chooses" in note for note in quote.notes)
    assert not any("chosen privately" in note for note in quote.notes)
    answer = session.query(sql, epsilon=1)
    assert any("chosen privately" in note for note in answer.notes)
    again = session.query(sql, epsilon=1)
    assert again.replayed and again.notes == answer.notes


@pytest.mark.parametrize(
    ("columns", "readings", "statements"),
    [
        ("SUM(amount, epsilon => 0.2) AS a, SUM(amount, epsilon => 0.4) AS b", 1, 1),
        ("SUM(amount, epsilon => 0.2) AS a, COUNT(*, epsilon => 0.2) AS b", 2, 1),
    ],
)
def test_totals_of_the_same_rows_are_read_once(session: Session, columns: str, readings: int, statements: int) -> None:
    parsed: Any = parse(f"SELECT {columns} FROM orders WHERE paid")
    plan: Any = session._plan(parsed.select, ())
    prepared: Any = session._prepare(plan, {})
    assert [own.choice.release.mechanism for own in prepared.measured] == ["clamped", "clamped"]
    assert len(prepared.readings) == readings
    assert len({reading.statement for reading in prepared.readings}) == statements


def test_a_bound_of_the_statement_wins(session: Session) -> None:
    for options in ("max_rows_contributed = 3", "max_rows_contributed = 500"):
        quote = session.explain(f"SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS ({options}) COUNT(*) FROM orders WHERE paid")
        assert quote.columns[0].mechanism == "clamped" if options.endswith("500") else "laplace"
    quote = session.explain("SELECT COUNT(*, contribution_bounds_per_group => (0, 9)) FROM orders WHERE paid")
    assert quote.columns[0].mechanism == "laplace"


def test_other_noise_gives_other_answers(session: Session) -> None:
    offer = offered(request())
    raw = raw_of(offer, [{0: 5 + i % 4} for i in range(300)], 1)
    assert offer.release(raw, FixedSampler(1)) != offer.release(raw, FixedSampler(2))
    assert Options() == request().options
