"""Caps that are found privately: exact losses of whole transcripts, planted bugs, refusals, and what real SQL keeps."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

import duckdb
import numpy as np
import pytest

from dpsql.errors import UnsupportedQuery
from dpsql.mechanisms.base import Price, Refusal
from dpsql.mechanisms.capped.mechanism import SHARE, Capped
from dpsql.mechanisms.capped.quantile import CappedQuantile
from dpsql.mechanisms.capped.release import CappedRelease
from dpsql.mechanisms.capped.statistics import CappedStatistics
from dpsql.mechanisms.choice.groups import grouped
from dpsql.mechanisms.choice.landscape import Draw, landscape
from dpsql.plan.needs import Contribution
from dpsql.plan.types import Grid
from dpsql.privacy.kinds import Pure
from dpsql.privacy.loss import Composed
from dpsql.privacy.tables import RawTable
from dpsql.session import Session
from dpsql.sql.parse import parse
from dpsql.testing_samplers import FixedSampler, Noiseless
from tests.unit.mechanisms.asking import BY_RHO, CITY, OPEN, asking, offered
from tests.unit.mechanisms.capped.bugs import BUGS
from tests.unit.mechanisms.located.test_mechanism import Told, loss
from tests.unit.mechanisms.shop import policy, sessions

GRID = Grid(Fraction(1), 0, 200)
WIDE = Grid(Fraction(1), 0, 10**6)
MANY = Contribution(rows=10, groups=1, rows_in_group=10)
GROUPED = Contribution(rows=10, groups=3, rows_in_group=10)
ONE = Price(Fraction(1), Fraction(0))
DEAR = Price(Fraction(40), Fraction(0))
Unit = list[int]
"""The values of a unit's rows, in their secret order."""


def release_of(function: str, price: Price = ONE, grid: Grid = GRID, **more: Any) -> CappedRelease:
    more = {"held": MANY, **more}
    release = offered(Capped().offer(asking(function, grid=grid, price=price, **more)))
    assert isinstance(release, CappedQuantile | CappedStatistics)
    return release


def raw_of(release: CappedRelease, units: Sequence[Unit]) -> RawTable:
    """What an engine returns for these units, by another way: unit by unit."""
    edges, cells = release.search.edges, dict[tuple[int, int], list[int]]()
    for unit in units:
        for rank, value in enumerate(unit, 1):
            place = next(at for at, edge in enumerate(edges) if rank <= edge)
            cell = cells.setdefault((value, place), [0, 0])
            cell[0] += rank == len(unit)
            cell[1] += 1
    rows = [(0, value, place, *cell) for (value, place), cell in sorted(cells.items())]
    names = ("group", "value", "rank", "units", "rows")
    return RawTable({name: [row[at] for row in rows] for at, name in enumerate(names)}, size=1)


def crowd(seed: int, units: int) -> list[Unit]:
    random = np.random.default_rng(seed)
    return [random.integers(20, 60, size).tolist() for size in random.integers(1, 11, units)]


class Fixed(Told):
    """A sampler whose first noise, that of the sizes, makes them the same on two neighbours."""

    def __init__(self, seed: str, wanted: Sequence[int], exact: Sequence[int]) -> None:
        super().__init__(FixedSampler(seed))
        self.noise = np.array(wanted) - np.array(exact)

    def laplace(self, scale: Fraction, size: int) -> Any:
        drawn = super().laplace(scale, size)
        return self.noise if len(self.scales) == 1 else drawn


def of_draw(group: tuple[Any, Any], grid: Grid, draw: Draw, at: int) -> float:
    """The log of the chance that a draw takes a point, but for what the point itself weighs."""
    widths, scores = landscape(*group, grid, draw.rank, draw.deepest)
    weights = widths if draw.measure is None else draw.measure.within(widths)
    nats = scores.astype(float) * float(draw.exponent)
    place = int(np.searchsorted(np.cumsum(widths), at - grid.low, side="right"))
    return float(nats[place] - math.log(float((weights * np.exp(nats)).sum())))


def quantile_loss(release: CappedRelease, one: list[Unit], two: list[Unit], sizes: Sequence[int]) -> float:
    """How far apart the chances of one transcript with those noised sizes are, as a log of their ratio."""
    assert isinstance(release, CappedQuantile)
    raws, exact = [], []
    for units in (one, two):
        raws.append(raw_of(release, units))
        exact.append(release.search.counted(raws[-1], Noiseless()))
    told = Fixed("q", sizes, exact[0])
    release.release(raws[0], told)  # type: ignore[arg-type]  # it draws by these two calls alone
    real = float(sum(abs(a - b) for a, b in zip(*exact, strict=True)) / told.scales[0])
    believed = release.search.believed(sizes)
    best, widest = release.best(believed), release.widest(believed)
    ends = release._ends(believed, widest)
    answer = release.inners[best].answer(2 - len(ends))
    planned = [(best, answer), *((widest, ends[side]) for side in (-1, 1) if side in ends)]
    for (place, draw), (widths, exponent, index, offset) in zip(planned, told.choices, strict=True):
        assert draw.exponent == exponent
        groups = [next(iter(grouped(release.within(raw, place)))) for raw in raws]
        sides = [of_draw(group, GRID, draw, sum(widths[:index]) + offset) for group in groups]
        real += abs(sides[0] - sides[1])
    return float(real)


