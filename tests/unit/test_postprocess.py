"""After the noise: rows that need no worker are those the worker gives, and derived domains are kept apart."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

import dpsql.testing
from dpsql.session import Session
from dpsql.testing import Noiseless
from examples import hospital

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def session(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Session]:
    home = tmp_path_factory.mktemp("postprocess")
    shutil.copy(ROOT / "policies" / "hospital.yaml", home)
    hospital.build(home / "hospital.duckdb", patients=200, visits=1000)
    with dpsql.testing.open(home / "hospital.yaml", Noiseless()) as proxy:
        yield proxy.session(analyst="ana")


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT sex, COUNT(*), SUM(age), AVG(age) FROM patients GROUP BY sex",
        "SELECT visited_on, COUNT(*), SUM(cost) FROM visits GROUP BY visited_on",
        "SELECT floor(age / 10), age > 18, COUNT(*), COUNT(*) AS again FROM patients GROUP BY 1, 2",
        "SELECT date_trunc('year', visited_on), AVG(cost) FROM visits GROUP BY 1",
        "SELECT SUM(weight) FROM patients",
    ],
)
def test_rows_that_need_no_work_are_those_that_the_worker_gives(session: Session, sql: str) -> None:
    bare = session.query(sql, epsilon=0.1).rows
    worked = session.query(f"{sql} LIMIT 100000", epsilon=0.1).rows  # LIMIT is the worker's business
    assert bare == worked
    assert [list(map(type, row)) for row in bare] == [list(map(type, row)) for row in worked]


def test_the_same_key_with_another_parameter_has_its_own_domain(session: Session) -> None:
    text = "SELECT floor(age / ?), COUNT(*) FROM patients GROUP BY 1"
    by_tens, by_fifties, again = (session.query(text, [width], epsilon=0.1).rows for width in (10, 50, 10))
    assert [row[0] for row in by_tens] == list(range(12))
    assert [row[0] for row in by_fifties] == [0, 1, 2]
    assert by_tens == again
