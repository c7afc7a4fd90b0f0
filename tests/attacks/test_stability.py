"""No relation moves further than its stability when one unit comes or goes, whatever it is made of."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import pytest
from hypothesis import HealthCheck, event, given, settings
from hypothesis import strategies as st

from dpsql.errors import UnsupportedQuery
from dpsql.plan.known.groups import most_groups, switches_of
from dpsql.plan.known.stability import rows_in_group, rows_per_unit
from dpsql.plan.nodes import Project
from dpsql.plan.plans import Key
from tests.attacks.random_rows import Drawn, sub_queries
from tests.attacks.relations import WORLDS, Tables, columns_of, planned, problems

CHECKS = [HealthCheck.too_slow, HealthCheck.filter_too_much, HealthCheck.function_scoped_fixture]

NUMBERED = "SELECT person, price, ROW_NUMBER() OVER (PARTITION BY person ORDER BY price DESC) AS r FROM items"
RELATIONS = {
    # one table
    "SELECT person, age FROM people": 1,
    "SELECT * FROM visits WHERE cost > 0 OR ward IS NULL": 3,
    "SELECT DISTINCT ward FROM visits": 3,
    "SELECT DISTINCT person, ward FROM visits": 3,
    "SELECT DISTINCT person FROM visits": 1,
    "SELECT DISTINCT i.person, i.price, n.grade FROM items i JOIN notes n USING (person)": 8,
    "SELECT DISTINCT v.person, p.town FROM visits v JOIN people p USING (person)": 1,
    "SELECT DISTINCT v.person, p.town FROM visits v LEFT JOIN people p ON v.person = p.person AND v.cost > 1": 2,
    "SELECT DISTINCT grade FROM notes WHERE grade IN (1, 2) AND grade > 0": 2,
    "SELECT DISTINCT person, cost > 1 AS dear, cost IS NULL AS unknown FROM visits": 3,
    # joins on the unit multiply, and those on a key of the unit do not
    "SELECT a.person FROM visits a JOIN visits b ON a.person = b.person": 9,
    "SELECT a.person FROM visits a JOIN notes b USING (person) JOIN people p USING (person)": 6,
    "SELECT a.person FROM visits a, notes b, items i WHERE a.person = b.person AND b.person = i.person": 24,
    "SELECT v.person, i.price FROM items i JOIN visits v ON v.visit = i.visit AND v.person = i.person": 4,
    "SELECT v.person, i.price FROM visits v JOIN items i USING (visit)": 4,
    "SELECT a.person FROM visits a JOIN visits b ON a.visit = b.visit": 3,
    "SELECT v.person FROM (SELECT person, cost / 2 AS half, ward FROM visits) v "
    "JOIN waves w ON v.person = w.person AND v.half = w.wave AND v.ward = w.part": 12,  # as reals: no key
    "SELECT a.person FROM waves a JOIN waves b ON a.person = b.person AND a.wave = b.wave AND a.part = b.part": 4,
    "SELECT a.person FROM waves a JOIN waves b USING (person, wave)": 16,
    "SELECT n.person FROM notes n LEFT JOIN waves w ON n.person = w.person AND n.grade = w.wave AND n.ward = w.part": 2,
    # conditions on a key of several columns
    "SELECT * FROM waves WHERE wave = 1": 2,
    "SELECT * FROM waves WHERE 1 = wave AND part = 'a' AND score > 0": 1,
    "SELECT * FROM waves WHERE wave IN (0, 1) AND part IN ('a', 'z')": 4,
    "SELECT * FROM waves WHERE wave = 1.0": 4,  # as a real
    "SELECT * FROM waves WHERE wave + 0 = 1": 4,
    "SELECT * FROM waves WHERE wave = 1 OR part = 'a'": 4,
    "SELECT * FROM waves WHERE (wave = 1 AND score > 0) OR wave = 1": 2,
    "SELECT * FROM waves WHERE wave = 1 AND person IN (SELECT person FROM notes)": 2,
    "SELECT * FROM waves WHERE person IN (SELECT person FROM notes) AND part = 'a'": 2,
    "SELECT a.person FROM waves a JOIN waves b USING (person) WHERE a.wave = 0 AND b.wave = 1": 4,
    "SELECT a.score - b.score AS more FROM waves a JOIN waves b USING (person) "
    "WHERE a.wave = 0 AND a.part = 'a' AND b.wave = 1 AND b.part = 'a'": 1,
    "SELECT n.grade FROM notes n LEFT JOIN waves w ON n.person = w.person WHERE w.wave = 1": 4,
    "SELECT w.score FROM waves w LEFT JOIN notes n ON n.person = w.person WHERE w.wave = 1 AND w.part = 'b'": 2,
    "SELECT w.score, z.kind FROM waves w JOIN zones z ON w.wave = z.zone WHERE w.wave = 1 AND w.part = 'b'": 3,
    "SELECT score FROM (SELECT * FROM waves WHERE wave = 1 UNION ALL SELECT * FROM waves WHERE part = 'a') u": 4,
    "SELECT * FROM (SELECT person, wave, part, score FROM waves) w WHERE wave = 1": 2,
    # a left join keeps what has no partner, beside all partners of one row
    "SELECT v.person, i.price FROM items i LEFT JOIN visits v ON v.visit = i.visit": 4,
    "SELECT v.person, i.price FROM visits v LEFT JOIN items i ON v.visit = i.visit": 6,
    "SELECT v.person, i.price FROM items i RIGHT JOIN visits v ON v.visit = i.visit AND i.price > 0": 6,
    "SELECT p.person FROM people p LEFT JOIN visits v ON v.person = p.person AND v.cost > 1": 3,
    "SELECT a.person FROM notes a LEFT JOIN visits b ON a.person = b.person": 6,
    "SELECT DISTINCT v.person, p.age FROM people p LEFT JOIN visits v ON v.person = p.person AND v.cost > 1": 1,
    "SELECT v.person FROM people p LEFT JOIN visits v ON v.person = p.person AND v.cost > 1 "
    "UNION ALL SELECT person FROM notes": 5,
    "SELECT p.person, v.ward FROM people p "
    "LEFT JOIN (SELECT * FROM visits WHERE person IN (SELECT person FROM notes)) v ON p.person = v.person": 3,
    # public tables count as often as their values do
    "SELECT p.person FROM people p JOIN towns t ON p.town = t.name": 1,
    "SELECT p.person FROM people p JOIN zones z ON p.age = z.zone": 3,
    "SELECT n.person FROM notes n LEFT JOIN zones z ON n.grade = z.zone AND z.kind = 'y'": 6,
    "SELECT p.person FROM people p JOIN towns t ON p.town = t.name JOIN zones z ON z.zone = t.zone": 3,
    "SELECT p.person FROM people p LEFT JOIN (SELECT t.name, z.kind FROM towns t JOIN zones z USING (zone)) x "
    "ON p.town = x.name": 3,
    # all of its rows where no columns are equal
    "SELECT p.person, z.kind FROM people p JOIN zones z ON p.age < z.zone": 6,
    "SELECT n.person, z.kind FROM notes n CROSS JOIN zones z": 12,
    "SELECT n.person, z.kind FROM notes n, zones z WHERE n.grade <= z.zone AND z.kind = 'x'": 12,
    "SELECT n.person, z.kind FROM notes n LEFT JOIN zones z ON n.grade <= z.zone": 12,
    "SELECT p.person, z.kind FROM towns t, people p, zones z WHERE p.age > t.zone AND z.zone = t.zone": 9,
    "SELECT v.person, v.ward, t.name FROM people p, towns t, visits v WHERE v.person = p.person AND v.cost > t.zone": 9,
    "SELECT p.person FROM people p, (SELECT DISTINCT zone FROM zones) z WHERE p.age < z.zone": 6,
    "SELECT person, COUNT(*) AS n FROM notes CROSS JOIN zones GROUP BY person": 1,
    # semi-joins decide over a unit's own rows
    "SELECT * FROM visits WHERE person NOT IN (SELECT person FROM notes WHERE grade = 0)": 3,
    "SELECT * FROM items WHERE visit IN (SELECT visit FROM visits WHERE cost > 0)": 4,
    "SELECT * FROM visits v WHERE EXISTS (SELECT 1 FROM notes n WHERE n.person = v.person AND n.grade < v.cost)": 3,
    "SELECT * FROM visits v WHERE NOT EXISTS (SELECT 1 FROM items i WHERE i.visit = v.visit)": 3,
    "SELECT * FROM people WHERE age NOT IN (SELECT zone FROM zones)": 1,
    "SELECT * FROM people p WHERE EXISTS (SELECT 1 FROM towns t WHERE t.zone < p.age)": 1,
    "SELECT * FROM people WHERE EXISTS (SELECT 1 FROM towns)": 1,
    # UNION ALL adds
    "SELECT person, cost AS x FROM visits UNION ALL SELECT person, grade FROM notes": 5,
    "SELECT cost AS x FROM visits UNION ALL SELECT cost FROM visits UNION ALL SELECT age FROM people": 7,
    # totals per unit
    "SELECT person, SUM(cost) AS total FROM visits GROUP BY person HAVING COUNT(*) > 1": 1,
    "SELECT person, ward, COUNT(*) AS n FROM visits GROUP BY person, ward": 3,
    "SELECT visit, COUNT(*) AS n, AVG(price) AS mean FROM items GROUP BY visit": 4,
    "SELECT v.person, v.cost FROM visits v JOIN (SELECT person, AVG(cost) AS mean FROM visits GROUP BY person) m "
    "ON v.person = m.person WHERE v.cost >= m.mean": 3,
    "WITH w AS (SELECT person, ward, COUNT(*) AS n FROM visits GROUP BY person, ward) "
    "SELECT a.person FROM w a JOIN w b ON a.person = b.person AND a.n <= b.n": 9,
    # windows over a unit's rows keep them, and conditions on their numbers leave some
    "SELECT person, cost - LAG(cost) OVER (PARTITION BY person ORDER BY visit) AS more FROM visits": 3,
    f"SELECT * FROM ({NUMBERED}) n WHERE r = 1": 1,
    f"SELECT * FROM ({NUMBERED}) n WHERE r IN (2, 1) AND price > 0": 2,
    f"SELECT * FROM ({NUMBERED}) n WHERE r <= 3": 3,
    f"SELECT * FROM ({NUMBERED}) n WHERE r BETWEEN 1 AND 2 AND price IS NOT NULL": 2,
    f"SELECT * FROM ({NUMBERED}) n WHERE 2 = r OR r = 1": 2,
    f"SELECT * FROM ({NUMBERED}) n WHERE r < 1": 1,
    f"SELECT * FROM ({NUMBERED}) n WHERE r >= 2": 3,
    f"SELECT * FROM ({NUMBERED}) n WHERE 2 >= r": 2,
    f"SELECT * FROM ({NUMBERED}) n WHERE NOT (r > 2)": 2,
    f"SELECT * FROM ({NUMBERED}) n WHERE NOT (r < 2 OR r > 2)": 1,
    f"SELECT * FROM ({NUMBERED}) n WHERE r BETWEEN 1 AND 2": 2,
    f"SELECT * FROM ({NUMBERED}) n WHERE r BETWEEN 2 AND 3": 2,
    f"SELECT * FROM ({NUMBERED}) n WHERE r IN (1, 3)": 2,
    f"SELECT * FROM ({NUMBERED}) n WHERE r < 2 OR r = 3": 3,
    f"SELECT * FROM ({NUMBERED}) n WHERE r <= 2.5": 2,
    f"SELECT * FROM ({NUMBERED}) n WHERE r <> 1": 4,
    f"SELECT * FROM ({NUMBERED}) n WHERE r <= 1 OR price > 0": 4,
    f"SELECT * FROM ({NUMBERED}) n WHERE NOT (r > 2 AND price > 0)": 4,
    f"SELECT * FROM ({NUMBERED}) n WHERE r <= price": 4,
    f"SELECT * FROM ({NUMBERED}) n WHERE (r <= 2) IS NOT FALSE": 4,
    f"SELECT * FROM ({NUMBERED}) n WHERE r + 0 = 1": 4,
    f"SELECT v.person FROM ({NUMBERED}) n JOIN visits v USING (person) WHERE r = 2": 3,
    f"SELECT v.person FROM visits v LEFT JOIN ({NUMBERED}) n ON n.person = v.person AND n.r = 2": 12,
    f"SELECT v.person FROM visits v LEFT JOIN ({NUMBERED}) n ON n.person = v.person WHERE n.r = 2": 3,
    f"SELECT * FROM ({NUMBERED} UNION ALL {NUMBERED}) n WHERE r = 1": 8,
    f"SELECT DISTINCT person, price FROM ({NUMBERED}) n WHERE r <= 2": 2,
    "SELECT * FROM (SELECT person, RANK() OVER (PARTITION BY person ORDER BY price) AS r FROM items) n WHERE r = 1": 4,
    "SELECT * FROM (SELECT person, ROW_NUMBER() OVER (PARTITION BY wave, person ORDER BY score) AS r FROM waves) w "
    "WHERE r = 1": 3,
    "SELECT * FROM (SELECT person, ROW_NUMBER() OVER (PARTITION BY visit ORDER BY price) AS r FROM items) n "
    "WHERE r = 1": 4,
    "SELECT * FROM (SELECT person, ROW_NUMBER() OVER (PARTITION BY person, score > 1 ORDER BY wave) AS r FROM waves) w "
    "WHERE r = 1": 3,
    "SELECT * FROM (SELECT a.cost, ROW_NUMBER() OVER (PARTITION BY a.person, b.person ORDER BY a.cost) AS r "
    "FROM visits a LEFT JOIN visits b ON a.person = b.person AND a.visit = b.visit AND b.cost > 0) x WHERE r = 1": 2,
    "SELECT * FROM (SELECT n.person, z.kind, ROW_NUMBER() OVER (PARTITION BY n.person ORDER BY z.zone) AS r "
    "FROM notes n CROSS JOIN zones z) x WHERE r <= 5": 5,
    "SELECT * FROM (SELECT person, n, ROW_NUMBER() OVER (PARTITION BY person ORDER BY n) AS r FROM "
    "(SELECT person, ward, COUNT(*) AS n FROM visits GROUP BY person, ward) w) x WHERE r = 1": 1,
}
"""Sub-queries, and how many rows one unit may move in each."""


VARIANTS = {
    # a column of one row a unit, and what is worked out from it
    "SELECT age, town FROM people": (1, 1),
    "SELECT age + 1 AS older, CASE WHEN age > 1 THEN town END AS where_from FROM people WHERE age IS NOT NULL": (1, 1),
    "SELECT cost, ward FROM visits": (None, None),
    "SELECT n.ward, p.town FROM notes n JOIN people p USING (person)": (None, 1),
    "SELECT p.town, x.ward FROM people p JOIN (SELECT DISTINCT person, ward FROM notes) x USING (person)": (1, None),
    "SELECT DISTINCT p.town, n.ward FROM people p JOIN notes n USING (person)": (1, None),
    # a left join: its partners are all a unit's rows', or only some of them's
    "SELECT p.town FROM visits v LEFT JOIN people p ON v.person = p.person": (1,),
    "SELECT p.town FROM visits v LEFT JOIN people p ON v.person = p.person AND p.age > 1": (1,),
    "SELECT p.town, p.age FROM visits v LEFT JOIN people p ON v.person = p.person AND v.cost > 1": (2, 2),
    "SELECT p.age, v.ward FROM people p LEFT JOIN visits v ON v.person = p.person AND v.cost > p.age": (1, None),
    "SELECT q.town FROM people p LEFT JOIN people q ON p.person = q.person AND p.age > q.age": (1,),
    "SELECT p.town, i.total FROM items i0 LEFT JOIN people p ON i0.person = p.person AND i0.price > 0 "
    "LEFT JOIN (SELECT person, SUM(price) AS total FROM items GROUP BY person) i "
    "ON i0.person = i.person AND i0.price > 1": (2, 2),
    "SELECT p.town || q.town AS mixed FROM notes n LEFT JOIN people p ON n.person = p.person AND n.grade > 0 "
    "LEFT JOIN people q ON n.person = q.person AND n.grade > 1": (4,),
    "SELECT q.town FROM notes n LEFT JOIN people p ON n.person = p.person AND n.grade > 0 "
    "LEFT JOIN people q ON p.person = q.person AND p.age < 3": (2,),
    # totals of one unit
    "SELECT COUNT(*) AS n, MAX(cost) AS most FROM visits GROUP BY person": (1, 1),
    "SELECT ward, COUNT(*) AS n FROM visits GROUP BY person, ward": (None, None),
    "SELECT town, COUNT(*) AS n FROM visits JOIN people USING (person) GROUP BY person, town": (1, 1),
    # a window sees other rows of the unit
    "SELECT town, COUNT(*) OVER (PARTITION BY person) AS n FROM people": (1, None),
    "SELECT p.town, LAG(p.town) OVER (PARTITION BY p.person ORDER BY z.kind) AS t FROM people p, zones z": (1, None),
    # UNION ALL
    "SELECT person, age, 'p' AS source, 1 AS one FROM people UNION ALL SELECT person, age, 'q', 1 FROM people":
        (1, None, None, 1),
    # public tables: one partner at most, by what a row itself determines
    "SELECT t.zone FROM people p JOIN towns t ON p.town = t.name": (1,),
    "SELECT t.zone FROM notes n JOIN people p USING (person) LEFT JOIN towns t ON p.town = t.name": (1,),
    "SELECT t.zone FROM notes n JOIN people p USING (person) "
    "LEFT JOIN towns t ON p.town = t.name AND n.grade > 0": (2,),
    "SELECT z.kind FROM people p JOIN zones z ON p.age = z.zone": (None,),
    "SELECT t.zone FROM visits v JOIN towns t ON v.ward = t.name": (None,),
}  # fmt: skip
"""Sub-queries, and how many values of each column one unit's rows can have; None where nothing is known."""


