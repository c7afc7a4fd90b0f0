"""A PostgreSQL server of the machine's own package on a private socket, run by an ordinary user."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import duckdb
import psycopg
import pytest

__all__ = ["Server", "load", "running"]

OLDEST = 15
TYPES = {
    "TINYINT": "smallint",
    "INTEGER": "integer",
    "BIGINT": "bigint",
    "FLOAT": "real",
    "DOUBLE": "double precision",
    "VARCHAR": "text",
    "BOOLEAN": "boolean",
    "DATE": "date",
    "TIMESTAMP": "timestamp",
}


@dataclass(frozen=True)
class Server:
    """A server.

    Attributes:
        folder: Where its socket is.
        programs: Where its programs are.
        user: Who runs it; None for this process's own user.
    """

    folder: Path
    programs: Path
    user: str | None

    def dsn(self, database: str, role: str = "owner") -> str:
        """A connection string."""
        return f"host={self.folder} user={role} dbname={database}"

    def connect(self, database: str, role: str = "owner") -> psycopg.Connection[Any]:
        """A connection that commits each statement."""
        return psycopg.connect(self.dsn(database, role), autocommit=True)

    def run(self, program: str, *arguments: str) -> None:
        """Runs one of its programs as its user."""
        subprocess.run(
            [str(self.programs / program), *arguments], check=True, user=self.user, cwd="/", capture_output=True,
            env=os.environ | {"LC_ALL": "C.UTF-8"},
        )  # fmt: skip

    def start(self) -> None:
        """Starts it."""
        options = f"-c listen_addresses= -k {self.folder} -c fsync=off"
        log, data = str(self.folder / "log"), str(self.folder / "data")
        self.run("pg_ctl", "-D", data, "-o", options, "-w", "-l", log, "start")

    def stop(self, how: str = "fast") -> None:
        """Stops it: ``fast``, or ``immediate`` as a crash does."""
        self.run("pg_ctl", "-D", str(self.folder / "data"), "-m", how, "-w", "stop")


def _programs() -> Path | None:
    found = [Path(path).parent for path in (shutil.which("initdb"),) if path]
    found += sorted(Path("/usr/lib/postgresql").glob("*/bin"), key=lambda path: int(path.parent.name))
    return next((path for path in reversed(found) if (path / "initdb").exists()), None)


@contextmanager
def running() -> Iterator[Server]:
    """A new server, gone afterwards. Skips the test where the machine has none."""
    programs = _programs()
    if programs is None:
        pytest.skip("this machine has no PostgreSQL server")
    user = "postgres" if os.getuid() == 0 else None
    folder = Path(tempfile.mkdtemp(prefix="dpsql-pg-", dir="/tmp"))  # short: a socket's path has 107 bytes
    try:
        if user is not None:
            shutil.chown(folder, user)
        folder.chmod(0o755)
        server = Server(folder, programs, user)
        server.run("initdb", "-D", str(folder / "data"), "-U", "owner", "--encoding=UTF8", "--locale=C", "--no-sync")
        server.start()
        try:
            with server.connect("postgres") as connection:
                connection.execute("CREATE ROLE query LOGIN")
            yield server
        finally:
            server.stop("immediate")
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def load(server: Server, database: str, file: Path) -> None:
    """Makes a database of the tables of a DuckDB file."""
    with server.connect("postgres") as connection:
        connection.execute(f"CREATE DATABASE {database}".encode())
    with server.connect(database) as there, duckdb.connect(str(file), read_only=True) as here:
        for (table,) in here.execute("SELECT table_name FROM duckdb_tables()").fetchall():
            columns = here.execute(f'DESCRIBE "{table}"').fetchall()
            made = ", ".join(f'"{name}" {TYPES.get(kind, kind)}' for name, kind, *_ in columns)
            there.execute(f'CREATE TABLE "{table}" ({made})'.encode())
            with there.cursor().copy(f'COPY "{table}" FROM STDIN'.encode()) as copy:
                for row in here.execute(f'FROM "{table}"').fetchall():
                    copy.write_row(row)
