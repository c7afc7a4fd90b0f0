"""The sampler's draws against exact distributions, those against OpenDP's draws, and draws against each other."""

from __future__ import annotations

import math
import os
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from fractions import Fraction
from pathlib import Path

import numpy as np
import numpy.typing as npt
import opendp.prelude as dp
import pytest

from dpsql.privacy.sampling import ExactSampler, ExpOf
from dpsql.testing_samplers import _stream
from tests.statistical.laws import fits, unnoticed
from tests.statistical.thresholds import P_THRESHOLD, SAMPLE_SIZE

SCALES = [Fraction(1, 10), Fraction(1), Fraction(7, 3), Fraction(1000), Fraction(10**6)]
VARIANCES = [Fraction(1, 4), Fraction(9), Fraction(10**4), Fraction(10**9)]
SIZES = [SAMPLE_SIZE, pytest.param(10 * SAMPLE_SIZE, marks=pytest.mark.slow)]
OPENDP_SIZES = [SAMPLE_SIZE // 5, pytest.param(10 * SAMPLE_SIZE, marks=pytest.mark.slow)]  # it takes 50 us a draw

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]
Cdf = Callable[[Integers], Floats]

TAILS = (0, 2, 5, 8)  # in spreads


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


def chances_at(edges: Integers, spread: float, cdf: Cdf) -> Floats:
    """The chances of each bin, of all bins up to each edge, and of both tails beyond 0, 2, 5 and 8 spreads."""
    below = cdf(edges)
    tails = cdf(np.array([-math.ceil(reach * spread) - 1 for reach in TAILS]))  # both laws are symmetric
    return np.concatenate([np.diff([0.0, *below, 1.0]), below, tails, tails])


def counts_at(edges: Integers, spread: float, draws: Integers) -> Integers:
    """How many draws fell into each of the same events."""
    bins = np.bincount(np.searchsorted(edges, draws), minlength=len(edges) + 1)
    reaches = [math.ceil(reach * spread) for reach in TAILS]
    tails = [(draws < -reach).sum() for reach in reaches] + [(draws > reach).sum() for reach in reaches]
    return np.concatenate([bins, np.cumsum(bins)[:-1], tails]).astype(np.int64)


def assert_distributed(draws: Integers, cdf: Cdf, spread: float) -> None:
    """Bins, sums of bins and tails against their exact chances: a false alarm of `P_THRESHOLD`, all together."""
    edges = edges_of(cdf, spread)
    assert fits(counts_at(edges, spread, draws), chances_at(edges, spread, cdf), len(draws))


@pytest.mark.chance(P_THRESHOLD, "the draws do not fit their exact law")
@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("scale", SCALES, ids=str)
def test_laplace_draws_follow_the_exact_distribution(scale: Fraction, size: int) -> None:
    assert_distributed(ExactSampler().laplace(scale, size), laplace_cdf(scale), float(scale))


@pytest.mark.chance(P_THRESHOLD, "the draws do not fit their exact law")
@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("variance", VARIANCES, ids=str)
def test_gaussian_draws_follow_the_exact_distribution(variance: Fraction, size: int) -> None:
    assert_distributed(ExactSampler().gaussian(variance, size), gaussian_cdf(variance), math.sqrt(variance))


@pytest.mark.chance(2 * P_THRESHOLD, "either is not noticed, by the exact chance of its best event")
def test_a_scale_six_percent_off_would_be_noticed() -> None:
    wide = {"laplace": laplace_cdf(Fraction(106, 100)), "gaussian": gaussian_cdf(Fraction(106**2, 100))}
    for cdf, real, spread in (
        (laplace_cdf(Fraction(1)), wide["laplace"], 1.0),
        (gaussian_cdf(Fraction(100)), wide["gaussian"], 10.0),
    ):
        edges = edges_of(cdf, spread)
        claimed, true = (chances_at(edges, spread, law) for law in (cdf, real))
        assert unnoticed(claimed, true, SAMPLE_SIZE) < P_THRESHOLD
    with pytest.raises(AssertionError):
        assert_distributed(ExactSampler().laplace(Fraction(106, 100), SAMPLE_SIZE), laplace_cdf(Fraction(1)), 1.0)
    with pytest.raises(AssertionError):
        assert_distributed(
            ExactSampler().gaussian(Fraction(106**2, 100), SAMPLE_SIZE), gaussian_cdf(Fraction(100)), 10.0
        )


@pytest.mark.chance(P_THRESHOLD, "the draws do not fit their exact law")
@pytest.mark.parametrize("p", [Fraction(1, 3), Fraction(999, 1000), ExpOf(Fraction(1, 2)), ExpOf(Fraction(7))], ids=str)
def test_coins_come_up_as_often_as_they_should(p: Fraction | ExpOf) -> None:
    chance = math.exp(-p.x) if isinstance(p, ExpOf) else float(p)
    assert fits([ExactSampler().bernoulli(p, SAMPLE_SIZE).sum()], [chance], SAMPLE_SIZE)


@pytest.mark.chance(P_THRESHOLD, "the draws do not fit their exact law")
@pytest.mark.parametrize("m", [2, 7, 100])
def test_integers_are_uniform(m: int) -> None:
    assert fits(np.bincount(ExactSampler().integers(m, SAMPLE_SIZE), minlength=m), [1 / m] * m, SAMPLE_SIZE)


@pytest.mark.chance(P_THRESHOLD, "the draws do not fit their exact law")
def test_permute_and_flip_follows_its_distribution() -> None:
    gaps, exponent, runs = [0, 1, 1, 3], Fraction(1, 2), SAMPLE_SIZE // 10
    flips = [math.exp(-exponent * gap) for gap in gaps]
    expected = np.zeros(4)
    for up in range(1 << 4):  # every set of candidates that may come up
        chance = math.prod(p if up >> r & 1 else 1 - p for r, p in enumerate(flips))
        for r in range(4):
            expected[r] += chance / up.bit_count() if up >> r & 1 else 0
    sampler = ExactSampler()
    chosen = [sampler.permute_and_flip([-gap for gap in gaps], exponent) for _ in range(runs)]
    assert fits(np.bincount(chosen, minlength=4), expected, runs)


