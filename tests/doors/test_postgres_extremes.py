"""No composition of functions fails on PostgreSQL, whatever the numbers; and it is NULL where it is on DuckDB.

They differ where a number is nearer to 0 than 10^-118, which is 0 to PostgreSQL (DIALECTS.md), and in the last digits
of what goes by a library's tables, by which a comparison may turn.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

import duckdb
import psycopg
import pytest

import dpsql
from dpsql.engine.duckdb.dialect import DUCKDB
from dpsql.engine.postgres.connecting import settle
from dpsql.engine.postgres.dialect import postgres
from dpsql.engine.postgres.words import NEAREST_TO_ZERO, kept
from dpsql.plan.nodes import Expression
from examples.postgres import Server
from tests.extremes import COLUMNS, TYPES, below, drawn, rows_at_the_ends, selected, wrong

pytestmark = pytest.mark.doors

WORDS = postgres("bounded", "")
COUNT = 4_000
MANY_TURNS = 1e6
Connection = psycopg.Connection[Any]


@pytest.fixture(scope="module")
def there(server: Server) -> Iterator[Connection]:
    """PostgreSQL with the rows, as it keeps them in bounded tables."""
    with psycopg.connect(server.dsn("postgres"), autocommit=True, cursor_factory=psycopg.RawCursor) as connection:
        settle(connection)
        columns = ", ".join(f"{name} {WORDS.types[kind]}" for name, kind in TYPES.items())
        connection.execute(f"CREATE TEMPORARY TABLE t (row bigint, {columns})".encode())
        values = ", ".join(
            kept(f"CAST(${place} AS double precision)") if kind == "DOUBLE" else f"${place}"
            for place, kind in enumerate(TYPES.values(), 2)
        )
        for row in enumerate(rows_at_the_ends()):
            connection.execute(f"INSERT INTO t VALUES ($1, {values})".encode(), [row[0], *row[1]])
        yield connection


@pytest.fixture(scope="module")
def here() -> Iterator[duckdb.DuckDBPyConnection]:
    with duckdb.connect(config={"threads": 1}) as connection:
        connection.execute(f"CREATE TABLE t (row BIGINT, {', '.join(f'{n} {kind}' for n, kind in TYPES.items())})")
        for place, row in enumerate(rows_at_the_ends()):
            connection.execute(f"INSERT INTO t VALUES (?, {', '.join('?' * len(COLUMNS))})", [place, *row])
        yield connection


def of_postgres(there: Connection, expression: Expression) -> list[Any]:
    asked = selected([expression], WORDS)
    bound = [0.0 if isinstance(p, float) and abs(p) < NEAREST_TO_ZERO else p for p in asked.parameters]
    return [value for (value,) in there.execute(f"SELECT {asked.sql} FROM t ORDER BY row".encode(), bound).fetchall()]


def of_duckdb(here: duckdb.DuckDBPyConnection, expressions: Sequence[Expression]) -> list[tuple[Any, ...]]:
    asked = selected(expressions, DUCKDB)
    return here.execute(f"SELECT {asked.sql} FROM t ORDER BY row", asked.parameters or None).fetchall()


def may_differ(text: str, values: Sequence[Any]) -> bool:
    """Whether a value on the way is nearer to 0 than PostgreSQL keeps them, or an angle that a last digit turns."""
    sizes = [abs(value) for value in values if isinstance(value, float)]
    angles = any(f"{name}(" in text for name in ("sin", "cos", "tan"))
    return any(0 < size < 2 * NEAREST_TO_ZERO for size in sizes) or (angles and max(sizes, default=0) > MANY_TURNS)


@pytest.mark.parametrize("seed", range(4))
def test_no_composition_fails_there_and_it_is_null_where_it_is_on_duckdb(
    seed: int, there: Connection, here: duckdb.DuckDBPyConnection
) -> None:
    for text, expression in islice(drawn(seed, WORDS), COUNT // 4):
        try:
            found = of_postgres(there, expression)
        except psycopg.Error as error:
            pytest.fail(f"{text}: {error}")
        ours = of_duckdb(here, [*below(expression)])
        for theirs, (own, *way) in zip(found, ours, strict=True):
            assert not wrong(expression, theirs), f"{text}: {theirs}: {wrong(expression, theirs)}"
            if (theirs is None) is not (own is None):
                assert may_differ(text, [own, *way]), f"{text}: {theirs}, DuckDB {own} by way of {way}"


POLICY = """\
version: 1
name: clinic
engine: {{kind: postgres, dsn: "{owner}", query_dsn: "{query}", bounded: dpsql_bounded}}
neighbours: add_remove
budget: {{ledger: l.db, composition: basic, total: {{epsilon: 1000}}, analysts: {{ana: {{epsilon: 500}}}},
         per_query: {{epsilon: 1}}}}
tables:
  people:
    unit: person
    rows_per_unit: 1
    columns:
      x: {{type: real, bounds: [0, 1]}}
      least: {{type: real, bounds: [0.00000001, 1]}}
      n: {{type: integer, bounds: [0, 100]}}
"""
PER_UNIT = "SELECT COUNT(*) FROM (SELECT person, {} AS q FROM people GROUP BY person) WHERE {} < 0"


@pytest.mark.chance(0, "only whether they fail is asked")
def test_no_row_makes_a_statement_fail(server: Server, tmp_path: Path) -> None:
    with server.connect("postgres") as connection:
        connection.execute("CREATE DATABASE extremes")
    with server.connect("extremes") as connection:
        connection.execute("CREATE TABLE people (person int, x float8, least float8, n int)")
        connection.execute("INSERT INTO people VALUES (1, 3e-150, 1e-8, 99), (2, 3e-150, 1, 1), (3, 0, 0, 0)")
        connection.execute("CREATE SCHEMA dpsql_bounded")
    path = tmp_path / "clinic.yaml"
    path.write_text(POLICY.format(owner=server.dsn("extremes"), query=server.dsn("extremes", "query")))
    either = "CASE WHEN n = 1 THEN x ELSE pow(n, 100) END"
    with dpsql.open(path) as proxy:
        session = proxy.session(analyst="ana")
        for statement in (
            "SELECT COUNT(*) FROM people WHERE 1 / exp(-6 * n) < 0",
            "SELECT COUNT(*) FROM people WHERE ln(pow(least, 30)) < 0",
            "SELECT COUNT(*) FROM people WHERE x / pow(n, 100) < 0",
            "SELECT COUNT(*) FROM people WHERE atan2(x, pow(n, 100)) * atan2(x, pow(n, 100)) < 0",
            PER_UNIT.format("SUM(least)", "1 / q"), PER_UNIT.format("AVG(least)", "ln(q)"),
            PER_UNIT.format(f"SUM({either})", "q"), f"SELECT SUM({either}) FROM people",
            f"SELECT MEDIAN({either}) FROM people",
            "SELECT COUNT(*) FROM people WHERE (SELECT AVG(x) FROM people) * (SELECT AVG(x) FROM people) * x > n",
        ):  # fmt: skip
            assert len(session.query(statement, epsilon=1).rows) == 1, statement
