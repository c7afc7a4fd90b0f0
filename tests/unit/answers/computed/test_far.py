"""Whole numbers farther out than any that is computed with: an answer shows them, and lies within its own intervals."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

import dpsql.testing
from dpsql.answers.computed.far import FAR, MORE_THAN_64_BITS, as_read, fitting
from dpsql.answers.writers import to_csv, to_json
from dpsql.errors import DataError, UnsupportedQuery
from dpsql.plan.intervals import Interval
from dpsql.plan.nodes import Column
from dpsql.plan.types import Facts, Type
from dpsql.server.flight.arrow import answer_table
from dpsql.session import Session
from dpsql.testing import FixedSampler
from tests.connected import connected

POLICY = """
version: 1
name: far
engine: {{kind: duckdb, database: far.duckdb}}
neighbours: {neighbours}
budget:
  ledger: far.ledger.db
  composition: basic
  total: {{epsilon: 1000000, delta: 1.0e-3}}
  analysts: {{"*": {{epsilon: 1000000, delta: 1.0e-3}}}}
  per_query: {{epsilon: 100, delta: 1.0e-6}}
tables:
  t:
    unit: p
    rows_per_unit: {rows}
    rows_about: 20000
    columns:
      x: {{type: integer, bounds: [-9007199254740992, 9007199254740992]}}
      y: {{type: integer, bounds: [-9007199254740992, -1]}}
      h: {{type: integer, bounds: [0, 100000000000000]}}
      r: {{type: real, bounds: [-1000000000, 1000000000], grid: 0.000001}}
      k: {{type: text, values: [a, b]}}
      s: {{type: integer, bounds: [0, 3]}}
