"""Most rows of joined answers, beside the rows that they really have: of listed keys, each has a row."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import replace

import pytest

import dpsql.testing
from dpsql.errors import UnsupportedQuery
from dpsql.limits import MOST_OPEN_GROUPS
from dpsql.plan.known.relations import column_of
from dpsql.plan.nodes import Join, Scan
from dpsql.plan.over_answers.joined_answers import most_joined
from dpsql.plan.over_answers.several import _table
from dpsql.plan.plans import AnyPlan, Plan, Several
from dpsql.plan.types import Type
from dpsql.session import Session
from dpsql.sql.parse import parse
from dpsql.sql.syntax import QueryStatement
from dpsql.testing import FixedSampler
from tests.sql.databases import build

ANSWERS = {
    "one": ("SELECT COUNT(*) AS n FROM patients", ()),
    "sexes": ("SELECT sex, COUNT(*) AS n FROM patients GROUP BY sex", ("sex",)),
    "both": ("SELECT sex, consent, COUNT(*) AS n FROM patients GROUP BY sex, consent", ("sex", "consent")),
    "few": ("SELECT sex, consent, COUNT(*) AS n FROM patients GROUP BY sex, consent LIMIT 4", ("sex", "consent")),
    "hidden": ("SELECT consent, COUNT(*) AS n FROM patients GROUP BY sex, consent", ("consent",)),
    "above": ("SELECT consent FROM (SELECT sex, consent, COUNT(*) AS n FROM patients GROUP BY sex, consent) "
              "WHERE n > -9e9 LIMIT 5", ("consent",)),
    "again": ("SELECT sex, MAX(n) AS n FROM (SELECT sex, consent, COUNT(*) AS n FROM patients GROUP BY sex, consent) "
              "GROUP BY sex", ("sex",)),
    "summed": ("SELECT sex, consent, COUNT(*) AS n FROM patients GROUP BY ROLLUP (sex, consent)", ("sex", "consent")),
    "chained": ("SELECT sex, COUNT(*) AS n FROM patients GROUP BY sex UNION ALL "
                "SELECT consent, COUNT(*) AS n FROM patients GROUP BY consent", ("sex",)),
    "places": ("SELECT city, COUNT(*) AS n FROM patients GROUP BY city", ("city",)),
    "cities": ("SELECT name AS city, population AS n FROM cities", ("city",)),
}  # fmt: skip


@pytest.fixture(scope="module")
def session(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Session]:
    policy = build("hospital", tmp_path_factory.mktemp("joined"))
    with dpsql.testing.open(policy, FixedSampler("joined")) as proxy:
        yield proxy.session(analyst="ana")


def planned(session: Session, sql: str) -> AnyPlan:
    statement = parse(sql)
    assert isinstance(statement, QueryStatement)
    return session._plan(statement.select, ())


def most(session: Session, sql: str) -> int:
    plan = planned(session, sql)
    assert isinstance(plan, Several)
    return most_joined(plan.after.relation, plan.parts)


def joined(rng: random.Random) -> str:
    """Two or three answers, each joined to one before it by some columns of the same name, or by none."""
    names = rng.choices([*ANSWERS], k=rng.choice((2, 2, 3)))
    text = f"FROM ({ANSWERS[names[0]][0]}) AS r0"
    for i, name in enumerate(names[1:], 1):
        before = rng.randrange(i)
        shared = [column for column in ANSWERS[name][1] if column in ANSWERS[names[before]][1]]
        by = rng.sample(shared, rng.randint(0, len(shared)))
        on = " AND ".join(f"r{before}.{column} = r{i}.{column}" for column in by)
        how = rng.choice(("JOIN", "LEFT JOIN")) if on else "CROSS JOIN"
        text += f" {how} ({ANSWERS[name][0]}) AS r{i}" + (f" ON {on}" if on else "")
    return f"SELECT * {text}"


@pytest.mark.every(2)
@pytest.mark.parametrize("turn", range(4))
def test_no_join_has_more_rows_and_many_have_as_many(session: Session, turn: int) -> None:
    rng, reached, asked = random.Random(turn), 0, 0
    while asked < 15:
        sql = joined(rng)
        try:
            bound = most(session, sql)
        except UnsupportedQuery:  # too many, or UNION ALL without a condition
            continue
        rows = len(session.query(sql, epsilon=0.001).rows)
        assert rows <= bound, sql
        asked, reached = asked + 1, reached + (rows == bound)
    assert reached >= asked // 3


OPEN = "SELECT diagnosis, sex, COUNT(*) AS n FROM visits JOIN patients USING (patient_id) GROUP BY diagnosis, sex"
AGES = "SELECT age, COUNT(*) AS n FROM patients GROUP BY age"
COSTS = "SELECT cost, COUNT(*) AS n FROM visits GROUP BY cost"
DIAGNOSES = "SELECT diagnosis, COUNT(*) AS n FROM visits GROUP BY diagnosis"


@pytest.mark.parametrize(
    ("sql", "rows"),
    [
        (f"FROM ({ANSWERS['both'][0]}) a CROSS JOIN ({ANSWERS['few'][0]}) b", 24),
        (f"FROM ({ANSWERS['both'][0]}) a JOIN ({ANSWERS['sexes'][0]}) b USING (sex)", 6),
        (f"FROM ({ANSWERS['sexes'][0]}) a LEFT JOIN ({ANSWERS['both'][0]}) b USING (sex)", 6),
        (f"FROM ({ANSWERS['few'][0]}) a JOIN ({ANSWERS['few'][0]}) b ON a.sex = b.sex", 8),
        (f"FROM ({ANSWERS['summed'][0]}) a JOIN ({ANSWERS['sexes'][0]}) b ON a.sex = b.sex", 10),
        (f"FROM ({ANSWERS['places'][0]}) a JOIN cities ON a.city = cities.name", "places"),
        (f"FROM ({OPEN}) a JOIN ({OPEN}) b ON a.sex = b.sex AND a.diagnosis = b.diagnosis", MOST_OPEN_GROUPS),
        (
            f"FROM ({OPEN}) a JOIN ({DIAGNOSES}) b USING (diagnosis) JOIN ({ANSWERS['sexes'][0]}) c USING (sex)",
            MOST_OPEN_GROUPS,
        ),
        (f"FROM ({DIAGNOSES}) a CROSS JOIN ({ANSWERS['one'][0]}) b", MOST_OPEN_GROUPS),
        (f"FROM ({DIAGNOSES} LIMIT 7) a CROSS JOIN ({ANSWERS['sexes'][0]}) b", 21),
    ],
)
def test_bounds_of_joins(session: Session, sql: str, rows: int | str) -> None:
    places = len(session._backend.catalog.tables["patients"].columns["city"].values or ())
    assert most(session, f"SELECT * {sql}") == (places if rows == "places" else rows)


@pytest.mark.parametrize(
    "sql",
    [
        f"FROM ({DIAGNOSES}) a CROSS JOIN ({ANSWERS['sexes'][0]}) b",
        f"FROM ({DIAGNOSES}) a JOIN ({DIAGNOSES}) b ON a.n = b.n",
        f"FROM ({AGES}) a JOIN ({COSTS}) b ON a.age = b.cost",
        f"FROM ({OPEN}) a JOIN ({OPEN}) b ON a.sex = b.sex",
        f"FROM ({OPEN}) a JOIN ({OPEN}) b ON a.diagnosis = b.diagnosis",
    ],
)
def test_what_may_have_too_many_is_refused(session: Session, sql: str) -> None:
    with pytest.raises(UnsupportedQuery, match="end a sub-query with LIMIT"):
        session.explain(f"SELECT * {sql}")


EARLIER = f"SELECT * FROM ({DIAGNOSES}) a WHERE {{}}EXISTS (SELECT 1 FROM ({DIAGNOSES}{{}}) b WHERE b.{{}} a.{{}})"


def test_exists_compares_no_more_pairs_than_can_be_compared(session: Session) -> None:
    with pytest.raises(UnsupportedQuery, match="it may compare 4,000,000,000,000 pairs of rows"):
        session.explain(EARLIER.format("", "", "n >", "n"))
    with pytest.raises(UnsupportedQuery, match="compare"):
        session.explain(EARLIER.format("NOT ", " LIMIT 51", "diagnosis <>", "diagnosis"))
    for sql in (
        EARLIER.format("", "", "n = 1 +", "n"),  # looked up
        EARLIER.format("NOT ", " LIMIT 50", "n <", "n"),
        EARLIER.format("", "", "diagnosis = a.diagnosis AND b.n >", "n"),
        f"SELECT * FROM ({DIAGNOSES}) a WHERE diagnosis NOT IN (SELECT diagnosis FROM ({DIAGNOSES}) AS b WHERE n > 9)",
    ):
        session.explain(sql)


def test_two_whole_numbers_may_equal_one_real_number(session: Session) -> None:
    plans = [planned(session, sql) for sql in (AGES, COSTS)]
    parts = [plan for plan in plans if isinstance(plan, Plan)]
    left, right = (Scan(_table(part, number), f"t{number}") for number, part in enumerate(parts))
    whole, real = column_of(left, "k0"), column_of(right, "k0")
    assert [whole.facts.type, real.facts.type] == [Type.INTEGER, Type.REAL]
    ages = most_joined(left, parts)
    assert most_joined(Join(left, right, ((whole, real),)), parts) == ages * MOST_OPEN_GROUPS
    same = replace(real, facts=whole.facts)
    assert most_joined(Join(left, right, ((whole, same),)), parts) == ages
