"""Located statistics: the exact loss of whole transcripts, what is answered without noise, intervals, the fallback."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from dpsql.mechanisms.base import Price, Refusal
from dpsql.mechanisms.choice.quantile import Rank, landscape
from dpsql.mechanisms.laplace import Laplace
from dpsql.mechanisms.located import release as placing
from dpsql.mechanisms.located.mechanism import AtOwnPlace
from dpsql.mechanisms.located.moments import LocatedMoments
from dpsql.mechanisms.located.parts import COUNT, FEWEST, MANY, shares_for
from dpsql.mechanisms.located.place import Bins, Clip, squares
from dpsql.mechanisms.located.release import LocatedMean, LocatedRelease
from dpsql.plan.needs import Contribution
from dpsql.plan.types import Grid
from dpsql.privacy.kinds import Pure
from dpsql.testing_samplers import FixedSampler, Noiseless
from tests.unit.mechanisms.asking import BY_RHO, CITY, COST, asking, counted, offered

WIDE = Grid(Fraction(1), 0, 10**6)
TEN = Price(Fraction(10), Fraction(0))
ONE = Price(Fraction(1), Fraction(0))
FOUR_ROWS = Contribution(rows=4, groups=1, rows_in_group=4)
FUNCTIONS = ("avg", "var_pop", "stddev_samp")

Counts = Counter[int]


def release_of(function: str = "avg", price: Price = ONE, grid: Grid = WIDE, **more: Any) -> LocatedRelease:
    release = offered(AtOwnPlace().offer(asking(function, grid=grid, price=price, **more)))
    assert isinstance(release, LocatedMean | LocatedMoments)
    return release


@dataclass
class Told:
    """A sampler that keeps its scales and choices."""

    inner: Any
    scales: list[Fraction] = field(default_factory=list)
    choices: list[tuple[list[int], Fraction, int, int]] = field(default_factory=list)

    def laplace(self, scale: Fraction, size: int) -> Any:
        self.scales.append(scale)
        return self.inner.laplace(scale, size)

    def intervals(self, widths: list[int], scores: list[int], exponent: Fraction) -> tuple[int, int]:
        index, offset = self.inner.intervals(widths, scores, exponent)
        self.choices.append((widths, exponent, index, offset))
        return index, offset


def arrays(rows: Counts) -> tuple[Any, Any]:
    values = np.array(sorted(rows), dtype=np.int64)
    return values, np.array([rows[int(v)] for v in values], dtype=np.int64)


def chosen(rows: Counts, grid: Grid, exponent: Fraction, centre: int) -> float:
    """The log of the chance that the exponential mechanism takes that centre."""
    points = grid.high - grid.low + 1
    deepest = math.ceil(Fraction(math.log(points) + 60 * math.log(2)) / exponent)
    widths, scores = landscape(*arrays(rows), grid, Rank(Fraction(1, 2)), deepest)
    weights = scores.astype(float) * float(exponent)
    at = int(np.searchsorted(np.cumsum(widths), centre - grid.low, side="right"))
    return float(weights[at] - np.log((widths * np.exp(weights - weights.max())).sum()) - weights.max())


def total_of(values: Any, occur: Any, clip: Clip) -> int:
    """The release's own sum, whatever was planted there."""
    return int(vars(placing)["total"](values, occur, clip))


def numbers(release: LocatedRelease, rows: Counts, row: dict[str, Any], centre: int | None) -> list[list[int]]:
    """The exact numbers behind each draw of noise, at what was released before it."""
    values, occur = arrays(rows)
    n = [int(occur.sum())]
    if centre is None:
        bounded = release.bounded  # type: ignore[attr-defined]  # both have one
        if isinstance(release, LocatedMean):
            clip = Clip(bounded.query.centre, 0, WIDE.low, WIDE.high, 0.0, 0.0, 0.0)
            return [n, [total_of(values, occur, clip)], n]
        shift = bounded.query.need.measures[1].shift
        clip = Clip(shift, 0, WIDE.low, WIDE.high, 0.0, 0.0, 0.0)
        return [n, n, [total_of(values, occur, clip)], [squares(values, occur, clip)]]
    clip = Clip(row["middle"], row["half"], row["low"], row["high"], 0.0, 0.0, 0.0)
    sums = [[total_of(values, occur, clip)]]
    sums += [[squares(values, occur, clip)]] if isinstance(release, LocatedMoments) else []
    return [n, Bins(WIDE).counts(values, occur, centre), *sums]


