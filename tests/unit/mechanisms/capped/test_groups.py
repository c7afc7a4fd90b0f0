"""Caps of groups that are found privately: exact losses of whole transcripts, planted bugs, refusals, and real SQL."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

import duckdb
import numpy as np
import numpy.typing as npt
import pytest

from dpsql.mechanisms.base import Price, Refusal
from dpsql.mechanisms.capped.groups import CappedThreshold, worst
from dpsql.mechanisms.capped.mechanism import SHARE, Capped
from dpsql.mechanisms.capped.sizes import HIDDEN
from dpsql.mechanisms.gaussian_threshold import GaussianThreshold
from dpsql.mechanisms.noise.laws import GaussianLaw, LaplaceLaw, Law
from dpsql.mechanisms.noise.thresholds import ThresholdRelease
from dpsql.plan.needs import Contribution
from dpsql.plan.options import Options
from dpsql.privacy.kinds import Approximate, Concentrated, Pure
from dpsql.privacy.loss import Composed
from dpsql.privacy.tables import RawTable
from dpsql.session import Session
from dpsql.testing_samplers import Noiseless
from tests.unit.mechanisms.asking import ConstantNoise, selecting
from tests.unit.mechanisms.capped.bugs import BUGS
from tests.unit.mechanisms.capped.test_mechanism import raw_by_sql
from tests.unit.mechanisms.shop import policy, sessions

SMALL = Price(Fraction(2), Fraction(1, 20))
BY_RHO = Price(None, Fraction(1, 20), rho=Fraction(1, 2))
Unit = Sequence[int]
"""The groups of a unit, in its secret order."""


def touching(groups: int) -> Contribution:
    """One unit, in so many groups, with rows enough."""
    return Contribution(rows=2 * groups, groups=groups, rows_in_group=2 * groups)


def release_of(groups: int = 3, price: Price = SMALL, **more: Any) -> CappedThreshold:
    release = Capped().offer(selecting("count_units", held=touching(groups), price=price, **more))
    assert isinstance(release, CappedThreshold), release
    return release


def raw_of(release: CappedThreshold, units: Sequence[Unit], groups: int) -> RawTable:
    """What an engine returns for these units, by another way: unit by unit."""
    cells: dict[tuple[int, int], list[int]] = {}
    for unit in units:
        for rank, group in enumerate(unit, 1):
            place = next(at for at, edge in enumerate(release.search.edges) if rank <= edge)
            cell = cells.setdefault((group, place), [0, 0])
            cell[0] += rank == len(unit)
            cell[1] += 1
    rows = [(group, 1, place, *cell) for (group, place), cell in sorted(cells.items())]
    names = ("group", "value", "rank", "units", "rows")
    return RawTable({name: [row[at] for row in rows] for at, name in enumerate(names)}, size=groups)


# ------------------------------------------------------------------------------- the theorem, by enumeration


def chances(law: Law, at: npt.NDArray[np.int64]) -> npt.NDArray[np.float64]:
    """Of noise, up to a factor that is the same for all."""
    if isinstance(law, GaussianLaw):
        return np.exp(-(at**2) / (2 * float(law.variance)))
    assert isinstance(law, LaplaceLaw)
    return np.exp(-np.abs(at) / float(law.scale))


def shown(count: int, law: Law, above: int, longest: int) -> npt.NDArray[np.float64]:
    """Chances of silence, then of each value above the threshold, up to where next to nothing is left."""
    if count == 0:
        return np.array([1.0, *[0.0] * longest])
    noise = np.arange(-20 * longest, 20 * longest + 1)
    whole = float(chances(law, noise).sum())
    seen = chances(law, np.arange(above + 1, above + 1 + longest) - count) / whole
    return np.array([1 - seen.sum(), *seen])


def transcript(release: CappedThreshold, raw: RawTable, place: int) -> npt.NDArray[np.float64]:
    """The law of all groups together at one cap."""
    inner, law = release.inners[place], np.ones(())
    longest = math.ceil(9 * inner.law.spread) + 8
    for count in release.within(raw, place).column("m0"):
        law = np.multiply.outer(law, shown(int(count), inner.law, inner.threshold, longest))
    return law


def overspent(release: CappedThreshold, one: Sequence[Unit], two: Sequence[Unit]) -> float:
    """The largest delta over what is charged, at any cap: a transcript of the sizes tells their own loss already."""
    account = release.loss.priced()
    epsilon, delta = account.epsilon, account.delta
    assert epsilon is not None
    raws = [raw_of(release, units, 3) for units in (one, two)]
    sizes = [release.search.counted(raw, Noiseless()) for raw in raws]
    told = sum(abs(a - b) for a, b in zip(*sizes, strict=True)) / release.search.law.scale
    left = math.exp(epsilon * 1e-12 - float(told))
    found = 0.0
    for place in range(len(release.inners)):
        p, q = (transcript(release, raw, place) for raw in raws)
        gaps = (p - left * q, q - left * p)
        found = max(found, *(float(gap[gap > 0].sum()) for gap in gaps))
    return found / (float(delta) * 1e-18)


UNITS: tuple[Unit, ...] = ([0, 1, 2], [2, 1, 0], [1], [2, 0], [])
HELD: tuple[Sequence[Unit], ...] = ([], [[0], [0, 1], [1, 0, 2]], [[0]] * 6 + [[1, 0]] * 5)


@pytest.mark.parametrize("neighbours", ["add_remove", "replace_one"])
@pytest.mark.parametrize("strategy", ["LAPLACE_THRESHOLD", "GAUSSIAN_THRESHOLD"])
def test_no_transcript_tells_more_of_a_unit_than_epsilon_and_delta(strategy: str, neighbours: str) -> None:
    release = release_of(neighbours=neighbours, options=Options(group_selection_strategy=strategy))
    law = LaplaceLaw if strategy == "LAPLACE_THRESHOLD" else GaussianLaw
    assert all(isinstance(inner.law, law) for inner in release.inners)
    reached = 0.0
    for held in HELD:
        for unit in UNITS:
            for other in UNITS if neighbours == "replace_one" else ([],):
                real = overspent(release, [*held, unit], [*held, other])
                assert real <= 1 + 1e-9
                reached = max(reached, real)
    assert reached > 0.4  # a unit alone in its groups uses much of delta up


@pytest.mark.parametrize("bug", BUGS)
def test_planted_bugs_show_in_the_exact_loss(bug: Any) -> None:
    release = release_of()
    with bug(CappedThreshold):
        assert max(overspent(release, [*held, unit], held) for held in HELD for unit in UNITS) > 1


def test_noise_for_one_unit_where_one_is_replaced_shows_in_the_exact_loss() -> None:
    release = release_of(neighbours="replace_one")
    half = replace(release, search=replace(release.search, units=1, epsilon=4 * release.search.epsilon), notes=())
    one, two = [*HELD[2], [0, 1, 2]], [*HELD[2], [2]]
    assert overspent(release, one, two) <= 1 < overspent(half, one, two)


def test_the_loss_is_the_price_and_covers_every_cap() -> None:
    for price in (SMALL, BY_RHO):
        for strategy, kind in (("LAPLACE_THRESHOLD", Approximate), ("GAUSSIAN_THRESHOLD", Concentrated)):
            release = release_of(40, price, options=Options(group_selection_strategy=strategy))
            assert isinstance(release.loss, Composed)
            sizes, answer = release.loss.parts
            assert isinstance(sizes, Pure)
            assert isinstance(answer, kind)
            assert answer == worst(release.inners)
            for inner in release.inners:
                own, whole = inner.loss.priced(), answer.priced()
                assert own.rho <= whole.rho
                assert own.delta <= whole.delta
            if price is SMALL:
                assert sizes.epsilon == 2 * SHARE
                assert sizes.epsilon + (answer.epsilon or 0) == 2


# -------------------------------------------------------------------------------------- offers, caps, intervals


@pytest.mark.parametrize(
    ("more", "why"),
    [
        ({"held": touching(2)}, "in 2 groups at most"),
        ({"options": Options(max_groups_per_unit=5)}, "bounds of its own"),
        ({"options": Options(max_rows_contributed=5)}, "bounds of its own"),
        ({"price": Price(Fraction(1), Fraction(0))}, "needs delta"),
        ({"price": Price(None, Fraction(1, 10**6), rho=Fraction(1, 10**25))}, "too small"),
        ({"rows_about": 10**7}, None),
    ],
)
def test_it_says_why_it_makes_no_offer(more: dict[str, Any], why: str | None) -> None:
    answer = Capped().offer(selecting("count_units", **{"held": touching(40), **more}))
    if why is None:
        assert isinstance(answer, CappedThreshold)  # the guess of the groups' rows says nothing of the table's
    else:
        assert isinstance(answer, Refusal)
        assert why in answer.reason


def test_another_number_than_that_of_units_chooses_no_groups() -> None:
    answer = Capped().offer(selecting("sum", held=touching(40)))
    assert isinstance(answer, Refusal)
    assert "by their number of units" in answer.reason


def test_a_cap_of_the_policy_is_where_the_search_starts() -> None:
    asked = selecting("count_units", held=touching(40))
    capped = replace(asked, source=replace(asked.source, cap_groups=True))
    release = Capped().offer(capped)
    assert isinstance(release, CappedThreshold)
    assert release.search.edges == (1, 2, 4, 8, 16, 32, 40)


def crowd(seed: int, units: int, most: int, groups: int) -> list[Unit]:
    random = np.random.default_rng(seed)
    return [random.permutation(groups)[:size].tolist() for size in random.integers(1, most + 1, units)]


SOME = Price(Fraction(1), Fraction(1, 10**6))


def test_the_cap_is_near_what_units_have_and_groups_appear_that_a_wide_cap_would_hide() -> None:
    release, units = release_of(1000, SOME), crowd(1, 3_000, 6, 60)
    raw = raw_of(release, units, 60)
    released = release.release(raw, Noiseless())
    cap = release.search.edges[released.columns["cap"][0]]
    assert cap in (4, 8)
    assert len(release.selected(released)) == 60
    assert release.inners[-1].threshold > max(released.values) > min(released.values) > release.appears_from(released)
    (told,) = release.told(released)
    assert f"at most {cap} groups of each unit count" in told


@pytest.mark.parametrize("heavy", [0, 60, 400])
def test_without_noise_intervals_hold_the_units_that_the_cap_leaves_out(heavy: int) -> None:
    release = release_of(200, SOME)
    units = [*crowd(2, 5_000, 6, 40), *crowd(3, heavy, 40, 40)]
    true = np.bincount([group for unit in units for group in unit], minlength=40)
    released = release.release(raw_of(release, units, 40), Noiseless())
    cap, ends = released.columns["cap"][0], release.intervals(released, 0.95)
    for (low, high), n, noised in zip(ends, true, released.values, strict=True):
        assert low is not None
        assert high is not None
        reach = release.inners[cap].law.quantile(0.95)
        assert noised - reach <= low <= n <= high - reach  # all that was left out is in it, beside the noise


def test_where_nothing_is_seen_the_guess_stands() -> None:
    release = release_of(200, SOME)
    released = release.release(raw_of(release, [[0], [0, 1]], 2), ConstantNoise(10**6))
    believed = release.best(release.search.believed([0] * 9))
    assert believed == release.best(release.guess)
    assert released.columns["cap"] == [len(release.inners) - 1] * 2  # of a million units of each size none is cut
    nothing = release.release(raw_of(release, [], 0), Noiseless())
    assert release.intervals(nothing, 0.95) == []
    assert release.told(nothing) == ()


def test_what_a_cap_leaves_out_is_what_units_of_many_groups_are_expected_to_miss() -> None:
    release = release_of(40, SOME)
    sizes = release.search.believed([0, 0, 0, 0, 0, 1_000, 0])  # about 24 groups each
    assert release.search.edges[4] == 16
    share = 1 - 16 / 24
    assert sizes.left_out(4) == pytest.approx(1_000 * share + 2 * math.sqrt(1_000 * share * (1 - share)))
    assert sizes.left_out(5) == sizes.left_out(6) == 0
    quiet, noisy = replace(sizes, noise=0.0), replace(sizes, noise=80.0)
    beyond = [1 - 16 / 24, 1 - 16 / 33]  # what a unit of each class above the cap is expected to miss
    spread, hidden = 2 * math.sqrt(1_000 * share * (1 - share)), HIDDEN * math.sqrt(2) * 80 * math.hypot(*beyond)
    assert noisy.left_out(4) == quiet.left_out(4, HIDDEN) == quiet.left_out(4)
    assert noisy.left_out(4, HIDDEN) == pytest.approx(1_000 * share + math.hypot(spread, hidden))  # 19 times of 20


# ------------------------------------------------------------------------------------------------------- real SQL

SHOP = (
    "CREATE TABLE orders AS SELECT (i * i) % 701 AS customer, 'item ' || (i * 31) % 37 AS item, i % 3 AS day "
    "FROM range(3000) AS t(i)"
)
ORDERS = """
  orders:
    unit: customer
    rows_per_unit: 180
    columns:
      item: {type: text, nullable: true}
      day: {type: integer}
