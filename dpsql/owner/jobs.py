"""Jobs for the owner's process, which alone reads the source: the parent's side.

Tests: tests/unit/owner/building/test_builder.py.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from dpsql.engine.log import OPERATOR, TELLS
from dpsql.errors import OperationalError, PolicyError
from dpsql.given import PROGRESS, function_given
from dpsql.owner.scratch import scratch
from dpsql.owner.shape import shape_of
from dpsql.worker import wire
from dpsql.worker.process import Child, WorkerFailed

if TYPE_CHECKING:
    from dpsql.policy.model import Policy

__all__ = ["UNREAD", "Progress", "in_owner_process", "of_source"]

Progress = Callable[[str, float], None]
UNREAD = "The data could not be read."
"""What is told of any failure of which nothing else may be said."""


def of_source(policy: Policy, job: str, **more: Any) -> Any:
    """The result of a job that reads the source and makes nothing of it.

    Args:
        policy: The owner's.
        job: Its name.
        more: What else it is given.

    Raises:
        PolicyError, OperationalError: As `in_owner_process`.
    """
    shape = shape_of(policy)
    with scratch(policy) as folder:
        return in_owner_process({"job": job, "shape": shape.message(), "into": str(folder), **more}, None)


def in_owner_process(request: dict[str, Any], progress: Progress | None) -> Any:
    """The result of one job done by a fresh process that may read the source.

    Raises:
        PolicyError: If the policy and the schema of the data disagree.
        OperationalError: If it fails otherwise. The text is fixed; details go to the owner's log.
    """
    function_given(progress, "progress", PROGRESS)
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
