"""Which questions a workload names, and which cells each of them counts."""

from __future__ import annotations

import numpy as np
import pytest

from dpsql.errors import ProgrammingError
from dpsql.mechanisms.releases.workload import Questions, Wanted, default_workload, read_workload

NAMES = ("age", "sex", "size")


def test_unsaid_it_is_ranges_of_what_is_ordered_and_pairs() -> None:
    assert default_workload([9], [True]) == (Questions("ranges", (0,)),)
    assert default_workload([9], [False]) == (Questions("marginals", (0,), 1),)
    assert default_workload([9, 2], [True, False]) == (Questions("ranges", (0,)), Questions("marginals", (0, 1), 2))


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "no text of questions"),
        ("ranges age", "cannot be read"),
        ("ranges(age), ", ""),
        ("ranges(weight)", "names no column of age, sex, size"),
        ("ranges()", "names no column"),
        ("marginals(4)", "from 1 to 3"),
        ("marginals(two)", "from 1 to 3"),
        ("halfspaces(age)", "does not name 2 to 4 columns"),
        ("rectangles(age)", "does not name 2 to 3 columns"),
        ("rectangles(age, AGE)", "does not name 2 to 3 columns"),
        ("rectangles(age, weight)", "names no column of age, sex, size"),
        ("medians(age)", "no questions 'medians'"),
    ],
)
def test_what_cannot_be_read_is_refused_with_what_to_write(text: str, words: str) -> None:
    if not words:
        assert read_workload(text, NAMES) == (Questions("ranges", (0,)),)
        return
    with pytest.raises(ProgrammingError, match=words):
        read_workload(text, NAMES)


def test_masks_count_the_cells_of_each_question() -> None:
    own = Wanted(NAMES, ((1, 2, 3), ("F", "M"), (-1, 1, None)), read_workload("Ranges(AGE), marginals(2)", NAMES))
    masks = own.masks()
    assert masks.shape == (own.questions(), own.cells) == (2 + 6 + 9 + 6, 18)
    assert masks[:2].sum(axis=1).tolist() == [6, 12]
    assert (masks[2:].sum(axis=0) == 3).all()  # every cell is in one cell of each of three tables
    plane = Wanted(NAMES, own.domains, read_workload("halfspaces(age, size)", NAMES))
    points = plane.points((0, 2))
    assert (points[2::3] == 0).all()  # rows with a NULL are in no half plane
    assert (plane.masks()[0] == (points[:, 0] > 0)).all()
    assert np.allclose(plane.masks().sum(axis=1), plane.masks()[:, points.any(axis=1)].sum(axis=1))
