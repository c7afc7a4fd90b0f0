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
from collections.abc import Callable, Sequence
from copy import copy
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
MOST_PLANNED = 100
"""Plans that are kept; the first ones make room. It is a choice: some 20 kB each, and a dashboard has fewer."""
PLAN = "plan"  # The name of the one that a connection has.
ANY = "any type"  # Of a column that the statement gives, and the worker reads whatever it is.
INPUT = "what came with the request"  # The name of a table while it is taken in.
LISTED = 1024
"""Rows that DuckDB makes of one at once, in lists of 16 MiB for a block of 2,048. It is a choice."""
GRACE = 1.0  # Seconds between the parent's deadline and the kernel's. It is a choice: the parent's comes first.


def open_database(database: str | None, memory: int, threads: int) -> _duckdb.DuckDBPyConnection:
    """The locked engine over one read-only file, or over nothing.

    Args:
        database: Path of the file; its tables are ``<stem>.main.<name>``. None holds no data at all.
        memory: Bytes that the process may take; the engine's buffers get what the process itself does not need.
        threads: How many the engine may use.
    """
    config = limits.LOCKED | settings(memory, threads)
    return _duckdb.connect(database or ":memory:", read_only=database is not None, config=config)


def settings(memory: int, threads: int) -> dict[str, Any]:
    """What is set in the engine beside `limits.LOCKED`, as `open_database` takes it; nothing is set after the last."""
    buffers = max(memory - AT_REST, LEAST_BUFFERS)
    slots = buffers // 8 // (threads * SLOT)
    return {
        "threads": threads,
        "memory_limit": f"{buffers >> 20}MiB",
        "perfect_ht_threshold": min(slots.bit_length() - 1, MOST_SLOTS),
        "lock_configuration": "true",
    }


class Desk:
    """Answers requests over one database."""

    def __init__(self, connection: _duckdb.DuckDBPyConnection, schema: tuple[str, str]) -> None:
        self._connection = connection
        self._schema = schema
        self._read: set[bytes] = set()
        self._bound: set[bytes] = set()
        self._plans: dict[str, _duckdb.DuckDBPyConnection] = {}
        self._sizes: dict[str, int] = {}

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
            most, made = request["most_rows"], request["made"]
            if request["part"] is not None:
                return [wire.pack(others[-1].first(most))]
            for way in request["ways"]:
                found = self._found(way, request, others)
                if found is not None:
                    return [wire.pack(found)]
            if made is None:
                return [wire.pack(self._planned(own.first(most), request))]
            if made["kind"] == "Added":
                return [wire.pack(_added(made, request, own))]
            return _counted(made, request, own)

    def _found(self, way: Any, request: Any, others: list[_Rows]) -> Any:
        """The result by another way, whose rows are the first of these; None where it does not lead there."""
        if way["kind"] == "ByKey":
            from dpsql.worker.whole_keys import by_key

            firsts = way["firsts"]
            most = firsts["rows"], firsts["groups"]
            return by_key(others.pop(0), request["columns"], way["of_units"], most, firsts["rank_digits"])
        from dpsql.worker.repeats import ENOUGH, apart

        groups, rows = others.pop(0), others.pop(0)
        with self._connection.cursor() as beside:  # at work at the same time
            own = self._planned(groups.over(beside).first(request["most_rows"]), request)
            if not _varies(request) and self._rows(request["tables"]) <= ENOUGH:
                own = own.begun()  # behind so few rows they are asked for in any case
            return apart(own, rows, way["of_units"])

    def _planned(self, rows: _Rows, request: Any) -> _Rows:
        """The same rows, by the plan that DuckDB made for their text when it ran first, on a connection of its own.

        All of them must be read. With parameters they are planned anew, for their values, and over tables of a request.
        A process keeps plans as it keeps which texts it confirmed and bound: the file never changes. They hold nothing
        of a run. So a text that this process knows takes less time, by planning as by the rest.
        """
        if _varies(request):
            return rows
        known = self._plans.get(rows.sql)
        if known is None:
            if len(self._plans) >= MOST_PLANNED:
                self._plans.pop(next(iter(self._plans))).close()
            known = self._connection.cursor()
            known.execute(f"PREPARE {PLAN} AS {rows.sql}")
            self._plans[rows.sql] = known
        return rows.over(known, f"EXECUTE {PLAN}")

    def _rows(self, tables: Sequence[str]) -> int:
        """How many rows these tables of the file have together, which never changes."""
        if not self._sizes:
            found = self._connection.execute("SELECT table_name, estimated_size FROM duckdb_tables()").fetchall()
            self._sizes = dict(found)
        return sum(self._sizes[table] for table in tables)

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
    """Each text that may run, with the columns that it gives: the statement's own, those of each way, and of a part."""
    own, number, unit = _selected(request), [KEY, "UBIGINT"], [UNIT, "INTEGER"]
    found = [(request["sql"], own)]
    for way in request["ways"]:
        if way["kind"] == "ByKey":
            found.append((way["rows"], [[UNIT, ANY], [KEY, own[0][1]]]))
        else:
            found += [(way["groups"], [*own, number]), (way["rows"], [number, unit])]
    if request["parted"] is not None:
        before, behind = request["parted"]
        parts, at = request["part"] or (2, 0)  # any, where it is only verified
        found.append((f"{before}{int(parts)} = {int(at)}{behind}", own))
    return found