UNITS: tuple[Unit, ...] = ([0] * 10, [200] * 10, [45] * 10, [0, 200] * 5, [0], [200, 200, 200])
SEEN = ([900, 0, 0, 0, 0], [0, 0, 0, 0, 900], [200, 300, 300, 200, 200], [0] * 5)
"""Noised sizes: for a cap of 1, for none, for one between, and of which nothing can be seen."""


@pytest.mark.parametrize("neighbours", ["add_remove", "replace_one"])
@pytest.mark.parametrize("sizes", SEEN)
def test_no_transcript_of_a_quantile_tells_more_of_a_unit_than_epsilon(neighbours: str, sizes: list[int]) -> None:
    release, held = release_of("quantile_cont", neighbours=neighbours), crowd(1, 30)
    for unit in UNITS:
        other = [*held, [200] * 10] if neighbours == "replace_one" else held
        assert quantile_loss(release, [*held, unit], other, sizes) <= 1 + 1e-9


def statistics_loss(release: CappedRelease, one: list[Unit], two: list[Unit], cap: int, seed: str) -> float:
    """The same of a mean or a variance within one cap, the loss of the sizes included."""
    assert isinstance(release, CappedStatistics)
    raws = [raw_of(release, units) for units in (one, two)]
    exact = [release.search.counted(raw, Noiseless()) for raw in raws]
    real = float(sum(abs(a - b) for a, b in zip(*exact, strict=True)) / release.search.law.scale)
    inside: list[Counter[int]] = []
    for raw in raws:
        ((values, rows),) = grouped(release.within(raw, cap))
        inside.append(Counter(dict(zip(values.tolist(), rows.tolist(), strict=True))))
    return real + loss(release.inners[cap], inside[0], inside[1], seed)


@pytest.mark.parametrize("function", ["avg", "stddev_pop"])
@pytest.mark.parametrize("cap", [0, 2, 4])
def test_no_transcript_of_a_statistic_tells_more_of_a_unit_than_epsilon(function: str, cap: int) -> None:
    release, held = release_of(function, DEAR, WIDE), crowd(2, 400)
    reached = 0.0
    for at, unit in enumerate(([10**6] * 10, [0] * 10, [40] * 10, [0, 10**6, 10**6])):
        real = statistics_loss(release, [*held, unit], held, cap, f"{at}")
        assert real <= 40 + 1e-9
        reached = max(reached, real)
    assert reached > 20  # some unit is told of nearly as much as is charged


@pytest.mark.parametrize("bug", BUGS)
def test_planted_bugs_show_in_the_exact_loss(bug: Any) -> None:
    release, held = release_of("quantile_cont"), crowd(3, 30)
    with bug(CappedRelease):
        assert max(quantile_loss(release, [*held, unit], held, SEEN[0]) for unit in UNITS) > 1


def test_noise_for_one_unit_where_one_is_replaced_shows_in_the_exact_loss() -> None:
    release, held = release_of("quantile_cont", neighbours="replace_one"), crowd(4, 30)
    half = replace(release, search=replace(release.search, units=1, epsilon=4 * release.search.epsilon), notes=())
    one, two = [*held, [0] * 10], [*held, [200]]
    assert quantile_loss(release, one, two, SEEN[0]) <= 1 < quantile_loss(half, one, two, SEEN[0])


def test_a_mean_whose_sizes_noise_hides_has_the_cap_of_the_guess_and_a_quote_that_foretells_it() -> None:
    held, cheap = Contribution(rows=1024, groups=2, rows_in_group=1024), Price(Fraction(1, 5), Fraction(0))
    grid = Grid(Fraction(1, 1000), 500, 5_000)
    release = release_of("avg", cheap, grid, held=held, keys=(CITY,), rows_about=30_000)
    assert isinstance(release, CappedStatistics)
    hidden = release.search.believed([0] * 5 + [144, 173, 143, 114, 61, 36])  # of 671 people who rate films
    assert not hidden.rows
    expected = release.best(release.guess)
    assert release.best(hidden) == expected < len(release.search.edges) - 1
    assert release.half_width is not None
    assert release.half_width > 2  # so many units as are guessed would be hidden, too
    clear = release_of("avg", ONE, grid, held=held, keys=(CITY,), rows_about=3_000_000)
    assert clear.half_width is not None and clear.half_width < 1


