"""What is taken without being named, and what is foretold of an answer: by public facts alone."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import pytest

from dpsql.errors import UnsupportedQuery
from dpsql.mechanisms.base import Price, Request
from dpsql.mechanisms.choose import choose
from dpsql.mechanisms.foretold import foretold
from dpsql.mechanisms.preprocessing.mechanism import Preprocessing
from dpsql.mechanisms.threshold import Threshold
from dpsql.mechanisms.unasked import only_named
from dpsql.plan.needs import Contribution
from dpsql.plan.nodes import Case, Constant, Expression, Filter, PerUnit, Scan
from dpsql.plan.options import Options
from dpsql.plan.types import Facts, Grid, Type
from tests.unit.mechanisms.asking import CITY, COST, GRID, HALF, OPEN, VISITS, WITH_DELTA, asking, offered

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
    assert "Intervals cover the noise alone." in choose(whole).release.notes[-1]
    part = replace(whole, source=replace(whole.source, relation=Filter(whole.source.relation, TRUE)))
    filtered: Expression = Case(((TRUE, COST),), Constant(None, Facts(Type.NULL)), FREE)
    for request in (
        free(keys=(CITY,)),
        part,
        replace(whole, aggregate=replace(whole.aggregate, argument=filtered)),
        replace(part, source=replace(part.source, relation=PerUnit(part.source.relation, "p", (), ()))),
    ):
        with pytest.raises(UnsupportedQuery, match=r"unasked.*Write mechanism = 'preprocessing'.*noise alone"):
            choose(request)
        assert choose(request, wanted="preprocessing").release.mechanism == "preprocessing"


@pytest.mark.parametrize("function", ["avg", "var_pop", "stddev_samp"])
def test_tight_bounds_are_not_searched_unasked(function: str) -> None:
    ages = asking(
        function, facts=replace(COST.facts, low=Fraction(0), high=Fraction(110)), grid=Grid(Fraction(1), 0, 110)
    )
    assert choose(ages).release.mechanism == "laplace"
    assert choose(ages, wanted="located").release.mechanism == "located"


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
