"""Parts of the Flight SQL door by themselves: the wire format, and gRPC's statuses."""

from __future__ import annotations

import grpc
import pytest

from dpsql.errors import ApprovalNeeded, BudgetExceeded, EngineFailed, InvariantBroken, LedgerError
from dpsql.server.flight.door import status_of
from dpsql.server.flight.wire import Fields, field, read
from dpsql.server.refusals import Stopping

pytestmark = pytest.mark.chance(0, "no noise is drawn")


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (BudgetExceeded("no", needed=1, remaining=0), "RESOURCE_EXHAUSTED"),  # type: ignore[arg-type]
        (ApprovalNeeded("wait", id="7"), "FAILED_PRECONDITION"),
        (EngineFailed(), "INTERNAL"),
        (LedgerError("lost"), "FAILED_PRECONDITION"),
        (Stopping(), "UNAVAILABLE"),
        (InvariantBroken("x" * 9000), "INTERNAL"),
    ],
)
def test_every_refusal_has_a_status(error: Exception, code: str) -> None:
    found, text = status_of(error)  # type: ignore[arg-type]
    assert (found, len(text) < 1600) == (grpc.StatusCode[code], True)


def test_fields_of_the_wire_format() -> None:
    own = read(field(1, "a") + field(1, "b") + field(2, 2**64 - 1) + b"\x1d0000" + b"\x21" + b"0" * 8)
    assert isinstance(own, Fields)
    assert (own.text(1), own.texts(1), own.number(2), own.blob(3), own.blob(4)) == (
        "b",
        ["a", "b"],
        2**64 - 1,
        b"0000",
        b"0" * 8,
    )
