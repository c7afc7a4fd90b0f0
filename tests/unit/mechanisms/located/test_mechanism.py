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
from dpsql.mechanisms.choice.landscape import Rank, landscape
from dpsql.mechanisms.laplace import Laplace
from dpsql.mechanisms.located import release as placing
from dpsql.mechanisms.located.mechanism import AtOwnPlace
from dpsql.mechanisms.located.moments import LocatedMoments
from dpsql.mechanisms.located.parts import COUNT, FEWEST, MANY, few_shares, shares_for
from dpsql.mechanisms.located.place import Bins, Clip, squares
from dpsql.mechanisms.located.release import LocatedMean, LocatedRelease
from dpsql.plan.needs import Contribution
from dpsql.plan.types import Grid
from dpsql.privacy.inversion import one_by_one
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
    flips: list[tuple[list[int], Fraction, int]] = field(default_factory=list)

    def laplace(self, scale: Fraction, size: int) -> Any:
        self.scales.append(scale)
        return self.inner.laplace(scale, size)

    def permute_and_flip(self, scores: list[int], exponent: Fraction) -> int:
        index = int(self.inner.permute_and_flip(scores, exponent))
        self.flips.append((scores, exponent, index))
        return index

    def intervals(self, widths: list[int], scores: list[int], exponent: Fraction) -> tuple[int, int]:
        index, offset = self.inner.intervals(widths, scores, exponent)
        self.choices.append((widths, exponent, index, offset))
        return index, offset

    def intervals_of_each(self, starts: Any, widths: Any, scores: Any, exponent: Fraction) -> Any:
        return one_by_one(self.intervals, starts, widths, scores, exponent)


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
    return int(*vars(placing)["totals"]([(values, occur)], clip))


def flipped(scores: list[int], exponent: Fraction, index: int) -> float:
    """The log of the chance that permute-and-flip takes one of a few: the mean of 1 / how many come up beside it."""
    up = np.exp(float(exponent) * (np.array(scores, dtype=float) - max(scores)))
    nodes, weights = np.polynomial.legendre.leggauss(40)  # exact for products of so few
    others = 1 - np.outer((nodes + 1) / 2, np.delete(up, index))
    return math.log(float(up[index]) * float((weights / 2 * others.prod(axis=1)).sum()))


def numbers(release: LocatedRelease, rows: Counts, row: dict[str, Any], centre: int | None) -> list[list[int]]:
    """The exact numbers behind each draw of noise, at what was released before it."""
    values, occur = arrays(rows)
    n = [int(occur.sum())]
    clip = Clip(row["middle"], row["half"], row["low"], row["high"], 0.0, 0.0, 0.0)
    sums = [[total_of(values, occur, clip)]]
    sums += [squares([(values, occur)], clip)] if isinstance(release, LocatedMoments) else []
    beyond = occur[(values < row["low"]) | (values > row["high"])].sum()
    more = [] if row["beyond"] is None else [[int(beyond)]]
    return [n, n if centre is None else Bins(WIDE).counts(values, occur, centre), *more, *sums]


def clamp_scores(release: LocatedRelease, rows: Counts) -> list[int]:
    """The scores of the clamps, all rows being of groups that have few."""
    search = release._search
    assert search is not None
    return search.scores(release.query.clamps.counts([arrays(rows)]))


def loss(release: LocatedRelease, one: Counts, two: Counts, seed: str) -> float:
    """How far apart the chances of one transcript can be on two tables, at most, as a log of their ratio."""
    sampler = Told(FixedSampler(seed))
    released = release.release(counted(one), sampler)  # type: ignore[arg-type]  # it draws by these two calls alone
    row = {name: column[0] for name, column in released.columns.items()}
    centre, real = None, 0.0
    for widths, exponent, index, offset in sampler.choices:
        centre = WIDE.low + sum(widths[:index]) + offset
        real += abs(chosen(one, WIDE, exponent, centre) - chosen(two, WIDE, exponent, centre))
    for scores, exponent, index in sampler.flips:
        assert scores == clamp_scores(release, one)
        real += abs(flipped(scores, exponent, index) - flipped(clamp_scores(release, two), exponent, index))
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
    for power in (1, 2):
        one, many = few_shares(power, 1), few_shares(power, 2)
        assert COUNT + one.again + one.answer == COUNT + many.centre + many.again + many.answer == 1
        assert one.centre == 0 < many.centre
        counted_too = few_shares(power, 2, counted=True)
        assert COUNT + counted_too.centre + counted_too.again + counted_too.beyond + counted_too.answer == 1