@pytest.fixture(scope="module")
def tables() -> Iterator[Tables]:
    tables = Tables()
    yield tables
    tables.close()


STEPS = pytest.mark.parametrize("step", [3, pytest.param(1, marks=pytest.mark.slow)])
"""Every third world, and all of them."""


@pytest.mark.every(2)
@STEPS
@pytest.mark.parametrize("sql", RELATIONS)
def test_a_relation_moves_as_far_as_its_stability_at_most(tables: Tables, sql: str, step: int) -> None:
    relation = planned(sql)
    assert rows_per_unit(relation) == RELATIONS[sql]
    assert [found for world in range(0, WORLDS, step) for found in problems(tables, relation, world)] == []


@pytest.mark.slow
def test_most_stabilities_are_reached(tables: Tables) -> None:
    # A stability that no unit ever reaches would hide one that is too small.
    reached = 0
    for sql, most in RELATIONS.items():
        relation = planned(sql)
        moved = [(tables.rows(relation, w) - tables.rows(relation, w, 1)).total() for w in range(WORLDS)]
        reached += max(moved) == most
    assert reached >= 24


@pytest.mark.every(2)
@STEPS
@pytest.mark.parametrize("sql", VARIANTS)
def test_a_unit_has_as_many_values_of_a_column_as_its_switches_allow(tables: Tables, sql: str, step: int) -> None:
    relation = planned(f"SELECT DISTINCT * FROM ({sql}) AS rows")
    found = [switches_of(relation, column) for column in columns_of(relation)]
    assert tuple(None if own is None else 2 ** len(own) for own in found) == VARIANTS[sql]
    assert [problem for world in range(0, WORLDS, step) for problem in problems(tables, relation, world)] == []


