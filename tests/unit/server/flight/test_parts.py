"""Parts of the Flight SQL door by themselves: the wire format, and gRPC's statuses."""

from __future__ import annotations

from unittest.mock import Mock

import grpc
import pytest

from dpsql.errors import ApprovalNeeded, BudgetExceeded, EngineFailed, InvariantBroken, LedgerError
from dpsql.server.core import Server
from dpsql.server.flight.door import FlightDoor, status_of
from dpsql.server.flight.wire import Fields, field, read
from dpsql.server.refusals import Stopping
from tests.unit.server.clinic import Clinic

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


def test_of_a_server_that_stops_only_what_had_not_begun_may_be_tried_again(
    clinic: Clinic, caplog: pytest.LogCaptureFixture
) -> None:
    server, call = Server(clinic.proxy, clinic.server.users), Mock(peer=lambda: "unix:")
    door, call.abort.side_effect = FlightDoor(server), InterruptedError
    server.stop_taking()
    with pytest.raises(InterruptedError):
        door._done(call, lambda: [][0])
    assert call.abort.call_args.args[0] == grpc.StatusCode.INTERNAL  # it may have been charged
    assert '"bug": "IndexError"' in caplog.text
    door._admitting.shutdown()
    with pytest.raises(InterruptedError):
        door._admitted(call, lambda: pytest.fail("the door has stopped"))
    assert call.abort.call_args.args[0] == grpc.StatusCode.UNAVAILABLE
    server.close()
