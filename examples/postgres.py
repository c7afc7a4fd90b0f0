"""The tour of `make demo` over PostgreSQL: a server of its own, the hospital in it, a policy that names it.

    python examples/postgres.py DIRECTORY

DIRECTORY holds the hospital's database (examples/hospital.py) and its policy. The server is the machine's own package's
(`apt install postgresql`), on a private socket without a port, run by an ordinary user, and gone afterwards.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import duckdb
import psycopg

__all__ = ["Server", "fill", "load", "moved", "programs", "running"]

TYPES = {
    "TINYINT": "smallint",
    "INTEGER": "integer",
    "BIGINT": "bigint",
    "FLOAT": "real",
    "DOUBLE": "double precision",
    "VARCHAR": "text",
    "BLOB": "bytea",
}
"""PostgreSQL's names of DuckDB's types, where they differ."""


@dataclass(frozen=True)
class Server:
    """A PostgreSQL server whose role ``owner`` may do all, and whose role ``query`` nothing yet.

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

    def connect(self, database: str, role: str = "owner") -> psycopg.Connection[tuple[object, ...]]:
        """A connection that commits each statement."""
        return psycopg.connect(self.dsn(database, role), autocommit=True)

    def run(self, program: str, *arguments: str) -> None:
        """Runs one of its programs as its user."""
        subprocess.run(
            [str(self.programs / program), *arguments], check=True, user=self.user, cwd="/",
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=os.environ | {"LC_ALL": "C.UTF-8"},
        )  # fmt: skip

    def start(self) -> None:
        """Starts it."""
        options = f"-c listen_addresses= -k {self.folder} -c fsync=off"
        log, data = str(self.folder / "log"), str(self.folder / "data")
        self.run("pg_ctl", "-D", data, "-o", options, "-w", "-l", log, "start")

    def stop(self, how: str = "fast") -> None:
        """Stops it: ``fast``, or ``immediate`` as a crash does."""
        self.run("pg_ctl", "-D", str(self.folder / "data"), "-m", how, "-w", "stop")


def programs() -> Path | None:
    """Where the newest PostgreSQL server of this machine has its programs; None where it has none."""
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin"), key=lambda path: int(path.parent.name))
    found += [Path(path).parent for path in (shutil.which("initdb"),) if path]
    return next((path for path in reversed(found) if (path / "initdb").exists()), None)


@contextmanager
def running(programs: Path) -> Iterator[Server]:
    """A new server, gone afterwards."""
    user = "postgres" if os.getuid() == 0 else None  # a server never runs as root
    folder = Path(tempfile.mkdtemp(prefix="dpsql-pg-", dir="/tmp"))  # short: a socket's path has 107 bytes at most
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
    fill(server, database, file)


def fill(server: Server, database: str, file: Path) -> None:
    """Makes the tables of a DuckDB file in a database that is there."""
    with server.connect(database) as there, duckdb.connect(str(file), read_only=True) as here:
        for (table,) in here.execute("SELECT table_name FROM duckdb_tables()").fetchall():
            columns = here.execute(f'DESCRIBE "{table}"').fetchall()
            names = [name.replace('"', '""') for name, *_ in columns]
            made = ", ".join(f'"{name}" {TYPES.get(row[1], row[1])}' for name, row in zip(names, columns, strict=True))
            there.execute(f'CREATE TABLE "{table}" ({made})'.encode())
            with there.cursor().copy(f'COPY "{table}" FROM STDIN'.encode()) as copy:
                for row in here.execute(f'FROM "{table}"').fetchall():
                    copy.write_row(row)


def moved(policy: Path, server: Server, database: str) -> Path:
    """A policy with its engine exchanged for PostgreSQL, beside it."""
    section = f'engine: {{kind: postgres, dsn: "{server.dsn(database)}", query_dsn: "{server.dsn(database, "query")}"}}'
    lines = policy.read_text(encoding="utf-8").splitlines()
    there = policy.with_name(f"{policy.stem}_postgres.yaml")
    text = "\n".join(section if line.startswith("engine:") else line for line in lines)
    there.write_text(text.replace(".ledger.db", ".postgres.db"), encoding="utf-8")
    return there


def main(folder: Path) -> None:
    """Runs the tour over a server of its own."""
    found = programs()
    if found is None:
        sys.exit("This machine has no PostgreSQL server: apt install postgresql, or what your system calls it.")
    with running(found) as server:
        print("Moving the hospital into PostgreSQL.", flush=True)
        load(server, "hospital", folder / "hospital.duckdb")
        policy = moved(folder / "hospital.yaml", server, "hospital")
        print(f"{policy.name} differs from hospital.yaml in one line:\n    {policy.read_text().splitlines()[4]}\n")
        sys.stdout.flush()
        subprocess.run([sys.executable, str(Path(__file__).with_name("tour.py")), str(policy)], check=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
