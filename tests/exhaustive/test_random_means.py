"""Declared means and gamma of random differential privacy, over all tables of a few people; planted bugs are convicted.

No noise is drawn: every verdict is exact.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any
from unittest.mock import patch

import pytest

from dpsql.mechanisms.random_dp import mean
from dpsql.privacy.exposure import gamma_of_cells
from tests.exhaustive.planted import half_noise
from tests.exhaustive.random_means import GAMMA, KEPT, alone, declared, left_out, means
from tests.exhaustive.tables import RELATIONS
from tests.unit.mechanisms.asking import CONSENT


def test_no_pair_that_a_declared_mean_protects_loses_more_than_is_charged() -> None:
    pairs, verdict = means(declared())
    assert pairs > 0
    assert verdict.checks > 0
    assert verdict.broken == 0
    assert verdict.of_delta > 0


@pytest.mark.slow
def test_nor_does_one_under_a_condition() -> None:
    offer = declared(CONSENT)
    assert offer.epsilons[2]
    verdict = means(offer)[1]
    assert verdict.checks > 0
    assert verdict.broken == 0


def test_it_leaves_out_no_more_pairs_than_gamma_of_any_people() -> None:
    assert 0 < left_out() <= GAMMA
    assert 0 < left_out(KEPT) <= GAMMA


@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize("units", [6, 12])
def test_no_more_neighbours_than_gamma_have_other_empty_cells(units: int, relation: str) -> None:
    for cells in (1, 2, 3):
        assert 0 < alone(units, cells, relation) <= gamma_of_cells(cells, units, relation, "exchangeable") or cells == 1


def _a_scale_for_fewer_pairs() -> AbstractContextManager[object]:
    def fewer(*facts: Any, **more: Any) -> int | None:
        rank = wanted(*facts, **more)
        return None if rank is None else rank - 2

    wanted = mean.wanted_rank
    return patch.object(mean, "wanted_rank", fewer)


@pytest.mark.slow
def test_half_the_noise_under_a_condition_is_convicted() -> None:
    with half_noise():
        assert means(declared(CONSENT))[1].broken


@pytest.mark.parametrize("plant", [half_noise, _a_scale_for_fewer_pairs])
def test_a_planted_bug_is_convicted(plant: Callable[[], AbstractContextManager[object]]) -> None:
    with plant():
        assert means(declared())[1].broken
