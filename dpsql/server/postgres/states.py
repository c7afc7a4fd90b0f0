"""Refusals as PostgreSQL tells them: its error codes, positions and hints in fields of their own.

Source: PostgreSQL 17 documentation, appendix A, "PostgreSQL Error Codes", and section 53.8 for the fields.
"""

from __future__ import annotations

from collections.abc import Mapping

from dpsql import errors
from dpsql.server import refusals

__all__ = ["CANCELLED", "PgRefusal", "fields_of", "told"]

CODES: Mapping[type[errors.Error], str] = {
    errors.UnsupportedQuery: "0A000",  # feature_not_supported
    errors.NotSupportedError: "0A000",
    errors.BudgetExceeded: "53400",  # configuration_limit_exceeded
    errors.EngineFailed: "58000",  # system_error
    errors.LedgerError: "58030",  # io_error
    errors.InvariantBroken: "XX000",  # internal_error
    errors.DataError: "22023",  # invalid_parameter_value
    errors.ProgrammingError: "22023",
    errors.OperationalError: "55000",  # object_not_in_prerequisite_state
    refusals.NotAdmitted: "28P01",  # invalid_password
    refusals.TooMuch: "54000",  # program_limit_exceeded
    refusals.Stopping: "57P01",  # admin_shutdown
    errors.Error: "XX000",
}
"""The code of each class of refusals; of a class that is not here, that of the nearest one above it."""
CANCELLED = "57014"
"""The code of query_canceled."""
BROKEN = "This is a bug in dpsql; the owner's log has its place. What was charged stays charged."


class PgRefusal(errors.Error):
    """A refusal with a code of PostgreSQL's own.

    Attributes:
        code: Its SQLSTATE.
        hint: What to do instead, or None.
    """

    def __init__(self, code: str, message: str, hint: str | None = None) -> None:
        super().__init__(message)
        self.code = code
        self.hint = hint


def fields_of(refusal: BaseException, text: str = "", offset: int = 0, severity: str = "ERROR") -> dict[str, str]:
    """The fields of an error message.

    Args:
        refusal: What was raised; of what is not dpsql's own, nothing is told.
        text: The statement.
        offset: Characters before it in what the client sent.
        severity: ERROR, or FATAL where the connection ends.
    """
    message, hint, where = str(refusal), None, None
    if isinstance(refusal, PgRefusal):
        code, hint = refusal.code, refusal.hint
    elif isinstance(refusal, errors.Error):
        code = next(CODES[kind] for kind in type(refusal).__mro__ if kind in CODES)
    else:
        code, message = CODES[errors.InvariantBroken], BROKEN
    if isinstance(refusal, errors.UnsupportedQuery):
        hint, message = refusal.hint, message.removesuffix(f" {refusal.hint}")
        where = None if refusal.position is None else offset + _place(text, refusal.position)
    told = {"S": severity, "V": severity, "C": code, "M": message}
    return told | ({"H": hint} if hint else {}) | ({"P": str(where)} if where else {})


def told(message: str) -> dict[str, str]:
    """The fields of a notice."""
    return {"S": "NOTICE", "V": "NOTICE", "C": "00000", "M": message}


def _place(text: str, position: tuple[int, int]) -> int:
    """Line and column as the number of a character, from 1."""
    line, column = position
    before = text.split("\n")[: line - 1]
    return sum(len(own) + 1 for own in before) + column
