"""How a database spells our SQL. DIALECTS.md says how three of them do.

A row of the allow-list is written in SQL that every database has (CASE, AND, =, BETWEEN, COALESCE ..), in which each
call of a lower-case name is a *primitive*: ``CASE WHEN {1} <> 0 THEN whole_quotient({0}, {1}) END``. A primitive means
the same everywhere, and a dialect spells it: ``({0} // {1})``, or ``({0} DIV {1})``. Each spelling is total: it gives a
value or NULL for all that the row lets through to it. The SQL that reads the owner's tables and builds the bounded ones
is made of primitives, too.

Tests: tests/sql/test_dialects.py.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction

from dpsql.errors import UnsupportedQuery
from dpsql.plan.functions import Function, Spelt
from dpsql.plan.functions.table import Work
from dpsql.plan.known.relations import has_left_join
from dpsql.plan.nodes import Relation
from dpsql.plan.types import Type, Value

__all__ = ["CLOCK_AND_OFFSET", "FAMILIES", "OFFSET", "WIRE", "Dialect", "filled", "functions_in"]

WIRE = {
    Type.INTEGER: "BIGINT",
    Type.REAL: "DOUBLE",
    Type.BOOLEAN: "BOOLEAN",
    Type.TEXT: "VARCHAR",
    Type.DATE: "DATE",
    Type.TIMESTAMP: "TIMESTAMP",
    Type.NULL: "BIGINT",
}
"""The wire type that holds each type's values, in results and in bounded tables."""

FAMILIES = ("integer", "wide", "real", "decimal", "boolean", "text", "date", "timestamp", "nested", "other")
"""What kinds of values the owner's columns hold. A ``wide`` integer may be beyond 64 bits."""


@dataclass(frozen=True, slots=True)
class Dialect:
    """One database's words.

    Attributes:
        name: What people call it.
        quote: The sign around a name.
        types: What it calls each wire type.
        parameter: A bound value: ``{number}`` from 1, ``{type}`` its type.
        table: A bounded table: ``{name}``, quoted.
        escapes: Each sign that a text constant cannot hold as it is, and what stands for it.
        widest: The largest whole number of the wire type HUGEINT.
        spellings: Primitive to text: ``{0}`` the first argument, ``{*}`` all of them. One that is spelled in its own
            way with two arguments stands there as ``trim/2``, too. What does not stand there the database has not.
        prefix: What stands before the names of bounded tables, inside of the quotes.
        exact: Whether upper and lower case differ in the names of columns.
        counts: Whether its engine counts, or adds up, the rows that a statement gives; see `worker.making`.
            Then small numbers of units and of listed values are stored, too, and units' totals by size.
        narrow: Its types of whole numbers that are narrower than BIGINT, with the binary digits that each holds beside
            the sign, rising.
        once: What begins a subquery whose columns are used more than once by the query around it: without, the database
            would work out each of them as often as it is used.
        works: How long functions take of which it makes more work than DuckDB does, by name.
        over_left_joins: Spellings in the place of these, in statements that hold a left join (`over`).
    """

    name: str
    quote: str
    types: Mapping[str, str]
    parameter: str
    table: str
    escapes: Mapping[str, str]
    widest: int
    spellings: Mapping[str, str]
    prefix: str = ""
    exact: bool = False
    counts: bool = False
    narrow: tuple[tuple[str, int], ...] = ()
    once: str = ""
    works: Mapping[str, Work] = field(default_factory=dict)
    over_left_joins: Mapping[str, str] = field(default_factory=dict)
    _spelt: dict[tuple[str, str, int], Spelt] = field(default_factory=dict, init=False, repr=False, compare=False)
    _read: dict[str, tuple[str, frozenset[str]]] = field(default_factory=dict, init=False, repr=False, compare=False)

    def over(self, relation: Relation) -> Dialect:
        """The words of statements over such rows."""
        if not self.over_left_joins or not has_left_join(relation):
            return self
        return replace(self, spellings={**self.spellings, **self.over_left_joins})

    def has(self, primitive: str) -> bool:
        """Whether it spells a primitive that a statement can do without."""
        return primitive in self.spellings

    def quoted(self, name: str) -> str:
        """A name, whatever signs it holds."""
        return f"{self.quote}{name.replace(self.quote, self.quote * 2)}{self.quote}"

    def bounded(self, name: str) -> str:
        """The bounded table of this name."""
        return self.table.format(name=self.quoted(self.prefix + name))

    def cast(self, text: str, wire: str) -> str:
        """A value as one of a wire type, which it surely fits."""
        return f"CAST({text} AS {self.types[wire]})"

    def narrowed(self, text: str, low: int, high: int) -> str:
        """A whole number from ``low`` to ``high`` as one of the narrowest type that holds them."""
        digits = max(high, -1 - low, 0).bit_length()
        return f"CAST({text} AS {next((name for name, own in self.narrow if digits <= own), self.types['BIGINT'])})"

    def whole(self, number: int) -> str:
        """A whole number that may stand beside a BIGINT, in the branches of a CASE, say."""
        return str(number)

    def numbers(self, numbers: Iterable[int], name: str) -> str:
        """What stands behind FROM for whole numbers in one column, named ``k``."""
        return f"({' UNION ALL '.join(f'SELECT {number} AS {name}' for number in numbers)}) AS k"

    def windowed(self, text: str, wire: str) -> str:
        """What a window function gives, as one of a wire type."""
        return text

    def text(self, value: str) -> str:
        """A text constant. Of the owner's words alone: what an analyst writes is bound."""
        return f"'{''.join(self.escapes.get(sign, sign) for sign in value)}'"

    def constant(self, value: Value | Fraction, wire: str) -> str:
        """A constant of a wire type; a number that is to be a DOUBLE is the nearest one."""
        if value is None:
            return self.cast("NULL", wire)
        if wire == "VARCHAR":
            return self.text(str(value))
        written = repr(float(value)) if wire == "DOUBLE" else str(value)  # type: ignore[arg-type]  # numeric
        return self.cast(self.text(written), wire)

    def call(self, primitive: str, *arguments: str) -> str:
        """A primitive of these arguments, which are SQL of this database already.

        Raises:
            UnsupportedQuery: The database has no spelling of it.
        """
        return filled(self._spelling(primitive, len(arguments)), arguments)

    def spelled(self, sql: str) -> tuple[str, frozenset[str]]:
        """A row's SQL with its primitives spelled, the places of its arguments as they were; and `functions_in` it.

        Raises:
            UnsupportedQuery: The database has no spelling of one.
        """
        if sql not in self._read:
            text = self._spelled(sql)
            self._read[sql] = text, functions_in(text)
        return self._read[sql]

    def spelt(self, function: Function) -> Spelt:
        """How much its words for a function have it do; of one that it has not, what DuckDB's do."""
        key = function.name, function.sql, len(function.parameters)
        if key not in self._spelt:
            self._spelt[key] = self._counted(function)
        return self._spelt[key]

    def _counted(self, function: Function) -> Spelt:
        try:
            sql = self.spelled(function.sql)[0]
        except UnsupportedQuery:
            return Spelt.as_written(function)
        every, behind = sql.count("{*}"), sql.count("{rest}")
        found = [sql.count(f"{{{at}}}") + every + (behind if at else 0) for at in range(len(function.parameters))]
        more = _calls(sql) - _calls(function.sql)
        return Spelt([max(1, count) for count in found], 1 + max(0, more), self.works.get(function.name))

    def _spelled(self, sql: str) -> str:
        found = _PRIMITIVE.search(sql)
        if found is None:
            return sql
        arguments, end = _arguments(sql, found.end())
        call = filled(self._spelling(found[1], len(arguments)), [self._spelled(argument) for argument in arguments])
        return sql[: found.start()] + call + self._spelled(sql[end:])

    def _spelling(self, primitive: str, count: int) -> str:
        spelling = self.spellings.get(f"{primitive}/{count}") or self.spellings.get(primitive)
        if spelling is None:
            raise UnsupportedQuery(
                f"{self.name} has nothing that computes it without ever failing.", construct=primitive,
                hint=_INSTEAD.get(primitive, "Leave it out, or write it with other functions."),
            )  # fmt: skip
        return spelling


