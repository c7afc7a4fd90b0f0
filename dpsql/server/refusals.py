"""What a door refuses before a statement is read: strangers, and more than the policy's ``server`` section allows.

Nothing is charged by any of it, and no text depends on data.

Tests: tests/unit/server.
"""

from __future__ import annotations

from dpsql.errors import OperationalError

__all__ = ["CROWDED", "NotAdmitted", "Stopping", "TooMuch"]

CROWDED = "Too many connections have not yet said whose they are. Nothing was read. Try again later."
"""For who is hung up on before a word of theirs is read."""


class NotAdmitted(OperationalError):  # noqa: N818 - named as its sisters in dpsql.errors
    """The token is wrong, or there is no such user: which of the two is not told."""


class TooMuch(OperationalError):  # noqa: N818
    """More connections, statements or bytes than the ``server`` section allows."""


class Stopping(OperationalError):  # noqa: N818
    """The owner stops the server; nothing more is asked of the data."""

    def __init__(self) -> None:
        super().__init__("The server is stopping. Nothing was charged. Ask again when it is back.")
