"""The owner's process: it alone reads the source. ``python -I -m dpsql.owner.process FD OPTIONS``.

It gets the shape of the tables and the secret key of the row choice, never an analyst's text, does one job (build the
bounded file, check the data, look whether they changed, count the units, test the guesses, or read columns of a public
table), and ends.

Tests: tests/unit/owner.
"""

from __future__ import annotations

import os
import sys
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import duckdb

from dpsql.errors import PolicyError
from dpsql.owner.check import columns_of_public, findings, number_of_units
from dpsql.owner.facts import contents
from dpsql.owner.guess_report import belied
from dpsql.owner.shape import Shape
from dpsql.owner.views import Report, build_tables
from dpsql.worker import limits, wire

__all__ = ["answered", "build_file", "check_data", "main"]

BUFFERS = "4GiB"  # of the engine; beyond that it works on disk, in the private directory
SETTINGS: dict[str, str | bool | int | float | list[str]] = {
    "autoload_known_extensions": "false",
    "autoinstall_known_extensions": "false",
    "allow_community_extensions": "false",
    "python_enable_replacements": "false",
    "preserve_insertion_order": "false",
    "memory_limit": BUFFERS,
}


def build_file(shape: Shape, key: str, into: Path, report: Report, records: list[str] | None) -> dict[str, Any]:
    """Writes ``bounded.duckdb`` (and the record of classes) into an empty private directory; see `build_tables`."""
    settings = SETTINGS | {"temp_directory": str(into / "spill")}
    with duckdb.connect(str(into / "bounded.duckdb"), config=settings) as connection:
        return build_tables(connection, shape, key, report, records, into)


def check_data(shape: Shape) -> list[dict[str, Any]]:
    """What `dpsql check` finds, as messages."""
    with duckdb.connect(config=SETTINGS) as connection:
        return [finding.message() for finding in findings(connection, shape)]


def _work(request: dict[str, Any], report: Report) -> Any:
    shape = Shape.received(request["shape"])
    match request["job"]:
        case "build":
            public = build_file(shape, request["key"], Path(request["into"]), report, request["records"])
            return {"public": public, "contents": contents(shape)}
        case "contents":
            return contents(shape)
        case "check":
            return check_data(shape)
        case "units":
            with duckdb.connect(config=SETTINGS) as connection:
                return number_of_units(connection, shape)
        case "guesses":
            with duckdb.connect(config=SETTINGS) as connection:
                return [finding.message() for finding in belied(connection, shape, request["guesses"])]
        case "columns":
            with duckdb.connect(config=SETTINGS) as connection:
                return columns_of_public(connection, shape, shape.table(request["table"]), request["names"])
    raise ValueError(request["job"])


def answered(request: dict[str, Any], report: Report) -> dict[str, Any]:
    """The reply to a request: its ``result``, or what is wrong with the ``policy``, or why it ``failed``."""
    try:
        return {"result": _work(request, report)}
    except PolicyError as error:
        return {"policy": str(error), "reason": str(error.__cause__ or "")}
    except Exception as error:  # noqa: BLE001 - the owner's log gets it; nobody else does
        return {"failed": f"{type(error).__name__}: {error}"}


def main() -> None:
    """Takes one request, answers it, ends."""
    descriptor = int(sys.argv[1])
    limits.confine(None, writes=True)
    limits.leave_with(descriptor)
    connection = Connection(descriptor)
    os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
    connection.send_bytes(wire.encode({"ready": True}))
    request = wire.decode(connection.recv_bytes())
    reply = answered(request, lambda step, share: connection.send_bytes(wire.encode({"step": step, "share": share})))
    connection.send_bytes(wire.encode(reply))


if __name__ == "__main__":
    main()
