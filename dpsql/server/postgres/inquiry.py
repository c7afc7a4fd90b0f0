"""A statement at this door: what it is asked by, what comes of it, and what a connection keeps of both.

Source: PostgreSQL 17 documentation, section 53.2.3, for prepared statements and portals.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from dpsql.plan.types import Parameters, Passed, Type
from dpsql.server.core import Guest
from dpsql.server.postgres import types
from dpsql.server.postgres.catalogue import Catalogue
from dpsql.server.postgres.messages import ProtocolViolation, ResultColumn
from dpsql.server.postgres.settings import Settings

__all__ = [
    "Around", "Context", "CopyForm", "Inquiry", "Portal", "PreparedStatement", "Result", "formats_of", "weighed",
]  # fmt: skip

EACH = 64
"""Bytes of a value, or of a statement, beside those of its text. It is a choice: Python's own take some 30 to 100."""


class CopyForm(ABC):
    """How COPY writes rows.

    Attributes:
        binary: Whether their values are in binary.
    """

    binary = False

    @abstractmethod
    def begun(self, columns: Sequence[ResultColumn]) -> bytes:
        """What stands before the first row."""

    @abstractmethod
    def row(self, values: Sequence[bytes | None]) -> bytes:
        """One row, of values in their format."""

    def ended(self) -> bytes:
        """What stands behind the last row."""
        return b""


@dataclass(frozen=True, slots=True)
class Result:
    """What is sent back.

    Attributes:
        tag: What PostgreSQL says when such a statement is done; {} is the number of rows.
        columns: Of the rows; None where the statement has none.
        rows: Their values.
        notices: What is to be known beside them.
        copied: How COPY writes the rows; None where they are sent as rows.
        opened: What the cursor holds that was opened; None where none was.
        weight: Bytes that its rows take, about; told of what is kept (`weighed`).
    """

    tag: str
    columns: tuple[ResultColumn, ...] | None = None
    rows: Sequence[Sequence[Any]] = ()
    notices: tuple[str, ...] = ()
    copied: CopyForm | None = None
    opened: Result | None = None
    weight: int = 0


@dataclass(slots=True)
class Context:
    """What the statements of one connection share.

    Attributes:
        guest: Who asks.
        settings: PostgreSQL's own.
        catalogue: Who answers about tables and columns.
        inside: Whether a transaction was begun.
        changed: Settings that clients are to be told of.
        told: Whether it was said how intervals are shown.
        portals: The portals that are open, and the cursors, which are portals too.
    """

    guest: Guest
    settings: Settings
    catalogue: Catalogue
    inside: bool
    changed: list[tuple[str, str]]
    told: bool = False
    portals: dict[str, Portal] = field(default_factory=dict)

    @property
    def version(self) -> int:
        """Of the tables, now."""
        return self.guest.free(lambda session: session.version)


class Inquiry(ABC):
    """One statement.

    Attributes:
        before: Characters before its text in the statement that it is a part of.
        parameters: The types of its parameters, where they are known; filled in by `columns`.
        lists: Which of them take an array, and the type of its elements.
        told: The types of the parameters that the client named, as oids.
        varies: Whether its columns may be others the next time, though nothing changed but what this connection holds.
    """

    before = 0
    varies = False

    def __init__(self, context: Context, text: str, told: Sequence[int] = ()) -> None:
        self.context = context
        self.text = text
        self.parameters: tuple[Type | None, ...] = ()
        self.lists: Mapping[int, int] = {}
        self.told = told

    def columns(self) -> tuple[ResultColumn, ...] | None:
        """The columns of its answer, before it is asked; None where it has none."""
        return None

    @abstractmethod
    def answered(self, values: Parameters) -> Result:
        """What it gives with these values of its parameters."""


class Around(Inquiry):
    """A statement that gives no rows of its own, with a query in it.

    Args:
        query: The query.
        before: Characters before it.
    """

    def __init__(self, query: Inquiry, before: int) -> None:
        super().__init__(query.context, query.text, query.told)
        self.query, self.before = query, before

    def columns(self) -> tuple[ResultColumn, ...] | None:
        """None; the types of the query's parameters are found out."""
        self.query.columns()
        self.parameters, self.lists = self.query.parameters, self.query.lists
        return None


@dataclass(slots=True)
class PreparedStatement:
    """A prepared statement.

    Attributes:
        offset: Characters before it in what was sent.
        question: What it asks; None for an empty one.
        oids: The types of its parameters that the client named.
        columns: Its columns, once they were asked for.
        described: Whether they were.
        intervals: Whether those of intervals were among them then.
        version: The version of the tables then.
    """

    offset: int
    question: Inquiry | None
    oids: list[int] = field(default_factory=list)
    columns: tuple[ResultColumn, ...] | None = None
    described: bool = False
    intervals: bool = False
    version: int = 0

    @property
    def weight(self) -> int:
        """Bytes that it takes, about."""
        return EACH + (len(self.question.text) if self.question else 0)

    def sent(self, index: int) -> int:
        """The type of a parameter that came: as the client said; where it did not, an array's is its place's."""
        own = self.oids[index] if index < len(self.oids) else 0
        many = self.question is not None and index in self.question.lists
        return self.oid(index) if many and own in types.UNTOLD else own

    def oid(self, index: int) -> int:
        """The type of a parameter, for the client: as it said itself, else as its place takes it, else text."""
        if index < len(self.oids) and self.oids[index]:
            return self.oids[index]
        known = self.question.parameters if self.question else ()
        kind = known[index] if index < len(known) else None
        own = types.TEXT if kind is None else types.OIDS[kind]
        many = None if self.question is None else self.question.lists.get(index)
        return own if many is None else types.ARRAYS.get(many, types.ARRAYS[types.TEXT])


@dataclass(slots=True)
class Portal:
    """A statement with its values; and its result, once it was asked.

    Attributes:
        statement: The statement.
        values: Of its parameters.
        formats: Of its columns: none for text, one for all, or one each.
        result: What came; None before it was asked.
        sent: Rows that were sent.
        bound: Bytes that its values take, about.
    """

    statement: PreparedStatement
    values: list[Passed]
    formats: list[int]
    result: Result | None = None
    sent: int = 0
    bound: int = field(init=False)

    def __post_init__(self) -> None:
        self.bound = _weight(self.values)

    @property
    def weight(self) -> int:
        """Bytes that it takes, about: also of its statement, which it may outlive."""
        return self.statement.weight + self.bound + (self.result.weight if self.result else 0)


def weighed(result: Result) -> Result:
    """The same, with what its rows weigh: for portals that are kept. Of many rows it takes a moment."""
    return replace(result, weight=_weight(result.rows))


def _weight(value: Any) -> int:
    """Bytes that a value takes, about, with all that it holds.

    >>> _weight(["abc", 1, (None,)])
    323
    """
    if isinstance(value, list | tuple):
        return EACH + sum(map(_weight, value))
    return EACH + (len(value) if isinstance(value, str | bytes) else 0)


def formats_of(given: Sequence[int], columns: Sequence[ResultColumn]) -> list[int]:
    """The format of each column.

    Args:
        given: None for text, one for all, or one each.
        columns: The columns.
    """
    if len(given) not in (0, 1, len(columns)):
        raise ProtocolViolation("there are not as many formats as columns")
    return list(given) if len(given) == len(columns) else list(given or [0]) * len(columns)
