"""The locked process itself: ``python -I -m dpsql.worker FD OPTIONS``.

It opens the bounded file read-only, or no file at all, locks the database engine, and then answers one request after
another until the connection closes. It is given no key, no policy and no analyst's text.

Of DuckDB it loads the compiled module alone: the package around that brings a builder of queries in Python, which would
take a quarter of a start, and as long as a small statement for each one.

Tests: tests/unit/worker.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from multiprocessing.connection import Connection
from typing import Any

import _duckdb
import nanoarrow

from dpsql.worker import limits, wire
from dpsql.worker.ordered import KEY, PLACE, UNIT
from dpsql.worker.verify import Refused, verify

AT_REST = 640 << 20  # Bytes of address space for code, stacks and tables in transit: 0.3 GiB measured, doubled.
LEAST_BUFFERS = 256 << 20  # Bytes for the engine's buffers, however little memory the policy allows. It is a choice.
SLOT = 256
"""Bytes that a group takes in a table with a place for each whole number between the least and the largest key: sixteen
sums of 16 bytes. Such tables may take an eighth of the engine's buffers. Both are choices."""
MOST_SLOTS = 22
"""In binary digits: places of such a table, 4 million. Units whose ids are numbers close together are added up twice as
fast in one (measured over 6 million rows of 100,000 units). It is a choice: more of them are slow to clear."""
CACHED_TEXTS = 1000
"""Texts of statements that are remembered as verified, or as bound. It is a choice between memory and time."""
ANY = "any type"  # Of a column that the statement gives, and the worker reads whatever it is.
INPUT = "what came with the request"  # The name of a table while it is taken in.
GRACE = 1.0  # Seconds between the parent's deadline and the kernel's. It is a choice: the parent's comes first.


def open_database(database: str | None, memory: int, threads: int) -> _duckdb.DuckDBPyConnection:
    """The locked engine over one read-only file, or over nothing.

    Args:
        database: Path of the file; its tables are ``<stem>.main.<name>``. None holds no data at all.
        memory: Bytes that the process may take; the engine's buffers get what the process itself does not need.
        threads: How many the engine may use.
    """
    buffers = max(memory - AT_REST, LEAST_BUFFERS)
    slots = buffers // 8 // (threads * SLOT)
    own: dict[str, Any] = {
        "threads": threads,
        "memory_limit": f"{buffers >> 20}MiB",
        "perfect_ht_threshold": min(slots.bit_length() - 1, MOST_SLOTS),
        "lock_configuration": "true",
    }
    return _duckdb.connect(database or ":memory:", read_only=database is not None, config=limits.LOCKED | own)


