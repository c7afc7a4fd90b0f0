"""Reading synthetic tables: joins with public ones, intervals where they are proved, names that are one's own."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from itertools import combinations

import pytest

import dpsql
import dpsql.testing
from dpsql.errors import ProgrammingError, UnsupportedQuery
from dpsql.proxy import Proxy
from dpsql.session import Session
from tests.unit.releasing.test_creating import build, rows

AGES = [i * 37 % 90 for i in range(400)]


@pytest.fixture(scope="module")
def proxy(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Proxy]:
    with dpsql.testing.open(build(tmp_path_factory.mktemp("read")), sampler=dpsql.testing.Noiseless()) as found:
        yield found


@pytest.fixture(scope="module")
def session(proxy: Proxy) -> Session:
    session = proxy.session(analyst="ana")
    session.release("ages", "SELECT age, sex FROM people", epsilon=1, method="cells")
    session.release("tall", "SELECT age FROM people", epsilon=1, method="tree")
    session.release("cut", "SELECT age FROM people", epsilon=1, method="intervals")
    session.release("grid", "SELECT age, seen FROM people", epsilon=1, method="intervals")
    session.release("wide", "SELECT age, sex, seen FROM people", epsilon=1, method="marginals")
    session.release("plane", "SELECT age - 50 AS x, month(seen) - 1 AS y FROM people", epsilon=1, method="halfspaces")
    return session


def test_public_tables_and_synthetic_ones_are_joined_freely(session: Session) -> None:
    assert rows(session, "SELECT town, COUNT(*) FROM ages a JOIN towns t ON a.age = t.size GROUP BY town") == [
        ("here", AGES.count(7))
    ]
    both = session.query("SELECT COUNT(*) FROM ages a JOIN tall t ON a.age = t.age WHERE a.age < 3")
    assert both.rows[0][0] == sum(AGES.count(age) ** 2 for age in range(3))
    assert both.released_from == ("ages", "tall")
    assert rows(session, "SELECT COUNT(*) FROM tall t LEFT JOIN towns o ON o.size = t.age WHERE town IS NULL") == [
        (400 - AGES.count(7),)
    ]
    assert rows(session, "SELECT COUNT(*) FROM ages WHERE age IN (SELECT size FROM towns)") == [(AGES.count(7),)]
    with pytest.raises(UnsupportedQuery, match="visits holds people's"):
        session.query("SELECT COUNT(*) FROM visits v JOIN tall t ON v.cost = t.age")


@pytest.mark.parametrize("table", ["ages", "tall", "cut"])
def test_what_is_linear_has_the_interval_that_is_proved(session: Session, table: str) -> None:
    answer = session.query(f"SELECT COUNT(*) AS n FROM {table} WHERE age BETWEEN 20 AND 39")
    exact = sum(20 <= age <= 39 for age in AGES)
    (low, high), (shown,) = answer.interval("n")[0], answer.rows[0]
    assert low <= exact <= high
    assert low <= shown <= high
    assert "± is proved" in str(answer)
    if table != "cut":
        (narrow,) = answer.interval("n", confidence=0.5)
        assert high - low > narrow[1] - narrow[0] > 0


def test_sums_groups_and_picked_rows_have_intervals(session: Session) -> None:
    grouped = session.query("SELECT sex, COUNT(*) AS n, SUM(age) AS s FROM ages GROUP BY sex ORDER BY sex")
    for name, exact in (("n", [1] * 400), ("s", AGES)):
        for (sex, *_), (low, high) in zip(grouped.rows, grouped.interval(name), strict=True):
            assert low <= sum(x for i, x in enumerate(exact) if ("F", "M", None)[i % 3] == sex) <= high
    all_groups, picked = (
        session.query(f"SELECT age, COUNT(*) AS n FROM ages GROUP BY age ORDER BY n DESC, age{end}").interval("n")[0]
        for end in ("", " LIMIT 1")
    )
    assert picked[1] - picked[0] > all_groups[1] - all_groups[0]
    (half,) = session.query("SELECT COUNT(sex) AS n FROM ages").interval("n")
    assert half[0] < 266 < half[1]


def test_half_planes_are_between_what_they_hold_and_what_they_touch(session: Session) -> None:
    answer = session.query("SELECT COUNT(*) AS n FROM plane WHERE 2 * x + 3 * y > 0")
    ((low, high),) = answer.interval("n")
    assert low <= sum(age > 50 for age in AGES) <= high
    ((low, high),) = session.query("SELECT SUM(x) AS s FROM plane WHERE x > 0").interval("s")
    assert low <= sum(age - 50 for age in AGES if age > 50) <= high


@pytest.mark.parametrize("column", ["age", "sex", "month(seen)", "1"])
def test_what_marginals_measured_has_an_interval_and_nothing_else(session: Session, column: str) -> None:
    """Columns cut and not, and none at all; which pairs were measured is the mechanism's to choose."""
    answer = session.query(f"SELECT {column} AS k, COUNT(*) AS n, COUNT(sex) AS m FROM wide GROUP BY {column}")
    exact = (
        session.query(f"SELECT {column} AS k, COUNT(*) AS n FROM ages GROUP BY 1") if column != "month(seen)" else None
    )
    for row, (low, high) in zip(answer.rows, answer.interval("n"), strict=True):
        assert low <= row[1] <= high
        assert exact is None or low <= dict(exact.rows).get(row[0], 0) <= high


