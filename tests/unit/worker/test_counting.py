"""Rows counted by sorting are those that plain Python counts, however they come."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

import duckdb
import nanoarrow
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from nanoarrow.c_array_stream import CArrayStream

from dpsql.worker import columns, counting, wire

NAMES = ("a", "b", "mark")
NUMBERS = st.one_of(st.integers(-3, 3), st.sampled_from([-(2**63), 2**63 - 1, 2**40]))
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


@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
@given(rows=ROWS, size=st.integers(1, 20), marks=st.integers(0, 1))
def test_equal_rows_are_counted_and_marks_summed(
    small_pieces: None, rows: list[tuple[int, int, int]], size: int, marks: int
) -> None:
    found = columns.read(
        bytes(wire.pack(counting.counted(pieces(rows, size), marks))),
        [(name, "BIGINT") for name in (*NAMES, counting.ROWS)],
    )
    got = list(zip(*(np.asarray(found[name]).tolist() for name in (*NAMES, counting.ROWS)), strict=True))
    known = 3 - marks
    counts, sums = Counter(row[:known] for row in rows), Counter[tuple[int, ...]]()
    for row in rows:
        sums[row[:known]] += row[2]
    marked = {key: (sums[key],) if marks else () for key in counts}
    assert got == [(*key, *marked[key], counts[key]) for key in sorted(counts)]


def test_only_whole_numbers_without_null_are_counted() -> None:
    with duckdb.connect() as connection, pytest.raises(ValueError, match="only BIGINT"):
        counting.counted(connection.sql("SELECT 1.5::DOUBLE AS a"), 0)
    with duckdb.connect() as connection, pytest.raises(ValueError, match="a NULL"):
        counting.counted(connection.sql("SELECT unnest([1, NULL, 2])::BIGINT AS a"), 0)


def test_what_is_none_of_the_listed_values_equals_nothing() -> None:
    found = columns.listed([0, 2, 1], ["a", None])
    assert found.tolist()[::2] == ["a", None]
    assert found[1] is columns.OUTSIDE
    assert found[1] not in ("a", None)