"""
ITEMS = "SELECT item, COUNT(DISTINCT customer) AS n FROM orders GROUP BY item"


@pytest.fixture(scope="module")
def session(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Session]:
    yield from sessions(tmp_path_factory.mktemp("capped_groups"), SHOP, policy(ORDERS, delta=True))


def test_sql_ranks_each_units_groups_once_and_caps_keep_as_many(session: Session) -> None:
    release, raw = raw_by_sql(session, ITEMS)
    assert isinstance(release, CappedThreshold)
    with duckdb.connect() as connection:
        connection.execute(SHOP)
        held = [
            n for (n,) in connection.execute("SELECT COUNT(DISTINCT item) FROM orders GROUP BY customer").fetchall()
        ]
        true = dict(connection.execute("SELECT item, COUNT(DISTINCT customer) FROM orders GROUP BY item").fetchall())
    edges, counts = release.search.edges, release.search.counted(raw, Noiseless())
    assert edges[-1] == 180
    assert counts == [sum(a < n <= b for n in held) for a, b in zip((0, *edges), edges, strict=False)]
    (key,) = release.need.source.key_names
    groups = sorted({group for (group,) in raw.groups([key])})
    own = raw.by_group([key], [(group,) for group in groups], release.need.columns)
    for place, edge in enumerate(edges):
        assert sum(release.within(own, place).column("m0")) == sum(min(n, edge) for n in held)
    assert dict(zip(groups, release.within(own, len(edges) - 1).column("m0"), strict=True)) == true


def test_an_answer_and_its_quote_say_the_way_its_price_and_the_cap(session: Session) -> None:
    quote = str(session.explain(ITEMS))
    assert "12.5% of its price finds in how many groups each unit counts" in quote
    assert "gaussian_threshold" in quote
    answer = session.query(ITEMS, epsilon=20)
    notes = " ".join(answer.measurements[0].notes)
    assert "groups of each unit count" in notes
    assert "its interval allows for it" in notes
    assert len(answer.rows) == 37
    assert session.query(ITEMS, epsilon=20).replayed


def test_other_aggregates_are_measured_over_the_groups_that_it_chose(session: Session) -> None:
    answer = session.query("SELECT item, COUNT(*) AS n FROM orders GROUP BY item", epsilon=20)
    assert next(m.mechanism for m in answer.measurements) == "capped"
    with duckdb.connect() as connection:
        connection.execute(SHOP)
        assert dict(answer.rows) == dict(
            connection.execute("SELECT item, COUNT(*) FROM orders GROUP BY item").fetchall()
        )


def test_a_cap_of_the_statement_is_kept(session: Session) -> None:
    for quote in (session.explain(ITEMS, max_groups_per_unit=8), session.explain(ITEMS, max_rows_contributed=8)):
        assert quote.columns[-1].mechanism == "gaussian_threshold"


def test_a_tight_cap_is_not_searched_below() -> None:
    asked = selecting("count_units", held=touching(5), price=SOME)
    release, whole = Capped().offer(asked), GaussianThreshold().offer(asked)
    assert isinstance(release, CappedThreshold)
    assert isinstance(whole, ThresholdRelease)
    assert release.expected_error > whole.expected_error


def test_before_an_answer_a_group_appears_from_the_threshold_and_what_the_cap_leaves_out_on() -> None:
    release = release_of(1000, Price(Fraction(1, 10), Fraction(1, 10**6)))
    place = release.best(release.guess)
    assert release.guess.left_out(place) > 0
    assert release.appears_from() == release.inners[place].threshold + math.ceil(release.guess.left_out(place))
