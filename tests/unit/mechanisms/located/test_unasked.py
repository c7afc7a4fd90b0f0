"""What is not located unasked: values that reach over all of their bounds, and scores that a statement names."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest

from dpsql.mechanisms.base import Offer, Refusal
from dpsql.mechanisms.located.mechanism import AtOwnPlace
from dpsql.plan.nodes import Case, Constant, Expression
from dpsql.plan.options import Options
from dpsql.plan.types import Grid
from tests.unit.mechanisms.asking import COST, asking, offered
from tests.unit.mechanisms.located.test_mechanism import ONE, WIDE


@pytest.mark.parametrize("function", ["avg", "var_samp"])
def test_where_values_reach_over_all_of_their_bounds_it_answers_by_name_alone(function: str) -> None:
    """Of a share, say, it may miss the few: they are where rows thin out."""
    wide = replace(COST.facts, high=Fraction(10**6), spread=Fraction(300_000))
    cases: list[dict[str, Any]] = [{"grid": Grid(Fraction(1), 0, 1)}, {"grid": WIDE, "facts": wide}]
    for case in cases:
        answer = AtOwnPlace().offer(asking(function, price=ONE, **case))
        assert isinstance(answer, Refusal)
        assert "nothing to find" in answer.reason
        assert offered(AtOwnPlace().offer(asking(function, price=ONE, options=Options(mechanism="located"), **case)))


@pytest.mark.parametrize("function", ["avg", "var_samp"])
def test_a_score_of_values_that_the_statement_names_is_not_located_unasked(function: str) -> None:
    def answered(argument: Expression, **named: Any) -> Offer | Refusal:
        asked = asking(function, price=ONE, grid=WIDE, **named)
        return AtOwnPlace().offer(replace(asked, aggregate=replace(asked.aggregate, argument=argument)))

    one, seven, nothing = (Constant(value, COST.facts) for value in (1, 7, None))
    score = Case(((COST, one), (COST, seven)), nothing, COST.facts)
    for argument in (score, Case(((COST, score),), nothing, COST.facts)):  # and within FILTER
        refusal = answered(argument)
        assert isinstance(refusal, Refusal)
        assert "may miss the few" in refusal.reason
        assert offered(answered(argument, options=Options(mechanism="located")))
    assert offered(answered(Case(((COST, COST),), one, COST.facts)))
