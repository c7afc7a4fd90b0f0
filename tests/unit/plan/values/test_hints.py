"""Hints of a column pass through affine expressions and casts, and through nothing else."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

import dpsql.testing
from dpsql.plan.nodes import Column, Expression
from dpsql.plan.values.hints import source
from dpsql.session import Session
from dpsql.sql.parse import parse
from tests.connected import connected

POLICY = """
version: 1
name: hints
engine: {kind: duckdb, database: hints.duckdb}
neighbours: add_remove
budget:
  ledger: hints.ledger.db
  composition: zcdp
  total: {epsilon: 1000, delta: 1.0e-3}
  analysts: {"*": {epsilon: 1000, delta: 1.0e-3}}
  per_query: {epsilon: 2, delta: 1.0e-6}
tables:
  people:
    unit: id
    key: id
    rows_per_unit: 1
    columns:
      x: {type: real, centre: 10, spread: 4, scale: [1, 100]}
      y: {type: real, scale: [1, 10000]}
"""


@pytest.fixture(scope="module")
def session(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Session]:
    folder: Path = tmp_path_factory.mktemp("hints")
    with connected(folder / "hints.duckdb") as connection:
        connection.execute("CREATE TABLE people AS SELECT i AS id, i / 7.0 AS x, i / 3.0 AS y FROM range(3000) AS t(i)")
    (folder / "hints.yaml").write_text(POLICY)
    with dpsql.testing.open(folder / "hints.yaml", dpsql.testing.Noiseless()) as proxy:
        yield proxy.session(analyst="ana")


def argument(session: Session, text: str) -> Expression:
    statement: Any = parse(f"SELECT AVG({text}) FROM people")
    plan: Any = session._plan(statement.select, ())
    found: Expression = plan.aggregates[0].argument
    return found


@pytest.mark.parametrize(
    ("text", "centre", "spread"),
    [
        ("x", 10, 4), ("x * 2", 20, 8), ("2 * x + 1", 21, 8), ("100 - x / 4", Fraction(195, 2), 1), ("-x", -10, 4),
        ("x - 10", 0, 4), ("CAST(x AS DOUBLE) * -3", -30, 12), ("x * x", None, None), ("abs(x)", None, None),
        ("x + y", None, None), ("x * 0", None, None), ("1 / x", None, None),
    ],
)  # fmt: skip
def test_a_centre_goes_with_the_value_and_a_spread_with_its_size(
    session: Session, text: str, centre: float | None, spread: float | None
) -> None:
    facts = argument(session, text).facts
    assert (facts.centre, facts.spread) == (centre, spread)
    assert facts.scale == (None if spread is None else (Fraction(spread) / 4, Fraction(spread) * 25))
    assert isinstance(source(argument(session, text)), Column) == (spread is not None)


def test_a_mean_without_bounds_is_answered_in_any_unit(session: Session) -> None:
    answer = session.query("SELECT AVG(y * 2) AS a FROM people")
    assert answer.measurements[0].mechanism == "friendly_core"
    assert answer.rows[0][0] == pytest.approx(2999 / 3, rel=0.05)
    with pytest.raises(dpsql.Error):
        session.explain("SELECT AVG(y * y) AS a FROM people")
