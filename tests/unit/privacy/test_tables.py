"""Groups by column: the same as tuples, and what leaves leads to no raw number."""

from __future__ import annotations

import gc
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pytest

from dpsql.errors import InvariantBroken
from dpsql.mechanisms.choice.groups import in_groups
from dpsql.privacy import tables
from dpsql.privacy.packed import PackedValues
from dpsql.privacy.tables import Digits, GroupColumns, Listed, RawTable, ReleasedTable, listed

TEXTS = ["b", "a", None, "c"]
NUMBERS: Any = np.array([4, 3, 2, 1])
PLAIN: Sequence[tuple[Any, ...]] = [("b", 4), ("a", 3), (None, 2), ("c", 1)]


@pytest.fixture
def raw() -> RawTable:
    tens: Any = np.array([10, 20, 30, 40])
    return RawTable({"k0": TEXTS, "k1": NUMBERS, "m0": tens, "m1": [2**70, 1, 2, 3]})


def test_groups_are_a_sequence_of_tuples_of_plain_values() -> None:
    groups = GroupColumns([TEXTS, NUMBERS], 4)
    assert list(groups) == PLAIN == groups
    assert [groups[at] for at in range(-4, 4)] == [*PLAIN, *PLAIN]
    assert groups[1:3] == PLAIN[1:3]
    assert {type(number) for _, number in groups} == {type(groups[0][1])} == {int}
    assert groups != PLAIN[:3]
    assert groups != [*PLAIN[:3], ("c", 2)]
    assert groups != [list(group) for group in PLAIN]
    assert GroupColumns.of(PLAIN, 2) == groups
    assert GroupColumns.of(groups, 2) is groups
    with pytest.raises(IndexError):
        groups[4]


@pytest.mark.parametrize("size", [0, 1, 3])
def test_without_keys_each_group_is_the_empty_tuple(size: int) -> None:
    assert list(GroupColumns([], size)) == [()] * size == list(GroupColumns.of([()] * size, 0))


def test_columns_have_one_length() -> None:
    with pytest.raises(InvariantBroken):
        GroupColumns([TEXTS, NUMBERS[1:]], 4)
    with pytest.raises(InvariantBroken):
        GroupColumns([TEXTS], 4, None, np.arange(3))


@pytest.mark.parametrize("kept", [[], [2], [3, 0], [0, 1, 2, 3]])
def test_numbers_of_groups_found_in_a_table_are_those_of_groups_looked_up(raw: RawTable, kept: list[int]) -> None:
    keys, columns = ("k0", "k1"), {"x": "m0", "y": "m1"}
    found = GroupColumns([TEXTS, NUMBERS], 4, raw, np.arange(4)).take([3, 1, 2, 0]).take(kept)
    own, looked_up = (raw.aligned(keys, groups, columns) for groups in (found, list(found)))
    for name in columns:
        assert own.column(name) == looked_up.column(name)
        assert {type(value) for value in own.column(name)} <= {int}


def test_groups_of_another_table_are_looked_up(raw: RawTable) -> None:
    other = RawTable({"k0": TEXTS[::-1], "k1": NUMBERS[::-1], "m0": NUMBERS[::-1]})
    found = GroupColumns([TEXTS, NUMBERS], 4, raw, np.arange(4))
    assert other.aligned(("k0", "k1"), found, {"x": "m0"}).column("x") == [4, 3, 2, 1]
    with pytest.raises(InvariantBroken):
        raw.aligned(("k0",), found, {"x": "m0"})


def test_what_leaves_leads_to_no_raw_table(raw: RawTable) -> None:
    def reached(start: object) -> Iterator[object]:
        seen, waiting = set[int](), [start]
        while waiting:
            own = waiting.pop()
            if id(own) not in seen and not isinstance(own, type):
                seen.add(id(own))
                yield own
                waiting += gc.get_referents(own)

    inside = GroupColumns([TEXTS, NUMBERS], 4, raw, np.arange(4)).take([0, 2])
    assert any(own is raw for own in reached(inside))
    assert not any(isinstance(own, RawTable) for own in reached(inside.alone()))


def test_columns_of_a_release_that_are_one_stay_one() -> None:
    values = [1, 2, 3]
    kept = ReleasedTable({"value": values, "steps": values, "other": [4, 5, 6]}).take(np.array([2, 0]))
    assert kept.columns == {"value": [3, 1], "steps": [3, 1], "other": [6, 4]}
    assert kept.columns["value"] is kept.columns["steps"]


