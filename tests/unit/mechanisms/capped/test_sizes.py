"""How many rows units have, from noised counts; what a cap moves, by brute force over every order of rows."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import pytest

from dpsql.mechanisms.capped.sizes import HIDDEN, LIKELY, SEEN, UNKNOWN, SizeSearch, UnitSizes
from dpsql.mechanisms.choice.clamp import edges_to
from dpsql.privacy.tables import RawTable
from dpsql.testing_samplers import Noiseless

EDGES = (1, 2, 4, 8, 10)


@pytest.mark.parametrize(("rows", "edges"), [(1, (1,)), (2, (1, 2)), (8, (1, 2, 4, 8)), (10, EDGES)])
def test_edges_double_up_to_the_cap(rows: int, edges: tuple[int, ...]) -> None:
    assert edges_to(rows) == edges


def test_every_unit_is_counted_where_its_last_row_is() -> None:
    raw = RawTable({"rank": [0, 1, 1, 4], "units": [3, 1, 2, 1], "rows": [9, 3, 2, 7]})
    assert SizeSearch(EDGES, Fraction(1, 8), 1).counted(raw, Noiseless()) == [3, 3, 0, 0, 1]


def test_a_count_must_stand_out_of_the_noise_the_more_the_more_rows_it_stands_for() -> None:
    search = SizeSearch(EDGES, Fraction(1, 8), 2)
    least = [16 * (LIKELY + math.log(2) * place) for place in range(5)]
    assert search.law.scale == 16
    assert search.believed([math.ceil(n + 0.1) for n in least]).units == tuple(math.ceil(n + 0.1) for n in least)
    assert search.believed([math.floor(n) for n in least]).units == (0.0,) * 5


def test_what_is_not_believed_may_be_left_out_all_the_same() -> None:
    search = SizeSearch(EDGES, Fraction(1, 8), 2)  # noise of scale 16
    sizes = search.believed([1_000, 300, -20, 30, 40])
    assert (sizes.units, sizes.doubted) == ((1_000.0, 300.0, 0.0, 0.0, 0.0), (0.0, 0.0, 0.0, 30.0, 40.0))
    typical = [1, 2, 3, 6, 9]  # rows of a unit of each class
    for place, cap in enumerate((1, 2, 4, 8)):
        beyond = [max(0, size - cap) for size in typical]
        hidden = HIDDEN * math.sqrt(2) * 16 * math.sqrt(sum(more**2 for more in beyond))
        lost = 30 * beyond[3] + 40 * beyond[4] + hidden
        assert sizes.missed(place) == pytest.approx(lost / (lost + 1_000 + 300 * min(cap, 2)))
    assert sizes.missed(4) == 0.0
    assert UnitSizes(EDGES, (1.0,) * 5).missed(0) == 0.0  # where nothing is noised nothing is hidden


def test_what_noise_alone_would_count_weighs_nothing_where_a_cap_is_chosen() -> None:
    search = SizeSearch(EDGES, Fraction(1, 8), 1)  # noise of scale 8
    of_noise, of_units = (search.believed([1_000, 0, 0, n, n]) for n in (8, 24))  # one scale, and three
    assert of_noise.missed(0, 0.0) > 0.08  # counts that are never below 0 pass for rows
    assert of_noise.missed(0, SEEN) == 0.0
    beyond = [0, 1, 2, 5, 8]
    stands_out = 24 * 13 - 2 * math.sqrt(2) * 8 * math.sqrt(sum(more**2 for more in beyond))
    assert of_units.missed(0, SEEN) == pytest.approx(stands_out / (stands_out + 1_000))
    assert of_units.missed(0, SEEN) < of_units.missed(0, 0.0) < of_units.missed(0)


def test_what_is_not_known_is_thought_to_drift() -> None:
    nothing = UnitSizes(EDGES, (0.0,) * 5)
    assert [nothing.drift(place) for place in range(5)] == [UNKNOWN] * 4 + [0.0]
    assert [nothing.sway(place) for place in range(5)] == [UNKNOWN] * 4 + [0.0]


def test_units_of_one_size_drift_nowhere() -> None:
    panel = UnitSizes(EDGES, (0.0, 0.0, 0.0, 500.0, 0.0))
    assert [panel.drift(place) for place in range(5)] == pytest.approx([0.0] * 5)
    assert panel.kept(1) == 1_000
    assert panel.sway(3) == panel.sway(4) == 0.0
    assert panel.sway(1) > panel.sway(2) > 0


@pytest.mark.parametrize("ones", [[0, 0, 1], [1, 1, 0], [0, 1, 1]])
@pytest.mark.parametrize("twos", [[(0, 0), (1, 1)], [(0, 1), (0, 1)], [(1, 1), (1, 1), (0, 1)]])
def test_no_share_of_rows_is_moved_further_than_drift_and_sway_say(
    ones: list[int], twos: list[tuple[int, int]]
) -> None:
    # Rows are 1 where they are at most v. Of each unit of two rows a cap of 1 keeps either with equal chance.
    sizes = UnitSizes((1, 2), (float(len(ones)), float(len(twos))))
    kept = len(ones) + len(twos)
    picks: list[tuple[int, ...]] = list(itertools.product(*twos))
    shares = [Fraction(sum(ones) + sum(picked), kept) for picked in picks]
    whole = Fraction(sum(ones) + sum(map(sum, twos)), len(ones) + 2 * len(twos))
    mean = sum(shares, Fraction(0)) / len(shares)
    spread = math.sqrt(sum((share - mean) ** 2 for share in shares) / len(shares))
    assert sizes.kept(0) == kept
    assert abs(mean - whole) <= sizes.drift(0) + 1e-12
    assert spread <= sizes.sway(0) + 1e-12
    assert sizes.drift(1) == sizes.sway(1) == 0.0


def test_the_drift_is_reached_where_units_of_many_rows_lie_apart() -> None:
    sizes = UnitSizes((1, 2), (3.0, 2.0))  # 3 rows of 7 are of units that weigh 3 / 5 within the cap
    assert sizes.drift(0) == pytest.approx(abs(3 / 5 - 3 / 7))
