"""The rules for a sensitivity: their arithmetic, their guesses against the tail they assume, and data they are for."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest

from dpsql.mechanisms.preprocessing import mean_of, median, trimmed_mean, variance_of
from dpsql.mechanisms.preprocessing.rules import (
    ExtremeRule,
    MeanRule,
    MedianRule,
    QuantileRule,
    Rule,
    SumRule,
    TrimmedRule,
    VarianceRule,
    half_width,
)

S, WIDTH, TENTH = Fraction(20_000), Fraction(10**6), Fraction(1, 10)
RULES: dict[str, Rule] = {
    "avg": MeanRule(S, WIDTH),
    "var": VarianceRule(S, WIDTH),
    "median": MedianRule(S, WIDTH),
    "quantile": QuantileRule(S, WIDTH, TENTH),
    "trimmed": TrimmedRule(S, WIDTH, TENTH),
    "max": ExtremeRule(S, WIDTH),
    "sum": SumRule(S, WIDTH, Fraction(40_000)),
}
every = pytest.mark.parametrize("rule", RULES.values(), ids=RULES.keys())


def test_the_reach_of_a_mean_grows_with_the_cube_root_of_rows_and_epsilon() -> None:
    assert MeanRule(S, None).reach(1000, Fraction(1)) == 300_000
    assert MeanRule(S, None).reach(8000, Fraction(1)) == 600_000
    assert MeanRule(S, None).reach(80_000, TENTH) == 600_000


@every
def test_the_reach_never_exceeds_what_bounds_allow(rule: Rule) -> None:
    reach = rule.reach(10**12, Fraction(100))
    assert reach is None or reach <= WIDTH


def test_extremes_and_sums_have_no_rule() -> None:
    assert RULES["max"].reach(1000, Fraction(1)) is None
    assert RULES["sum"].reach(1000, Fraction(1)) is None


def test_without_a_spread_bounds_set_the_reach() -> None:
    assert MeanRule(None, WIDTH).reach(100, Fraction(1)) == WIDTH
    assert VarianceRule(None, WIDTH).reach(100, Fraction(1)) == WIDTH
    assert MedianRule(None, WIDTH).reach(100, Fraction(1)) == WIDTH
    assert MeanRule(None, None).reach(100, Fraction(1)) is None


def test_a_reach_has_three_digits() -> None:
    reach = MeanRule(Fraction("0.0137"), None).reach(777, Fraction(1, 3))
    assert reach is not None
    assert 1 <= reach / Fraction(1.5 * 0.0137 * (777 / 3) ** (1 / 3)) <= Fraction("1.01")
    assert len(f"{float(reach):.10g}".lstrip("0.").replace(".", "")) <= 3


@every
def test_more_sensitivity_never_means_more_bias(rule: Rule) -> None:
    biases = [rule.bias(Fraction(2) ** k, 1000) for k in range(-10, 50)]
    assert all(before >= after >= 0 for before, after in pairwise(biases))
    assert biases[0] > 0
    assert biases[-1] == 0


@every
def test_without_a_spread_no_bias_is_guessed(rule: Rule) -> None:
    blind: Rule = replace(rule, spread=None)  # type: ignore[type-var]  # every rule is a dataclass with a spread
    assert blind.bias(Fraction(1), 10) == 0


@pytest.mark.parametrize("reach", [5_000.0, 30_000.0, 140_000.0])
def test_the_biases_of_mean_and_variance_are_those_of_the_guessed_tail(reach: float) -> None:
    u = (np.arange(4 * 10**6) + 0.5) / (4 * 10**6)
    distances = 1.5 * 20_000 * u ** (-1 / 3)  # P(D > d) = (1.5 s / d)^3
    beyond = np.maximum(distances - reach, 0).mean()
    squares = np.maximum(distances**2 - reach**2, 0).mean()
    n = 500
    assert MeanRule(S, None).bias(Fraction(reach) / n, n) == pytest.approx(beyond, rel=0.01)
    many = 10**12  # of which the outermost alone moves nothing
    assert VarianceRule(S, None).bias(Fraction(reach) ** 2 / many, many) == pytest.approx(squares, rel=0.03)
    assert SumRule(S, None, Fraction(0)).bias(Fraction(reach), n) == pytest.approx(n * beyond, rel=0.01)


def test_the_bias_of_a_maximum_is_that_of_the_outermost_gaps() -> None:
    n, delta = 4096, Fraction(500)
    far = np.linspace(30_000, 30_000 * n ** (1 / 3), 10**5)  # distances, up to about the outermost of n
    gaps = far[-1] - far - float(delta) * n * (30_000 / far) ** 3
    assert ExtremeRule(S, None).bias(delta, n) == pytest.approx(gaps.max(), rel=0.01)


@pytest.mark.parametrize("bias", [0.0, 0.5, 3.0, 400.0])
@pytest.mark.parametrize("confidence", [0.5, 0.95, 0.999])
def test_the_half_width_holds_biased_noise_with_the_wanted_probability(bias: float, confidence: float) -> None:
    x = half_width(2.0, bias, confidence)
    outside = (math.exp(-(x - bias) / 2) + math.exp(-(x + bias) / 2)) / 2
    assert outside == pytest.approx(1 - confidence)
    assert half_width(2.0, -bias, confidence) == x


@pytest.mark.parametrize("n", [100, 1000, 10_000])
@pytest.mark.parametrize("epsilon", [TENTH, Fraction(1)], ids=str)
def test_on_incomes_the_bias_stays_near_the_noise_but_for_the_variance(n: int, epsilon: Fraction) -> None:
    """Lognormal incomes with centre and spread 2.5 and 2.2 times off their middle: what the rules are for."""
    data = np.exp(np.random.default_rng(n).normal(10.3, 0.9, n)).astype(np.int64)
    centre = 40_000
    cut = n // 10
    exact = {
        "avg": data.mean(),
        "var": data.var(),
        "median": np.median(data),
        "trimmed": np.sort(data)[cut : n - cut].mean(),
    }
    for name, most in (("avg", 1.5), ("median", 0.2), ("trimmed", 0.2), ("var", 7)):
        reach = RULES[name].reach(n, epsilon)
        assert reach is not None
        delta = RULES[name].sensitivity(reach, n)
        moved = {
            "avg": lambda d: mean_of(data, centre=centre, sensitivity=d),
            "var": lambda d: variance_of(data, sensitivity=d),
            "median": lambda d: median(data, centre=centre, sensitivity=d),
            "trimmed": lambda d: trimmed_mean(data, TENTH, centre=centre, sensitivity=d),
        }[name](delta)
        assert abs(float(moved) - exact[name]) <= most * 2**0.5 * float(delta / epsilon), name


@pytest.mark.every(2)
@pytest.mark.parametrize(("rows", "epsilon"), [(100, TENTH), (100, Fraction(1)), (300, Fraction(1))])
def test_the_bias_of_a_variance_is_what_19_of_20_tables_keep_if_the_tail_is_as_guessed(
    rows: int, epsilon: Fraction
) -> None:
    """200 tables from a fixed seed, each with its exact bias: the same in every run."""
    rng = np.random.default_rng(17)
    rule = VarianceRule(S, None)
    reach = rule.reach(rows, epsilon)
    assert reach is not None
    delta = rule.sensitivity(reach, rows)
    moved = []
    for _ in range(200):
        distances = 1.5 * float(S) * rng.uniform(size=rows) ** (-1 / 3)
        values = np.rint(distances * rng.choice((-1, 1), rows)).astype(np.int64)
        moved.append(float(np.var(values)) - float(variance_of(values, sensitivity=delta)))
    assert 0.9 <= np.mean(np.array(moved) <= rule.bias(delta, rows)) <= 1
    assert rule.bias(delta, rows) <= 3 * np.quantile(moved, 0.95)