def test_the_loss_is_the_price_however_it_is_named() -> None:
    for function, price in (("avg", ONE), ("quantile_disc", ONE), ("quantile_cont", BY_RHO), ("var_pop", BY_RHO)):
        release = release_of(function, price)
        assert isinstance(release.loss, Composed)
        sizes, answer = release.loss.parts
        assert isinstance(sizes, Pure)
        assert isinstance(answer, Pure)
        if price is ONE:
            assert sizes.epsilon == SHARE
            assert sizes.epsilon + answer.epsilon == 1
        assert release.search.epsilon == sizes.epsilon


def test_draws_of_a_quantile_cost_no_more_at_any_cap_by_rho() -> None:
    release = release_of("quantile_cont", BY_RHO, held=GROUPED, keys=(CITY,))
    assert isinstance(release, CappedQuantile)
    assert isinstance(release.loss, Composed)
    for inner in release.inners:
        assert isinstance(inner.loss, Pure)
        claimed = release.loss.parts[1]
        assert isinstance(claimed, Pure)
        assert inner.loss.epsilon <= claimed.epsilon
        assert (inner.loss.rho or 0) <= (claimed.rho or 0) <= Fraction(1, 8)


@pytest.mark.parametrize(
    ("function", "more", "why"),
    [
        ("avg", {"held": Contribution(2, 1, 2)}, "a unit has 2 rows at most; there is nothing to find"),
        ("avg", {"held": Contribution(1, 1, 1)}, "a unit has 1 row at most; there is nothing to find"),
        ("max", {}, "the one row that is asked for"),
        ("quantile_cont", {"held": GROUPED, "keys": (OPEN,)}, "here they are not"),
        ("avg", {"grid": None}, "no bounds"),
        ("sum", {}, "means and variances"),
        ("avg", {"price": Price(None, Fraction(0), rho=Fraction(1, 10**25))}, "too small"),
    ],
)
def test_it_says_why_it_makes_no_offer(function: str, more: dict[str, Any], why: str) -> None:
    answer = Capped().offer(asking(function, **{"held": MANY, "grid": GRID, **more}))
    assert isinstance(answer, Refusal)
    assert why in answer.reason


def test_a_cap_of_the_statement_or_the_policy_wins() -> None:
    asked = asking("avg", held=MANY, grid=GRID)
    own = asked.source
    for source in (replace(own, cap_rows=True), replace(own, cap_groups=True), replace(own, cap_rows_in_group=True)):
        answer = Capped().offer(replace(asked, source=source))
        assert isinstance(answer, Refusal)
        assert "bounds of its own" in answer.reason


def test_without_noise_the_median_is_that_of_the_rows_within_the_cap() -> None:
    release = release_of("quantile_cont")
    units = [*crowd(5, 2_000), *[[150] * 10] * 50]
    raw = raw_of(release, units)
    released = release.release(raw, Noiseless())
    cap = release.search.edges[released.columns["cap"][0]]
    kept = [value for unit in units for value in unit[:cap]]
    assert released.values[0] == pytest.approx(np.median(kept), abs=1)
    ((low, high),) = release.intervals(released, 0.95)
    assert low is not None
    assert high is not None
    assert low <= np.median([value for unit in units for value in unit]) <= high
    (told,) = release.told(released)
    assert f"at most {cap:,} rows of each unit count" in told or "all of a unit's rows count" in told


def test_units_of_many_rows_that_lie_apart_are_in_the_interval() -> None:
    release = release_of("quantile_cont", Price(Fraction(1, 2), Fraction(0)))
    units = [
        *[[30 + i % 20] for i in range(3_000)],
        *[[150] * 8 for _ in range(300)],
    ]  # 44% of the rows: a median of 47
    whole = float(np.median([value for unit in units for value in unit]))
    released = release.release(raw_of(release, units), FixedSampler("apart"))
    ((low, high),) = release.intervals(released, 0.95)
    assert low is not None
    assert high is not None
    assert low <= whole <= high


# ------------------------------------------------------------------------------------------------------- real SQL

SHOP = (
    "CREATE TABLE orders AS SELECT (i * i) % 701 AS customer, ['N', 'S', NULL][1 + i % 3] AS region, "
    "CASE WHEN i % 13 <> 0 THEN (i * 7919) % 97 END AS amount FROM range(3000) AS t(i)"
)
ORDERS = """
  orders:
    unit: customer
    rows_per_unit: 100
    columns:
      region: {type: text, values: [N, S], nullable: true}
      amount: {type: integer, bounds: [0, 1000], nullable: true}
"""


