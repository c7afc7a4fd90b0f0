"""Rows of an answer that are chosen and grouped by keys: what adds them up has the interval of their noises."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

import pytest

import dpsql.testing
from dpsql.mechanisms.noise.laws import LaplaceLaw
from dpsql.mechanisms.noise.weighted import reach_of_sum
from dpsql.session import Session
from tests.sql.databases import build

LAPLACE = "WITH DIFFERENTIAL_PRIVACY OPTIONS (mechanism = 'laplace', epsilon = 1)"
T = f"WITH t AS (SELECT {LAPLACE} district, COUNT(*) AS n FROM people GROUP BY district)"  # districts 1 to 4
LAW = LaplaceLaw(Fraction(2))  # of one person replaced, who leaves one district for another


@pytest.fixture(scope="module")
def session(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Session]:
    with dpsql.testing.open(build("census", tmp_path_factory.mktemp("members")), dpsql.testing.Noiseless()) as proxy:
        yield proxy.session(analyst="ana")


def reach(count: int) -> float:
    return reach_of_sum(((LAW, 1.0, count),), 0.05)


CHOSEN = [
    ("SUM(n * 1.0) AS x FROM t WHERE district >= 3", [2]),
    ("SUM(n * 1.0) AS x FROM t WHERE district IN (1, 2, 4) AND NOT district = 2", [2]),
    ("SUM(n * 1.0) AS x FROM t WHERE sqrt(district) < 2", [3]),
    ("SUM(n * 1.0) AS x FROM (SELECT n, district % 2 AS odd FROM t) WHERE odd = 1", [2]),
    ("SUM(n * 1.0) AS x FROM (SELECT district, n FROM t ORDER BY district DESC LIMIT 3)", [3]),
    ("SUM(n * 1.0) AS x FROM t GROUP BY district < 4", [1, 3]),  # rows are known without their key, too
    ("district % 3 AS k, SUM(n * 1.0) AS x FROM t WHERE district > 1 GROUP BY 1 ORDER BY k", [1, 1, 1]),
    ("SUM(n * 1.0) FILTER (WHERE district BETWEEN 2 AND 4) AS x FROM t", [3]),
    ("SUM(n * 1.0) FILTER (WHERE district < 3 OR district = 4) AS x FROM t WHERE district > 1", [2]),
    ("SUM(CASE WHEN district > 2 THEN n * 1.0 END) AS x FROM t GROUP BY district = 1 ORDER BY district = 1", [2, None]),
    ("2 * x / 2 AS x FROM (SELECT SUM(n) AS x FROM t WHERE district <> 1)", [3]),
]


@pytest.mark.parametrize(("chosen", "counts"), CHOSEN)
def test_rows_that_keys_choose_have_the_interval_of_their_noises(
    session: Session, chosen: str, counts: list[int | None]
) -> None:
    answer = session.query(f"{T} SELECT {chosen}")
    for value, (low, high), count in zip(answer["x"], answer.interval("x"), counts, strict=True):
        if count is None:
            assert value is None and (low, high) == (None, None)
        else:
            assert low is not None and high is not None
            assert (low + high) / 2 == pytest.approx(value)
            assert (high - low) / 2 == pytest.approx(reach(count), rel=1e-6)


@pytest.mark.parametrize(("chosen", "counts"), CHOSEN)
def test_its_width_is_foretold(session: Session, chosen: str, counts: list[int | None]) -> None:
    (column,) = (own for own in session.explain(f"{T} SELECT {chosen}").columns if own.name == "x")
    assert column.half_width == pytest.approx(reach(max(own or 0 for own in counts)), rel=1e-6)


def test_of_means_the_widest_is_foretold(session: Session) -> None:
    quote = session.explain(f"{T} SELECT AVG(n) AS x FROM t WHERE district > 1 GROUP BY district = 2")
    (column,) = (own for own in quote.columns if own.name == "x")
    assert column.half_width == pytest.approx(reach(1), rel=1e-6)


@pytest.mark.parametrize(
    "chosen",
    [
        "SUM(n) AS x FROM t WHERE n > 10",
        "SUM(n) AS x FROM t WHERE district > 1 AND n > 10",
        "SUM(n) AS x FROM t WHERE n > (SELECT AVG(n) FROM t)",
        "SUM(n) AS x FROM t GROUP BY n > 10",
        "SUM(n) AS x FROM (SELECT n AS m, n FROM t) WHERE m > 10",
        "SUM(n) AS x FROM (SELECT district, n FROM t ORDER BY n LIMIT 3)",
        "SUM(n) FILTER (WHERE n > 125) AS x FROM t WHERE district > 1",
        "SUM(n) AS x FROM (SELECT n, ROW_NUMBER() OVER (ORDER BY n) AS r FROM t) WHERE r < 3",
    ],
)
def test_where_noise_chooses_rows_there_is_no_interval(session: Session, chosen: str) -> None:
    assert set(session.query(f"{T} SELECT {chosen}").interval("x")) == {(None, None)}
    (column,) = (own for own in session.explain(f"{T} SELECT {chosen}").columns if own.name == "x")
    assert column.said == "not foretold: over several rows"


def test_groups_of_which_the_noised_sum_decides_are_taken_at_the_level_of_picked_ones(session: Session) -> None:
    grouped = "SELECT district % 2 AS k, SUM(n) AS x FROM t WHERE district < 4 GROUP BY 1"
    every, kept = (session.query(f"{T} {grouped}{having}") for having in ("", " HAVING SUM(n) > -999"))
    assert every.rows == kept.rows
    for (low, high), (lower, higher) in zip(every.interval("x"), kept.interval("x"), strict=True):
        assert None not in (low, high, lower, higher)
        assert float(lower or 0) <= float(low or 0) < float(high or 0) <= float(higher or 0)
