"""DuckDB's parser must read what was meant: one SELECT, these tables, these functions."""

from __future__ import annotations

from collections.abc import Iterator

import duckdb
import pytest

from dpsql.worker.verify import Refused, verify

SCHEMA = ("bounded", "main")
VISITS = '"bounded"."main"."visits"'


@pytest.fixture(scope="module")
def connection() -> Iterator[duckdb.DuckDBPyConnection]:
    """An engine without data."""
    with duckdb.connect() as connection:
        yield connection


@pytest.mark.parametrize(
    "sql",
    [
        f"SELECT count(*) AS n FROM {VISITS}",
        f"SELECT city, sum(CASE WHEN cost > ? THEN cost + 1 END) FROM {VISITS} GROUP BY city HAVING count(*) > 2",
        f"WITH c AS (SELECT city FROM {VISITS}) SELECT count(DISTINCT c.city) FROM c ORDER BY 1 LIMIT 5",
        f"SELECT count(*) FROM (SELECT city FROM {VISITS} UNION ALL SELECT 'b' FROM {VISITS}) WHERE city IN ('a', ?)",
        f"SELECT sum(r) FROM (SELECT row_number() OVER (PARTITION BY city ORDER BY cost) AS r FROM {VISITS})",
    ],
)
def test_what_was_meant_passes(connection: duckdb.DuckDBPyConnection, sql: str) -> None:
    verify(
        connection, sql, schema=SCHEMA, tables={"visits"}, functions={"count", "sum", "+", "row_number"}
    )  # and returns


@pytest.mark.parametrize(
    ("sql", "reason"),
    [
        (f"SELECT count(*) FROM {VISITS}; SELECT 1", "one SELECT"),
        ("DROP TABLE visits", "one SELECT"),
        (f"CREATE TABLE leak AS SELECT 1 FROM {VISITS}", "one SELECT"),
        (f"COPY (SELECT 1 FROM {VISITS}) TO '/tmp/leak'", "one SELECT"),
        (f"SELECT count(*) FROM {VISITS} WHERE", "parser"),
        ("", "one SELECT"),
        ("SELECT count(*) FROM visits", "qualified"),
        ('SELECT count(*) FROM "other"."main"."visits"', "qualified"),
        (f'SELECT count(*) FROM {VISITS}, "bounded"."main"."secret"', "secret"),
        ("SELECT 1", "not"),
        (f"SELECT count(*) FROM {VISITS}, query('SELECT 42')", "TABLE_FUNCTION"),
        (f"SELECT count(*) FROM {VISITS}, read_csv('/etc/passwd')", "TABLE_FUNCTION"),
        (f"SELECT count(*) FROM {VISITS}, '/etc/passwd'", "qualified"),
        (f"SELECT * FROM {VISITS}", "STAR"),
        (f"SELECT upper(city) FROM {VISITS}", "upper"),
        (f"SELECT count(*) FROM {VISITS} WHERE cost * 2 > 1", r"\*"),
        (f"SELECT count(*) FROM {VISITS} WHERE (SELECT error('x')) IS NULL", "error"),
        (f"SELECT other.sum(cost) FROM {VISITS}", "qualified"),
        (f"SELECT count(*) FROM {VISITS} USING SAMPLE 10 ROWS", "sample"),
        (f"SELECT count(*) FROM {VISITS} TABLESAMPLE 10%", "sample"),
        (f"SELECT sum(list_transform([1], x -> x)[1]) FROM {VISITS}", "LAMBDA"),
        (f"PIVOT {VISITS} ON city USING sum(cost)", "it"),
        (f"SELECT count(*) FROM {VISITS} WHERE city COLLATE nocase = 'x'", "COLLATE"),
    ],
)
def test_anything_else_is_refused(connection: duckdb.DuckDBPyConnection, sql: str, reason: str) -> None:
    with pytest.raises(Refused, match=reason):
        verify(connection, sql, schema=SCHEMA, tables={"visits"}, functions={"count", "sum", "+"})


def test_a_common_table_cannot_stand_for_a_table_of_the_file(connection: duckdb.DuckDBPyConnection) -> None:
    sql = "WITH visits AS (SELECT 1 AS x) SELECT count(*) FROM visits"
    with pytest.raises(Refused, match="reads"):
        verify(connection, sql, schema=SCHEMA, tables={"visits"}, functions={"count"})


def test_deep_nesting_is_read_or_refused_and_no_crash(connection: duckdb.DuckDBPyConnection) -> None:
    """Each Python's JSON nests as deeply as it likes, and DuckDB's parser somewhat deeper than here."""
    sql = f"SELECT {' + '.join(['1'] * 900)} FROM {VISITS}"
    try:
        verify(connection, sql, schema=SCHEMA, tables={"visits"}, functions={"+"})
    except Refused as refusal:
        assert str(refusal) == "it nests too deeply"


def test_what_nests_too_deeply_for_the_parser_is_refused(connection: duckdb.DuckDBPyConnection) -> None:
    sql = f"SELECT {' + '.join(['1'] * 100_000)} FROM {VISITS}"
    with pytest.raises(Refused, match="parser"):
        verify(connection, sql, schema=SCHEMA, tables={"visits"}, functions={"+"})
