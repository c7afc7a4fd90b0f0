"""Rows that are cut to each unit's first rows or groups while they stream by are those that plain Python cuts."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import Any

import nanoarrow
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from nanoarrow.c_array_stream import CArrayStream

from dpsql.worker import columns, cutting, lying, wire

Row = tuple[int, int, int, int | None]  # The unit, the places of two keys, and a number.
PLACES = (2, 3)
ADDS = (("rows", -1), ("sum", 0), ("count", 0), ("units", -1))
NUMBERS = st.one_of(st.none(), st.integers(-3, 3), st.sampled_from([2**50, -(2**50), 2**45 + 1]))
ROWS = st.lists(st.tuples(st.integers(0, 6), st.integers(0, 1), st.integers(0, 2), NUMBERS), max_size=50)
FIRSTS = st.one_of(
    st.tuples(st.integers(1, 9), st.just(0)),
    st.tuples(st.just(0), st.integers(1, 9)),
    st.tuples(st.integers(1, 9), st.integers(1, 9)),
)
INT64 = nanoarrow.int64()
DIGITS = 6  # Of ranks, below the numbers of units.
NARROW = st.one_of(st.none(), st.integers(-3, 3), st.sampled_from([2**15 - 1, -(2**15)]))
CLAMPS = ((0, 2), (-(2**15), 40000), (0, 1), None)
QUIET = settings(deadline=None, suppress_health_check=list(HealthCheck))


@pytest.fixture(params=[(1, 0, 1), (7, 1000, 2), (lying.PIECE, lying.ROOMY, cutting.EARLY)])
def sizes(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Rows are put together and looked at a few at a time, and in both ways, as millions are in earnest."""
    piece, room, early = request.param
    monkeypatch.setattr(lying, "PIECE", piece)
    monkeypatch.setattr(lying, "PART", 2 * piece)
    monkeypatch.setattr(lying, "ROOMY", room)
    monkeypatch.setattr(cutting, "EARLY", early)


def stream(rows: Sequence[Row], keys: int, size: int, ranks: Sequence[int] | None = None, number: Any = INT64) -> Any:
    """The rows, whose ranks count from 1 within a unit, as a stream of tables of so many rows each."""
    seen: dict[int, int] = defaultdict(int)
    placed = []
    for at, row in enumerate(rows):
        seen[row[0]] += 1
        rank = seen[row[0]] if ranks is None else ranks[at]
        placed.append((*row[1 : 1 + keys], (row[0] << DIGITS) + rank, row[3]))
    kinds = [nanoarrow.int8()] * keys + [nanoarrow.int32() if size % 2 else INT64, number]
    schema = nanoarrow.struct({f"c{place}": kind for place, kind in enumerate(kinds)})
    tables = []
    for start in range(0, len(rows), size):
        part = list(zip(*placed[start : start + size], strict=True))
        children = [nanoarrow.c_array(list(own), kind) for own, kind in zip(part, kinds, strict=True)]
        tables.append(nanoarrow.c_array_from_buffers(schema, length=len(part[0]), buffers=[None], children=children))
    return CArrayStream.from_c_arrays(tables, nanoarrow.c_schema(schema))


def found(rows: Any, keys: int, firsts: tuple[int, int]) -> dict[tuple[int, ...], tuple[int, ...]]:
    """Group to what was added up there."""
    names = [*(f"c{place}" for place in range(keys)), "m0", "m1", "m2", "m3"]
    pieces = lying.pieces(rows, PLACES[:keys], DIGITS)
    packed = wire.pack(cutting.cut(pieces, names, PLACES[:keys], firsts, ADDS, [None] * 4))
    kinds = ["BIGINT"] * (keys + 1) + ["HUGEINT", "BIGINT", "BIGINT"]
    read = columns.read(bytes(packed), list(zip(names, kinds, strict=True)))
    lists = [[int(value) for value in own] for own in read.values()]
    return {row[:keys]: row[keys:] for row in zip(*lists, strict=True)}


