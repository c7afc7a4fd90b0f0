"""A policy over PostgreSQL: the same bounded tables, the same exact numbers as over DuckDB, and clear errors."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psycopg
import pytest

import dpsql
import dpsql.testing
from dpsql.answers.batch import Own, ToBuy
from dpsql.answers.postprocess import made_up
from dpsql.charging import Spoken
from dpsql.engine.base import EngineStatement
from dpsql.engine.postgres import bounded
from dpsql.engine.postgres.engine import PostgresEngine
from dpsql.errors import EngineFailed, InvariantBroken, OperationalError, PolicyError, UnsupportedQuery
from dpsql.plan.plans import PublicPlan
from dpsql.privacy.tables import RawTable
from dpsql.proxy import Proxy, refresh
from dpsql.worker.columns import OUTSIDE
from dpsql.worker.sizing import OF
from examples.postgres import Server, load, moved
from tests.sql.corpus import Block, blocks
from tests.sql.databases import POLICIES, build
from tests.sql.described import planned

pytestmark = pytest.mark.doors


@dataclass
class Twins:
    """The same data on both engines, each under a proxy without noise."""

    duckdb: dpsql.testing.TestProxy
    postgres: dpsql.testing.TestProxy


@pytest.fixture(scope="module")
def twins(server: Server, tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Twins]]:
    folder = tmp_path_factory.mktemp("twins")
    opened = {}
    for name in POLICIES:
        policy = build(name, folder)
        database = "hospital" if name == "consent" else name
        if name != "consent":
            load(server, name, folder / f"{name}.duckdb")
        here = dpsql.testing.open(policy, sampler=dpsql.testing.Noiseless())
        own = policy.with_name(f"{name}_there.yaml")
        own.write_text(policy.read_text(encoding="utf-8"), encoding="utf-8")
        there = dpsql.testing.open(moved(own, server, database), sampler=dpsql.testing.Noiseless())
        opened[name] = Twins(here, there)
    yield opened
    for pair in opened.values():
        pair.duckdb.close()
        pair.postgres.close()


def rows_of(connection: Any, sql: str) -> list[tuple[Any, ...]]:
    """The rows of a table in an order of their own."""
    found = [tuple(row) for row in connection.execute(sql).fetchall()]
    return sorted(found, key=lambda row: [(value is not None, value) for value in row])


def test_the_bounded_tables_are_the_same_row_by_row(twins: dict[str, Twins], server: Server) -> None:
    import duckdb

    seen = 0
    for name, pair in twins.items():
        (file,) = pair.duckdb._cache.rglob("bounded.duckdb")
        (told,) = pair.postgres._cache.rglob("postgres.json")
        tables = bounded.read(told.parent)
        database = "hospital" if name == "consent" else name
        with duckdb.connect(str(file), read_only=True) as here, server.connect(database, "query") as there:
            for (table,) in here.execute("SELECT table_name FROM duckdb_tables() WHERE NOT temporary").fetchall():
                names = ", ".join(f'"{row[0]}"' for row in here.execute(f'DESCRIBE "{table}"').fetchall())
                ours = rows_of(here, f'SELECT {names} FROM "{table}"')
                theirs = rows_of(there, f"SELECT {names} FROM {tables.dialect.bounded(table)}")
                assert ours == theirs, f"{name}.{table}"
                seen += len(ours)
    assert seen > 5_000


def near(one: Any, other: Any) -> bool:
    """Equal; a double may differ in its last digits, where it was computed by a library's tables."""
    if isinstance(one, float) and isinstance(other, float):
        return one == other or math.isclose(one, other, rel_tol=1e-14)
    return bool(one == other)


@pytest.mark.parametrize("block", blocks("accepted.sql"), ids=str)
def test_a_statement_of_the_corpus_has_the_same_exact_numbers(block: Block, twins: dict[str, Twins]) -> None:
    pair = twins[block.policy]
    here, there = (proxy.session(analyst="meaning") for proxy in (pair.duckdb, pair.postgres))
    try:
        theirs = planned(there, block)
    except UnsupportedQuery as refusal:
        assert "PostgreSQL has nothing that computes it" in str(refusal)
        return
    ours = planned(here, block)
    for mine, other in zip(parts_of(ours), parts_of(theirs), strict=True):
        assert_the_same(here, there, mine, other)


def parts_of(asked: Own | ToBuy[Spoken]) -> tuple[Own, ...]:
    """The SELECTs that are answered for a statement."""
    return asked.parts if isinstance(asked, ToBuy) else (asked,)


