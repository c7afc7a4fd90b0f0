"""The counts behind facts equal their plain Python twin, and one unit moves each by as much as is charged for."""

from __future__ import annotations

import random
from collections import Counter, defaultdict
from dataclasses import replace
from fractions import Fraction
from typing import Any

import duckdb
import pytest

from dpsql.engine.duckdb.database import DuckDBDatabase
from dpsql.owner.advice.measure import measured
from dpsql.owner.advice.questions import ROW_BINS, Tally, of_sizes, of_totals, open_texts
from dpsql.owner.shape import ColumnShape, Shape, TableShape

CAP = 3
COST = ColumnShape("cost", "real", Fraction(0), Fraction(100), step=Fraction(1, 2))
GAIN = ColumnShape("gain", "integer")
WORD = ColumnShape("word", "text")
VISITS = TableShape(
    "visits", None, False, "patient", "visit", CAP, (COST, GAIN, WORD), identities={"patient": None, "visit": "visit"}
)
SHAPE = Shape("duckdb", {}, (VISITS,))
Row = tuple[int | None, int, float | None, int | None, str | None]


def rows_at_random(seed: int) -> list[Row]:
    draw = random.Random(seed)
    return [
        (
            draw.choice([None, *range(1, 9)]),
            visit,
            draw.choice([None, 0.0, 0.5, 1.0, 3.9, 64.0, 99.0, 250.0, -4.0]),
            draw.choice([None, 0, 1, -1, 7, 8, -1000, 2**40]),
            draw.choice([None, "a", "b", "c"]),
        )
        for visit in range(draw.randrange(40))
    ]


def counted(rows: list[Row], stage: str) -> dict[str, Any]:
    with duckdb.connect() as connection:
        connection.execute("ATTACH ':memory:' AS source")
        connection.execute("ATTACH ':memory:' AS bounded")
        connection.execute(
            "CREATE TABLE source.main.visits (patient BIGINT, visit BIGINT, cost DOUBLE, gain BIGINT, word VARCHAR)"
        )
        for row in rows:
            connection.execute("INSERT INTO source.main.visits VALUES (?, ?, ?, ?, ?)", row)
        database = DuckDBDatabase(connection, "00" * 32)
        return measured(database, SHAPE, stage, True, lambda step, share: None)


def bin_of(size: int, question: Tally) -> int | None:
    return None if size < 1 else min(size.bit_length() - 1, question.bins - 1)


def steps(value: float | None, question: Tally) -> int | None:
    return None if value is None else round(Fraction(value) / question.step)


def twin(rows: list[Row]) -> list[int]:
    """The sizes, unit by unit."""
    units: dict[int, list[Row]] = defaultdict(list)
    for row in rows:
        if row[0] is not None:
            units[row[0]].append(row)
    counts = []
    for question in of_sizes(SHAPE):
        up, down = [0] * question.bins, [0] * question.bins
        for own in units.values():
            ends = (len(own), len(own))
            if question.column is not None:
                place = {"cost": 2, "gain": 3}[question.column]
                values = [v for row in own if (v := steps(row[place], question)) is not None]  # type: ignore[arg-type]
                if not values:
                    continue
                furthest = max(values, key=lambda v: (abs(v), v))
                ends = (max(values), min(values)) if question.both else (furthest, furthest)
                if question.about == "single":
                    continue
            for side, size in ((up, ends[0]), (down, -ends[1])):
                if (bin_ := bin_of(size, question)) is not None:
                    side[bin_] += 1
        counts += up + (down if question.signed else [])
    return counts


@pytest.mark.parametrize("seed", range(3))
def test_sizes_equal_their_twin(seed: int) -> None:
    rows = rows_at_random(seed)
    found, at = counted(rows, "sizes")["counts"], 0
    expected = twin(rows)
    for question in of_sizes(SHAPE):
        own = slice(at, at + question.cells)
        if question.about == "single":
            assert all(a <= b for a, b in zip(found[own], in_some_row(rows, question), strict=True))
            assert sum(found[own]) <= len({row[0] for row in rows if row[0] is not None})
        else:
            assert found[own] == expected[own]
        at += question.cells


def in_some_row(rows: list[Row], question: Tally) -> list[int]:
    """How many units have a value of each bin in some row, inside its bounds."""
    place = {"cost": 2, "gain": 3}[str(question.column)]
    found: list[set[int]] = [set() for _ in range(question.cells)]
    for row in rows:
        value = steps(row[place], question)  # type: ignore[arg-type]  # a number
        if row[0] is None or value is None:
            continue
        value = min(max(value, 0), 200) if question.column == "cost" else value
        if (bin_ := bin_of(abs(value), question)) is not None:
            found[bin_ + (question.bins if value < 0 else 0)].add(row[0])
    return [len(units) for units in found]


