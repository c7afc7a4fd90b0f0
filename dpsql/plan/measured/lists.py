"""Lists of quantiles: QUANTILE_CONT(x, [0.25, 0.75]), APPROX_QUANTILES(x, 4), one of their elements, and their lengths.

A list is the calls of its elements: each is an aggregate that is measured and paid for like any other, once, however
often it is named. Elements that nobody names are neither measured nor paid for; those of a list that leaves stand side
by side until then (`plans.shown`).

Tests: tests/unit/answers/test_lists.py, tests/sql.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from decimal import ROUND_FLOOR, Context, Decimal

from dpsql.errors import UnsupportedQuery
from dpsql.plan.aggregates import CALLS, Takes
from dpsql.plan.known.scope import Scope, element_name
from dpsql.plan.measured.quantile_calls import parts_of_list
from dpsql.plan.nodes import Expression
from dpsql.plan.plans import Output, shown
from dpsql.plan.values.expressions import Resolver
from dpsql.sql import syntax
from dpsql.sql.elements import ELEMENT, SUBSCRIPT
from dpsql.sql.tokens import fold

__all__ = ["Lists", "numbered"]

PICKS = frozenset({SUBSCRIPT, "list_extract", "list_element", "array_extract"})
"""What picks one element, by its place from 1."""
LENGTHS = frozenset({"array_length", "cardinality", "len", "length"})
"""What counts the elements."""
MOST_ELEMENTS = 101  # Of a list that leaves. It is a choice: every percentile, and the ends.
DIGITS = Context(prec=15, rounding=ROUND_FLOOR)  # Of an element's part of a list's epsilon, which is never more.


def numbered(node: syntax.Expr, outputs: Sequence[Output]) -> Expression | None:
    """What ``ORDER BY 2`` stands for: the second column of the answer; None where no number is written.

    Raises:
        UnsupportedQuery: There is no such column, or it is a list, or an end of an interval, which no row has yet.
    """
    number = node.value if isinstance(node, syntax.Literal) else None
    if isinstance(number, bool) or not isinstance(number, int):
        return None
    columns = shown(outputs)
    if not 1 <= number <= len(columns):
        raise UnsupportedQuery(
            f"there is no column {number}.", construct=str(number), position=node.position,
            hint=f"The select list has {len(columns)}.",
        )  # fmt: skip
    if columns[number - 1].listed:
        raise UnsupportedQuery(
            "rows are not ordered by a list.", construct=str(number), position=node.position,
            hint="Order by one of its elements: ORDER BY q[1].",
        )  # fmt: skip
    output = outputs[columns[number - 1].places[0]]
    if output.end is not None:
        raise UnsupportedQuery(
            "rows are not ordered by an end of an interval beside it.", construct=str(number), position=node.position,
            hint=f"Order by {output.end[0]}, or in a query over the answer: SELECT * FROM (..) ORDER BY {number}.",
        )  # fmt: skip
    return output.expression


@dataclass(frozen=True, slots=True)
class Lists:
    """The lists that one SELECT may name.

    Attributes:
        scope: What its names stand for.
        constants: Reads constants and parameters.
        items: Its select list, whose names HAVING and ORDER BY may use.
    """

    scope: Scope
    constants: Resolver
    items: Sequence[syntax.Item]

    def elements(self, node: syntax.Expr) -> tuple[syntax.Expr, ...] | None:
        """The elements of a list; None for what is no list.

        Raises:
            UnsupportedQuery: A list of more elements than may leave, or of none.
        """
        if isinstance(node, syntax.Name):
            return self._named(node)
        if not isinstance(node, syntax.Call) or node.name not in CALLS:
            return None
        found = self._calls(node)
        if found is not None and len(found) > MOST_ELEMENTS:
            raise UnsupportedQuery(
                f"a list has {MOST_ELEMENTS} elements at most: each is measured and paid for.",
                construct=node.name.upper(), position=node.position, hint="Write fewer quantiles.",
            )  # fmt: skip
        return found

    def read(self, node: syntax.Expr) -> syntax.Expr | None:
        """What the element or the length of a list is; None for anything else.

        Raises:
            UnsupportedQuery: An element that the list does not have, or the whole list by its name.
        """
        if isinstance(node, syntax.Name) and self._named(node) is not None:
            raise UnsupportedQuery(
                "it is a list, which stands in the SELECT list alone.", construct=node.parts[-1],
                position=node.position, hint=f"Name one of its elements here, {node.parts[-1]}[1] say.",
            )  # fmt: skip
        if not isinstance(node, syntax.Call) or node.name not in PICKS | LENGTHS or not node.arguments:
            return None
        listed, *place = node.arguments
        found = self._calls(listed) if isinstance(listed, syntax.Call) else self.elements(listed)
        if found is None:
            return None
        if node.name in LENGTHS:
            return syntax.Literal(len(found), position=node.position)
        number = self.constants.constant(place[0], "the place") if len(place) == 1 else None
        if isinstance(number, bool) or not isinstance(number, int) or not 1 <= number <= len(found):
            raise UnsupportedQuery(
                f"the list has {len(found)} elements.", construct="subscript", position=node.position,
                hint=f"Write one from [1], which is [OFFSET(0)], to [{len(found)}].",
            )  # fmt: skip
        return found[number - 1]

    def lengths_alone(self, query: syntax.Select) -> syntax.Select | None:
        """The same numbers of one public row, for a SELECT that asks for lengths of lists alone: those are public."""
        items = [replace(item, expression=self.read(item.expression) or item.expression) for item in query.items]
        plain = replace(query, items=(), source=None, where=None, options=None, ctes=())
        if plain != syntax.Select(()) or not all(isinstance(item.expression, syntax.Literal) for item in items):
            return None
        changed = any(new != old for new, old in zip(items, query.items, strict=True))
        row = syntax.ListedRows(((syntax.Literal(0),),), ("zero",), None, position=query.position)
        return syntax.Select(tuple(items), row, position=query.position) if changed else None

    def _named(self, name: syntax.Name) -> tuple[syntax.Expr, ...] | None:
        """The elements of a list by its name: of the rows below, or of the same SELECT."""
        found = self._below(name)
        if found is not None or len(name.parts) > 1 or self.scope.holds(name.parts[0]):
            return found
        own = [i.expression for i in self.items if i.alias is not None and fold(i.alias) == name.parts[0]]
        if len(own) != 1:
            return None
        return self._below(own[0]) if isinstance(own[0], syntax.Name) else self.elements(own[0])

    def _below(self, name: syntax.Name) -> tuple[syntax.Expr, ...] | None:
        """The elements of a list of the rows below."""
        *owner, column = name.parts
        found = list[syntax.Expr]()
        while self.scope.holds(element_name(column, len(found)), *owner[-1:]):
            found.append(replace(name, parts=(*owner, element_name(column, len(found)))))
        return tuple(found) or None

    def _calls(self, node: syntax.Call) -> tuple[syntax.Expr, ...] | None:
        """The calls of a list's elements."""
        takes = CALLS[node.name].takes if node.name in CALLS else None
        if takes is Takes.ELEMENT and len(node.arguments) == 2 and ELEMENT not in dict(node.named):
            count = parts_of_list(node, self.constants) + 1
            single = self._priced(node, count)
            return tuple(replace(single, named=(*single.named, (ELEMENT, syntax.Literal(i)))) for i in range(count))
        if takes is not Takes.QUANTILE:
            return None
        for place, argument in enumerate(node.arguments):
            if isinstance(argument, syntax.Call) and argument.name == "list_value" and argument.arguments:
                single = self._priced(node, len(argument.arguments))
                before, after = node.arguments[:place], node.arguments[place + 1 :]
                return tuple(replace(single, arguments=(*before, own, *after)) for own in argument.arguments)
        return None

    def _priced(self, node: syntax.Call, count: int) -> syntax.Call:
        """The call with an equal part of the epsilon that it names, if any, for each of so many elements."""
        own = dict(node.named).get("epsilon")
        number = None if own is None else self.constants.constant(own, "epsilon")
        if isinstance(number, bool) or not isinstance(number, int | Decimal):
            return node  # none, or one that the reader of aggregates refuses
        part = syntax.Literal(DIGITS.divide(Decimal(number), Decimal(count)), position=node.position)
        return replace(node, named=tuple((name, part if name == "epsilon" else own) for name, own in node.named))