def by_hand(rows: Sequence[Row], keys: int, firsts: tuple[int, int]) -> dict[tuple[int, ...], tuple[int, ...]]:
    """The same, row by row."""
    most_rows, most = (own or len(rows) for own in firsts)
    seen: dict[int, int] = defaultdict(int)
    groups: dict[int, list[tuple[int, ...]]] = defaultdict(list)
    cells: dict[tuple[int, ...], list[int]] = defaultdict(lambda: [0, 0, 0, 0])
    if not keys:
        cells[()] = [0, 0, 0, 0]
    for unit, first, second, number in rows:
        group, known = (first, second)[:keys], groups[unit]
        seen[unit] += 1
        if seen[unit] > most_rows:
            continue
        if group not in known:
            known.append(group)
            if len(known) <= most:
                cells[group][3] += 1
        if group in known[:most]:
            cell = cells[group]
            cell[0] += 1
            cell[1] += number or 0
            cell[2] += number is not None
    return {group: tuple(own) for group, own in cells.items()}


@QUIET
@given(rows=ROWS, size=st.integers(1, 12), keys=st.integers(0, 2), firsts=FIRSTS)
def test_each_units_first_rows_and_groups_are_added_up(
    sizes: None, rows: list[Row], size: int, keys: int, firsts: tuple[int, int]
) -> None:
    rows.sort(key=lambda row: row[0])
    assert found(stream(rows, keys, size), keys, firsts) == by_hand(rows, keys, firsts)


@pytest.mark.parametrize(
    ("units", "ranks"), [((1, 1), (2, 1)), ((1, 1), (1, 1)), ((2, 1), (1, 1)), ((1, 2, 1), (1, 1, 2))]
)
@pytest.mark.parametrize("firsts", [(1, 0), (0, 1)])
def test_rows_out_of_order_have_no_answer(
    sizes: None, units: tuple[int, ...], ranks: tuple[int, ...], firsts: tuple[int, int]
) -> None:
    rows: list[Row] = [(unit, 0, 0, 1) for unit in units]
    for size in (1, 2, 9):
        with pytest.raises(ValueError, match="do not lie in order"):
            found(stream(rows, 1, size, ranks), 1, firsts)


@QUIET
@given(
    rows=st.lists(st.tuples(st.integers(0, 6), st.integers(0, 1), st.integers(0, 2), NARROW), max_size=50),
    size=st.integers(1, 12),
    keys=st.integers(0, 2),
    number=st.sampled_from([nanoarrow.int16(), nanoarrow.int32(), INT64]),
)
def test_totals_of_units_in_groups_are_clamped_however_wide_numbers_are(
    sizes: None, rows: list[Row], size: int, keys: int, number: Any
) -> None:
    rows.sort(key=lambda row: row[0])
    names = [*(f"c{place}" for place in range(keys)), "m0", "m1", "m2", "m3"]
    own = lying.pieces(stream(rows, keys, size, number=number), PLACES[:keys], DIGITS)
    packed = wire.pack(cutting.cut(own, names, PLACES[:keys], (100, 0), ADDS, CLAMPS))
    kinds = ["BIGINT"] * keys + ["HUGEINT"] * 3 + ["BIGINT"]
    read = columns.read(bytes(packed), list(zip(names, kinds, strict=True)))
    lists = [[int(value) for value in column] for column in read.values()]
    cells: dict[tuple[int, ...], list[int]] = defaultdict(lambda: [0, 0, 0])
    for unit, first, second, value in rows:
        cell = cells[(unit, first, second)[: 1 + keys]]
        cell[0] += 1
        cell[1] += value or 0
        cell[2] += value is not None
    groups: dict[tuple[int, ...], list[int]] = defaultdict(lambda: [0, 0, 0, 0])
    if not keys:
        groups[()] = [0, 0, 0, 0]
    for (_, *group), totals in cells.items():
        for place, (total, clamp) in enumerate(zip(totals, CLAMPS, strict=False)):
            groups[tuple(group)][place] += max(clamp[0], min(clamp[1], total)) if clamp else total
        groups[tuple(group)][3] += 1
    assert {row[:keys]: list(row[keys:]) for row in zip(*lists, strict=True)} == groups


def test_groups_of_which_each_is_no_digit_of_a_number_are_not_cut() -> None:
    with pytest.raises(ValueError, match="too many groups"):
        cutting.cut([], ["c0", "c1", "m0"], (8, 8), (0, 1), [("rows", -1)], [None])
