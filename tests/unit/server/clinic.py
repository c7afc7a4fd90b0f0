"""A clinic of 100 people behind a server, for all tests of doors: two users, no noise."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import dpsql.testing
from dpsql.policy import Policy
from dpsql.proxy import Proxy, _new_version
from dpsql.server.core import Guest, Server
from dpsql.server.users import Users
from dpsql.testing_samplers import Noiseless
from tests.connected import connected

__all__ = ["COUNT", "POLICY", "Clinic", "guest", "open_clinic", "refresh", "write_clinic"]

POLICY = """
version: 1
name: clinic
engine: {kind: duckdb, database: clinic.duckdb}
neighbours: add_remove
budget:
  ledger: clinic.ledger.db
  composition: zcdp
  total: {epsilon: 100, delta: 1.0e-6}
  analysts: {ana: {epsilon: 40, delta: 1.0e-7}, bob: {epsilon: 1, delta: 1.0e-7}}
  per_query: {epsilon: 0.5}
server: {approve_above: 0.2, connections: 20, statements_per_minute: 100000, rows: 50}
tables:
  people:
    unit: person
    rows_per_unit: 1
    rows_about: 100
    columns:
      age:    {type: integer, bounds: [0, 99]}
      sex:    {type: text, values: [F, M]}
      born:   {type: date, bounds: [1990-01-01, 1990-01-02]}
      weight: {type: real, bounds: [0, 200], grid: 0.5}
      smokes: {type: boolean}
"""
PEOPLE = """
SELECT i AS person, i % 90 AS age, ['F', 'M'][1 + i % 2] AS sex, DATE '1990-01-01' + (i % 2)::INTEGER AS born,
    50.5 + i % 3 AS weight, i % 5 = 0 AS smokes
FROM range(100) t(i)
"""
COUNT = "SELECT COUNT(*) AS n FROM people"


@dataclass(frozen=True)
class Clinic:
    """The server of a server, and its users' tokens."""

    proxy: Proxy
    server: Server
    tokens: dict[str, str]


@cache
def _database(people: str) -> bytes:
    """The file of a database whose one table holds what a query gives, made once in a process."""
    with TemporaryDirectory() as folder:
        file = Path(folder) / "clinic.duckdb"
        with connected(file) as database:
            database.execute(f"CREATE TABLE people AS {people}")
        return file.read_bytes()


def write_clinic(folder: Path, policy: str = POLICY, people: str = PEOPLE) -> Path:
    """The policy's file in the folder, beside its database, whose one table holds what a query gives."""
    (folder / "clinic.duckdb").write_bytes(_database(people))
    file = folder / "clinic.yaml"
    file.write_text(policy)
    return file


@contextmanager
def open_clinic(folder: Path, policy: str = POLICY) -> Iterator[Clinic]:
    """A new one in the folder."""
    with dpsql.testing.open(write_clinic(folder, policy), Noiseless()) as proxy:
        users = Users(folder / "clinic.users")
        tokens = {name: users.add(name, proxy.policy) for name in ("ana", "bob")} | {"": users.add_owner()}
        server = Server(proxy, users)
        try:
            yield Clinic(proxy, server, tokens)
        finally:
            server.close()


def refresh(clinic: Clinic, people: int | None = None, policy: Policy | None = None) -> None:
    """A new version of the tables, as another process makes it: of so many people, or of the same as before.

    Args:
        clinic: Whose.
        people: How many there are from then on; None for all.
        policy: As that process reads it.
    """
    if people is not None:
        assert clinic.proxy.policy.file is not None
        with connected(clinic.proxy.policy.file.with_name("clinic.duckdb")) as database:
            database.execute(f"DELETE FROM people WHERE person >= {people}")
    proxy = clinic.proxy
    _new_version(policy or proxy.policy, proxy.ledger, proxy._cache, "", None)


def guest(clinic: Clinic, name: str = "ana", server: Server | None = None) -> Guest:
    """One who was let in, at no door."""
    own = server or clinic.server
    return own.guest(own.bearer(clinic.tokens[name], "test", "here"), "test", "here")
