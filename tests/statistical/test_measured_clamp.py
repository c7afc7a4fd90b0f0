"""The loss of noise for each clamp that may be chosen, measured on neighbours; that of the choice itself is exact, in
tests/unit/mechanisms/clamped/test_mechanism.py."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from dpsql.audit.measured import loss_between
from dpsql.mechanisms.base import Price
from dpsql.mechanisms.clamped.mechanism import Clamped
from dpsql.mechanisms.clamped.release import ClampedRelease, Sizes, sizes_of
from dpsql.privacy.sampling import ExactSampler, Sampler
from dpsql.testing_samplers import FixedSampler
from tests.statistical.thresholds import P_THRESHOLD
from tests.unit.mechanisms.asking import CITY, asking
from tests.unit.mechanisms.clamped.test_mechanism import ALONE, MANY, raw_of

DRAWS = 20_000  # A side: enough to come near the loss.
CLAMPED = 4  # The place of a clamp that the heavy unit lies above.
UNITS = [{0: 3}, {0: 9, 1: 2}, {1: 6}]
HEAVY = {0: 120, 1: 60, 2: 20}


def release(epsilon: int, *, grouped: bool) -> ClampedRelease:
    held, keys = (MANY, (CITY,)) if grouped else (ALONE, ())
    offer = Clamped().offer(asking("count_rows", held=held, keys=keys, price=Price(Fraction(epsilon), Fraction(0))))
    assert isinstance(offer, ClampedRelease)
    return offer


def neighbours(offer: ClampedRelease, *, grouped: bool) -> tuple[Sizes, Sizes]:
    """With one unit that has all that its caps allow, and without."""
    units = UNITS if grouped else [{0: sum(unit.values())} for unit in UNITS]
    heavy = HEAVY if grouped else {0: sum(HEAVY.values())}
    bins = len(offer.need.edges) + 1
    one, two = (sizes_of(raw_of(offer, own, 3 if grouped else 1), bins) for own in ([*units, heavy], units))
    return one, two


def measured(offer: ClampedRelease, place: int, sides: tuple[Sizes, Sizes], sampler: Sampler) -> float:
    """A lower bound on the loss of the noise for that clamp."""
    law, exact = offer.law(place), [np.array(offer.within(side, place), dtype=np.float64) for side in sides]
    ratios = []
    for own in exact:
        x = own + law.draw(sampler, DRAWS * len(own)).reshape(DRAWS, len(own))
        ratios.append((np.abs(x - exact[1]) - np.abs(x - exact[0])).sum(axis=1) / float(law.scale))
    return loss_between(ratios[0], ratios[1], float(offer.epsilon), 0.0)


@pytest.mark.chance(P_THRESHOLD, "the bound on the loss is above the loss")
@pytest.mark.parametrize("grouped", [False, True])
def test_the_measured_loss_never_exceeds_the_part_of_the_price_that_is_for_noise(grouped: bool) -> None:
    offer = release(3, grouped=grouped)
    assert offer.epsilon == 3 * (1 - Fraction(3, 10))  # what so many units leave for it
    sides = neighbours(offer, grouped=grouped)
    assert measured(offer, CLAMPED, sides, ExactSampler()) <= offer.epsilon


def test_the_measure_comes_near_the_loss_of_a_unit_above_the_clamp() -> None:
    offer = release(3, grouped=False)
    sides = neighbours(offer, grouped=False)
    assert measured(offer, CLAMPED, sides, FixedSampler("near a clamp")) > 0.8 * float(offer.epsilon)