def _varies(request: Any) -> bool:
    """Whether what a text finds depends on more than the file."""
    return bool(request["parameters"] or request["held"])


def _selected(request: Any) -> list[list[str]]:
    """The columns that the statement itself gives: not what the worker makes of its rows."""
    columns: list[list[str]] = request["columns"]
    made, names = request["made"], [name for name, _ in columns]
    if made is None:
        return columns
    added = made if made["kind"] == "Added" else made["of"]
    if added is not None:
        names = names[: len(request["places"])]
        names += [] if added["alone"] else [UNIT]
        names += [f"x{index}" for index in range(1 + max(at for _, at in added["adds"]))]
    else:
        names = [*names[:-3], UNIT, PLACE] if made["edges"] else names[:-1]
    return [[name, ANY] for name in names]


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
        self._connection, self.sql, self._columns, self._parameters = connection, sql, columns, parameters
        self._ended: Callable[[], Any] | None = None  # what waits for the stream, where it is begun

    def over(self, connection: _duckdb.DuckDBPyConnection, sql: str = "") -> _Rows:
        """The same by another connection, and by another text where one is given."""
        return _Rows(connection, sql or self.sql, self._columns, self._parameters)

    def begun(self) -> _Rows:
        """The same, at work by another thread from now on."""
        from dpsql.worker.ahead import begun

        rows = copy(self)
        rows._ended = begun(self._stream)
        return rows

    def first(self, most: int | None) -> _Rows:
        """One row more than ``most`` at the most: that there are too many is seen from it. All of them for None."""
        if most is None:
            return self
        return _Rows(self._connection, f"SELECT * FROM ({self.sql}) LIMIT {most + 1}", self._columns, self._parameters)

    def __arrow_c_stream__(self, requested_schema: object = None) -> Any:
        """The rows as Arrow's PyCapsule interface wants them."""
        return self._stream() if self._ended is None else self._ended()

    def _stream(self) -> Any:
        result = self._connection._submit(self.sql, self._parameters or None, "stream")
        _require([[name, str(kind)] for name, kind, *_ in result.description], self._columns)
        return result.arrow_capsule()


def _counted(made: Any, request: Any, stream: Any) -> list[Any]:
    """The rows of a stream, or their totals, counted as the request says."""
    from dpsql.worker.counting import counted, counted_totals, narrowed, shortened

    words, added = made["words"], made["of"]
    if added is None:
        *found, times = counted(stream, words, made["edges"])
    else:
        rows, adds = _lying(added, request, stream), _adds(added)
        *found, times = counted_totals(rows, request["places"], adds, added["clamps"], words)
    return [number.view("u1") for number in (*shortened(found, words), narrowed(times))]


