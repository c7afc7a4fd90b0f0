"""Values that a statement cannot tell apart are one, and no slope changes."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from dpsql.mechanisms.metric import Chain, Discrete, Lines, Metric, Star, WithNull
from dpsql.mechanisms.metric.merged import merged

KINDS: list[Metric] = [
    Chain.even(40, Fraction(1, 2)),
    Chain.of([Fraction(1 + place % 3) for place in range(39)]),
    Discrete(40, Fraction(3)),
    Star.of([Fraction(1 + place % 5) for place in range(40)]),
    WithNull(Chain.even(39, Fraction(1, 2)), Fraction(2)),
    WithNull(Discrete(39, Fraction(1)), Fraction(1, 3)),
]


@pytest.mark.parametrize("metric", KINDS)
@pytest.mark.parametrize("seed", range(6))
def test_slopes_are_those_of_all_values(metric: Metric, seed: int) -> None:
    rng = np.random.default_rng(seed)
    edges = np.sort(rng.integers(1, metric.size, size=4))
    values = np.searchsorted(edges, np.arange(metric.size), side="right") * rng.integers(1, 5)
    groups = (np.arange(metric.size) > edges[1]).astype(int)
    lines = np.stack([values, values[::-1] if seed % 2 else values]).astype(object)
    own = merged(metric, [lines.T, groups[:, None].astype(object)])
    kept = list(own.kept)
    for grouped in (None, np.stack([groups, groups])):
        whole = Lines(lines.astype(np.int64), grouped)
        fewer = Lines(lines[:, kept].astype(np.int64), None if grouped is None else grouped[:, kept])
        assert own.metric.slope(fewer) == metric.slope(whole)
    for value in range(metric.size):
        same = kept[own.place[value]]
        assert [*lines[:, value], groups[value]] == [*lines[:, same], groups[same]]


@pytest.mark.slow
def test_an_interval_of_many_values_needs_few() -> None:
    old = (np.arange(10**6) > 730_000).astype(object)[:, None]
    assert merged(Chain.even(10**6, Fraction(1)), [old]).kept == (0, 730_000, 730_001, 999_999)
    assert merged(Discrete(10**6, Fraction(1)), [old]).kept == (0, 730_001)


def test_what_is_not_looked_at_is_one_value() -> None:
    assert merged(Chain.even(50, Fraction(1)), []).kept == (0,)
    assert merged(Discrete(50, Fraction(1)), []).kept == (0,)
    assert len(merged(KINDS[3], []).kept) == 40
