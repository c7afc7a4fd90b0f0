"""Units with losses of their own: noise for the largest sensitivity per loss, over every class that could be there."""

from __future__ import annotations

import math
import random
from collections.abc import Callable
from fractions import Fraction
from itertools import combinations_with_replacement

import pytest

from dpsql.mechanisms.preprocessing import maximum, minimum, output_steps, sensitivity_steps, total
from tests.unit.mechanisms.preprocessing.general import preprocess

EPSILONS = {"strict": Fraction(1, 4), "normal": Fraction(1)}
SCALE = Fraction(8)
SENSITIVITIES = {name: SCALE * epsilon for name, epsilon in EPSILONS.items()}

Record = tuple[Fraction, str]
RECORDS: list[Record] = [(Fraction(value), name) for value in (-50, 1, 2, 300) for name in EPSILONS]


def statistic(name: str, records: tuple[Record, ...]) -> Fraction:
    values, tolls = [value for value, _ in records], [SENSITIVITIES[of] for _, of in records]
    match name:
        case "maximum":
            return maximum(values, tolls, centre=0)
        case "minimum":
            return minimum(values, tolls, centre=0)
        case "total":
            return total(values, tolls)
        case "count":
            return total([Fraction(1)] * len(records), tolls)
        case _:
            return preprocess(lambda bag: sum(bag) / Fraction(len(bag)), values, tolls, 0)


def laplace(steps: int, scale: Fraction, at: int) -> float:
    """Log of the chance that steps + discrete Laplace noise is at that point, up to a constant of the scale."""
    return -abs(at - steps) / float(scale)


@pytest.mark.parametrize("name", ["maximum", "minimum", "total", "count", "mean of few"])
def test_laplace_noise_loses_each_class_its_own_epsilon_at_most(name: str) -> None:
    """Theorem 7.2: noise of scale max Delta_i / epsilon_i."""
    step = Fraction(1, 2)
    scale = max(sensitivity_steps(SENSITIVITIES[of], step) / EPSILONS[of] for of in EPSILONS)
    lost = dict.fromkeys(EPSILONS, 0.0)
    for size in range(1, 4):
        for records in combinations_with_replacement(RECORDS, size):
            with_all = output_steps(statistic(name, records), step)
            for i, (_, of) in enumerate(records):
                less = output_steps(statistic(name, records[:i] + records[i + 1 :]), step)
                losses = [abs(laplace(with_all, scale, at) - laplace(less, scale, at)) for at in (-999, 0, 3, 999)]
                lost[of] = max(lost[of], *losses)
    assert all(lost[of] <= EPSILONS[of] + 1e-9 for of in EPSILONS)
    if name != "count":
        assert all(math.isclose(lost[of], EPSILONS[of]) for of in EPSILONS)


def score_of(table: list[Fraction]) -> Callable[[tuple[tuple[int, str], ...]], Fraction]:
    """A score for every set of numbered units, without any sense to it."""
    return lambda bag: table[sum(1 << i for i, _ in bag)]


@pytest.mark.parametrize("seed", range(5))
def test_the_exponential_mechanism_loses_each_unit_its_own_epsilon_at_most(seed: int) -> None:
    """Theorem 7.5: chances as exp(score / (2 max Delta_i / epsilon_i)), each score preprocessed by itself."""
    chance = random.Random(seed)
    units = [(i, chance.choice(tuple(EPSILONS))) for i in range(4)]
    raw = {answer: [Fraction(chance.randint(-60, 60)) for _ in range(16)] for answer in "abc"}

    def log_chances(kept: tuple[tuple[int, str], ...]) -> list[float]:
        tolls = [SENSITIVITIES[of] for _, of in kept]
        scores = [preprocess(score_of(table), kept, tolls, 0) for table in raw.values()]
        weights = [float(score / (2 * SCALE)) for score in scores]
        return [weight - math.log(sum(map(math.exp, weights))) for weight in weights]

    for mask in range(1, 16):
        kept = tuple(unit for unit in units if mask >> unit[0] & 1)
        for unit in kept:
            fewer = tuple(each for each in kept if each != unit)
            losses = [abs(a - b) for a, b in zip(log_chances(kept), log_chances(fewer), strict=True)]
            assert max(losses) <= EPSILONS[unit[1]] + 1e-12


def test_a_scale_for_the_classes_present_alone_tells_who_is_there() -> None:
    """One sensitivity for all, and noise of Delta / epsilon of the strictest present: its width moves with a unit."""
    delta = Fraction(4)

    def scale_by_who_is_present(records: list[Record]) -> Fraction:
        return max(delta / EPSILONS[of] for _, of in records)

    with_strict, without = [(Fraction(1), "normal"), (Fraction(1), "strict")], [(Fraction(1), "normal")]
    wide, narrow = scale_by_who_is_present(with_strict), scale_by_who_is_present(without)
    far = 1000
    loss = abs(far) / float(narrow) - abs(far) / float(wide) + math.log(float(narrow / wide))
    assert loss > 100 * EPSILONS["strict"]


def test_changing_class_costs_no_more_than_leaving_and_joining() -> None:
    for value in (-50, 1, 300):
        for rest in combinations_with_replacement(RECORDS, 2):
            strict, normal = (statistic("maximum", (*rest, (Fraction(value), of))) for of in EPSILONS)
            assert abs(strict - normal) <= sum(SENSITIVITIES.values())
