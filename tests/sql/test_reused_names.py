"""Statements whose aliases are columns' names: in HAVING, ORDER BY and around each means what DuckDB means."""

from __future__ import annotations

import random

import duckdb
import pytest

from dpsql.errors import ProgrammingError, UnsupportedQuery
from tests.sql.corpus import Block
from tests.sql.meaning import Bench, exact
from tests.sql.reference import run

KEYS = ("sex", "consent")
NAMES = (*KEYS, "age", "weight", "n")
VALUES = ("COUNT(*)", "SUM(age)", "COUNT(weight)", "COUNT_IF(age > 40)")
DECLARED = "FROM patients WHERE sex IN ('F', 'M', 'X') AND consent IN ('strict', 'normal')"


def written(chance: random.Random) -> str:
    """One statement, whose order is of all its rows."""
    keys = chance.sample(KEYS, chance.randint(1, 2))
    values = chance.sample(VALUES, chance.randint(1, 2))
    aliases = chance.sample(NAMES, len(keys) + len(values))
    items = [f"{own} AS {name}" for own, name in zip([*keys, *values], aliases, strict=True)]
    text = f"SELECT {', '.join(items)} {DECLARED} GROUP BY {', '.join(f'patients.{key}' for key in keys)}"
    name = chance.choice(aliases)
    if chance.random() < 0.5:
        text += f" HAVING CAST({name} AS VARCHAR) > '{chance.choice('3G')}'"
    if chance.random() < 0.3:
        text += f" QUALIFY ROW_NUMBER() OVER (ORDER BY {values[0]}, {', '.join(keys)}) <= 4"
    terms = chance.sample([name, f"CAST({name} AS VARCHAR) || 'x'", f"length(CAST({name} AS VARCHAR))"], 2)
    text += f" ORDER BY {terms[0]} DESC, {terms[1]}, {', '.join(f'patients.{key}' for key in keys)}"
    if "QUALIFY" not in text and chance.random() < 0.4:
        text = f"SELECT {', '.join(aliases)} FROM ({text}) AS around"
    return f"{text} LIMIT {chance.randint(1, 9)}"


def answered(bench: Bench, sql: str) -> bool:
    """Whether both answer; then they say the same."""
    try:
        names, _, theirs = run(bench.duckdb, sql, ())
        _, outputs, ours, _ = exact(bench, Block(lines=(), sql=sql))
    except (UnsupportedQuery, ProgrammingError, duckdb.BinderException):
        return False
    assert ([output.name for output in outputs], ours) == (names, theirs), sql
    return True


@pytest.mark.parametrize("count", [60, pytest.param(1500, marks=pytest.mark.slow)])
def test_names_that_are_columns_and_aliases_mean_what_duckdb_means(benches: dict[str, Bench], count: int) -> None:
    chance = random.Random(count)
    found = [answered(benches["hospital"], written(chance)) for _ in range(count)]
    assert sum(found) > count / 3
