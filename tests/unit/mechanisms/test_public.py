"""The public number of rows."""

from __future__ import annotations

import pytest

from dpsql.mechanisms.base import Refusal
from dpsql.mechanisms.public import Public
from dpsql.privacy.kinds import Free
from dpsql.testing_samplers import Noiseless
from tests.unit.mechanisms.asking import CITY, OPEN, asking, offered, raw


@pytest.mark.parametrize("function", ["count_rows", "count_units"])
def test_the_number_of_fixed_rows_is_exact_and_free(function: str) -> None:
    release = offered(Public().offer(asking(function, neighbours="replace_one", rows_public=True)))
    released = release.release(raw([1234]), Noiseless())
    assert release.loss == Free("public")
    assert released.values == [1234]
    assert release.intervals(released, 0.95) == [(1234, 1234)]
    assert (release.sensitivity, release.scale, release.half_width) == (0, 0, 0)


def test_everything_else_is_refused() -> None:
    refused = [
        asking("count_rows"),
        asking("count_rows", rows_public=True),
        asking("count_rows", neighbours="replace_one"),
        asking("count_rows", neighbours="replace_one", keys=(CITY,)),
        asking("count_units", selects=True, keys=(OPEN,)),
        *(asking(f, neighbours="replace_one", rows_public=True) for f in ("count", "sum", "avg")),
    ]
    for request in refused:
        assert isinstance(Public().offer(request), Refusal)
