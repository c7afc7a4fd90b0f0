"""PIVOT as the query that it stands for: a GROUP BY whose aggregates each count the rows of one value alone.

    FROM (SELECT city, sex, age FROM p) PIVOT (AVG(age) FOR sex IN ('F', 'M'))
    FROM (SELECT city, AVG(age) FILTER (WHERE sex = 'F') AS F, AVG(age) FILTER (WHERE sex = 'M') AS M
          FROM (SELECT city, sex, age FROM p) GROUP BY city)

Columns are named as DuckDB names them. Keys whose values are not listed stand in one item of the
select list, `UNLISTED`, until the plan lists them (`with_values`).

Tests: tests/unit/sql/test_pivot.py, tests/sql.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import product
from math import prod

from dpsql.errors import UnsupportedQuery
from dpsql.sql.naming import column_name
from dpsql.sql.syntax import (
    AllColumns,
    Call,
    Expr,
    Item,
    Literal,
    Name,
    Position,
    Queryable,
    Relation,
    Select,
    Union,
)
from dpsql.sql.tokens import fold
from dpsql.sql.walk import walk

__all__ = ["UNLISTED", "PivotKey", "pivoted", "unlisted_keys", "with_values"]

UNLISTED = "PIVOT"  # No call in SQL has capitals: its arguments are keys and aggregates, these also by name.
MOST_COLUMNS = 100  # That one PIVOT makes. It is a choice: each is measured and paid for.


@dataclass(frozen=True, slots=True)
class PivotKey:
    """``FOR sex IN ('F', 'M' AS men)``, ``FOR (sex, consent) IN (('F', 'normal'), ..)``.

    Attributes:
        key: What is compared.
        values: With what, each with the name that is written behind it, or None; empty where none is listed.
    """

    key: Expr
    values: Sequence[tuple[Expr, str | None]]

    def columns(self) -> list[tuple[Expr, str]]:
        """For each value the condition, and what its columns are called.

        Raises:
            UnsupportedQuery: A value is no constant, or has other parts than the key.
        """
        found, keys = [], _parts(self.key)
        for value, name in self.values:
            parts = _parts(value)
            if len(parts) != len(keys):
                raise _refusal(
                    "each value has as many parts as the key.", value.position, "Write FOR (a, b) IN ((1, 2), (3, 4))."
                )
            texts = map(_text, parts)
            equal: list[Expr] = [Call("=", pair, position=value.position) for pair in zip(keys, parts, strict=True)]
            found.append((_all(equal), "_".join(texts) if name is None else name))
        return found


def pivoted(
    source: Relation,
    aggregates: Sequence[Item],
    keys: Sequence[PivotKey],
    groups: Sequence[Expr] | None,
    query: Queryable | None,
) -> Select:
    """The query that a PIVOT stands for.

    Args:
        source: The rows.
        aggregates: What is asked of them.
        keys: By whose values; of several, by all that their values make together.
        groups: What it groups by; None for all other columns of the rows.
        query: Whose answer the rows are; None where they are a table's.

    Raises:
        UnsupportedQuery: The rows' columns are not named, a value is no constant, or it would make too many columns.
    """
    position = keys[0].key.position
    read = (*(own.expression for own in aggregates), *(own.key for own in keys))
    by = tuple(_others(query, read, position)) if groups is None else tuple(groups)
    shown = [Item(own, None, column_name(own), position=own.position) for own in by]
    waiting = [not own.values for own in keys]
    if any(waiting) and not all(waiting):
        raise _refusal("the values of some keys are listed, and of some not.", position, "List all of them, or none.")
    made = [_unlisted(keys, aggregates)] if any(waiting) else _columns(keys, aggregates)
    return Select((*shown, *made), source, group_by=by, position=position)


def _unlisted(keys: Sequence[PivotKey], aggregates: Sequence[Item]) -> Item:
    """What stands in the place of the columns until the values are known."""
    named = tuple((own.alias or "" if len(aggregates) == 1 else own.name, own.expression) for own in aggregates)
    arguments = (*(own.key for own in keys), *(own for _, own in named))
    position = keys[0].key.position
    return Item(Call(UNLISTED, arguments, named, position=position), None, UNLISTED, position=position)


def unlisted_keys(query: Select) -> tuple[Expr, ...]:
    """The keys of a PIVOT that the plan must list; none where they are listed, or for any other query."""
    last = query.items[-1].expression if query.items else None
    if not isinstance(last, Call) or last.name != UNLISTED:
        return ()
    return last.arguments[: -len(last.named)]


def with_values(query: Select, values: Sequence[Sequence[Literal]]) -> Select:
    """The same query with a column for each value.

    Args:
        query: One with `unlisted_keys`.
        values: Those of each key.

    Raises:
        UnsupportedQuery: As `pivoted`.
    """
    call = query.items[-1].expression
    if not isinstance(call, Call):
        return query
    keys = [
        PivotKey(key, [(replace(value, position=key.position), _said(value.value)) for value in own])
        for key, own in zip(unlisted_keys(query), values, strict=True)
    ]
    aggregates = [Item(own, name or None, name, position=own.position) for name, own in call.named]
    return replace(query, items=(*query.items[:-1], *_columns(keys, aggregates)))


def _said(value: object) -> str:
    """A value as DuckDB writes it in the name of a column: the empty text with its quotes."""
    return str(value).lower() if isinstance(value, bool) else str(value) or "''"


def _columns(keys: Sequence[PivotKey], aggregates: Sequence[Item]) -> list[Item]:
    """A column for each value, or all that the values of several keys make together."""
    position = keys[0].key.position
    if prod(len(own.values) for own in keys) * len(aggregates) > MOST_COLUMNS:
        raise _refusal(f"it makes more than {MOST_COLUMNS} columns.", position, "List fewer values.")
    alone = len(aggregates) == 1 and aggregates[0].alias is None
    made = []
    for chosen in product(*(own.columns() for own in keys)):
        condition, text = _all([part for part, _ in chosen]), "_".join(name for _, name in chosen)
        for own in aggregates:
            called = text if alone else f"{text}_{own.name}"
            made.append(Item(_of_one(own, condition), called, called, position=own.position))
    return made


def _parts(node: Expr) -> tuple[Expr, ...]:
    return node.arguments if isinstance(node, Call) and node.name == "row" else (node,)


def _all(conditions: Sequence[Expr]) -> Expr:
    """Whether all of them are true."""
    if len(conditions) == 1:
        return conditions[0]
    return Call("and", tuple(conditions), position=conditions[0].position)


def _text(value: Expr) -> str:
    """What the columns of a value are called."""
    if not isinstance(value, Literal) or value.value is None:
        raise _refusal("each value is a constant.", value.position, "Write FOR sex IN ('F', 'M').")
    return _said(value.value) if isinstance(value.value, str) else column_name(value)


def _of_one(item: Item, condition: Expr) -> Expr:
    """The aggregate over the rows that meet the condition."""
    call = item.expression
    if not isinstance(call, Call):
        raise _refusal("it takes aggregates.", item.position, "Write PIVOT (AVG(age) FOR sex IN ('F', 'M')).")
    where = condition if call.where is None else Call("and", (call.where, condition), position=condition.position)
    return replace(call, where=where)


def _others(query: Queryable | None, read: Iterable[Expr], position: Position) -> list[Name]:
    """The columns of the rows that are neither aggregated nor compared."""
    while isinstance(query, Union):
        query = query.left
    if not isinstance(query, Select) or any(isinstance(item.expression, AllColumns) for item in query.items):
        raise _refusal(
            "it groups by all other columns of its rows, so these are named in a sub-query, or its groups are.",
            position,
            "Write PIVOT t ON sex USING AVG(age) GROUP BY city, or PIVOT (SELECT sex, age FROM t) ON sex USING "
            "AVG(age).",
        )
    used = {node.parts[-1] for own in read for node in walk(own) if isinstance(node, Name)}
    names = [item.name for item in query.items if fold(item.name) not in used]
    return [Name((fold(name),), name, position=position) for name in names]


def _refusal(message: str, position: Position, hint: str) -> UnsupportedQuery:
    return UnsupportedQuery(message, construct="PIVOT", position=position, hint=hint)
