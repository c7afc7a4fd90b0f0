"""The catalogue: what tools ask when they connect is answered, from the policy alone, and nothing else is."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import UTC, datetime, time
from pathlib import Path

import pytest

from dpsql.errors import UnsupportedQuery
from dpsql.plan.types import Type
from dpsql.server.postgres.catalogue import Catalogue
from dpsql.server.postgres.inquiry import Context, Result
from dpsql.server.postgres.questions import question_of
from dpsql.server.postgres.settings import Settings
from dpsql.server.postgres.states import PgRefusal
from tests.unit.server.clinic import Clinic

STATEMENTS = json.loads((Path(__file__).parent / "client_statements.json").read_text())
"""What DBeaver, Metabase, psql and pgAdmin send: of datafusion-contrib/datafusion-postgres (Apache-2.0), at 4c18f5a."""


@pytest.fixture(scope="module")
def context(clinic: Clinic) -> Iterator[Context]:
    server = clinic.server
    guest = server.guest(server.bearer(clinic.tokens["ana"], "t", "x"), "t", "x")
    catalogue = Catalogue(clinic.proxy)
    yield Context(guest, Settings("ana"), catalogue, inside=False, changed=[])
    catalogue.close()
    guest.close()


def asked(context: Context, sql: str, *values: str) -> Result:
    return question_of(context, sql).answered(values)


def test_whole_numbers_beyond_64_bits_are_numeric(context: Context) -> None:
    found = asked(
        context, "SELECT 18446744073709551616 AS a, 1.5 AS b, count(*) AS c FROM pg_class WHERE relname = 'x'"
    )
    assert [column.oid for column in found.columns or ()] == [1700, 1700, 20]
    assert [str(value) for value in found.rows[0]] == ["18446744073709551616", "1.5", "0"]


def test_an_array_is_a_list_for_the_catalogue_too(context: Context) -> None:
    sql = "SELECT relname FROM pg_class WHERE relname = ANY($1) AND relkind = ANY(ARRAY['r', 'v'])"
    assert asked(context, sql, "{people,nothing}").rows == [["people"]]
    assert question_of(context, sql).answered([("people", "no,thing")]).rows == [["people"]]
    described = question_of(context, sql)
    described.columns()
    assert described.lists == {0: 25}
    cast = question_of(context, "SELECT relname FROM pg_class WHERE oid = ANY($1::oid[])")
    cast.columns()
    assert cast.lists == {0: 26}
    assert cast.answered([(16384,)]).rows == [["people"]]


@pytest.mark.parametrize("tool", STATEMENTS)
def test_every_statement_that_a_tool_sends_by_itself_is_answered(context: Context, tool: str) -> None:
    for sql in STATEMENTS[tool]:
        question = question_of(context, sql)
        columns, result = question.columns(), question.answered(())
        assert columns == result.columns, sql


def test_tables_and_columns_are_the_policy_s(context: Context) -> None:
    tables = asked(context, "SELECT schemaname, tablename FROM pg_catalog.pg_tables")
    assert tables.rows == [["public", "people"]]
    columns = asked(
        context,
        "SELECT column_name, data_type, is_nullable FROM information_schema.columns WHERE table_name = $1 "
        "ORDER BY ordinal_position",
        "people",
    )
    assert columns.rows[1:4] == [["age", "bigint", "YES"], ["sex", "text", "YES"], ["born", "date", "YES"]]
    told = asked(context, "SELECT col_description('people'::regclass, 2), obj_description('people'::regclass)")
    assert told.rows == [["[0, 99]", "private, at most 1 row of each person, about 100 rows"]]


def test_what_an_analyst_made_is_in_their_catalogue_alone(context: Context, clinic: Clinic) -> None:
    listed = "SELECT relname FROM pg_class WHERE relkind = 'r' ORDER BY 1"
    context.guest.query("CREATE SYNTHETIC TABLE ages AS SELECT age FROM people", epsilon=1)
    assert [row[0] for row in asked(context, listed).rows] == ["ages", "people"]
    server = clinic.server
    bob = server.guest(server.bearer(clinic.tokens["bob"], "t", "x"), "t", "x")
    his = Context(bob, Settings("bob"), context.catalogue, inside=False, changed=[])
    assert [row[0] for row in asked(his, listed).rows] == ["people"]
    assert asked(his, "SELECT rolname FROM pg_roles ORDER BY 1").rows == [["bob"], ["owner"]]
    context.guest.query("DROP TABLE ages")
    bob.close()


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT * FROM read_csv('/etc/passwd'), pg_class", "SELECT * FROM '/etc/passwd', pg_class",
        "SELECT * FROM duckdb_settings(), pg_class", "SELECT * FROM main.pg_class", "SELECT getenv('HOME')",
        "SELECT * FROM pg_class, people", "SELECT * FROM pg_catalog.duckdb_tables", "SELECT read_text('/etc/passwd')",
        "WITH x AS (SELECT * FROM glob('*')) SELECT * FROM x, pg_class", "SELECT * FROM sqlite_master, pg_class",
        "SELECT * FROM system.information_schema.tables", "SELECT query('SELECT 1')", "VALUES (getvariable('x'))",
        "SELECT 1 FROM pg_class, LATERAL (SELECT * FROM query_table('people'))", "SELECT pg_read_file('/etc/passwd')",
        "SELECT 1; DROP TABLE pg_class", "SELECT * FROM pg_class FOR UPDATE; ATTACH 'x'", "SELECT [x FOR x IN [1, 2]]",
        "SELECT * FROM (DESCRIBE pg_class)", "FROM pg_class", "SELECT 1 +", "SELECT '", "SELECT nope(1)",
    ],
)  # fmt: skip
def test_what_is_no_question_about_the_catalogue_is_refused(context: Context, sql: str) -> None:
    if sql.startswith("SELECT current_setting"):
        sql = "SELECT query('SELECT 1')"
    with pytest.raises((PgRefusal, UnsupportedQuery)):
        asked(context, sql)


def test_a_question_that_takes_for_ever_is_given_up_and_the_next_is_answered(
    context: Context, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("dpsql.server.postgres.catalogue.DEADLINE", 1)
    with pytest.raises(PgRefusal, match="does not answer"):
        asked(context, "SELECT COUNT(*) FROM generate_series(1, 10000000) a, generate_series(1, 10000000) b, pg_class")
    monkeypatch.undo()
    assert asked(context, "SELECT version()").rows[0][0].startswith("PostgreSQL 16")


def test_statements_of_dpsql_stay_so(context: Context) -> None:
    for sql in (
        "SELECT COUNT(*) FROM people WHERE sex = 'pg_class'",
        "SHOW TABLES",
        "EXPLAIN SELECT COUNT(*) FROM people",
    ):
        assert type(question_of(context, sql)).__name__ == "_Asked"
    question = question_of(context, "SELECT COUNT(*) FROM people WHERE age > $1")
    assert question.columns() is not None
    assert question.parameters == (Type.INTEGER,)


def test_the_clock_is_shown_in_utc(context: Context) -> None:
    before = datetime.now(UTC).replace(tzinfo=None)
    found = asked(context, "SELECT now() AS a, current_timestamp, date_trunc('day', now()), 7 AS b -- the clock")
    assert [column.oid for column in found.columns or ()] == [1184, 1184, 1184, 23]
    now, same, day, seven = found.rows[0]
    assert before <= now == same <= datetime.now(UTC).replace(tzinfo=None)
    assert (day, seven) == (datetime.combine(now.date(), time()), 7)
    listed = "SELECT $1 AS a, [now()] AS b, current_time AS c, relname FROM pg_class ORDER BY relname DESC;"
    row = question_of(context, listed).answered(["x"]).rows[0]
    assert row[0] == "x" and str(row[1]).startswith("['20") and str(row[2]).endswith("+00")


def test_settings_are_the_same_by_show_by_current_setting_and_in_pg_settings(context: Context) -> None:
    for name in ("server_version", "server_version_num", "max_identifier_length"):
        (shown,) = asked(context, f"SHOW {name}").rows
        assert asked(context, f"SELECT current_setting('{name}')").rows == [[*shown]]
        assert asked(context, f"SELECT pg_catalog.current_setting('{name.upper()}', true) AS x").rows == [[*shown]]
        assert asked(context, f"SELECT setting FROM pg_settings WHERE name = '{name}'").rows == [[*shown]]
        assert asked(context, "SELECT current_setting($1)", name).rows == [[*shown]]
    asked(context, "SET application_name = 'a ''b'")
    assert asked(context, "SELECT current_setting('application_name')").rows == [["a 'b"]]
    assert asked(context, "SELECT current_setting('nope', true)").rows == [[None]]
    (column,) = asked(context, "SELECT current_setting('role')").columns or ()
    assert column.name == "current_setting"
    with pytest.raises(PgRefusal, match="unrecognized configuration parameter"):
        asked(context, "SELECT current_setting('nope')")


def test_the_database_is_named_with_its_schema_too(context: Context) -> None:
    sql = "SELECT pg_catalog.current_database(), current_database(), pg_catalog.current_schema()"
    assert asked(context, sql).rows == [["clinic", "clinic", "public"]]


def test_options_of_dpsql_are_shown(context: Context) -> None:
    assert asked(context, "SHOW epsilon").rows == [("0.5",)]
    asked(context, "SET epsilon = 0.05")
    assert asked(context, "SHOW epsilon").rows == [("0.05",)]
    assert asked(context, "SELECT current_setting('epsilon')").rows == [["0.05"]]
    asked(context, "SET max_groups_contributed = 3")
    assert asked(context, "SHOW max_groups_contributed").rows == [("3",)]
    assert asked(context, "SHOW mechanism").rows == [("",)]
    asked(context, "SET intervals = on")
    assert asked(context, "SHOW intervals").rows == [("on",)]
    asked(context, "RESET ALL")
    assert asked(context, "SHOW epsilon").rows == [("0.5",)]
    assert asked(context, "SHOW intervals").rows == [("off",)]


@pytest.mark.parametrize(
    ("sql", "message"),
    [
        ("SELECT COUNT(*) FRM people", "syntax at 1:21: "),
        ("SELECT COUNT(*) people", r"SELECT at 1:1: there is no FROM"),
        ("SELECT age FRM people", r"syntax at 1:16: "),
        ("SELECT age", r"age at 1:8: it needs a FROM"),
        ("SELECT 1 +", r"the end of the statement at 1:10: "),
    ],
)
def test_a_forgotten_FROM_is_refused_where_it_is_missing(context: Context, sql: str, message: str) -> None:
    for ask in (question_of(context, sql).columns, lambda: asked(context, sql)):
        with pytest.raises(UnsupportedQuery, match=message):
            ask()
    assert asked(context, "SELECT 1, version()").rows[0][0] == 1


def test_a_table_may_be_named_behind_the_database_or_its_schema(context: Context) -> None:
    for owner in ('"clinic"."public".', "clinic.", "CLINIC.main.", "public.", "main."):
        sql = f"SELECT COUNT(*) AS n FROM {owner}\"people\" WHERE {owner}people.sex = 'F' LIMIT 0"
        assert asked(context, sql).rows == []
    for other in ("other.public.people", "other.people"):
        with pytest.raises(UnsupportedQuery, match=rf"{other} at 1:22: there is no such table .* Did you mean people"):
            asked(context, f"SELECT COUNT(*) FROM {other}")
