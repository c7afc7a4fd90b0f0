"""PEP 249 (DB-API 2.0): connections and cursors over a session.

A cursor's answer stays whole: ``cursor.answer`` has the errors, the cost and the measurements behind the fetched rows.
"""

from __future__ import annotations

import datetime as _datetime
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from decimal import Decimal
from os import PathLike
from typing import TYPE_CHECKING, Any, Protocol, Self

from dpsql.answers.answer import Answer
from dpsql.answers.switch import intervals_set, set_answer
from dpsql.closing import Closing
from dpsql.errors import (
    DatabaseError,
    DataError,
    Error,
    IntegrityError,
    InterfaceError,
    InternalError,
    NotSupportedError,
    OperationalError,
    ProgrammingError,
    Warning,  # noqa: A004 - PEP 249 fixes the name
    door,
)
from dpsql.given import sql_given, whole_given
from dpsql.plan.types import Parameters, Shown, Type

if TYPE_CHECKING:
    import pandas
    import polars
    import pyarrow

__all__ = [
    "BINARY",
    "BOOLEAN",
    "DATETIME",
    "NUMBER",
    "ROWID",
    "STRING",
    "Binary",
    "Connection",
    "Cursor",
    "DataError",
    "DatabaseError",
    "Date",
    "DateFromTicks",
    "Error",
    "IntegrityError",
    "InterfaceError",
    "InternalError",
    "NotSupportedError",
    "OperationalError",
    "ProgrammingError",
    "Time",
    "TimeFromTicks",
    "Timestamp",
    "TimestampFromTicks",
    "Warning",
    "apilevel",
    "connect",
    "paramstyle",
    "set_statement",
    "threadsafety",
]

apilevel = "2.0"
threadsafety = 2  # threads may share the module and connections
paramstyle = "qmark"

Date = _datetime.date
Time = _datetime.time
Timestamp = _datetime.datetime
DateFromTicks = _datetime.date.fromtimestamp
TimestampFromTicks = _datetime.datetime.fromtimestamp
Binary = bytes

Description = tuple[str, Shown, None, None, None, None, None]


def TimeFromTicks(ticks: float) -> _datetime.time:  # noqa: N802 - PEP 249 fixes the name
    """The local time of day of seconds since the epoch."""
    return _datetime.datetime.fromtimestamp(ticks).time()


class TypeObject:
    """One of PEP 249's type objects; equal to each type in a cursor's description that it covers.

    >>> Type.INTEGER == NUMBER, Type.TEXT == NUMBER
    (True, False)
    """

    def __init__(self, *types: Type) -> None:
        self._types = frozenset(types)

    def __eq__(self, other: object) -> bool:
        return other is self or other in self._types

    def __hash__(self) -> int:
        return id(self)


STRING = TypeObject(Type.TEXT)
NUMBER = TypeObject(Type.INTEGER, Type.REAL)
DATETIME = TypeObject(Type.DATE, Type.TIMESTAMP)
BOOLEAN = TypeObject(Type.BOOLEAN)
BINARY = TypeObject()
ROWID = TypeObject()


class Asks(Protocol):
    """What a connection needs of a session."""

    def query(self, sql: str, parameters: Parameters = ()) -> Answer:
        """The answer to one statement."""
        ...


@door
def connect(
    policy: str | PathLike[str], *, analyst: str, intervals: bool = False, **options: str | float | Decimal
) -> Connection:
    """A connection for one analyst.

    Args:
        policy: Path of the policy file.
        analyst: In whose name it asks, and whose budget it spends.
        intervals: Whether answers have the ends of intervals as columns: ``n_low`` and ``n_high`` beside each noised
            ``n``. ``SET intervals = on`` does the same later.
        options: The connection's defaults, as ``SET`` knows them: ``epsilon=0.1``, ``mechanism="laplace"``.

    Raises:
        Error: If the policy cannot be opened or an option is unknown.
    """
    from dpsql import proxy as proxies

    proxy = proxies.open(policy)
    try:
        session = proxy.session(analyst=analyst)
        for name, value in options.items():
            session.query(set_statement(name, value))
    except BaseException:
        proxy.close()
        raise
    return Connection(session, close=proxy.close, intervals=intervals)


def set_statement(name: str, value: str | float | Decimal) -> str:
    """The ``SET`` statement of one option.

    >>> set_statement("mechanism", "laplace"), set_statement("delta", 1e-9)
    ("SET mechanism = 'laplace'", 'SET delta = 1e-09')
    """
    if not re.fullmatch(r"[A-Za-z_]+", name):
        raise ProgrammingError(f"{name!r} is not an option. Write a name that SET knows, such as epsilon.")
    match value:
        case bool():
            literal = str(value).upper()
        case str():
            literal = "'" + value.replace("'", "''") + "'"
        case int() | float() | Decimal():
            literal = str(value)
        case _:
            raise ProgrammingError(f"Option {name} is a {type(value).__name__}. Write a number or a text.")
    return f"SET {name} = {literal}"


