"""What may be said of privacy units and keys in an expression, and why nothing else may.

Rows of two private tables meet only where their units are equal. So whether two keys in a row are the same, or whether
a left join found a partner, is decided by what one unit has, and tells of no one by name.
"""

from __future__ import annotations

from collections.abc import Sequence

from dpsql.errors import UnsupportedQuery
from dpsql.plan.nodes import Apply, Case, Column, Expression
from dpsql.plan.types import Type

__all__ = ["as_owner_declares", "chooses", "names_nobody", "refuse_unit"]


def names_nobody(expression: Expression) -> bool:
    """Whether it says no more of units and keys than that two rows are one record or not, or one has no partner."""
    match expression:
        case Apply(function=function, arguments=(Column() as one, Column() as other)) if function.name in ("=", "<>"):
            return _one_key(one, other)
        case Apply(function=function, arguments=(Column(facts=facts),)) if function.name == "is_null":
            return facts.nullable  # else it is never NULL, and the question a mistake
        case Apply(function=function, arguments=(Apply() as inner,)) if function.name == "not":
            return inner.function.name == "is_null" and isinstance(inner.arguments[0], Column)  # a cautious one is not
    return False


def chooses(predicate: Expression) -> bool:
    """Whether a condition may leave rows out: one that a unit is there may not, where it always is."""
    match predicate:
        case Apply(function=no, arguments=(Apply(function=missing, arguments=(Column() as column,)),)):
            said = (no.name, missing.name) == ("not", "is_null")
            return not (said and column.unit and not column.facts.nullable)
    return True


def _value_of(expression: Expression) -> Column | None:
    """The unit or key that an expression is, or that a CASE may choose; None for all else."""
    match expression:
        case Column():
            return expression if expression.identifies else None
        case Case(branches=branches, default=default):
            found = (_value_of(result) for result in (*(then for _, then in branches), default))
            return next((column for column in found if column is not None), None)
    return None


def refuse_unit(name: str, arguments: Sequence[Expression], position: tuple[int, int] | None) -> None:
    """Nothing is computed from a privacy unit or a key: it equals itself, which is a join, or is another key.

    Raises:
        UnsupportedQuery: It does, with what the column is and what may be written.
    """
    columns = [argument for argument in arguments if isinstance(argument, Column)]
    held = [column for argument in arguments if (column := _value_of(argument)) is not None]
    joins = name == "=" and len(held) == 2
    said = joins or name == "is_null" or (name == "<>" and len(columns) == 2 and _one_key(*columns))
    if not held or (said and len(columns) == len(arguments)):
        return
    column, other = held[0], next((column for column in columns if column != held[0]), None)
    hint = f"It may stand in joins and in COUNT(DISTINCT {column.shown})."
    declared = None if other is None or name != "=" else as_owner_declares(column, other)
    if column.unit:
        reason = "the privacy unit stands beside nothing but itself: anything else could single out a person."
    elif declared is not None and other is not None:
        reason = (
            f"it is a key, {column.link}, and the {other.shown} beside it is a mere {other.facts.type.value} to the "
            "policy: nothing says that both name one record, so that rows of different people might meet."
        )
    else:
        reason = (
            f"it is a key, {column.link}, and stands beside nothing but that key: else it could single out a record."
        )
        hint += " Beside the same key of another row of the same unit it also takes <>."
    raise UnsupportedQuery(reason, construct=column.shown, position=position, hint=declared or hint)


def as_owner_declares(column: Column, other: Column) -> str | None:
    """What an owner can declare so that the second column is the same id; None where it can hardly be one."""
    if other.identifies or other.alias == column.alias:
        return None
    if column.unit and other.facts.type is column.facts.type:
        return (
            f"If {other.shown} is the same id, its table is about the same people: the owner can make it private, "
            f"with unit: {other.shown}; then the two join."
        )
    if column.link is None or other.facts.type not in (Type.INTEGER, Type.TEXT):
        return None
    table = column.link.partition(".")[0]
    return (
        f"If it is the same id, the owner can say so of its table, with unit: {{via: {table}, on: {other.shown}}} in "
        f"place of its unit and of its column {other.shown}; then the two join."
    )


def _one_key(one: Column, other: Column) -> bool:
    return one.link is not None and one.link == other.link
