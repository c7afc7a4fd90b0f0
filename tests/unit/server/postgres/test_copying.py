"""COPY of a query's rows, in its three formats: charged as the query alone; anything else is refused."""

from __future__ import annotations

import csv
import io
import struct

import pytest

from dpsql.server.postgres.copying import _form
from dpsql.server.postgres.inquiry import CopyForm
from dpsql.server.postgres.scan import words
from dpsql.server.postgres.types import TEXT, column_of
from tests.unit.server.postgres.conftest import Open
from tests.unit.server.postgres.raw import Raw, bind, describe, execute, parse

pytestmark = pytest.mark.chance(0, "keys and tokens are drawn; nothing of noise is asserted")
BY_SEX = "SELECT sex, smokes, COUNT(*) AS n FROM people GROUP BY sex, smokes"
ROWS = [b"F\tf\t40\n", b"F\tt\t10\n", b"M\tf\t40\n", b"M\tt\t10\n"]


def test_rows_are_copied_for_the_price_of_the_query_and_once(door: Open, ana: Raw) -> None:
    before = door.spent()
    first = ana.ask(f"COPY ({BY_SEX}) TO STDOUT")
    assert (first.copied, first.tags, first.kinds.replace("N", "")) == (ROWS, ["COPY 4"], "HddddcCZ")
    assert door.spent() - before in (0.5, 0)
    spent = door.spent()
    assert ana.ask(BY_SEX).notices[0].startswith("Cost: nothing")
    again = ana.tell(parse(f"copy ({BY_SEX}) TO stdout"), describe("S"), bind(), describe(), execute(1))
    assert (again.copied, again.kinds.replace("N", "")) == (ROWS, "1tn2nHddddcCZ")
    assert again.notices[0].startswith("Cost: nothing")
    assert door.spent() == spent


def test_the_binary_format_begins_with_its_signature_and_ends_with_its_trailer(ana: Raw) -> None:
    head, one = b"PGCOPY\n\xff\r\n\0" + bytes(8), struct.pack(">HiB", 3, 1, ord("F"))
    reply = ana.ask(f"COPY ({BY_SEX}) TO STDOUT (FORMAT binary)")
    assert reply.copied[0] == head + one + struct.pack(">iB", 1, 0) + struct.pack(">iq", 8, 40)
    assert (len(reply.copied), reply.copied[-1]) == (5, b"\xff\xff")
    empty = ana.ask(f"COPY ({BY_SEX} LIMIT 0) TO STDOUT WITH BINARY")
    assert (empty.copied, empty.tags) == ([head + b"\xff\xff"], ["COPY 0"])


@pytest.mark.parametrize(
    ("options", "first"),
    [
        ("CSV HEADER", b"sex,smokes,n\nF,f,40\n"), ("(FORMAT 'csv', DELIMITER ';', FORCE_QUOTE *)", b'"F";"f";"40"\n'),
        ("WITH (HEADER true, DELIMITER '|')", b"sex|smokes|n\nF|f|40\n"), ("DELIMITER AS E'\\t' NULL AS ''", ROWS[0]),
        ("(ENCODING 'UTF8', HEADER off)", ROWS[0]), ("WITH CSV DELIMITER ';' FORCE QUOTE *", b'"F";"f";"40"\n'),
    ],
)  # fmt: skip
def test_options_are_taken_in_both_of_postgresqls_ways(ana: Raw, options: str, first: bytes) -> None:
    assert ana.ask(f"COPY ({BY_SEX}) TO STDOUT {options}").copied[0] == first


def form(options: str) -> CopyForm:
    return _form(list(words(options)))


def test_what_would_end_a_value_is_escaped_and_null_is_no_text() -> None:
    assert form("").row([b"a\tb\\\n", None, b""]) == b"a\\tb\\\\\\n\t\\N\t\n"
    values = [b'say "x"', b"a,b", b"two\nlines", b"", b"plain"]
    written = form("csv").row([*values, None])
    assert next(csv.reader(io.StringIO(written.decode(), newline=""))) == [value.decode() for value in values] + [""]
    assert written.endswith(b',"",plain,\n')
    assert form("csv quote '$' escape '\\'").row([b"a$\\,"]) == b"$a\\$\\\\,$\n"
    assert form("csv header").begun([column_of("a,b", TEXT)]) == b'"a,b"\n'


@pytest.mark.parametrize(
    ("sql", "code"),
    [
        ("COPY people TO STDOUT", "0A000"), ("COPY people (age) FROM STDIN", "0A000"), ("COPY", "0A000"),
        ("COPY (SELECT 1) TO '/tmp/x'", "0A000"), ("COPY (SELECT 1) TO PROGRAM 'x'", "0A000"),
        ("COPY (DELETE FROM people) TO STDOUT", "0A000"), ("COPY (SET epsilon = 9) TO STDOUT", "0A000"),
        ("COPY (COPY (SELECT 1) TO STDOUT) TO STDOUT", "0A000"), ("COPY (SELECT 1", "0A000"),
        ("COPY (SELECT 1) TO STDOUT (FORMAT xml)", "0A000"),
        ("COPY (SELECT 1) TO STDOUT (FORMAT binary, HEADER)", "0A000"),
        ("COPY (SELECT 1) TO STDOUT (QUOTE '!')", "0A000"), ("COPY (SELECT 1) TO STDOUT CSV DELIMITER ';;'", "22023"),
        ("COPY (SELECT 1) TO STDOUT (HEADER match)", "22023"), ("COPY (SELECT 1) TO STDOUT (ENCODING latin1)", "0A000"),
        ("COPY (SELECT 1) TO STDOUT (FORMAT csv, FORMAT text)", "42601"),
        ("COPY (SELECT 1) TO STDOUT CSV QUOTE ','", "22023"),
        ("COPY (SELECT 1) TO STDOUT NULL", "0A000"),
        ("COPY (SELECT 1) TO STDOUT (FORMAT csv, FORCE_QUOTE (a, b))", "0A000"),
    ],
)  # fmt: skip
def test_anything_else_is_refused_and_costs_nothing(door: Open, ana: Raw, sql: str, code: str) -> None:
    before = door.spent()
    reply = ana.ask(sql)
    assert (reply.code, reply.kinds, "H" in reply.errors[0] or code != "0A000") == (code, "EZ", True)
    assert ana.tell(parse(sql), bind(), execute()).code == code
    assert door.spent() == before


def test_a_refused_query_is_shown_where_it_stands_in_the_whole(ana: Raw) -> None:
    sql = "COPY (SELECT nope FROM people) TO STDOUT"
    assert ana.ask(sql).errors[0]["P"] == str(sql.index("nope") + 1)
    assert ana.tell(parse(sql), describe("S")).errors[0]["P"] == str(sql.index("nope") + 1)


def test_the_catalogue_and_constants_are_copied_too_and_the_limit_of_rows_holds(door: Open, ana: Raw) -> None:
    assert ana.ask("COPY (SELECT tablename FROM pg_tables) TO STDOUT").copied == [b"people\n"]
    assert ana.ask("COPY (SELECT 1 AS a, NULL AS b) TO STDOUT").copied == [b"1\t\\N\n"]
    ages = ana.ask("COPY (SELECT age, COUNT(*) FROM people GROUP BY age) TO STDOUT")
    assert len(ages.copied) == door.clinic.server.limits.rows