class Connection(Closing):
    """One analyst's connection. Nothing here can be changed or taken back, so commit and rollback do nothing.

    Args:
        session: What answers.
        close: What releases it.
        intervals: Whether answers have the ends of intervals as columns; may be changed at any time.
    """

    # PEP 249's optional extension: the exceptions, for code that has the connection but not the module.
    Warning = Warning
    Error = Error
    InterfaceError = InterfaceError
    DatabaseError = DatabaseError
    DataError = DataError
    OperationalError = OperationalError
    IntegrityError = IntegrityError
    InternalError = InternalError
    ProgrammingError = ProgrammingError
    NotSupportedError = NotSupportedError

    def __init__(self, session: Asks, *, close: Callable[[], None], intervals: bool = False) -> None:
        self.intervals = intervals
        self._session: Asks | None = session
        self._close = close

    def cursor(self) -> Cursor:
        """A new cursor."""
        self.session()
        return Cursor(self)

    @door
    def execute(self, sql: str, parameters: Parameters = ()) -> Cursor:
        """A new cursor that has executed the statement."""
        return self.cursor().execute(sql, parameters)

    def commit(self) -> None:
        """Nothing: a charge is durable before its answer is read."""
        self.session()

    def rollback(self) -> None:
        """Nothing: what was charged stays charged."""
        self.session()

    def close(self) -> None:
        """Close the connection and its engine; closing twice is fine."""
        if self._session is not None:
            self._session = None
            self._close()

    def session(self) -> Asks:
        """The session behind it.

        Raises:
            InterfaceError: If the connection is closed.
        """
        if self._session is None:
            raise InterfaceError("The connection is closed. Open another with dpsql.connect.")
        return self._session


class Cursor(Closing):
    """One statement at a time, and the rows of its answer.

    Attributes:
        connection: The connection it belongs to.
        arraysize: Rows that `fetchmany` returns by default.
    """

    def __init__(self, connection: Connection) -> None:
        self.connection = connection
        self.arraysize = 1
        self._answer: Answer | None = None
        self._next = 0
        self._closed = False

    @property
    def answer(self) -> Answer:
        """The whole answer of the last statement: rows, errors, cost.

        Raises:
            InterfaceError: If nothing was executed.
        """
        self._usable()
        if self._answer is None:
            raise InterfaceError("There is no answer yet. Call execute first.")
        return self._answer

    @property
    def description(self) -> list[Description] | None:
        """Name and type of each column, the other five entries None; None before a statement with columns."""
        if self._answer is None or not self._answer.columns:
            return None
        pairs = zip(self._answer.columns, self._answer.types, strict=True)
        return [(name, kind, None, None, None, None, None) for name, kind in pairs]

    @property
    def rowcount(self) -> int:
        """Rows of the answer; -1 before a statement with columns."""
        return len(self._answer) if self._answer is not None and self._answer.columns else -1

    @door
    def execute(self, sql: str, parameters: Parameters = ()) -> Self:
        """Ask one statement; each ``?`` takes one parameter, each ``$name`` one of a mapping.

        Raises:
            Error: If it is refused or fails; the cursor then has no answer.
        """
        self._usable()
        self._answer, self._next = None, 0
        if isinstance(parameters, str | bytes) or not isinstance(parameters, Sequence | Mapping):
            raise InterfaceError(
                f"The parameters came as one value of type {type(parameters).__name__}. Write a list with one value "
                "for each ? in the statement, such as [30] or [30, 'north']."
            )
        session, on = self.connection.session(), intervals_set(sql_given(sql))
        if on is not None:
            self.connection.intervals = on
            self._answer = set_answer(on)
        else:
            answer = session.query(sql, parameters if isinstance(parameters, Mapping) else tuple(parameters))
            self._answer = answer.with_intervals() if self.connection.intervals else answer
        return self

    @door
    def executemany(self, sql: str, parameters: Sequence[Parameters]) -> None:
        """Refused: every set of parameters is a query of its own, with a cost and an answer of its own."""
        self._usable()
        raise NotSupportedError(
            "executemany would charge for every set of parameters and keep only the last answer. "
            "Call execute once for each, or write one statement with GROUP BY or IN."
        )

    @door
    def fetchone(self) -> tuple[Any, ...] | None:
        """The next row, or None after the last."""
        rows = self._take(1)
        return rows[0] if rows else None

    @door
    def fetchmany(self, size: int | None = None) -> list[tuple[Any, ...]]:
        """The next ``size`` rows (``arraysize`` where absent), fewer at the end."""
        return self._take(self.arraysize if size is None else size)

    @door
    def fetchall(self) -> list[tuple[Any, ...]]:
        """All rows that are left."""
        return self._take(None)

    @door
    def fetch_arrow_table(self) -> pyarrow.Table:
        """All rows that are left, as a `pyarrow.Table`; needs the extra ``arrow``."""
        return self._rest().to_arrow()

    @door
    def df(self) -> pandas.DataFrame:
        """All rows that are left, as a `pandas.DataFrame`; needs the extra ``pandas``."""
        return self._rest().to_pandas()

    @door
    def pl(self) -> polars.DataFrame:
        """All rows that are left, as a `polars.DataFrame`; needs the extra ``polars``."""
        return self._rest().to_polars()

    fetchdf = fetch_df = df

    def close(self) -> None:
        """Let go of the answer; closing twice is fine."""
        self._answer, self._closed = None, True

    def setinputsizes(self, sizes: Sequence[Any]) -> None:
        """Nothing; PEP 249 asks for it."""

    def setoutputsize(self, size: int, column: int | None = None) -> None:
        """Nothing; PEP 249 asks for it."""

    def __iter__(self) -> Iterator[tuple[Any, ...]]:
        return iter(self.fetchone, None)

    def _rest(self) -> Answer:
        """The answer without the rows that were fetched; none are left then."""
        begin = self._next
        self._take(None)
        return self.answer.cut(slice(begin, None))

    def _take(self, count: int | None) -> list[tuple[Any, ...]]:
        if not self.answer.columns:
            raise InterfaceError("The last statement has no rows to fetch.")
        end = (
            None
            if count is None
            else self._next + max(whole_given(count, "The number of rows", "Write a whole number."), 0)
        )
        rows = self.answer.rows[self._next : end]
        self._next += len(rows)
        return rows

    def _usable(self) -> None:
        if self._closed:
            raise InterfaceError("The cursor is closed. Open another with connection.cursor().")
        self.connection.session()
