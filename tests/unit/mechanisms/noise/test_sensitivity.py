"""Sensitivities against every way in which one unit's rows can lie."""

from __future__ import annotations

import itertools
from dataclasses import replace

import pytest

from dpsql.errors import InvariantBroken
from dpsql.mechanisms.noise.sensitivity import measure_of, rows_fixed, sensitivity_of
from dpsql.plan.needs import Contribution
from dpsql.plan.types import Grid
from tests.unit.mechanisms.asking import CITY, FEW_ROWS, GRID, asking


def placements(held: Contribution, cells: int) -> list[tuple[int, ...]]:
    """Numbers of rows that one unit can have in each of some cells."""
    counts = itertools.product(range(held.rows_in_group + 1), repeat=cells)
    return [c for c in counts if sum(c) <= held.rows and sum(x > 0 for x in c) <= held.groups]


@pytest.mark.parametrize("rows", [1, 2, 3, 5, 7])
@pytest.mark.parametrize("groups", [1, 2, 3, 4])
@pytest.mark.parametrize("rows_in_group", [1, 2, 3])
def test_contribution_bounds_every_way_to_place_a_unit(rows: int, groups: int, rows_in_group: int) -> None:
    held = Contribution(rows, groups, rows_in_group)
    ways = placements(held, cells=4)
    assert held.l1() == max(sum(way) for way in ways)
    assert held.l2_squared() == max(sum(x * x for x in way) for way in ways)
    units = held.of_units()
    assert units.l1() == max(sum(x > 0 for x in way) for way in ways)
    assert units.l2_squared() == units.l1()


@pytest.mark.parametrize("neighbours", ["add_remove", "replace_one"])
@pytest.mark.parametrize("function", ["count_rows", "count", "count_units", "sum"])
def test_sensitivity_bounds_every_pair_of_neighbours(function: str, neighbours: str) -> None:
    held, grid = Contribution(rows=3, groups=2, rows_in_group=2), Grid(GRID.step, low=-2, high=3)
    request = asking(function, held=held, keys=(CITY,), neighbours=neighbours, grid=grid)
    moved = sensitivity_of(request, measure_of(request))

    def totals(way: tuple[int, ...]) -> list[tuple[int, ...]]:
        if function == "count_units":
            return [tuple(int(x > 0) for x in way)]
        # Extremes are enough: every row holds the lowest or the highest value, or NULL (as if it were not there).
        return [tuple(x * v for x, v in zip(way, values, strict=True)) for values in itertools.product(ends, repeat=3)]

    ends = (grid.low, grid.high) if function == "sum" else (1,)
    units = {vector for way in placements(held, cells=3) for vector in totals(way)}
    others = units if neighbours == "replace_one" else {(0, 0, 0)}
    moves = [tuple(a - b for a, b in zip(u, v, strict=True)) for u in units for v in others]
    assert moved.l1 >= max(sum(map(abs, move)) for move in moves)
    assert moved.l2_squared >= max(sum(x * x for x in move) for move in moves)
    assert not moved.one_cell
    if neighbours == "add_remove":
        assert moved.l1 == max(sum(map(abs, move)) for move in moves)
        assert moved.l2_squared == max(sum(x * x for x in move) for move in moves)


def test_replace_one_moves_groups_twice_as_much() -> None:
    one, two = (asking("sum", held=FEW_ROWS, keys=(CITY,), neighbours=n) for n in ("add_remove", "replace_one"))
    assert sensitivity_of(two, measure_of(two)).l1 == 2 * sensitivity_of(one, measure_of(one)).l1


@pytest.mark.parametrize("function", ["count_rows", "count", "count_units", "sum"])
@pytest.mark.parametrize(("low", "high"), [(0, 5), (-2, 3), (2, 3), (-4, -1), (0, 0)])
def test_without_groups_a_swap_moves_one_number_within_what_a_unit_can_add(function: str, low: int, high: int) -> None:
    held = Contribution(rows=3, groups=1, rows_in_group=3)
    request = asking(function, held=held, neighbours="replace_one", grid=Grid(GRID.step, low, high))
    moved = sensitivity_of(request, measure_of(request))
    rows = {"sum": (low, high), "count_units": (1,)}.get(function, (1,))
    most = 1 if function == "count_units" else 3
    units = [sum(x) for n in range(most + 1) for x in itertools.product(rows, repeat=n)]
    assert moved.l1 == max(1, max(units) - min(units))
    assert moved.l2_squared == moved.l1**2
    assert moved.one_cell


def test_a_swap_with_one_group_a_unit_can_move_two_cells() -> None:
    held = Contribution(rows=2, groups=1, rows_in_group=2)
    add, swap = (asking("count_rows", held=held, keys=(CITY,), neighbours=n) for n in ("add_remove", "replace_one"))
    assert sensitivity_of(add, measure_of(add)).one_cell
    assert not sensitivity_of(swap, measure_of(swap)).one_cell


@pytest.mark.parametrize(("low", "high", "width"), [(0, 110, 110), (18, 110, 110), (-5, 7, 12), (-9, -2, 9), (0, 0, 1)])
def test_fixed_rows_move_within_the_bounds_or_to_null(low: int, high: int, width: int) -> None:
    request = asking("sum", neighbours="replace_one", rows_public=True, grid=Grid(GRID.step, low, high))
    values = {0, *range(low, high + 1)}  # 0: NULL adds nothing
    assert sensitivity_of(request, measure_of(request)).l1 == width
    assert width >= max(values) - min(values)


def test_a_centred_sum_of_fixed_rows_has_the_width_of_the_bounds() -> None:
    request = asking("sum", neighbours="replace_one", rows_public=True, grid=Grid(GRID.step, 18, 110))
    measure = replace(measure_of(request), shift=60)
    assert sensitivity_of(request, measure).l1 == 110 - 18


def test_the_number_of_fixed_rows_does_not_move() -> None:
    for function in ("count_rows", "count_units"):
        request = asking(function, neighbours="replace_one", rows_public=True)
        assert sensitivity_of(request, measure_of(request)).l1 == 0
    values = asking("count", neighbours="replace_one", rows_public=True)
    assert sensitivity_of(values, measure_of(values)).l1 == 1


def test_public_rows_mean_nothing_under_add_remove() -> None:
    assert not rows_fixed(asking("count_rows", rows_public=True))


@pytest.mark.parametrize("impossible", [{"keys": (CITY,)}, {"held": FEW_ROWS}])
def test_public_rows_of_groups_or_of_many_rows_a_unit_are_a_bug(impossible: dict[str, object]) -> None:
    with pytest.raises(InvariantBroken, match="whole table with one row a unit"):
        rows_fixed(asking("sum", neighbours="replace_one", rows_public=True, **impossible))  # type: ignore[arg-type]  # one of two


def test_unknown_neighbours_are_a_bug() -> None:
    with pytest.raises(InvariantBroken, match="no sensitivity is proved for neighbours 'event'"):
        request = asking("sum", neighbours="event")
        sensitivity_of(request, measure_of(request))
