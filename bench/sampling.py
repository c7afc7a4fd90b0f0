"""Time of exact noise, beside OpenDP's samplers: one draw, and a million; and what time tells of the noise.

    python bench/sampling.py

OpenDP is asked for a tenth of the million and its time multiplied, to keep the run short.
"""

from __future__ import annotations

import platform
import time
from collections.abc import Callable
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt
import opendp.prelude as dp
from scipy.stats import rankdata

from dpsql.privacy.sampling import ExactSampler

MILLION = 1_000_000


def seconds(call: Callable[[], object], repeats: int) -> float:
    """Wall time of one call: the best of three rounds of so many, after one to warm up."""
    call()
    rounds = []
    for _ in range(3):
        start = time.perf_counter()
        for _ in range(repeats):
            call()
        rounds.append((time.perf_counter() - start) / repeats)
    return min(rounds)


def opendp(law: str, spread: float) -> Callable[[int], object]:
    """OpenDP's draw of so many integers."""
    space = dp.vector_domain(dp.atom_domain(T="i64"))
    if law == "laplace":
        measure = dp.m.make_laplace(space, dp.l1_distance(T="i64"), spread)
    else:
        measure = dp.m.make_gaussian(space, dp.l2_distance(T=float), spread)
    return lambda size: measure([0] * size)


def told(draw: Callable[[Fraction, int], npt.NDArray[Any]], size: int = 20_000) -> float:
    """The rank correlation between the size of a draw and its time: 0 but for 1 / sqrt(size) where time tells nothing.

    Ranks, so that no single pause of the machine decides.
    """
    noise, elapsed = np.zeros(size), np.zeros(size)
    for i in range(size):
        start = time.perf_counter_ns()
        k = draw(Fraction(1000), 1)
        elapsed[i] = time.perf_counter_ns() - start
        noise[i] = abs(int(k[0]))
    return float(np.corrcoef(rankdata(noise), rankdata(elapsed))[0, 1])


def main() -> None:
    """Print one row a law."""
    dp.enable_features("contrib")
    ours = ExactSampler()
    print(f"Python {platform.python_version()}, numpy {np.__version__}, {platform.machine()}")
    print(f"{'law':28}{'one draw':>12}{'OpenDP':>12}{'10^6 draws':>14}{'OpenDP':>12}")
    laws = [("laplace", Fraction(s)) for s in ("1/10", "1", "7/3", "1000", "1000000", "1000000000000000")]
    laws += [("gaussian", Fraction(s)) for s in ("1/4", "9", "10000", "1000000000")]
    for law, spread in laws:
        mine = ours.laplace if law == "laplace" else ours.gaussian
        theirs = opendp(law, float(spread) if law == "laplace" else float(spread) ** 0.5)
        row = (
            seconds(partial(mine, spread, 1), 300) * 1e6,
            seconds(partial(theirs, 1), 300) * 1e6,
            seconds(partial(mine, spread, MILLION), 1),
            seconds(partial(theirs, MILLION // 10), 1) * 10,
        )
        print(f"{f'{law} {spread}':28}{row[0]:>9.0f} us{row[1]:>9.0f} us{row[2]:>12.2f} s{row[3]:>10.2f} s")
    for n in (100, 10_000, 100_000):
        scores = [-abs(i - n // 2) for i in range(n)]
        flip = seconds(partial(ours.permute_and_flip, scores, Fraction(1, 100)), 3)
        pick = seconds(partial(ours.intervals, [9] * n, scores, Fraction(1, 100)), 3)
        print(f"{n:>7} candidates: permute_and_flip {flip * 1e3:.2f} ms, intervals {pick * 1e3:.2f} ms")
    for law in ("laplace", "gaussian"):
        print(f"{law}: rank correlation of noise and time {told(getattr(ours, law)):+.4f}, by chance +-0.014 in 95%")


if __name__ == "__main__":
    main()
