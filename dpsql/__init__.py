"""A privacy proxy: ordinary SQL in, differentially private answers with error bars out.

Names are loaded when they are first used, so that ``import dpsql`` and ``dpsql --help`` are quick.

>>> import dpsql
>>> dpsql.apilevel
'2.0'
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dpsql.answers.answer import Answer, Measurement
    from dpsql.answers.budget import Budget
    from dpsql.answers.quotes.batch import BatchQuote
    from dpsql.answers.quotes.quoted import Quote
    from dpsql.dbapi import Connection, Cursor, apilevel, connect, paramstyle, threadsafety
    from dpsql.errors import (
        ApprovalNeeded,
        BudgetExceeded,
        DatabaseError,
        DataError,
        EngineFailed,
        Error,
        IntegrityError,
        InterfaceError,
        InternalError,
        InvariantBroken,
        LedgerError,
        NotSupportedError,
        OperationalError,
        PolicyError,
        ProgrammingError,
        UnsupportedQuery,
        Warning,  # noqa: A004 - PEP 249 fixes the name
    )
    from dpsql.policy import Policy
    from dpsql.privacy.loss import PrivacyLoss
    from dpsql.proxy import Proxy, open  # noqa: A004 - dpsql.open, as sqlite3.connect
    from dpsql.session import Session

__all__ = [
    "Answer",
    "ApprovalNeeded",
    "BatchQuote",
    "Budget",
    "BudgetExceeded",
    "Connection",
    "Cursor",
    "DataError",
    "DatabaseError",
    "EngineFailed",
    "Error",
    "IntegrityError",
    "InterfaceError",
    "InternalError",
    "InvariantBroken",
    "LedgerError",
    "Measurement",
    "NotSupportedError",
    "OperationalError",
    "Policy",
    "PolicyError",
    "PrivacyLoss",
    "ProgrammingError",
    "Proxy",
    "Quote",
    "Session",
    "UnsupportedQuery",
    "Warning",
    "apilevel",
    "connect",
    "open",
    "paramstyle",
    "threadsafety",
]

__version__ = "0.1.0"

_ROOMS = {
    "answers.answer": ("Answer", "Measurement"),
    "answers.budget": ("Budget",),
    "answers.quotes.batch": ("BatchQuote",),
    "answers.quotes.quoted": ("Quote",),
    "dbapi": ("Connection", "Cursor", "apilevel", "connect", "paramstyle", "threadsafety"),
    "policy": ("Policy",),
    "privacy.loss": ("PrivacyLoss",),
    "proxy": ("Proxy", "open"),
    "session": ("Session",),
}
_HOME = {name: room for room, names in _ROOMS.items() for name in names}


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module 'dpsql' has no attribute {name!r}")
    value = getattr(import_module(f"dpsql.{_HOME.get(name, 'errors')}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
