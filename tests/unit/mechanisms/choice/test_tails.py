"""How rows are taken to thin out beyond what noise lets be seen."""

from __future__ import annotations

import pytest

from dpsql.mechanisms.choice.tails import FADES, NEAR, THINS, beyond, fading

pytestmark = pytest.mark.chance(0, "nothing is drawn")


def test_rows_thin_out_slowly_near_by_and_by_half_further_out() -> None:
    left = fading(NEAR + 4).tolist()
    assert left[: NEAR + 1] == pytest.approx([FADES**k for k in range(NEAR + 1)])
    assert left[NEAR + 3] == pytest.approx(FADES**NEAR * THINS[1] ** 3)


@pytest.mark.parametrize("far", [4.0, 5.0, 8.0, 31.0, 200.0])
def test_no_row_lies_farther_than_there_is_anything(far: float) -> None:
    by, squares = beyond(4.0, far)
    assert 0 <= by <= far - 4.0 and 0 <= squares <= far**2 - 16.0


def test_what_lies_farther_exceeds_an_edge_by_more() -> None:
    found = [beyond(4.0, 4.0 * 1.3**k) for k in range(30)]
    assert found == sorted(found)
