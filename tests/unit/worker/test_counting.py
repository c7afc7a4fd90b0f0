"""Rows that the worker counts are those that plain Python counts, however they come."""

from __future__ import annotations

import os
import subprocess
import sys
from ast import literal_eval
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

import duckdb
import nanoarrow
import numpy as np
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from nanoarrow.c_array_stream import CArrayStream

from dpsql.privacy.tables import OUTSIDE, Listed
from dpsql.worker import columns, counting, ordered
from dpsql.worker import lying as unit_by_unit
from dpsql.worker.process import narrow

NAMES = ("a", "b", "mark")
NUMBERS = st.one_of(st.integers(-3, 3), st.sampled_from([-(2**63), 2**63 - 1, 2**40]))
ALONE = [[(0, 64)], [(0, 64)], [(0, 1)]]  # Each column is a number of its own.
ROWS = st.lists(st.tuples(NUMBERS, NUMBERS, st.integers(0, 1)), max_size=60)


@pytest.fixture
def small_pieces(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Rows are put together a few at a time, as millions are in earnest."""
    monkeypatch.setattr(counting, "PIECE", 3)
    yield


def pieces(rows: list[tuple[int, int, int]], size: int) -> Any:
    """The rows as a stream of tables of so many rows each."""
    schema = nanoarrow.struct({name: nanoarrow.int64() for name in NAMES})
    tables = []
    for start in range(0, len(rows), size):
        part = rows[start : start + size]
        children = [nanoarrow.c_array([row[place] for row in part], nanoarrow.int64()) for place in range(3)]
        tables.append(nanoarrow.c_array_from_buffers(schema, length=len(part), buffers=[None], children=children))
    return CArrayStream.from_c_arrays(tables, nanoarrow.c_schema(schema))


def put_together(rows: list[tuple[int, int, int]], words: Sequence[counting.Word], size: int) -> Any:
    """The rows as the parent gets them, by column."""
    *numbers, many = counting.counted(pieces(rows, size), words)
    packed = [*counting.shortened(numbers, words), counting.narrowed(many)]
    found = columns.counted([own.tobytes() for own in packed], [*NAMES, "rows"], words, marked=True)
    return together(list(zip(*(np.asarray(found[name]).tolist() for name in (*NAMES, "rows")), strict=True)))


def together(found: list[tuple[int, ...]]) -> list[tuple[int, ...]]:
    """Rows that rise, where those with a mark may stand beside the others."""
    sums: dict[tuple[int, ...], tuple[int, int]] = {}
    for *row, units, many in found:
        assert units in (0, many)
        before = sums.get(tuple(row), (0, 0))
        sums[tuple(row)] = before[0] + units, before[1] + many
    assert list(sums) == sorted(sums)
    return [(*row, *many) for row, many in sums.items()]


def expected(rows: list[tuple[int, int, int]]) -> list[tuple[int, ...]]:
    units = Counter(row[:2] for row in rows if row[2])
    return [(*row, units[row], many) for row, many in sorted(Counter(row[:2] for row in rows).items())]


@settings(deadline=None, suppress_health_check=list(HealthCheck))
@given(rows=ROWS, size=st.integers(1, 20), words=st.sampled_from([ALONE, [[(0, 64)], [(-(2**40), 42), (0, 1)]]]))
def test_equal_rows_are_counted_and_marked_ones_told(
    small_pieces: None, rows: list[tuple[int, int, int]], size: int, words: list[list[tuple[int, int]]]
) -> None:
    if len(words) == 2:
        rows = [row for row in rows if abs(row[1]) <= 2**40]
    assert put_together(rows, words, size) == expected(rows)


@settings(deadline=None, suppress_health_check=list(HealthCheck))
@given(
    rows=st.lists(st.tuples(st.integers(-3, 3), st.integers(5, 7), st.integers(0, 1)), max_size=60),
    size=st.integers(1, 20),
)
def test_rows_that_one_number_holds_are_counted_by_it(
    small_pieces: None, rows: list[tuple[int, int, int]], size: int
) -> None:
    assert put_together(rows, [[(-3, 3), (5, 2), (0, 1)]], size) == expected(rows)


@pytest.mark.parametrize("row", [(4, 5, 0), (-4, 5, 0), (0, 9, 0), (0, 4, 0), (0, 5, 2), (0, 5, -1)])
def test_a_value_beyond_its_digits_is_no_other_row(row: tuple[int, int, int]) -> None:
    with pytest.raises(ValueError, match="outside of its bounds"):
        put_together([(0, 5, 0), row], [[(-3, 2 if row[0] == 4 else 3), (5, 2), (0, 1)]], 2)


@settings(deadline=None, suppress_health_check=list(HealthCheck))
@given(rows=st.lists(st.integers(-3, 4), max_size=60), size=st.integers(1, 20), slots=st.sampled_from([0, 1, 99]))
def test_numbers_of_few_digits_are_counted_by_a_table(
    small_pieces: None, rows: list[int], size: int, slots: int
) -> None:
    tables = [
        nanoarrow.c_array_from_buffers(
            nanoarrow.struct({"a": nanoarrow.int32()}),
            length=len(part),
            buffers=[None],
            children=[nanoarrow.c_array(part, nanoarrow.int32())],
        )
        for part in (rows[start : start + size] for start in range(0, len(rows), size))
    ]
    schema = nanoarrow.c_schema(nanoarrow.struct({"a": nanoarrow.int32()}))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(counting, "ROOMY", slots)
        packed = counting.counted(CArrayStream.from_c_arrays(tables, schema), [[(-3, 3)]])
    assert packed[0].dtype == np.int64
    found = dict(zip(*(own.tolist() for own in packed), strict=True))
    assert list(found.items()) == sorted(Counter(row + 3 for row in rows).items())


@pytest.mark.parametrize("low", [-(2**30), 0, 2**30])
@pytest.mark.parametrize("value", [-(2**31), -(2**30) - 1, 2**30 + 1, 2**31 - 1])
def test_a_narrow_value_beyond_its_digits_is_seen(low: int, value: int) -> None:
    if not low <= value < low + 2**30:
        with pytest.raises(ValueError, match="outside of its bounds"):
            counting._above(np.array([value], dtype=np.int32), low, 30)


VISITS = st.lists(st.tuples(st.integers(0, 6), st.integers(-2, 2)), max_size=60)


def lying(rows: Sequence[tuple[int, int, int]], size: int) -> Any:
    """A stream of (value, unit, rank), in chunks of so many rows."""
    schema = nanoarrow.struct({"x": nanoarrow.int64(), "u": nanoarrow.int32(), "r0": nanoarrow.int64()})
    tables = []
    for start in range(0, len(rows), size):
        part = rows[start : start + size]
        own = [
            nanoarrow.c_array([x for _, _, x in part], nanoarrow.int64()),
            nanoarrow.c_array([own for own, *_ in part], nanoarrow.int32()),
            nanoarrow.c_array([rank for _, rank, _ in part], nanoarrow.int64()),
        ]
        tables.append(nanoarrow.c_array_from_buffers(schema, length=len(part), buffers=[None], children=own))
    return CArrayStream.from_c_arrays(tables, nanoarrow.c_schema(schema))


@settings(deadline=None, suppress_health_check=list(HealthCheck))
@given(
    visits=VISITS,
    size=st.integers(1, 20),
    edges=st.sampled_from([(1,), (1, 3), (1, 2, 60), tuple(range(1, 301))]),
    ranks=st.sampled_from([((0, 1), (0, 1)), ((0, 3), (0, 3)), ((1, 1), (0, 1)), ((0, 1), (1, 1)), ((0, 1), (0, 2))]),
)
def test_rows_are_counted_by_their_place_within_their_unit(
    visits: list[tuple[int, int]], size: int, edges: tuple[int, ...], ranks: tuple[tuple[int, int], tuple[int, int]]
) -> None:
    whole, rows, wanted = Counter(own for own, _ in visits), [], list[tuple[int, int, int]]()
    held = Counter[int]()
    for own, x in sorted(visits, key=lambda visit: visit[0]):
        held[own] += 1
        above, step = ranks[own >= 3]  # 1, 2, ... are the places; with more above or between they are not
        rows.append((own, above + step * held[own], x))
        wanted.append((x, bisect_left(edges, held[own]), int(held[own] == whole[own])))
    words = [[(-2, 3), (0, 9), (0, 1)]]
    *numbers, many = counting.counted(lying(rows, size), words, edges)
    packed = [*counting.shortened(numbers, words), many]
    found = columns.counted([own.tobytes() for own in packed], ["x", "rank", "units", "rows"], words, marked=True)
    got = list(zip(*(np.asarray(found[name]).tolist() for name in found), strict=True))
    assert together(got) == expected(wanted)


@pytest.mark.parametrize("size", [1, 2, 3, 10])
@pytest.mark.parametrize("ranks", [(1, 2, 3, 4), (1, 1, 2, 3), (2, 1, 2, 3), (1, 1, 3, 4), (5, 7, 8, 9)])
def test_a_rank_is_a_place_only_if_its_unit_begins_at_1(size: int, ranks: tuple[int, ...]) -> None:
    rows = [(unit, rank, 0) for unit, rank in zip((4, 5, 5, 5), ranks, strict=True)]
    packed, many = counting.counted(lying(rows, size), [[(0, 1), (0, 2), (0, 1)]], (1, 2))
    found = [(number >> 1, number & 1) for number in packed.tolist()]
    assert dict(zip(found, many.tolist(), strict=True)) == {(0, 0): 1, (0, 1): 1, (1, 0): 1, (2, 1): 1}


@pytest.mark.parametrize("size", [1, 2, 10])
@pytest.mark.parametrize("rows", [[(1, 1, 0), (0, 1, 0)], [(0, 2, 0), (0, 2, 0)], [(0, 1, 0), (1, 3, 0), (1, 2, 0)]])
def test_rows_that_do_not_lie_in_order_are_not_counted(rows: list[tuple[int, int, int]], size: int) -> None:
    with pytest.raises(ValueError, match="do not lie in order"):
        counting.counted(lying(rows, size), [[(0, 1), (0, 2), (0, 1)]], (1, 2))


def test_only_whole_numbers_without_null_are_counted() -> None:
    with duckdb.connect() as connection, pytest.raises(ValueError, match="only whole numbers"):
        counting.counted(connection.sql("SELECT 1.5::DOUBLE AS a"), [[(0, 64)]])
    with duckdb.connect() as connection, pytest.raises(ValueError, match="a NULL"):
        counting.counted(connection.sql("SELECT unnest([1, NULL, 2])::BIGINT AS a"), [[(0, 64)]])


def test_what_is_none_of_the_listed_values_equals_nothing() -> None:
    found = Listed([0, 2, 1], ["a", None])
    assert found.tolist()[::2] == ["a", None]
    assert found[1] is OUTSIDE
    assert found[1] not in ("a", None)
    assert found.at(np.array([2, 1])).tolist() == [None, OUTSIDE]


def test_columns_of_unequal_length_are_no_table() -> None:
    for packed in ([bytes(16), bytes(7)], [bytes(16), bytes(6)], [bytes(16), b""], [bytes(16), bytes(8), bytes(2)]):
        with pytest.raises(ValueError, match="unequal length"):
            columns.counted(packed, ["x", "y", "rows"], [[(0, 64)], [(0, 64)]], marked=False)
    found = columns.counted([bytes(16), b"\1\0\2\0"], ["x", "rows"], [[(0, 64)]], marked=False)
    assert np.asarray(found["rows"]).tolist() == [1, 2]


def test_where_numbers_begin_must_fit_the_rows() -> None:
    words, lower, rows = [[(0, 1), (0, 31)]], np.zeros(3, dtype=np.int32), np.ones(3, dtype=np.uint8)
    for starts in ([0, 3], [0, 1, 2], [1, 1, 3], [0, 4, 3], [0, 1, 2, 3]):
        packed = [lower.tobytes(), np.array(starts, dtype=np.int64).tobytes(), rows.tobytes()]
        with pytest.raises(ValueError, match="unequal length"):
            columns.counted(packed, ["k", "x", "rows"], words, marked=False)


@settings(max_examples=50, deadline=None)
@given(
    digits=st.lists(st.sampled_from([0, 1, 5, 11, 12, 20, 31]), min_size=1, max_size=4),
    seed=st.integers(0, 99),
)
def test_numbers_arrive_as_they_were_however_wide_they_travel(digits: list[int], seed: int) -> None:
    rng, words = np.random.default_rng(seed), [[(-at, own) for at, own in enumerate(digits)]]
    assume(sum(digits) <= 62)
    numbers = np.sort(rng.integers(0, 1 << sum(digits), int(rng.integers(0, 30)), dtype=np.int64))
    packed: list[Any] = [*counting.shortened([numbers], words), np.ones(len(numbers), dtype=np.uint8)]
    found = columns.counted([own.tobytes() for own in packed], [*"abcd"[: len(digits)], "rows"], words, marked=False)
    below = sum(digits)
    for at, (name, own) in enumerate(zip("abcd", digits, strict=False)):
        below -= own
        wanted = [((number >> below) & ((1 << own) - 1)) - at for number in numbers.tolist()]
        assert np.asarray(found[name]).dtype == np.int64
        assert found[name].tolist() == wanted  # type: ignore[attr-defined]  # it is made of digits


def test_numpy_can_do_without_what_the_worker_forbids_it() -> None:
    code = "from numpy._core._multiarray_umath import __cpu_features__ as own; print(sorted(k for k in own if own[k]))"
    environment = dict(os.environ) | narrow()
    told = [sys.executable, "-W", "error", "-c", code]
    found = subprocess.run(told, env=environment, capture_output=True, text=True, check=True).stdout
    assert not set(narrow().get("NPY_DISABLE_CPU_FEATURES", "").split()) & set(literal_eval(found))


@pytest.mark.parametrize("most", [2**40, 100_000, 1_000, 30, 1])
@pytest.mark.parametrize("few", [0, 8, 10**9])
def test_sorted_numbers_are_counted_whether_few_or_most_come_again(
    monkeypatch: pytest.MonkeyPatch, most: int, few: int
) -> None:
    monkeypatch.setattr(counting, "FEW", few)
    numbers = np.random.default_rng(7).integers(0, most, 1_000)
    known, rows = counting._sorted(numbers.copy())
    assert dict(zip(known.tolist(), rows.tolist(), strict=True)) == Counter(numbers.tolist())
    assert bool((known[1:] > known[:-1]).all())


def test_a_narrow_column_alone_in_the_last_of_several_numbers_travels_like_all_others() -> None:
    with duckdb.connect() as connection:
        rows = connection.sql("SELECT i::BIGINT AS a, (i % 3)::INTEGER AS b FROM range(9) AS t(i)")
        words = [[(0, 62)], [(0, 26)]]
        packed = counting.counted(rows, words)
    found = columns.counted([own.tobytes() for own in packed], ["a", "b", "rows"], words, marked=False)
    assert list(zip(*(list(own) for own in found.values()), strict=True)) == [(i, i % 3, 1) for i in range(9)]


CLAMPS = [(-5, 9), (1, 4), (0, 3)]
WORDS = [[(0, 2), (0, 2), (-5, 4)], [(1, 2), (0, 2)]]
"""Two keys and a sum in the one number, numbers of rows and of values in the other."""


@pytest.mark.parametrize("piece", [1, 4, unit_by_unit.PIECE])
@settings(deadline=None, suppress_health_check=list(HealthCheck))
@given(
    rows=st.lists(
        st.tuples(st.integers(0, 4), st.integers(0, 2), st.integers(0, 2), st.one_of(st.none(), st.integers(-4, 6))),
        max_size=40,
    ),
    keys=st.integers(0, 2),
    size=st.integers(1, 9),
)
def test_totals_of_units_are_added_up_and_counted(
    monkeypatch: pytest.MonkeyPatch, rows: list[tuple[int, int, int, int | None]], keys: int, size: int, piece: int
) -> None:
    monkeypatch.setattr(unit_by_unit, "PIECE", piece)
    rows.sort(key=lambda row: row[0])
    of_each: dict[tuple[int, ...], list[int | None]] = {}
    for unit, one, other, value in rows:
        of_each.setdefault((unit, *(one, other)[:keys]), []).append(value)
    expected: Counter[tuple[int, ...]] = Counter()
    for (_, *group), values in of_each.items():
        known = [value for value in values if value is not None]
        totals = [
            max(low, min(high, x)) for x, (low, high) in zip((sum(known), len(values), len(known)), CLAMPS, strict=True)
        ]
        if known:
            expected[*group, *totals] += 1
    kinds = [nanoarrow.int8()] * keys + [nanoarrow.int32(), nanoarrow.int16()]
    schema = nanoarrow.struct({f"c{place}": kind for place, kind in enumerate(kinds)})
    tables = []
    for start in range(0, len(rows), size):
        part = rows[start : start + size]
        read = [*range(1, 1 + keys), 0, 3]
        children = [nanoarrow.c_array([row[at] for row in part], kind) for at, kind in zip(read, kinds, strict=True)]
        tables.append(nanoarrow.c_array_from_buffers(schema, length=len(part), buffers=[None], children=children))
    stream = CArrayStream.from_c_arrays(tables, nanoarrow.c_schema(schema))
    places, words = [3] * keys, [WORDS[0][2 - keys :], WORDS[1]]
    adds = [("sum", 0), ("rows", -1), ("count", 0)]
    *numbers, times = counting.counted_totals(unit_by_unit.pieces(stream, places), places, adds, CLAMPS, words)
    names = [*(f"k{place}" for place in range(keys)), "sum", "n", "known", "rows"]
    packed = [own.tobytes() for own in (*numbers, counting.narrowed(times))]
    found = columns.counted(packed, names, words, marked=False)
    got = list(zip(*(np.asarray(found[name]).tolist() for name in names), strict=True))
    assert got == sorted((*held, many) for held, many in expected.items())


@pytest.mark.parametrize("rows", [1, 7, 8, 1_000, 1_003])
@pytest.mark.parametrize("many", [1, 3, 11, 50, 2_000])
def test_units_begin_where_their_numbers_change_however_many_rows_they_have(rows: int, many: int) -> None:
    numbers = np.arange(rows, dtype=np.int32) // many
    assert ordered.starts(numbers).tolist() == list(range(0, rows, many))
