"""The owner's process: it alone reads the source. ``python -I -m dpsql.owner.process FD OPTIONS``.

It gets the shape of the tables and the secret key of the row choice, never an analyst's text, does one job (build the
bounded file, check the data, look whether they changed or which versions are the newest, count the units, count what
facts are noised from, test the guesses, or read columns of a public table), and ends.

Tests: tests/unit/owner.
"""

from __future__ import annotations

import os
import sys
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from dpsql.errors import OperationalError, PolicyError
from dpsql.owner.advice.measure import measured, require_readable
from dpsql.owner.building.again import Again
from dpsql.owner.building.public import columns_of_public
from dpsql.owner.building.views import Report, build_tables
from dpsql.owner.checking.check import findings, number_of_units
from dpsql.owner.checking.guess_report import belied
from dpsql.owner.engines import building, sources
from dpsql.owner.shape import Shape
from dpsql.worker import limits, wire

__all__ = ["answered", "main"]


def _work(request: dict[str, Any], report: Report) -> Any:
    shape, job = Shape.received(request["shape"]), request["job"]
    folder = building(shape.engine)
    if job == "versions":
        return sources(shape.engine).versions(shape.source, shape.files)
    if job in ("build", "contents"):
        contents = sources(shape.engine).contents(shape.source, shape.files)
    if job == "build":
        into = Path(request["into"])
        again = _again(shape, request, contents)
        with folder.building(shape.source, request["key"], into) as database:
            public = build_tables(database, shape, report, request["records"], into, again)
        return {"public": public, "contents": contents, "recipes": again.recipes, "files": again.sources}
    if job == "contents":
        return contents
    if job == "measure":
        with folder.building(shape.source, request["key"], Path(request["into"])) as database:
            return measured(database, shape, request["stage"], request["heavy"], report)
    with folder.reading(shape.source, Path(request["into"])) as database:
        match job:
            case "readable":
                return require_readable(database, shape)
            case "check":
                return [finding.message() for finding in findings(database, shape)]
            case "units":
                return number_of_units(database, shape)
            case "guesses":
                return [finding.message() for finding in belied(database, shape, request["guesses"])]
            case "columns":
                return columns_of_public(database, shape.table(request["table"]), request["names"])
    raise ValueError(job)


def _again(shape: Shape, request: dict[str, Any], contents: Any) -> Again:
    """What of the version before may stand again in the one to come."""
    own = sources(shape.engine).apart(shape.files, contents)
    if request["before"] is None:
        return Again(own, request["key"])
    before = request["before"]
    return Again(own, request["key"], Path(before["place"]), before["recipes"], before["public"], before["files"])


def answered(request: dict[str, Any], report: Report) -> dict[str, Any]:
    """The reply to a request: its ``result``, or what is wrong with the ``policy``, or why it ``failed`` (and ``what``
    the owner may be told of that, where it is known).
    """
    try:
        return {"result": _work(request, report)}
    except PolicyError as error:
        return {"policy": str(error), "reason": str(error.__cause__ or "")}
    except OperationalError as error:
        said = error.__cause__ or error
        return {"failed": f"{type(said).__name__}: {said}", "what": str(error)}
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
