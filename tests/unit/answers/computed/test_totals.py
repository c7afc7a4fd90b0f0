"""Windows and sub-queries as values have intervals that follow from those of the rows they read.

Here noise may decide which rows there are, so that all rows are taken at once; `test_linear` has the others.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest

import dpsql
import dpsql.testing
from tests.sql.databases import build

COUNTED = "SELECT sector, COUNT(*) AS n FROM jobs GROUP BY sector"
PICKED = f"{COUNTED} HAVING COUNT(*) > -9999"  # by noised numbers, though all of them
SECTORS = 3  # that the policy declares


@pytest.fixture(scope="module")
def session(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dpsql.Session]:
    with dpsql.testing.open(build("census", tmp_path_factory.mktemp("totals")), dpsql.testing.Noiseless()) as proxy:
        yield proxy.session(analyst="ana")


@pytest.fixture
def ends(session: dpsql.Session) -> list[tuple[float, float]]:
    """The counts' intervals that hold all at once 95 times of 100."""
    found = session.query(f"{COUNTED} ORDER BY sector", epsilon=0.1).interval("n", 1 - 0.05 / SECTORS)
    return [(low, high) for low, high in found if low is not None and high is not None]


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT sector, SUM(COUNT(*)) OVER () AS total FROM jobs GROUP BY sector HAVING COUNT(*) > -9999",
        f"SELECT sector, SUM(n) OVER () AS total FROM ({PICKED})",
        f"WITH a AS ({PICKED}) SELECT sector, (SELECT SUM(n) FROM a) AS total FROM a",
    ],
)
def test_a_total_lies_between_the_totals_of_the_ends(
    session: dpsql.Session, ends: list[tuple[float, float]], sql: str
) -> None:
    whole = tuple(sum(side) for side in zip(*ends, strict=True))
    found = session.query(sql, epsilon=0.1).interval("total")
    assert found == [pytest.approx(whole, abs=4)] * SECTORS  # counts' own ends are rounded inwards to whole numbers


def test_running_sums_and_neighbours_read_the_rows_before(
    session: dpsql.Session, ends: list[tuple[float, float]]
) -> None:
    answer = session.query(
        "SELECT sector, SUM(COUNT(*)) OVER (ORDER BY sector) AS running, "
        "LAG(COUNT(*)) OVER (ORDER BY sector) AS before FROM jobs GROUP BY sector HAVING COUNT(*) > -9999 "
        "ORDER BY sector",
        epsilon=0.1,
    )
    sums = [tuple(sum(side) for side in zip(*ends[: at + 1], strict=True)) for at in range(SECTORS)]
    assert answer.interval("running") == [pytest.approx(pair, abs=4) for pair in sums]
    assert answer.interval("before") == [(None, None), *(pytest.approx(pair, abs=1) for pair in ends[:-1])]


def test_a_share_holds_the_truth_and_is_shown_beside_its_error(session: dpsql.Session) -> None:
    answer = session.query("SELECT sector, COUNT(*) / SUM(COUNT(*)) OVER () AS share FROM jobs GROUP BY sector")
    for (_, share), (low, high) in zip(answer.rows, answer.interval("share"), strict=True):
        assert low is not None and high is not None and low < share < high
    assert "± ?" not in str(answer)


def test_ranks_and_totals_of_groups_of_rows_have_no_interval(session: dpsql.Session) -> None:
    answer = session.query("SELECT sector, RANK() OVER (ORDER BY COUNT(*)) AS place FROM jobs GROUP BY sector")
    assert answer.interval("place") == [(None, None)] * SECTORS
    answer = session.query(f"SELECT SUM(n) AS s, MAX(SUM(n)) OVER () AS m FROM ({COUNTED}) GROUP BY sector")
    assert answer.interval("m") == [(None, None)] * SECTORS


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT SUM(n) OVER (PARTITION BY n > {}) AS x FROM t",
        "SELECT SUM(length(sector)) OVER (PARTITION BY big) AS x FROM (SELECT *, n > {} AS big FROM t)",
        "SELECT MAX(n) OVER (ORDER BY n) AS x FROM t",
        "SELECT AVG(n) OVER (ORDER BY n ROWS 1 PRECEDING) AS x FROM t",
        "SELECT n - LAG(n, 1, 0) OVER (ORDER BY n) AS x FROM t",
        "SELECT (SELECT SUM(n) FROM t WHERE n > {}) AS x FROM t",
    ],
)
def test_where_noise_decides_which_rows_are_read_there_is_no_interval(
    session: dpsql.Session, ends: list[tuple[float, float]], sql: str
) -> None:
    # That of the rows that are read by chance would be of other rows than those that the truth reads.
    asked = f"WITH t AS ({COUNTED}) {sql.format(round(sum(ends[0]) / 2))}"
    assert session.query(asked, epsilon=0.1).interval("x") == [(None, None)] * SECTORS
    (foretold,) = (own for own in session.explain(asked, epsilon=0.1).columns if own.name == "x")
    assert foretold.error == "not foretold: over several rows"


