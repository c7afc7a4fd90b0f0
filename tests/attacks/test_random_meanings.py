"""Random statements of the SQL whose bounds and rows are worked out: without noise they answer what DuckDB answers."""

from __future__ import annotations

from collections import Counter
from unittest.mock import patch

import pytest

from dpsql.answers.computed.postprocess import PostProcess
from dpsql.plan.intervals import Interval
from dpsql.plan.known import narrowing
from dpsql.plan.nodes import Apply
from dpsql.plan.values.boxes import Box, Range
from dpsql.plan.values.differences import of_difference
from dpsql.plan.values.steps import NOTHING
from tests.attacks.random_meanings import INSIDE, compared
from tests.attacks.random_replay import assert_none_convicts

pytestmark = pytest.mark.chance(0, "no noise is drawn")

SEEDS = (3, 11, 15)  # Each kind of statement is compared in one of them, and bounds of differences are reached.
MANY = 100


def test_answers_without_noise_are_those_of_duckdb(after: PostProcess) -> None:
    seen = Counter[str]()
    assert [problem for seed in SEEDS for problem in compared(seed, after, seen)] == []
    assert all(seen[kind] for kind in ("differences", *INSIDE)), seen


@pytest.mark.slow
def test_they_are_in_many_new_worlds(after: PostProcess, seed: int) -> None:
    assert_none_convicts("world", compared, after, range(seed, seed + MANY), "tests.attacks.random_meanings")


def test_a_difference_whose_bound_is_one_too_low_is_convicted(after: PostProcess) -> None:

    def less(expression: Apply, box: Box) -> Range:
        found = of_difference(expression, box)
        if found is NOTHING or not isinstance(found, Interval) or found.high is None:
            return found
        return Interval(found.low, max(found.high - 1, found.low or found.high - 1))

    with patch.object(narrowing, "of_difference", less):
        assert any(True for seed in SEEDS for _ in compared(seed, after))
