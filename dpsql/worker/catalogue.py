"""A process that answers questions about a catalogue: ``python -I -m dpsql.worker.catalogue FD OPTIONS``.

It holds nothing but what each request brings: names and types of tables, from a policy. It is given no database, no key
and no file, and its engine opens none. What a client wrote reaches DuckDB here and nowhere else, and only where
DuckDB's own parser sees one SELECT over the catalogue's relations, with functions that are listed.

Tests: tests/unit/server/postgres.
"""

from __future__ import annotations

import os
import sys
from collections import OrderedDict
from collections.abc import Collection, Iterable
from datetime import date, datetime
from multiprocessing.connection import Connection
from typing import Any

import duckdb

from dpsql.worker import limits, wire
from dpsql.worker.trees import nodes
from dpsql.worker.verify import Refused, selected

SIZES: dict[str, Any] = {"threads": "1", "memory_limit": "256MiB"}  # A choice: a catalogue takes some MB.
HELD = 32  # Catalogues that are held at a time, one an analyst with tables of their own. It is a choice: 1 MB each.
LONGEST = 20_000  # Rows of one answer. It is a choice: more than any catalogue of a policy has.
AT_A_TIME = 100  # Rows between two looks at how large an answer is. It is a choice.
ZONED = "WITH TIME ZONE"  # How the names of such types end.
SCHEMAS = ("", "pgc", "pgi")
"""Where a statement's relations may be; '' is for those of WITH, and of the search path."""


class TooLarge(Exception):  # noqa: N818 - it is told, and no error of ours
    """An answer has more rows, or more bytes, than are sent."""


def built(setup: str) -> duckdb.DuckDBPyConnection:
    """A catalogue by the statements that make it."""
    connection = duckdb.connect(":memory:", config=limits.LOCKED | SIZES)
    connection.execute("SET TimeZone = 'UTC'")
    connection.execute("SET ieee_floating_point_ops = false")  # 1 / 0 is NULL, as in all expressions of dpsql
    connection.execute("SET error_on_division_by_zero = false")
    connection.execute(setup)
    connection.execute("SET lock_configuration = true")
    return connection


def confirm(
    connection: duckdb.DuckDBPyConnection, sql: str, relations: Collection[str], functions: Collection[str]
) -> None:
    """Returns if the text is one SELECT over these relations, and those of its own WITH, with no function but these.

    Raises:
        Refused: It is anything else.
    """
    found = list(nodes(selected(connection, sql)))
    known = {*relations, *(cte["key"].lower() for node in found for cte in node.get("map", []) if "key" in cte)}
    for node in found:
        if node.get("type") == "BASE_TABLE" and (node["catalog_name"] or node["schema_name"] not in SCHEMAS):
            raise Refused(f'schema "{node["schema_name"]}" does not exist')
        if node.get("type") == "BASE_TABLE" and node["table_name"].lower() not in known:
            raise Refused(f'relation "{node["table_name"]}" does not exist')
        name = node.get("function_name")
        if isinstance(name, str) and name not in functions:
            raise Refused(f"function {name} does not exist")
        if node.get("type") in ("COLUMN_DATA", "SHOW_REF", "PIVOT", "DELIM_GET") or node.get("class") == "LAMBDA":
            raise Refused("this is not supported")


def answer(connection: duckdb.DuckDBPyConnection, request: Any) -> dict[str, Any]:
    """The columns, their types in the engine's words, and the rows of a request's statement.

    Raises:
        TooLarge: There are too many, or they have more bytes than the request allows.
        Refused, duckdb.Error: It cannot be answered.
    """
    confirm(connection, request["sql"], request["relations"], request["functions"])
    relation = connection.execute(request["sql"], request["parameters"] or None)
    columns = [[name, str(kind)] for name, kind, *_ in relation.description or []]
    if any(ZONED in kind for _, kind in columns):
        connection.abort()
        shown = ", ".join(_unzoned(place, kind) for place, (_, kind) in enumerate(columns, 1))
        again = connection.sql(request["sql"], params=request["parameters"] or None)
        rows = _within(request["bytes"], [again.project(shown).limit(LONGEST + 1).fetchall()])
    else:
        rows = _within(request["bytes"], iter(lambda: relation.fetchmany(AT_A_TIME), []))
    return {"columns": columns, "rows": rows}


def _within(most: int, parts: Iterable[list[Any]]) -> list[list[Any]]:
    """The rows of an answer, as they travel; those that come in parts are never held beyond so many bytes.

    Raises:
        TooLarge: They have more, or there are too many.
    """
    rows, size = list[list[Any]](), 0
    for part in parts:
        plain = [[_plain(value) for value in row] for row in part]
        size += len(wire.encode(plain))
        rows += plain
        if size > most or len(rows) > LONGEST:
            raise TooLarge
    return rows


def _unzoned(place: int, kind: str) -> str:
    """A column, counted from 1, without its time zone, which is UTC: duckdb gives those to Python by another library.

    >>> _unzoned(1, "TIMESTAMP WITH TIME ZONE"), _unzoned(2, "TIME WITH TIME ZONE"), _unzoned(3, "VARCHAR")
    ('make_timestamp(epoch_us(#1))', 'CAST(#2 AS VARCHAR)', '#3')
    """
    if kind == f"TIMESTAMP {ZONED}":
        return f"make_timestamp(epoch_us(#{place}))"
    return f"CAST(#{place} AS VARCHAR)" if ZONED in kind else f"#{place}"


def _plain(value: Any) -> Any:
    if value is None or isinstance(value, bool | int | str | date | datetime):
        return value
    if isinstance(value, float):
        return value if value - value == 0 else str(value)
    if isinstance(value, list | tuple):
        return [_plain(inner) for inner in value]
    return str(value)


def serve(connection: Connection) -> None:
    """Answers until the parent closes its end."""
    held: OrderedDict[str, duckdb.DuckDBPyConnection] = OrderedDict()
    connection.send_bytes(wire.encode({"ready": True}))
    while True:
        request = wire.decode(connection.recv_bytes())
        limits.expire(request["deadline"])
        name = request["name"]
        try:
            if name not in held and request["setup"] is None:
                reply: dict[str, Any] = {"unknown": True}
            else:
                if name not in held:
                    held[name] = built(request["setup"])
                    while len(held) > HELD:
                        held.popitem(last=False)[1].close()
                held.move_to_end(name)
                reply = answer(held[name], request)
        except TooLarge:
            reply = {"large": True}
        except Exception as error:  # noqa: BLE001 - a client's text may do anything; nothing private is here to be told
            reply = {"failed": str(error)}
        connection.send_bytes(wire.encode(reply))
        limits.expire(0)


def main() -> None:
    """Locks itself in, and answers."""
    descriptor, options = int(sys.argv[1]), wire.decode(sys.argv[2].encode())
    limits.confine(options["memory"], writes=False)
    limits.leave_with(descriptor)
    os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
    try:
        serve(Connection(descriptor))
    except (EOFError, BrokenPipeError, ConnectionResetError):
        return


if __name__ == "__main__":
    main()
