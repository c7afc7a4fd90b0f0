"""Nothing overflows after the charge: what is assumed of a computed column holds, however it was computed below."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations
from pathlib import Path

import pytest

import dpsql.testing
from dpsql.answers.computed.postprocess import MADE_UP, _made_up_table
from dpsql.errors import UnsupportedQuery
from dpsql.plan.over_answers import work
from dpsql.plan.types import Facts, Type
from dpsql.session import Session
from dpsql.testing import Noiseless
from tests.connected import connected

POLICY = """
version: 1
name: far
engine: {kind: duckdb, database: far.duckdb, memory: 2GiB, deadline: 30s}
neighbours: add_remove
budget:
  ledger: far.ledger.db
  composition: zcdp
  total: {epsilon: 1000, delta: 1.0e-3}
  analysts: {"*": {epsilon: 1000, delta: 1.0e-3}}
  per_query: {epsilon: 1, delta: 1.0e-6}
tables:
  t:
    unit: id
    rows_per_unit: 4
    rows_about: 100
    columns:
      x: {type: integer}
      h: {type: real}
      g: {type: integer, bounds: [0, 5]}
      s: {type: text}
  big: {public: true, key: id}
"""
SATURATED = 2**60

FAR = "(SELECT SUM(g * 1000000000000000) AS a, SUM(0 - g * 1000000000000000) AS b FROM t)"
"""Two released numbers at the two ends."""
TOTAL = 400 * 4 * 10**15
"""The one of them, beyond where released numbers are read."""
NEAR = "(SELECT COUNT(*) AS n FROM t)"
VALUE = "(SELECT SUM(g * 1000000000000000) FROM t)"
ROWS = "contribution_bounds_per_row => (0, 9000)"


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The policy, beside data that no test changes."""
    home = tmp_path_factory.mktemp("far")
    with connected(home / "far.duckdb") as connection:
        connection.execute(
            "CREATE TABLE t AS SELECT i % 100 AS id, "
            "9000000000000000000 AS x, 1e300 AS h, 4 AS g, 'ab' AS s FROM range(400) r(i)"
        )
        connection.execute(
            "CREATE TABLE big AS SELECT 9000000000000000000 + i AS id, 'n' || i AS name FROM range(2) AS r(i)"
        )
    (home / "far.yaml").write_text(POLICY, encoding="utf-8")
    return home / "far.yaml"


@pytest.fixture
def session(file: Path) -> Iterator[Session]:
    with dpsql.testing.open(file, Noiseless()) as proxy:
        yield proxy.session(analyst="ana")


@pytest.mark.every(2)
@pytest.mark.parametrize(
    ("sql", "value"),
    [
        (f"SELECT y + y FROM (SELECT x + x AS y FROM (SELECT a - b AS x FROM {FAR}))", 2 * SATURATED),
        (f"SELECT x + x, MAX(x + x + x + x) OVER () FROM (SELECT a - b AS x FROM {FAR})", 2 * SATURATED),
        (f"WITH q AS (SELECT a - b AS x FROM {FAR}) SELECT (SELECT MAX(x + x + x + x) FROM q) FROM q", 4 * SATURATED),
        (f"WITH q AS (SELECT a - b AS x FROM {FAR}) SELECT x FROM q WHERE x + x + x + x > 0", SATURATED),
        (f"SELECT s + s + s FROM (SELECT SUM(x) AS s FROM (SELECT a - b AS x FROM {FAR}))", 3 * SATURATED),
        (f"SELECT w + w + w FROM (SELECT SUM(a - b) OVER () AS w FROM {FAR})", 3 * SATURATED),
        (f"SELECT y + y FROM (SELECT CASE WHEN a > 0 THEN a - b END AS y FROM {FAR})", 2 * SATURATED),
    ],
)
def test_whole_numbers_saturate_between_stages(session: Session, sql: str, value: int) -> None:
    (row,) = session.query(sql).rows
    assert row[0] == value
    assert isinstance(row[0], int)


def test_null_stays_null_between_stages(session: Session) -> None:
    sql = f"SELECT y, y + 1 FROM (SELECT CASE WHEN a < 0 THEN a - b END AS y FROM {FAR})"
    assert session.query(sql).rows == [(None, None)]


@pytest.mark.every(2)
@pytest.mark.parametrize(
    ("sql", "value"),
    [
        (f"SELECT x.a FROM {FAR} x JOIN {NEAR} c ON (x.a - x.b) * 255 > c.n", TOTAL),
        (f"SELECT x.a FROM (SELECT a - b AS a FROM {FAR}) x JOIN {NEAR} c ON x.a * 255 > c.n", 2 * SATURATED),
        (
            f"SELECT u.z FROM (SELECT x.a - x.b AS z FROM {FAR} x, {NEAR} c) u JOIN {NEAR} c ON u.z * 255 > c.n",
            2 * SATURATED,
        ),
        (
            f"SELECT z FROM (SELECT a AS z FROM {FAR} UNION ALL SELECT n FROM {NEAR}) u JOIN {NEAR} c ON z * 255 > c.n",
            TOTAL,
        ),
    ],
)
def test_joined_answers_are_read_where_released_numbers_lie_and_shown_as_released(
    session: Session, sql: str, value: int
) -> None:
    assert session.query(sql).rows[0][0] == value