def assert_the_same(here: dpsql.Session, there: dpsql.Session, ours: Own, theirs: Own) -> None:
    """Both engines have the same exact numbers of a SELECT."""
    if isinstance(ours, PublicPlan) or isinstance(theirs, PublicPlan):
        assert isinstance(ours, PublicPlan) and isinstance(theirs, PublicPlan)
        assert here._public(ours).rows == there._public(theirs).rows
        return
    assert len(ours.readings) == len(theirs.readings)
    made = [[one for reading in own.readings for one in made_up(reading.statement)] for own in (ours, theirs)]
    for place, (mine, statement) in enumerate(zip(*made, strict=True)):
        there._backend.engine.verify(statement)
        tables = here._backend.engine.run(mine), there._backend.engine.run(statement)
        names = [name for name, _ in statement.columns]
        kept = [of_kind(tables[0], mine, names, made[0][:place].count(mine)), tables[1].groups(names)]
        if any(OUTSIDE in row for row in kept[0]):  # DuckDB's worker says no more of groups outside of the domain
            keys = sum(name in {key.name for key in ours.plan.keys} for name in names)
            inside = {row[:keys] for row in kept[0] if OUTSIDE not in row}
            kept = [[row for row in rows if row[:keys] in inside] for rows in kept]
        ours_rows, theirs_rows = (
            sorted(rows, key=lambda row: [(value is not None, str(value)) for value in row]) for rows in kept
        )
        assert len(ours_rows) == len(theirs_rows)
        for one, two in zip(ours_rows, theirs_rows, strict=True):
            assert all(map(near, one, two)), f"{one} is {two} on PostgreSQL, of {statement.sql}"


def test_the_role_that_answers_reads_the_bounded_tables_alone(twins: dict[str, Twins], server: Server) -> None:
    (told,) = twins["hospital"].postgres._cache.rglob("postgres.json")
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


def of_kind(table: RawTable, statement: EngineStatement, names: list[str], kind: int) -> list[tuple[Any, ...]]:
    """DuckDB's rows of one kind of total, where one statement gives several."""
    if OF not in [name for name, _ in statement.columns]:
        return table.groups(names)
    return [row[:-1] for row in table.groups([*names, OF]) if row[-1] == kind]


def statement_of(engine: PostgresEngine, sql: str, **more: Any) -> EngineStatement:
    return EngineStatement(sql, (), (("n", "BIGINT"),), frozenset({"patients"}), frozenset(), **more)


def engine_of(pair: Twins) -> PostgresEngine:
    return engine_in(pair.postgres)


def engine_in(proxy: Proxy) -> PostgresEngine:
    engine = proxy.session(analyst="ana")._backend.engine
    assert isinstance(engine, PostgresEngine)
    return engine


def test_a_statement_that_reads_something_else_is_not_run(twins: dict[str, Twins]) -> None:
    engine = engine_of(twins["hospital"])
    patients, visits = map(engine.dialect.bounded, ("patients", "visits"))
    engine.verify(statement_of(engine, f"SELECT count(*) AS n FROM {patients}"))
    for sql in (
        f"SELECT count(*) AS n FROM {visits}",
        f"SELECT count(*) AS m FROM {patients}",
        f"SELECT CAST(count(*) AS integer) AS n FROM {patients}",
        f"SELECT count(*) AS n FROM {patients} WHERE EXISTS (SELECT 1 FROM pg_catalog.pg_class)",
    ):
        with pytest.raises(InvariantBroken, match="otherwise than it was meant"):
            engine.verify(statement_of(engine, sql))
    for sql in (f"DELETE FROM {patients}", f"SELECT 1 AS n FROM {patients}; SELECT 2", "SELECT nothing() AS n"):
        with pytest.raises(OperationalError, match=r"not ready\. Nothing was spent"):
            engine.verify(statement_of(engine, sql))
        with pytest.raises(EngineFailed):
            engine.run(statement_of(engine, sql))


def test_a_deadline_ends_a_statement_and_a_long_answer_fails(twins: dict[str, Twins]) -> None:
    engine = engine_of(twins["hospital"])
    patients = engine.dialect.bounded("patients")
    short = PostgresEngine(engine._dsn, engine._tables, version=1, public={}, deadline=0.2)
    with pytest.raises(EngineFailed) as failed:
        short.run(statement_of(short, f"SELECT count(*) AS n FROM {patients}, {patients} AS b, {patients} AS c"))
    assert failed.value.__cause__.overrun  # type: ignore[union-attr]  # a WorkerFailed
    short.close()
    with pytest.raises(EngineFailed):
        engine.run(statement_of(engine, f"SELECT patient_id AS n FROM {patients}", most_rows=5))
    assert len(engine.run(statement_of(engine, f"SELECT count(*) AS n FROM {patients}", most_rows=5))) == 1


