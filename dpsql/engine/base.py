"""Where exact numbers come from: what every engine offers, and what it is asked.

Tests: tests/unit/engine/test_duckdb.py.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from datetime import date, datetime
from fractions import Fraction
from typing import TYPE_CHECKING, Protocol

from dpsql.engine.dialect import Dialect
from dpsql.plan.grids import Bins
from dpsql.plan.types import Awaited, Type, Value

if TYPE_CHECKING:
    from dpsql.privacy.tables import RawTable

__all__ = ["Engine", "EngineStatement", "PublicColumn", "PublicTable"]


@dataclass(frozen=True, slots=True)
class EngineStatement:
    """One SELECT for an engine, and what it is meant to be: the engine's own parser must agree.

    Attributes:
        sql: The text, with ``?`` or ``$n`` for parameters; tables qualified as ``"bounded"."main"."name"``.
        parameters: Their values, in order; some may be awaited, until `at` has them.
        columns: (name, wire type) of every column of the result, in order; wire types are BIGINT, HUGEINT, DOUBLE,
            VARCHAR, DATE, TIMESTAMP and BOOLEAN.
        tables: Names of the tables it reads: all of them and no other.
        functions: Names of the functions and operators it may use, as DuckDB's parser reports them: ``sum``, ``+``,
            ``~~`` for LIKE, ``count_star`` for ``count(*)``. Comparisons, AND, OR, NOT, IN, BETWEEN, CASE,
            COALESCE, TRY and casts are no functions to it.
        most_rows: With more rows in its result the statement fails, as it does when it runs past the deadline; None for
            no such limit.
        words: Not empty where the statement gives rows of whole numbers, none of them NULL, and the worker counts them:
            each different row comes once, rising, and ``rows``, the last of ``columns``, says how many there were. A
            word is columns that are one number in the worker, in their order: the least value and the binary digits of
            each, by public facts.
        edges: Where not empty the statement gives a row's unit ``u`` and its stored rank ``r0`` in the place of
            ``rank`` and ``units``; the rows come in the order of both. The worker finds each one's place within its
            unit: ``rank`` is the first of these edges that it does not exceed, ``units`` is 1 for a unit's last row.
        marked: Whether the column before ``rows`` is 1 or 0, and no part of the row: it comes as the number of its rows
            where it is 1.
        bins: Not empty where the statement gives rows of one unit after the other, and the worker adds up what each
            unit has (`plan.needs.Sized`): of each kind of total its least, its largest, and its edges; None of one that
            is added up as it is. Where there are several kinds, ``of`` says behind the keys which it is. Without
            ``adds`` the rows are what it would find: they were stored by size.
        by_unit: Then, whether each row is what a unit has in a group, or in a cell of one, or would be beside another
            kind of total: that costs little there.
        alone: Whether each row is of a unit of its own, in any order, and does not say of which; there are no keys.
        first_rows: Where the worker adds up such rows by group, and there are no ``bins``: how many rows of each unit
            count, its first ones; 0 for all.
        most_groups: Then, how many groups of each unit count, those of its first rows that count; 0 for all.
        clamps: Then, for each of ``adds``, where a unit's total in a group is clamped to; None where it is not.
        adds: Where the worker adds up rows, for each total or column what it is of: ``rows``, ``units``, or ``count``
            or ``sum`` of ``x0``, ``x1``, ..., by its index. The rows have the keys (`listed`), the number of their unit
            ``u``, and the values: whole numbers of any width, NULL among the values alone.
        beside: How many totals of each unit the statement adds up side by side, where the database does; 0 for another.
        listed: Columns with a list of values each: they travel as places in it, BIGINT in ``columns``; a place behind
            its end is for whatever is none of them.
        repeats: Not empty where the worker may find the same result in another way, with the same parameters. Two
            texts: the groups, with rows in the place of units and behind all columns a number ``k`` of their keys; and
            all rows, unit by unit, as their ``k`` and the number of their unit ``u``. A group's units are its rows less
            those that repeat it within their unit; where two groups have the same number, ``sql`` runs.
        by_key: Not empty where there is one key, of `ordered.WHOLE`, and nothing else but numbers of rows and of units:
            a text of all rows, unit by unit, as ``u`` and the key itself, ``k``. The worker counts these first, with
            the same parameters; where keys lie too far apart, it goes on with the others.
        of_units: Then, the places of the columns that say how many units there are.
        rank_digits: Where rows or groups are cut, ``u`` is the number of a row's unit and below it, in so many binary
            digits, the row's rank; 0 where it is the unit's alone.
    """

    sql: str
    parameters: tuple[Value | Awaited, ...]
    columns: tuple[tuple[str, str], ...]
    tables: frozenset[str]
    functions: frozenset[str]
    most_rows: int | None = None
    words: tuple[tuple[tuple[int, int], ...], ...] = ()
    edges: tuple[int, ...] = ()
    marked: bool = False
    bins: tuple[Bins | None, ...] = ()
    by_unit: bool = False
    alone: bool = False
    first_rows: int = 0
    most_groups: int = 0
    clamps: tuple[tuple[int, int] | None, ...] = ()
    adds: tuple[tuple[str, int], ...] = ()
    beside: int = 0
    listed: tuple[tuple[str, tuple[Value, ...]], ...] = ()
    repeats: tuple[str, ...] = ()
    by_key: str = ""
    of_units: tuple[int, ...] = ()
    rank_digits: int = 0

    @property
    def identity(self) -> str:
        """What tells it from any other statement, in every process: all that an engine is told, not the text alone."""
        told = (getattr(self, field.name) for field in fields(self))
        return repr([sorted(own) if isinstance(own, frozenset) else own for own in told])

    @property
    def awaited(self) -> tuple[Awaited, ...]:
        """The parameters whose values are released first."""
        return tuple(own for own in self.parameters if isinstance(own, Awaited))

    def at(self, values: Mapping[Awaited, Value]) -> EngineStatement:
        """The statement with these values for what it awaits."""
        own = [values[value] if isinstance(value, Awaited) else value for value in self.parameters]
        return replace(self, parameters=tuple(own))


@dataclass(frozen=True, slots=True)
class PublicColumn:
    """What is known of a column of a public table, from its values.

    Attributes:
        name: Its name.
        type: Its type; decimals are REAL, and whatever has no type of ours is TEXT.
        low: Smallest value (numbers exactly), or None for text and for a column of NULLs.
        high: Largest value, or None likewise.
        values: Its distinct values other than NULL, sorted, if there are at most 100,000; else None.
        nullable: Whether it holds a NULL.
        multiplicity: Largest number of rows with one value other than NULL.
    """

    name: str
    type: Type
    low: Fraction | date | datetime | None
    high: Fraction | date | datetime | None
    values: tuple[Value, ...] | None
    nullable: bool
    multiplicity: int


@dataclass(frozen=True, slots=True)
class PublicTable:
    """A public table: its number of rows, and its columns by name, in order."""

    name: str
    rows: int
    columns: Mapping[str, PublicColumn]


class Engine(Protocol):
    """One version of the bounded tables, ready to be asked."""

    @property
    def version(self) -> int:
        """The table version."""

    @property
    def public(self) -> Mapping[str, PublicTable]:
        """The public tables, by name."""

    @property
    def dialect(self) -> Dialect:
        """How it spells SQL."""

    def verify(self, statement: EngineStatement) -> None:
        """Returns if the engine stands, and reads the statement as it was meant. No row is read: ask before the charge.

        Raises:
            OperationalError: If it does not stand. The text is fixed; details go to the owner's log alone.
            InvariantBroken: If it reads another statement than was meant.
        """

    def stand(self) -> None:
        """Returns if the engine stands; one that does not, but can, is started. It costs next to nothing.

        Raises:
            OperationalError: As `verify`.
        """

    def run(self, statement: EngineStatement) -> RawTable:
        """The statement's exact result.

        Raises:
            EngineFailed: Whatever goes wrong; details go to the owner's log alone. Its ``__cause__`` is a
                `WorkerFailed`, whose ``overrun`` tells whether the deadline passed.
            InvariantBroken: If the engine reads another statement than was meant. Nothing was run.
        """

    def close(self) -> None:
        """Frees the engine's process. Harmless when repeated."""
