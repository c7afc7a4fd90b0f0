"""Releases on small universes: what draws on neighbouring tables tell apart, beside the claim, at 99.9% confidence.

Half of the draws on either side order the outcomes by how often each side shows them; of the events so found, the other
half says how often they happen, with Clopper and Pearson's bounds. Draws are always the same, so that no test fails by
chance. `smalldb` has no part in it: its law is compared exactly (tests/unit/mechanisms/releases/test_smalldb.py).
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Hashable
from fractions import Fraction

import numpy as np
import pytest

from dpsql.audit.measured import lower, upper
from dpsql.mechanisms.releases.cells import noisy_cells
from dpsql.mechanisms.releases.halfspaces import learnt_half_spaces
from dpsql.mechanisms.releases.intervals import noisy_cuts
from dpsql.mechanisms.releases.marginals import noisy_marginals
from dpsql.mechanisms.releases.mwem import learnt_histogram
from dpsql.mechanisms.releases.payment import Payment
from dpsql.mechanisms.releases.projected import circle, projected_points, random_signs
from dpsql.mechanisms.releases.rectangles import noisy_boxes
from dpsql.mechanisms.releases.shares import Whole
from dpsql.mechanisms.releases.tree import noisy_tree
from dpsql.privacy.sampling import Sampler
from dpsql.testing_samplers import FixedSampler, Noiseless

MISS = 0.001  # 99.9% confidence, for all events of one audit together
SHARES = (0.02, 0.05, 0.1, 0.2, 0.35, 0.5)  # of the draws on one side, in the events that are tried
EPSILON = Fraction(2)
POINTS = np.array([[x, y, z] for x in (-1.0, 1.0) for y in (-1.0, 2.0) for z in (-2.0, 1.0)])
SIGNS = random_signs(2, 2, 3, Noiseless())

Release = Callable[[Whole, Payment, Sampler], Hashable]


def cells(counts: Whole, payment: Payment, sampler: Sampler) -> Hashable:
    return tuple(noisy_cells(counts[:2], payment, sampler).noised.tolist())


def tree(counts: Whole, payment: Payment, sampler: Sampler) -> Hashable:
    return tuple(noisy_tree(counts[:2], payment, sampler).estimates.round(3).tolist())


def rows_of(counts: Whole, columns: int) -> Whole:
    """Rows of so many columns of two codes."""
    codes = np.array(np.unravel_index(np.arange(8), (2, 2, 2)), dtype=np.int64).T[:, :columns]
    return np.repeat(codes, counts, axis=0)


def marginals(counts: Whole, payment: Payment, sampler: Sampler) -> Hashable:
    found = noisy_marginals(rows_of(counts, 3), (2, 2, 2), payment, sampler)
    return tuple(found.pairs), found.total, int(sum(table[0, 0] for table in found.pairs.values()))


def long_marginals(counts: Whole, payment: Payment, sampler: Sampler) -> Hashable:
    codes = rows_of(counts, 2) * np.array([40, 1])
    found = noisy_marginals(codes, (64, 2), payment, sampler)
    return len(found.columns[0]), found.total, int(found.pairs[0, 1][0, 0])


def intervals(counts: Whole, payment: Payment, sampler: Sampler) -> Hashable:
    exact = np.cumsum(counts)
    found = noisy_cuts(lambda b: int(exact[b - 1]), 8, payment, sampler, parts=3)
    return found.total, found.cuts


def rectangles(counts: Whole, payment: Payment, sampler: Sampler) -> Hashable:
    found = noisy_boxes(rows_of(counts, 2), (2, 2), 2, payment, sampler)
    return tuple(found.numbers.tolist())[:2], len(found.numbers)


def mwem(counts: Whole, payment: Payment, sampler: Sampler) -> Hashable:
    asked = np.array([[1, 1, 0, 0, 0, 0, 0, 0], [1, 0, 1, 0, 1, 0, 1, 0], [0, 0, 0, 0, 0, 1, 1, 1]], dtype=bool)
    found = learnt_histogram(counts, asked, payment, sampler, rounds=1)
    return found.asked, found.measured


def halfspaces(counts: Whole, payment: Payment, sampler: Sampler) -> Hashable:
    found = learnt_half_spaces(counts, POINTS, payment, sampler, rounds=1).learnt
    return found.asked[0] % 2, found.measured


def projected(counts: Whole, payment: Payment, sampler: Sampler) -> Hashable:
    found = projected_points(np.repeat(POINTS, counts, axis=0), SIGNS, circle(2), payment, sampler)
    return tuple(found.numbers[0].tolist())


METHODS: tuple[Release, ...] = (
    cells, tree, marginals, long_marginals, intervals, rectangles, mwem, halfspaces, projected,
)  # fmt: skip


def told_apart(release: Release, payment: Payment, one: Whole, other: Whole, size: int) -> float:
    """A lower bound on the loss between two tables."""
    name = getattr(release, "__name__", "")
    drawn = [
        [release(table, payment, FixedSampler(f"{name} {side} {i}")) for i in range(size)]
        for side, table in enumerate((one, other))
    ]
    half, best = size // 2, -math.inf
    for first, second in ((0, 1), (1, 0)):
        seen = [Counter(drawn[side][:half]) for side in (first, second)]
        falling = sorted(seen[0], key=lambda key: (seen[1][key] + 1) / (seen[0][key] + 1))
        found = [Counter(drawn[side][half:]) for side in (first, second)]
        for share in SHARES:
            event, held = set(), 0
            for key in falling:
                if held < share * half:
                    event.add(key)
                    held += seen[0][key]
            hits = [sum(found[side][key] for key in event) for side in (0, 1)]
            miss = MISS / (4 * len(SHARES))
            more, less = lower(hits[0], size - half, miss), upper(hits[1], size - half, miss)
            best = max(best, math.log(more / less) if more else -math.inf)
    return best


def neighbours(rows: int) -> tuple[Whole, Whole]:
    """A small table, and the same with so many rows more of one cell."""
    table = np.array([3, 1, 0, 2, 1, 0, 0, 2])
    return table, table + rows * (np.arange(8) == 0)


@pytest.mark.parametrize("release", [cells, intervals])
def test_few_draws_tell_no_more_apart_than_is_paid_for(release: Release) -> None:
    assert told_apart(release, Payment("add_remove", epsilon=EPSILON), *neighbours(1), size=500) <= EPSILON


@pytest.mark.slow
@pytest.mark.sweep(3)
@pytest.mark.parametrize("rows", [1, 3])
@pytest.mark.parametrize("release", METHODS)
def test_no_release_tells_more_apart_than_is_paid_for(release: Release, rows: int) -> None:
    payment = Payment("add_remove", epsilon=EPSILON, rows=rows)
    assert told_apart(release, payment, *neighbours(rows), size=8000) <= EPSILON


@pytest.mark.slow
@pytest.mark.parametrize("release", METHODS)
def test_a_swap_tells_no_more_apart_than_is_paid_for(release: Release) -> None:
    table, more = neighbours(1)
    swapped = more - (np.arange(8) == 7)
    assert told_apart(release, Payment("replace_one", epsilon=EPSILON), table, swapped, size=8000) <= EPSILON


@pytest.mark.slow
@pytest.mark.parametrize("release", METHODS)
def test_a_unit_of_many_rows_that_is_paid_for_as_one_is_convicted(release: Release) -> None:
    """The audit sees losses that are there: sixty rows, paid for as one."""
    payment = Payment("add_remove", epsilon=EPSILON)
    assert told_apart(release, payment, *neighbours(60), size=4000) > EPSILON
