"""Functions of whole tables in FROM: rows of numbers, one a privacy unit, in; a small released table out.

    SELECT * FROM dp_kmeans((SELECT x, y FROM places), k => 8, bound => 1, scale => (0.001, 1))

The answer's rows are known beforehand (a number for each centre), so that they show nothing. Around it stands
ordinary SQL over released values.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from decimal import Decimal
from fractions import Fraction

from dpsql.errors import UnsupportedQuery
from dpsql.plan.known.conditions import bare_identity
from dpsql.plan.known.relations import is_public, unit_of
from dpsql.plan.known.scope import Scope, ScopeEntry, same_name
from dpsql.plan.nodes import Aggregate, Column, Expression
from dpsql.plan.over_answers.stages import RELEASED, plan_stage, released_names
from dpsql.plan.plans import Key, Output, Plan, TableFunction
from dpsql.plan.rows.from_where import Rows
from dpsql.plan.types import Facts, Type, Value
from dpsql.plan.values.expressions import Resolver, as_constant, nearest
from dpsql.sql import syntax

__all__ = ["NAMES", "plan_table_function"]

MOST_CENTRES = 160
"""Centres of one call. It is a choice: a round number below 163, the most of which `clusters` has a plan."""


@dataclass(frozen=True, slots=True)
class Signature:
    """What one function is called with.

    Attributes:
        numbers: Its named arguments to how many numbers each takes.
        optional: Those that may be left out.
        whole: Those that are whole numbers.
        columns: The most columns of its query.
        title: What the column that names the answer's rows is called.
        example: How it is written.
    """

    numbers: Mapping[str, int]
    optional: frozenset[str]
    whole: frozenset[str]
    columns: int
    title: str
    example: str


SIGNATURES: Mapping[str, Signature] = {
    "dp_kmeans": Signature(
        {"k": 1, "bound": 1, "scale": 2, "parts": 1},
        frozenset({"parts"}),
        frozenset({"k", "parts"}),
        64,
        "id",
        "dp_kmeans((SELECT x, y FROM t), k => 8, bound => 1, scale => (0.001, 1))",
    ),
    "dp_covariance": Signature(
        {"parts": 1},
        frozenset({"parts"}),
        frozenset({"parts"}),
        16,
        "variable",
        "dp_covariance((SELECT x, y FROM t))",
    ),
}
"""By name. The most columns, 64 and 16, are choices: the noise grows with them."""
NAMES = tuple(SIGNATURES)


def plan_table_function(query: syntax.Select, source: syntax.TableFunctionCall, rows: Rows) -> Plan:
    """The plan of a SELECT over a table function alone; its options are left to the caller.

    Raises:
        UnsupportedQuery: Unknown function or arguments, or rows that it does not take.
    """
    signature = SIGNATURES.get(source.call.name)
    if signature is None:
        raise UnsupportedQuery(
            "there is no such table function.", construct=source.call.name, position=source.position,
            hint=nearest(source.call.name, NAMES) or f"There are {', '.join(NAMES)}.",
        )  # fmt: skip
    reading = _Reading(source, signature, rows)
    plan = reading.plan()
    scope = Scope((ScopeEntry(source.alias or source.call.name, released_names(plan)),))
    return replace(plan, stages=(plan_stage(query, scope, rows.parameters),))


@dataclass(frozen=True, slots=True)
class _Reading:
    """One call while it is resolved."""

    source: syntax.TableFunctionCall
    signature: Signature
    rows: Rows

    def plan(self) -> Plan:
        call = self.source.call
        plain = len(call.arguments) == 1 and isinstance(call.arguments[0], syntax.ScalarQuery)
        if not plain or call.distinct or call.star or call.where is not None or call.order:
            raise self._refusal(call.name, "it takes one query in parentheses, and named arguments.")
        named = self._named()
        query = call.arguments[0].query  # type: ignore[union-attr]  # a ScalarQuery, checked above
        sub = self.rows.within(query).sub(query)
        if is_public(sub.relation) or unit_of(sub.relation) is None:
            raise UnsupportedQuery(
                "it needs rows that have their privacy unit.", construct=call.name, position=query.position,
                hint="Read a private table, without DISTINCT.",
            )  # fmt: skip
        columns = tuple((name, self._number(name, column, query)) for name, column in sub.columns.items())
        most, title = self.signature.columns, self.signature.title
        if not 1 <= len(columns) <= most:
            raise self._refusal(call.name, f"it takes 1 to {most} columns.")
        if any(same_name(name, title) for name, _ in columns):
            raise self._refusal(title, "the answer names its rows so; give this column another name.")
        key = self._key(named, [name for name, _ in columns])
        text = f"{call.name}({', '.join(name for name, _ in columns)})"
        aggregates = tuple(
            Aggregate(f"a{i}", call.name, column, f"{text}.{name}", position=self.source.position)
            for i, (name, column) in enumerate(columns)
        )
        values = [
            Output(name, Column(RELEASED, a.name, Facts(Type.REAL)))
            for a, (name, _) in zip(aggregates, columns, strict=True)
        ]
        first = Output(title, Column(RELEASED, key.name, Facts(key.expression.facts.type, nullable=False)))
        return Plan(
            relation=sub.relation,
            keys=(key,),
            aggregates=aggregates,
            outputs=(first, *values),
            table=TableFunction(call.name, text, columns, tuple(named.items()), self.source.position),
        )

    def _key(self, named: Mapping[str, tuple[Fraction, ...]], columns: list[str]) -> Key:
        """What the answer's rows are called: numbers of centres, or the names of the columns."""
        if "k" not in named:
            return Key("k0", as_constant(columns[0]), tuple(columns))
        (k,) = named["k"]
        if not 1 <= k <= MOST_CENTRES:
            raise self._refusal("k", f"it is a whole number from 1 to {MOST_CENTRES}.")
        return Key("k0", as_constant(1), tuple(range(1, int(k) + 1)))

    def _named(self) -> dict[str, tuple[Fraction, ...]]:
        resolver = Resolver(lambda _: None, self.rows.parameters)
        named: dict[str, tuple[Fraction, ...]] = {}
        for name, node in self.source.call.named:
            wanted = self.signature.numbers.get(name)
            if wanted is None:
                raise self._refusal(name, "there is no such argument.")
            pair = isinstance(node, syntax.Call) and node.name == "row"
            parts = node.arguments if isinstance(node, syntax.Call) and pair else (node,)
            numbers = [_exact(resolver.constant(part, name)) for part in parts]
            if len(numbers) != wanted or any(number is None for number in numbers):
                raise self._refusal(name, "it takes a number." if wanted == 1 else f"it takes {wanted} numbers.")
            named[name] = tuple(number for number in numbers if number is not None)
            if name in self.signature.whole and named[name][0].denominator != 1:
                raise self._refusal(name, "it is a whole number.")
        missing = [name for name in self.signature.numbers if name not in {*named, *self.signature.optional}]
        if missing:
            raise self._refusal(missing[0], "this argument is missing.")
        return named

    def _number(self, name: str, column: Expression, query: syntax.Queryable) -> Expression:
        column = bare_identity(column, query.position)
        if not column.facts.type.numeric or (isinstance(column, Column) and column.identifies):
            raise UnsupportedQuery(
                "it takes columns of numbers, and no privacy unit or key.", construct=name, position=query.position,
                hint="Name the columns of numbers in its query.",
            )  # fmt: skip
        return column

    def _refusal(self, construct: str, message: str) -> UnsupportedQuery:
        return UnsupportedQuery(
            message, construct=construct, position=self.source.position, hint=f"Write {self.signature.example}."
        )


def _exact(value: Value) -> Fraction | None:
    """A number as it is, or None for any other value."""
    if isinstance(value, bool) or not isinstance(value, int | float | Decimal):
        return None
    return Fraction(value)
