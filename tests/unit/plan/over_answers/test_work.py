"""What is too much for an engine is refused when it is explained; what people ask is far below."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

import dpsql.testing
from dpsql.errors import EngineFailed, OperationalError, UnsupportedQuery
from dpsql.session import Session
from dpsql.testing import FixedSampler
from tests.sql.databases import build


@pytest.fixture(scope="module")
def session(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Session]:
    with dpsql.testing.open(build("hospital", tmp_path_factory.mktemp("work")), FixedSampler("work")) as proxy:
        yield proxy.session(analyst="ana")


def numbers(many: int, name: str) -> str:
    return f"UNNEST([{', '.join(map(str, range(many)))}]) AS {name}({name})"


def wide(column: str, many: int) -> list[str]:
    """Texts of 19,000 letters, each of its own."""
    return [f"replace(lpad({column}, 1000, 'y'), 'y', '{number:019}')" for number in range(many)]


LISTS = (
    f"{numbers(100, 'a')} CROSS JOIN {numbers(100, 'b')} CROSS JOIN {numbers(100, 'c')} CROSS JOIN {numbers(100, 'd')}"
)
OF_ONE = f"FROM patients CROSS JOIN {numbers(280, 'a')} CROSS JOIN {numbers(290, 'b')}"
BY_DAY = "FROM visits JOIN patients USING (patient_id) GROUP BY visited_on, sex"
STATES = (
    "cities a JOIN cities b ON a.state = b.state JOIN cities c ON a.state = c.state JOIN cities d ON a.state = d.state"
)

FULL = " AND ".join(f"{text} <> city" for text in wide("sex", 20))

HEAVY = [
    # the rows of one patient would take so long that a failure tells of them
    (f"SELECT COUNT(*) {OF_ONE} WHERE contains({wide('city', 1)[0]}, 'zz')", "one privacy unit may have 81,200 rows"),
    (f"SELECT AVG(length({wide('city', 1)[0]})) {OF_ONE}", "one privacy unit may have 81,200 rows"),
    (f"SELECT COUNT(*) {OF_ONE}", "8,120,000,000 rows together"),
    # public rows beside people's
    (f"SELECT COUNT(*) FROM patients WHERE age IN (SELECT a * b * c * d FROM {LISTS})", "100,000,000 rows together"),
    (f"SELECT COUNT(*) FROM patients JOIN (SELECT a * b * c * d AS k, COUNT(*) AS n FROM {LISTS} GROUP BY k) q "
     "ON q.k = age", "100,000,000 rows together"),
    (f"SELECT COUNT(*) FROM patients WHERE city IN (SELECT a.name FROM {STATES})", "rows together"),
    ("SELECT COUNT(*) FROM visits, cities a, cities b WHERE a.population < b.population", "beyond a million"),
    ("SELECT COUNT(*) FROM cities a, cities b, cities c, cities d", "rows together, and 2,000,000,000 are possible"),
    ("SELECT COUNT(*) FROM patients UNION ALL SELECT COUNT(*) FROM cities a, cities b, cities c, cities d", "possible"),
    # what reads no table, and costs nothing
    (f"WITH w AS (SELECT a FROM {numbers(90, 'a')}) SELECT lpad('a', 1000, 'b') AS x FROM w s, w t",
     "it reads no table"),
    (f"WITH w AS (SELECT a FROM {numbers(900, 'a')}) SELECT COUNT(*) FROM w s, w t, w u", "729,000,000 values"),
    (f"WITH w AS (SELECT a, lpad('a', 1000, 'b') AS x, COUNT(*) AS n FROM {numbers(90, 'a')} GROUP BY a) "
     "SELECT s.x FROM w s, w t", "it reads no table"),
    (f"SELECT {', '.join(wide('sex', 60))} FROM (SELECT 'x' AS sex)", "1,141,200 values and letters"),
    # texts of one row, of all groups, of several answers
    (f"SELECT COUNT(*) FROM patients WHERE {FULL}", "one row"),
    (f"SELECT COUNT(*) FROM visits UNION ALL SELECT COUNT(*) FROM patients WHERE {FULL}", "one row"),
    (f"SELECT COUNT(*) FROM patients WHERE age > (SELECT AVG(age) FROM patients WHERE {FULL})", "one row"),
    (f"SELECT sex, {', '.join(wide('sex', 20))}, COUNT(*) FROM patients GROUP BY sex", "one row"),
    (f"SELECT visited_on, {', '.join(wide('sex', 4))}, COUNT(*) {BY_DAY}", "texts of all groups"),
    (f"SELECT visited_on, COUNT(*), RANK() OVER (ORDER BY {', '.join(wide('sex', 4))}) {BY_DAY}", "texts of all"),
    (f"SELECT visited_on, {wide('sex', 1)[0]} AS t, COUNT(*) {BY_DAY} UNION ALL "
     f"SELECT visited_on, {wide('sex', 2)[1]} AS t, COUNT(*) {BY_DAY}", "texts of all groups"),
    (f"SELECT {', '.join(f'{t} AS t{i}' for i, t in enumerate(wide('diagnosis', 4)))}, COUNT(*) FROM visits "
     "GROUP BY t0, t1, t2, t3", "texts of all groups"),
    # values that are drawn among others, after the charge
    ("SELECT visited_on, APPROX_QUANTILES(cost, 100) FROM visits GROUP BY visited_on", "221,392 quantiles"),
    ("SELECT visited_on, age, MAX(cost) FROM visits JOIN patients USING (patient_id) GROUP BY ALL", "drawn|quantiles"),
]  # fmt: skip


@pytest.mark.every(2)
@pytest.mark.parametrize(("sql", "why"), HEAVY)
def test_what_is_too_much_is_refused_before_the_charge(session: Session, sql: str, why: str) -> None:
    for ask in (session.explain, session.query):
        with pytest.raises(UnsupportedQuery, match=why):
            ask(sql)
    assert session.budget().spent.rho == 0


@pytest.mark.parametrize(
    "sql",
    [
        f"SELECT COUNT(*) FROM patients CROSS JOIN {numbers(100, 'a')} CROSS JOIN {numbers(90, 'b')} WHERE age > a + b",
        f"SELECT COUNT(*) FROM visits CROSS JOIN {numbers(100, 'a')} WHERE cost > a",
        f"SELECT COUNT(*) FROM patients WHERE contains({wide('city', 1)[0]}, 'zz')",
        "SELECT upper(diagnosis) || ' (' || COUNT(*) || ')' AS d FROM visits GROUP BY diagnosis",
        f"SELECT sex, {', '.join(wide('sex', 4))}, COUNT(*) FROM patients GROUP BY sex",
        f"SELECT {wide('a.sex', 1)[0]} AS t, a.n FROM (SELECT sex, COUNT(*) AS n FROM patients GROUP BY sex) AS a "
        "JOIN (SELECT sex, AVG(age) AS m FROM patients GROUP BY sex) AS b USING (sex)",
        "SELECT COUNT(*) FROM patients WHERE city IN (SELECT a.name FROM cities a JOIN cities b ON a.state = b.state)",
        "SELECT COUNT(*) FROM visits CROSS JOIN cities WHERE cost > population",
        "SELECT COUNT(*) FROM cities a, cities b WHERE a.population > b.population",
    ],
)
def test_what_people_ask_is_possible(session: Session, sql: str) -> None:
    session.explain(sql)


def test_public_parts_are_found_before_the_charge(session: Session, monkeypatch: pytest.MonkeyPatch) -> None:
    engine, asked = session._backend.engine, list[str]()
    own = type(engine).run

    def fails(self: object, statement: object) -> object:
        if "cities" in statement.sql:  # type: ignore[attr-defined]  # a statement
            asked.append("public")
            raise EngineFailed
        asked.append("private")
        return own(self, statement)  # type: ignore[arg-type]  # the engine

    monkeypatch.setattr(type(engine), "run", fails)
    both = "SELECT (SELECT COUNT(*) FROM patients) AS n, (SELECT COUNT(*) FROM cities WHERE population > 7) AS m"
    with pytest.raises(OperationalError, match="Nothing was spent"):
        session.query(both)
    with pytest.raises(OperationalError, match="Nothing was spent"):
        session.query_all(["SELECT COUNT(*) FROM patients", "SELECT COUNT(*) FROM cities WHERE population > 7"])
    assert asked == ["public", "public"]
    assert session.budget().spent.rho == 0