def opened(policy: Path) -> dpsql.testing.TestProxy:
    return dpsql.testing.open(policy, sampler=dpsql.testing.Noiseless())


CLINIC = """\
version: 1
name: clinic
engine: {kind: duckdb, database: clinic.duckdb}
neighbours: add_remove
budget: {ledger: clinic.db, composition: basic, total: {epsilon: 3}, analysts: {ana: {epsilon: 2}},
         per_query: {epsilon: 1}}
tables:
  People:
    unit: Person
    rows_per_unit: 2
    columns:
      weight: {type: real, bounds: [0, 200], grid: 0.5}
      paid: {type: decimal, bounds: [-100, 100], grid: 0.01}
      sex: {type: text, values: [F, M]}
      seen: {type: timestamp, bounds: [2024-01-01 00:00:00, 2024-12-31 00:00:00]}
      born: {type: date, bounds: [1900-01-01, 2024-12-31]}
"""


def clinic(folder: Path, server: Server, database: str) -> Path:
    """A small database with what other databases have not, and its policy."""
    with server.connect("postgres") as connection:
        connection.execute(f"CREATE DATABASE {database}".encode())
    with server.connect(database) as connection:
        connection.execute("CREATE TYPE sexes AS ENUM ('F', 'M', 'X')")
        connection.execute("CREATE DOMAIN kilograms AS double precision")
        connection.execute(
            'CREATE TABLE "People" ("Person" numeric(30), weight kilograms, paid numeric, sex sexes, '
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
        (1, None, None, None, None, "F", "2024-06-01 10:00:00", None),
        (2, 200.0, 400, 100.0, 10000, "M", None, None),
        (3, 0.0, 0, 100.0, 10000, None, None, "1950-02-28"),
        (5, 0.0, 0, -0.005, -1, "F", "2024-02-29 00:00:00", "2000-02-29"),
    ]  # one name is a number beyond 64 bits, which is nobody's, as on DuckDB


def test_errors_say_what_to_do(server: Server, tmp_path: Path) -> None:
    policy = clinic(tmp_path, server, "wrong")
    text = policy.read_text()

    def refused(change: tuple[str, str], kind: type[Exception], match: str) -> None:
        assert change[0] in text, change
        policy.write_text(text.replace(*change))
        with pytest.raises(kind, match=match):
            opened(policy)

    refused(("  People:", "  people:"), PolicyError, "has no table or view people")
    refused(("      weight:", "      Weight:"), PolicyError, "Weight does not exist. Write the data")
    refused(("rows_per_unit: 2", "rows_per_unit: 2\n    source: people.csv"), PolicyError, "leave source out")
    with server.connect("wrong") as connection:
        connection.execute('GRANT SELECT ON "People" TO query')
    refused(("version: 1", "version: 1"), PolicyError, "may read tables of the source")
    with server.connect("wrong") as connection:
        connection.execute('REVOKE SELECT ON "People" FROM query')
    policy.write_text(text.replace(server.dsn("wrong"), server.dsn("nowhere")))
    with pytest.raises(OperationalError, match="does not answer"):
        opened(policy)


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
            counted = engine.run(statement_of(engine, f"SELECT count(*) AS n FROM {engine.dialect.bounded('People')}"))
            assert list(counted.column("n")) == [4 + min(2, times) * 50]  # two rows of each person
    with server.connect("changes") as connection:
        made = connection.execute(
            "SELECT count(DISTINCT split_part(tablename, ':', 1)) FROM pg_tables WHERE schemaname = 'dpsql_bounded'"
        ).fetchone()
    assert made in ((1,), (2,), (3,))


def test_a_server_that_goes_and_comes_costs_nothing_that_was_not_read(server: Server, twins: dict[str, Twins]) -> None:
    session = twins["census"].postgres.session(analyst="gone")
    asked = "SELECT COUNT(*) AS n FROM people"
    before = session.budget().spent
    server.stop("immediate")
    with pytest.raises(OperationalError, match=r"not ready\. Nothing was spent"):
        session.query(asked)
    assert session.budget().spent == before
    server.start()
    assert session.query(asked).rows
