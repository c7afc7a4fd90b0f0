"""CORR, REGR_SLOPE and COVAR of a core: when they are offered, what they cost, and what they say."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from dpsql.mechanisms.base import Price, Refusal, Request
from dpsql.mechanisms.friendly_core.mechanism import FriendlyCore
from dpsql.mechanisms.friendly_core.pairs import STATISTICS, FriendlyPair
from dpsql.plan.needs import Contribution, Source
from dpsql.plan.nodes import Aggregate, Column
from dpsql.plan.plans import Key
from dpsql.plan.types import Facts, Type
from dpsql.privacy.tables import RawTable
from dpsql.testing import Noiseless
from tests.unit.mechanisms.asking import asking

PRICE = Price(Fraction(12), Fraction(1, 10**6))
NUMBER = Facts(Type.REAL, step=Fraction(1, 1000), spread=Fraction(10))


def pair(function: str = "corr", **others: Any) -> Request:
    plain = asking("avg", facts=NUMBER, grid=None, price=PRICE)
    x, y = (Column("t0", name, NUMBER) for name in ("x", "y"))
    aggregate = Aggregate("a0", function, y, f"{function}(y, x)", second=x)
    source = Source(plain.source.relation, (), Contribution(1, 1, 1))
    return replace(
        plain,
        **{
            "aggregate": aggregate,
            "source": source,
            "rows_about": 50_000,
            "rows_read": 50_000,
            "idealised": True,
            **others,
        },
    )


def offered(request: Request) -> FriendlyPair:
    answer = FriendlyCore().offer(request)
    assert isinstance(answer, FriendlyPair), answer
    return answer


KEY = Key("k0", Column("t0", "town", Facts(Type.TEXT)), ("a", "b"))


@pytest.mark.parametrize(
    ("others", "said"),
    [
        ({"idealised": False}, "it answers means"),
        ({"selects": True}, "only a threshold"),
        ({"rows_read": 1000}, "rows_about"),
        ({"price": Price(Fraction(1), Fraction(0))}, "it needs delta beside epsilon or rho"),
        ({"price": Price(None, Fraction(0), Fraction(1))}, "it needs delta beside epsilon or rho"),
        ({"source": Source(pair().source.relation, (), Contribution(2, 1, 2))}, "one row of each unit"),
        (
            {"source": Source(pair().source.relation, (KEY,), Contribution(1, 1, 1)), "neighbours": "replace_one"},
            "two groups",
        ),
    ],
)
def test_where_it_is_not_offered(others: dict[str, Any], said: str) -> None:
    answer = FriendlyCore().offer(pair(**others))
    assert isinstance(answer, Refusal)
    assert said in answer.reason


@pytest.mark.parametrize("neighbours", ["add_remove", "replace_one"])
def test_it_costs_the_price_and_says_that_it_is_idealised(neighbours: str) -> None:
    release = offered(pair(neighbours=neighbours))
    assert release.loss.priced().epsilon == 12 * 10**12
    assert "idealised numerics" in release.notes[0]
    assert 0 < release.half_width < 1


def test_a_group_with_its_pairs_has_its_statistic_and_an_empty_one_has_none() -> None:
    rng = np.random.default_rng(1)
    pairs = np.rint(rng.multivariate_normal([0, 5], [[100, 60], [60, 100]], 30_000) * 1000).astype(np.int64)
    raw = RawTable(
        {
            "group": [1] * len(pairs),
            "value": pairs[:, 0].tolist(),
            "value_1": pairs[:, 1].tolist(),
            "rows": [1] * len(pairs),
        },
        size=2,
    )
    for function, wanted in (("corr", 0.6), ("covar_samp", 60), ("covar_pop", 60), ("regr_slope", 0.6)):
        release = offered(pair(function))
        nobody, found = release.release(raw, Noiseless()).values
        assert nobody is None
        assert found == pytest.approx(wanted, rel=0.15)
        assert math.isfinite(release.half_width)


def test_statistics_of_any_matrix_are_finite_and_no_correlation_is_beyond_one() -> None:
    for matrix in (np.zeros((2, 2)), np.eye(2), np.ones((2, 2)), np.array([[1.0, 1.0 + 1e-12], [1.0 + 1e-12, 1.0]])):
        for statistic in STATISTICS.values():
            assert math.isfinite(statistic(matrix))
        assert abs(STATISTICS["corr"](matrix)) <= 1