class Desk:
    """Answers requests over one database."""

    def __init__(self, connection: _duckdb.DuckDBPyConnection, schema: tuple[str, str]) -> None:
        self._connection = connection
        self._schema = schema
        self._read: set[bytes] = set()
        self._bound: set[bytes] = set()

    def verify(self, request: Any) -> None:
        """Returns if DuckDB reads the request's statement as it was meant, down to the columns. Nothing is run.

        Raises:
            Refused: If it reads another.
        """
        self._confirm(request)
        try:
            self._bind(request, self._connection)
        except _duckdb.ProgrammingError as error:  # a name or a type that does not fit; it speaks of the schema alone
            raise Refused(f"DuckDB cannot bind it: {error}") from error

    def _bind(self, request: Any, connection: _duckdb.DuckDBPyConnection) -> None:
        """Has DuckDB say which columns the statements give: once for each text, its types and the tables with it."""
        parameters, held = request["parameters"], request["held"]
        for sql, columns in _statements(request):
            text = wire.encode([sql, columns, [type(value).__name__ for value in parameters], held])
            if text not in self._bound:
                found = connection.execute("DESCRIBE " + sql, parameters or None).fetchall()
                _require([[name, kind] for name, kind, *_ in found], columns)
                _remember(self._bound, text)

    def answer(self, request: Any, tables: Sequence[bytes]) -> list[Any]:
        """The result of the request's statement: an Arrow stream, or the numbers that `counted` gives, each as bytes.

        Raises:
            Refused: If DuckDB reads another statement than was meant, or gives other columns. Nothing was run.
            _duckdb.Error: If it fails.
        """
        self._confirm(request)
        with self._connection.cursor() as cursor:  # a fresh one: nothing is left from the statement before
            for (name, columns), table in zip(request["held"], tables, strict=True):
                _hold(cursor, name, columns, table)
            self._bind(request, cursor)
            own, *others = (_Rows(cursor, *statement, request["parameters"]) for statement in _statements(request))
            most = request["most_rows"]
            if request["by_key"]:
                from dpsql.worker.whole_keys import by_key  # here and below: who counts alone starts without it

                firsts = request["first_rows"], request["most_groups"]
                found = by_key(others.pop(), request["columns"], request["of_units"], firsts, request["rank_digits"])
                if found is not None:
                    return [wire.pack(found)]
            if others:
                from dpsql.worker.repeats import apart

                groups, rows = others
                with self._connection.cursor() as beside:  # at work at the same time
                    found = apart(groups.over(beside).first(most), rows, request["of_units"])
                    if found is not None:
                        return [wire.pack(found)]
            if request["adds"]:
                return [wire.pack(_added(request, own))]
            if request["words"]:
                from dpsql.worker.counting import counted, narrowed

                *words, times = counted(own, request["words"], request["edges"])
                return [number.view("u1") for number in (*words, narrowed(times))]
            return [wire.pack(own.first(most))]

    def _confirm(self, request: Any) -> None:
        """Has DuckDB's parser confirm the statements, once for each text."""
        tables, functions = request["tables"], request["functions"]
        for sql, _ in _statements(request):
            text = wire.encode([sql, tables, functions])
            if text not in self._read:
                verify(self._connection, sql, schema=self._schema, tables=tables, functions=functions)
                _remember(self._read, text)


def _remember(texts: set[bytes], text: bytes) -> None:
    if len(texts) >= CACHED_TEXTS:
        texts.clear()
    texts.add(text)


def _statements(request: Any) -> list[tuple[str, list[list[str]]]]:
    """Each text that may run, with the columns that it gives; that of ``by_key`` is the last."""
    own, number, unit = _selected(request), [KEY, "UBIGINT"], [UNIT, "INTEGER"]
    found = [(request["sql"], own), *zip(request["repeats"], ([*own, number], [number, unit]), strict=False)]
    if request["by_key"]:
        found.append((request["by_key"], [[UNIT, ANY], [KEY, own[0][1]]]))
    return found


def _selected(request: Any) -> list[list[str]]:
    """The columns that the statement itself gives: not what the worker makes of its rows."""
    columns: list[list[str]] = request["columns"]
    if request["adds"]:
        names = [name for name, _ in columns[: len(request["places"])]]
        names += [] if request["alone"] else [UNIT]
        names += [f"x{index}" for index in range(1 + max(at for _, at in request["adds"]))]
        return [[name, ANY] for name in names]
    if request["edges"]:
        return [[name, ANY] for name in (*(own for own, _ in columns[:-3]), UNIT, PLACE)]
    return [[name, ANY] for name, _ in columns[:-1]] if request["words"] else columns


class _Rows:
    """What a statement gives; it runs when its stream is asked for.

    Args:
        connection: Where it runs: one statement at a time.
        sql: Its text.
        columns: Names and types that it must give.
        parameters: The values of its ``?``.
    """

    def __init__(
        self, connection: _duckdb.DuckDBPyConnection, sql: str, columns: list[list[str]], parameters: list[Any]
    ) -> None:
        self._connection, self._sql, self._columns, self._parameters = connection, sql, columns, parameters

    def over(self, connection: _duckdb.DuckDBPyConnection) -> _Rows:
        """The same by another connection."""
        return _Rows(connection, self._sql, self._columns, self._parameters)

    def first(self, most: int | None) -> _Rows:
        """One row more than ``most`` at the most: that there are too many is seen from it. All of them for None."""
        if most is None:
            return self
        return _Rows(self._connection, f"SELECT * FROM ({self._sql}) LIMIT {most + 1}", self._columns, self._parameters)

    def __arrow_c_stream__(self, requested_schema: object = None) -> Any:
        """The rows as Arrow's PyCapsule interface wants them."""
        result = self._connection._submit(self._sql, self._parameters or None, "stream")
        _require([[name, str(kind)] for name, kind, *_ in result.description], self._columns)
        return result.arrow_capsule()


