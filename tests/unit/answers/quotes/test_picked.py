"""Rows that are kept for their own noised values: their intervals are as wide as the quote says."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

import dpsql.testing
from dpsql.session import Session
from tests.sql.databases import build


@pytest.fixture(scope="module")
def session(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Session]:
    with dpsql.testing.open(build("hospital", tmp_path_factory.mktemp("picked")), dpsql.testing.Noiseless()) as proxy:
        yield proxy.session(analyst="ana")


BY_AGE = "SELECT age, COUNT(*) AS n, COUNT(*) + 1 AS next FROM patients GROUP BY age"
LAPLACE = {"epsilon": 0.5, "mechanism": "laplace"}
GAUSSIAN = {"epsilon": 0.5, "mechanism": "gaussian", "delta": 1e-7}


def told_and_came(session: Session, sql: str, name: str, **options: Any) -> tuple[float, float]:
    """Half the width of an interval as it is told, and the widest that comes."""
    told = next(column.half_width for column in session.explain(sql, **options).columns if column.name == name)
    came = [(high - low) / 2 for low, high in session.query(sql, **options).interval(name)]
    return told, max(came)


@pytest.mark.parametrize("name", ["n", "next"])
@pytest.mark.parametrize(
    "sql",
    [
        f"{BY_AGE} ORDER BY n DESC LIMIT 3",
        f"SELECT * FROM ({BY_AGE}) AS t ORDER BY n LIMIT 20",
        f"SELECT * FROM ({BY_AGE} ORDER BY n LIMIT 60) AS t ORDER BY n DESC LIMIT 2",
        f"{BY_AGE} ORDER BY age LIMIT 3",
        f"{BY_AGE} ORDER BY n DESC LIMIT 1000",
    ],
)
def test_rows_that_are_kept_for_their_noise_are_told_with_the_intervals_that_they_have(
    session: Session, sql: str, name: str
) -> None:
    told, came = told_and_came(session, sql, name, **LAPLACE)
    assert came == pytest.approx(told, rel=0.1 if name == "next" else 1e-9)
    noted = any("Rows are kept for their noised COUNT(*), one of " in note for note in session.explain(sql).notes)
    assert noted == ("BY n" in sql and "1000" not in sql)


def test_noise_with_other_tails_is_told_by_its_own_law(session: Session) -> None:
    told, came = told_and_came(session, f"{BY_AGE} ORDER BY n DESC LIMIT 3", "n", **GAUSSIAN)
    assert came == pytest.approx(told)


def test_a_quantile_among_so_few_rows_has_its_bounds_for_an_interval(session: Session) -> None:
    sql = "SELECT age, MEDIAN(weight) AS m FROM patients GROUP BY age ORDER BY m DESC LIMIT 1"
    told, came = told_and_came(session, sql, "m", epsilon=5)
    assert told == pytest.approx((250 - 2) / 2) == came


def test_a_wanted_half_width_is_for_the_rows_that_are_kept(session: Session) -> None:
    plain, picked = (
        session.explain(sql, half_width={"n": 20}, mechanism="laplace").cost.epsilon
        for sql in (BY_AGE, f"{BY_AGE} ORDER BY n DESC LIMIT 1")
    )
    assert picked > 2 * plain


def test_that_having_widens_intervals_is_said(session: Session) -> None:
    said = "Where few rows are kept for their noised COUNT(*), its intervals are wider"
    assert any(said in note for note in session.explain(f"{BY_AGE} HAVING COUNT(*) > 9", epsilon=1).notes)
    assert not any(said in note for note in session.explain(f"{BY_AGE} HAVING age > 9", epsilon=1).notes)


def test_that_rows_of_several_answers_are_kept_for_their_noise_is_said(session: Session) -> None:
    both = "WITH a AS (SELECT age, COUNT(*) AS n FROM patients GROUP BY age), b AS (SELECT age, AVG(weight) AS w FROM "
    both += "patients GROUP BY age) SELECT age, n, w FROM a JOIN b USING (age)"
    for more, said in (("ORDER BY n DESC LIMIT 3", True), ("ORDER BY age LIMIT 3", False), ("WHERE n > 9", True)):
        notes = session.explain(f"{both} {more}").notes
        assert any("come out wider than what is told of each answer" in note for note in notes) is said
