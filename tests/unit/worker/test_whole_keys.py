"""Groups of one whole number, counted as rows stream by, are those that plain Python finds."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any

import nanoarrow
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from nanoarrow.c_array_stream import CArrayStream

from dpsql.worker import columns, lying, whole_keys, wire

Row = tuple[int, int | None]  # The unit, and its key: a number of days.

ROWS = st.lists(st.tuples(st.integers(0, 9), st.none() | st.integers(-7, 9) | st.integers(-300, 300)), max_size=60)
QUIET = settings(deadline=None, suppress_health_check=list(HealthCheck))
TYPES = {"BIGINT": nanoarrow.int64(), "DATE": nanoarrow.date32(), "TIMESTAMP": nanoarrow.timestamp("us")}
DAY = 24 * 3600 * 10**6  # Microseconds.


@pytest.fixture(params=[(1, 256, 0), (7, 2, 2), (7, 8, 16), (lying.PIECE, 32, 16)])
def sizes(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Rows are put together a few at a time, and sorted in short runs, as millions are in earnest.

    Units' first groups are looked for together, or one after the other.
    """
    piece, run, few = request.param
    monkeypatch.setattr(lying, "PIECE", piece)
    monkeypatch.setattr(whole_keys, "RUN", run)
    monkeypatch.setattr(whole_keys, "FEW", few)


DIGITS = 20  # Of ranks, below the numbers of units.


def lying_rows(kind: str, rows: Sequence[tuple[int, int | None]], size: int, *, ranked: bool = False) -> Any:
    """The rows as a stream of tables of so many each: units, with ranks that rise where wanted, and keys as stored."""
    number = nanoarrow.int64() if ranked else nanoarrow.int32()
    own = {"u": number, "k": TYPES[kind]}
    schema, tables = nanoarrow.struct(own), []
    for start in range(0, len(rows), size):
        units, keys = zip(*rows[start : start + size], strict=True)
        numbers = [(unit << DIGITS) + start + at for at, unit in enumerate(units)] if ranked else list(units)
        known = np.packbits([key is not None for key in keys], bitorder="little")
        stored = np.array([77 if key is None else key for key in keys], dtype=np.int32 if kind == "DATE" else np.int64)
        children = [
            nanoarrow.c_array(numbers, number),
            nanoarrow.c_array_from_buffers(TYPES[kind], len(keys), [None if None not in keys else known, stored]),
        ]
        tables.append(nanoarrow.c_array_from_buffers(schema, length=len(keys), buffers=[None], children=children))
    return CArrayStream.from_c_arrays(tables, nanoarrow.c_schema(schema))


def counted(
    kind: str, rows: Sequence[Row], size: int, firsts: tuple[int, int] = (0, 0)
) -> list[tuple[Any, ...]] | None:
    """Each group's key, rows and units; None where nothing is counted."""
    shown = [("k0", kind), ("m0", "BIGINT"), ("m1", "BIGINT")]
    step = DAY if kind == "TIMESTAMP" else 1
    stored = [(unit, None if key is None else key * step) for unit, key in rows]
    lies = lying_rows(kind, stored, size, ranked=any(firsts))
    own = whole_keys.by_key(lies, shown, [2], firsts, DIGITS * any(firsts))
    return None if own is None else list(zip(*columns.read(bytes(wire.pack(own)), shown).values(), strict=True))


def named(kind: str, key: int | None) -> Any:
    """A key as it is read."""
    if key is None or kind == "BIGINT":
        return key
    moment = datetime(1970, 1, 1) + timedelta(days=key)
    return moment if kind == "TIMESTAMP" else moment.date()


@QUIET
@given(rows=ROWS, size=st.integers(1, 12), kind=st.sampled_from(sorted(TYPES)))
def test_groups_have_their_rows_and_distinct_units(sizes: None, rows: list[Row], size: int, kind: str) -> None:
    rows.sort(key=lambda row: row[0])
    many, units = Counter(key for _, key in rows), Counter(key for _, key in set(rows))
    keys = sorted(many, key=lambda key: (key is None, key))
    assert counted(kind, rows, size) == [(named(kind, key), many[key], units[key]) for key in keys]


