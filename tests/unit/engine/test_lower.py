"""What is asked of an engine adds up to what its numbers hold."""

from __future__ import annotations

import pytest

from dpsql.engine.lower import SUM_LIMIT, _prove_sum
from dpsql.errors import InvariantBroken
from dpsql.limits import MOST_ROWS


def test_a_sum_that_could_overflow_is_not_asked() -> None:
    _prove_sum(SUM_LIMIT // MOST_ROWS - 1)
    with pytest.raises(InvariantBroken, match="overflow"):
        _prove_sum(SUM_LIMIT // MOST_ROWS)
