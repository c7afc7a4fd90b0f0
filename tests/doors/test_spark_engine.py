"""A policy over Spark: the same bounded tables, the same exact numbers as over DuckDB, and clear errors.

The cluster is Sail's, which speaks Spark Connect without Java.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import duckdb
import pytest

import dpsql
import dpsql.testing
from dpsql.engine.spark import bounded, describe
from dpsql.engine.spark.connecting import SparkSession
from dpsql.engine.spark.engine import SparkEngine
from dpsql.errors import EngineFailed, InvariantBroken, OperationalError, PolicyError
from dpsql.proxy import Proxy, refresh
from examples.spark import Server, apache, load, moved, running
from tests.doors.twins import CLINIC, Twins, assert_shared, opened, statement_of, twins_on
from tests.sql.corpus import Block, blocks

pytestmark = pytest.mark.doors


@pytest.fixture(scope="module")
def twins(cluster: Server, tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Twins]]:
    with twins_on(cluster, load, moved, tmp_path_factory.mktemp("twins")) as pairs:
        yield pairs


def in_order(found: list[tuple[Any, ...]]) -> list[tuple[Any, ...]]:
    """Rows in an order of their own."""
    return sorted(found, key=lambda row: [(value is not None, value) for value in row])


def rows_of(session: SparkSession, sql: str) -> list[tuple[Any, ...]]:
    """The rows of a query."""
    return list(zip(*(column.to_pylist() for column in session.rows(sql).columns), strict=True))


def test_the_bounded_tables_are_the_same_row_by_row(twins: dict[str, Twins], cluster: Server) -> None:
    assert assert_bounded_alike(twins, cluster) > 5_000


def assert_bounded_alike(twins: dict[str, Twins], cluster: Server) -> int:
    """Both engines hold the same bounded tables, of so many rows."""
    seen = 0
    for name, pair in twins.items():
        (file,) = pair.here._cache.rglob("bounded.duckdb")
        tables = tables_of(pair.there)
        with duckdb.connect(str(file), read_only=True) as here, cluster.asked() as there:
            tables.show(there)
            for table in pair.tables:
                held = {row[0] for row in here.execute(f'DESCRIBE "{table}"').fetchall()}
                columns = [name for name, _ in there.columns(f"SELECT * FROM {tables.dialect.bounded(table)}")]
                assert_shared(held, columns)
                quoted = ", ".join(map(tables.dialect.quoted, columns))
                named = ", ".join(f'"{column}"' for column in columns)
                ours = in_order([tuple(row) for row in here.execute(f'SELECT {named} FROM "{table}"').fetchall()])
                theirs = in_order(rows_of(there, f"SELECT {quoted} FROM {tables.dialect.bounded(table)}"))
                assert ours == theirs, f"{name}.{table}"
                seen += len(ours)
    return seen


def tables_of(proxy: Proxy) -> bounded.ClusterBuild:
    """The build under a proxy."""
    (told,) = proxy._cache.rglob("spark.json")
    return bounded.read(told.parent)


@pytest.mark.parametrize("block", blocks("accepted.sql"), ids=str)
def test_a_statement_of_the_corpus_has_the_same_exact_numbers(block: Block, twins: dict[str, Twins]) -> None:
    twins[block.policy].assert_the_same(block, "Spark")


def engine_in(proxy: Proxy) -> SparkEngine:
    engine = proxy.session(analyst="ana")._backend.engine
    assert isinstance(engine, SparkEngine)
    return engine


def test_a_statement_that_reads_something_else_is_not_run(twins: dict[str, Twins], cluster: Server) -> None:
    engine = engine_in(twins["hospital"].there)
    patients, visits = map(engine.dialect.bounded, ("patients", "visits"))
    (source,) = cluster.folder.glob("hospital.patients.parquet")
    engine.verify(statement_of(f"SELECT count(*) AS n FROM {patients}"))
    for sql in (
        f"SELECT count(*) AS n FROM {visits}",
        f"SELECT count(*) AS m FROM {patients}",
        f"SELECT CAST(count(*) AS INT) AS n FROM {patients}",
        f"SELECT count(*) AS n FROM {patients} WHERE EXISTS (SELECT 1 FROM hospital.patients)",
        f"SELECT count(*) AS n FROM {patients} CROSS JOIN parquet.`{source}`",
    ):
        with pytest.raises(InvariantBroken, match="otherwise than it was meant"):
            engine.verify(statement_of(sql))
    for sql in (
        "DROP TABLE hospital.patients", f"SELECT 1 AS n FROM {patients}; SELECT 2", "SELECT nothing() AS n",
        "SELECT 1 AS n) AS a; DROP TABLE hospital.patients --",
        "WITH a AS (SELECT CAST(1 AS BIGINT) AS n) INSERT INTO hospital.patients SELECT * FROM a",
    ):  # fmt: skip
        with pytest.raises(OperationalError, match=r"not ready\. Nothing was spent"):
            engine.verify(statement_of(sql))
        with pytest.raises(EngineFailed):
            engine.run(statement_of(sql))
    with cluster.asked() as session:
        assert rows_of(session, "SELECT count(*) FROM hospital.patients") > [(0,)]


def test_what_was_read_as_it_was_meant_is_not_read_again(
    twins: dict[str, Twins], cluster: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine = engine_in(twins["hospital"].there)
    patients = engine.dialect.bounded("patients")
    own = SparkEngine(cluster.remote, engine._tables, version=1, public={}, deadline=30)
    statement = statement_of(f"SELECT count(*) AS n FROM {patients} WHERE age > 30")
    own.verify(statement)

    def asked(*_: Any) -> Any:
        raise InvariantBroken("the server is asked what it reads")

    monkeypatch.setattr(SparkSession, "explained", asked)
    own.verify(statement)
    assert len(own.run(statement)) == 1
    for other in (
        statement_of(f"SELECT count(*) AS n FROM {patients} WHERE age > 31"),
        replace(statement, tables=frozenset({"visits"})),
        replace(statement, parameters=(1,)),
    ):
        with pytest.raises(InvariantBroken):
            own.verify(other)
    own.close()
    with pytest.raises(InvariantBroken):  # another session may show other tables
        own.verify(statement)
    own.close()


def test_a_deadline_ends_a_statement_and_a_long_answer_fails(twins: dict[str, Twins], cluster: Server) -> None:
    engine = engine_in(twins["hospital"].there)
    patients = engine.dialect.bounded("patients")
    short = SparkEngine(cluster.remote, engine._tables, version=1, public={}, deadline=0.5)
    many = ", ".join(f"{patients} AS p{number}" for number in range(6))
    with pytest.raises(EngineFailed) as failed:
        short.run(statement_of(f"SELECT count(*) AS n FROM {many} WHERE p0.age < p1.age + p2.age"))
    assert failed.value.__cause__.overrun  # type: ignore[union-attr]  # a WorkerFailed
    assert len(short.run(statement_of(f"SELECT count(*) AS n FROM {patients}"))) == 1
    short.close()
    with pytest.raises(EngineFailed):
        engine.run(statement_of(f"SELECT patient_id AS n FROM {patients}", most_rows=5))
    assert len(engine.run(statement_of(f"SELECT count(*) AS n FROM {patients}", most_rows=5))) == 1


PEOPLE = """
    SELECT CAST(1 AS DECIMAL(30, 0)) AS Person, CAST('NaN' AS DOUBLE) AS weight,
           CAST(5 AS DECIMAL(38, 4)) AS `Paid, in CHF`, 'F' AS sex, TIMESTAMP '2024-06-01 12:00:00+02:00' AS seen,
           CAST(NULL AS DATE) AS born, array('a') AS tags, CAST('x' AS BINARY) AS raw
    UNION ALL SELECT 2, CAST('Infinity' AS DOUBLE), 99999999999999999999, 'M', TIMESTAMP '0001-06-01 00:00:00',
           DATE '0044-03-15', NULL, NULL
    UNION ALL SELECT 3, CAST('-0.0' AS DOUBLE), 0.1250, 'X', TIMESTAMP '2024-12-31 23:30:00-05:00', DATE '1950-02-28',
           NULL, NULL
    UNION ALL SELECT 12345678901234567890123, 70.25D, -0.0050, NULL, NULL, NULL, NULL, NULL
    UNION ALL SELECT 5, CAST('1e-320' AS DOUBLE), -0.0050, 'F', TIMESTAMP '2024-02-29 00:00:00',
           DATE '2000-02-29', NULL, NULL
