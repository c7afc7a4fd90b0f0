"""A stored answer is replayed for its own question alone: no two different questions share a fingerprint.

Columns of one type and one set of bounds, and outputs under the same names, leave nothing to tell questions apart but
which values each aggregate reads.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from pathlib import Path

import duckdb
import pytest

import dpsql.testing
from dpsql.session import Session
from dpsql.sql.parse import parse
from dpsql.testing_samplers import Noiseless

POLICY = """
version: 1
name: alike
engine: {kind: duckdb, database: alike.duckdb}
neighbours: add_remove
budget:
  ledger: alike.ledger.db
  composition: basic
  total: {epsilon: 1000, delta: 1.0e-3}
  analysts: {"*": {epsilon: 1000, delta: 1.0e-3}}
  per_query: {epsilon: 50}
tables:
  people:
    unit: person
    rows_per_unit: 1
    columns:
      x: {type: integer, bounds: [0, 110]}
      y: {type: integer, bounds: [0, 110]}
      g: {type: text, values: [a, b]}
"""
AGGREGATES = (
    "MEDIAN(x)", "MEDIAN(y)", "QUANTILE_CONT(x, 0.25)", "QUANTILE_CONT(y, 0.25)",
    "SUM(y)", "SUM(y, contribution_bounds_per_group => (0, 9))",
)  # fmt: skip


@pytest.fixture(scope="module")
def session(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Session]:
    folder: Path = tmp_path_factory.mktemp("alike")
    with duckdb.connect(str(folder / "alike.duckdb")) as data:
        data.execute(
            "CREATE TABLE people AS SELECT i AS person, i % 100 AS x, 50 + i % 10 AS y, "
            "CASE WHEN i % 2 = 0 THEN 'a' ELSE 'b' END AS g FROM range(1000) AS t(i)"
        )
    (folder / "alike.yaml").write_text(POLICY)
    with dpsql.testing.open(folder / "alike.yaml", Noiseless()) as proxy:
        yield proxy.session(analyst="ana")


def fingerprint(session: Session, sql: str) -> str:
    """What a statement's answer is stored under."""
    plan = session._plan(parse(sql).select, ())  # type: ignore[union-attr]  # a SELECT
    return session._prepare(plan, {}).fingerprint("ana", 1)  # type: ignore[arg-type]  # of private rows


ROLLUP = " GROUP BY ROLLUP (g)"


@pytest.mark.parametrize(("rest", "step"), [("", 1), (ROLLUP, 7), pytest.param(ROLLUP, 1, marks=pytest.mark.slow)])
def test_the_values_that_each_aggregate_reads_tell_questions_apart(session: Session, rest: str, step: int) -> None:
    """Every question, or every so many-th: those that ask for the same in another order are one, and no others."""
    asked = [own for own in product(AGGREGATES, repeat=3) if len(set(own)) == 3]
    found, prints = dict[str, frozenset[str]](), dict[frozenset[str], str]()
    for own in asked[::step]:
        a, b, c = own
        told = fingerprint(session, f"SELECT {a} AS a, {b} AS b, {c} AS c FROM people{rest}")
        assert found.setdefault(told, frozenset(own)) == frozenset(own)
        assert prints.setdefault(frozenset(own), told) == told


def test_another_column_is_another_answer(session: Session) -> None:
    first = session.query("SELECT MEDIAN(x) AS a, MEDIAN(y) AS b, QUANTILE_CONT(x, 0.25) AS c FROM people")
    other = session.query("SELECT MEDIAN(x) AS a, MEDIAN(y) AS b, QUANTILE_CONT(y, 0.25) AS c FROM people")
    assert not other.replayed
    assert first.rows[0][:2] == other.rows[0][:2]
    assert first.rows[0][2] < 40 < other.rows[0][2]
