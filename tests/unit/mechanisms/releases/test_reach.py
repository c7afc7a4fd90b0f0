"""How far sums of noise reach, against the exact laws of small sums."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from dpsql.mechanisms.noise.laws import GaussianLaw, LaplaceLaw
from dpsql.mechanisms.releases.reach import deviation_of, every_range, reach_of
from dpsql.testing_samplers import FixedSampler

LAWS: list[LaplaceLaw | GaussianLaw] = [
    LaplaceLaw(Fraction(1, 2)),
    LaplaceLaw(Fraction(6)),
    GaussianLaw(Fraction(1, 2)),
    GaussianLaw(Fraction(30)),
]
SPAN = 300


def chances(law: LaplaceLaw | GaussianLaw) -> np.ndarray:
    """P(X = k) for k = -SPAN ... SPAN."""
    k = np.arange(-SPAN, SPAN + 1, dtype=float)
    weights = np.exp(-np.abs(k) / law.spread) if isinstance(law, LaplaceLaw) else np.exp(-(k**2) / 2 / law.spread**2)
    return np.asarray(weights / weights.sum())


@pytest.mark.parametrize("law", LAWS, ids=repr)
def test_deviations_are_those_of_the_law(law: LaplaceLaw | GaussianLaw) -> None:
    exact = float((chances(law) * np.arange(-SPAN, SPAN + 1) ** 2).sum() ** 0.5)
    assert exact <= deviation_of(law) * (1 + 1e-9)
    assert deviation_of(law) == pytest.approx(
        exact, rel=1e-3 if isinstance(law, LaplaceLaw) or law.variance > 1 else 0.1
    )


@pytest.mark.parametrize("chance", [0.2, 0.025, 1e-4])
@pytest.mark.parametrize("law", LAWS, ids=repr)
def test_no_sum_of_three_is_beyond_its_reach_more_often(law: LaplaceLaw | GaussianLaw, chance: float) -> None:
    one = chances(law)
    k = np.arange(-SPAN, SPAN + 1)
    pairs = np.add.outer(k, 2 * k).ravel()  # the law of X + 2 Y - Z, by enumeration of X + 2 Y and tails of Z
    joint = np.outer(one, one).ravel()
    reach = reach_of(law, [1.0, 2.0, -1.0], chance)
    above = np.append(np.cumsum(one[::-1])[::-1], 0.0)  # P(Z >= k) from k = -SPAN on
    need = np.clip(np.ceil(reach - pairs).astype(int) + SPAN, 0, 2 * SPAN + 1)
    tail = float((joint * above[need]).sum())
    assert tail <= chance
    assert tail >= chance / 60  # and Chernoff's bound is not idle


@pytest.mark.parametrize("chance", [0.2, 0.025, 1e-4])
@pytest.mark.parametrize("law", LAWS, ids=repr)
@pytest.mark.parametrize("weights", [[1.0], [2.5, 0.0], [1.0, -1.0], [0.5, 0.5, -0.5, 0.0]])
def test_sums_of_draws_alike_reach_as_far_as_their_law_says(
    law: LaplaceLaw | GaussianLaw, chance: float, weights: list[float]
) -> None:
    many = sum(weight != 0 for weight in weights)
    whole = one = chances(law)
    for _ in range(many - 1):
        whole = np.convolve(whole, one)
    sizes = np.arange(-SPAN * many, SPAN * many + 1) * max(weights)
    reach = reach_of(law, weights, chance)
    tail = float(whole[sizes >= reach].sum())
    assert tail <= chance * (1 + 1e-9)
    if many == 1:
        nearer = float(whole[sizes >= reach - max(weights) * (1 + 1e-6)].sum())
        assert nearer > chance or reach < max(weights)  # not a step too far, and no whole step is within


def test_every_range_is_within_reach_as_often_as_said() -> None:
    law, cells, trials = LaplaceLaw(Fraction(3)), 50, 400
    reach = every_range(law, cells, chance=0.2)
    noise = law.draw(FixedSampler("ranges"), trials * cells).reshape(trials, cells)
    walks = np.concatenate([np.zeros((trials, 1)), np.cumsum(noise, axis=1)], axis=1)
    assert ((walks.max(axis=1) - walks.min(axis=1)) > reach).mean() <= 0.2


def test_chances_are_between_0_and_1() -> None:
    for wrong in (0.0, 1.0, -1.0):
        with pytest.raises(ValueError, match="not between"):
            reach_of(LAWS[0], [1.0], wrong)
    assert reach_of(LAWS[0], [0.0], 0.1) == 0
