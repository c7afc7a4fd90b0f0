"""IN (SELECT ..) and EXISTS where a value is expected, which choose rows and are none: what to join in their place.

``AVG(patient_id IN (SELECT patient_id FROM visits WHERE cost > 5000))`` is a LEFT JOIN of the sub-query, one row a
unit, and the question whether it found a partner. The text is made where it surely means the same.

Tests: tests/unit/plan/values/test_partners.py.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace

from dpsql.errors import UnsupportedQuery
from dpsql.plan.nodes import Column, Expression
from dpsql.sql import syntax
from dpsql.sql.keywords import FUNCTION_ONLY, RESERVED
from dpsql.sql.normal import normal_expression
from dpsql.sql.walk import walk

__all__ = ["RowsAsValue", "WrongAnswer", "refuse_as_value"]

Resolve = Callable[[syntax.Expr], Expression]

_QUOTED = re.compile(r"""'(?:[^']|'')*'|"([a-z_][a-z0-9_]*)"|"(?:[^"]|"")*\"""")
"""A text, a plain name in quotes, or any other name in quotes."""
_LONGEST = 400  # Characters of a sub-query in a message. It is a choice: some four lines.
_GENERAL = (
    "They stand there alone, or with AND. For a share, divide the rows for which it holds by all: "
    "SELECT (SELECT COUNT(*) FROM .. WHERE ..) / (SELECT COUNT(*) FROM ..). Or LEFT JOIN people's rows to the "
    "sub-query, with one row for each unit, and ask whether there is one: "
    "LEFT JOIN (SELECT unit FROM .. GROUP BY unit) AS found USING (unit), and found.unit IS NOT NULL."
)


class WrongAnswer(UnsupportedQuery):
    """A query is meant as an answer, and this is wrong with it: it says more than that it would be a release."""


class RowsAsValue(WrongAnswer):
    """IN or EXISTS with a sub-query stands where a value is meant."""


def refuse_as_value(node: syntax.InQuery | syntax.Exists, resolve: Resolve) -> RowsAsValue:
    """Why such a condition is no value, with what to write instead.

    Args:
        node: The condition.
        resolve: What names mean in the query around it.
    """
    tie = _looked_up(node) if isinstance(node, syntax.InQuery) else _tied(node, resolve)
    hint = _GENERAL if tie is None or not _is_unit(tie[0], resolve) else _joined(*tie, negated=node.negated)
    return RowsAsValue(
        "IN and EXISTS with a sub-query choose rows in WHERE, and are no values.",
        construct="sub-query in a condition", position=node.position, hint=hint or _GENERAL,
    )  # fmt: skip


def _joined(outer: syntax.Name, rows: syntax.Select, inner: syntax.Name, *, negated: bool) -> str | None:
    """The join and the condition; None where the sub-query cannot be shown."""
    one_row = replace(rows, items=(syntax.Item(inner, None, ""),), group_by=(inner,), distinct=False)
    text = _plain(normal_expression(syntax.ScalarQuery(one_row)))
    if len(text) > _LONGEST or any(isinstance(part, syntax.Parameter) for part in walk(one_row)):
        return None
    name, other = inner.parts[-1], outer.parts[-1]
    ours, theirs = (_plain(normal_expression(column)) for column in (outer, syntax.Name((name,))))
    on = f"USING ({theirs})" if name == other else f"ON {ours} = found.{theirs}"
    return (
        f"Join it behind FROM, one row a unit: LEFT JOIN {text} AS found {on}. "
        f"Then write here: found.{theirs} IS {'' if negated else 'NOT '}NULL."
    )


def _looked_up(node: syntax.InQuery) -> tuple[syntax.Name, syntax.Select, syntax.Name] | None:
    """The name outside, the sub-query and its column, where each is plain."""
    query = node.query
    if not isinstance(node.operand, syntax.Name) or not isinstance(query, syntax.Select) or len(query.items) != 1:
        return None
    inner = query.items[0].expression
    return (node.operand, query, inner) if isinstance(inner, syntax.Name) and _is_plain(query) else None


def _tied(node: syntax.Exists, resolve: Resolve) -> tuple[syntax.Name, syntax.Select, syntax.Name] | None:
    """The same of EXISTS, whose WHERE equates a name outside with one inside, and reads nothing else from outside."""
    query = node.query
    if not isinstance(query, syntax.Select) or not _is_plain(query) or query.source is None:
        return None
    inside = {_alias(part) for part in walk(query.source)}
    rest, tie = list[syntax.Expr](), list[tuple[syntax.Name, syntax.Name]]()
    for part in _parts(query.where):
        match part:
            case syntax.Call("=", (syntax.Name() as one, syntax.Name() as other)) if _ties(one, other, inside):
                tie.append((other, one) if one.parts[0] in inside else (one, other))
            case _:
                rest.append(part)
    if len(tie) != 1 or any(_may_be_outside(name, inside, resolve) for part in rest for name in walk(part)):
        return None
    where: syntax.Expr | None = None
    for part in rest:
        where = part if where is None else syntax.Call("and", (where, part))
    return tie[0][0], replace(query, where=where), tie[0][1]


def _is_plain(query: syntax.Select) -> bool:
    """Whether a sub-query only chooses rows of its FROM."""
    parts = (query.having, query.limit, query.offset, query.options)
    return not query.group_by and not query.order_by and not query.ctes and all(part is None for part in parts)


def _is_unit(name: syntax.Name, resolve: Resolve) -> bool:
    """Whether a name of the query around is the unit of its rows, so that it is never NULL."""
    found = _found(name, resolve)
    return isinstance(found, Column) and found.unit and not found.facts.nullable


def _ties(one: syntax.Name, other: syntax.Name, inside: set[str]) -> bool:
    """Whether one of two names stands behind a table inside, and the other behind one outside."""
    return len(one.parts) == len(other.parts) == 2 and (one.parts[0] in inside) != (other.parts[0] in inside)


def _may_be_outside(part: syntax.Node, inside: set[str], resolve: Resolve) -> bool:
    if not isinstance(part, syntax.Name):
        return isinstance(part, syntax.InQuery | syntax.Exists | syntax.ScalarQuery)
    return part.parts[0] not in inside if len(part.parts) > 1 else _found(part, resolve) is not None


def _found(name: syntax.Name, resolve: Resolve) -> Expression | None:
    try:
        return resolve(name)
    except UnsupportedQuery:
        return None


def _alias(part: syntax.Node) -> str:
    """What a table of FROM is called; empty for what is none."""
    if isinstance(part, syntax.TableName):
        return (part.alias or part.name[-1]).lower()
    return (part.alias or "").lower() if isinstance(part, syntax.Derived) else ""


def _parts(where: syntax.Expr | None) -> list[syntax.Expr]:
    if isinstance(where, syntax.Call) and where.name == "and":
        return [part for argument in where.arguments for part in _parts(argument)]
    return [] if where is None else [where]


def _plain(text: str) -> str:
    """The text without quotes around names that need none."""
    return _QUOTED.sub(lambda m: m[1] if m[1] is not None and m[1] not in RESERVED | FUNCTION_ONLY else m[0], text)