"""


def clinic(folder: Path, server: Server, schema: str, bounded_in: str = "") -> Path:
    """A small database with what other databases have not, and its policy."""
    with server.asked() as session:
        session.told(f"CREATE SCHEMA {schema}")
        session.write(session.relation(PEOPLE), table=f"{schema}.`People`")
    policy = folder / "clinic.yaml"
    policy.write_text(CLINIC)
    return moved(policy, server, schema, bounded_in)


@pytest.mark.parametrize("where", ["", "odd_bounded"])
def test_what_other_databases_have_not_is_read_as_it_is_meant(where: str, cluster: Server, tmp_path: Path) -> None:
    policy = clinic(tmp_path, cluster, f"odd{where}", where)
    with opened(policy) as proxy:
        tables = tables_of(proxy)
        with cluster.asked() as session:
            tables.show(session)
            found = rows_of(
                session,
                "SELECT `Person`, weight, `weight$grid`, paid, `paid$grid`, sex, CAST(seen AS STRING), "
                f"CAST(born AS STRING) FROM {tables.dialect.bounded('People')} ORDER BY `Person`",
            )
    assert found == [
        ("1", None, None, 5.0, 500, "F", "2024-06-01 10:00:00", None),
        ("12345678901234567890123", 70.25, 141, -0.005, -1, None, None, None),
        ("2", 200.0, 400, 100.0, 10000, "M", None, None),
        ("3", 0.0, 0, 0.125, 13, None, None, "1950-02-28"),
        ("5", 1e-320, 0, -0.005, -1, "F", "2024-02-29 00:00:00", "2000-02-29"),
    ]  # one name is a number beyond 64 bits: all are kept by their digits, as on DuckDB


def test_a_table_may_be_a_file_that_the_cluster_reads(cluster: Server, tmp_path: Path) -> None:
    policy = clinic(tmp_path, cluster, "filed")
    with cluster.asked() as session:
        session.write(session.relation("SELECT * FROM filed.`People` WHERE sex = 'F'"), path=str(tmp_path / "People"))
    text = policy.read_text().replace("    unit: Person", f"    source: {tmp_path}/People\n    unit: Person")
    policy.write_text(text)
    with opened(policy) as proxy:
        engine = engine_in(proxy)
        counted = engine.run(statement_of(f"SELECT count(*) AS n FROM {engine.dialect.bounded('People')}"))
        assert list(counted.column("n")) == [2]
    policy.write_text(text.replace("/People\n", "/People.csv\n"))
    with pytest.raises(PolicyError, match="name Parquet files"):
        opened(policy)


def test_errors_say_what_to_do(cluster: Server, tmp_path: Path) -> None:
    policy = clinic(tmp_path, cluster, "wrong")
    text = policy.read_text()

    def refused(change: tuple[str, str], kind: type[Exception], match: str) -> None:
        assert change[0] in text, change
        policy.write_text(text.replace(*change))
        with pytest.raises(kind, match=match):
            opened(policy)

    refused(("  People:", "  Persons:"), PolicyError, "Spark has no table or view Persons in the schema wrong")
    refused(("      weight:", "      height:"), PolicyError, "height is in the policy but not in the data")
    refused((cluster.remote, "sc://127.0.0.1:1"), OperationalError, "Spark does not answer")
    refused((cluster.remote, "sc://:"), OperationalError, "is no connection string")
    refused((cluster.remote, "http://127.0.0.1"), PolicyError, "engine.remote")


def test_changed_data_are_seen_and_a_refresh_drops_old_tables(cluster: Server, tmp_path: Path) -> None:
    policy = clinic(tmp_path, cluster, "changes")
    with dpsql.open(policy) as proxy:
        assert engine_in(proxy).version == 1
    for times in range(1, 4):
        with cluster.asked() as session:
            more = (
                "SELECT CAST(p.id + 100 AS DECIMAL(30, 0)) AS Person, weight, `Paid, in CHF`, sex, seen, born, tags, "
                f"raw FROM (SELECT * FROM ({PEOPLE}) AS q WHERE Person = 1) AS q CROSS JOIN range(1, 51) AS p"
            )
            session.told(f"INSERT INTO changes.`People` {more}")
        with pytest.raises(OperationalError, match="The data changed"):
            dpsql.open(policy)
        refresh(policy)
        with dpsql.open(policy) as proxy:
            engine, cache = engine_in(proxy), proxy._cache
            assert engine.version == 1 + times
            counted = engine.run(statement_of(f"SELECT count(*) AS n FROM {engine.dialect.bounded('People')}"))
            assert list(counted.column("n")) == [5 + min(2, times) * 50]  # two rows of each person
    (ledger,) = {file.parent for file in cache.rglob("spark-builds.json")}
    kept = bounded.kept_by(ledger)
    left = {build.build for build in bounded.begun(ledger)}
    assert kept <= left and len(left) <= len(kept) + 1
    filled = {file.parent.parent.name for file in cluster.bounded.rglob("*.parquet")}
    assert {f"dpsql_{build}" for build in kept} <= filled


def test_the_tables_of_a_cluster_are_described_by_their_types(cluster: Server, tmp_path: Path) -> None:
    with cluster.asked() as session:
        session.write(session.relation("SELECT 1 AS a, CAST(2 AS DECIMAL(10, 2)) AS b"), table="described")
    found = describe.describe(cluster.remote)["described"]
    assert [(name, kind.family, kind.places) for name, kind in found.columns] == [
        ("a", "integer", 0), ("b", "decimal", 2),
    ]  # fmt: skip


def test_a_server_that_goes_and_comes_costs_nothing_that_was_not_read(tmp_path: Path) -> None:
    with running(apache()) as server:
        policy = clinic(tmp_path, server, "gone")
        with opened(policy) as proxy:
            session = proxy.session(analyst="ana")
            asked = "SELECT COUNT(*) AS n FROM People"
            server.stop()
            before = session.budget().spent
            for ask in (lambda: session.query(asked), engine_in(proxy).stand):
                with pytest.raises(OperationalError, match=r"not ready\. Nothing was spent"):
                    ask()
            assert session.budget().spent == before
            server.start()
            engine_in(proxy).stand()
            assert session.query(asked).rows