def test_a_unit_of_one_row_is_counted_by_its_value() -> None:
    found, at = counted([(1, 1, 3.0, -9, "a"), (2, 2, 250.0, 8, None)], "sizes")["counts"], 0
    bins = {}
    for question in of_sizes(SHAPE):
        if question.about == "single":
            bins[question.column] = [j for j in range(question.cells) if found[at + j]]
            negative = question.bins
        at += question.cells
    assert bins == {"cost": [2, 7], "gain": [3, negative + 3]}


def test_a_unit_with_values_of_both_signs_is_counted_by_the_furthest_of_each() -> None:
    rows: list[Row] = [(1, 1, None, 70, None), (1, 2, None, -9, None), (1, 3, None, 3, None), (2, 4, None, -2, None)]
    found, at = counted(rows, "sizes")["counts"], 0
    for question in of_sizes(SHAPE):
        if (question.column, question.about) == ("gain", "largest"):
            assert [j for j in range(question.cells) if found[at + j]] == [6, question.bins + 1, question.bins + 3]
        at += question.cells


def test_totals_are_those_of_the_capped_rows_inside_their_bounds() -> None:
    rows: list[Row] = [(1, 1, 250.0, 5, "a"), (1, 2, 3.0, -9, "a"), (2, 3, -4.0, 8, "b"), (None, 4, 9.0, 9, "c")]
    counts, at = counted(rows, "totals")["counts"], 0
    found = {}
    for question in of_totals(SHAPE):
        found[question.column] = {
            (bin_ % question.bins, bin_ >= question.bins) for bin_ in range(question.cells) if counts[at + bin_]
        }
        at += question.cells
    assert found == {
        "cost": {(7, False)},  # 200 + 6 steps of a half; -4 is moved to 0, which is in no bin
        "gain": {(2, False), (3, True), (3, False)},  # 5, -9 and 8
    }


def test_the_most_frequent_value_of_each_unit_counts_once_and_the_first_of_equals() -> None:
    rows: list[Row] = [
        (1, 1, None, None, "b"),
        (1, 2, None, None, "a"),
        (2, 3, None, None, "b"),
        (3, 4, None, None, None),
    ]
    assert counted(rows, "sizes")["heavy"] == [[["a", 1], ["b", 1]]]


@pytest.mark.every(2)
@pytest.mark.parametrize("seed", range(3))
def test_one_unit_moves_the_counts_by_no_more_than_is_charged(seed: int) -> None:
    rows = rows_at_random(100 + seed)
    unit = random.Random(seed).randrange(1, 9)
    fewer = [row for row in rows if row[0] != unit]
    asked = {"sizes": list(of_sizes(SHAPE)), "totals": list(of_totals(SHAPE))}
    for stage, questions in asked.items():
        one, other = counted(rows, stage), counted(fewer, stage)
        moved = [abs(a - b) for a, b in zip(one["counts"], other["counts"], strict=True)]
        assert max(moved, default=0) <= 1
        assert sum(moved) <= sum(question.moves for question in questions)
        at = 0
        for question in questions:
            assert sum(moved[at : at + question.cells]) <= question.moves
            at += question.cells
        for mine, others in zip(one["heavy"], other["heavy"], strict=True):
            difference = Counter(dict(mine))
            difference.subtract(dict(others))
            assert sum(map(abs, difference.values())) <= 1


def test_the_questions_follow_from_the_policy_alone() -> None:
    asked = {(question.column, question.about): question for question in (*of_sizes(SHAPE), *of_totals(SHAPE))}
    assert asked[None, "rows"].bins == ROW_BINS
    assert (asked["cost", "largest"].signed, asked["gain", "largest"].signed) == (False, True)
    assert [asked[column, "largest"].moves for column in ("cost", "gain")] == [1, 2]
    one_row = Shape("duckdb", {}, (replace(VISITS, rows_per_unit=1),))
    assert {question.moves for question in of_sizes(one_row)} == {1}
    assert (asked["cost", "totals"].moves, asked["gain", "totals"].moves) == (1, 2)
    assert asked["cost", "totals"].bins == 10  # 3 rows of 200 steps are below 2^10
    assert open_texts(SHAPE) == [("visits", "word")]
