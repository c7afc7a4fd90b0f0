"""Flight SQL: Arrow's protocol for databases, over gRPC.

`door` listens and says what went wrong in gRPC's own statuses; `sessions` knows who asks, `statements` does what is
asked, `catalogue` lists tables; `messages`, in the words of `wire`, and `arrow` are what travels.

Tests: tests/unit/server/flight.
"""

from dpsql.server.flight.door import open_door

__all__ = ["open_door"]