@pytest.mark.parametrize("rows", [[0, 1, 2], [0, 2, 1], [0, 1], [1, 1, 2], []])
def test_groups_are_taken_in_the_wanted_order_and_not_copied_where_all_are(rows: list[int]) -> None:
    found, released = GroupColumns([["a", "b", None]], 3), ReleasedTable({"value": [5, 6, None]})
    taken, shown = found.take(rows), released.take(np.array(rows, dtype=np.int64))
    assert list(taken.columns[0]) == [["a", "b", None][row] for row in rows]
    assert shown.values == [[5, 6, None][row] for row in rows]
    assert (taken is found) == (shown is released) == (rows == [0, 1, 2])


@pytest.mark.parametrize(("below", "digits", "low"), [(0, None, 0), (0, 3, -5), (2, 4, 7), (3, None, 1)])
def test_digits_are_taken_out_of_what_is_looked_at(below: int, digits: int | None, low: int) -> None:
    words: Any = np.array([0, 0b1011_0111, 0b0100_1010, 0b1011_0111, 7], dtype=np.int64)
    wanted = [(word >> below) % (1 << (digits or 62)) + low for word in words.tolist()]
    found = Digits(words, below, digits, low)
    assert np.asarray(found).dtype == np.int64
    assert np.asarray(found, dtype=np.float64).tolist() == found.tolist() == list(found) == wanted
    assert [found[at] for at in range(-5, 5)] == wanted * 2
    assert found[1:4].tolist() == wanted[1:4]
    assert found[np.array([3, 0])].tolist() == [wanted[3], wanted[0]]
    assert words.tolist() == [0, 0b1011_0111, 0b0100_1010, 0b1011_0111, 7]  # nothing is changed there


def test_numbers_of_one_byte_become_wide_ones() -> None:
    words: Any = np.array([200, 100], dtype=np.uint8)
    assert (np.asarray(Digits(words)) * 2).tolist() == [400, 200]


@pytest.mark.parametrize("kept", [[("a", 0), ("b", 1)], [("b", 1), ("a", 0), ("b", 0)], [("a", 0)], []])
@pytest.mark.parametrize("close", [1, 2, 100])
def test_groups_of_digits_are_those_of_plain_columns(
    monkeypatch: pytest.MonkeyPatch, kept: list[tuple[str, int]], close: int
) -> None:
    monkeypatch.setattr(tables, "CLOSE", close)
    words: Any = np.array([place << 4 | number << 3 | x for place, number, x in sorted(CELLS)])
    digits = {"k0": Listed(Digits(words, 4), ["a", "b"]), "k1": Listed(Digits(words, 3, 1), [0, 1])}
    plain = {name: column.tolist() for name, column in digits.items()}
    values: Any = np.asarray(Digits(words, 0, 3))
    one, two = (RawTable({**keys, "x": values}).by_group(("k0", "k1"), kept, ("x",)) for keys in (digits, plain))
    lazy = RawTable({**digits, "x": Digits(words, 0, 3)}).by_group(("k0", "k1"), kept, ("x",))
    for name in ("group", "x"):
        assert listed(one.column(name)) == listed(two.column(name)) == listed(lazy.column(name))
    wanted = {group: [x for p, n, x in sorted(CELLS) if ("ab"[p], n) == group] for group in kept}
    found = [values.tolist() for (values,) in in_groups(lazy, "x")]
    assert found == list(wanted.values())


CELLS = [(0, 0, 1), (0, 0, 5), (0, 1, 0), (1, 0, 7), (1, 1, 2), (1, 1, 3), (1, 1, 4)]


@pytest.mark.parametrize("present", [None, [True, False, True, True, True, False]])
def test_groups_of_packed_keys_are_those_of_plain_ones(present: list[bool] | None) -> None:
    values, there = np.array([0, 0, 3, 3, 0, 0], dtype=np.int32), None if present is None else np.array(present)
    packed: Any = PackedValues(values, np.ndarray.tolist, there)
    rows: Any = np.arange(6)
    for groups in ([(3,), (None,), (0,)], [(0,)], [(7,)]):
        found, plain = (
            RawTable({"k": keys, "m": rows}).by_group(["k"], groups, ["m"]) for keys in (packed, packed.tolist())
        )
        for name in ("group", "m"):
            assert np.asarray(found.column(name)).tolist() == np.asarray(plain.column(name)).tolist()
