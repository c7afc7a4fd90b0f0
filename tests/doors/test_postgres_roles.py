"""PostgreSQL's roles, settings and limits: what the role of analysts' statements may reach, what the owner is told."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier, Timer
from typing import Any

import psycopg
import pytest

import dpsql
import dpsql.testing
from dpsql.engine.postgres import bounded
from dpsql.engine.postgres.engine import PostgresEngine
from dpsql.errors import EngineFailed, OperationalError, PolicyError
from dpsql.owner.checking.check import check
from dpsql.policy import load_policy
from dpsql.proxy import refresh
from dpsql.testing_samplers import Noiseless
from examples.postgres import Server
from tests.doors.elsewhere import OnPostgres, made
from tests.doors.test_bad_input_elsewhere import ASKED, ODD, POLICY
from tests.doors.twins import statement_of

pytestmark = [pytest.mark.doors, pytest.mark.chance(0, "no noise is looked at")]

COUNTED = "SELECT COUNT(*) AS n FROM odd"


@pytest.fixture
def place(server: Server, tmp_path: Path) -> Iterator[tuple[OnPostgres, Path, str]]:
    """The table in a database of its own, roles of its own, and its policy."""
    there = OnPostgres(server)
    (tmp_path / "odd.yaml").write_text(POLICY)
    name = there.load(made(tmp_path, ODD))
    there.told(
        name, f"CREATE ROLE owner_{name} LOGIN", f"CREATE ROLE query_{name} LOGIN",
        f"CREATE SCHEMA dpsql_bounded AUTHORIZATION owner_{name}",
        f"GRANT USAGE ON SCHEMA public TO owner_{name}", f'GRANT SELECT ON "Odd" TO owner_{name}',
    )  # fmt: skip
    policy = there.moved(
        tmp_path / "odd.yaml", name,
        dsn=server.dsn(name, f"owner_{name}"), query_dsn=server.dsn(name, f"query_{name}"), deadline="20s",
    )  # fmt: skip
    yield there, policy, name
    there.told(
        name, f"DROP OWNED BY owner_{name}, query_{name} CASCADE", f"DROP ROLE query_{name}", f"DROP ROLE owner_{name}"
    )


Place = tuple[OnPostgres, Path, str]


def answered(policy: Path) -> list[Any]:
    with dpsql.testing.open(policy, Noiseless()) as proxy:
        return list(proxy.session(analyst="ana").query(ASKED).rows)


def told_of_all(policy: Path) -> list[str]:
    """What `dpsql check` says of no table."""
    return [found.what for found in check(load_policy(policy)) if found.table is None]


REACHES = {
    "a table": ('GRANT SELECT ON "Odd" TO query_{0}', 'may read public."Odd"'),
    "one column": ('GRANT SELECT ("UPPER") ON "Odd" TO query_{0}', 'may read public."Odd"'),
    "another schema's table": (
        "CREATE SCHEMA other; CREATE TABLE other.t AS SELECT 1 AS i; GRANT SELECT ON other.t TO PUBLIC",
        "may read other.t",
    ),
    "a view": ('CREATE VIEW seen AS TABLE "Odd"; GRANT SELECT ON seen TO query_{0}', "may read public.seen"),
    "by a role that it can become": ("GRANT owner_{0} TO query_{0}; ALTER ROLE query_{0} NOINHERIT", "may read public"),
    "everything": ("GRANT pg_read_all_data TO query_{0}", "may read public"),
    "files": ("GRANT pg_read_server_files TO query_{0}", "files of the server, as a member of pg_read_server_files"),
    "programs": ("GRANT pg_execute_server_program TO query_{0}", "a member of pg_execute_server_program"),
    "all as superuser": ("ALTER ROLE query_{0} SUPERUSER", "may read"),
}


@pytest.mark.parametrize("what", REACHES)
def test_nothing_is_built_where_the_role_that_answers_reaches_more(place: Place, what: str) -> None:
    there, policy, name = place
    statement, told = REACHES[what]
    there.told(name, statement.format(name))
    with pytest.raises(PolicyError, match=r"No tables were built") as refused:
        dpsql.open(policy)
    assert told in str(refused.value)
    assert [told in caution for caution in told_of_all(policy)] == [True]
    with there.server.connect(name) as connection:
        found = connection.execute("SELECT count(*) FROM pg_tables WHERE schemaname = 'dpsql_bounded'").fetchone()
    assert found == (0,)


def test_a_function_that_runs_with_its_owners_rights_is_told_of(place: Place) -> None:
    there, policy, name = place
    there.told(
        name, "CREATE FUNCTION told() RETURNS bigint LANGUAGE sql SECURITY DEFINER AS 'SELECT count(*) FROM \"Odd\"'"
    )
    assert told_of_all(policy) == []  # there is no way into its schema
    there.told(name, f"GRANT USAGE ON SCHEMA public TO query_{name}")
    (found,) = told_of_all(policy)
    assert "may call public.told, which runs with its owner's rights" in found


TRIES = (
    'SELECT * FROM public."Odd"', 'TABLE public."Odd"', 'COPY public."Odd" TO STDOUT',
    'SELECT count(*) FROM public."Odd"', "SET row_security = off; TABLE other.t",
    'CREATE TEMP VIEW v AS SELECT * FROM public."Odd"; TABLE v', 'SELECT (public."Odd").* FROM public."Odd"',
    "SELECT * FROM other.t", 'SELECT * FROM "dpsql_bounded"."secret"', "SELECT public.told()", "SELECT other.told()",
    "DO $$ BEGIN EXECUTE 'SELECT 1 FROM public.\"Odd\"'; END $$", "PREPARE p AS SELECT * FROM public.\"Odd\"",
    "SELECT pg_read_file('/etc/passwd')", "SELECT pg_read_binary_file('PG_VERSION')", "SELECT pg_ls_dir('.')",
    "SELECT pg_stat_file('PG_VERSION')", "SELECT pg_ls_waldir()", "COPY (SELECT 1) TO '/tmp/there'",
    "COPY (SELECT 1) TO PROGRAM 'cat'", "CREATE TEMP TABLE t (l text); COPY t FROM '/etc/passwd'",
    "CREATE TEMP TABLE u (l text); COPY u FROM PROGRAM 'id'",
    "SELECT lo_get({large})", "SELECT lo_open({large}, 262144)", "SELECT * FROM pg_largeobject",
    "SELECT lo_import('/etc/passwd')", "SELECT lo_export({large}, '/tmp/there')",
    "SET ROLE owner", "SET ROLE owner_{name}", "SET SESSION AUTHORIZATION owner",
    "SELECT rolpassword FROM pg_authid", "SELECT * FROM pg_statistic", "SELECT * FROM pg_user_mapping",
    "SELECT passwd FROM pg_shadow", "SELECT * FROM pg_hba_file_rules", "SELECT pg_read_file('pg_hba.conf')",
    "CREATE EXTENSION dblink", "CREATE EXTENSION file_fdw", "CREATE EXTENSION adminpack",
    "CREATE FOREIGN DATA WRAPPER w", "CREATE LANGUAGE plpython3u", "LOAD 'dblink'",
    "CREATE TABLE public.mine (i int)", 'CREATE TABLE "dpsql_bounded".mine (i int)', "CREATE SCHEMA mine",
    "CREATE FUNCTION public.f() RETURNS int LANGUAGE sql AS 'SELECT 1'",
    'DELETE FROM {bounded}', 'DROP TABLE {bounded}', 'UPDATE {bounded} SET "UPPER" = 1', 'TRUNCATE {bounded}',
    'ALTER TABLE {bounded} ADD COLUMN i int',
    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'owner'", "ALTER SYSTEM SET jit = on",
    "SELECT pg_reload_conf()", "SELECT pg_create_logical_replication_slot('s', 'test_decoding')",
)  # fmt: skip
"""What the role that answers statements is tried with, without dpsql between."""
DENIED = (
    r"permission denied|must be owner|must be superuser|must be member|Must be superuser|does not exist|"
    r"permission to|only roles with|must have|is not available|is not allowed|"
    "could not access|no schema has been selected to create in|must be a "
)


def tried(connection: psycopg.Connection[Any], sql: str) -> str:
    """What the server says against it."""
    try:
        return f"DONE: {connection.execute(sql.encode()).statusmessage}"
    except psycopg.Error as error:
        return str(error)


def test_whatever_the_role_that_answers_tries_it_reads_the_bounded_tables_alone(place: Place) -> None:
    there, policy, name = place
    with dpsql.open(policy) as proxy:
        (told,) = proxy._cache.rglob("postgres.json")
    table = bounded.read(told.parent).dialect.bounded("Odd")
    there.told(
        name, "CREATE SCHEMA other", 'CREATE TABLE other.t AS TABLE "Odd"',
        'CREATE TABLE "dpsql_bounded"."secret" AS TABLE "Odd"',
        'CREATE FUNCTION other.told() RETURNS bigint LANGUAGE sql SECURITY DEFINER AS \'SELECT count(*) FROM "Odd"\'',
        'CREATE FUNCTION told() RETURNS bigint LANGUAGE sql SECURITY DEFINER AS \'SELECT count(*) FROM "Odd"\'',
    )  # fmt: skip
    with there.server.connect(name) as owner:
        (large,) = owner.execute("SELECT lo_from_bytea(0, 'secret')").fetchone() or (0,)
    with there.server.connect(name, f"query_{name}") as query:
        assert query.execute(f"SELECT count(*) FROM {table}".encode()).fetchone() == (100,)
        said = {sql: tried(query, sql.format(large=large, bounded=table, name=name)) for sql in TRIES}
        assert {sql: why for sql, why in said.items() if not re.search(DENIED, why)} == {}
        (told_of,) = query.execute(
            "SELECT string_agg(tablename, ' ') FROM pg_stats "
            "WHERE schemaname NOT IN ('pg_catalog', 'information_schema', 'dpsql_bounded')"
        ).fetchone() or ("",)
        assert told_of is None  # not even what the planner keeps of the source's values
    with there.server.connect("postgres", f"query_{name}") as query, pytest.raises(psycopg.Error, match="permission"):
        query.execute("CREATE DATABASE mine")


SETTINGS = (
    "timezone = 'Asia/Kolkata'", "datestyle = 'SQL, DMY'", "transform_null_equals = on", "statement_timeout = '1ms'",
    "lock_timeout = '1ms'", "default_transaction_read_only = on", "extra_float_digits = -15", "bytea_output = 'escape'",
    "standard_conforming_strings = off", "search_path = other", "intervalstyle = 'iso_8601'", "jit = on",
    "quote_all_identifiers = on", "default_transaction_isolation = 'serializable'",
    "plan_cache_mode = 'force_generic_plan'",
)  # fmt: skip


def test_whatever_the_servers_defaults_are_the_answers_are_the_same(place: Place) -> None:
    there, policy, name = place
    wanted = answered(policy)
    there.told(name, "CREATE SCHEMA other", 'CREATE TABLE other."Odd" AS SELECT 1 AS "Person"')
    text = policy.read_text()
    for role in (f"owner_{name}", f"query_{name}"):
        there.told(name, *(f"ALTER ROLE {role} SET {setting}" for setting in SETTINGS))
    policy.write_text(text.replace(f"user=owner_{name}", f"user=owner_{name} options=-csearch_path=public"))
    assert answered(policy) == wanted


def test_what_the_owners_role_may_not_is_one_clear_error(place: Place) -> None:
    there, policy, name = place
    owner = f"owner_{name}"

    def refused(statement: str, told: str, undone: str) -> None:
        there.told(name, statement)
        with pytest.raises(OperationalError, match=told) as failed:
            dpsql.open(policy)
        assert str(failed.value).count("dpsql.operator") == 1
        there.told(name, undone)

    grant, revoke = f'GRANT SELECT ON "Odd" TO {owner}', f'REVOKE SELECT ON "Odd" FROM {owner}'
    refused(revoke, "permission denied for table Odd. Grant the right", grant)
    refused(
        'ALTER TABLE "Odd" ENABLE ROW LEVEL SECURITY', "row-level security .* Grant the right",
        'ALTER TABLE "Odd" DISABLE ROW LEVEL SECURITY',
    )  # fmt: skip
    refused(
        f"REVOKE ALL ON SCHEMA dpsql_bounded FROM {owner}", "permission denied for schema dpsql_bounded",
        f"GRANT ALL ON SCHEMA dpsql_bounded TO {owner}",
    )  # fmt: skip
    refused(
        f"ALTER ROLE {owner} CONNECTION LIMIT 0", "does not let the role in", f"ALTER ROLE {owner} CONNECTION LIMIT 9"
    )
    refused(f"ALTER ROLE query_{name} NOLOGIN", "does not let the role in", f"ALTER ROLE query_{name} LOGIN")
    more = "INSERT INTO \"Odd\" SELECT i, 1, 1, 'F' FROM generate_series(1, 50000) AS s(i)"
    there.told(name, more, f"ALTER ROLE {owner} SET work_mem = 64")
    refused(
        f"ALTER ROLE {owner} SET temp_file_limit = 0", "not enough disk or memory, or is at a limit",
        f"ALTER ROLE {owner} RESET temp_file_limit",
    )  # fmt: skip
    with dpsql.open(policy) as proxy:
        assert len(proxy.session(analyst="ana").query(ASKED).rows) == 2


def test_a_view_that_is_replaced_is_a_change_and_a_name_may_have_its_schema(place: Place) -> None:
    there, policy, name = place
    there.told(
        name, "CREATE SCHEMA clinic", 'CREATE VIEW clinic."Seen" AS TABLE public."Odd"',
        f"GRANT USAGE ON SCHEMA clinic TO owner_{name}", f'GRANT SELECT ON clinic."Seen" TO owner_{name}',
    )  # fmt: skip
    policy.write_text(policy.read_text().replace("    unit: Person", "    source: clinic.Seen\n    unit: Person"))
    for _ in range(2):
        with dpsql.open(policy) as proxy:
            assert proxy._backend.engine.version == 1
    there.told(name, 'CREATE OR REPLACE VIEW clinic."Seen" AS SELECT * FROM public."Odd" WHERE "UPPER" < 5')
    with pytest.raises(OperationalError, match="The data changed"):
        dpsql.open(policy)
    assert refresh(policy) == 2


def engine_of(proxy: dpsql.Proxy) -> PostgresEngine:
    engine = proxy._backend.engine
    assert isinstance(engine, PostgresEngine)
    return engine


def test_a_statement_whose_connection_is_ended_runs_again(place: Place) -> None:
    there, policy, name = place
    with dpsql.open(policy) as proxy:
        engine = engine_of(proxy)
        slow = f"SELECT count(*) AS n FROM {engine.dialect.bounded('Odd')}, (SELECT pg_sleep(1.5)) AS s"
        end = f"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'query_{name}'"
        Timer(0.5, there.told, (name, end)).start()
        begun = time.monotonic()
        assert list(engine.run(statement_of(slow)).column("n")) == [100]
        assert time.monotonic() - begun > 1.9


def test_a_full_server_ends_a_statement_with_the_fixed_text(place: Place) -> None:
    there, policy, name = place
    there.told(name, f"ALTER ROLE query_{name} SET temp_file_limit = 0", f"ALTER ROLE query_{name} SET work_mem = 64")
    with dpsql.open(policy) as proxy:
        engine = engine_of(proxy)
        table = engine.dialect.bounded("Odd")
        large = f'SELECT count(*) AS n FROM (SELECT DISTINCT a.*, b."UPPER" FROM {table} AS a, {table} AS b) AS r'
        with pytest.raises(EngineFailed) as failed:
            engine.run(statement_of(large))
        assert str(failed.value) == str(EngineFailed())
        assert list(engine.run(statement_of(f"SELECT count(*) AS n FROM {table}")).column("n")) == [100]


def test_where_connections_are_few_nothing_is_charged_and_then_fails(place: Place) -> None:
    there, policy, name = place
    there.told(name, f"ALTER ROLE query_{name} CONNECTION LIMIT 2")
    several = 8
    begin = Barrier(several)
    with dpsql.testing.open(policy, Noiseless()) as proxy:
        sessions = [proxy.session(analyst="ana") for _ in range(several)]

        def ask(number: int) -> bool:
            begin.wait()
            try:
                return bool(sessions[number].query(f"{COUNTED} WHERE weight > {number}").rows)
            except OperationalError as refused:
                assert "Nothing was spent" in str(refused)
                return False

        with ThreadPoolExecutor(several) as pool:
            found = list(pool.map(ask, range(several)))
        assert any(found)
        assert sessions[0].budget().spent.epsilon == sum(found)
