"""A small street in which every kind of statement under a metric can be checked by hand."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import dpsql.testing
from dpsql.privacy.sampling import Sampler
from dpsql.session import Session
from dpsql.testing import Noiseless, TestProxy
from tests.connected import connected, fill

__all__ = ["PEOPLE", "POLICY", "TOWNS", "Row", "asked", "homes", "opened", "policy"]

TOWNS = [("Alm", 0.0, 0.0, "hills", 100), ("Bach", 3.0, 4.0, "hills", 60), ("Cern", 30.0, 40.0, "plain", 10)]
PEOPLE = [
    (1, 0, "F", "Alm"), (2, 1, "M", "Alm"), (3, 2, "F", "Bach"), (4, 2, "M", "Cern"), (5, 3, "F", "Cern"),
    (6, 4, "X", "Cern"), (7, 4, "F", "Bach"), (8, 5, "M", "Alm"), (8, 5, "M", "Alm"), (None, 9, "?", None),
]  # fmt: skip

POLICY = """\
version: 1
name: homes
engine: {kind: duckdb, database: homes.duckdb}
neighbours: NEIGHBOURS
budget:
  ledger: homes.ledger.db
  composition: basic
  total: {epsilon: 10}
  analysts: {ana: {epsilon: 5}}
  per_query: {epsilon: 0.5}
tables:
  people:
    unit: id
    rows_per_unit: 1EVERY
    columns:
      age:  {type: integer, bounds: [0, 5]}
      sex:  {type: text, values: [F, M, X]}
      town: {type: text, values_from: towns.name}
      shoe: {type: integer, bounds: [20, 50]}
  visits:
    unit: id
    rows_per_unit: 3
    columns: {age: {type: integer, bounds: [0, 5]}}
  towns: {public: true, key: name}
metrics:
  home:
    table: people
    combine: COMBINEPRESENCE
    attributes:
      age:  {kind: chain, epsilon: 0.5}
      sex:  {kind: discrete, epsilon: 2}
      town: {kind: euclidean, of: [towns.x, towns.y], epsilon: 0.1}
    limit: LIMIT
"""


def policy(neighbours: str = "replace_one", combine: str = "sum", presence: bool = False) -> str:
    """The policy's text."""
    limit = "{age: 4, sex: 4, town: 4" + (", presence: 4}" if presence else "}")
    return (
        POLICY.replace("NEIGHBOURS", neighbours)
        .replace("EVERY", "" if presence else "\n    every_unit: true")
        .replace("COMBINE", combine)
        .replace("PRESENCE", "\n    presence: 1" if presence else "")
        .replace("LIMIT", limit if combine == "sum" else "4")
    )


Row = tuple[object, ...]


def homes(folder: Path, text: str, people: Sequence[Row] = PEOPLE, towns: Sequence[Row] = TOWNS) -> Path:
    """The policy's file beside its database. Where everybody has one row, who comes a second time is somebody else."""
    if "every_unit" in text:
        names = [row[0] for row in people]
        people = [
            row if row[0] is None or row[0] not in names[:place] else (100 + place, *row[1:])
            for place, row in enumerate(people)
        ]
    with connected(folder / "homes.duckdb") as connection:
        connection.begin()
        connection.execute("CREATE TABLE towns (name VARCHAR, x DOUBLE, y DOUBLE, region VARCHAR, height INTEGER)")
        fill(connection, "towns", towns)
        connection.execute("CREATE TABLE people (id INTEGER, age INTEGER, sex VARCHAR, town VARCHAR, shoe INTEGER)")
        fill(connection, "people", [(*person, 40) for person in people])
        connection.execute("CREATE TABLE visits (id INTEGER, age INTEGER)")
        connection.commit()
    file = folder / "homes.yaml"
    file.write_text(text)
    return file


@contextmanager
def opened(
    folder: Path,
    text: str,
    sampler: Sampler | None = None,
    people: Sequence[Row] = PEOPLE,
    towns: Sequence[Row] = TOWNS,
) -> Iterator[TestProxy]:
    """A proxy of the street."""
    with dpsql.testing.open(homes(folder, text, people, towns), sampler or Noiseless()) as proxy:
        assert isinstance(proxy, TestProxy)
        yield proxy


def asked(session: Session, sql: str, multiple: float = 1) -> list[tuple[object, ...]]:
    """The rows of an answer under the metric."""
    return session.query(sql, mechanism="metric", metric="home", multiple=multiple).rows