def test_where_all_rows_are_read_their_order_is_nothing_to_the_interval(session: dpsql.Session) -> None:
    whole = "SUM(n) OVER (ORDER BY n ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING)"
    answers = [
        session.query(f"WITH t AS ({COUNTED}) SELECT {own} AS x FROM t", epsilon=0.1)
        for own in (whole, "SUM(n) OVER ()")
    ]
    assert answers[0].interval("x") == answers[1].interval("x") != [(None, None)] * SECTORS


def test_a_total_of_what_may_be_null_has_no_interval(session: dpsql.Session, ends: list[tuple[float, float]]) -> None:
    middle = round(sum(ends[0]) / 2)
    kept = (
        f"SUM(CASE WHEN n > {middle} THEN n END) OVER ()"  # of a row whose count may be below it, nothing may be added
    )
    assert session.query(f"SELECT {kept} AS s FROM ({COUNTED})", epsilon=0.1).interval("s") == [(None, None)] * SECTORS
    kept = f"SUM(CASE WHEN n > {middle} THEN n ELSE 0 END) OVER ()"
    assert None not in session.query(f"SELECT {kept} AS s FROM ({COUNTED})", epsilon=0.1).interval("s")[0]
    kept = f"SUM(GREATEST(n, {middle})) OVER ()"
    (low, _), *_ = session.query(f"SELECT {kept} AS s FROM ({COUNTED})", epsilon=0.1).interval("s")
    assert low == pytest.approx(sum(max(own, middle) for own, _ in ends), abs=4)


def test_a_window_over_keys_alone_is_exact(session: dpsql.Session) -> None:
    answer = session.query(
        "SELECT sector, COUNT(*) AS n, ROW_NUMBER() OVER (ORDER BY sector) AS k FROM jobs GROUP BY 1"
    )
    with pytest.raises(dpsql.ProgrammingError, match="holds no noise"):
        answer.interval("k")


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT COUNT(*) AS x FROM t WHERE n > {}",
        "SELECT SUM(length(sector)) + 1 AS x FROM (SELECT sector FROM t ORDER BY n LIMIT 2)",
        "SELECT x * 2 AS x FROM (SELECT n > {} AS big, COUNT(*) AS x FROM t GROUP BY 1) LIMIT 1",
        "SELECT SUM(n) AS x FROM t NATURAL JOIN t AS u WHERE n > {}",
        "SELECT COUNT(*) AS x FROM t NATURAL JOIN t AS u WHERE n > {}",
        "SELECT SUM(n) AS x FROM (SELECT * FROM t UNION ALL SELECT * FROM t) WHERE n > {}",
        "SELECT COUNT(*) AS x FROM (SELECT * FROM t ORDER BY n LIMIT 2) AS s NATURAL JOIN (SELECT sector FROM t) AS u",
    ],
)
def test_what_counts_rows_that_noise_chose_is_not_shown_as_exact(
    session: dpsql.Session, ends: list[tuple[float, float]], sql: str
) -> None:
    asked = f"WITH t AS ({COUNTED}) {sql.format(round(sum(ends[0]) / 2))}"
    answer = session.query(asked, epsilon=0.1)
    assert answer.interval("x") == [(None, None)]
    assert "± ?" in str(answer)


def test_what_counts_rows_that_are_public_is_exact(session: dpsql.Session) -> None:
    answer = session.query(f"SELECT COUNT(*) AS x FROM ({COUNTED}) WHERE sector <> 'farm'", epsilon=0.1)
    assert not answer.ends(0)
    with pytest.raises(dpsql.ProgrammingError, match="holds no noise"):
        answer.interval("x")


def test_what_rows_are_grouped_by_has_no_interval_beside_it(session: dpsql.Session) -> None:
    answer = session.query(f"SELECT length(sector) AS x, SUM(n) AS n FROM ({COUNTED}) GROUP BY length(sector)")
    assert answer.with_intervals().columns == ("x", "n", "n_low", "n_high")