def test_large_numbers_of_public_tables_stay_apart_in_a_join(session: Session) -> None:
    names = "(SELECT id, MIN(name) AS name FROM big GROUP BY id)"
    sql = f"SELECT a.name, b.name FROM {names} a JOIN {names} b USING (id) JOIN {NEAR} c ON c.n > 0"
    assert session.query(sql).rows == [("n0", "n0"), ("n1", "n1")]


@pytest.mark.every(2)
@pytest.mark.parametrize(
    "rows",
    [
        "SELECT id, x * 500 AS y FROM t UNION ALL SELECT id, x * 400 AS y FROM t",
        "SELECT DISTINCT id, x * 500 AS y FROM t",
        "SELECT id, MAX(x * 500) AS y FROM t GROUP BY id",
        "SELECT id, SUM(x) AS y FROM t GROUP BY id",
        "SELECT id, x * 500 AS y FROM t GROUP BY id, x * 500",
        "SELECT a.id, b.y FROM t a LEFT JOIN (SELECT id, x * 500 AS y FROM t) b ON a.id = b.id",
    ],
)
def test_whether_a_statement_fails_tells_of_no_large_value(session: Session, rows: str) -> None:
    (row,) = session.query(f"SELECT SUM(y * 512, {ROWS}) FROM ({rows}) AS z").rows
    assert row[0] > 0


def test_casts_of_merged_reals_are_proved_from_what_they_were_made_of(session: Session) -> None:
    rows = "SELECT id, h * 10000000000 AS y FROM t UNION ALL SELECT id, h AS y FROM t"
    session.query(f"SELECT SUM(CAST(y AS BIGINT), {ROWS}) FROM ({rows}) AS z")


LONGER = f"concat({', '.join(['s'] * 100)})"


@pytest.mark.every(2)
@pytest.mark.parametrize(
    "rows",
    [
        f"SELECT DISTINCT id, {LONGER} AS s FROM t",
        f"SELECT id, {LONGER} AS s FROM t UNION ALL SELECT id, s FROM t",
        f"SELECT id, MAX({LONGER}) AS s FROM t GROUP BY id",
        f"SELECT id, {LONGER} AS s FROM t GROUP BY id, {LONGER}",
        f"SELECT a.id, b.s FROM t a LEFT JOIN (SELECT id, {LONGER} AS s FROM t) b ON a.id = b.id",
    ],
)
def test_texts_do_not_grow_through_sub_queries(session: Session, rows: str) -> None:
    sql = "SELECT COUNT(*) FROM (SELECT id, {} AS s FROM ({}) AS z) AS y WHERE length(s) > 0"
    assert session.query(sql.format("concat(s, s)", rows)).rows[0][0] > 0
    with pytest.raises(UnsupportedQuery, match="too long"):
        session.query(sql.format("concat(s, s, s)", rows))


@pytest.mark.every(2)
@pytest.mark.parametrize(
    "rows",
    [
        f"SELECT {LONGER} AS s FROM (SELECT s, COUNT(*) AS n FROM t GROUP BY s)",
        f"SELECT {LONGER} AS s, COUNT(*) AS n FROM t GROUP BY 1",
        f"SELECT {LONGER} AS s FROM (SELECT s, COUNT(*) AS n FROM t GROUP BY s) UNION ALL SELECT 'a' AS s FROM {NEAR}",
        f"SELECT a.s FROM (SELECT {LONGER} AS s FROM (SELECT s, COUNT(*) FROM t GROUP BY s)) a, {NEAR} c",
    ],
)
def test_texts_do_not_grow_through_stages(session: Session, rows: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(work, "MOST_OF_GROUPS", 10**12)  # another limit, which such texts of open keys meet first
    session.explain(f"SELECT length(concat(s, s)) FROM ({rows})")
    with pytest.raises(UnsupportedQuery, match="too long"):
        session.explain(f"SELECT length(concat(s, s, s)) FROM ({rows})")


def test_sums_inside_a_unit_keep_whole_numbers_where_they_fit(session: Session) -> None:
    sql = f"SELECT SUM(y * 100, {ROWS}) FROM (SELECT id, SUM(x) AS y FROM t GROUP BY id) AS z"
    assert session.query(sql).types == (Type.INTEGER,)


@pytest.mark.parametrize("condition", [f"{VALUE} * 500 > g", f"g + {VALUE} * 500 > 0"])
def test_a_value_that_is_awaited_is_taken_to_lie_where_it_saturates(session: Session, condition: str) -> None:
    assert session.query(f"SELECT COUNT(*) FROM t WHERE {condition}").rows == [(400,)]


def test_differences_of_opposite_ends_are_rehearsed(session: Session) -> None:
    inner = "SELECT SUM(pow(g, 60)) AS a, SUM(pow(g, 61)) AS b FROM t"
    with pytest.raises(UnsupportedQuery, match="Nothing was spent"):
        session.query(f"SELECT CAST((a - b) / 1e20 AS BIGINT) FROM ({inner})")
    assert session.budget().spent.epsilon == 0


@pytest.mark.parametrize("count", [0, 1, 2, 3, 5, 8])
def test_made_up_columns_have_the_same_ends_and_opposite_ones(count: int) -> None:
    table = _made_up_table({f"a{i}": Facts(Type.INTEGER) for i in range(count)})
    low, _, high, _ = MADE_UP[Type.INTEGER]
    lengths = {len(values) for _, values in table.values()}
    assert len(lengths) == 1
    columns = [values for name, (_, values) in table.items() if name != "row"]
    for one, other in combinations(columns, 2):
        assert {(low, low), (low, high), (high, low), (high, high)} <= set(zip(one, other, strict=True))
