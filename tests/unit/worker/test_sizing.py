"""Totals of units that are added up while rows stream by are those that plain Python adds up, however the rows come."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import Any

import nanoarrow
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from nanoarrow.c_array_stream import CArrayStream

from dpsql.worker import bins, columns, lying, ordered, sizing, wire

Row = tuple[int, int, int, int | None, int | None]  # The unit, the places of two keys, and two numbers.
Bins = tuple[int, int, Sequence[int]]
Kind = tuple[Bins | None, tuple[str, int]]  # The bins of a total, and what it adds up.
Cells = dict[tuple[int, ...], tuple[int, int, int]]
PLACES = (2, 3)
KINDS: tuple[Kind, ...] = (
    ((-6, 50, (1, 2, 4, 8)), ("sum", 0)),
    ((0, 2**53, (2**20, 2**30, 2**53)), ("sum", 1)),
    ((0, 9, (1, 2, 3)), ("rows", -1)),
    ((2, 9, (1, 2, 3)), ("count", 0)),
    (None, ("sum", 1)),
    (None, ("count", 1)),
)
ONE_SIGN: tuple[Kind, ...] = (
    ((0, 2**56, (2**20, 2**30, 2**56)), ("sum", 1)),
    ((0, 99, (1, 2, 3, 99)), ("rows", -1)),
    ((0, 20, (4, 9, 16, 20)), ("sum", 0)),
    (None, ("sum", 0)),
    ((0, 99, (1, 2, 99)), ("count", 1)),
    (None, ("rows", -1)),
)
"""Of these none is clamped for numbers from 0 to 9, until a unit has more than 20."""
NUMBERS = st.one_of(st.none(), st.integers(-3, 3), st.sampled_from([0, 40, 2**21, 2**50, -(2**50)]))
ROWS = st.lists(
    st.tuples(
        st.integers(0, 5), st.integers(0, 1), st.integers(0, 2), st.one_of(st.none(), st.integers(-9, 9)), NUMBERS
    )
)
QUIET = settings(deadline=None, suppress_health_check=list(HealthCheck))


@pytest.fixture(params=[1, 7, lying.PIECE])
def piece(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Rows are put together a few at a time, as millions are in earnest; then totals lack room."""
    monkeypatch.setattr(lying, "PIECE", request.param)
    monkeypatch.setattr(bins, "ROOM", 1 << 40 if request.param == 7 else bins.ROOM)
    monkeypatch.setattr(sizing, "TOGETHER", min(request.param, sizing.TOGETHER))


