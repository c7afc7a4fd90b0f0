"""The sampler's draws against exact distributions, against OpenDP's, against each other, and against the clock."""

from __future__ import annotations

import math
import os
import subprocess
import sys
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from fractions import Fraction
from pathlib import Path

import numpy as np
import numpy.typing as npt
import opendp.prelude as dp
import pytest
from scipy.stats import binomtest, chi2_contingency, chisquare, norm, rankdata

from dpsql.privacy.sampling import ExactSampler, ExpOf
from tests.statistical.thresholds import P_THRESHOLD, SAMPLE_SIZE

SCALES = [Fraction(1, 10), Fraction(1), Fraction(7, 3), Fraction(1000), Fraction(10**6)]
VARIANCES = [Fraction(1, 4), Fraction(9), Fraction(10**4), Fraction(10**9)]
SIZES = [SAMPLE_SIZE, pytest.param(10 * SAMPLE_SIZE, marks=pytest.mark.slow)]

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]
Cdf = Callable[[Integers], Floats]


def laplace_cdf(scale: Fraction) -> Cdf:
    """P(X <= k) in closed form."""
    q = math.exp(-1 / scale)
    return lambda k: np.where(k < 0, q ** np.abs(k) / (1 + q), 1 - q ** (np.maximum(k, 0) + 1.0) / (1 + q))


def gaussian_cdf(variance: Fraction) -> Cdf:
    """P(X <= k), by summing every integer within 14 standard deviations."""
    reach = math.ceil(14 * math.sqrt(variance)) + 3
    grid = np.arange(-reach, reach + 1)
    total = np.cumsum(np.exp(-(grid.astype(float) ** 2) / (2 * float(variance))))
    return lambda k: np.asarray(total / total[-1])[np.clip(k + reach, 0, 2 * reach)]


def edges_of(cdf: Cdf, spread: float) -> Integers:
    """Integers that cut the line into at most 40 bins of at least 1/40 of the mass; none where one value has all."""
    candidates = np.unique(np.round(np.linspace(-6 * spread - 2, 6 * spread + 2, 4001)).astype(np.int64))
    edges: list[int] = []
    last = 0.0
    for k, below in zip(candidates.tolist(), cdf(candidates).tolist(), strict=True):
        if below - last >= 0.025 and 1 - below >= 0.025:
            edges.append(k)
            last = below
    return np.array(edges, dtype=np.int64)


def assert_distributed(draws: Integers, cdf: Cdf, spread: float) -> None:
    """Chi-square on the bins, then both tails by the exact binomial."""
    edges = edges_of(cdf, spread)
    if len(edges):
        observed = np.bincount(np.searchsorted(edges, draws), minlength=len(edges) + 1)
        expected = np.diff(np.concatenate([[0.0], cdf(edges), [1.0]])) * len(draws)
        assert chisquare(observed, expected).pvalue > P_THRESHOLD
    for reach in (0, math.ceil(2 * spread), math.ceil(5 * spread), math.ceil(8 * spread)):
        below = float(cdf(np.array([-reach - 1]))[0])
        for count in ((draws < -reach).sum(), (draws > reach).sum()):  # both laws are symmetric
            assert binomtest(int(count), len(draws), below).pvalue > P_THRESHOLD


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("scale", SCALES, ids=str)
def test_laplace_draws_follow_the_exact_distribution(scale: Fraction, size: int) -> None:
    assert_distributed(ExactSampler().laplace(scale, size), laplace_cdf(scale), float(scale))


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("variance", VARIANCES, ids=str)
def test_gaussian_draws_follow_the_exact_distribution(variance: Fraction, size: int) -> None:
    assert_distributed(ExactSampler().gaussian(variance, size), gaussian_cdf(variance), math.sqrt(variance))


def test_a_scale_six_percent_off_would_be_noticed() -> None:
    with pytest.raises(AssertionError):
        assert_distributed(ExactSampler().laplace(Fraction(106, 100), SAMPLE_SIZE), laplace_cdf(Fraction(1)), 1.0)
    with pytest.raises(AssertionError):
        assert_distributed(ExactSampler().gaussian(Fraction(110), SAMPLE_SIZE), gaussian_cdf(Fraction(100)), 10.0)


@pytest.mark.parametrize("p", [Fraction(1, 3), Fraction(999, 1000), ExpOf(Fraction(1, 2)), ExpOf(Fraction(7))], ids=str)
def test_coins_come_up_as_often_as_they_should(p: Fraction | ExpOf) -> None:
    chance = math.exp(-p.x) if isinstance(p, ExpOf) else float(p)
    assert binomtest(int(ExactSampler().bernoulli(p, SAMPLE_SIZE).sum()), SAMPLE_SIZE, chance).pvalue > P_THRESHOLD


@pytest.mark.parametrize("m", [2, 7, 100])
def test_integers_are_uniform(m: int) -> None:
    assert chisquare(np.bincount(ExactSampler().integers(m, SAMPLE_SIZE), minlength=m)).pvalue > P_THRESHOLD


def test_permute_and_flip_follows_its_distribution() -> None:
    gaps, exponent, runs = [0, 1, 1, 3], Fraction(1, 2), SAMPLE_SIZE // 10
    flips = [math.exp(-exponent * gap) for gap in gaps]
    expected = np.zeros(4)
    for up in range(1 << 4):  # every set of candidates that may come up
        chance = math.prod(p if up >> r & 1 else 1 - p for r, p in enumerate(flips))
        for r in range(4):
            expected[r] += chance / up.bit_count() if up >> r & 1 else 0
    sampler = ExactSampler()
    observed = np.bincount([sampler.permute_and_flip([-gap for gap in gaps], exponent) for _ in range(runs)])
    assert chisquare(observed, expected * runs).pvalue > P_THRESHOLD


