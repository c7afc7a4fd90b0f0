"""A policy over PostgreSQL: the same bounded tables, the same exact numbers as over DuckDB, and clear errors."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest

import dpsql
import dpsql.testing
from dpsql.answers.computed.postprocess import made_up
from dpsql.engine.postgres import bounded
from dpsql.engine.postgres.database import reading
from dpsql.engine.postgres.engine import PostgresEngine
from dpsql.engine.postgres.words import ONCE
from dpsql.errors import EngineFailed, InvariantBroken, OperationalError, PolicyError
from dpsql.policy import load_policy
from dpsql.prepare import Prepared
from dpsql.proxy import Proxy, refresh
from examples.postgres import Server, load, moved
from tests.doors.twins import CLINIC, Twins, assert_shared, opened, statement_of, twins_on
from tests.sql.corpus import Block, blocks
from tests.sql.described import planned

pytestmark = pytest.mark.doors


@pytest.fixture(scope="module")
def twins(server: Server, tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Twins]]:
    with twins_on(server, load, moved, tmp_path_factory.mktemp("twins")) as pairs:
        yield pairs


def rows_of(connection: Any, sql: str) -> list[tuple[Any, ...]]:
    """The rows of a table in an order of their own."""
    found = [tuple(row) for row in connection.execute(sql).fetchall()]
    return sorted(found, key=lambda row: [(value is not None, value) for value in row])


def test_the_bounded_tables_are_the_same_row_by_row(twins: dict[str, Twins], server: Server) -> None:
    import duckdb

    seen = 0
    for name, pair in twins.items():
        (file,) = pair.here._cache.rglob("bounded.duckdb")
        (told,) = pair.there._cache.rglob("postgres.json")
        tables = bounded.read(told.parent)
        database = "hospital" if name == "consent" else name
        with duckdb.connect(str(file), read_only=True) as here, server.connect(database, "query") as there:
            for table in pair.tables:
                held = {row[0] for row in here.execute(f'DESCRIBE "{table}"').fetchall()}
                place = tables.dialect.bounded(table)
                shown = there.execute(f"SELECT * FROM {place} LIMIT 0".encode()).description or ()
                columns = [column.name for column in shown]
                assert_shared(held, columns)
                names = ", ".join(f'"{name}"' for name in columns)
                ours = rows_of(here, f'SELECT {names} FROM "{table}"')
                theirs = rows_of(there, f"SELECT {names} FROM {place}")
                assert ours == theirs, f"{name}.{table}"
                seen += len(ours)
    assert seen > 5_000


@pytest.mark.parametrize("block", blocks("accepted.sql"), ids=str)
def test_a_statement_of_the_corpus_has_the_same_exact_numbers(block: Block, twins: dict[str, Twins]) -> None:
    twins[block.policy].assert_the_same(block, "PostgreSQL")


def test_the_role_that_answers_reads_the_bounded_tables_alone(twins: dict[str, Twins], server: Server) -> None:
    (told,) = twins["hospital"].there._cache.rglob("postgres.json")
    tables = bounded.read(told.parent)
    with server.connect("hospital", "query") as query:
        assert query.execute(f"SELECT count(*) FROM {tables.dialect.bounded('patients')}".encode()).fetchone()
        for sql in (
            "SELECT * FROM public.patients", "TABLE public.visits", "SELECT pg_read_file('/etc/passwd')",
            f"DELETE FROM {tables.dialect.bounded('patients')}", f"DROP TABLE {tables.dialect.bounded('patients')}",
            f'CREATE TABLE "{tables.schema}".mine (i int)', "COPY public.patients TO STDOUT",
            "SELECT rolpassword FROM pg_authid",
        ):  # fmt: skip
            with pytest.raises(psycopg.Error, match=r"permission denied|must be owner"):
                query.execute(sql.encode())


def engine_of(pair: Twins) -> PostgresEngine:
    return engine_in(pair.there)


def engine_in(proxy: Proxy) -> PostgresEngine:
    engine = proxy.session(analyst="ana")._backend.engine
    assert isinstance(engine, PostgresEngine)
    return engine


def test_a_statement_that_reads_something_else_is_not_run(twins: dict[str, Twins]) -> None:
    engine = engine_of(twins["hospital"])
    patients, visits = map(engine.dialect.bounded, ("patients", "visits"))
    engine.verify(statement_of(f"SELECT count(*) AS n FROM {patients}"))
    for sql in (
        f"SELECT count(*) AS n FROM {visits}",
        f"SELECT count(*) AS m FROM {patients}",
        f"SELECT CAST(count(*) AS integer) AS n FROM {patients}",
        f"SELECT count(*) AS n FROM {patients} WHERE EXISTS (SELECT 1 FROM pg_catalog.pg_class)",
    ):
        with pytest.raises(InvariantBroken, match="otherwise than it was meant"):
            engine.verify(statement_of(sql))
    for sql in (f"DELETE FROM {patients}", f"SELECT 1 AS n FROM {patients}; SELECT 2", "SELECT nothing() AS n"):
        with pytest.raises(OperationalError, match=r"not ready\. Nothing was spent"):
            engine.verify(statement_of(sql))
        with pytest.raises(EngineFailed):
            engine.run(statement_of(sql))


def test_a_deadline_ends_a_statement_and_a_long_answer_fails(twins: dict[str, Twins]) -> None:
    engine = engine_of(twins["hospital"])
    patients = engine.dialect.bounded("patients")
    short = PostgresEngine(engine._dsn, engine._tables, version=1, public={}, deadline=0.2)
    with pytest.raises(EngineFailed) as failed:
        short.run(statement_of(f"SELECT count(*) AS n FROM {patients}, {patients} AS b, {patients} AS c"))
    assert failed.value.__cause__.overrun  # type: ignore[union-attr]  # a WorkerFailed
    short.close()
    with pytest.raises(EngineFailed):
        engine.run(statement_of(f"SELECT patient_id AS n FROM {patients}", most_rows=5))
    assert len(engine.run(statement_of(f"SELECT count(*) AS n FROM {patients}", most_rows=5))) == 1


def clinic(folder: Path, server: Server, database: str) -> Path:
    """A small database with what other databases have not, and its policy."""
    with server.connect("postgres") as connection:
        connection.execute(f"CREATE DATABASE {database}".encode())
    with server.connect(database) as connection:
        connection.execute("CREATE TYPE sexes AS ENUM ('F', 'M', 'X')")
        connection.execute("CREATE DOMAIN kilograms AS double precision")
        connection.execute(
            'CREATE TABLE "People" ("Person" numeric(30), weight kilograms, "Paid, in CHF" numeric, sex sexes, '
            "seen timestamptz, born date, tags text[], raw bytea)"
        )
        connection.execute(
            'INSERT INTO "People" VALUES '
            "(1, 'NaN', 'NaN', 'F', '2024-06-01 12:00+02', 'infinity', '{a}', 'x'), "
            "(2, 'Infinity', 'Infinity', 'M', '-infinity', '0044-03-15 BC', NULL, NULL), "
            "(3, '-0.0', 1e30, 'X', '2024-12-31 23:30-05', '1950-02-28', NULL, NULL), "
            "(12345678901234567890123, 70.25, 0.125, NULL, NULL, NULL, NULL, NULL), "
            "(5, 1e-320, -0.005, 'F', '2024-02-29', '2000-02-29', NULL, NULL)"
        )
    policy = folder / "clinic.yaml"
    policy.write_text(CLINIC)
    return moved(policy, server, database)


def test_what_other_databases_have_not_is_read_as_it_is_meant(server: Server, tmp_path: Path) -> None:
    policy = clinic(tmp_path, server, "odd")
    with opened(policy) as proxy:
        (told,) = proxy._cache.rglob("postgres.json")
        table = bounded.read(told.parent).dialect.bounded("People")
        with server.connect("odd") as connection:
            found = connection.execute(
                f'SELECT "Person", weight, "weight$grid", paid, "paid$grid", sex, seen::text, born::text FROM {table} '
                'ORDER BY "Person"'.encode()
            ).fetchall()
    assert found == [
        ("1", None, None, None, None, "F", "2024-06-01 10:00:00", None),
        ("12345678901234567890123", 70.25, 141, 0.125, 13, None, None, None),
        ("2", 200.0, 400, 100.0, 10000, "M", None, None),
        ("3", 0.0, 0, 100.0, 10000, None, None, "1950-02-28"),
        ("5", 0.0, 0, -0.005, -1, "F", "2024-02-29 00:00:00", "2000-02-29"),
    ]  # one name is a number beyond 64 bits: all are kept by their digits, as on DuckDB


def test_errors_say_what_to_do(server: Server, tmp_path: Path) -> None:
    policy = clinic(tmp_path, server, "wrong")
    text = policy.read_text()

    def refused(change: tuple[str, str], kind: type[Exception], match: str) -> None:
        assert change[0] in text, change
        policy.write_text(text.replace(*change))
        with pytest.raises(kind, match=match):
            opened(policy)

    refused(("  People:", "  people:"), PolicyError, "has no table or view people")
    refused(("      weight:", "      Weight:"), PolicyError, "Weight is in the policy but not in the data")
    refused(("rows_per_unit: 2", "rows_per_unit: 2\n    source: people.csv"), PolicyError, "leave source out")
    with server.connect("wrong") as connection:
        connection.execute('GRANT SELECT ON "People" TO query')
    refused(("version: 1", "version: 1"), PolicyError, "may read public")
    with server.connect("wrong") as connection:
        connection.execute('REVOKE SELECT ON "People" FROM query')
    policy.write_text(text.replace(server.dsn("wrong"), server.dsn("nowhere")))
    with pytest.raises(OperationalError, match="does not answer"):
        opened(policy)


@pytest.mark.parametrize(
    ("kind", "told"),
    [
        ("text COLLATE folded", r"holds text whose values can be equal .* such as lower\(x\) COLLATE \"C\""),
        ("folded_name", "holds text whose values can be equal"),
        ("citext", r"holds public\.citext whose values .* Write lower\(x::text\)"),
        ("interval", "holds interval whose values .* its microseconds"),
        ("jsonb", "holds jsonb whose values .* Write an integer or a text of it"),
    ],
)
def test_what_the_server_takes_for_equal_in_several_texts_names_nobody(
    server: Server, tmp_path: Path, kind: str, told: str
) -> None:
    name = f"alike_{kind.replace(' ', '_').lower()}"
    policy = clinic(tmp_path, server, name)
    with server.connect(name) as connection:
        connection.execute(
            "CREATE COLLATION folded (provider = icu, locale = 'und-u-ks-level2', deterministic = false);"
            "CREATE DOMAIN folded_name AS text COLLATE folded; CREATE EXTENSION citext"
        )
        connection.execute(f'ALTER TABLE "People" ALTER "Person" TYPE {kind} USING NULL'.encode())
    with pytest.raises(PolicyError, match=told):
        opened(policy)
    if "text" not in kind:
        return
    with server.connect(name) as connection:
        connection.execute('ALTER TABLE "People" RENAME TO held')
        columns = 'lower("Person"::text) COLLATE "C" AS "Person", weight, "Paid, in CHF", sex, seen, born, tags, raw'
        connection.execute(f'CREATE VIEW "People" AS SELECT {columns} FROM held'.encode())
    opened(policy).close()


def test_a_domain_over_another_one_names_people_as_what_both_are_of(server: Server, tmp_path: Path) -> None:
    policy = clinic(tmp_path, server, "nested")
    with server.connect("nested") as connection:
        connection.execute("CREATE DOMAIN called AS text; CREATE DOMAIN patient AS called")
        connection.execute('ALTER TABLE "People" ALTER "Person" TYPE patient USING "Person"::text')
    opened(policy).close()


def test_what_is_committed_while_the_source_is_read_is_not_read(server: Server, tmp_path: Path) -> None:
    source = load_policy(clinic(tmp_path, server, "snapshot")).engine.source(str)
    with reading(source, tmp_path) as database:  # as a build does
        counted = f"SELECT count(*) FROM {database.table('People', None).sql} AS p"
        before = database.rows(counted)
        with server.connect("snapshot") as connection:
            connection.execute('DELETE FROM "People"')
        assert database.rows(counted) == before > [(0,)]
    with reading(source, tmp_path) as database:
        assert database.rows(f"SELECT count(*) FROM {database.table('People', None).sql} AS p") == [(0,)]


def test_changed_data_are_seen_and_a_refresh_drops_old_tables(server: Server, tmp_path: Path) -> None:
    policy = clinic(tmp_path, server, "changes")
    with dpsql.open(policy) as proxy:
        assert engine_in(proxy).version == 1
    for times in range(1, 4):
        with server.connect("changes") as connection:
            connection.execute("INSERT INTO \"People\" SELECT 100 + i, 1, 1, 'F' FROM generate_series(1, 50) AS s(i)")
            connection.execute("SELECT pg_stat_force_next_flush()")
        with pytest.raises(OperationalError, match="The data changed"):
            dpsql.open(policy)
        refresh(policy)
        with dpsql.open(policy) as proxy:
            engine = engine_in(proxy)
            assert engine.version == 1 + times
            counted = engine.run(statement_of(f"SELECT count(*) AS n FROM {engine.dialect.bounded('People')}"))
            assert list(counted.column("n")) == [5 + min(2, times) * 50]  # two rows of each person
    with server.connect("changes") as connection:
        made = connection.execute(
            "SELECT count(DISTINCT split_part(tablename, ':', 1)) FROM pg_tables WHERE schemaname = 'dpsql_bounded'"
        ).fetchone()
    assert made in ((1,), (2,), (3,))


def test_a_server_that_goes_and_comes_costs_nothing_that_was_not_read(server: Server, twins: dict[str, Twins]) -> None:
    session, engine = twins["census"].there.session(analyst="gone"), engine_of(twins["census"])
    asked = "SELECT COUNT(*) AS n FROM people"
    before = session.budget().spent
    server.stop("immediate")
    for ask in (lambda: session.query(asked), engine.stand):
        with pytest.raises(OperationalError, match=r"not ready\. Nothing was spent"):
            ask()
    assert session.budget().spent == before
    server.start()
    engine.stand()
    assert session.query(asked).rows


def test_a_column_of_the_source_is_worked_out_a_few_times_however_often_it_is_said(
    server: Server, tmp_path: Path
) -> None:
    policy = clinic(tmp_path, server, "said")
    with server.connect("said") as connection:
        connection.execute(
            "CREATE FUNCTION counted(x numeric) RETURNS numeric STABLE LANGUAGE plpgsql AS "
            "$$BEGIN RAISE LOG 'a column is worked out'; RETURN x; END$$"
        )
        connection.execute('ALTER TABLE "People" RENAME TO kept')
        paid = 'counted("Paid, in CHF") AS "Paid, in CHF"'
        connection.execute(f'CREATE VIEW "People" AS SELECT "Person", weight, {paid}, sex FROM kept'.encode())
        ((rows,),) = connection.execute("SELECT count(*) FROM kept").fetchall()
        lines = [line for line in policy.read_text().splitlines() if "seen:" not in line and "born:" not in line]
        policy.write_text("\n".join(lines))
    before = (server.folder / "log").read_text().count("a column is worked out")
    with opened(policy):
        pass
    times = (server.folder / "log").read_text().count("a column is worked out") - before
    assert isinstance(rows, int) and 0 < times <= 4 * rows  # a hash of the content, and one build


def test_totals_side_by_side_are_worked_out_once(twins: dict[str, Twins], server: Server) -> None:
    proxy = twins["hospital"].there
    named = "WITH DIFFERENTIAL_PRIVACY OPTIONS (mechanism = 'clamped')"
    sql = f"SELECT {named} year(visited_on), COUNT(*), SUM(cost) FROM visits GROUP BY 1"
    asked = planned(proxy.session(analyst="once"), Block((), sql))
    assert isinstance(asked, Prepared)
    statements = [statement for reading in asked.readings for statement in made_up(reading.statement)]
    (statement,) = (one for one in statements if one.beside)
    said = statement.sql
    for number, year in enumerate(statement.parameters, start=1):
        said = said.replace(f"${number} ", f"{year} ")

    def cost(sql: str) -> float:
        """What the server expects that it takes, in units of its own."""
        with server.connect("hospital", "query") as connection:
            shown: Any = connection.execute(f"EXPLAIN (FORMAT JSON) {sql}".encode()).fetchall()
        return float(shown[0][0][0]["Plan"]["Total Cost"])

    assert cost(said) < cost(said.replace(ONCE, "")) / 2