def loss(release: LocatedRelease, one: Counts, two: Counts, seed: str) -> float:
    """How far apart the chances of one transcript can be on two tables, at most, as a log of their ratio."""
    sampler = Told(FixedSampler(seed))
    released = release.release(counted(one), sampler)  # type: ignore[arg-type]  # it draws by these two calls alone
    row = {name: column[0] for name, column in released.columns.items()}
    centre, real = None, 0.0
    for widths, exponent, index, offset in sampler.choices:
        centre = WIDE.low + sum(widths[:index]) + offset
        real += abs(chosen(one, WIDE, exponent, centre) - chosen(two, WIDE, exponent, centre))
    pair = (numbers(release, rows, row, centre) for rows in (one, two))
    for scale, here, there in zip(sampler.scales, *pair, strict=True):
        real += sum(abs(a - b) for a, b in zip(here, there, strict=True)) / float(scale)
    return real


def table(seed: int, rows: int, place: float) -> Counts:
    values = np.random.default_rng(seed).lognormal(math.log(place), 0.8, rows)
    return Counter(int(v) for v in np.minimum(np.rint(values), 10**6))


@pytest.mark.parametrize("function", FUNCTIONS)
@pytest.mark.parametrize(("rows", "price"), [(3, ONE), (200, TEN), (3_000, ONE)])
def test_no_transcript_tells_more_of_a_unit_than_epsilon(function: str, rows: int, price: Price) -> None:
    release, held = release_of(function, price, held=FOUR_ROWS), table(rows, rows, 30_000.0)
    assert price.epsilon is not None
    epsilon = float(price.epsilon)
    largest = 0.0
    for at, unit in enumerate(([0] * 4, [10**6] * 4, [30_000] * 4, [29_000, 31_000, 10**6, 0], [10**6])):
        real = loss(release, held, held + Counter(unit), f"{at}")
        assert real <= epsilon * len(unit) / 4 + 1e-9
        largest = max(largest, real / epsilon)
    assert largest > 0.7  # some unit is told of nearly as much as is charged: rows at the bounds


def test_the_loss_is_the_price_however_it_is_named() -> None:
    for price in (ONE, BY_RHO):
        release = release_of(price=price)
        assert isinstance(release.loss, Pure)
        assert release.loss == offered(Laplace().offer(asking("sum", price=price))).loss
    assert release_of(held=FOUR_ROWS, neighbours="replace_one").query.moved == 8


def test_shares_of_the_price_add_up_to_all_of_it() -> None:
    for size in (FEWEST, 400, 5_000, 10**9):
        shares = shares_for(size, 1.0)
        assert shares is not None
        assert COUNT + shares.centre + shares.tails + shares.answer == 1
        assert min(shares.centre, shares.tails, shares.answer) > 0
    assert shares_for(FEWEST - 1, 1.0) is None
    assert shares_for(10**9, 1.0) == MANY
    release = release_of()
    assert isinstance(release, LocatedMean)
    query, law = release.bounded.query, release.bounded.count_law
    assert law is not None
    assert query.count_sensitivity is not None
    spent = query.sum_sensitivity.l1 / release.bounded.sum_law.scale + query.count_sensitivity.l1 / law.scale  # type: ignore[attr-defined]  # Laplace laws
    assert spent == 1 - COUNT


@pytest.mark.parametrize("function", FUNCTIONS)
def test_without_noise_it_is_the_statistic_of_what_lies_in_the_window(function: str) -> None:
    rows = Counter({40_000 + 7 * k: 1 + k % 3 for k in range(2_000)})
    value = float(release_of(function).release(counted(rows), Noiseless()).values[0])
    every = np.repeat(*arrays(rows))
    truth = {"avg": every.mean(), "var_pop": every.var(), "stddev_samp": every.std(ddof=1)}[function]
    assert value == pytest.approx(truth, rel=1e-9)


@pytest.mark.parametrize("function", FUNCTIONS)
@pytest.mark.parametrize("rows", [{}, {10**6: 1}, {0: 40, 10**6: 40}])
def test_few_rows_get_what_the_bounded_mechanism_says(function: str, rows: dict[int, int]) -> None:
    release = release_of(function)
    released = release.release(counted(rows), Noiseless())
    assert released.columns["middle"] == [None]
    every = np.repeat(*arrays(Counter(rows))) if rows else np.array([])
    if len(every) > 1:
        truth = {"avg": every.mean(), "var_pop": every.var(), "stddev_samp": every.std(ddof=1)}[function]
        assert float(released.values[0]) == pytest.approx(truth)
    ((low, high),) = release.intervals(released, 0.95)
    assert low is not None
    assert high is not None
    assert 0 <= low <= high


