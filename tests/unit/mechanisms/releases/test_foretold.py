"""How much of a table questions sum, and how many of them there are."""

from __future__ import annotations

import pytest

from dpsql.mechanisms.releases.foretold import boxes_asked, cell_shares, codes_asked, extent, one_column
from dpsql.mechanisms.releases.workload import Wanted, read_workload

NAMES = ("a", "b")


def asked(workload: str) -> Wanted:
    return Wanted(NAMES, (range(8), range(4)), read_workload(workload, NAMES))


@pytest.mark.parametrize(
    ("workload", "number", "most"),
    [
        ("ranges(a)", 36, 32),
        ("ranges(a, b)", 46, 32),
        ("rectangles(a, b)", 360, 32),
        ("marginals(1)", 12, 8),
        ("marginals(2), ranges(b)", 42, 32),
        ("halfspaces(a, b)", 1 + 32 + 32 * 31 // 2, 32),
    ],
)
def test_questions_are_counted_with_the_most_cells_that_one_sums(workload: str, number: int, most: int) -> None:
    assert extent(asked(workload)) == (number, most)


def test_shares_of_cells_are_between_nothing_and_all() -> None:
    for workload in ("ranges(a)", "rectangles(a, b)", "marginals(2)", "halfspaces(a, b)"):
        assert all(0 < share <= 1 for share in cell_shares(asked(workload)))
    assert cell_shares(asked("marginals(2)")) == [1 / 32]
    assert codes_asked(9, "marginals") == [1]
    single = Wanted(("a",), (range(8),), read_workload("ranges(a)", ("a",)))
    assert all(0 <= start < stop <= 8 for start, stop in one_column(single))


def test_rectangles_of_one_side_are_ranges_and_of_two_are_no_squares_alone() -> None:
    assert boxes_asked([100]) == list(codes_asked(100, "ranges"))
    assert len(set(boxes_asked([100, 100]))) > 12
    assert max(boxes_asked([10, 10, 10])) <= 1000
