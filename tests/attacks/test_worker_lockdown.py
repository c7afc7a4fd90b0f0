"""The engine is not a boundary, so its process is: what a hostile statement could try, tried without the verification.

`open_database` gives what the worker holds; statements here go straight to it. Then the whole worker is attacked.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import duckdb
import pytest

from dpsql.worker import client
from dpsql.worker.__main__ import open_database
from dpsql.worker.client import Worker, WorkerFailed
from tests.unit.worker.conftest import COUNT, VISITS, statement

ROOT = Path(client.__file__).parents[2]


@pytest.fixture(scope="module")
def bounded_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A bounded file, and beside it another database and a text file that must stay out of reach."""
    here = tmp_path_factory.mktemp("lockdown")
    file = here / "bounded.duckdb"
    with duckdb.connect(str(file)) as connection:
        connection.execute(
            "CREATE TABLE visits AS SELECT i AS patient_id, i % 3 AS age, 0.5::DOUBLE AS cost FROM range(100) AS t(i)"
        )
        connection.execute("CREATE TABLE patients AS SELECT 17 AS patient_id, 'x' AS city, 40 AS age")
    with duckdb.connect(str(here / "other.duckdb")) as connection:
        connection.execute("CREATE TABLE secret AS SELECT 42 AS x")
    (here / "secret.csv").write_text("a,b\n1,2\n")
    return file


@pytest.fixture(scope="module")
def locked(bounded_file: Path) -> Iterator[duckdb.DuckDBPyConnection]:
    """The worker's own connection, in this process and thus without the limits of the operating system."""
    with open_database(str(bounded_file), 2 << 30, 1) as connection:
        yield connection


@pytest.fixture(scope="module")
def worker(bounded_file: Path) -> Iterator[Worker]:
    """A whole worker."""
    worker = Worker(bounded_file)
    yield worker
    worker.close()


@pytest.mark.parametrize(
    "attack",
    [
        "SELECT * FROM read_csv('{here}/secret.csv')",
        "SELECT * FROM read_text('{here}/secret.csv')",
        "SELECT * FROM '{here}/secret.csv'",
        "SELECT * FROM glob('{here}/*')",
        "SELECT * FROM read_parquet('https://example.org/x.parquet')",
        "SELECT * FROM parquet_scan('{here}/x.parquet')",
        "SELECT * FROM sniff_csv('{here}/secret.csv')",
        "ATTACH '{here}/other.duckdb' AS other",
        "ATTACH '{here}/new.duckdb' AS new",
        "ATTACH ':memory:' AS scratch",
        "COPY visits TO '{here}/leak.csv'",
        "COPY visits FROM '{here}/secret.csv'",
        "EXPORT DATABASE '{here}/leak'",
        "INSTALL httpfs",
        "LOAD httpfs",
        "SET threads = 8",
        "SET enable_external_access = true",
        "SET lock_configuration = false",
        "SET memory_limit = '100GB'",
        "SET temp_directory = '{here}'",
        "RESET enable_external_access",
        "PRAGMA disable_optimizer",
        "CALL enable_logging(storage = 'file')",
        "CREATE TABLE leak AS SELECT 1",
        "INSERT INTO visits SELECT * FROM visits",
        "UPDATE visits SET cost = 0",
        "DELETE FROM visits",
        "DROP TABLE visits",
        "CREATE VIEW leak AS SELECT 1",
        "SELECT * FROM locals_of_the_process",
        "SELECT getenv('HOME')",
        "SELECT * FROM query('SELECT * FROM read_csv(''{here}/secret.csv'')')",
        "SELECT * FROM json_execute_serialized_sql(json_serialize_sql('ATTACH ''{here}/other.duckdb'''))",
    ],
)
def test_the_engine_itself_refuses(locked: duckdb.DuckDBPyConnection, bounded_file: Path, attack: str) -> None:
    here = bounded_file.parent
    locals_of_the_process = {"rows": [1]}  # a replacement scan would find it
    before = sorted(here.iterdir())
    with pytest.raises(duckdb.Error):
        locked.execute(attack.format(here=here)).fetchall()
    assert sorted(here.iterdir()) == before
    assert locals_of_the_process


