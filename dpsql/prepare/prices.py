"""What each measurement may cost: the statement's price, shared out."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from dpsql.errors import ProgrammingError
from dpsql.mechanisms.base import Price
from dpsql.plan.nodes import Aggregate
from dpsql.plan.options import Options
from dpsql.privacy.account import DELTA_UNIT, UNIT

__all__ = ["positive", "prices"]


def prices(
    aggregates: Sequence[Aggregate],
    selection: int | None,
    hidden: Fraction | None,
    options: Options,
    sets: int,
    table: bool,
) -> list[Price]:
    """One price per aggregate: own epsilons, a share of the rest for a hidden selection, the rest in equal parts.

    With several grouping sets each aggregate is measured once for each, at an equal part of its price. What is answered
    all together has one price, and each of its parts names it.
    """
    if options.multiple is not None:
        if table:
            raise ProgrammingError(
                "A multiple of a metric prices no function of a whole table. Leave metric and multiple out."
            )
        return [Price(None, Fraction(0), multiple=options.multiple)] * len(aggregates)
    if table:
        return prices(aggregates[:1], None, None, options, 1, table=False) * len(aggregates)
    delta = (options.delta or Fraction(0)) / (len(aggregates) * sets) // DELTA_UNIT * DELTA_UNIT
    if options.rho is not None:
        if any(aggregate.epsilon is not None for aggregate in aggregates):
            raise ProgrammingError("epsilon => cannot stand in a statement priced by rho. Leave it out.")
        if options.group_selection_epsilon is not None and selection is not None:
            raise ProgrammingError(
                "group_selection_epsilon cannot stand in a statement priced by rho, which shares it out. Leave it out."
            )
        shares = _shares(aggregates, selection, hidden, options.rho, None)
        return [Price(None, delta, _of_one_set(share, sets)) for share in shares]
    if options.epsilon is None:
        raise ProgrammingError("The statement has no price. Write OPTIONS (epsilon = 0.1), or per_query in the policy.")
    shares = _shares(aggregates, selection, hidden, options.epsilon, options.group_selection_epsilon)
    return [Price(_of_one_set(share, sets), delta) for share in shares]


def _of_one_set(share: Fraction, sets: int) -> Fraction:
    return share if sets == 1 else _down(share / sets)


def positive(price: Price) -> Price:
    if price.epsilon == 0 or price.rho == 0:
        raise ProgrammingError("The price is too small to be shared by so many aggregates. Raise it.")
    return price


def _shares(
    aggregates: Sequence[Aggregate],
    selection: int | None,
    hidden: Fraction | None,
    whole: Fraction,
    own_selection: Fraction | None,
) -> list[Fraction]:
    fixed: dict[int, Fraction] = {i: a.epsilon for i, a in enumerate(aggregates) if a.epsilon is not None}
    if own_selection is not None and selection is not None:
        fixed[selection] = own_selection
    rest = whole - sum(fixed.values())
    if hidden is not None and selection is not None and selection not in fixed and rest > 0:
        alone = len(fixed) == len(aggregates) - 1
        fixed[selection] = rest if alone else rest * hidden
        rest -= fixed[selection]
    free = len(aggregates) - len(fixed)
    if rest < 0 or (free and rest <= 0):
        raise ProgrammingError(
            f"The aggregates' own prices add up to {float(whole - rest):g}, but the statement's epsilon is "
            f"{float(whole):g}. Raise epsilon, or lower epsilon => of an aggregate."
        )
    each = _down(rest / free) if free else rest
    return [_down(fixed[i]) if i in fixed else each for i in range(len(aggregates))]


def _down(share: Fraction) -> Fraction:
    """A share in whole ledger units, so that rounding each up adds nothing to the statement's price."""
    return share // UNIT * UNIT
