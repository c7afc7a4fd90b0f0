"""Distinct units of groups, from rows that lie unit by unit, are those that plain Python finds."""

from __future__ import annotations

import threading
import time
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
QUIET = settings(deadline=None, suppress_health_check=list(HealthCheck))
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


class Groups:
    """A stream of groups that takes its time, and knows who asked for it."""

    def __init__(self) -> None:
        self.asked, self.done = list[threading.Thread](), False

    def __arrow_c_stream__(self, requested_schema: object = None) -> Any:
        self.asked.append(threading.current_thread())
        time.sleep(0.05)
        self.done = True
        return stream(KINDS, [(KEYS[0], 3, 3, NUMBERS[0])], 1).__arrow_c_stream__()


def lying_rows(units: Sequence[int]) -> Any:
    return stream({"k": nanoarrow.uint64(), "u": nanoarrow.int32()}, [(NUMBERS[0], unit) for unit in units], 1)


@pytest.mark.parametrize(("enough", "told"), [(1, 1), (1000, 0)])
def test_it_is_told_once_that_many_rows_repeat_none(monkeypatch: pytest.MonkeyPatch, enough: int, told: int) -> None:
    monkeypatch.setattr(repeats, "ENOUGH", enough)
    monkeypatch.setattr(lying, "PIECE", 1)
    heard = list[None]()
    assert repeats._repeats(lying_rows([0, 1, 2, 3, 4]), lambda: heard.append(None)) is not None
    assert len(heard) == told


@pytest.mark.parametrize("enough", [1, 1000])
def test_another_thread_reads_the_groups(monkeypatch: pytest.MonkeyPatch, enough: int) -> None:
    monkeypatch.setattr(repeats, "ENOUGH", enough)
    monkeypatch.setattr(lying, "PIECE", 1)
    groups = Groups()
    assert repeats.apart(groups, lying_rows([0, 1, 2]), [2]) is not None
    assert len(groups.asked) == 1
    assert threading.current_thread() not in groups.asked


@pytest.mark.parametrize("units", [(0, 1, 2, 3, 2), (0, 1, 2, 3, 3, 3, 3, 3, 3, 3, 3)])
def test_nobody_reads_groups_behind_an_error_or_where_most_rows_repeat_one(
    monkeypatch: pytest.MonkeyPatch, units: tuple[int, ...]
) -> None:
    monkeypatch.setattr(repeats, "ENOUGH", 1)
    monkeypatch.setattr(lying, "PIECE", 1)
    groups = Groups()
    if units[-1] < units[-2]:
        with pytest.raises(ValueError, match="do not lie in order"):
            repeats.apart(groups, lying_rows(units), [2])
    else:
        assert repeats.apart(groups, lying_rows(units), [2]) is None
    assert groups.done
    assert not groups.asked[0].is_alive()
