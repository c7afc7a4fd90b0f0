"""Beside bounds, centre and spread choose no mechanism; the one that is named errs as docs/preprocessing.md says."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import dpsql.testing
from dpsql.mechanisms.preprocessing.mechanism import Preprocessing
from dpsql.mechanisms.preprocessing.release import STEPS, PreprocessedRelease
from tests.unit.mechanisms.asking import COST, asking

BENCH = Path(__file__).parents[2] / "bench"


@pytest.fixture(scope="module")
def choosing() -> Iterator[Any]:
    """The script that compares the chosen mechanism with the best one."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "path", [str(BENCH), *sys.path])
        yield importlib.import_module("choosing")


@pytest.mark.parametrize("n", [100, 1000, 10_000])
def test_beside_bounds_preprocessing_is_offered_by_name_alone(choosing: Any, tmp_path: Path, n: int) -> None:
    (tmp_path / "choosing.yaml").write_text(choosing.POLICY.format(rows=n, samples=[0], spread=20_000))
    choosing.store(tmp_path / "choosing.duckdb", np.array([[40_000]]))
    with dpsql.testing.open(tmp_path / "choosing.yaml") as proxy:
        session = proxy.session(analyst="ana")
        for statistic in choosing.STATISTICS:
            for epsilon in (0.1, 1):
                (column,) = session.explain(f"SELECT {statistic}(x) FROM people", epsilon=epsilon).columns
                assert column.mechanism in ("laplace", "exponential", "located")
                assert "taken by name alone" in dict(column.others)["preprocessing"]


@pytest.mark.parametrize("function", ["avg", "quantile_cont"])
@pytest.mark.parametrize("rows", [-1000, 0, 1, 9])
def test_noise_for_a_few_rows_stays_below_the_spread(function: str, rows: int) -> None:
    spread = Fraction(10)
    release = Preprocessing().offer(asking(function, facts=replace(COST.facts, centre=Fraction(40), spread=spread)))
    assert isinstance(release, PreprocessedRelease)
    assert release.count_law is not None
    scale = release.law.spread * float(release.amount.of(rows)) / STEPS
    assert 0.4 * spread < scale < 0.65 * spread


@pytest.mark.slow
def test_the_chosen_mechanism_is_the_best_of_those_that_hold_whatever_the_data_are(choosing: Any) -> None:
    for row in choosing.rows(100, sampler=dpsql.testing.FixedSampler("choosing")):  # the same draws in every run
        assert row.chosen in ("laplace", "exponential", "located"), row
        assert row.best in (row.chosen, "preprocessing"), row
