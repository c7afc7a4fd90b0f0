"""Clamps that facts give: what they cost, what their intervals hold, and where there are none."""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction

import pytest

from dpsql.mechanisms.base import Price, Request
from dpsql.mechanisms.clamped.facts import KnownClamp, known_clamp
from dpsql.mechanisms.clamped.mechanism import Clamped
from dpsql.mechanisms.clamped.release import ClampedRelease
from dpsql.plan.advised import AdvisedColumn, AdvisedTable, LogHistogram, Signed
from dpsql.plan.needs import Contribution
from dpsql.plan.nodes import Filter, Join, Scan
from dpsql.privacy.kinds import Pure
from dpsql.privacy.tables import RawTable
from dpsql.testing_samplers import Noiseless
from tests.unit.mechanisms.asking import CITY, COST, VISITS, asking

ONE = Fraction(1)
MANY = Contribution(rows=256, groups=1, rows_in_group=256)


def histogram(units: Mapping[int, int], *, step: Fraction = ONE, reach: int = 0, noise: int = 0) -> LogHistogram:
    """So many units in each bin of 20, with noise."""
    return LogHistogram(step, tuple(units.get(bin_, 0) + noise for bin_ in range(20)), reach, reach // 2, reach // 2)


def table(rows: LogHistogram, *, totals: Signed | None = None, current: bool = True) -> AdvisedTable:
    columns = {} if totals is None else {"cost": AdvisedColumn(totals, totals, totals)}
    return AdvisedTable(rows.units, 4 * rows.units, rows, columns, current=current)


def request(function: str, facts: AdvisedTable, *, grouped: bool = False) -> Request:
    return asking(
        function, held=replace(MANY, groups=3 if grouped else 1), keys=(CITY,) if grouped else (),
        table=replace(VISITS, rows_per_unit=256, advised=facts), price=Price(ONE, Fraction(0)),
    )  # fmt: skip


def offered(asked: Request) -> ClampedRelease:
    offer = Clamped().offer(asked)
    assert isinstance(offer, ClampedRelease), offer
    return offer


def test_facts_give_the_clamp_at_no_price_and_the_quote_says_it() -> None:
    offer = offered(request("count_rows", table(histogram({0: 500, 1: 700, 2: 800}))))
    assert isinstance(offer.search, KnownClamp)
    assert offer.loss == Pure(ONE)
    assert offer.search.edges[0] == 7  # the largest number of rows below 8
    assert offer.notes == ("each unit counts with at most 7, by what advise released: nothing is spent to find it.",)


def test_an_interval_from_facts_holds_the_unclamped_total_whatever_the_noise_of_the_facts_was() -> None:
    rng = random.Random(7)
    for trial in range(60):
        sizes = [min(256, 1 + int(rng.paretovariate(1.5))) for _ in range(3000)]
        exact = {bin_: sum(size.bit_length() - 1 == bin_ for size in sizes) for bin_ in range(9)}
        facts = histogram(exact, reach=6, noise=rng.randint(-6, 6))
        asked = request("count_rows", table(facts))
        totals = offered(asked).need
        top = replace(totals, edges=(256,))
        clamp = known_clamp(asked, top, Fraction(1, 1 + trial % 3))
        assert clamp is not None
        excess = sum(max(0, size - clamp.edges[0]) for size in sizes)
        assert sum(size > clamp.edges[0] for size in sizes) <= clamp.most
        assert excess <= clamp.most_clipped
        assert clamp.edges[-1] == 256
        assert all(b <= 2 * a for a, b in zip(clamp.edges, clamp.edges[1:], strict=False))


def test_what_the_interval_holds_is_said() -> None:
    offer = offered(request("count_rows", table(histogram({1: 4000}, reach=0))))
    held = {"group": [0], "bin": [1], "units": [10], "signs": [10], "total": [40]}
    released = offer.release(RawTable(held, 1), Noiseless())
    assert released.values == [30]  # 10 units above a clamp at 3, the most rows that the facts see a unit have
    (note,) = offer.told(released)
    assert "it holds whatever was clipped" in note
    assert "(99.9%)" in note


def test_facts_of_other_data_give_no_clamp() -> None:
    asked = request("count_rows", table(histogram({1: 4000}, reach=0), current=False))
    assert not isinstance(offered(asked).search, KnownClamp)
    assert known_clamp(asked, offered(asked).need, ONE) is None


def test_units_that_the_noise_of_the_facts_may_hide_are_held_by_the_interval_or_there_is_no_such_clamp() -> None:
    """60 units in each bin up to 256 rows are many times the noise of a clamp at 4: only the caps are high enough."""
    asked = request("count_rows", table(histogram({1: 4000}, reach=60)))
    totals = offered(asked).need
    assert not isinstance(offered(asked).search, KnownClamp)
    clamp = known_clamp(asked, replace(totals, edges=(256,)), ONE)
    assert clamp is not None
    assert (clamp.edges[0], clamp.most, clamp.allowed(0)) == (256, 0, 0)


def test_totals_of_a_column_clamp_its_sum_also_in_groups() -> None:
    totals = Signed(histogram({4: 3000, 5: 900}, step=Fraction(1, 10)))
    facts = table(histogram({1: 3900}), totals=totals)
    for grouped in (False, True):
        asked = request("sum", facts, grouped=grouped)
        offer = offered(asked)
        assert isinstance(offer.search, KnownClamp)
        assert offer.search.edges[0] == 63  # 6.3, in steps of a tenth
        # Conditions may leave far less than facts tell: a clamp found for them errs less there.
        some = replace(asked, source=replace(asked.source, relation=Filter(asked.source.relation, COST)))
        assert not isinstance(offered(some).search, KnownClamp)
        assert known_clamp(some, offer.need, ONE) is not None


@pytest.mark.parametrize("case", ["two signs", "join", "nothing seen", "no facts"])
def test_where_facts_tell_nothing_a_part_of_the_price_searches(case: str) -> None:
    up = histogram({4: 3000})
    facts = table(histogram({}) if case == "nothing seen" else up, totals=Signed(up, up))
    asked = request("sum" if case == "two signs" else "count_rows", facts)
    scan = asked.source.relation
    assert isinstance(scan, Scan)
    if case == "join":
        asked = replace(asked, source=replace(asked.source, relation=Join(scan, Scan(VISITS, "t1"), ())))
    if case == "no facts":
        asked = replace(asked, source=replace(asked.source, relation=Scan(replace(scan.table, advised=None), "t0")))
    assert not isinstance(offered(asked).search, KnownClamp)
