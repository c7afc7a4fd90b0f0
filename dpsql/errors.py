"""The one exception tree, rooted in PEP 249.

    Exception
    ├── Warning                           PEP 249; never raised by dpsql
    └── Error                             everything dpsql raises on purpose
        ├── InterfaceError
        └── DatabaseError
            ├── DataError
            ├── IntegrityError
            ├── InternalError
            │   └── InvariantBroken       a bug in dpsql: it stopped rather than go on
            ├── NotSupportedError
            │   └── UnsupportedQuery      the statement is refused: .construct .position .hint
            ├── OperationalError
            │   ├── ApprovalNeeded        it waits for the owner's word: .id
            │   ├── BudgetExceeded        .needed .remaining
            │   ├── EngineFailed          one fixed text, whatever the data
            │   └── LedgerError           missing, behind its mark, or corrupt
            └── ProgrammingError
                └── PolicyError           the policy file: what is wrong, at which line, what to write

A message never depends on a row of private data.

Tests: tests/unit/test_calls.py.
"""

from __future__ import annotations

import builtins
import functools
import re
import traceback
from collections.abc import Callable
from fractions import Fraction
from typing import ParamSpec, TypeVar

__all__ = [
    "ApprovalNeeded",
    "BudgetExceeded",
    "DataError",
    "DatabaseError",
    "EngineFailed",
    "Error",
    "IntegrityError",
    "InterfaceError",
    "InternalError",
    "InvariantBroken",
    "LedgerError",
    "NotSupportedError",
    "OperationalError",
    "PolicyError",
    "ProgrammingError",
    "UnsupportedQuery",
    "Warning",
    "door",
    "place_of",
]

_CELL = re.compile(r"^<ipython-input-|ipykernel_\d+")
"""Files by which IPython and its kernel name cells."""
_Arguments = ParamSpec("_Arguments")
_Result = TypeVar("_Result")


def door(function: Callable[_Arguments, _Result]) -> Callable[_Arguments, _Result]:
    """The function, whose refusals show the caller's own line and no frame of dpsql's inside.

    A bug of dpsql's (`InvariantBroken`) keeps its traceback.
    """

    @functools.wraps(function)
    def called(*args: _Arguments.args, **kwargs: _Arguments.kwargs) -> _Result:
        __tracebackhide__ = True  # IPython and pytest leave such a frame out
        try:
            return function(*args, **kwargs)
        except InvariantBroken:
            raise
        except Error as error:
            if isinstance(error, UnsupportedQuery):
                error.__class__ = UnsupportedQuery  # the rooms inside tell kinds of it apart
            raise error.with_traceback(None)  # noqa: B904 - it is the same error

    return called


def place_of(bug: BaseException) -> str:
    """File and line where it happened, without its text, which may hold anything."""
    trace = bug.__traceback__
    while trace and trace.tb_next:
        trace = trace.tb_next
    return f"{trace.tb_frame.f_code.co_filename}:{trace.tb_lineno}" if trace else "an unknown place"


class Warning(builtins.Warning):  # noqa: A001 - PEP 249 fixes the name
    """PEP 249's Warning; dpsql never raises it."""


class Error(Exception):
    """Everything dpsql raises on purpose."""

    def _render_traceback_(self) -> list[str]:
        """What IPython and notebooks show: the refusal, and the line of the cell that met it; no frames."""
        lines = [f"{type(self).__name__}: {self}"]
        cell = [own for own in traceback.extract_tb(self.__traceback__) if _CELL.search(own.filename)]
        return [*lines, *(f"    line {own.lineno}: {own.line}" for own in cell[-1:] if own.line)]


class InterfaceError(Error):
    """The caller used the Python interface wrongly."""


class DatabaseError(Error):
    """Something about the query, the policy, the ledger or the engine."""


class DataError(DatabaseError):
    """A value that cannot be used."""


class IntegrityError(DatabaseError):
    """PEP 249's IntegrityError; nothing here writes to tables."""


class InternalError(DatabaseError):
    """dpsql found itself in a state it does not allow."""


class NotSupportedError(DatabaseError):
    """The database does not do this."""


class OperationalError(DatabaseError):
    """The outside world did not co-operate: budget, ledger, engine."""


class ProgrammingError(DatabaseError):
    """The caller's text is wrong: SQL, options, policy."""


class InvariantBroken(InternalError):
    """A bug in dpsql; it stopped rather than answer wrongly."""

    def _render_traceback_(self) -> list[str]:
        return traceback.format_exception(self)  # whoever mends it needs all frames


class PolicyError(ProgrammingError):
    """The policy cannot be used. The text names file, line and what to write instead."""


class UnsupportedQuery(NotSupportedError):
    """The statement is refused; nothing was spent and nothing was read.

    Attributes:
        construct: What was refused, in SQL words (``"window function"``).
        position: ``(line, column)`` in the analyst's text, both from 1, or None.
        hint: What to write instead, or None.
    """

    def __init__(
        self, message: str, *, construct: str, position: tuple[int, int] | None = None, hint: str | None = None
    ) -> None:
        where = f" at {position[0]}:{position[1]}" if position else ""
        super().__init__(f"{construct}{where}: {message}" + (f" {hint}" if hint else ""))
        self.construct = construct
        self.position = position
        self.hint = hint


class ApprovalNeeded(OperationalError):
    """The statement waits for the data owner; nothing was spent and nothing was read.

    Attributes:
        id: What it waits under: ``dpsql approve POLICY ID``.
    """

    def __init__(self, message: str, *, id: str) -> None:  # noqa: A002 - the attribute's name
        super().__init__(message)
        self.id = id


class BudgetExceeded(OperationalError):
    """The ledger did not grant the charge; nothing was spent and nothing was read.

    Attributes:
        needed: Pure epsilon (or the named quantity) the statement would cost.
        remaining: What is left of it.
    """

    def __init__(self, message: str, *, needed: Fraction, remaining: Fraction) -> None:
        super().__init__(message)
        self.needed = needed
        self.remaining = remaining


class LedgerError(OperationalError):
    """The ledger is missing, behind its mark, or corrupt. Only the owner can mend it."""


class EngineFailed(OperationalError):
    """The engine gave no answer. The text is fixed; details are in the owner's `operator.log` only."""

    TEXT = "The engine gave no answer. The cost stays charged. The data owner's log has the details."

    def __init__(self) -> None:
        super().__init__(self.TEXT)