@pytest.mark.chance(P_THRESHOLD, "the draws do not fit their exact law")
def test_intervals_and_offsets_follow_their_distribution() -> None:
    widths, scores, exponent, runs = [3, 1, 4, 2], [1, 4, 2, 0], Fraction(1, 3), SAMPLE_SIZE // 10
    sampler = ExactSampler()
    points = [sampler.intervals(widths, scores, exponent) for _ in range(runs)]
    observed = [points.count((i, offset)) for i in range(4) for offset in range(widths[i])]
    weights = np.array([math.exp(exponent * scores[i]) for i in range(4) for _ in range(widths[i])])
    assert sum(observed) == runs
    assert fits(observed, weights / weights.sum(), runs)


# --- OpenDP: the laws by which ours are judged are those of its samplers


def opendp_draws(law: str, spread: float, size: int) -> Integers:
    """(size,) draws of OpenDP's discrete sampler: law 'laplace' with a scale or 'gaussian' with a deviation."""
    dp.enable_features("contrib")
    make, metric = {
        "laplace": (dp.m.make_laplace, dp.l1_distance(T="i64")),
        "gaussian": (dp.m.make_gaussian, dp.l2_distance(T=float)),
    }[law]
    return np.array(make(dp.vector_domain(dp.atom_domain(T="i64")), metric, spread)([0] * size))


@pytest.mark.chance(2 * P_THRESHOLD, "OpenDP's draws do not fit the exact law, at either scale")
@pytest.mark.parametrize("size", OPENDP_SIZES)
def test_opendp_draws_laplace_noise_by_the_same_law(size: int) -> None:
    for scale in (Fraction(5, 2), Fraction(1000)):  # 5/2 is the same number as a float
        assert_distributed(opendp_draws("laplace", float(scale), size), laplace_cdf(scale), float(scale))


@pytest.mark.chance(2 * P_THRESHOLD, "OpenDP's draws do not fit the exact law, at either scale")
@pytest.mark.parametrize("size", OPENDP_SIZES)
def test_opendp_draws_gaussian_noise_by_the_same_law(size: int) -> None:
    for deviation in (3, 1000):
        law = gaussian_cdf(Fraction(deviation**2))
        assert_distributed(opendp_draws("gaussian", float(deviation), size), law, float(deviation))


# --- independence


FEATURES: list[Callable[[Integers], Integers]] = [
    lambda k: k % 4,
    lambda k: np.sign(k) + 1,
    lambda k: np.minimum(np.abs(k) // 20, 4),
]


@pytest.mark.chance(9 * P_THRESHOLD, "one of three features of one of three kinds of pairs does not fit")
@pytest.mark.parametrize("law", ["laplace", "gaussian"])
def test_neighbouring_draws_and_calls_are_independent(law: str) -> None:
    # Of two independent draws, the chance of a pair of features is the product of theirs.
    sampler = ExactSampler()
    draw = {"laplace": sampler.laplace, "gaussian": sampler.gaussian}[law]
    cdf = {"laplace": laplace_cdf(Fraction(50)), "gaussian": gaussian_cdf(Fraction(50))}[law]
    values = np.arange(-2000, 2001)  # 40 scales: what lies beyond has less than 1e-17
    chances = np.diff(cdf(np.arange(-2001, 2001)))
    first, second = draw(Fraction(50), SAMPLE_SIZE), draw(Fraction(50), SAMPLE_SIZE)
    pairs = [(first[::2], first[1::2]), (first, second), (first[: SAMPLE_SIZE // 2], first[SAMPLE_SIZE // 2 :])]
    for a, b in pairs:
        for feature in FEATURES:
            own = np.bincount(feature(values), chances)
            both = np.bincount(feature(a) * len(own) + feature(b), minlength=len(own) ** 2)
            assert fits(both, np.outer(own, own).ravel(), len(a))


@pytest.mark.chance(4000**2 / 2**91, "two of 4,000 draws are equal: 4000^2 / 2 pairs, and no value has more than 2^-91")
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


@pytest.mark.chance(400**2 / 2**91, "two of 400 draws are equal, as above")
def test_a_forked_process_never_shares_a_draw() -> None:
    command = [sys.executable, "-W", "ignore", "-c", FORKED]
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])}
    result = subprocess.run(command, capture_output=True, text=True, check=True, env=environment)
    draws = result.stdout.split()
    assert len(draws) == 400
    assert len(set(draws)) == 400


# --- work


@pytest.mark.parametrize("law", ["laplace", "gaussian"])
def test_the_work_of_a_draw_says_nothing_about_it(law: str) -> None:
    # Counted in bytes asked of the kernel, on a fixed stream: a whole number of equal rounds, whatever is drawn.
    # The clock itself is read by bench/sampling.py.
    stream, asked = _stream(f"work of {law}"), [0]

    def read(size: int) -> bytes:
        asked[0] += size
        return stream(size)

    sampler = ExactSampler(read)
    draw = {"laplace": sampler.laplace, "gaussian": sampler.gaussian}[law]
    work, noise = [], set()
    for _ in range(2000):
        before = asked[0]
        noise.add(abs(int(draw(Fraction(1000), 1)[0])))
        work.append(asked[0] - before)
    assert len(noise) > 50
    assert all(bytes_read % min(work) == 0 for bytes_read in work)
    assert law == "gaussian" or len(set(work)) == 1