KEYED = {
    "SELECT * FROM waves": {"wave, part": 1, "wave": 2, "part": 2, "score": 4, "part, wave, score": 1},
    "SELECT * FROM waves WHERE score > 0": {"wave, part": 1, "wave": 2, "score": 4},
    "SELECT w.wave, w.part, p.age FROM waves w LEFT JOIN people p USING (person)": {"wave, part": 1},
    # of the rows of a public side that one row meets, those with the value
    "SELECT n.grade, t.name, t.zone FROM notes n CROSS JOIN towns t":
        {"name": 2, "zone": 4, "zone, name": 2, "grade": 6},
    "SELECT n.grade, z.zone, z.kind FROM notes n JOIN zones z ON n.grade < z.zone": {"kind": 6, "zone": 12},
    "SELECT n.grade, t.name, z.kind FROM notes n, towns t, zones z WHERE n.grade < t.zone AND t.zone = z.zone":
        {"name": 6, "kind": 18, "name, kind": 6},
    "SELECT w.wave, w.part, t.name FROM waves w JOIN towns t ON w.part >= t.name":
        {"name": 4, "wave, part": 3, "wave, part, name": 1},
    "SELECT n.grade, t.name FROM notes n LEFT JOIN towns t ON n.grade < t.zone": {"name": 2, "grade": 6},
}  # fmt: skip
"""Rows under a key of several columns, or beside public ones, and how many of one unit share values of some at most."""