"""
ROWS = 20_000
CELLS = "FROM (SELECT k, SUM(h) AS v FROM t GROUP BY k)"


@pytest.fixture(scope="module", params=[("add_remove", 1), ("add_remove", 3), ("replace_one", 1)], ids=str)
def session(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Session]:
    neighbours, rows = request.param
    home = tmp_path_factory.mktemp("far")
    (home / "far.yaml").write_text(POLICY.format(neighbours=neighbours, rows=rows))
    with connected(home / "far.duckdb") as connection:
        connection.execute(
            f"CREATE TABLE t AS SELECT i // {rows} AS p, 9007199254740992 AS x, -9007199254740992 AS y, "
            "100000000000000 AS h, 1e9 AS r, CASE WHEN i % 2 = 0 THEN 'a' ELSE 'b' END AS k, i % 4 AS s "
            f"FROM range({ROWS}) r(i)"
        )
    with dpsql.testing.open(home / "far.yaml", FixedSampler(3)) as proxy:
        yield proxy.session(analyst="ana")


def within_its_own(session: Session, sql: str, mechanism: str = "") -> bool:
    """Whether every released value lies within its own intervals; False where nothing answers the statement."""
    try:
        answer = session.query(sql, mechanism=mechanism) if mechanism else session.query(sql)
    except UnsupportedQuery:
        return False
    for level in (0.5, 0.95):
        for value, (low, high) in zip(answer["v"], answer.interval("v", level), strict=True):
            assert value is None or ((low is None or low <= value) and (high is None or value <= high)), (sql, answer)
    return True


MECHANISMS = ("laplace", "gaussian", "clamped", "located", "capped", "exponential", "preprocessing")


@pytest.mark.every(2)
def test_what_is_released_lies_within_its_own_interval_by_every_mechanism_that_answers_it(session: Session) -> None:
    answered = set[str]()
    for mechanism in MECHANISMS:
        for call in ("SUM", "AVG", "MEDIAN", "MAX", "VAR_POP"):
            for column in ("x", "y", "h", "r"):
                for sql in (
                    f"SELECT {call}({column}) AS v FROM t",
                    f"SELECT k, {call}({column}) AS v FROM t GROUP BY k",
                ):
                    answered |= {mechanism} if within_its_own(session, sql, mechanism) else set()
    assert answered >= {"laplace", "gaussian", "clamped", "located", "exponential"}


COMPUTED = (
    "SELECT SUM(h) + 1 AS v FROM t",
    "SELECT -SUM(h) AS v FROM t",
    "SELECT SUM(h) * 7 AS v FROM t",
    "SELECT SUM(y) // 7 AS v FROM t",
    "SELECT ABS(SUM(y)) AS v FROM t",
    "SELECT SUM(h) / SUM(x) AS v FROM t",
    "SELECT GREATEST(SUM(h), 3) AS v FROM t",
    "SELECT CAST(SUM(x) AS DOUBLE) AS v FROM t",
    "SELECT CASE WHEN SUM(h) > 5 THEN SUM(h) ELSE 0 END AS v FROM t",
    f"SELECT SUM(v) AS v {CELLS}",
    f"SELECT v / 7 AS v FROM (SELECT v * 4 AS v {CELLS})",
    f"SELECT SUM(v) / 7 AS v FROM (SELECT v * 4 AS v {CELLS})",
    "SELECT k, SUM(SUM(h)) OVER (ORDER BY k) AS v FROM t GROUP BY k",
    "SELECT k, SUM(x) / SUM(SUM(h)) OVER () AS v FROM t GROUP BY k",
    "SELECT a.v + b.w AS v FROM (SELECT SUM(h) AS v FROM t) a, (SELECT SUM(x) AS w FROM t) b",
)


@pytest.mark.every(3)
@pytest.mark.parametrize("sql", COMPUTED)
def test_what_is_computed_of_numbers_that_were_cut_lies_within_its_interval_and_is_told(
    session: Session, sql: str
) -> None:
    assert within_its_own(session, sql)
    assert FAR in session.query(sql).notes


SHOWN = (
    "SELECT SUM(x) AS v FROM t",
    "SELECT SUM(x) AS v, AVG(h) + 1 AS w FROM t",
    "SELECT k, SUM(x) AS v FROM t GROUP BY ROLLUP(k) ORDER BY k LIMIT 3",
    "SELECT w AS v FROM (SELECT k, SUM(x) AS w FROM t GROUP BY k) ORDER BY k",
    "SELECT (SELECT SUM(x) FROM t) AS v",
    "SELECT SUM(x) AS v FROM t UNION ALL SELECT SUM(x) FROM t WHERE k = 'a'",
    "SELECT a.v AS v FROM (SELECT SUM(x) AS v FROM t) a, (SELECT SUM(h) AS w FROM t) b",
)


@pytest.mark.every(3)
@pytest.mark.parametrize("sql", SHOWN)
def test_what_only_shows_a_large_number_shows_it_as_it_was_released(session: Session, sql: str) -> None:
    assert within_its_own(session, sql)
    shown = session.query(sql)["v"]
    assert all(value == pytest.approx(2**53 * ROWS, rel=0.6) for value in shown)
    assert any(value > 2**66 and isinstance(value, int) for value in shown)
    assert session.query(sql)["v"] == shown  # as it was stored


def test_numbers_that_are_only_shown_need_no_note(session: Session) -> None:
    assert FAR not in session.query("SELECT k, SUM(x) AS v FROM t GROUP BY k").notes
    assert FAR not in session.query("SELECT k, SUM(x) AS v FROM t GROUP BY k ORDER BY k").notes
    assert FAR in session.query("SELECT k, SUM(x) AS v FROM t GROUP BY k ORDER BY v").notes
    assert FAR in session.query("SELECT COUNT(*) AS v FROM t WHERE x < (SELECT SUM(x) FROM t)").notes


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT s + 4000000000000000000 AS q, COUNT(*) AS n FROM t GROUP BY q",
        "SELECT s + 4000000000000000000 AS q, COUNT(*) AS n FROM t GROUP BY q ORDER BY q",
        "SELECT q, n FROM (SELECT s + 4000000000000000000 AS q, COUNT(*) AS n FROM t GROUP BY q) ORDER BY q",
        "SELECT q, a.n FROM (SELECT s + 4000000000000000000 AS q, COUNT(*) AS n FROM t GROUP BY q) a JOIN "
        "(SELECT s + 4000000000000000000 AS q, COUNT(*) AS n FROM t GROUP BY q) b USING (q)",
    ],
)
def test_keys_that_lie_farther_out_than_released_numbers_stay_apart(session: Session, sql: str) -> None:
    assert [row[0] - 4 * 10**18 for row in session.query(sql).rows] == [0, 1, 2, 3]


def test_doors_show_a_number_of_more_than_64_bits_or_say_why_not(session: Session) -> None:
    answer = session.query("SELECT SUM(x) AS v FROM t")
    assert answer.to_arrow()["v"].to_pylist() == answer["v"]
    assert str(answer["v"][0]).encode() in to_csv(answer)
    assert str(answer["v"][0]).encode() in to_json(answer)
    with pytest.raises(DataError, match="64 bits") as refused:
        answer_table(answer, {})
    assert str(refused.value) == MORE_THAN_64_BITS
    assert answer_table(session.query("SELECT SUM(h) AS v FROM t"), {}).num_rows == 1
    real = session.query("SELECT SUM(CAST(x AS DOUBLE)) AS v FROM t")
    assert real["v"] == pytest.approx(answer["v"], rel=0.1)


def test_a_column_is_read_within_its_reach() -> None:
    far, whole = Interval.point(4 * 10**18), Facts(Type.INTEGER)
    values = [4 * 10**18, None, -7]
    assert as_read(values, Column("released", "k", whole, reach=far)) is values
    assert as_read(values, Column("released", "k", whole)) == [2**60, None, -7] == fitting(values, Type.INTEGER)