@pytest.fixture(scope="module")
def session(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Session]:
    yield from sessions(tmp_path_factory.mktemp("capped"), SHOP, policy(ORDERS))


def raw_by_sql(session: Session, sql: str, **options: Any) -> tuple[Any, RawTable]:
    statement: Any = parse(sql)
    plan: Any = session._plan(statement.select, ())
    prepared = session._prepare(plan, {"epsilon": 1, **options})
    return prepared.measured[0].choice.release, session._run(prepared.readings[0].statement)


def test_sql_ranks_the_rows_that_count_and_counts_each_unit_once(session: Session) -> None:
    release, raw = raw_by_sql(session, "SELECT MEDIAN(amount) FROM orders", mechanism="capped")
    with duckdb.connect() as connection:
        connection.execute(SHOP)
        sizes = connection.execute("SELECT COUNT(amount) FROM orders GROUP BY customer").fetchall()
    held = [n for (n,) in sizes if n]
    edges, counts = release.search.edges, release.search.counted(raw, Noiseless())
    assert counts == [sum(a < n <= b for n in held) for a, b in zip((0, *edges), edges, strict=False)]
    for place, edge in enumerate(edges):
        inside = release.within(RawTable({**_columns(raw), "group": [0] * len(raw)}, 1), place)
        assert sum(inside.column("rows")) == sum(min(n, edge) for n in held)


@pytest.mark.parametrize("sql", ["SELECT AVG(amount) FROM orders WHERE amount IS NOT NULL"])
def test_a_cap_keeps_the_rows_that_max_rows_contributed_keeps(session: Session, sql: str) -> None:
    release, raw = raw_by_sql(session, sql, mechanism="capped")
    whole = RawTable({**_columns(raw), "group": [0] * len(raw)}, 1)
    for place, edge in enumerate(release.search.edges[:-1]):
        _, own = raw_by_sql(session, sql, mechanism="located", max_rows_contributed=edge)
        inside = release.within(whole, place)
        assert [list(inside.column(name)) for name in ("value", "rows")] == [
            list(own.column(name)) for name in ("value", "rows")
        ]


def _columns(raw: RawTable) -> dict[str, Any]:
    return {name: raw.column(name) for name in ("value", "rank", "units", "rows")}


def test_it_is_taken_unasked_and_says_its_cap(session: Session) -> None:
    quote = session.explain("SELECT region, MEDIAN(amount) AS x FROM orders GROUP BY region", epsilon=1)
    assert quote.columns[-1].mechanism == "capped"
    assert any("how many rows of each unit serve best" in note for note in quote.notes)
    by_region = "SELECT region, STDDEV(amount) AS x, VAR_POP(amount) AS y FROM orders GROUP BY region"
    answer = session.query(by_region, epsilon=5)
    assert {m.mechanism for m in answer.measurements} == {"capped"}
    assert any("rows of each unit count" in note or "rows count" in note for note in answer.notes)
    assert not any("how many rows of each unit serve best" in note for note in answer.notes)  # said by that one
    assert session.query(by_region, epsilon=5).replayed


@pytest.mark.parametrize("function", ["AVG", "STDDEV", "VAR_POP"])
def test_a_statistic_is_foretold_alike_on_either_side_of_0(session: Session, function: str) -> None:
    quotes = [
        session.explain(f"SELECT region, {function}({x}) AS x FROM orders GROUP BY region", epsilon=5)
        for x in ("amount", "-amount", "amount - 1000000")
    ]
    (first, *others) = (quote.columns[-1] for quote in quotes)
    assert first.half_width > 0
    for other in others:
        assert other.mechanism == first.mechanism == "capped"
        assert other.half_width == pytest.approx(first.half_width, rel=0.5)


def test_rows_that_have_lost_their_unit_cannot_be_ranked(session: Session) -> None:
    kept = session.explain("SELECT MEDIAN(amount) FROM (SELECT amount FROM orders) AS o", epsilon=5)
    assert kept.columns[0].mechanism == "capped"
    lost = session.explain("SELECT MEDIAN(amount) FROM (SELECT DISTINCT amount, region FROM orders) AS o", epsilon=5)
    assert "have lost their privacy unit" in dict(lost.columns[0].others)["capped"]


def test_a_statement_with_a_cap_is_answered_otherwise(session: Session) -> None:
    quote = session.explain("SELECT AVG(amount) FROM orders", epsilon=1, max_rows_contributed=4)
    assert quote.columns[0].mechanism != "capped"
    with pytest.raises(UnsupportedQuery, match="bounds of its own"):
        session.query("SELECT AVG(amount) FROM orders", epsilon=1, max_rows_contributed=4, mechanism="capped")
