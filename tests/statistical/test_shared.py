"""Statistics that share their numbers: how often intervals hold the truth, and what the draws of all numbers tell.

The measured loss is drawn anew in every run; coverage, and what must be convicted, is shown on fixed draws.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from dpsql.mechanisms.base import Joint, Price, Request
from dpsql.mechanisms.gaussian import Gaussian
from dpsql.mechanisms.laplace import Laplace
from dpsql.mechanisms.noise.moments import MomentsRelease
from dpsql.mechanisms.shared import SharedRelease
from dpsql.plan.needs import Contribution
from dpsql.plan.types import Grid
from dpsql.privacy.sampling import ExactSampler, Sampler
from dpsql.privacy.tables import RawTable
from dpsql.testing_samplers import FixedSampler, Noiseless
from tests.statistical.test_mechanisms import lower, measured, upper
from tests.statistical.thresholds import P_THRESHOLD, SAMPLE_SIZE
from tests.unit.mechanisms.test_shared import requests

BOTH = pytest.mark.parametrize("mechanism", [Laplace(), Gaussian()], ids=["laplace", "gaussian"])
AUDITED = SAMPLE_SIZE // 4
LOUD = Price(Fraction(1, 3), Fraction(1, 3000))
SMALL: dict[str, Any] = {"held": Contribution(3, 1, 3), "keys": (), "second_grid": Grid(Fraction(1), -5, 5)}
MOVED = {"n": 3, "x": 15, "y": 15, "xx": 75, "yy": 75, "xy": 75}
"""By how much three rows at a corner of grids from -5 to 5 move each number, as far as any do."""


def shared(mechanism: Laplace | Gaussian, asked: Sequence[Request]) -> tuple[Joint, SharedRelease]:
    """The offer for all of them."""
    joint = next(one for one in mechanism.together(asked) if len(one.members) == len(asked))
    release = joint.offers[0]
    assert isinstance(release, SharedRelease)
    return joint, release


@pytest.mark.chance(P_THRESHOLD, "the bound on the loss is above the loss; that it is near is shown on fixed draws")
@BOTH
def test_the_measured_loss_of_shared_numbers_never_exceeds_the_claim(mechanism: Laplace | Gaussian) -> None:
    """Of three statistics at a third each: all six numbers together lose 1 at most."""
    small = Grid(Fraction(1), -5, 5)
    asked = [
        replace(request, grid=small) for request in requests(("corr", "covar_pop", "regr_slope"), price=LOUD, **SMALL)
    ]
    _, release = shared(mechanism, asked)
    delta = float(release.loss.priced().delta) * 1e-18
    drawn, again = (told(release, side, ExactSampler()) for side in (0, 1))
    assert measured(drawn, again, delta) <= 1.0
    sampler = FixedSampler("shared")
    drawn, again = (told(release, side, sampler) for side in (0, 1))
    assert measured(drawn, again, delta) > 0.3
    bug = replace(release, laws=tuple(_louder(law) for law in release.laws))  # a third of the noise
    drawn, again = (told(bug, side, sampler) for side in (0, 1))
    assert measured(drawn, again, delta) > 1.0


def _louder(law: Any) -> Any:
    return replace(law, scale=law.scale / 3) if hasattr(law, "scale") else replace(law, variance=law.variance / 9)


def told(release: SharedRelease, side: int, sampler: Sampler) -> npt.NDArray[np.float64]:
    """The log likelihood ratio of two tables of draws from one of them, over all numbers that are released."""
    raw = RawTable({f"m{i}": [20 + side * MOVED[name]] * AUDITED for i, name in enumerate(release.names)})
    columns = release.release(raw, sampler).columns
    ratio = np.zeros(AUDITED)
    for name, law in zip(release.names, release.laws, strict=True):
        assert law is not None
        seen, a, b = np.array(columns[name], dtype=float), 20, 20 + MOVED[name]
        if hasattr(law, "scale"):
            ratio += (np.abs(seen - a) - np.abs(seen - b)) / law.spread
        else:
            ratio += ((seen - a) ** 2 - (seen - b) ** 2) / (2 * law.spread**2)
    return ratio


ASKED = ("corr", "covar_samp", "regr_slope"), ("var_pop", "avg", "sum", "count", "stddev_samp")


@pytest.mark.every(2)
@BOTH
@pytest.mark.parametrize("functions", ASKED)
@pytest.mark.parametrize("rows", [pytest.param(200, marks=pytest.mark.slow), 20_000])
def test_nominal_95_percent_cover_each_of_the_statistics(
    mechanism: Laplace | Gaussian, functions: tuple[str, ...], rows: int
) -> None:
    rng, size = np.random.default_rng(2), 3000
    price, held = Price(Fraction(1), Fraction(1, 10**6)), Contribution(1, 1, 1)
    joint, release = shared(mechanism, requests(functions, price=price, held=held, keys=(), rows_about=rows))
    x = rng.integers(-20, 60, rows)
    values = {"x": x - x.min() - 30, "y": (x + rng.integers(0, 40, rows)).clip(-30, 100) - 35}
    one = np.ones(rows, dtype=int)
    exact = {
        name: int(math.prod((values[p] for p in name), start=one).sum()) if name != "n" else rows
        for name in release.names
    }
    table = RawTable({f"m{i}": [exact[name]] * size for i, name in enumerate(release.names)})
    drawn = release.release(table, FixedSampler(" ".join(functions)))
    truth = release.release(table, Noiseless())
    for place, offer in enumerate(joint.offers):
        wanted, bars = truth.place(place).values[0], offer.intervals(drawn.place(place), 0.95)
        covered = sum(low is not None and high is not None and low <= wanted <= high for low, high in bars)
        assert upper(covered, size) >= 0.94, functions[place]
        assert lower(covered, size) <= 0.985 or rows == 200, functions[place]
        part = release.parts[place]
        if rows == 20_000 and isinstance(part, MomentsRelease):  # and they say something
            least, most = part.query.statistic.bounds(part.query.widths)
            widths = [high - low for low, high in bars if low is not None and high is not None]
            assert float(np.median(widths)) < (most - least) * part.query.unit / 2