def first(rows: Sequence[Row], most_rows: int, most_groups: int) -> list[Row]:
    """The rows of each unit that count."""
    held, groups, found = Counter[int](), dict[int, list[int | None]](), list[Row]()
    for unit, key in rows:
        held[unit] += 1
        if most_rows and held[unit] > most_rows:
            continue
        own = groups.setdefault(unit, [])
        if key not in own:
            own.append(key)
        if not most_groups or own.index(key) < most_groups:
            found.append((unit, key))
    return found


@QUIET
@given(
    rows=ROWS,
    size=st.integers(1, 12),
    kind=st.sampled_from(sorted(TYPES)),
    most_rows=st.integers(0, 5),
    most_groups=st.integers(0, 4),
)
def test_each_unit_is_cut_to_its_first_rows_and_groups(
    sizes: None, rows: list[Row], size: int, kind: str, most_rows: int, most_groups: int
) -> None:
    rows.sort(key=lambda row: row[0])
    kept = first(rows, most_rows, most_groups)
    many, units = Counter(key for _, key in kept), Counter(key for _, key in set(kept))
    keys = sorted(many, key=lambda key: (key is None, key))
    found = counted(kind, rows, size, (most_rows, most_groups))
    assert found == [(named(kind, key), many[key], units[key]) for key in keys]


@pytest.mark.parametrize("most", [1, 3, 100, 128, 129, 300])
def test_units_of_many_rows_are_counted_beside_the_ends_of_runs(most: int) -> None:
    random = np.random.default_rng(most)
    spans = random.integers(1, most + 1, 40)
    units = np.repeat(random.choice(9 * 10**7, 40, replace=False), spans)
    units.sort()
    rows = [(int(unit), int(key)) for unit, key in zip(units, random.integers(-40, 40, len(units)), strict=True)]
    distinct = Counter(key for _, key in set(rows))
    found = counted("DATE", rows, 10**6)
    assert found is not None
    assert {key: units for key, _, units in found} == {named("DATE", key): own for key, own in distinct.items()}


def test_wide_numbers_of_unit_and_key_are_told_apart() -> None:
    rows = [(unit, key) for unit in (0, 5, (1 << 31) - 1) for key in (0, (1 << 17), 0)]
    assert counted("BIGINT", rows, 4) == [(0, 6, 3), (1 << 17, 3, 3)]


@pytest.mark.parametrize(
    ("kind", "keys"),
    [("BIGINT", (0, 1 << whole_keys.MOST)), ("BIGINT", (-(1 << 63), (1 << 63) - 1)), ("DATE", (-(1 << 31), 5))],
)
def test_nothing_is_counted_where_keys_lie_too_far_apart(
    monkeypatch: pytest.MonkeyPatch, kind: str, keys: tuple[int, int]
) -> None:
    monkeypatch.setattr(lying, "PIECE", 1)
    for size in (1, 2):  # in several pieces, or in one
        assert counted(kind, [(1, keys[0]), (2, keys[1])], size) is None
        assert counted(kind, [(1, keys[1] - 1), (2, keys[1])], size) is not None


def test_moments_are_counted_where_they_are_whole_days() -> None:
    shown = [("k0", "TIMESTAMP"), ("m0", "BIGINT")]
    for moments, known in (([0, -DAY, 3 * DAY], True), ([0, DAY, DAY + 1], False), ([0, -DAY - 1], False)):
        rows = [(1, moment) for moment in moments]
        assert (whole_keys.by_key(lying_rows("TIMESTAMP", rows, 9), shown, [1]) is not None) == known


@pytest.mark.parametrize("units", [(2, 1), (1, 2, 2, 1), (1, 2, 0), (1, 1, 1, 3, 3, 2, 3)])
def test_rows_out_of_order_have_no_answer(sizes: None, units: tuple[int, ...]) -> None:
    for size in (1, 2, 3, 9):
        with pytest.raises(ValueError, match="do not lie in order"):
            counted("DATE", [(unit, 0) for unit in units], size)


def test_no_rows_are_no_groups() -> None:
    assert counted("DATE", [], 1) == []