def _lying(added: Any, request: Any, stream: Any) -> Any:
    """The rows of a stream, unit by unit."""
    from dpsql.worker.lying import alone, pieces

    return alone(stream) if added["alone"] else pieces(stream, request["places"], added["firsts"]["rank_digits"])


def _adds(added: Any) -> list[tuple[str, int]]:
    return [(function, at) for function, at in added["adds"]]


def _added(made: Any, request: Any, stream: Any) -> Any:
    """The rows of a stream, added up as the request says."""
    from dpsql.worker.cutting import cut
    from dpsql.worker.sizing import sized

    names, places = [name for name, _ in request["columns"]], request["places"]
    rows, adds = _lying(made, request, stream), _adds(made)
    if request["bins"]:
        return sized(rows, names[: len(places)], places, request["bins"], adds)
    return cut(rows, names, places, (made["firsts"]["rows"], made["firsts"]["groups"]), adds, made["clamps"])


def _require(found: list[list[str]], expected: list[list[str]]) -> None:
    known = [[name, ANY if own[1:] == [ANY] else kind] for (name, kind), own in zip(found, expected, strict=False)]
    if len(found) != len(expected) or known != expected:
        raise Refused(f"it gives the columns {found}, not {expected}")


def _hold(cursor: _duckdb.DuckDBPyConnection, name: str, columns: list[list[str]], table: bytes) -> None:
    """Puts one of the request's own tables where its statement looks for it.

    Rows that come once for many are there as often as they should be while a statement reads them, and never before.
    """
    casts = ", ".join(f"CAST({_quoted(own)} AS {kind})" for own, kind in columns if own != wire.TIMES)
    names = ", ".join(_quoted(own) for own, _ in columns if own != wire.TIMES)
    cursor.register(INPUT, nanoarrow.ArrayStream(wire.unpack(table)))
    if [wire.TIMES, "BIGINT"] not in columns:
        cursor.execute(f"CREATE TEMP TABLE {_quoted(name)}({names}) AS SELECT {casts} FROM {_quoted(INPUT)}")
    else:
        kept, times, before = map(_quoted, (f"{name} and {wire.TIMES}", wire.TIMES, f"rows before, of {wire.TIMES}"))
        parts = f"SELECT *, unnest(range(0, {times}, {LISTED})) AS {before} FROM {_quoted(INPUT)}"
        few = f"least({LISTED}, {times} - {before})"
        cursor.execute(f"CREATE TEMP TABLE {kept}({names}, {times}) AS SELECT {casts}, {few} FROM ({parts})")
        every = f"SELECT {names} FROM (SELECT *, unnest(range({times})) FROM {kept})"
        cursor.execute(f"CREATE TEMP VIEW {_quoted(name)} AS {every}")
    cursor.unregister(INPUT)


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def serve(connection: Connection, desk: Desk) -> None:
    """Answers until the parent closes its end: one request, or several in their order up to one that fails."""
    connection.send_bytes(wire.encode({"ready": True}))
    while True:
        asked = wire.decode(connection.recv_bytes())
        for request in asked if isinstance(asked, list) else [asked]:
            limits.expire(request["deadline"] + GRACE)
            stands = _answered(connection, desk, request)
            limits.expire(0)
            if not stands:
                break


def _answered(connection: Connection, desk: Desk, request: Any) -> bool:
    """Answers one request; whether its statement did not fail."""
    tables = [connection.recv_bytes() for _ in request["held"]]
    try:
        result = []
        if request["run"]:
            result = desk.answer(request, tables)
        else:
            desk.verify(request)
    except Refused as error:
        connection.send_bytes(wire.encode({"refused": str(error)}))
        return False
    except Exception as error:  # noqa: BLE001 - whatever happens becomes the one fixed failure
        connection.send_bytes(wire.encode({"failed": f"{type(error).__name__}: {error}"}))
        return False
    connection.send_bytes(wire.encode({"bytes": [memoryview(part).nbytes for part in result]}))
    for part in result:
        wire.write(connection.fileno(), part)
    return True


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
