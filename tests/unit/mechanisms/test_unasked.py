"""What is taken without being named, and what is foretold of an answer: by public facts alone."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from dpsql.errors import UnsupportedQuery
from dpsql.mechanisms.base import Price, Request
from dpsql.mechanisms.choose import choose
from dpsql.mechanisms.foretold import foretold
from dpsql.mechanisms.located.release import LocatedRelease
from dpsql.mechanisms.preprocessing.mechanism import Preprocessing
from dpsql.mechanisms.threshold import Threshold
from dpsql.mechanisms.unasked import only_named
from dpsql.plan.functions import overloads
from dpsql.plan.needs import Contribution
from dpsql.plan.nodes import Apply, Case, Column, Constant, Expression, Filter, PerUnit, Scan
from dpsql.plan.options import Options
from dpsql.plan.types import Facts, Grid, Type
from dpsql.testing_samplers import FixedSampler, Noiseless
from tests.unit.mechanisms.asking import CITY, COST, GRID, HALF, OPEN, VISITS, WITH_DELTA, asking, counted, offered

GUESSED = replace(COST.facts, centre=Fraction(40), spread=Fraction(1, 100))
FREE = replace(GUESSED, low=None, high=None)
WIDE = Grid(Fraction(1, 10), 0, 10**7)
TRUE = Constant(True, Facts(Type.BOOLEAN, nullable=False))


def free(function: str = "avg", **others: object) -> Request:
    return asking(function, **{"facts": FREE, "grid": None, **others})  # type: ignore[arg-type]  # named


@pytest.mark.parametrize("function", ["avg", "quantile_cont", "var_pop", "var_samp", "stddev_pop", "stddev_samp"])
@pytest.mark.parametrize("rows", [100, 10_000, 10**7])
@pytest.mark.parametrize("grid", [GRID, WIDE])
def test_a_guess_beside_bounds_never_decides_for_a_bias(function: str, rows: int, grid: Grid) -> None:
    request = asking(function, facts=GUESSED, grid=grid, rows_about=rows)
    choice = choose(request)
    assert choice.release.mechanism in ("laplace", "exponential", "located")
    (other,) = (o for o in choice.others if o.mechanism == "preprocessing")
    assert other.half_width is not None
    assert other.reason.startswith("it moves the answer by an amount that no interval counts")
    assert choose(request, wanted="preprocessing").release.mechanism == "preprocessing"


def test_an_option_of_its_own_asks_for_it() -> None:
    assert only_named(Preprocessing(), asking("avg", options=Options(sensitivity=Fraction(1)))) is None
    assert only_named(Preprocessing(), asking("avg", options=Options(scale=(Fraction(1), Fraction(2))))) is not None


def test_without_bounds_hints_serve_the_whole_column_and_nothing_else() -> None:
    whole = free()
    assert choose(whole).release.mechanism == "preprocessing"
    assert "It has no interval" in choose(whole).release.notes[-1]
    part = replace(whole, source=replace(whole.source, relation=Filter(whole.source.relation, TRUE)))
    filtered: Expression = Case(((TRUE, COST),), Constant(None, Facts(Type.NULL)), FREE)
    for request in (
        free(keys=(CITY,)),
        part,
        replace(whole, aggregate=replace(whole.aggregate, argument=filtered)),
        replace(part, source=replace(part.source, relation=PerUnit(part.source.relation, "p", (), ()))),
    ):
        with pytest.raises(UnsupportedQuery, match=r"unasked.*OPTIONS \(mechanism = 'preprocessing'\).*noise alone"):
            choose(request)
        assert choose(request, wanted="preprocessing").release.mechanism == "preprocessing"


def test_a_condition_that_the_column_has_a_value_leaves_out_nothing_that_it_describes() -> None:
    whole = free()
    column = whole.aggregate.argument
    assert isinstance(column, Column)
    for of, taken in ((column, True), (replace(column, name="age"), False)):
        there = Apply(overloads("not")[0], (Apply(overloads("is_null")[0], (of,), TRUE.facts),), TRUE.facts)
        rows = Filter(whole.source.relation, there)
        request = replace(whole, source=replace(whole.source, relation=rows))
        assert (only_named(Preprocessing(), request) is None) == taken


STEPS = np.rint(np.random.default_rng(5).normal(1690, 95, 4000) / 10).astype(np.int64)  # whole centimetres
OF_COLUMNS = ("quantile_cont", "quantile_disc", "avg", "var_pop", "stddev_pop")
KINDS: dict[str, np.ndarray] = {
    "rounded": STEPS,
    "heaps": np.repeat([150, 160, 170, 180], [700, 1200, 1300, 800]),
    "skewed": np.rint(np.random.default_rng(6).lognormal(4, 1.2, 4000)).astype(np.int64),
    "two humps": np.concatenate([STEPS - 40, STEPS + 40]),
    "constant": np.full(2000, 190),
    "far": STEPS + 10**6,
    "few": STEPS[:30],
}


@pytest.mark.every(3)
@pytest.mark.parametrize("function", [*OF_COLUMNS, pytest.param("trimmed_mean", marks=pytest.mark.slow)])
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    "spread",
    [Fraction(10), *(pytest.param(other, marks=pytest.mark.slow) for other in (Fraction(1, 10), Fraction(1000)))],
)
def test_unasked_intervals_without_bounds_hold_the_truth_whatever_centre_and_spread_say(
    function: str, kind: str, spread: Fraction
) -> None:
    """40 draws of one seed: that more than 8 miss at 95% has a chance of 1 in 10,000 of the seeds."""
    facts = Facts(Type.INTEGER, centre=Fraction(165), spread=spread)
    p = Fraction(9, 10) if function == "quantile_disc" else Fraction(1, 10 if function == "trimmed_mean" else 2)
    request = asking(function, facts=facts, grid=None, fraction=p, price=Price(Fraction(1), Fraction(0)))
    release, values, sampler = choose(request).release, np.sort(KINDS[kind]), FixedSampler(f"{function} {kind}")
    cut = len(values) // 10
    truth = {
        "quantile_cont": np.median(values),
        "quantile_disc": np.quantile(values, 0.9, method="inverted_cdf"),
        "avg": values.mean(),
        "var_pop": values.var(),
        "stddev_pop": values.std(),
        "trimmed_mean": values[cut : len(values) - cut].mean(),
    }[function]
    table, missed, close = counted(Counter(values.tolist())), 0, 1e-9 * abs(truth)
    for _ in range(40):
        ((low, high),) = release.intervals(release.release(table, sampler), 0.95)
        missed += (low is not None and low > truth + close) or (high is not None and high < truth - close)
    assert missed <= 8


def test_a_median_without_bounds_has_an_interval_of_two_ends_unless_rows_are_few() -> None:
    facts = Facts(Type.INTEGER, centre=Fraction(165), spread=Fraction(10))
    request = asking("quantile_cont", facts=facts, grid=None, price=Price(Fraction(1), Fraction(0)))
    release, sampler = choose(request).release, FixedSampler("two ends")
    assert release.mechanism == "exponential"
    ((low, high),) = release.intervals(release.release(counted(Counter(STEPS.tolist())), sampler), 0.95)
    assert low is not None and high is not None and 165 < low <= 169 <= high < 173
    few = counted(Counter(STEPS[:30].tolist()))
    assert release.intervals(release.release(few, sampler), 0.95) == [(None, None)]
    assert release.intervals(release.release(few, sampler), 0.999) == [(None, None)]


@pytest.mark.parametrize(
    ("kind", "centre", "spread", "step"),
    [
        (Type.INTEGER, 10**17, 1000, None), (Type.INTEGER, -(2**53), 10, None), (Type.REAL, 5 * 10**10, 10**9, None),
        (Type.REAL, 0, Fraction(1, 10**9), None), (Type.REAL, 0, Fraction(1, 10**9), Fraction(1, 10**9)),
    ],
)  # fmt: skip
def test_a_median_is_not_drawn_from_a_grid_that_ends_before_the_values_or_is_too_coarse_for_them(
    kind: Type, centre: int, spread: Fraction, step: Fraction | None
) -> None:
    """All rows would count as one point, and the quote is for others."""
    facts = Facts(kind, centre=Fraction(centre), spread=Fraction(spread), step=step)
    request = asking("quantile_cont", facts=facts, grid=None, price=Price(Fraction(1), Fraction(0)))
    assert choose(request).release.mechanism == ("preprocessing" if step is None else "exponential")


@pytest.mark.parametrize("function", ["avg", "var_pop", "stddev_samp"])
def test_within_tight_bounds_no_clamp_is_searched_for_groups_of_few_rows(function: str) -> None:
    """Values may lie at both ends: of nine rows at 0 and one at 110 all count, and many such groups change nothing."""
    facts = replace(COST.facts, low=Fraction(0), high=Fraction(110))
    ages = asking(function, facts=facts, grid=Grid(Fraction(1), 0, 110))
    release = choose(ages).release
    assert isinstance(release, LocatedRelease)
    assert release.query.clamps.edges == (110,)
    assert "others nowhere" in release.notes[0]
    found = release.release(counted(*[{0: 9, 110: 1}] * 100), Noiseless())
    exact = {"avg": 11.0, "var_pop": 1089.0, "stddev_samp": 33 * math.sqrt(10 / 9)}
    assert found.values == pytest.approx([exact[function]] * 100)
    spread = choose(asking(function, facts=replace(facts, spread=Fraction(5)), grid=Grid(Fraction(1), 0, 110))).release
    assert isinstance(spread, LocatedRelease)
    assert len(spread.query.clamps.edges) > 1


# ------------------------------------------------------------------------------------------------------ foretold


def test_groups_that_will_all_stay_hidden_are_foretold() -> None:
    request = asking("count_units", keys=(OPEN,), selects=True, price=WITH_DELTA)
    release = offered(Threshold().offer(request))
    (note,) = foretold(_guessing(request, 10), release)
    assert note.endswith("so none is expected to appear.")
    (note,) = foretold(_guessing(request, 1000), release)
    assert "at most" in note
    listed = asking("count_rows", keys=(CITY,), price=WITH_DELTA)
    (note,) = foretold(_guessing(listed, 10), offered(Threshold().offer(listed)))
    assert "none is expected to be shown" in note


def _guessing(request: Request, rows: int) -> Request:
    table = replace(VISITS, rows_about=rows)
    return replace(request, source=replace(request.source, relation=Scan(table, "t0")))


@pytest.mark.parametrize(
    "function", ["count_rows", "sum", "avg", "quantile_cont", "max", "var_pop", "stddev_samp", "corr"]
)
def test_an_answer_as_wide_as_its_bounds_is_foretold_and_a_useful_one_is_not(function: str) -> None:
    faint, loud = Price(Fraction(1, 10**6), Fraction(0)), Price(Fraction(10), Fraction(0))
    request = asking(function, price=faint)
    (note,) = foretold(request, choose(request).release)
    assert note.startswith("Expected to say next to nothing: ±")
    request = asking(function, price=loud)
    assert foretold(request, choose(request).release) == ()


def test_a_sum_is_as_wide_as_what_its_rows_could_add_up_to() -> None:
    held = Contribution(100, 1, 100)
    few, many = (asking("sum", price=HALF, held=held, rows_about=rows) for rows in (300, 100_000))
    assert "with 300 rows in a group" in foretold(few, choose(few, wanted="laplace").release)[0]
    assert foretold(many, choose(many, wanted="laplace").release) == ()