def test_pairs_of_marginals_have_an_interval_where_they_were_measured(session: Session) -> None:
    """Of three columns two pairs are measured."""
    held = []
    for one, other in combinations(("age < 40", "sex = 'F'", "seen < '2024-01-09'"), 2):
        answer = session.query(f"SELECT COUNT(*) AS n, SUM(age) AS s FROM wide WHERE {one} AND {other}")
        with suppress(ProgrammingError):
            ((low, high),) = answer.interval("n")
            assert low <= answer.rows[0][0] <= high
            held.append((one, other))
        if "age" in one and held[-1:] == [(one, other)]:
            assert answer.interval("s")
    assert len(held) == 2


def test_rectangles_are_between_the_boxes_they_hold_and_those_they_touch(session: Session) -> None:
    """Two ordered columns, cut in turn; what is asked of one of them is a rectangle, too."""
    assert rows(session, "SELECT COUNT(*), MIN(age) >= 0, MAX(age) <= 99 FROM grid") == [(400, True, True)]
    young, early = range(20, 50), range(15)
    for condition, ages, days in (
        ("age BETWEEN 20 AND 49 AND seen < '2024-01-16'", young, early),
        ("age BETWEEN 20 AND 49", young, range(31)),
    ):
        answer = session.query(f"SELECT COUNT(*) AS n FROM grid WHERE {condition}")
        ((low, high),) = answer.interval("n")
        assert low <= sum(age in ages and i % 31 in days for i, age in enumerate(AGES)) <= high
        assert low <= answer.rows[0][0] <= high


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT AVG(age) AS n FROM ages",
        "SELECT COUNT(*) AS n FROM wide WHERE age < 40 AND sex = 'F' AND seen < '2024-01-09'",
        "SELECT COUNT(DISTINCT age) AS n FROM ages",
        "SELECT COUNT(*) AS n FROM ages a JOIN towns t ON a.age = t.size",
        "SELECT COUNT(*) AS n FROM cut WHERE age IN (1, 5)",
        "SELECT COUNT(*) AS n FROM ages GROUP BY sex",
        "SELECT age AS n FROM ages",
    ],
)
def test_nothing_else_is_claimed(session: Session, sql: str) -> None:
    answer = session.query(sql)
    with pytest.raises(ProgrammingError, match="Nothing is proved of 'n'"):
        answer.interval("n")
    assert "of which nothing is proved here" in str(answer)


def test_a_name_that_is_none_is_told_ones_own(proxy: Proxy, session: Session) -> None:
    with pytest.raises(UnsupportedQuery, match="tall"):
        session.query("SELECT COUNT(*) FROM tell")
    with pytest.raises(UnsupportedQuery) as other:
        proxy.session(analyst="bob").query("SELECT COUNT(*) FROM tell")
    assert "tall" not in str(other.value)