@pytest.mark.parametrize("sql", KEYED)
def test_rows_of_a_unit_that_share_a_value_are_as_many_as_the_key_of_several_columns_allows(
    tables: Tables, sql: str
) -> None:
    relation = planned(f"SELECT * FROM ({sql}) AS rows")
    inner = relation.input if isinstance(relation, Project) and not relation.distinct else relation
    columns = columns_of(inner)
    for names, most in KEYED[sql].items():
        keys = [column for column in columns if column.name in names.split(", ")]
        assert rows_in_group(inner, keys) == most, names
        places = [at + 1 for at, column in enumerate(columns) if column.name in names.split(", ")]
        for world in range(WORLDS):
            rows = tables.rows(inner, world).elements()
            shared = Counter((row[0], *(row[at] for at in places)) for row in rows)
            assert max(shared.values(), default=0) <= most


def test_two_left_joins_are_two_switches_and_one_counts_once() -> None:
    sql = next(sql for sql in VARIANTS if "mixed" in sql)
    relation = planned(sql.replace("p.town || q.town AS mixed", "p.town, p.age, q.town AS other"))
    names = {f"k{at}": (column, ("a", "b", "c", None)) for at, column in enumerate(columns_of(relation))}
    every = [Key(name, column, domain) for name, (column, domain) in names.items() if column.name in ("town", "age")]
    assert most_groups(relation, every[:2]) == 2
    assert most_groups(relation, every) == 4


