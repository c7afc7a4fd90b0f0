"""Statistics of moments: numpy's own values, bounds that hold for all data, and ranges over boxes."""

from __future__ import annotations

import math
from itertools import combinations_with_replacement, product

import numpy as np
import pytest

from dpsql.mechanisms.noise.central import BELOW, STATISTICS, Correlation, Guess, Slope

NAMES = tuple(STATISTICS)
every = pytest.mark.parametrize("name", NAMES)


def moments(x: list[int], y: list[int], shift: tuple[int, int] = (0, 0)) -> dict[str, int]:
    """Of shifted values, as exact integers."""
    pairs = [(a - shift[0], b - shift[1]) for a, b in zip(x, y, strict=True)]
    sums = {"n": len(pairs), "x": sum(a for a, _ in pairs), "y": sum(b for _, b in pairs)}
    return sums | {
        "xx": sum(a * a for a, _ in pairs),
        "yy": sum(b * b for _, b in pairs),
        "xy": sum(a * b for a, b in pairs),
    }


def by_numpy(name: str, x: list[int], y: list[int], widest: int = 0) -> float:
    """What numpy says; where it has nothing to say, the largest variance of values so far apart, and else 0."""
    lost = int(name.endswith("samp"))
    if len(x) < 1 + lost:
        largest = widest**2 / (4 - 2 * lost)
        return {"var": largest, "stddev": math.sqrt(largest)}.get(name.split("_")[0], 0.0)
    cov = np.cov(x, y, ddof=lost) if len(x) > 1 else np.zeros((2, 2))
    match name.split("_")[0]:
        case "var":
            return float(cov[0, 0])
        case "stddev":
            return math.sqrt(cov[0, 0])
        case "covar":
            return float(cov[0, 1])
        case "corr":
            return float(cov[0, 1] / math.sqrt(cov[0, 0] * cov[1, 1])) if cov[0, 0] and cov[1, 1] else 0.0
    return float(cov[0, 1] / cov[0, 0]) if cov[0, 0] else 0.0


@every
def test_it_is_numpys_value_whatever_the_shift(name: str) -> None:
    rng = np.random.default_rng(6)
    for size in (0, 1, 2, 3, 50):
        x = rng.integers(-30, 31, size).tolist()
        y = [value // 2 + int(extra) for value, extra in zip(x, rng.integers(-9, 10, size), strict=True)]
        for shift in ((0, 0), (7, -3)):
            value = STATISTICS[name].value(moments(x, y, shift), {"x": 60, "y": 60})
            assert value == pytest.approx(by_numpy(name, x, y, widest=60), rel=1e-12, abs=1e-12)


@every
def test_a_constant_column_gives_0(name: str) -> None:
    assert STATISTICS[name].value(moments([4, 4, 4], [4, 4, 4]), {"x": 9, "y": 9}) == 0


@pytest.mark.every(2)
@every
def test_its_bounds_hold_for_all_data_and_are_reached(name: str) -> None:
    widths = {"x": 2, "y": 3}
    low, high = STATISTICS[name].bounds(widths)
    seen = [0.0]
    for size in range(1, 5):
        for rows in combinations_with_replacement(list(product(range(3), range(4))), size):
            seen.append(by_numpy(name, [x for x, _ in rows], [y for _, y in rows]))
    assert min(seen) == pytest.approx(low)
    assert max(seen) == pytest.approx(high)


@every
def test_wild_moments_stay_inside_the_bounds(name: str) -> None:
    rng, widths = np.random.default_rng(2), {"x": 20, "y": 30}
    low, high = STATISTICS[name].bounds(widths)
    for _ in range(500):
        wild = {m: int(rng.integers(-50, 50)) for m in ("n", "x", "y", "xx", "yy", "xy")}
        assert low <= STATISTICS[name].value(wild, widths) <= high


@pytest.mark.parametrize("name", [name for name in NAMES if name not in ("corr", "regr_slope")])
def test_many_moments_at_once_give_the_same_values_and_the_bounds_where_there_is_none(name: str) -> None:
    rng, statistic, widths = np.random.default_rng(4), STATISTICS[name], {"x": 20, "y": 30}
    wild = {m: rng.integers(-20, 60, 2000) for m in ("n", "x", "y", "xx", "yy", "xy")}
    assert not isinstance(statistic, Correlation | Slope)
    lows, highs = statistic.likely({m: values.astype(float) for m, values in wild.items()}, widths)
    bounds, defined = statistic.bounds(widths), 0
    for index, (low, high) in enumerate(zip(lows.tolist(), highs.tolist(), strict=True)):
        value = statistic.value({m: int(values[index]) for m, values in wild.items()}, widths)
        if (low, high) == bounds and bounds[0] < bounds[1]:
            assert value == (high if "var_" in name[:4] or "stddev" in name else 0)
        else:
            assert low == high == pytest.approx(value, rel=1e-12, abs=1e-12)
            defined += 1
    assert 100 < defined < 2000


@every
def test_its_weights_are_its_slopes_in_each_moment(name: str) -> None:
    # At the guess: means and deviations as large as the distances, a correlation of 1/2. Parts of one sign add up.
    statistic, guess, n, widths = STATISTICS[name], Guess(300.0, 500.0), 1000, {"x": 10**6, "y": 10**6}
    m = {"n": n, "x": 300 * n, "y": 500 * n, "xx": 180_000 * n, "yy": 500_000 * n, "xy": 225_000 * n}
    for moment, weight in statistic.weights(guess).items():
        step = max(1, m[moment] // 10**4)
        up, down = (statistic.value(m | {moment: m[moment] + sign * step}, widths) for sign in (1, -1))
        slope = abs(up - down) / (2 * step) * n
        assert slope <= 1.01 * weight
        counted = BELOW if name in ("corr", "regr_slope") and moment in ("xx", "yy") else 1  # what is divided by
        assert len(moment) == 1 or counted * slope == pytest.approx(weight, rel=0.01)
