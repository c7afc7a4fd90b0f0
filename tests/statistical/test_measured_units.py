"""The measured loss of means and variances of units' totals: everything that they release, on neighbours.

The exact loss of whole transcripts is worked out in tests/unit/mechanisms/clamped.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any
from unittest.mock import patch

import numpy as np
import pytest

from dpsql.audit.held_out import Floats, bound
from dpsql.mechanisms.clamped.mean import ClampedMean
from dpsql.mechanisms.clamped.units import UnitsQuery
from dpsql.mechanisms.noise.laws import LaplaceLaw
from dpsql.privacy.sampling import ExactSampler, Sampler
from dpsql.privacy.tables import RawTable
from dpsql.testing_samplers import FixedSampler
from tests.statistical.thresholds import P_THRESHOLD
from tests.unit.mechanisms.clamped import test_mean as means
from tests.unit.mechanisms.clamped import test_variance as variances
from tests.unit.mechanisms.clamped.transcripts import raw_of

DRAWS = 400  # A side: enough to see a loss far above 1.
HEAVY = [100_000] * means.MOST

Pair = tuple[ClampedMean, RawTable, RawTable]


def of_a_mean() -> Pair:
    release, held = means.release_of(), means.people(2, 3, 30_000.0)
    return release, raw_of(held + Counter([(sum(HEAVY), len(HEAVY))])), raw_of(held)


def of_a_deviation() -> Pair:
    release = variances.release_of()
    held = variances.people(release, 2, 3, 30_000.0)
    heavy = variances.unit(HEAVY, release.query.coarse)
    return release, raw_of(held + Counter([heavy])), raw_of(held)


def drawn(release: ClampedMean, raw: RawTable, sampler: Sampler) -> Floats:
    """(DRAWS, k) of everything that is released."""
    rows = [[own[0] for own in release.release(raw, sampler).columns.values()] for _ in range(DRAWS)]
    return np.array([[np.nan if x is None else float(x) for x in row] for row in rows])


PAIRS = (of_a_mean, pytest.param(of_a_deviation, marks=pytest.mark.slow))


@pytest.mark.chance(P_THRESHOLD, "the bound on the loss is above the loss")
@pytest.mark.parametrize("pair", PAIRS)
def test_the_measured_loss_never_exceeds_the_price(pair: Callable[[], Pair]) -> None:
    release, one, two = pair()
    assert bound(drawn(release, one, ExactSampler()), drawn(release, two, ExactSampler()), 0.0, P_THRESHOLD) <= 1


@pytest.mark.parametrize("pair", PAIRS)
def test_a_twentieth_of_the_noise_is_found_out(pair: Callable[[], Pair]) -> None:
    def quiet(query: UnitsQuery, share: Any, reach: int = 1) -> LaplaceLaw:
        return LaplaceLaw(own(query, share, reach).scale / 20)

    own = UnitsQuery.law
    with patch.object(UnitsQuery, "law", quiet):
        release, one, two = pair()
        more, fewer = (drawn(release, raw, FixedSampler(f"quiet {at}")) for at, raw in enumerate((one, two)))
        assert bound(more, fewer, 0.0, P_THRESHOLD) > 1