def _added(request: Any, stream: Any) -> Any:
    """The rows of a stream, added up as the request says."""
    from dpsql.worker.cutting import cut
    from dpsql.worker.lying import alone, pieces
    from dpsql.worker.sizing import sized

    names, places = [name for name, _ in request["columns"]], request["places"]
    adds = [(function, at) for function, at in request["adds"]]
    firsts = request["first_rows"], request["most_groups"]
    rows = alone(stream) if request["alone"] else pieces(stream, places, request["rank_digits"])
    if request["bins"]:
        return sized(rows, names[: len(places)], places, request["bins"], adds)
    return cut(rows, names, places, firsts, adds, request["clamps"])


def _require(found: list[list[str]], expected: list[list[str]]) -> None:
    known = [[name, ANY if own[1:] == [ANY] else kind] for (name, kind), own in zip(found, expected, strict=False)]
    if len(found) != len(expected) or known != expected:
        raise Refused(f"it gives the columns {found}, not {expected}")


def _hold(cursor: _duckdb.DuckDBPyConnection, name: str, columns: list[list[str]], table: bytes) -> None:
    """Puts one of the request's own tables where its statement looks for it."""
    casts = ", ".join(f"CAST({_quoted(own)} AS {kind})" for own, kind in columns if own != wire.TIMES)
    names = ", ".join(_quoted(own) for own, _ in columns if own != wire.TIMES)
    rows = _quoted(INPUT)
    if [wire.TIMES, "BIGINT"] in columns:
        rows = f"(SELECT *, unnest(range({_quoted(wire.TIMES)})) FROM {rows})"
    cursor.register(INPUT, nanoarrow.ArrayStream(wire.unpack(table)))
    cursor.execute(f"CREATE TEMP TABLE {_quoted(name)}({names}) AS SELECT {casts} FROM {rows}")
    cursor.unregister(INPUT)


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def serve(connection: Connection, desk: Desk) -> None:
    """Answers until the parent closes its end."""
    connection.send_bytes(wire.encode({"ready": True}))
    while True:
        request = wire.decode(connection.recv_bytes())
        limits.expire(request["deadline"] + GRACE)
        tables = [connection.recv_bytes() for _ in request["held"]]
        try:
            result = []
            if request["run"]:
                result = desk.answer(request, tables)
            else:
                desk.verify(request)
        except Refused as error:
            connection.send_bytes(wire.encode({"refused": str(error)}))
        except Exception as error:  # noqa: BLE001 - whatever happens becomes the one fixed failure
            connection.send_bytes(wire.encode({"failed": f"{type(error).__name__}: {error}"}))
        else:
            sizes = [memoryview(part).nbytes for part in result]
            connection.send_bytes(wire.encode({"columns": request["columns"], "bytes": sizes}))
            for part in result:
                wire.write(connection.fileno(), part)
        limits.expire(0)


def main() -> None:
    """Opens, locks, answers."""
    descriptor, options = int(sys.argv[1]), wire.decode(sys.argv[2].encode())
    if not options["database"]:
        import duckdb  # noqa: F401 - its package says how tables are taken that come with a request
    limits.confine(options["memory"], writes=False)
    limits.leave_with(descriptor)
    database = open_database(options["database"], options["memory"], options["threads"])
    os.dup2(os.open(os.devnull, os.O_WRONLY), 2)  # from here on, what is written could speak of rows
    desk = Desk(database, ("bounded", "main") if options["database"] else ("", ""))
    try:
        serve(Connection(descriptor), desk)
    except (EOFError, BrokenPipeError, ConnectionResetError):
        return


if __name__ == "__main__":
    main()