_INSTEAD = {
    "strftime": "Write date_trunc('month', x), or year(x) and month(x).",
    **dict.fromkeys(
        ("regexp_matches", "regexp_full_match"),
        "It is what ~ and SIMILAR TO stand for. Write LIKE with % and _ (ILIKE whatever the case), or x IN ('a', 'b').",
    ),
}
"""What to write in the place of functions that an engine lacks, where there is something close."""

OFFSET = "[ ]?([Zz]|UTC|[+-](0[0-9]|1[0-5])(:?[0-5][0-9])?)$"
"""How far the clock of a text is ahead of UTC, at the text's end: a pattern that all databases read alike."""
CLOCK_AND_OFFSET = ":[0-9][0-9]([.][0-9]+)?" + OFFSET
"""The same behind a time of day: without one, the end of 2024-06-15 is a day."""


_PRIMITIVE = re.compile(r"\b([a-z_][a-z_0-9]*)\(")
_PLACE = re.compile(r"\{(\d+|\*|rest|over)\}")
_FUNCTION = re.compile(r"\b([A-Za-z_][A-Za-z_0-9]*)\(")
_SIGN = re.compile(r"(?:^|[ (])(\|\||//|[-+*/%])(?= |\{)")
_WORDS = {" NOT LIKE ": "!~~", " LIKE ": "~~", " NOT ILIKE ": "!~~*", " ILIKE ": "~~*"}
_SYNTAX = {"cast", "try_cast", "coalesce", "decimal"}


def _arguments(sql: str, start: int) -> tuple[list[str], int]:
    """The arguments of a call that opens before ``start``, and where the text goes on behind it."""
    depth, at, found = 1, start, []
    for place in range(start, len(sql)):
        depth += {"(": 1, ")": -1}.get(sql[place], 0)
        if depth == 0 or (depth == 1 and sql[place] == ","):
            found.append(sql[at:place].strip())
            at = place + 1
        if depth == 0:
            return [text for text in found if text], at
    raise ValueError(sql)


def filled(template: str, arguments: Sequence[str], over: str = "{over}") -> str:
    """A template with its arguments: ``{0}`` the first, ``{*}`` all, ``{rest}`` all but the first; ``{over}`` a window.

    >>> filled("({0} IN ({rest}))", ["a", "b", "c"])
    '(a IN (b, c))'
    """
    several = {"*": ", ".join(arguments), "rest": ", ".join(arguments[1:]), "over": over}
    return _PLACE.sub(lambda place: several[place[1]] if place[1] in several else arguments[int(place[1])], template)


def _calls(sql: str) -> int:
    """How many functions a template calls."""
    return sum(name.lower() not in _SYNTAX for name in _FUNCTION.findall(sql))


def functions_in(sql: str) -> frozenset[str]:
    """The functions and operators that a template uses, as an `EngineStatement` names them.

    >>> sorted(functions_in("CASE WHEN abs({1}) >= 1 THEN ({0} / {1}) END"))
    ['/', 'abs']
    """
    called = {name.lower() for name in _FUNCTION.findall(sql)} - _SYNTAX
    return frozenset((*called, *_SIGN.findall(sql), *(name for word, name in _WORDS.items() if word in sql)))
