"""No function of texts takes PostgreSQL much longer than is counted for it before the charge."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

import psycopg
import pytest

from dpsql.engine.dialect import filled
from dpsql.engine.postgres.connecting import settle
from dpsql.engine.postgres.dialect import postgres
from dpsql.errors import UnsupportedQuery
from dpsql.plan.functions import Function
from dpsql.plan.functions.patterns import NS_A_LETTER
from examples.postgres import Server
from tests.unit.plan.rows.test_unit_work import COUNTED, FACTOR, HOSTILE, LONG, TEXTUAL, calls

pytestmark = pytest.mark.doors

WORDS = postgres("bounded", "")
MOST = 200  # Rows of such texts.
LONGER = 20_000  # Letters of the texts of which one is looked for in another.
LETTERS = ("x", "é", "\U0001f600")  # Of one, two and four bytes.


@pytest.fixture(scope="module")
def there(server: Server) -> Iterator[psycopg.Connection[Any]]:
    """With a table of hostile texts, another one in each row."""
    columns = ", ".join(f"left(i || {text}, {LONG}) AS t{number}" for number, text in enumerate(HOSTILE))
    with psycopg.connect(server.dsn("postgres"), autocommit=True, cursor_factory=psycopg.RawCursor) as connection:
        settle(connection)
        connection.execute(f"CREATE TEMPORARY TABLE texts AS SELECT {columns} FROM generate_series(1, {MOST}) AS i")
        for number, letter in enumerate(LETTERS):
            long, part = f"repeat('{letter}', {LONGER})", f"'z' || repeat('{letter}', {LONGER // 2 - 1})"
            connection.execute(f"CREATE TEMPORARY TABLE long{number} AS SELECT {long} AS x, {part} AS y")
        yield connection


def counted(function: Function, letters: list[int], values: list[object]) -> int:
    """Nanoseconds of one row."""
    own = WORDS.spelt(function)
    work = own.work or function.work
    return own.calls * (NS_A_LETTER * sum(letters) if work is None else work(letters, values))  # type: ignore[arg-type]


def taken(there: psycopg.Connection[Any], sql: str) -> float:
    """Seconds, of two tries the lesser."""
    found = []
    for _ in range(2):
        began = time.perf_counter()
        there.execute(sql.encode())
        found.append(time.perf_counter() - began)
    return min(found)


@pytest.mark.parametrize("function", TEXTUAL, ids=lambda one: f"{one.name} {len(one.parameters)}")
def test_no_function_takes_much_longer_than_is_counted(there: psycopg.Connection[Any], function: Function) -> None:
    try:
        ways = list(calls(function, WORDS))
    except UnsupportedQuery:
        return
    for sql, letters, values in ways:
        own = counted(function, letters, values)
        rows = min(MOST, COUNTED // max(own, 1) + 1)
        asked = f"SELECT count({sql}) FROM (SELECT * FROM texts LIMIT {rows}) AS t"
        assert taken(there, asked) < FACTOR * max(rows * own, COUNTED) / 10**9, (sql, rows)


@pytest.mark.parametrize("letter", range(len(LETTERS)))
@pytest.mark.parametrize("name", ["strpos", "position", "contains"])
def test_a_long_text_in_another_takes_no_longer_than_is_counted(
    there: psycopg.Connection[Any], name: str, letter: int
) -> None:
    (function,) = (one for one in TEXTUAL if one.name == name)
    sql = filled(WORDS.spelled(function.sql)[0], ["x", "y"])
    own = counted(function, [LONGER, LONGER], [None, None])
    assert taken(there, f"SELECT count({sql}) FROM long{letter}") < 2 * own / 10**9