@pytest.mark.parametrize(
    "attack",
    [
        "SELECT 42 AS n FROM query('SELECT 42')",
        "SELECT 42 AS n FROM query_table('patients')",
        'SELECT patient_id AS n FROM "bounded"."main"."patients"',
        f"SELECT patient_id AS n FROM {VISITS}; SELECT 1",
        f"SELECT count(*) AS n FROM {VISITS}; DROP TABLE visits",
        "CREATE TEMP TABLE visits AS SELECT 1 AS n",
        "CREATE TEMP MACRO sum(x) AS 1",
        "SET VARIABLE a = 1",
        "SELECT count(*) AS n FROM pragma_storage_info('visits')",
        "SELECT count(*) AS n FROM duckdb_tables()",
        "SELECT count(*) AS n FROM information_schema.tables",
        "SELECT count(*) AS n FROM sqlite_master",
        "SELECT getvariable('key') AS n",
    ],
)
def test_the_worker_refuses_before_anything_runs(worker: Worker, attack: str) -> None:
    with pytest.raises(Exception, match="DuckDB reads the statement otherwise"):
        worker.run(statement(attack, ("n", "BIGINT")), deadline=20)
    assert list(worker.run(COUNT, deadline=20)["n"]) == [100]


def test_an_internal_error_is_one_fixed_failure_and_the_next_query_works(worker: Worker) -> None:
    texts = []
    for patient in (17, -1):  # one is there, the other not
        sql = f'SELECT count(*) AS n FROM {VISITS} WHERE patient_id = {patient} AND "!="(age, cost)'
        try:
            worker.run(statement(sql, ("n", "BIGINT")), deadline=20)
        except WorkerFailed as failure:
            texts.append(str(failure))
    assert set(texts) <= {"The worker gave no answer."}  # DuckDB 2.0.0 fails inside of itself; 2.0.1 answers
    assert list(worker.run(COUNT, deadline=20)["n"]) == [100]


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux limits address space")
@pytest.mark.parametrize("bomb", ["length(repeat('x', 3000000000))", "len(range(300000000))"])
def test_a_memory_bomb_ends_at_once_and_takes_nothing_along(worker: Worker, bomb: str) -> None:
    with pytest.raises(WorkerFailed) as failure:
        worker.run(statement(f"SELECT CAST({bomb} AS BIGINT) AS n FROM {VISITS} LIMIT 1", ("n", "BIGINT")), deadline=20)
    assert not failure.value.overrun
    assert list(worker.run(COUNT, deadline=20)["n"]) == [100]


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_the_process_has_no_environment_no_files_and_cannot_write(worker: Worker, bounded_file: Path) -> None:
    worker.run(COUNT, deadline=20)
    assert worker._child is not None
    here = Path(f"/proc/{worker._child._process.pid}")
    environment = (here / "environ").read_bytes().decode().split("\0")
    names = {entry.partition("=")[0] for entry in environment if entry}
    allowed = {
        "OPENBLAS_NUM_THREADS",
        "NPY_DISABLE_CPU_FEATURES",
        "MALLOC_ARENA_MAX",
        "MALLOC_MMAP_THRESHOLD_",
        "MALLOC_TRIM_THRESHOLD_",
        "ARROW_DEFAULT_MEMORY_POOL",
        "LC_ALL",
        "TZ",
        "LD_LIBRARY_PATH",
    }
    assert names <= allowed
    opened = {str(entry.readlink()) for entry in (here / "fd").iterdir()}
    files = {name for name in opened if name.startswith("/") and not name.startswith("/dev/null")}
    assert files == {str(bounded_file)}
    limits = {line[:25].strip(): line[25:].split()[:2] for line in (here / "limits").read_text().splitlines()}
    assert limits["Max address space"] == [str(2 << 30)] * 2
    assert limits["Max file size"] == ["0", "0"]
    assert limits["Max core file size"] == ["0", "0"]


def test_a_module_in_the_current_directory_cannot_stand_in_for_the_engine(bounded_file: Path, tmp_path: Path) -> None:
    for name in ("duckdb.py", "nanoarrow.py", "json.py", "sitecustomize.py"):
        (tmp_path / name).write_text("open('hijacked', 'w').close()\n")
    program = (
        f"import os, sys; sys.path.insert(0, {str(ROOT)!r})\n"
        "from pathlib import Path\nfrom dpsql.worker.client import Worker\n"
        "from dpsql.engine.base import EngineStatement\n"
        f"os.chdir({str(tmp_path)!r}); os.environ['PYTHONPATH'] = {str(tmp_path)!r}\n"
        f"worker = Worker(Path({str(bounded_file)!r}))\n"
        f"count = EngineStatement({COUNT.sql!r}, (), (('n', 'BIGINT'),), frozenset({{'visits'}}), "
        "frozenset({'count'}))\n"
        "print(list(worker.run(count, deadline=20)['n']))\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=False)
    assert "100" in done.stdout, done.stderr
    assert not (tmp_path / "hijacked").exists()