def test_where_the_rows_are_is_found_and_gains() -> None:
    for place, spread in ((180_000, 20_000), (32_000, 6_000)):
        rng = np.random.default_rng(place)
        rows = Counter(int(v) for v in np.clip(rng.normal(place, spread, 2_000), 0, 10**6))
        truth = sum(v * n for v, n in rows.items()) / 2_000
        release, sampler, data = release_of(), FixedSampler(place), counted(rows)
        answers = [float(release.release(data, sampler).values[0]) for _ in range(40)]
        error = math.sqrt(np.mean([(x - truth) ** 2 for x in answers]))
        noise = 10**6 / 2 / 2_000 * math.sqrt(2) * 2  # of a sum within the bounds, at half of the price
        assert error < noise / 5


@pytest.mark.parametrize("function", FUNCTIONS)
def test_intervals_hold_the_truth_of_skewed_rows(function: str) -> None:
    release, sampler, held, draws = release_of(function), FixedSampler(function), 0, 40
    for seed in range(4):
        rows = table(seed, 2_000, 20_000.0)
        every, data = np.repeat(*arrays(rows)), counted(rows)
        truth = {"avg": every.mean(), "var_pop": every.var(), "stddev_samp": every.std(ddof=1)}[function]
        for _ in range(draws // 4):
            ((low, high),) = release.intervals(release.release(data, sampler), 0.95)
            assert low is not None
            assert high is not None
            held += low <= truth <= high
    assert held >= 0.9 * draws  # the stream is the same in every run


def test_the_choice_is_by_what_may_be_gained() -> None:
    def better(**more: Any) -> bool:
        asked = asking("avg", price=ONE, **more)
        return offered(AtOwnPlace().offer(asked)).expected_error < offered(Laplace().offer(asked)).expected_error

    wide = replace(COST.facts, high=Fraction(10**6))
    assert better(grid=WIDE, facts=wide)
    assert better(grid=WIDE, facts=wide, rows_about=50)  # a guess may be far too low, and trying costs little
    assert not better(grid=WIDE, facts=wide, rows_about=1)
    assert not better(grid=WIDE, facts=replace(wide, spread=Fraction(300_000)))
    assert not better(grid=Grid(Fraction(1), 1, 5))


@pytest.mark.parametrize(
    ("asked", "reason"),
    [
        (asking("median_of", grid=WIDE), "means and variances"),
        (asking("avg", grid=None), "no bounds"),
        (asking("avg", grid=Grid(Fraction(1), 3, 3)), "one value only"),
        (asking("var_pop", grid=Grid(Fraction(1), 0, 2**50)), "too fine"),
        (asking("avg", keys=(replace(CITY, domain=tuple(str(k) for k in range(6_000))),)), "only by name"),
    ],
)
def test_what_it_does_not_answer_is_refused_in_a_sentence(asked: Any, reason: str) -> None:
    answer = AtOwnPlace().offer(asked)
    assert isinstance(answer, Refusal)
    assert reason in answer.reason


def test_statistics_of_the_same_values_are_one_release() -> None:
    asked = [asking(function, grid=WIDE, price=ONE) for function in ("avg", "var_pop", "stddev_samp")]
    (joint,) = AtOwnPlace().together(asked)
    assert (joint.members, joint.places) == ((0, 1, 2), (0, 1, 2))
    assert joint.loss == Pure(Fraction(3))
    for rows in (table(9, 2_000, 30_000.0), Counter({7: 3, 900: 4})):
        every = np.repeat(*arrays(rows))
        released = joint.offers[0].release(counted(rows), Noiseless())
        for offer, truth in zip(joint.offers, (every.mean(), every.var(), every.std(ddof=1)), strict=True):
            own = released.place(offer.at)  # type: ignore[attr-defined]  # of several places
            assert float(own.values[0]) == pytest.approx(truth, rel=0.01)
            ((low, high),) = offer.intervals(own, 0.95)
            assert low is not None
            assert high is not None
            assert low <= truth <= high
    assert AtOwnPlace().together(asked[:1]) == []
    assert AtOwnPlace().together([asked[0], asked[0]]) == []  # identical ones are measured once anyway
    other = asking("var_pop", grid=replace(WIDE, high=5_000), price=ONE)
    assert AtOwnPlace().together([asked[0], other]) == []
