"""Distinct units of groups, from rows that lie unit by unit, are those that plain Python finds."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

import nanoarrow
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from nanoarrow.c_array_stream import CArrayStream

from dpsql.worker import columns, lying, repeats, wire

Row = tuple[int, int]  # The unit, and which of the keys.
KEYS: tuple[str | None, ...] = ("a", "é", "", None)
NUMBERS = (1 << 18, 2 << 18, (2 << 18) + (1 << 48), (1 << 64) - 1)
"""One for each key: they differ in the digits that count, and two are alike in the 16 that are compared first."""
ROWS = st.lists(st.tuples(st.sampled_from([0, 1, 2, 3, 5, 1 << 18, (1 << 31) - 1]), st.integers(0, 3)), max_size=50)
QUIET = settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
KINDS = {"k0": nanoarrow.string(), "m0": nanoarrow.int64(), "m1": nanoarrow.int64(), "k": nanoarrow.uint64()}


@pytest.fixture(params=[(1, 1, 1), (7, 3, 2), (lying.PIECE, 4, 1 << 20), (lying.PIECE, 256, 1 << 20)])
def sizes(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Rows are put together a few at a time, and in both ways, as millions are in earnest."""
    piece, looks, waiting = request.param
    monkeypatch.setattr(lying, "PIECE", piece)
    monkeypatch.setattr(repeats, "MOST_LOOKS", looks)
    monkeypatch.setattr(repeats, "WAITING", waiting)


def stream(kinds: Any, rows: Sequence[Sequence[Any]], size: int) -> Any:
    """The rows as a stream of tables of so many each."""
    schema, tables = nanoarrow.struct(kinds), []
    for start in range(0, len(rows), size):
        part = list(zip(*rows[start : start + size], strict=True))
        children = [nanoarrow.c_array(list(own), kind) for own, kind in zip(part, kinds.values(), strict=True)]
        tables.append(nanoarrow.c_array_from_buffers(schema, length=len(part[0]), buffers=[None], children=children))
    return CArrayStream.from_c_arrays(tables, nanoarrow.c_schema(schema))


def found(rows: Sequence[Row], size: int, numbers: Sequence[int] = NUMBERS) -> list[tuple[Any, ...]] | None:
    """Each group's key, rows and units; None where nothing is counted."""
    many = Counter(key for _, key in rows)
    groups = [(KEYS[key], own, own, numbers[key]) for key, own in many.items()]
    lies = stream({"k": nanoarrow.uint64(), "u": nanoarrow.int32()}, [(numbers[key], unit) for unit, key in rows], size)
    own = repeats.apart(stream(KINDS, groups, size), lies, [2])
    if own is None:
        return None
    kinds = [("k0", "VARCHAR"), ("m0", "BIGINT"), ("m1", "BIGINT")]
    return list(zip(*columns.read(bytes(wire.pack(own)), kinds).values(), strict=True))


@QUIET
@given(rows=ROWS, size=st.integers(1, 12))
def test_groups_have_their_rows_less_those_that_repeat_one(sizes: None, rows: list[Row], size: int) -> None:
    rows.sort(key=lambda row: row[0])
    many, units = Counter(key for _, key in rows), Counter(key for _, key in set(rows))
    assert found(rows, size) == [(KEYS[key], own, units[key]) for key, own in many.items()]


@pytest.mark.parametrize("numbers", [(7 << 18, 7 << 18), (7 << 18, (7 << 18) + 1)])
def test_nothing_is_counted_where_two_groups_have_the_same_number(numbers: tuple[int, int]) -> None:
    assert found([(1, 0), (1, 1), (2, 0)], 2, numbers) is None


def test_nothing_is_counted_where_most_rows_repeat_one(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = [(unit, key) for unit in range(3) for key in (0, 0, 0, 1)]
    assert found(rows, 5) is not None
    monkeypatch.setattr(repeats, "ENOUGH", 4)
    assert found(rows, 5) == [(KEYS[0], 9, 3), (KEYS[1], 3, 3)]  # half of them do, and not more
    assert found([*rows, (3, 0), (3, 0), (3, 0)], 5) is None


@pytest.mark.parametrize("units", [(2, 1), (1, 2, 2, 1), (1, 2, 0), (1, 1, 1, 3, 3, 2, 3)])
def test_rows_out_of_order_have_no_answer(sizes: None, units: tuple[int, ...]) -> None:
    for size in (1, 2, 3, 9):
        with pytest.raises(ValueError, match="do not lie in order"):
            found([(unit, 0) for unit in units], size)
