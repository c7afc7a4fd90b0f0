"""Units and rows of each key by its rank among those of a unit: what a slow count of Python's finds."""

from __future__ import annotations

import random
from collections import defaultdict
from datetime import date, timedelta
from typing import Any

import pyarrow as pa
import pytest

from dpsql.worker.group_ranks import by_group_rank
from dpsql.worker.whole_keys import by_key

pytestmark = pytest.mark.chance(0, "no noise is drawn")

NAMES = ("day", "rank", "units", "rows")
FIRST = date(2024, 1, 1)
Row = tuple[int, date | None]


def drawn(seed: int, units: int, most: int, days: int) -> list[Row]:
    """Rows of units, each with up to so many, in the order in which caps keep them."""
    chance = random.Random(seed)
    every: list[date | None] = [None, *(FIRST + timedelta(day) for day in range(days))]
    return [(unit, chance.choice(every)) for unit in range(units) for _ in range(chance.randint(0, most))]


def arrow(rows: list[Row]) -> Any:
    units, days = zip(*rows, strict=True) if rows else ((), ())
    return pa.table({"u": pa.array(units, pa.int32()), "k": pa.array(days, pa.date32())})


def told(found: Any) -> list[tuple[Any, ...]]:
    table = pa.record_batch(found)
    return list(zip(*(column.to_pylist() for column in table.columns), strict=True))


def slowly(rows: list[Row], most: int) -> dict[tuple[date | None, int], tuple[int, int]]:
    counted: dict[tuple[date | None, int], list[Any]] = defaultdict(lambda: [set(), 0])
    seen: dict[int, list[date | None]] = defaultdict(list)
    for unit, day in rows:
        if day not in seen[unit]:
            seen[unit].append(day)
        own = counted[day, min(seen[unit].index(day), most) + 1]
        own[0].add(unit)
        own[1] += 1
    return {at: (len(units), many) for at, (units, many) in counted.items()}


@pytest.mark.parametrize(
    ("units", "most", "days"), [(1, 1, 1), (30, 6, 3), (200, 20, 40), (40, 60, 5), (3, 3, 300), (900, 30, 12)]
)
def test_it_is_what_a_slow_count_finds(units: int, most: int, days: int) -> None:
    for seed in range(4):
        rows = drawn(seed, units, most, days)
        found = told(by_group_rank(arrow(rows), NAMES, 4))
        assert {row[:2]: row[2:] for row in found} == slowly(rows, 4)
        assert found == sorted(found, key=lambda row: (row[0] is None, row[0] or FIRST, row[1]))


@pytest.mark.parametrize("groups", [1, 2, 3, 0])
def test_the_first_ranks_are_what_a_cap_of_groups_leaves(groups: int) -> None:
    rows = drawn(7, 300, 25, 30)
    columns = [("day", "DATE"), ("units", "BIGINT"), ("rows", "BIGINT")]
    sums: dict[Any, list[int]] = defaultdict(lambda: [0, 0])
    for day, rank, units, many in told(by_group_rank(arrow(rows), NAMES, 3)):
        if rank <= groups or not groups:
            sums[day][0] += units
            sums[day][1] += many
    assert told(by_key(arrow(rows), columns, (1,), (0, groups))) == [(day, *own) for day, own in sums.items()]


def test_days_that_lie_too_far_apart_and_disorder_are_no_table() -> None:
    assert by_group_rank(arrow([(0, date.min), (0, date.max)]), NAMES, 8) is None
    with pytest.raises(ValueError, match="order"):
        by_group_rank(arrow([(1, FIRST), (0, FIRST)]), NAMES, 8)
    assert told(by_group_rank(arrow([]), NAMES, 8)) == []
