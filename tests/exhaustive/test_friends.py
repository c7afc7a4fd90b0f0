"""FriendlyCore's filter over all graphs of friends, and the average behind it; planted bugs are convicted.

No noise is drawn: every verdict is exact.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from fractions import Fraction
from typing import Any
from unittest.mock import patch

import numpy as np
import numpy.typing as npt
import pytest

from dpsql.mechanisms.friendly_core import average, basic
from dpsql.mechanisms.friendly_core.average import FriendlyAverage
from dpsql.mechanisms.friendly_core.basic import BasicFilter, BasicSwapFilter
from dpsql.mechanisms.friendly_core.noise import gaussian_law
from dpsql.mechanisms.noise.laws import GaussianLaw, LaplaceLaw
from dpsql.privacy.sampling import Integers, Sampler
from tests.exhaustive.friends import Filter, averages, filtered, parts, placed
from tests.exhaustive.verdicts import Verdict

FILTERS = (BasicFilter(), BasicSwapFilter())
EPSILONS = (Fraction(1), Fraction(4))
DELTA = Fraction(1, 4)
"""Large, as are the epsilons: with so few rows nothing else would be answered."""


def _graphs(rows: int, chosen: Filter = FILTERS[0]) -> Verdict:
    return filtered(chosen, rows, EPSILONS)[1]


def _means(rows: int = 2, swap: bool = False) -> Verdict:
    return averages(Fraction(2), DELTA, rows, swap)[1]


def _parts(rows: int = 3, swap: bool = False) -> Verdict:
    return parts(Fraction(4), Fraction(1, 16), rows, swap)[1]


def _dearer() -> Verdict:
    """Where the average's delta is so small a part of its law that noise which is too small shows on three rows."""
    return averages(Fraction(4), Fraction(1, 16), 3, swap=False)[1]


@pytest.mark.parametrize("chosen", FILTERS, ids=["add_remove", "replace_one"])
@pytest.mark.parametrize("rows", [2, 3, 4, pytest.param(5, marks=pytest.mark.slow)])
def test_the_filter_keeps_its_promises_on_every_graph_of_friends(chosen: Filter, rows: int) -> None:
    verdict = _graphs(rows, chosen)
    assert verdict.checks > 0
    assert verdict.broken == 0


@pytest.mark.parametrize("swap", [False, True])
@pytest.mark.parametrize("rows", [2, pytest.param(3, marks=pytest.mark.slow)])
def test_the_average_of_friends_costs_no_more_than_is_charged(rows: int, swap: bool) -> None:
    verdict = _means(rows, swap)
    assert verdict.checks > 0
    assert verdict.broken == 0
    assert verdict.of_delta > 0


@pytest.mark.slow
@pytest.mark.parametrize("swap", [False, True])
@pytest.mark.parametrize("rows", [3, 5])
def test_no_part_of_the_average_costs_more_than_its_own_price(rows: int, swap: bool) -> None:
    verdict = _parts(rows, swap)
    assert verdict.checks > 0
    assert verdict.broken == 0
    assert verdict.of_rho > 0.4


@pytest.mark.slow
@pytest.mark.parametrize("swap", [False, True])
def test_filter_and_average_together_cost_no_more_than_is_charged(swap: bool) -> None:
    _, verdict = placed(Fraction(6), DELTA, 3, swap)
    assert verdict.checks > 0
    assert verdict.broken == 0
    assert verdict.of_delta > 0


true_kept = basic._kept


def _too_steep() -> AbstractContextManager[object]:
    def steep(friends: npt.NDArray[Any], among: int, alpha: Fraction, sampler: Sampler) -> npt.NDArray[np.bool_]:
        return true_kept(friends, among, Fraction(49, 100), sampler)

    return patch.object(basic, "_kept", steep)


def _with_few_friends() -> AbstractContextManager[object]:
    def lenient(friends: npt.NDArray[Any], among: int, alpha: Fraction, sampler: Sampler) -> npt.NDArray[np.bool_]:
        return true_kept(np.minimum(friends + 1, among), among, alpha, sampler)

    return patch.object(basic, "_kept", lenient)


def _a_quarter_of_the_noise() -> AbstractContextManager[object]:
    def quarter(squared: Fraction, rho: Fraction) -> GaussianLaw:
        return gaussian_law(squared / 16, rho)

    return patch.object(average, "gaussian_law", quarter)


def _half_the_noise() -> AbstractContextManager[object]:
    def half(squared: Fraction, rho: Fraction) -> GaussianLaw:
        return gaussian_law(squared / 4, rho)

    return patch.object(average, "gaussian_law", half)


def _half_the_noise_of_the_number() -> AbstractContextManager[object]:
    def half(law: LaplaceLaw, sampler: Sampler, size: int) -> Integers:
        return sampler.laplace(law.scale / 2, size)

    return patch.object(LaplaceLaw, "draw", half)


def _a_number_that_is_not_below() -> AbstractContextManager[object]:
    return patch.object(FriendlyAverage, "lost", property(lambda own: 0))


Planted = tuple[Callable[[], AbstractContextManager[object]], Callable[[], Verdict]]

PLANTED: dict[str, Planted] = {
    "odds that are too steep": (_too_steep, lambda: _graphs(5)),
    "rows with half of the others as friends stay": (_with_few_friends, lambda: _graphs(4)),
    "a quarter of the mean's noise": (_a_quarter_of_the_noise, _dearer),
    "half of the mean's noise, by its part": (_half_the_noise, _parts),
    "half the noise of the number, by its part": (_half_the_noise_of_the_number, _parts),
    "a number that is not below that of the rows, by its part": (_a_number_that_is_not_below, _parts),
    "half the noise of the number": (_half_the_noise_of_the_number, _dearer),
    "a number that is not below that of the rows": (_a_number_that_is_not_below, _means),
}


def test_what_convicts_noise_that_is_too_small_convicts_no_other() -> None:
    assert _dearer().broken == 0


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[pytest.mark.slow] if "by its part" in name else []) for name in PLANTED]
)
def test_a_planted_bug_is_convicted(name: str) -> None:
    plant, look = PLANTED[name]
    with plant():
        assert look().broken
