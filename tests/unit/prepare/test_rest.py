"""The row for what stays hidden: what it holds, where it stands, what it costs, and where it is refused."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import combinations, product
from pathlib import Path
from typing import Any

import pytest

import dpsql.testing
from dpsql.errors import UnsupportedQuery
from dpsql.privacy.tables import RawTable
from dpsql.session import Session
from tests.connected import connected

POLICY = """
version: 1
name: towns
engine: {kind: duckdb, database: towns.duckdb}
neighbours: %s
budget:
  ledger: towns.ledger.db
  composition: zcdp
  total: {epsilon: 10000, delta: 1.0e-1}
  analysts: {"*": {epsilon: 10000, delta: 1.0e-1}}
  per_query: {epsilon: 20, delta: 1.0e-6}
tables:
  visits:
    unit: pid
    rows_per_unit: 3
    columns:
      town: {type: text}
      kind: {type: text, values: [a, b]}
      cost: {type: integer, bounds: [0, 100]}
"""
ROWS = """SELECT i % 400 AS pid, CASE WHEN i % 7 < 4 THEN 'big' || (i % 3) ELSE 'town' || (i % 151) END AS town,
    CASE WHEN i % 5 < 3 THEN 'a' ELSE 'b' END AS kind, i % 100 AS cost FROM range(1200) t(i)"""


def opened(folder: Path, neighbours: str = "add_remove") -> dpsql.testing.TestProxy:
    with connected(folder / "towns.duckdb") as database:
        database.execute(f"CREATE TABLE visits AS {ROWS}")
    (folder / "towns.yaml").write_text(POLICY % neighbours)
    return dpsql.testing.open(folder / "towns.yaml", sampler=dpsql.testing.Noiseless())


@pytest.fixture(scope="module")
def session(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Session]:
    with opened(tmp_path_factory.mktemp("towns")) as proxy:
        yield proxy.session(analyst="ana")


def truth(sql: str) -> Sequence[Any]:
    with connected() as database:
        database.execute(f"CREATE TABLE visits AS {ROWS}")
        return database.execute(sql).fetchall()


def test_rest_holds_all_that_is_not_shown(session: Session) -> None:
    sql = "SELECT town, COUNT(*), SUM(cost), AVG(cost), VAR_POP(cost) FROM visits GROUP BY town"
    answer = session.query(sql, rest=True)
    *shown, rest = answer.rows
    assert answer.columns[-1] == "is_rest" and [row[-1] for row in answer.rows] == [False] * len(shown) + [True]
    names = ", ".join(f"'{town}'" for town, *_ in shown)
    ((count, total, mean, variance),) = truth(
        f"SELECT COUNT(*), SUM(cost), AVG(cost), VAR_POP(cost) FROM visits WHERE town NOT IN ({names})"
    )
    assert 0 < len(shown) < 10 and rest[:3] == (None, count, total)
    assert rest[3:5] == (pytest.approx(mean), pytest.approx(variance))


def test_rest_comes_last_whatever_the_order(session: Session) -> None:
    for order in ("n", "n DESC", "town DESC NULLS FIRST"):
        sql = f"SELECT town, COUNT(*) AS n FROM visits GROUP BY town ORDER BY {order}"
        assert [row[-1] for row in session.query(sql, rest=True).rows][-2:] == [False, True]


def test_rest_of_keys_of_which_some_are_listed(session: Session) -> None:
    *shown, rest = session.query("SELECT town, kind, COUNT(*) FROM visits GROUP BY 1, 2", rest=True).rows
    assert rest == (None, None, 1200 - sum(n for _, _, n, _ in shown), True)


def test_people_are_counted_where_each_is_in_one_group(session: Session) -> None:
    answer = session.query(
        "SELECT town, COUNT(DISTINCT pid) FROM visits GROUP BY 1", rest=True, max_groups_per_unit=1, epsilon=1
    )
    assert sum(row[1] for row in answer.rows) == 400


def test_its_price_is_part_of_the_statements(session: Session) -> None:
    sql = "SELECT town, COUNT(*) AS n, SUM(cost) AS s FROM visits GROUP BY town"
    quote = session.explain(sql, rest=True, epsilon=3)
    assert quote.cost.epsilon == pytest.approx(3, abs=1e-9) and any("one more row" in note for note in quote.notes)
    answer = session.query(sql, rest=True, epsilon=3)
    assert sum(Fraction(str(m.loss.epsilon)) for m in answer.measurements) <= 3
    assert session.query(sql, rest=True, epsilon=3).replayed and not session.query(sql, epsilon=3).replayed
    low, high = answer.interval("n")[-1]
    assert low is not None and high is not None and low < answer.rows[-1][1] < high


def test_half_width_is_that_of_groups(session: Session) -> None:
    sql = "SELECT town, COUNT(*) AS n FROM visits GROUP BY town"
    widths = {column.name: column.half_width for column in session.explain(sql, rest=True, half_width={"n": 5}).columns}
    assert widths["n"] <= 5


@pytest.mark.parametrize(
    ("sql", "reason"),
    [
        ("SELECT town, COUNT(DISTINCT pid) FROM visits GROUP BY town", "would count in each"),
        ("SELECT town, COUNT(DISTINCT cost) FROM visits GROUP BY town", "does not add up"),
        ("SELECT town, MEDIAN(cost) FROM visits GROUP BY town", "does not add up"),
        ("SELECT town, MODE(kind) FROM visits GROUP BY town", "does not add up"),
        ("SELECT town, COUNT(*) AS n FROM visits GROUP BY town ORDER BY n LIMIT 1", "LIMIT"),
        ("SELECT SUM(n) FROM (SELECT town, COUNT(*) AS n FROM visits GROUP BY town)", "one more row of the answer"),
        ("SELECT DISTINCT town FROM visits", "nothing to add up"),
    ],
)
def test_rest_is_refused(session: Session, sql: str, reason: str) -> None:
    before = session.budget().spent
    with pytest.raises(UnsupportedQuery, match=reason):
        session.query(sql, rest=True)
    assert session.budget().spent == before


def test_rest_of_two_statements_bought_together(session: Session) -> None:
    sql = "SELECT town, COUNT(*) AS n FROM visits GROUP BY town"
    together = [f"SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS (epsilon = {x}, rest = true) {sql[7:]}" for x in (4, 5)]
    answers = session.query_all(together)
    assert all(sum(row[1] for row in answer.rows) == 1200 for answer in answers)


def test_swaps_move_the_rest_by_twice_the_rows(tmp_path: Path) -> None:
    with opened(tmp_path, "replace_one") as proxy:
        quote = proxy.session(analyst="ana").query(
            "SELECT town, SUM(cost) FROM visits GROUP BY town", rest=True, epsilon=10, mechanism="laplace"
        )
    shown, rest = (m for m in quote.measurements if m.name.startswith("SUM"))
    assert shown.sensitivity == 2 * 300 and rest.sensitivity == 300  # in one cell a swap moves within [0, 300]


def test_a_unit_moves_the_rest_by_no_more_than_its_rows_whatever_is_shown() -> None:
    """Oracle: every database of two units with two rows each in three groups, every set of groups that is shown."""
    places = list(product("xyz", repeat=2))

    def rest(units: Sequence[tuple[str, ...]], hidden: Sequence[str]) -> int:
        rows = [group for unit in units for group in unit]
        found = sorted(set(rows))
        raw = RawTable({"k0": found, "m0": [rows.count(group) for group in found]})
        (total,) = raw.total(["k0"], [(group,) for group in hidden], {"m0": "m0"}).column("m0")
        return int(total)

    moved = [
        abs(rest((one, other), hidden) - rest((other,), hidden))
        for size in range(4)
        for hidden in combinations("xyz", size)
        for one, other in product(places, repeat=2)
    ]
    assert max(moved) == 2  # N = 2


def test_nothing_is_foretold_of_how_many_are_hidden(session: Session) -> None:
    """The notes bear the names of columns, whose other rows are those of groups that appear."""
    sql = "SELECT town, COUNT(*) AS n FROM visits GROUP BY town"
    plain, both = (session.explain(sql, epsilon=0.1, rest=rest).notes for rest in (None, True))
    assert [note for note in both if "next to nothing" in note] == [note for note in plain if "next to nothing" in note]
    assert any(
        "is for one more row, of all groups that stay hidden: COUNT(*) of the rest ±2996." in note for note in both
    )
