"""A privacy proxy: ordinary SQL in, differentially private answers with error bars out.

>>> import dpsql
>>> dpsql.apilevel
'2.0'
"""

from __future__ import annotations

from dpsql.answer import Answer, Budget, Measurement, Quote
from dpsql.dbapi import Connection, Cursor, apilevel, connect, paramstyle, threadsafety
from dpsql.errors import (
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
from dpsql.proxy import Proxy
from dpsql.proxy import open_proxy as open  # noqa: A004 - dpsql.open, as sqlite3.connect
from dpsql.session import Session

__all__ = [
    "Answer",
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
