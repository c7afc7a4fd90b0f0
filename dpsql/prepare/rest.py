"""One more row for what stays hidden: the groups that were not chosen, added up (``rest = true``).

A threshold releases which groups appear, S. The rows of all other groups that occur make one cell, and each aggregate
of that cell is a measurement of its own, with noise of its own, for `SHARE` of the aggregate's price.

Theorem. The loss of the statement is the sum of the losses of all its measurements, the rest's among them.
Proof. Given S, the rest's numbers are a fixed function of the tables: sums over the groups outside of S. Each release
of them has its loss whatever S is, by the lemma below, and S is an output of a release that is paid for. So this is
adaptive composition, in which every kind of loss adds up (`privacy/loss`).  QED

Lemma. Let one unit hold at most N = min(m, g r) rows over all groups (`Contribution.total`), after the caps. Whatever S
is, the sums of the rest move as those of one group of which a unit holds N rows.
Proof. S only says which of a unit's rows count: some of those N. Each adds what it adds in a group that is shown, with
the same clamp. That is `sensitivity_of` for rows without keys, N of a unit, which needs nothing of them but the number
of a unit's rows and what one row may add; under replace_one, too: one unit's rows go and another's come.  QED

COUNT(DISTINCT unit) adds up over groups only where a unit is in one of them: the engine's numbers are by group, and a
unit of several hidden groups would count in each. COUNT(DISTINCT x), quantiles and modes do not add up at all. They are
refused by name.

Groups that a key's domain or a condition rules out are in no row, and not in this one.

Tests: tests/unit/prepare/test_rest.py.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import copy
from dataclasses import replace
from fractions import Fraction

from dpsql.errors import UnsupportedQuery
from dpsql.mechanisms.base import Price, Request, derive
from dpsql.mechanisms.choose import Choice, choose
from dpsql.mechanisms.gaussian import Gaussian
from dpsql.mechanisms.laplace import Laplace
from dpsql.plan.needs import Aggregates, Contribution, MeasureKind, Source
from dpsql.plan.nodes import Column, Order
from dpsql.plan.over_answers.stages import RELEASED
from dpsql.plan.plans import Output, Plan
from dpsql.plan.types import Facts, Type
from dpsql.prepare.choices import banned_for
from dpsql.prepare.classes import price_of_everyone
from dpsql.prepare.prices import positive
from dpsql.prepare.together import Taken
from dpsql.privacy.account import DELTA_UNIT, UNIT

__all__ = ["REST", "rest_of", "shown_prices", "with_rest"]

REST = Column(RELEASED, "rest", Facts(Type.BOOLEAN, nullable=False))
"""The released column that tells the rest from the groups that appear."""
SHARE = Fraction(1, 10)
"""Of an aggregate's price, for the rest: one number that is most often large, beside many that are small. A choice."""
PLAIN = (Laplace(), Gaussian())
ADD_UP = frozenset({MeasureKind.ROWS, MeasureKind.VALUES, MeasureKind.SUM, MeasureKind.PRODUCTS})
"""The numbers of groups that make the number of all of them together by adding them."""


def with_rest(plan: Plan) -> Plan:
    """The plan with its last column, ``is_rest``; its row comes last, whatever ORDER BY says.

    Raises:
        UnsupportedQuery: The statement goes on with the answer, cuts it, or has no aggregate.
    """
    if plan.stages or plan.limit is not None or plan.offset or not plan.aggregates:
        why = (
            "SELECT DISTINCT has nothing to add up for it" if not plan.aggregates
            else "it is one more row of the answer itself, not of what a query makes of an answer" if plan.stages
            else "LIMIT would cut it off, or leave it beside groups that it does not hold"
        )  # fmt: skip
        hint = "Add an aggregate, or leave rest out." if not plan.aggregates else (
            "Ask for the answer with its rest, and work on that." if plan.stages
            else "Leave LIMIT and OFFSET out: with ORDER BY the rest comes last."
        )  # fmt: skip
        raise UnsupportedQuery(f"{why}.", construct="rest", hint=hint)
    order = (Order(REST, descending=False, nulls_first=False), *plan.order_by) if plan.order_by else ()
    return replace(plan, outputs=(*plan.outputs, Output("is_rest", REST)), order_by=order)


