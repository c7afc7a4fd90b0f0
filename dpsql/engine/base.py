"""Where exact numbers come from: what every engine offers, and what it is asked.

Tests: tests/unit/engine/test_duckdb.py.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from datetime import date, datetime
from fractions import Fraction
from typing import TYPE_CHECKING, Protocol

from dpsql.engine.dialect import Dialect
from dpsql.plan.grids import Bins
from dpsql.plan.types import Awaited, Type, Value
from dpsql.worker.making import Made, Way

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
            With ``parted`` it is read in parts instead, of so many rows each.
        parted: The text of one part of the result, by a number that follows from a row's keys: the text up to the
            number of parts, and what stands behind the place among them. None where the result is only read whole.
        listed: Columns with a list of values each: they travel as places in it, BIGINT in ``columns``; a place behind
            its end is for whatever is none of them.
        made: What the worker makes of the rows; None where they are the result.
        ways: Others in which it may find the same result, with the same parameters: it tries these first, in order.
        bins: Not empty where the result is what units have in all, by size (`plan.needs.Sized`), but for what the
            database adds up itself: of each kind of total its least, its largest, and its edges; None of one that is
            added up as it is. Where there are several kinds, ``of`` says behind the keys which it is.
        by_unit: Then, whether each row is what a unit has in a group, or in a cell of one, or would be beside another
            kind of total: that costs little there.
        beside: How many totals of each unit the statement adds up side by side, where the database does; 0 for another.
    """

    sql: str
    parameters: tuple[Value | Awaited, ...]
    columns: tuple[tuple[str, str], ...]
    tables: frozenset[str]
    functions: frozenset[str]
    most_rows: int | None = None
    parted: tuple[str, str] | None = None
    listed: tuple[tuple[str, tuple[Value, ...]], ...] = ()
    made: Made | None = None
    ways: tuple[Way, ...] = ()
    bins: tuple[Bins | None, ...] = ()
    by_unit: bool = False
    beside: int = 0

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
        longest: Letters of its longest text; 0 for other types.
    """

    name: str
    type: Type
    low: Fraction | date | datetime | None
    high: Fraction | date | datetime | None
    values: tuple[Value, ...] | None
    nullable: bool
    multiplicity: int
    longest: int = 0


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

    def run_all(self, statements: Sequence[EngineStatement]) -> list[RawTable]:
        """The results of several statements, in their order; as `run`, but that some may have run before one fails."""

    def close(self) -> None:
        """Frees the engine's process. Harmless when repeated."""
