"""Counts of joined rows: a join that leaves each unit all of its rows, or none, is like a whole table."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from dpsql.session import Session
from tests.unit.mechanisms.shop import policy, sessions

MADE = (
    "CREATE TABLE people AS SELECT i AS person, ['F', 'M'][1 + i % 2] AS sex FROM range(2000) AS t(i); "
    "CREATE TABLE visits AS SELECT i % 2000 AS person, ['Delft', 'Leiden'][1 + i % 2] AS town, 'x' AS note "
    "FROM range(5000) AS t(i);"
    "CREATE TABLE towns AS SELECT * FROM (VALUES ('Delft', 'ZH'), ('Leiden', 'ZH')) AS t(name, province)"
)
TABLES = """
  people:
    unit: person
    key: person
    rows_per_unit: 1
    columns:
      sex: {type: text, values: [F, M]}
  visits:
    unit: person
    rows_per_unit: 12
    columns:
      town: {type: text, values_from: towns.name}
      note: {type: text, values: [x], nullable: true}
  towns: {public: true, key: name}
"""


@pytest.fixture(scope="module")
def session(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Session]:
    yield from sessions(tmp_path_factory.mktemp("joins"), MADE, policy(TABLES))


@pytest.mark.parametrize(
    ("rows", "mechanism"),
    [
        ("visits", "laplace"),
        ("visits JOIN towns ON town = name", "laplace"),
        ("visits LEFT JOIN towns ON town = name", "laplace"),
        ("visits JOIN people USING (person)", "laplace"),
        ("people JOIN visits USING (person)", "laplace"),
        ("people LEFT JOIN visits USING (person)", "laplace"),
        ("visits JOIN people USING (person) JOIN towns ON town = name", "laplace"),
        ("visits WHERE town IS NOT NULL", "laplace"),
        ("visits GROUP BY ROLLUP (town)", "laplace"),
        ("visits JOIN people USING (person) GROUP BY CUBE (town, sex)", "laplace"),
        ("visits WHERE note IS NOT NULL", "clamped"),
        ("visits JOIN people USING (person) WHERE sex = 'F'", "clamped"),
        ("visits JOIN (SELECT * FROM towns WHERE province = 'ZH') AS t ON town = t.name", "clamped"),
        ("visits AS a JOIN visits AS b USING (person)", "clamped"),
    ],
)
def test_a_join_that_leaves_units_all_rows_or_none_is_counted_as_a_whole_table(
    session: Session, rows: str, mechanism: str
) -> None:
    quote = session.explain(f"SELECT COUNT(*) AS n FROM {rows}", epsilon=1)
    assert {column.mechanism for column in quote.columns} == {mechanism}
