"""Totals of ROLLUP, CUBE and GROUPING SETS: of the same rows as their parts, and no worse than each set alone."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest

import dpsql.testing
from dpsql.session import Session
from dpsql.testing_samplers import FixedSampler, Noiseless
from tests.connected import connected
from tests.unit.mechanisms.shop import policy

pytestmark = pytest.mark.chance(0, "noise is drawn from fixed words")

TABLES = """
  people:
    unit: person
    rows_per_unit: 1
    rows_about: 3441
    columns:
      sex: {type: text, values: [F, M, X]}
      smokes: {type: boolean}
      town: {type: text, values: [A, B], nullable: true}
      age: {type: integer, bounds: [0, 110]}
      weight: {type: real, bounds: [0, 200], grid: 0.1}
"""
PEOPLE = (
    "CREATE TABLE people AS SELECT i AS person, i % 111 AS age, ['F', 'M', 'X'][1 + i % 3] AS sex, "
    "i % 4 > 1 AS smokes, ['A', 'B', NULL][1 + i % 3] AS town, 40 + i % 97 / 10 AS weight FROM range(3441) AS t(i)"
)
BELIE = (
    "UPDATE people SET sex = CASE WHEN person % 7 = 0 THEN 'other' ELSE NULL END WHERE person % 3 = 0; "
    "UPDATE people SET smokes = NULL WHERE person % 5 = 0; UPDATE people SET age = NULL WHERE person % 11 = 0"
)
KEYS = ("sex", "smokes", "town", "age")


def home(folder: Path, *, belie: bool) -> Path:
    with connected(folder / "shop.duckdb") as connection:
        connection.execute(PEOPLE)
        if belie:
            connection.execute(BELIE)
    (folder / "shop.yaml").write_text(policy(TABLES))
    return folder / "shop.yaml"


@pytest.fixture(scope="module", params=[False, True], ids=["as declared", "data belie the policy"])
def session(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Session]:
    file = home(tmp_path_factory.mktemp("totals"), belie=request.param)
    with dpsql.testing.open(file, Noiseless()) as proxy:
        yield proxy.session(analyst="ana")


@pytest.mark.every(4)  # of each kind of sets, which are three
@pytest.mark.parametrize("seed", range(12))
def test_without_noise_each_set_is_what_it_is_alone_over_the_rows_whose_keys_are_listed(
    session: Session, seed: int
) -> None:
    dice = random.Random(seed)
    keys = dice.sample(KEYS, dice.randint(1, 3))
    every = [own for many in range(1, len(keys) + 1) for own in combinations(keys, many)]
    sets = [tuple(keys), *dice.sample(every, min(2, len(every))), *[()] * dice.randint(0, 1)]
    if seed % 3 == 0:  # ROLLUP
        sets = [tuple(keys[:many]) for many in range(len(keys), -1, -1)]
    elif seed % 3 == 1 and len(keys) > 1:  # no set has all keys
        sets = [(key,) for key in keys]
    spelled = ", ".join(f"({', '.join(own)})" for own in sets)
    found = asked(session, keys, f"GROUP BY GROUPING SETS ({spelled})")
    listed = " AND ".join(f"{key} IS NOT NULL" for key in keys if key != "town") or "TRUE"
    expected = []
    for own in sets:
        for row in asked(session, own, f"WHERE {listed} {'GROUP BY' * bool(own)} {', '.join(own)}"):
            held = dict(zip(own, row, strict=False))
            expected.append((*(held.get(key) for key in keys), *row[len(own) :]))
    assert sorted(map(str, found)) == sorted(map(str, expected))


def asked(session: Session, keys: Sequence[str], behind: str) -> list[tuple[Any, ...]]:
    """The rows of counts and sums by keys."""
    shown = ", ".join([*keys, "COUNT(*)", "COUNT(age)", "SUM(age)", "SUM(weight)"])
    return session.query(f"SELECT {shown} FROM people {behind}", epsilon=1, mechanism="laplace").rows


@pytest.mark.every(2)
@pytest.mark.parametrize(
    ("sets", "nested"),
    [
        ("ROLLUP (sex, age)", True),
        ("ROLLUP (age, sex)", True),
        ("GROUPING SETS ((age, sex), (sex))", True),
        ("GROUPING SETS ((age), (sex))", False),
        ("CUBE (age, sex)", False),
        ("CUBE (sex, age)", False),
    ],
)
def test_intervals_hold_in_all_sets_and_nested_totals_are_the_sums_of_their_parts(
    tmp_path: Path, sets: str, nested: bool
) -> None:
    held = total = 0
    sql = f"SELECT age, sex, COUNT(*) AS n FROM people GROUP BY {sets}"
    with dpsql.testing.open(home(tmp_path, belie=False), FixedSampler(sets)) as proxy:
        session = proxy.session(analyst="ana")
        answers = [session.query(sql, epsilon=1 + place / 1000) for place in range(12)]  # each price another release
    for answer in answers:
        for (age, sex, _), (low, high) in zip(answer.rows, answer.interval("n"), strict=True):
            if age is None and sex is not None:
                assert low is not None and high is not None
                held, total = held + (low <= 1147 <= high), total + 1
        if nested and sets != "ROLLUP (age, sex)":
            for sex in "FMX":
                parts = [n for age, own, n in answer.rows if own == sex and age is not None]
                (whole,) = (n for age, own, n in answer.rows if own == sex and age is None)
                assert sum(parts) == whole
    assert held >= 0.85 * total
    assert total == (0 if sets == "ROLLUP (age, sex)" else 36)


def test_a_set_that_is_written_twice_is_paid_for_once_and_its_rows_are_shown_twice(tmp_path: Path) -> None:
    once = "SELECT sex, COUNT(*) AS n, SUM(age) AS years FROM people GROUP BY GROUPING SETS ((sex), ())"
    twice = once.replace("((sex), ())", "((sex), (), (sex))")
    answers = []
    for sql in (once, twice):
        with dpsql.testing.open(home(tmp_path, belie=False), FixedSampler("twice")) as proxy:
            answers.append(proxy.session(analyst="ana").query(sql, epsilon=1))
        (tmp_path / "shop.duckdb").unlink()
    single, double = answers
    assert double.rows == [*single.rows, *single.rows[:3]]
    assert double.cost == single.cost
    for column in ("n", "years"):
        assert double.interval(column) == [*single.interval(column), *single.interval(column)[:3]]


def test_intervals_of_windows_and_of_queries_over_rows_that_are_shown_twice_know_each_of_them(session: Session) -> None:
    sets = "GROUP BY GROUPING SETS ((sex), (sex))"
    shown = session.query(f"SELECT sex, SUM(COUNT(*)) OVER () AS n FROM people {sets}", epsilon=1)
    truth = sum(n for _, n in session.query("SELECT sex, COUNT(*) AS n FROM people GROUP BY sex", epsilon=1).rows)
    assert [n for _, n in shown.rows] == [2 * truth] * 6
    assert all(low < 2 * truth < high for low, high in shown.interval("n") if low is not None and high is not None)
    over = session.query(f"SELECT sex, SUM(n) AS n FROM (SELECT sex, COUNT(*) AS n FROM people {sets}) GROUP BY sex")
    assert sum(n for _, n in over.rows) == 2 * truth
