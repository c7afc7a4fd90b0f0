"""What a unit of each class really loses, measured: draws on two tables that differ in that unit alone.

Measured losses are above the real ones with `P_THRESHOLD`; that they come near is shown on fixed draws.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

from dpsql.audit.measured import loss_between
from dpsql.audit.replay import RunPart
from dpsql.audit.shares import noised
from dpsql.mechanisms.preprocessing.personalised_release import ClippedTotal, PersonalisedExtreme
from dpsql.privacy.sampling import ExactSampler, Sampler
from dpsql.testing_samplers import FixedSampler
from tests.attacks.consenting import EPSILON, QUESTIONS, SHARES, Clinic
from tests.statistical.thresholds import P_THRESHOLD, SAMPLE_SIZE

ASKED = ("count", "units by ward", "extremes")
REMOVED = {"strict": "strict, heaviest", "normal": "normal, heaviest", "open": "open, in all groups"}

Parts = dict[tuple[str, str], RunPart]


@pytest.fixture(scope="module")
def parts() -> Iterator[Parts]:
    """The first release of each question, with everybody and without one unit of each class."""
    found: Parts = {}
    for name, gone in [("", []), *((of, [who]) for of, who in REMOVED.items())]:
        with Clinic(gone=gone) as clinic:
            found |= {(asked, name): clinic.ask(QUESTIONS[asked]).parts[0] for asked in ASKED}
    yield found


def measured(one: RunPart, two: RunPart, epsilon: float, size: int, sampler: Sampler) -> float:
    """A lower bound on the loss between two runs of one release, from `size` draws of its noise on either side."""
    release = one.release
    assert isinstance(release, ClippedTotal | PersonalisedExtreme)
    moved = [(a, b) for a, b in zip(noised(one), noised(two), strict=True) if a != b]
    scale = float(release.sensitivities.law.scale)
    sides = []
    for side in (0, 1):
        ratio = np.zeros(size)
        for pair in moved:
            x = pair[side] + release.sensitivities.law.draw(sampler, size)
            ratio += (np.abs(x - pair[1]) - np.abs(x - pair[0])) / scale
        sides.append(ratio)
    return loss_between(sides[0], sides[1], epsilon, 0.0)


@pytest.mark.every(2)
@pytest.mark.chance(P_THRESHOLD, "the bound on the loss is above the loss")
@pytest.mark.parametrize("of", REMOVED)
@pytest.mark.parametrize("asked", ASKED)
def test_the_measured_loss_of_a_class_is_within_its_share(parts: Parts, asked: str, of: str) -> None:
    one, two = parts[asked, ""], parts[asked, of]
    claimed = float(one.release.loss.priced().of_class(of).epsilon or 0) * 1e-12
    assert claimed <= float(SHARES[of] * EPSILON)
    assert measured(one, two, claimed, SAMPLE_SIZE, ExactSampler()) <= claimed


def test_the_measure_comes_near_what_a_class_really_loses(parts: Parts) -> None:
    normal, sampler = float(SHARES["normal"] * EPSILON), FixedSampler("near")
    taken = 0.1  # by sampling error
    assert measured(parts["count", ""], parts["count", "normal"], normal, SAMPLE_SIZE, sampler) > normal - taken
    # who is strict stays far below what a normal unit loses
    assert measured(parts["count", ""], parts["count", "strict"], normal, SAMPLE_SIZE, sampler) < 0.26 * normal
