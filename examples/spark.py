"""The tour of `make demo` over Spark Connect: a Sail server of its own, the hospital in it, a policy that names it.

    python examples/spark.py DIRECTORY

DIRECTORY holds the hospital's database (examples/hospital.py) and its policy. Sail (`pip install '.[sail]'`) speaks
Spark's protocol and needs no Java; the server is gone afterwards. SAIL_WORKERS=2 makes it a driver and two workers that
send each other rows, as machines of a cluster do. Where SPARK_HOME names an Apache Spark, of version 4 and with Java,
the server is that.
"""

from __future__ import annotations

import os
import secrets
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

import duckdb

from dpsql.engine.spark.connecting import SparkSession, opened
from dpsql.errors import OperationalError

__all__ = ["Server", "apache", "load", "moved", "running", "workers"]

SECONDS = 120  # Until a server that does not come is given up. It is a choice: Sail takes some 2 s, Apache Spark 10.
_ALIVE = "1000000"  # Seconds until Sail forgets a session, and the tables in it, that is asked nothing.


@dataclass
class Server:
    """A Sail server, or an Apache Spark. Sail keeps its catalogue within one session, whose name all connections share.

    Attributes:
        folder: Where its files lie.
        port: On this machine.
        home: Where Apache Spark lies; None for Sail.
        workers: Of Sail's driver, in one process with it; 0 for no cluster.
        session: The name of the session.
    """

    folder: Path
    port: int
    home: Path | None = None
    workers: int = 0
    session: str = field(default_factory=lambda: str(uuid.UUID(bytes=secrets.token_bytes(16), version=4)))
    _process: subprocess.Popen[bytes] | None = None

    @property
    def remote(self) -> str:
        """The connection string."""
        return f"sc://127.0.0.1:{self.port}/;session_id={self.session};user_id=owner"

    @property
    def process(self) -> int | None:
        """Its process, once it was started."""
        return None if self._process is None else self._process.pid

    @property
    def bounded(self) -> Path:
        """A folder for bounded tables."""
        return self.folder / "bounded"

    def start(self) -> None:
        """Starts it, and waits until it answers."""
        command = self._apache(self.home) if self.home else self._sail()
        state = os.environ | {"SAIL_SPARK__SESSION_TIMEOUT_SECS": _ALIVE, "RUST_LOG": "off"} | self._cluster()
        with (self.folder / "log").open("ab") as log:
            self._process = subprocess.Popen(command, cwd=self.folder, env=state, stdout=log, stderr=log)
        end = time.monotonic() + SECONDS
        while True:
            with suppress(OperationalError), self.asked():
                return
            if time.monotonic() > end or self._process.poll() is not None:
                sys.exit(f"The server does not start. It says:\n{(self.folder / 'log').read_text()[-2000:]}")
            time.sleep(0.2)

    def _sail(self) -> list[str]:
        return [sys.executable, "-m", "pysail", "spark", "server", "--ip", "127.0.0.1", "--port", str(self.port)]

    def _cluster(self) -> dict[str, str]:
        if not self.workers:
            return {}
        own = {"INITIAL_COUNT": self.workers, "MAX_COUNT": self.workers, "MAX_IDLE_TIME_SECS": _ALIVE}
        return {"SAIL_MODE": "local-cluster"} | {f"SAIL_CLUSTER__WORKER_{name}": str(own[name]) for name in own}

    def _apache(self, home: Path) -> list[str]:
        settings = {
            "spark.connect.grpc.binding.address": "127.0.0.1",
            "spark.connect.grpc.binding.port": self.port,
            "spark.connect.session.manager.defaultSessionTimeout": f"{_ALIVE}s",
            "spark.driver.bindAddress": "127.0.0.1",
            "spark.driver.host": "127.0.0.1",
            "spark.sql.catalogImplementation": "in-memory",
            "spark.sql.shuffle.partitions": os.cpu_count(),  # 200 by default, for far larger tables
            "spark.sql.warehouse.dir": self.folder / "warehouse",
            "spark.ui.enabled": "false",
        }
        own = [part for name, value in settings.items() for part in ("--conf", f"{name}={value}")]
        (program,) = (home / "jars").glob("spark-connect_*.jar")
        start = ["--class", "org.apache.spark.sql.connect.service.SparkConnectServer", "--master", "local[*]"]
        return [str(home / "bin" / "spark-submit"), *start, *own, str(program)]

    def stop(self) -> None:
        """Ends it at once, as a crash does."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()

    @contextmanager
    def asked(self) -> Iterator[SparkSession]:
        """A connection of the owner."""
        session = opened(self.remote)
        try:
            yield session
        finally:
            session.close()


def apache() -> Path | None:
    """Where SPARK_HOME says that Apache Spark lies."""
    home = os.environ.get("SPARK_HOME")
    return Path(home).resolve() if home else None


def workers() -> int:
    """How many workers SAIL_WORKERS says that Sail has; 0 for no cluster."""
    return int(os.environ.get("SAIL_WORKERS", "0"))


@contextmanager
def running(home: Path | None = None, workers: int = 0) -> Iterator[Server]:
    """A new server, gone afterwards: Sail, alone or with workers, or the Apache Spark that lies there."""
    folder = Path(tempfile.mkdtemp(prefix="dpsql-spark-"))
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    server = Server(folder, port, home, workers)
    server.bounded.mkdir()
    try:
        server.start()
        yield server
    finally:
        server.stop()
        shutil.rmtree(folder, ignore_errors=True)


def load(server: Server, schema: str, file: Path) -> None:
    """Makes a schema of the tables of a DuckDB file."""
    with duckdb.connect(str(file), read_only=True) as here, server.asked() as there:
        there.told(f"CREATE SCHEMA IF NOT EXISTS {schema}")
        for (table,) in here.execute("SELECT table_name FROM duckdb_tables()").fetchall():
            written = server.folder / f"{schema}.{table}.parquet"
            here.execute(f"COPY (SELECT * FROM \"{table}\") TO '{written}' (FORMAT parquet)")
            there.write(there.parquet(str(written)), table=f"`{schema}`.`{table}`")


def moved(policy: Path, server: Server, schema: str, bounded: str = "") -> Path:
    """A policy with its engine exchanged for Spark, beside it."""
    where = bounded or server.bounded
    section = f'engine: {{kind: spark, remote: "{server.remote}", schema: {schema}, bounded: "{where}"}}'
    lines = policy.read_text(encoding="utf-8").splitlines()
    there = policy.with_name(f"{policy.stem}_spark.yaml")
    text = "\n".join(section if line.startswith("engine:") else line for line in lines)
    there.write_text(text.replace(".ledger.db", ".spark.db"), encoding="utf-8")
    return there


def main(folder: Path) -> None:
    """Runs the tour over a server of its own."""
    with running(apache(), workers()) as server:
        name = "Apache Spark" if server.home else "Sail, which speaks Spark Connect"
        name += f", with {server.workers} workers" if server.workers else ""
        print(f"Moving the hospital into {name}.", flush=True)
        load(server, "hospital", folder / "hospital.duckdb")
        policy = moved(folder / "hospital.yaml", server, "hospital")
        print(f"{policy.name} differs from hospital.yaml in one line:\n    {policy.read_text().splitlines()[4]}\n")
        sys.stdout.flush()
        subprocess.run([sys.executable, str(Path(__file__).with_name("tour.py")), str(policy)], check=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
