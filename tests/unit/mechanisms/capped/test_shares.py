"""Shares, and other means of which a place would miss the few: within a cap they are clipped nowhere."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from dpsql.mechanisms.base import Price
from dpsql.mechanisms.capped.mechanism import Capped
from dpsql.mechanisms.capped.statistics import CappedStatistics
from dpsql.mechanisms.located.release import WholeMean
from dpsql.plan.needs import Contribution
from dpsql.plan.options import Options
from dpsql.plan.types import Grid
from dpsql.session import Session
from dpsql.testing_samplers import FixedSampler
from tests.unit.mechanisms.asking import COST, asking, offered
from tests.unit.mechanisms.capped.test_mechanism import DEAR, MANY, ORDERS, SHOP, raw_of, release_of, statistics_loss
from tests.unit.mechanisms.shop import policy, sessions

SHARE_OF = Grid(Fraction(1), 0, 1)  # its values are read in steps of a half


@pytest.mark.parametrize("cap", [0, 2, 4])
def test_no_transcript_of_a_share_tells_more_of_a_unit_than_epsilon(cap: int) -> None:
    release, held = release_of("avg", DEAR, SHARE_OF), [[0, 2, 0][: 1 + i % 3] for i in range(400)]
    losses = [statistics_loss(release, [*held, unit], held, cap, f"{at}") for at, unit in enumerate(([2] * 10, [0]))]
    assert max(losses) <= 40 + 1e-9
    assert max(losses) > 15  # nearly as much as is charged is told


def test_means_of_which_a_place_would_miss_the_few_are_clipped_nowhere() -> None:
    far = replace(COST.facts, spread=Fraction(60))
    for asked in (asking("avg", held=MANY, grid=SHARE_OF), asking("avg", held=MANY, certain=True),
                  asking("avg", held=MANY, facts=far)):  # fmt: skip
        release = offered(Capped().offer(asked))
        assert isinstance(release, CappedStatistics)
        assert all(isinstance(inner, WholeMean) for inner in release.inners)
    named = offered(Capped().offer(asking("avg", held=MANY, options=Options(mechanism="capped"))))
    assert isinstance(named, CappedStatistics)
    assert not any(isinstance(inner, WholeMean) for inner in named.inners)


@pytest.mark.parametrize("heavy", [0, 20, 200])
@pytest.mark.parametrize("size", [10, 32])
def test_intervals_of_shares_hold_where_units_of_many_rows_are_all_at_one_end(heavy: int, size: int) -> None:
    held, price = Contribution(rows=64, groups=1, rows_in_group=64), Price(Fraction(4), Fraction(0))
    release = release_of("avg", price, SHARE_OF, held=held, rows_about=10_000)
    units = [*[[2 * (i % 25 == 0)] for i in range(4_000)], *[[2] * size for _ in range(heavy)]]
    whole = float(np.mean([value / 2 for unit in units for value in unit]))
    raw, found = raw_of(release, units), 0
    for seed in range(20):
        ((low, high),) = release.intervals(release.release(raw, FixedSampler(f"share {heavy} {seed}")), 0.95)
        assert low is not None
        assert high is not None
        assert high - low < 0.2
        found += low <= whole <= high
    assert found >= 19  # by a fixed stream


@pytest.fixture(scope="module")
def session(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Session]:
    yield from sessions(tmp_path_factory.mktemp("shares"), SHOP, policy(ORDERS))


def test_a_share_over_several_rows_a_unit_is_capped_unasked_and_near_the_engines(session: Session) -> None:
    by_region = "SELECT region, AVG(amount > 40) AS x FROM orders GROUP BY region ORDER BY region"
    assert session.explain(by_region, epsilon=5).columns[-1].mechanism == "capped"
    answer = session.query(by_region, epsilon=5)
    assert any("anywhere within the bounds" in note for note in answer.notes)
    assert [share for _, share in answer.rows] == pytest.approx([0.58] * 3, abs=0.05)
