"""Which ends the intervals of preprocessed statistics have where no statement asks for the mechanism."""

from __future__ import annotations

from collections import Counter

import pytest

from dpsql.testing_samplers import Noiseless
from tests.unit.mechanisms.asking import counted
from tests.unit.mechanisms.preprocessing.test_mechanism import BY_NAME, MUCH, offer


@pytest.mark.parametrize(
    ("function", "values", "known"),
    [
        ("quantile_cont", range(41, 90), (True, False)),
        ("quantile_cont", range(-90, 40), (False, True)),
        ("quantile_cont", range(81), (False, False)),
        ("var_pop", range(90), (True, False)),
        ("stddev_samp", range(90), (True, False)),
        ("avg", range(41, 90), (False, False)),
        ("trimmed_mean", range(41, 90), (False, False)),
        ("quantile_disc", range(41, 90), (False, False)),
    ],
)
def test_unasked_only_those_ends_of_intervals_stay_that_hold_before_a_statistic_is_moved(
    function: str, values: range, known: tuple[bool, bool]
) -> None:
    release = offer(function, price=MUCH)
    assert not release.bracketed
    ((low, high),) = release.intervals(release.release(counted(Counter(values)), Noiseless()), 0.95)
    assert (low is not None, high is not None) == known
    named = offer(function, price=MUCH, options=BY_NAME)
    assert named.bracketed
    ((below, above),) = named.intervals(named.release(counted(Counter(values)), Noiseless()), 0.95)
    assert (low, high) == (below if known[0] else None, above if known[1] else None)
