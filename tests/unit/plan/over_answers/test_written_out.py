"""Queries over answers are refused where, written out, they are more than the passes after the release can walk."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

import dpsql.testing
from dpsql.errors import UnsupportedQuery
from dpsql.plan.nodes import Apply, Column
from dpsql.plan.over_answers.written_out import written_size
from dpsql.plan.types import Facts, Type
from dpsql.plan.values.applied import DEEPEST, MOST_PRINTED
from dpsql.plan.values.expressions import Resolver
from dpsql.session import Session
from tests.sql.databases import build

COUNTED = "SELECT sector, COUNT(*) AS n FROM jobs GROUP BY sector"
TWICE = "abs(n - n * 0.5)"
TOO_LARGE = "too large once everything in it is written out"


@pytest.fixture(scope="module")
def session(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Session]:
    with dpsql.testing.open(build("census", tmp_path_factory.mktemp("out")), dpsql.testing.Noiseless()) as proxy:
        yield proxy.session(analyst="ana")


def chain(times: int, expression: str, last: str = "SELECT sector, n") -> str:
    """A query over an answer over an answer ..., each an expression of the one before."""
    named = [f"c0 AS ({COUNTED})"]
    named += [f"c{i} AS (SELECT sector, {expression} AS n FROM c{i - 1})" for i in range(1, times + 1)]
    return f"WITH {', '.join(named)} {last} FROM c{times}"


@pytest.mark.every(2)
@pytest.mark.parametrize(
    "sql",
    [
        chain(11, TWICE),
        chain(30, TWICE),
        chain(11, TWICE, "SELECT sector") + " WHERE n > 3",
        chain(11, TWICE, "SELECT sector") + " ORDER BY n LIMIT 1",
        chain(11, TWICE, "SELECT SUM(n) AS s"),
        chain(18, "abs(" * 20 + "n" + ")" * 20),
        chain(18, "abs(" * 20 + "n" + ")" * 20, "SELECT sector, SUM(n) AS n") + " GROUP BY sector",
        f"{chain(11, TWICE)} UNION ALL {COUNTED}",
        chain(11, TWICE, "SELECT sector, n / (SELECT COUNT(*) FROM jobs) AS n"),
    ],
)
def test_what_would_be_too_large_written_out_is_refused_before_anything_is_spent(session: Session, sql: str) -> None:
    spent = session.budget().spent
    with pytest.raises(UnsupportedQuery, match=TOO_LARGE):
        session.explain(sql)
    with pytest.raises(UnsupportedQuery, match=TOO_LARGE):
        session.query(sql, epsilon=0.1)
    assert session.budget().spent == spent


@pytest.mark.parametrize("sql", [chain(7, TWICE), chain(7, "abs(" * 20 + "n" + ")" * 20), chain(20, "n / 2")])
def test_what_is_within_the_bounds_is_answered_with_its_interval(session: Session, sql: str) -> None:
    answer = session.query(sql, epsilon=0.1)
    assert all(low is not None for low, _ in answer.interval("n"))


def test_a_guard_that_names_its_argument_twice_does_not_multiply_over_queries(session: Session) -> None:
    assert len(session.query(chain(16, "7 / n"), epsilon=0.1).rows) == 3  # the worker reads one query inside another


def test_the_size_of_what_is_shared_is_measured_without_writing_it_out() -> None:
    whole = Resolver(lambda _: None, ()).apply(
        "+", (shared := Column("released", "a0", Facts(Type.REAL)), shared), None
    )
    assert isinstance(whole, Apply)
    for _ in range(100):
        whole = Apply(whole.function, (whole, whole), whole.facts)
    nodes, depth = written_size(whole, MOST_PRINTED)
    assert nodes == MOST_PRINTED + 1
    assert depth <= 102 < DEEPEST