def check(tables: Tables, drawn: Drawn, worlds: list[int]) -> None:
    try:
        relation = planned(drawn.sql)
    except UnsupportedQuery as refused:
        event(f"refused: {refused.construct}")
        return
    event("accepted")
    for world in worlds:
        assert problems(tables, relation, world) == [], (world, drawn.sql)


SOME = st.integers(1, WORLDS - 1)


@given(sub_queries(), SOME)
@settings(deadline=None, database=None, suppress_health_check=CHECKS)
def test_no_unit_moves_more_rows_than_the_stability_of_random_relations(
    tables: Tables, drawn: Drawn, world: int
) -> None:
    check(tables, drawn, [0, world])


@pytest.mark.slow
@given(sub_queries(4), SOME, SOME)
@settings(max_examples=2000, deadline=None, database=None, suppress_health_check=CHECKS)
def test_no_unit_moves_more_rows_than_the_stability_of_many_more(
    tables: Tables, drawn: Drawn, one: int, two: int
) -> None:
    check(tables, drawn, [0, one, two])


@pytest.mark.parametrize(
    "sql",
    [
        # rows of several people would be one
        "SELECT v.person, COUNT(*) AS n FROM people p LEFT JOIN visits v ON v.person = p.person GROUP BY v.person",
        "SELECT * FROM people JOIN (SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward) w ON town = ward",
        # one person's rows would depend on another's
        "SELECT a.person FROM visits a JOIN visits b ON a.ward = b.ward",
        "SELECT a.person FROM visits a LEFT JOIN visits b ON a.ward = b.ward",
        "SELECT t.zone FROM towns t LEFT JOIN people p ON p.town = t.name",
        "SELECT a.person FROM visits a JOIN towns t ON a.ward = t.name JOIN people p ON p.town = t.name",
        "SELECT * FROM visits WHERE ward IN (SELECT ward FROM notes)",
        "SELECT * FROM visits v WHERE EXISTS (SELECT 1 FROM notes n WHERE n.ward = v.ward)",
        "SELECT * FROM visits v WHERE EXISTS (SELECT 1 FROM notes a JOIN notes b USING (person) WHERE a.ward = v.ward)",
        "SELECT * FROM visits v WHERE EXISTS (SELECT 1 FROM notes n WHERE n.person = v.person OR n.grade > 0)",
        "SELECT * FROM towns t WHERE EXISTS (SELECT 1 FROM people p WHERE p.town = t.name)",
        "SELECT a.ward FROM (SELECT DISTINCT ward FROM visits) a JOIN notes b ON a.ward = b.ward",
        "SELECT ward FROM visits UNION SELECT ward FROM notes",
        "SELECT person FROM visits UNION ALL SELECT zone FROM towns",
        # what names a person would no longer be known for it
        "SELECT DISTINCT CASE WHEN age > 1 THEN person END AS x, age FROM people",
        "SELECT CASE WHEN COUNT(*) > 1 THEN person END AS x FROM visits GROUP BY person",
    ],
)
def test_rows_that_depend_on_others_are_refused(sql: str) -> None:
    with pytest.raises(UnsupportedQuery):
        planned(sql)
