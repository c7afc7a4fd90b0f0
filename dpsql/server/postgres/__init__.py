"""The door of PostgreSQL's protocol, for every client that speaks it.

`door` listens and lets in (`scram`), `conversation` answers queries over `wire` in `messages`; `questions` sorts what
is asked: dpsql's statements, PostgreSQL's `settings`, and the `catalogue`; `copying` and `cursors` hand out a query's
rows in other ways, and `inquiry` is what all of these are. `types` are values, `states` refusals.

Tests: tests/unit/server/postgres.
"""

from dpsql.server.core import Server
from dpsql.server.postgres.door import PostgresDoor

__all__ = ["open_door"]


def open_door(server: Server) -> PostgresDoor:
    """The door, not yet open."""
    return PostgresDoor(server)