@pytest.mark.parametrize("function", FUNCTIONS)
def test_without_noise_it_is_the_statistic_of_what_lies_in_the_window(function: str) -> None:
    rows = Counter({40_000 + 7 * k: 1 + k % 3 for k in range(2_000)})
    value = float(release_of(function).release(counted(rows), Noiseless()).values[0])
    every = np.repeat(*arrays(rows))
    truth = {"avg": every.mean(), "var_pop": every.var(), "stddev_samp": every.std(ddof=1)}[function]
    assert value == pytest.approx(truth, rel=1e-9)


def ends_of(release: LocatedRelease, released: Any) -> tuple[float, float]:
    ((low, high),) = release.intervals(released, 0.95)
    assert type(low) is type(high) is float  # plain, not numpy's
    return low, high


def truth_of(function: str, rows: Counts) -> float:
    every = np.repeat(*arrays(rows))
    return float({"avg": every.mean(), "var_pop": every.var(), "stddev_samp": every.std(ddof=1)}[function])


@pytest.mark.parametrize("function", FUNCTIONS)
def test_without_noise_few_rows_are_clipped_to_one_clamp(function: str) -> None:
    release, rows = release_of(function), Counter({10: 80, 900: 120})
    released = release.release(counted(rows), Noiseless())
    assert released.columns["clamp"] == [0]
    assert released.columns["high"] == [10**6 // 1024]
    assert float(released.values[0]) == pytest.approx(truth_of(function, rows))
    low, high = ends_of(release, released)
    assert low <= truth_of(function, rows) <= high


@pytest.mark.parametrize(
    ("function", "rows", "largest"),
    [
        ("var_pop", {}, 10**12 / 4),
        ("stddev_samp", {}, 10**6 / math.sqrt(2)),
        ("stddev_samp", {50: 1}, 10**6 / math.sqrt(2)),
    ],
)
def test_too_few_rows_give_the_largest_variance_of_the_bounds_and_not_of_a_window(
    function: str, rows: dict[int, int], largest: float
) -> None:
    release = release_of(function)
    released = release.release(counted(rows), Noiseless())
    assert released.values == [pytest.approx(largest)]
    low, high = ends_of(release, released)
    assert low == 0
    assert high == pytest.approx(largest)


@pytest.mark.parametrize("function", FUNCTIONS)
@pytest.mark.parametrize("rows", [{}, {10**6: 1}, {900_000: 20, 10**6: 10}])
def test_where_rows_cannot_tell_their_place_the_interval_reaches_to_the_bounds(
    function: str, rows: dict[int, int]
) -> None:
    release = release_of(function)
    released = release.release(counted(rows), Noiseless())
    place = released.columns["clamp"][0]
    assert place == release.query.clamps.guess  # what public facts say stands
    high = ends_of(release, released)[1]
    assert high == (10**6 if function == "avg" else pytest.approx(10**12 / 4 if "var" in function else 5 * 10**5, 0.5))


def test_groups_with_few_rows_share_a_clamp_and_others_have_a_place_of_their_own() -> None:
    release = release_of(keys=(CITY,))
    rng = np.random.default_rng(8)
    groups = [
        Counter(int(v) for v in rng.normal(place, 30, n)) for place, n in ((300, 100), (500, 150), (70_000, 4_000))
    ]
    released = release.release(counted(*groups), Noiseless())
    clamps = released.columns["clamp"]
    assert clamps[0] == clamps[1] is not None
    assert clamps[2] is None
    for value, rows, (low, high) in zip(released.values, groups, release.intervals(released, 0.95), strict=True):
        assert low is not None
        assert high is not None
        assert low <= truth_of("avg", rows) <= high
        assert float(value) == pytest.approx(truth_of("avg", rows), rel=0.01)
    assert any("rows of groups that have few" in note for note in release.told(released))


@pytest.mark.parametrize("function", FUNCTIONS)
def test_intervals_hold_the_truth_of_few_skewed_rows(function: str) -> None:
    release, sampler, held, draws = release_of(function), FixedSampler(function), 0, 60
    for seed in range(6):
        rows = table(seed, 200, 2_000.0 * (seed + 1))
        data, truth = counted(rows), truth_of(function, rows)
        for _ in range(draws // 6):
            low, high = ends_of(release, release.release(data, sampler))
            held += low <= truth <= high
    assert held >= 0.9 * draws  # the stream is the same in every run


def test_few_rows_in_wide_bounds_gain_by_the_clamp() -> None:
    release, sampler, rows = release_of(price=ONE), FixedSampler(5), table(3, 200, 2_000.0)
    answers = [float(release.release(counted(rows), sampler).values[0]) for _ in range(60)]
    error = math.sqrt(np.mean([(x - truth_of("avg", rows)) ** 2 for x in answers]))
    assert error < 10**6 / 2 / 200 * math.sqrt(2) / 5  # of a sum within the bounds, at the whole price


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
        truth = float({"avg": every.mean(), "var_pop": every.var(), "stddev_samp": every.std(ddof=1)}[function])
        for _ in range(draws // 4):
            ((low, high),) = release.intervals(release.release(data, sampler), 0.95)
            assert low is not None
            assert high is not None
            held += low <= truth <= high
    assert held >= 0.9 * draws  # the stream is the same in every run


@pytest.mark.every(3)
@pytest.mark.parametrize("epsilon", [1, 10])
@pytest.mark.parametrize("function", FUNCTIONS)
@pytest.mark.parametrize("rows", [30, 2_000, 20_000])
def test_the_half_width_is_foretold_with_what_the_interval_counts_outside(
    function: str, rows: int, epsilon: int
) -> None:
    wide = replace(COST.facts, high=Fraction(10**6), centre=Fraction(30_000), spread=Fraction(25_000))
    price = Price(Fraction(epsilon), Fraction(0))
    release = release_of(function, price=price, facts=wide, rows_about=rows)
    data, sampler, found = counted(table(1, rows, 30_000.0)), FixedSampler(function), list[float]()
    for _ in range(9):
        low, high = ends_of(release, release.release(data, sampler))
        found.append((high - low) / 2)
    assert release.half_width / 5 < sorted(found)[4] < release.half_width * 5
    assert release.expected_error <= release.half_width


def test_the_choice_is_by_what_may_be_gained() -> None:
    def better(**more: Any) -> bool:
        asked = asking("avg", price=ONE, **more)
        return offered(AtOwnPlace().offer(asked)).expected_error < offered(Laplace().offer(asked)).expected_error

    wide = replace(COST.facts, high=Fraction(10**6))
    assert better(grid=WIDE, facts=wide)
    assert better(grid=WIDE, facts=wide, rows_about=50)  # a guess may be far too low, and trying costs little
    assert not better(grid=WIDE, facts=wide, rows_about=1)
    assert not better(grid=WIDE, facts=replace(wide, spread=Fraction(200_000)))


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
    joint, without = AtOwnPlace().together(asked)
    assert (without.members, without.loss) == ((1, 2), Pure(Fraction(2)))  # the mean may be better off by itself
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


def test_the_note_says_of_what_it_is_sure() -> None:
    (note,) = release_of(rows_about=10**6).notes
    assert "hides (with 99% confidence " in note
    assert " of a group or fewer) lie very much farther out than the others" in note