def shown_prices(own: Mapping[str, Price], plan: Plan) -> dict[str, Price]:
    """What is left of each price for the groups that appear; what is counted to choose alone has no rest."""
    asked = {aggregate.name for aggregate in plan.aggregates}
    return {name: _part(price, 1 - SHARE) if name in asked else price for name, price in own.items()}


def rest_of(
    requests: Sequence[Request], own: Mapping[str, Price], plan: Plan, classes: Mapping[str, Fraction]
) -> list[tuple[Request, Taken]]:
    """What answers each aggregate for the rest.

    Args:
        requests: Those for the groups that appear.
        own: The whole price of each aggregate, by name.
        plan: What is asked.
        classes: The policy's classes of units with their shares.

    Raises:
        UnsupportedQuery: An aggregate does not add up, or nothing answers it at that part of its price.
    """
    asked = {aggregate.name for aggregate in plan.aggregates}
    found: list[tuple[Request, Taken]] = []
    for shown in requests:
        if shown.aggregate.name in asked:
            price = price_of_everyone(_part(own[shown.aggregate.name], SHARE), classes)
            choice = _choice(_request(shown, price), shown)
            at = len(requests) + len(found)
            found.append((_request(shown, price), Taken(choice, at, 0, choice.release.loss)))
    return found


def _request(shown: Request, price: Price) -> Request:
    """The same aggregate over one cell, of which a unit may hold all of its rows."""
    most = shown.source.contribution.total
    return replace(
        shown,
        aggregate=replace(shown.aggregate, text=f"{shown.aggregate.text} of the rest"),
        source=Source(shown.source.relation, (), Contribution(most, 1, most)),
        price=positive(price),
        selects=False,
        units_at_least=0,
        min_units=1,
        rows_public=False,
        rows_at_least=None,
        personal=None,
    )


def _choice(request: Request, shown: Request) -> Choice:
    """Plain noise on the sums of the groups' own numbers, read with those.

    Raises:
        UnsupportedQuery: The aggregate does not add up, or is beyond plain noise.
    """
    text, position = shown.aggregate.text, shown.aggregate.position
    if shown.aggregate.function == "count_units" and shown.source.contribution.groups > 1:
        raise UnsupportedQuery(
            "a unit may be in several of the groups that stay hidden, and would count in each of them.",
            construct=f"{text} with rest", position=position,
            hint="Write max_groups_per_unit = 1, ask for COUNT(*), or leave rest out.",
        )  # fmt: skip
    try:
        choice = choose(request, mechanisms=PLAIN, banned=banned_for(shown))
    except UnsupportedQuery:
        raise _no_rest(shown) from None
    need = choice.release.need
    once = shown.aggregate.function == "count_units"
    if not isinstance(need, Aggregates) or any(m.kind not in ADD_UP and not once for m in need.measures):
        raise _no_rest(shown)
    release = copy(choice.release)
    derive(release, need=replace(need, source=shown.source))  # the numbers of the groups, which are read anyway
    return replace(choice, release=release)


def _no_rest(shown: Request) -> UnsupportedQuery:
    return UnsupportedQuery(
        "it does not add up over groups: the rest has counts, sums, means, variances and covariances.",
        construct=f"{shown.aggregate.text} with rest", position=shown.aggregate.position,
        hint="Leave it or rest out.",
    )  # fmt: skip


def _part(price: Price, share: Fraction) -> Price:
    """A share of a price, in whole units of the ledger, rounded down."""
    return Price(
        None if price.epsilon is None else price.epsilon * share // UNIT * UNIT,
        price.delta * share // DELTA_UNIT * DELTA_UNIT,
        None if price.rho is None else price.rho * share // UNIT * UNIT,
    )
