"""The outline of a statement: its columns, their types, and the types that its ``?`` take, before any value is known.

It prices nothing: it is for doors whose clients ask what a statement returns before they ask it.

Tests: tests/unit/plan/test_outline.py.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from dpsql.errors import Error
from dpsql.plan.aggregates import CALLS, Takes
from dpsql.plan.catalog import Catalog
from dpsql.plan.functions.casts import cast_type
from dpsql.plan.over_answers.roles import bars_of
from dpsql.plan.plans import AnyPlan, shown
from dpsql.plan.types import Parameters, Shown, Type, Value
from dpsql.plan.values.conversions import as_constant
from dpsql.sql import syntax
from dpsql.sql.parameters import parameter_count, parameters_in
from dpsql.sql.walk import children, walk

__all__ = ["Outline", "outline_of"]

TYPICAL: Mapping[Type, Value] = {Type.INTEGER: 1, Type.REAL: Decimal("0.5"), Type.TEXT: "day"}
"""Values for a place that does not take NULL; the text is a pattern, too, and a unit of time."""
UNITS_OF_TIME = frozenset(
    {"date_trunc", "datetrunc", "date_part", "datepart", "date_diff", "datediff", "date_sub", "datesub"}
)
"""Functions whose first argument is the name of one."""


@dataclass(frozen=True, slots=True)
class Outline:
    """What is known of a statement before it is asked.

    Attributes:
        columns: The answer's columns.
        types: Their types.
        parameters: The type that each ``?`` takes; None where nothing beside it tells.
        bars: Which columns are numbers that may have intervals: those computed from noised values.
        lists: Which ``?`` take a list of values of their type, counted from 0.
    """

    columns: tuple[str, ...]
    types: tuple[Shown, ...]
    parameters: tuple[Type | None, ...] = ()
    bars: tuple[bool, ...] = ()
    lists: frozenset[int] = frozenset()


def outline_of(
    query: syntax.Queryable,
    catalog: Catalog,
    plan: Callable[[Parameters], AnyPlan],
    known: Parameters | None = None,
) -> Outline:
    """The outline of a query, planned with values that are not known: NULL, or where that will not do a typical one.

    Args:
        query: The statement.
        catalog: Tables that it may name.
        plan: Plans it with values.
        known: The values, where they are known.

    Raises:
        UnsupportedQuery, ProgrammingError: It is refused, with these values or whatever they are.
    """
    kinds = parameter_types(query, catalog)
    counts = {own.index for own in _limits(query)}
    _, lists, names = parameters_in(query)

    def passed(values: Sequence[Any]) -> Parameters:
        return dict(zip(names, values, strict=True)) if names else values

    first = passed(tuple(1 if index in counts else None for index in range(len(kinds)))) if known is None else known
    found = None
    try:
        found = plan(first)
    except Error:
        for guess in _guesses(kinds, lists) if known is None else ():
            with suppress(Error):
                found = plan(passed(guess))
            if found is not None:
                break
        if found is None:
            raise
    columns, bars = shown(found.answer), bars_of(found)
    names, shown_types = tuple(own.name for own in columns), tuple(own.type for own in columns)
    return Outline(names, shown_types, kinds, tuple(bars[own.places[0]] for own in columns), lists)


def _guesses(kinds: Sequence[Type | None], lists: Collection[int]) -> Iterator[Sequence[Any]]:
    """Typical values: for numbers alone, for texts, too, and for one text after the other, which may be of any type."""
    texts = {index for index, kind in enumerate(kinds) if kind is Type.TEXT}
    for chosen in (set[int](), texts, *({index} for index in range(len(kinds)))):
        values = [
            TYPICAL[Type.TEXT] if index in chosen else None if kind in (None, Type.TEXT) else TYPICAL.get(kind)
            for index, kind in enumerate(kinds)
        ]
        yield tuple([value] if index in lists else value for index, value in enumerate(values))


def parameter_types(query: syntax.Queryable, catalog: Catalog) -> tuple[Type | None, ...]:
    """The type of what stands beside each ``?``: a column, a constant, a cast; a whole number in LIMIT."""
    columns = dict[str, Type | None]()
    for table in catalog.tables.values():
        for column in table.columns.values():
            kind, name = column.facts.type, column.name.lower()
            columns[name] = kind if columns.get(name, kind) is kind else None
    found = dict[int, Type]()
    for node in walk(query):
        below = children(node)
        kinds = [own for child in below if (own := _type_of(child, columns)) is not None]
        if isinstance(node, syntax.Cast) and (cast := _type_of(node, columns)) is not None:
            kinds = [cast]
        for child in below:
            if isinstance(child, syntax.Parameter) and kinds:
                found.setdefault(child.index, kinds[0])
        placed, kind = _placed(node) if isinstance(node, syntax.Call) else (None, Type.NULL)
        found |= {placed.index: kind} if isinstance(placed, syntax.Parameter) else {}
    found |= {own.index: Type.INTEGER for own in _limits(query)}
    return tuple(found.get(index) for index in range(parameter_count(query)))


def _placed(call: syntax.Call) -> tuple[syntax.Expr | None, Type]:
    """The argument whose place in a call says its type, and that type: a unit of time, the fraction of a quantile."""
    name, arguments = call.name.lower(), call.arguments
    if name in UNITS_OF_TIME and arguments:
        return arguments[0], Type.TEXT
    if arguments and name in CALLS and CALLS[name].takes is Takes.QUANTILE:
        return arguments[-1], Type.REAL
    return None, Type.NULL


def _limits(query: syntax.Queryable) -> Iterator[syntax.Parameter]:
    for node in walk(query):
        if isinstance(node, syntax.Select):
            yield from (own for own in (node.limit, node.offset) if isinstance(own, syntax.Parameter))


def _type_of(node: Any, columns: Mapping[str, Type | None]) -> Type | None:
    match node:
        case syntax.Name(parts):
            return columns.get(parts[-1].lower())
        case syntax.Literal(value):
            return None if value is None else as_constant(value).facts.type
        case syntax.Cast(_, type_name):
            return cast_type(type_name)
        case syntax.Call(_, arguments) if arguments:
            return next((kind for own in arguments if (kind := _type_of(own, columns)) is not None), None)
    return None
