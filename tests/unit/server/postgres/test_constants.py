"""Statements that name no table: what they give, and how their parameters are read, is the same as elsewhere."""

from __future__ import annotations

import struct

import pytest

from tests.unit.server.postgres.conftest import Open
from tests.unit.server.postgres.raw import Raw, Reply, bind, describe, execute, parse

NUMBER = struct.pack(">HhHHHH", 2, 0, 0, 1, 12, 5000)  # 12.5 as PostgreSQL's numeric
DAY, SECOND = struct.pack(">i", 8796), struct.pack(">q", 8796 * 86_400 * 10**6 + 10**6)  # 2024-01-31, and 00:00:01 then
CASES: list[tuple[str, int, bytes, bytes, bytes]] = [  # a type by name and oid, a value in text and binary, and shown
    ("int2", 21, b"-5", struct.pack(">h", -5), b"-5"), ("int4", 23, b"-5", struct.pack(">i", -5), b"-5"),
    ("integer", 23, b"7", struct.pack(">i", 7), b"7"), ("int8", 20, b"-5", struct.pack(">q", -5), b"-5"),
    ("float4", 700, b"0.5", struct.pack(">f", 0.5), b"0.5"), ("float8", 701, b"0.5", struct.pack(">d", 0.5), b"0.5"),
    ("double precision", 701, b"0.5", struct.pack(">d", 0.5), b"0.5"), ("numeric", 1700, b"12.5", NUMBER, b"12.5"),
    ("bool", 16, b"t", b"\1", b"t"), ("text", 25, "né".encode(), "né".encode(), "né".encode()),
    ("varchar", 1043, b"7", b"7", b"7"), ("date", 1082, b"2024-01-31", DAY, b"2024-01-31"),
    ("timestamp", 1114, b"2024-01-31 00:00:01", SECOND, b"2024-01-31 00:00:01"),
]  # fmt: skip


def told(ana: Raw, sql: str, value: bytes | None, *oids: int, binary: bool = False, out: int = 0) -> Reply:
    return ana.tell(parse(sql, oids), bind([value], binary=binary, out=out), describe(), execute())


@pytest.mark.every(2)
@pytest.mark.parametrize("beside", ["", ", version()"], ids=["of dpsql", "of the catalogue"])
@pytest.mark.parametrize("kind", CASES, ids=[own[0] for own in CASES])
def test_a_parameter_is_read_in_text_and_in_binary_whether_its_type_was_told_or_not(
    ana: Raw, kind: tuple[str, int, bytes, bytes, bytes], beside: str
) -> None:
    name, oid, text, binary, shown = kind
    for written in (f"$1::{name}", f"CAST($1 AS {name})"):
        sql = f"SELECT {written} AS x{beside}"
        for oids in ((), (oid,), (0,)):
            for data, is_binary in ((text, False), (binary, True)):
                reply = told(ana, sql, data, *oids, binary=is_binary)
                assert reply.errors == [], (sql, oids, is_binary)
                found = reply.rows[0][0] or b""
                assert (float(found) == float(shown)) if name == "numeric" else found == shown, (sql, oids, is_binary)
        assert told(ana, sql, None, oid).rows[0][0] is None


@pytest.mark.parametrize("kind", CASES, ids=[own[0] for own in CASES])
def test_a_value_without_a_cast_keeps_the_type_that_was_told(
    ana: Raw, kind: tuple[str, int, bytes, bytes, bytes]
) -> None:
    _, oid, _, binary, shown = kind
    described = ana.tell(parse("SELECT $1 AS x", [oid]), describe("S"))
    reply = told(ana, "SELECT $1 AS x", binary, oid, binary=True)
    assert (reply.errors, reply.rows, reply.columns) == ([], [[shown]], described.columns)
    (wide,) = told(ana, "SELECT $1 AS x", binary, oid, binary=True, out=1).rows[0]
    assert wide is not None and (oid not in (21, 23, 20) or int.from_bytes(wide, "big", signed=True) == int(shown))


def test_a_statement_without_FROM_is_described_as_it_is_answered(ana: Raw) -> None:
    for sql, parameters, columns in (
        ("SELECT 1", [], [("?column?", 23)]), ("SELECT 5000000000 AS x", [], [("x", 20)]),
        ("SELECT $1::int AS x", [20], [("x", 20)]),
        ("SELECT $1::date AS x, $2 AS y", [1082, 25], [("x", 1082), ("y", 25)]),
        ("VALUES (1, 'a')", [], [("col0", 23), ("col1", 25)]), ("SELECT (SELECT 1)", [], [("?column?", 23)]),
        ("SELECT version(), $1::int AS x", [20], [("version", 25), ("x", 23)]),
    ):  # fmt: skip
        described = ana.tell(parse(sql), describe("S"))
        assert (described.errors, described.parameters, described.columns) == ([], parameters, columns), sql
        if not parameters:
            assert ana.ask(sql).columns == columns


