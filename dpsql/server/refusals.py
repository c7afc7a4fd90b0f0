"""What a door refuses before a statement is read: strangers, and more than the policy's ``server`` section allows.

Nothing is charged by any of it, and no text depends on data.

Tests: tests/unit/server.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from dpsql.errors import LedgerError, OperationalError
from dpsql.ledger.refusals import STANDS, ChargeStands, LimitsChanged
from dpsql.server.events import tell

__all__ = ["CROWDED", "NotAdmitted", "Stopping", "TooMuch", "UsersUnusable", "without_the_owners_places"]

CROWDED = "Too many connections have not yet said whose they are. Nothing was read. Try again later."
"""For who is hung up on before a word of theirs is read."""

UNUSABLE = (
    "The ledger cannot be used now. Nothing was read. Ask again later; SHOW BUDGET then says what was charged. "
    "The owner's log says why."
)
NO_ANSWER = f"The ledger failed after the charge. {STANDS} The owner's log says why."


class NotAdmitted(OperationalError):  # noqa: N818 - named as its sisters in dpsql.errors
    """The token is wrong, or there is no such user: which of the two is not told."""


class TooMuch(OperationalError):  # noqa: N818
    """More connections, statements or bytes than the ``server`` section allows."""


class Stopping(OperationalError):  # noqa: N818
    """The owner stops the server; nothing more is asked of the data."""

    def __init__(self) -> None:
        super().__init__("The server is stopping. Nothing was charged. Ask again when it is back.")


class UsersUnusable(OperationalError):  # noqa: N818
    """The file of users cannot be used, so that nobody is known; where it lies is for the owner's log alone."""

    def __init__(self) -> None:
        super().__init__("Nobody can be let in now. Nothing was charged. Try again later. The owner's log says why.")


@contextmanager
def without_the_owners_places() -> Iterator[None]:
    """Around what an analyst asks: what is wrong with a ledger names its places, which are for the owner's log alone.

    Raises:
        LedgerError: One of two fixed texts in the place of the ledger's own.
    """
    try:
        yield
    except LimitsChanged:
        raise
    except LedgerError as failure:
        tell("ledger", why=str(failure))
        raise LedgerError(NO_ANSWER if isinstance(failure, ChargeStands) else UNUSABLE) from None
