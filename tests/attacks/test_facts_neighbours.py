"""Facts of neighbours: under random policies, over data that fit them badly, one unit moves what it is charged for.

The exact counts of two databases that differ in one unit are compared, before any noise: no drawn number can hide a
difference that is larger than the noise was made for.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Collection, Sequence
from typing import Any
from unittest.mock import patch

import duckdb
import pytest

from dpsql.engine.duckdb.database import DuckDBDatabase
from dpsql.owner.advice import measure
from dpsql.owner.advice.measure import measured
from dpsql.owner.advice.questions import Tally, of_sizes, of_totals, open_texts
from dpsql.owner.shape import Shape, shape_of
from tests.attacks.random_policies import NAMES, PUBLIC, Drawn, draw

SEEDS = range(3)
PRESENT = [set(NAMES), set(NAMES) - {NAMES[0]}, set(NAMES) - {NAMES[1]}, {NAMES[0]}, set[str]()]
MANY = 60


def counts(drawn: Drawn, present: Collection[str], stage: str) -> dict[str, Any]:
    """What the owner's process counts where these units are present."""
    with duckdb.connect(config={"threads": 1}) as connection:
        connection.execute("ATTACH ':memory:' AS source; ATTACH ':memory:' AS bounded")
        tables: dict[str, tuple[str, Sequence[tuple[Any, ...]]]] = dict(PUBLIC)
        for table in drawn.tables:
            types = ", ".join(f"{column} {kind}" for column, kind in table.columns.items())
            there = [row for owner, row in table.rows if owner is None or owner in present]
            random.Random(f"{drawn.seed} {table.name} {sorted(present)}").shuffle(
                there
            )  # where a row lies says nothing
            tables[table.name] = types, there
        for name, (types, rows) in tables.items():
            connection.execute(f"CREATE TABLE source.main.{name} ({types})")
            if rows:
                row = f"({', '.join('?' * len(rows[0]))})"
                flat = [value for values in rows for value in values]
                connection.execute(f"INSERT INTO source.main.{name} VALUES {', '.join([row] * len(rows))}", flat)
        return measured(DuckDBDatabase(connection, "00" * 32), shape_of(drawn.policy), stage, True, lambda *_: None)


def asked(shape: Shape, stage: str) -> list[Tally]:
    return list(of_sizes(shape) if stage == "sizes" else of_totals(shape))


def moves(drawn: Drawn, stage: str) -> list[str]:
    """Every count that a unit moves by more than is charged."""
    questions, found = asked(shape_of(drawn.policy), stage), []
    states = [counts(drawn, present, stage) for present in PRESENT]
    # What is asked hangs on the policy alone.
    assert {len(state["counts"]) for state in states} == {sum(tally.cells for tally in questions)}
    texts = open_texts(shape_of(drawn.policy)) if stage == "sizes" else []
    assert {len(state["heavy"]) for state in states} == {len(texts)}
    pairs = [(states[0], states[1]), (states[0], states[2]), (states[3], states[4])]
    for one, other in pairs:
        at = 0
        for question in questions:
            moved = [abs(one["counts"][k] - other["counts"][k]) for k in range(at, at + question.cells)]
            if max(moved) > 1 or sum(moved) > question.moves:
                found.append(f"{question}: {sum(moved)}")
            at += question.cells
        for mine, others in zip(one["heavy"], other["heavy"], strict=True):
            difference = Counter(dict(mine))
            difference.subtract(dict(others))
            if sum(map(abs, difference.values())) > 1:
                found.append(f"values: {difference}")
    return found


@pytest.mark.every(2)
@pytest.mark.parametrize("stage", ["sizes", "totals"])
@pytest.mark.parametrize("number", [0, 1, pytest.param(2, marks=pytest.mark.slow)])
def test_one_unit_moves_no_more_than_is_charged(number: int, stage: str) -> None:
    assert moves(draw(number), stage) == []


@pytest.mark.slow
def test_one_unit_moves_no_more_than_is_charged_under_many_new_policies(seed: int) -> None:
    for number in range(seed, seed + MANY):
        for stage in ("sizes", "totals"):
            assert moves(draw(number), stage) == [], number


def test_a_histogram_of_rows_in_the_place_of_units_is_convicted() -> None:
    def of_rows(words: object, rows: str, unit: str, question: Tally, names: Sequence[str]) -> str:
        """Seeded bug: every row counts, where every unit should."""
        return f"SELECT 1 AS up, 0 AS down FROM {rows} AS r"

    with patch.object(measure, "_totals", of_rows):
        assert any(moves(draw(number), "totals") for number in SEEDS)
