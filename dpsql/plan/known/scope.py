"""What names stand for: the tables and sub-queries of one FROM."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from dpsql.errors import UnsupportedQuery
from dpsql.plan.catalog import TableInfo
from dpsql.plan.nodes import Case, Column, Expression
from dpsql.plan.values.expressions import arguments_of, nearest
from dpsql.plan.values.identities import names_nobody
from dpsql.plan.values.ranges import is_null
from dpsql.sql import syntax
from dpsql.sql.naming import as_written

__all__ = [
    "Scope",
    "ScopeEntry",
    "element_name",
    "identifying",
    "named_where",
    "no_such_table",
    "place_of",
    "same_name",
    "whole_name",
    "without_from",
]

BEHIND = "\0"  # Between the name of a list and the place of one of its elements: no statement can hold it.


def element_name(name: str, place: int | None) -> str:
    """What the element of a list is called in a scope, by its place from 0; the name itself for what is none."""
    return name if place is None else f"{name}{BEHIND}{place}"


def whole_name(name: str) -> str:
    """The name of the list that it is an element of, or the name itself."""
    return name.partition(BEHIND)[0]


def place_of(name: str) -> int | None:
    """Which element of a list has this name, from 0; None for what is none."""
    place = name.partition(BEHIND)[2]
    return int(place) if place else None


def same_name(a: str, b: str) -> bool:
    """Whether two names are one: ASCII case does not count."""
    return len(a) == len(b) and (a == b or _folded(a) == _folded(b))


def _folded(name: str) -> str:
    """What all names that are one have in common."""
    return name.lower() if name.isascii() else name


def without_from(construct: str, position: tuple[int, int] | None, reason: str = "") -> UnsupportedQuery:
    """The refusal of what needs rows, where no FROM names a table."""
    hint = "Name a table; SHOW TABLES lists them."
    return UnsupportedQuery(reason or "there is no FROM.", construct=construct, position=position, hint=hint)


def identifying(expression: Expression) -> Column | None:
    """The first column by which an expression names a person or a record, or None."""
    if isinstance(expression, Column):
        return expression if expression.identifies else None
    if names_nobody(expression):
        return None
    return next((column for part in arguments_of(expression) if (column := identifying(part)) is not None), None)


def named_where(expression: Expression) -> tuple[Column, tuple[Expression, ...]] | None:
    """The unit or key that an expression is where all these conditions hold, and else NULL; None for all else.

    >>> from dpsql.plan.nodes import Constant
    >>> from dpsql.plan.types import Facts, Type
    >>> unit, old = Column("t0", "person", Facts(Type.TEXT), unit=True), Column("t0", "old", Facts(Type.BOOLEAN))
    >>> column, conditions = named_where(Case(((old, unit),), Constant(None, Facts(Type.TEXT)), Facts(Type.TEXT)))
    >>> column.name, [condition.name for condition in conditions]
    ('person', ['old'])
    """
    match expression:
        case Column() if expression.identifies:
            return expression, ()
        case Case(branches=((condition, result),), default=default) if is_null(default):
            inner = named_where(result)
            return None if inner is None or identifying(condition) is not None else (inner[0], (condition, *inner[1]))
    return None


@dataclass(frozen=True, slots=True)
class ScopeEntry:
    """One table or sub-query in FROM.

    Attributes:
        alias: The analyst's name for it.
        columns: What its column names stand for.
        implied: Names that the data lack: a table that owns such a column goes before.
        renamed: As of `TableInfo`.
    """

    alias: str
    columns: Mapping[str, Expression]
    implied: frozenset[str] = frozenset()
    renamed: Mapping[str, str] = field(default_factory=dict)
    _spellings: Mapping[str, list[str]] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        spellings = dict[str, list[str]]()
        for name in self.columns:
            spellings.setdefault(_folded(name), []).append(name)
        object.__setattr__(self, "_spellings", spellings)

    def called(self, name: str) -> Sequence[str]:
        """The names of its columns that are this name."""
        return self._spellings.get(_folded(name), ())

    def nullable(self) -> ScopeEntry:
        """The same after a LEFT JOIN in which it may have no partner. Its columns must be bare."""
        columns = {
            name: replace(column, facts=replace(column.facts, nullable=True)) if isinstance(column, Column) else column
            for name, column in self.columns.items()
        }
        return replace(self, columns=columns)


@dataclass(frozen=True, slots=True)
class Scope:
    """The entries a name may refer to, and those of the query around it.

    Attributes:
        entries: In order of FROM.
        merged: Columns of USING: the same on every side, so that their bare name is no ambiguity.
        outer: The scope around a correlated sub-query, or None.
        tables: Those of the policy, to tell which has a column that none of these has.
    """

    entries: tuple[ScopeEntry, ...]
    merged: frozenset[str] = frozenset()
    outer: Scope | None = None
    tables: Mapping[str, TableInfo] = field(default_factory=dict, compare=False)

    def find(self, name: syntax.Name) -> Expression:
        """What a name stands for, here or in the query around.

        Raises:
            UnsupportedQuery: Unknown or ambiguous name, with the nearest names.
        """
        found = self._found(name)
        if not found and self.outer is not None:
            outside = self.outer._found(name)
            if outside:
                found = outside
        if not found:
            raise self._unknown(name)
        if len(found) > 1 and name.parts[-1].lower() not in self.merged:
            aliases = [entry.alias for entry in self.entries if entry.called(name.parts[-1])]
            own = whole_name(name.parts[-1])
            raise UnsupportedQuery(
                "the name stands in several tables.", construct=own, position=name.position,
                hint=f"Write {' or '.join(f'{alias}.{own}' for alias in aliases[:2])}.",
            )  # fmt: skip
        first = found[0]
        if isinstance(first, Column) and (first.identifies or first.name != name.parts[-1]):
            return replace(first, said=name.spelling or name.parts[-1])
        return first

    def spelling(self, name: syntax.Name) -> str:
        """A column's name as its table spells it: what the answer calls it."""
        column = name.parts[-1]
        own = (c for entry in self.entries for c in entry.called(column))
        return next(own, name.spelling or column)

    def holds(self, name: str, owner: str | None = None) -> bool:
        """Whether a bare name, or one behind its table's, is a column here."""
        entries = [entry for entry in self.entries if owner is None or same_name(entry.alias, owner)]
        return any(entry.called(name) for entry in entries)

    def _found(self, name: syntax.Name) -> list[Expression]:
        *qualifier, column = name.parts
        found = [
            (entry.columns[own], own in entry.implied)
            for entry in self.entries
            if not qualifier or (len(qualifier) == 1 and same_name(entry.alias, qualifier[0]))
            for own in entry.called(column)
        ]
        owned = [expression for expression, implied in found if not implied]
        return owned or [expression for expression, _ in found]

    def _unknown(self, name: syntax.Name) -> UnsupportedQuery:
        if not self.entries:
            return without_from(as_written(name), name.position, "it needs a FROM, and here is none.")
        *qualifier, column = name.parts
        aliases = [entry.alias for entry in self.entries]
        construct = as_written(name)
        if qualifier and not any(len(qualifier) == 1 and same_name(alias, qualifier[0]) for alias in aliases):
            return UnsupportedQuery(
                f"there is no table {'.'.join(qualifier)} in FROM.", construct=construct, position=name.position,
                hint=nearest(qualifier[-1], aliases) or f"FROM has {', '.join(aliases)}.",
            )  # fmt: skip
        meant = [entry for entry in self.entries if not qualifier or same_name(entry.alias, qualifier[0])]
        names = [
            whole_name(own)
            for entry in meant
            for own, expression in entry.columns.items()
            if not (isinstance(expression, Column) and expression.identifies)
        ]
        called = next((new for entry in meant for own, new in entry.renamed.items() if same_name(own, column)), None)
        all_ = ", ".join(names := list(dict.fromkeys(names)))
        text = f" A text stands in single quotes: '{name.spelling}'." if name.quoted and not qualifier else ""
        return UnsupportedQuery(
            "there is no such column (or the policy does not name it).", construct=construct, position=name.position,
            hint=f"The policy calls it {called}." if called else self._elsewhere(column, meant)
            or nearest(column, names) or f"There are {all_}.{text}",
        )  # fmt: skip

    def _elsewhere(self, column: str, meant: Sequence[ScopeEntry]) -> str:
        """Which other table, of FROM or of the policy, has such a column; the empty text where none has."""
        for entry in self.entries:
            if entry not in meant and entry.called(column):
                return f"{entry.alias} has one."
        for name, table in self.tables.items():
            known = (own for own, info in table.columns.items() if not info.unit and info.link is None)
            if table.released is None and table.answer is None and any(same_name(own, column) for own in known):
                whole = not table.public and not table.unit_implied
                return f"{name} has one: {f'JOIN {name} USING ({table.unit})' if whole else 'join it'}."
        return ""


def no_such_table(source: syntax.TableName, known: Sequence[str]) -> UnsupportedQuery:
    """The refusal of a name that is no table's, with the names that are."""
    system = source.name[0] in ("information_schema", "pg_catalog")
    near = "Write SHOW TABLES, or DESCRIBE table." if system else nearest(source.name[-1], known)
    return UnsupportedQuery(
        "there is no such table (or the policy does not name it).", construct=".".join(source.name),
        position=source.position, hint=near or f"There are {', '.join(known)}.",
    )  # fmt: skip
