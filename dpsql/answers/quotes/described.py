"""Statements of which no row is shown (LIMIT 0): tools ask them for the names and types of columns, for nothing.

Tests: tests/unit/answers/test_wrappers.py.
"""

from __future__ import annotations

from dataclasses import replace

from dpsql.answers.answer import Answer, public
from dpsql.answers.lists import gathered
from dpsql.answers.quotes.quoted import Quote
from dpsql.plan.over_answers.roles import roles_of
from dpsql.plan.plans import AnyPlan
from dpsql.privacy.loss import PrivacyLoss

__all__ = ["described", "described_quote"]

DESCRIBED = "LIMIT 0 shows no row: the columns are described, nothing is measured, and it is free."


def described(plan: AnyPlan) -> Answer:
    """Names and types of a plan's columns, without a row; nothing is read."""
    names = tuple(output.name for output in plan.answer)
    answer = public(names, tuple(output.type for output in plan.answer), [])
    return gathered(replace(answer, _roles=roles_of(plan)), plan.answer)


def described_quote() -> Quote:
    """The quote of such a statement."""
    return Quote(PrivacyLoss(), (), "", None, (DESCRIBED,))
