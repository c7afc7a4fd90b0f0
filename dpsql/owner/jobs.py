"""Jobs for the owner's process, which alone reads the source: the parent's side.

Tests: tests/unit/owner/test_builder.py.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from dpsql.engine.log import OPERATOR, TELLS
from dpsql.errors import OperationalError, PolicyError
from dpsql.worker import wire
from dpsql.worker.process import Child, WorkerFailed

__all__ = ["UNREAD", "Progress", "in_owner_process"]

Progress = Callable[[str, float], None]
UNREAD = "The data could not be read."
"""What is told of any failure of which nothing else may be said."""


def in_owner_process(request: dict[str, Any], progress: Progress | None) -> Any:
    """The result of one job done by a fresh process that may read the source.

    Raises:
        PolicyError: If the policy and the schema of the data disagree.
        OperationalError: If it fails otherwise. The text is fixed; details go to the owner's log.
    """
    child = Child("dpsql.owner.process", {})
    try:
        child.wait_until_ready()
        child.connection.send_bytes(wire.encode(request))
        while "step" in (reply := wire.decode(child.connection.recv_bytes())):
            if progress is not None:
                progress(reply["step"], reply["share"])
    except (EOFError, OSError, WorkerFailed) as error:
        reply = {"failed": getattr(error, "detail", f"the process ended: {type(error).__name__}")}
    finally:
        child.stop()
    if "policy" in reply:
        if reply["reason"]:
            OPERATOR.error("%s failed: %s", request["job"], reply["reason"])
        raise PolicyError(reply["policy"])
    if "failed" in reply:
        OPERATOR.error("%s failed: %s", request["job"], reply["failed"])
        what = str(reply.get("what", UNREAD))
        raise OperationalError(what if TELLS in what else f"{what} {TELLS}")
    return reply["result"]