def test_intervals_and_offsets_follow_their_distribution() -> None:
    widths, scores, exponent, runs = [3, 1, 4, 2], [1, 4, 2, 0], Fraction(1, 3), SAMPLE_SIZE // 10
    sampler = ExactSampler()
    points = [sampler.intervals(widths, scores, exponent) for _ in range(runs)]
    observed = [points.count((i, offset)) for i in range(4) for offset in range(widths[i])]
    weights = np.array([math.exp(exponent * scores[i]) for i in range(4) for _ in range(widths[i])])
    assert sum(observed) == runs
    assert chisquare(observed, weights / weights.sum() * runs).pvalue > P_THRESHOLD


# --- OpenDP as the oracle


def opendp_draws(law: str, spread: float, size: int) -> Integers:
    """(size,) draws of OpenDP's discrete sampler: law 'laplace' with a scale or 'gaussian' with a deviation."""
    dp.enable_features("contrib")
    make, metric = {
        "laplace": (dp.m.make_laplace, dp.l1_distance(T="i64")),
        "gaussian": (dp.m.make_gaussian, dp.l2_distance(T=float)),
    }[law]
    return np.array(make(dp.vector_domain(dp.atom_domain(T="i64")), metric, spread)([0] * size))


def assert_same_law(ours: Integers, theirs: Integers) -> None:
    """Two-sample chi-square on bins that hold at least 200 of both."""
    pool = np.sort(np.concatenate([ours, theirs]))
    edges = np.unique(pool[:: max(len(pool) // 40, 1)])
    table = np.array([np.bincount(np.searchsorted(edges, x), minlength=len(edges) + 1) for x in (ours, theirs)])
    table = table[:, table.sum(axis=0) >= 400]
    assert chi2_contingency(table).pvalue > P_THRESHOLD


@pytest.mark.parametrize("size", SIZES)
def test_laplace_agrees_with_opendp(size: int) -> None:
    for scale in (Fraction(5, 2), Fraction(1000)):  # 5/2 is the same number as a float
        assert_same_law(ExactSampler().laplace(scale, size), opendp_draws("laplace", float(scale), size))


@pytest.mark.parametrize("size", SIZES)
def test_gaussian_agrees_with_opendp(size: int) -> None:
    for deviation in (3, 1000):
        ours = ExactSampler().gaussian(Fraction(deviation**2), size)
        assert_same_law(ours, opendp_draws("gaussian", float(deviation), size))


# --- independence


@pytest.mark.parametrize("law", ["laplace", "gaussian"])
def test_neighbouring_draws_and_calls_are_independent(law: str) -> None:
    sampler = ExactSampler()
    draw = {"laplace": sampler.laplace, "gaussian": sampler.gaussian}[law]
    first, second = draw(Fraction(50), SAMPLE_SIZE), draw(Fraction(50), SAMPLE_SIZE)
    pairs = [(first[::2], first[1::2]), (first, second), (first[: SAMPLE_SIZE // 2], first[SAMPLE_SIZE // 2 :])]
    for a, b in pairs:
        for feature in (lambda k: k % 4, np.sign, lambda k: np.abs(k) // 20):
            codes = [np.minimum(feature(x) - feature(x).min(), 4) for x in (a, b)]
            table = np.zeros((5, 5))
            np.add.at(table, tuple(codes), 1)
            table = table[table.sum(axis=1) > 0][:, table.sum(axis=0) > 0]
            assert chi2_contingency(table).pvalue > P_THRESHOLD


def test_threads_never_share_a_draw() -> None:
    sampler, scale = ExactSampler(), Fraction(2**90)
    with ThreadPoolExecutor(8) as pool:
        draws = [k for part in pool.map(lambda _: sampler.laplace(scale, 250).tolist(), range(16)) for k in part]
    assert len(set(draws)) == len(draws) == 4000


FORKED = """
import os
from fractions import Fraction
from dpsql.privacy.sampling import ExactSampler

sampler = ExactSampler()
sampler.laplace(Fraction(2**90), 10)
child = os.fork()
draws = sampler.laplace(Fraction(2**90), 200)
if child:
    os.waitpid(child, 0)
print("\\n".join(map(str, draws)), flush=True)
"""


def test_a_forked_process_never_shares_a_draw() -> None:
    command = [sys.executable, "-W", "ignore", "-c", FORKED]
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])}
    result = subprocess.run(command, capture_output=True, text=True, check=True, env=environment)
    draws = result.stdout.split()
    assert len(draws) == 400
    assert len(set(draws)) == 400


# --- time


@pytest.mark.parametrize("law", ["laplace", "gaussian"])
@pytest.mark.parametrize("size", [SAMPLE_SIZE // 20, pytest.param(SAMPLE_SIZE, marks=pytest.mark.slow)])
def test_the_time_of_a_draw_says_nothing_about_it(law: str, size: int) -> None:
    sampler = ExactSampler()
    draw = {"laplace": sampler.laplace, "gaussian": sampler.gaussian}[law]
    noise, elapsed = np.zeros(size), np.zeros(size)
    for i in range(size):
        start = time.perf_counter_ns()
        k = draw(Fraction(1000), 1)
        elapsed[i] = time.perf_counter_ns() - start
        noise[i] = abs(int(k[0]))
    # Ranks, so that no single pause of the machine decides; 0.02 at 10^5 draws is 6.3 standard deviations.
    limit = max(0.02, float(norm.isf(P_THRESHOLD / 2)) / math.sqrt(size))
    assert abs(np.corrcoef(rankdata(noise), rankdata(elapsed))[0, 1]) < limit