@pytest.fixture(params=[0, lying.ROOMY, 1000], ids=["sorted", "slots", "wide"])
def room(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """All ways to find the rows of a unit and group; the widest needs no look at where units change."""
    for module in (lying, sizing):
        monkeypatch.setattr(module, "ROOMY", request.param)


def stream(rows: Sequence[Row], keys: int, size: int, *, alone: bool = False) -> Any:
    """The rows as a stream of tables of so many rows each, as the worker's engine gives it."""
    places = (nanoarrow.int8(), nanoarrow.int16())[:keys]
    units = [] if alone else [nanoarrow.int32()]
    kinds = [*places, *units, nanoarrow.int16(), nanoarrow.int64()]
    schema = nanoarrow.struct({f"c{place}": kind for place, kind in enumerate(kinds)})
    tables = []
    for start in range(0, len(rows), size):
        part = rows[start : start + size]
        read = [*range(1, 1 + keys), *([] if alone else [0]), 3, 4]
        children = [nanoarrow.c_array([row[at] for row in part], kind) for at, kind in zip(read, kinds, strict=True)]
        tables.append(nanoarrow.c_array_from_buffers(schema, length=len(part), buffers=[None], children=children))
    return CArrayStream.from_c_arrays(tables, nanoarrow.c_schema(schema))


def found(rows: Sequence[Row], keys: int, size: int, kinds: Sequence[Kind] = KINDS) -> tuple[Cells, Cells]:
    """See `added_up`."""
    return added_up(lying.pieces(stream(rows, keys, size), PLACES[:keys]), keys, kinds)


def added_up(pieces: Iterable[lying.Piece], keys: int, kinds: Sequence[Kind] = KINDS) -> tuple[Cells, Cells]:
    """What was added up of pieces, as `compared`: by cell, which kind of total before its bin."""
    names = [f"c{place}" for place in range(keys)]
    binned, adds = [own for own, _ in kinds], [add for _, add in kinds]
    packed = wire.pack(sizing.sized(pieces, names, PLACES[:keys], binned, adds))
    of = [ordered.OF] if len(kinds) > 1 else []
    expected = [(name, "BIGINT") for name in (*names, *of, *ordered.SIZED[:-1])]
    read = columns.read(bytes(packed), [*expected, (ordered.SIZED[-1], "HUGEINT")])
    lists = [[int(value) for value in own] for own in read.values()]
    cells: Any = {row[:-3] if of else (*row[:-4], 0, row[-4]): row[-3:] for row in zip(*lists, strict=True)}
    return compared(cells, keys)


def compared(cells: dict[tuple[int, ...], Sequence[int]], keys: int) -> tuple[Cells, Cells]:
    """The totals of each cell; units and signs of all groups together: in which one a unit is counted is open."""
    totals: Cells = {cell: (0, 0, total) for cell, (_, _, total) in cells.items() if total}
    units = defaultdict[tuple[int, ...], list[int]](lambda: [0, 0])
    for cell, (many, signs, _) in cells.items():
        units[cell[keys:]][0] += many
        units[cell[keys:]][1] += signs
    return totals, {held: (*own, 0) for held, own in units.items() if any(own)}  # type: ignore[misc]


def added(row: Row, function: str, at: int) -> int:
    """What a row adds."""
    value = 1 if function == "rows" else row[3 + at]
    return 0 if value is None else value if function == "sum" else 1


def by_hand(rows: Sequence[Row], keys: int, kinds: Sequence[Kind] = KINDS) -> tuple[Cells, Cells]:
    """The same, unit by unit."""
    cells: dict[tuple[int, ...], list[int]] = defaultdict(lambda: [0, 0, 0])
    for of, (own, add) in enumerate(kinds):
        if own is None:
            for row in rows:
                cells[*row[1:3][:keys], of, 0][2] += added(row, *add)
            continue
        low, high, edges = own
        for unit in sorted({row[0] for row in rows}):
            totals: dict[tuple[int, ...], int] = defaultdict(int)
            for row in rows:
                if row[0] == unit:
                    totals[row[1:3][:keys]] += added(row, *add)
            kept = {group: max(low, min(high, total)) for group, total in totals.items()}
            kept = {group: total for group, total in sorted(kept.items()) if total}
            size = sum(map(abs, kept.values()))
            held = sum(size > edge for edge in edges)
            for place, (group, total) in enumerate(kept.items()):
                cell = cells[*group, of, held]
                cell[0] += place == 0
                cell[1] += (place == 0) * ((total > 0) - (total < 0))
                cell[2] += total
    return compared(dict(cells), keys)


@QUIET
@given(rows=ROWS, size=st.integers(1, 12))
def test_rows_that_are_alone_need_no_units_and_no_order(piece: None, rows: list[Row], size: int) -> None:
    alone = [(unit, *row[1:]) for unit, row in enumerate(rows)]
    assert added_up(lying.alone(stream(alone[::-1], 0, size, alone=True)), 0) == found(alone, 0, size)


@pytest.mark.every(2)
@pytest.mark.parametrize("at_once", [False, True], ids=["unit by unit", "at once"])
@QUIET
@given(
    rows=st.lists(
        st.tuples(
            st.integers(0, 2),
            st.integers(0, 1),
            st.integers(0, 2),
            st.one_of(st.none(), st.integers(0, 9)),
            st.one_of(st.none(), st.integers(0, 3), st.sampled_from([2**21, 2**50])),
        ),
        max_size=40,
    ),
    size=st.integers(1, 12),
    keys=st.integers(1, 2),
)
def test_rows_of_one_sign_are_added_up_at_once(
    monkeypatch: pytest.MonkeyPatch, piece: None, at_once: bool, rows: list[Row], size: int, keys: int
) -> None:
    if not at_once:
        monkeypatch.setattr(sizing._Sizes, "_at_once", lambda *_: False)
    rows.sort(key=lambda row: row[0])
    assert found(rows, keys, size, ONE_SIGN) == by_hand(rows, keys, ONE_SIGN)


@pytest.mark.every(2)
@pytest.mark.parametrize("kind", [*KINDS, ((0, 9, (1, 2, 9)), ("sum", 0))])
@QUIET
@given(rows=ROWS.filter(lambda rows: len(rows) > 5), size=st.integers(1, 12))
def test_totals_that_are_clamped_or_cancel_are_not_added_up_at_once(kind: Kind, rows: list[Row], size: int) -> None:
    rows.sort(key=lambda row: row[0])
    for kinds in ((kind,), (kind, *ONE_SIGN[-2:])):
        assert found(rows, 1, size, kinds) == by_hand(rows, 1, kinds)


@pytest.mark.every(3)
@QUIET
@given(rows=ROWS, size=st.integers(1, 12), keys=st.integers(0, 2))
def test_totals_are_added_up_by_the_size_of_their_units(
    piece: None, room: None, rows: list[Row], size: int, keys: int
) -> None:
    rows.sort(key=lambda row: row[0])
    assert found(rows, keys, size) == by_hand(rows, keys)


@QUIET
@given(data=st.data(), edges=st.sets(st.integers(1, 2**53) | st.integers(0, 53).map(lambda k: 2**k), max_size=40))
def test_the_bin_of_a_size_is_the_first_whose_edge_it_does_not_exceed(data: st.DataObject, edges: set[int]) -> None:
    rising = sorted(edges)
    near = [size for edge in rising for size in (edge - 1, edge, edge + 1) if 1 <= size <= 2**53]
    sizes = [*near, *data.draw(st.lists(st.integers(1, 2**53), min_size=1))]
    total = bins.Binned(0, 2**53, rising, 1)
    few, many = [s for s in sizes if s < bins.TABLED], [s for s in sizes if s >= bins.TABLED]
    for own in [own for own in (few, many, sizes) if own]:
        assert total._binned(np.array(own)).tolist() == [sum(size > edge for edge in rising) for size in own]


def test_the_bin_of_a_size_that_no_float_holds() -> None:
    edges = [2**55 - 1]
    total = bins.Binned(0, 2**56, edges, 1)
    assert total._binned(np.array([2**55 - 1, 2**55, 5000])).tolist() == [0, 1, 0]


def test_edges_are_mostly_so_far_apart_that_tables_tell_all_bins() -> None:
    edges = sorted({step * 2**k >> 1 for k in range(1, 53) for step in (2, 3)})
    least, below, following = bins._heads(np.array(edges))
    assert len(below) == len(following) > 50 * 16
    close = bins._heads(np.array([*edges, 2**52 + 1, 2**52 + 2]))
    assert close[0] == least and not len(close[1])


def test_sums_beyond_what_a_float_holds_are_exact(piece: None) -> None:
    rows = [(unit, 0, 0, 1, 2**53 - unit) for unit in range(6)]
    totals, units = found(rows, 0, 4)
    assert (totals[1, 2], units[1, 2]) == ((0, 0, 6 * 2**53 - 15), (6, 6, 0))
    assert [found(rows, keys, 4)[0][*((0,) * keys), 4, 0] for keys in range(3)] == [(0, 0, 6 * 2**53 - 15)] * 3
    rows = [(unit, 0, 0, 1, number) for unit in range(3) for number in (2**52 - unit, 1 - 2**52, 2 - unit)]
    totals, units = found(rows, 1, 4)
    assert (totals[0, 1, 0], units[1, 0]) == ((0, 0, 4), (2, 2, 0))


@pytest.mark.parametrize("units", [(1, 2, 1), (2, 1), (3, 3, 2, 2), (1, 3, 2, 2)])
def test_units_that_do_not_rise_have_no_answer(piece: None, units: tuple[int, ...]) -> None:
    rows = [(unit, 0, 0, 1, 1) for unit in units]
    for size in (1, 2, 9):
        with pytest.raises(ValueError, match="do not lie in order"):
            found(rows, 1, size)


def test_only_whole_numbers_are_added_up_and_no_unit_is_missing() -> None:
    bad = nanoarrow.c_array([1.5], nanoarrow.float64())
    schema = nanoarrow.struct({"u": nanoarrow.int32(), "x0": nanoarrow.float64()})
    table = nanoarrow.c_array_from_buffers(
        schema, length=1, buffers=[None], children=[nanoarrow.c_array([1], nanoarrow.int32()), bad]
    )
    with pytest.raises(ValueError, match="only whole numbers"):
        list(lying.pieces(CArrayStream.from_c_arrays([table], nanoarrow.c_schema(schema)), ()))
    missing: Any = [(None, 0, 0, 1, 1)]
    with pytest.raises(ValueError, match="NULL"):
        list(lying.pieces(stream(missing, 0, 1), ()))