@pytest.mark.parametrize(
    ("sql", "row"),
    [
        ("SELECT 1/0, 0/0, -1/0, 1.0/0", [None] * 4), ("SELECT 7 // 0, 5 % 0", [None] * 2),
        ("SELECT 1/0, current_schema()", [None, b"public"]), ("SELECT 5 % 0, current_schema()", [None, b"public"]),
        ("SELECT 2147483647 + 1, ln(0), sqrt(-1)", [b"2147483648", None, None]),
        ("SELECT (SELECT 1), EXISTS (SELECT 1), 2 IN (SELECT 1)", [b"1", b"t", b"f"]),
        ("VALUES (1, 'a')", [b"1", b"a"]), ("WITH t AS (SELECT 1) SELECT * FROM t", [b"1"]),
        ("SELECT * FROM (SELECT 1)", [b"1"]), ("SELECT 1 AS one UNION ALL SELECT 1 LIMIT 1", [b"1"]),
    ],
)  # fmt: skip
def test_constants_are_what_they_are_at_every_door(ana: Raw, door: Open, sql: str, row: list[bytes | None]) -> None:
    spent = door.spent()
    reply = ana.ask(sql)
    assert (reply.errors, reply.rows, door.spent()) == ([], [row], spent)
    if "schema" not in sql:
        answer = door.clinic.proxy.session(analyst="ana").query(sql)
        assert [None if value is None else shown(value) for value in answer.rows[0]] == row


def shown(value: object) -> bytes:
    return {True: b"t", False: b"f"}[value] if isinstance(value, bool) else str(value).encode()


LONG = "x" * 1000
MANY = ", ".join(f"({i})" for i in range(400))


@pytest.mark.every(2)
@pytest.mark.parametrize(
    "sql",
    [
        "SELECT repeat('a', 10000000)", "SELECT version(), repeat('a', 10000000)", "SELECT lpad('a', 10000000, 'b')",
        "SELECT rpad('a', 10000000, 'b')", "SELECT range(10000000)", "SELECT generate_series(1, 10000000)",
        "SELECT list_value(repeat('a', 1000000), 1)", "SELECT unnest(range(10000000))",
        f"SELECT replace(repeat('a', 1000), 'a', '{LONG * 2}')",
        "SELECT concat(repeat('a', 900000), repeat('b', 900000))",
        "SELECT string_split(repeat('a,', 1000000), ',')", "SELECT repeat('a', 9000000) FROM pg_class",
        f"WITH w AS (VALUES {MANY}) SELECT lpad('a', 1000, 'b') AS x FROM w a, w b",
        f"WITH w AS (VALUES {MANY}) SELECT COUNT(*) FROM w a, w b, w c",
        f"WITH w AS (VALUES {MANY}) SELECT a.col0 FROM w a, w b, w c",
    ],
)  # fmt: skip
def test_little_that_would_make_much_is_refused(ana: Raw, sql: str) -> None:
    reply = ana.ask(sql)
    assert reply.rows == [] and reply.errors[0]["C"] in ("54000", "0A000")
    assert len(reply.errors[0]["M"]) < 400 and "H" in reply.errors[0]
    assert ana.ask("SELECT 1").rows == [[b"1"]]


def test_a_function_of_rows_gives_rows_and_a_cast_is_called_as_its_type(ana: Raw) -> None:
    assert ana.ask("SELECT generate_series(1, 3)").rows == [[b"1"], [b"2"], [b"3"]]
    both = ana.ask("SELECT generate_series(5, 1, -2), 'x' AS x")
    assert (both.columns[0][0], both.rows) == ("generate_series", [[b"5", b"x"], [b"3", b"x"], [b"1", b"x"]])
    assert ana.ask("SELECT generate_series(1, 10000000000)").code in ("0A000", "54000")
    casts = ana.ask("SELECT 1::text, '2020-01-01'::date, CAST(1 AS boolean), CAST(version() AS text), 2::int AS two")
    assert [name for name, _ in casts.columns] == ["text", "date", "bool", "version", "two"]


def test_a_value_is_quoted_as_drivers_ask_for_it_and_parameters_have_the_type_of_their_cast(ana: Raw) -> None:
    sql = 'SELECT quote_literal($1::"pg_catalog"."int8"::text), quote_literal($2::pg_catalog.text)'
    reply = ana.tell(parse(sql), describe("S"), bind([b"30", b"it's"]), execute())
    assert (reply.parameters, reply.rows) == ([20, 25], [[b"'30'", b"'it''s'"]])


def test_parameters_with_names_are_refused_when_the_statement_is_described(ana: Raw) -> None:
    for sql in ("SELECT COUNT(*) FROM people WHERE age > $age", "SELECT $age + 1"):
        replies = (ana.tell(parse(sql), describe("S")), ana.tell(parse(sql, [23]), bind([b"30"]), execute()))
        told = {reply.errors[0]["M"] for reply in replies}
        assert len(told) == 1 and "names its parameters" in told.pop()
