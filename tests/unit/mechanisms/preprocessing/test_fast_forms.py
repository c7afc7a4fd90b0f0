"""Every fast form is the general recursion, exactly; and what it promises about neighbours holds."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from itertools import combinations_with_replacement

import numpy as np
import pytest

from dpsql.mechanisms.preprocessing import (
    Counts,
    TailsTooShortError,
    maximum,
    mean,
    mean_of,
    median,
    minimum,
    output_steps,
    sensitivity_steps,
    total,
    trimmed_mean,
    variance,
    variance_of,
)
from dpsql.mechanisms.preprocessing.variance import Ddof
from tests.unit.mechanisms.preprocessing.general import preprocess
from tests.unit.mechanisms.preprocessing.oracles import (
    DELTAS,
    FORMS,
    Bag,
    by_windows,
    small_data,
    true_sum,
    variance_by_windows,
)

SETS = 2000
MANY = pytest.mark.parametrize("sets", [SETS // 16, pytest.param(3 * SETS, marks=pytest.mark.slow)])
"""Random sets of values: with 500 of them each form differs from its statistic more than 200 times."""
EVERY = pytest.mark.parametrize("name", tuple(FORMS))
ORDERED = pytest.mark.parametrize("name", tuple(name for name, form in FORMS.items() if form.is_ordered))
INDIVIDUAL: dict[str, Callable[[Bag], Fraction]] = {"maximum": max, "minimum": min, "total": true_sum}


@pytest.mark.every(2)
@MANY
@EVERY
def test_fast_form_is_the_general_recursion(name: str, sets: int) -> None:
    form = FORMS[name]
    for bag, c, delta in small_data(seed=1, count=sets, sizes=(*range(6), *range(6), *range(6), 6, 7)):
        centre = Fraction(0) if form.centred_at_zero else c
        assert form.fast(bag, centre, delta) == preprocess(form.statistic, bag, delta, centre), (bag, centre, delta)


LARGER = pytest.mark.parametrize("sets", [8, pytest.param(150, marks=pytest.mark.slow)])


@pytest.mark.every(2)
@LARGER
@ORDERED
def test_fast_form_is_the_quadratic_programme(name: str, sets: int) -> None:
    form = FORMS[name]
    for bag, c, delta in small_data(seed=2, count=sets, sizes=range(8, 61)):
        centre = Fraction(0) if form.centred_at_zero else c
        assert form.fast(bag, centre, delta) == by_windows(form.statistic, bag, centre, delta), (bag, centre, delta)


@LARGER
@pytest.mark.parametrize("ddof", [0, 1])
def test_variance_is_the_least_of_all_windows(ddof: Ddof, sets: int) -> None:
    chance = random.Random(3)
    for bag, _, delta in small_data(seed=3, count=sets, sizes=range(8, 61)):
        assert variance_of(bag, sensitivity=delta, ddof=ddof) == variance_by_windows(ddof, bag, delta), (bag, delta)
    for _ in range(sets):  # tails of every weight, and a Delta that leaves some of them out
        bag = [Fraction(int(chance.paretovariate(chance.choice((0.5, 1, 3))) * 100)) for _ in range(60)]
        delta = Fraction(int(chance.lognormvariate(10, 4)), 60)
        assert variance_of(bag, sensitivity=delta, ddof=ddof) == variance_by_windows(ddof, bag, delta), (bag, delta)


@MANY
@pytest.mark.parametrize("name", tuple(INDIVIDUAL))
def test_sensitivities_of_its_own_for_every_unit(name: str, sets: int) -> None:
    chance = random.Random(4)
    for bag, c, _ in small_data(seed=4, count=sets, sizes=range(7)):
        tolls = [chance.choice(DELTAS) for _ in bag]
        if name == "total":
            c, found = Fraction(0), total(bag, tolls)
        else:
            found = (maximum if name == "maximum" else minimum)(bag, tolls, centre=c)
        assert found == preprocess(INDIVIDUAL[name], bag, tolls, c), (bag, tolls, c)


POINTS = [Fraction(v) for v in (-9, 0, 1, 2, 7, 100)]
BAGS = [bag for size in range(6) for bag in combinations_with_replacement(POINTS, size)]
SMALL = pytest.mark.parametrize("longest", [4, pytest.param(5, marks=pytest.mark.slow)])


@pytest.mark.every(3)
@EVERY
@pytest.mark.parametrize("delta", [Fraction(1, 3), Fraction(5), Fraction(40)])
@SMALL
def test_one_value_more_or_less_moves_it_by_delta_at_most(name: str, delta: Fraction, longest: int) -> None:
    form, centre = FORMS[name], Fraction(0 if FORMS[name].centred_at_zero else 3)
    step = delta / 7
    g = {bag: form.fast(bag, centre, delta) for bag in BAGS if len(bag) <= longest}
    on_grid = {bag: output_steps(value, step) for bag, value in g.items()}
    moves = {abs(on_grid[bag] - on_grid[_without(bag, i)]) for bag in g for i in range(len(bag))}
    assert all(abs(g[bag] - g[_without(bag, i)]) <= delta for bag in g for i in range(len(bag)))
    assert max(moves) == sensitivity_steps(delta, step) == 7


@pytest.mark.every(2, 1)
@EVERY
def test_replacing_a_value_costs_twice_delta_and_no_more(name: str) -> None:
    form, delta = FORMS[name], Fraction(5)
    centre = Fraction(0 if form.centred_at_zero else 3)
    g = {bag: form.fast(bag, centre, delta) for bag in BAGS if len(bag) <= 4}
    swaps = [
        abs(g[bag] - g[tuple(sorted((*_without(bag, i), other)))])
        for bag in g
        for i in range(len(bag))
        for other in POINTS
    ]
    assert max(swaps) <= 2 * delta


@pytest.mark.parametrize("name", tuple(INDIVIDUAL))
def test_each_unit_moves_it_by_its_own_sensitivity_at_most(name: str) -> None:
    units = [(Fraction(value), Fraction(toll)) for value in (-9, 0, 2, 100) for toll in (0, 1, 30)]

    def g(records: tuple[tuple[Fraction, Fraction], ...]) -> Fraction:
        values, tolls = [value for value, _ in records], [toll for _, toll in records]
        if name == "total":
            return total(values, tolls)
        return (maximum if name == "maximum" else minimum)(values, tolls, centre=3)

    for size in range(1, 4):
        for records in combinations_with_replacement(units, size):
            for i, (_, toll) in enumerate(records):
                assert abs(g(records) - g(records[:i] + records[i + 1 :])) <= toll


def test_rows_of_a_unit_with_at_most_m_move_a_row_statistic_by_m_shares() -> None:
    """Delta / m for each of at most m rows a unit."""
    delta, m = Fraction(6), 3
    rows = [Fraction(v) for v in (0, 1, 50, 50, 90)]
    for unit in combinations_with_replacement(POINTS, m):
        for name in ("mean", "median", "trimmed_mean"):
            fast = FORMS[name].fast
            assert abs(fast([*rows, *unit], Fraction(0), delta / m) - fast(rows, Fraction(0), delta / m)) <= delta


def _without(bag: tuple[Fraction, ...], i: int) -> tuple[Fraction, ...]:
    return bag[:i] + bag[i + 1 :]


# The same data in other clothes.

CALLS: dict[str, Callable[..., Fraction]] = {
    "median": lambda data: median(data, centre=7, sensitivity=Fraction(1, 2)),
    "mean": lambda data: mean_of(data, centre=7, sensitivity=Fraction(1, 2)),
    "trimmed_mean": lambda data: trimmed_mean(data, Fraction(1, 10), centre=7, sensitivity=Fraction(1, 2)),
    "variance": lambda data: variance_of(data, sensitivity=Fraction(100), ddof=1),
    "maximum": lambda data: maximum(data, Fraction(1, 2), centre=7),
    "minimum": lambda data: minimum(data, Fraction(1, 2), centre=7),
    "total": lambda data: total(data, Fraction(5, 2)),
}


@pytest.mark.parametrize("name", tuple(CALLS))
def test_lists_arrays_and_value_counts_agree(name: str) -> None:
    values = [int(v) for v in np.random.default_rng(5).lognormal(3, 1.5, 300)]
    tally = Counter(values)
    counts = Counts(tuple(sorted(tally)), tuple(tally[v] for v in sorted(tally)))
    answers = {CALLS[name](data) for data in (values, np.array(values), counts, [Decimal(v) for v in values])}
    assert len(answers) == 1


def test_a_grid_of_cents_is_a_change_of_unit() -> None:
    euros = [Fraction(v, 100) for v in (3, 8, 1000, 5, 5)]
    cents = Counts((3, 5, 8, 1000), (1, 2, 1, 1), Fraction(1, 100))
    for name, call in CALLS.items():
        assert call(cents) == call(euros), name


def test_one_sensitivity_a_distinct_value_is_that_of_all_its_units() -> None:
    counts = Counts((1, 5, 9), (2, 1, 3))
    listed = [1, 1, 5, 9, 9, 9]
    tolls = [Fraction(1), Fraction(3), Fraction(0), Fraction(1, 2), Fraction(2), Fraction(1)]
    added = [Fraction(4), Fraction(0), Fraction(7, 2)]
    assert maximum(counts, added, centre=0) == maximum(listed, tolls, centre=0)
    assert minimum(counts, added, centre=20) == minimum(listed, tolls, centre=20)


# Ends of the data instead of all of it.

HEAVY = np.random.default_rng(6).lognormal(10.3, 0.9, 20_000).astype(int).tolist()


def test_the_mean_needs_only_the_ends() -> None:
    delta, low_to_high = Fraction(400_000, 20_000), sorted(HEAVY)
    whole = mean_of(HEAVY, centre=40_000, sensitivity=delta)
    assert whole < Fraction(sum(HEAVY), len(HEAVY))  # something was cut
    ends = low_to_high[:1500], low_to_high[-1500:]
    assert mean(len(HEAVY), sum(HEAVY), *ends, centre=40_000, sensitivity=delta) == whole
    with pytest.raises(TailsTooShortError, match="take mean_of"):
        mean(len(HEAVY), sum(HEAVY), low_to_high[:2], low_to_high[-2:], centre=40_000, sensitivity=delta)


@pytest.mark.parametrize("ddof", [0, 1])
def test_the_variance_needs_only_the_ends(ddof: Ddof) -> None:
    delta, low_to_high = Fraction(400_000**2, 20_000), sorted(HEAVY)
    whole = variance_of(HEAVY, sensitivity=delta, ddof=ddof)
    assert 2 * whole < 2 * variance_of(HEAVY, sensitivity=10**12, ddof=ddof)
    squares = sum(v * v for v in HEAVY)
    ends = low_to_high[:5], low_to_high[-500:]
    assert variance(len(HEAVY), sum(HEAVY), squares, *ends, sensitivity=delta, ddof=ddof) == whole
    moved = [v - 40_000 for v in HEAVY]
    moved_ends = [[v - 40_000 for v in end] for end in ends]
    assert (
        variance(len(moved), sum(moved), sum(v * v for v in moved), *moved_ends, sensitivity=delta, ddof=ddof) == whole
    )
    with pytest.raises(TailsTooShortError, match="take variance_of"):
        variance(len(HEAVY), sum(HEAVY), squares, [], low_to_high[-2:], sensitivity=delta, ddof=ddof)


def test_ends_never_change_an_answer_they_give() -> None:
    """Whatever the ends are, the mean and the variance of them are those of all values, or refused."""
    given = 0
    for bag, c, delta in small_data(seed=7, count=400, sizes=range(1, 12)):
        values, sums = sorted(bag), (sum(bag), sum(v * v for v in bag))
        answers = mean_of(bag, centre=c, sensitivity=delta), variance_of(bag, sensitivity=delta)
        for size in range(len(bag) + 1):
            ends = values[:size], values[len(values) - size :]
            try:
                assert mean(len(bag), sums[0], *ends, centre=c, sensitivity=delta) == answers[0]
                assert variance(len(bag), *sums, *ends, sensitivity=delta) == answers[1]
                given += size < len(bag)
            except TailsTooShortError:
                assert size < len(bag)
    assert given > 100


# What the answer may never be.


@EVERY
def test_no_values_give_the_centre(name: str) -> None:
    centre = Fraction(0 if FORMS[name].centred_at_zero else 3)
    assert FORMS[name].fast([], centre, Fraction(5)) == centre


def test_the_median_lies_between_the_centre_and_the_true_one() -> None:
    form = FORMS["median"]
    for bag, c, delta in small_data(seed=8, count=500, sizes=range(1, 30)):
        f = form.statistic(bag)
        assert min(c, f) <= form.fast(bag, c, delta) <= max(c, f)


REFUSED: dict[str, tuple[Callable[[], object], str]] = {
    "a float value": (lambda: median([0.5], centre=0, sensitivity=1), "a value is 0.5, not an exact number"),  # type: ignore[list-item]  # the point
    "an array of floats": (lambda: median(np.array([0.5]), centre=0, sensitivity=1), "write an int, a Fraction"),
    "NaN": (lambda: mean_of([Decimal("NaN")], centre=0, sensitivity=1), "NaN, not an exact number"),
    "infinity": (lambda: total([Decimal("Infinity")], 1), "Infinity, not an exact number"),
    "NULL": (lambda: maximum([None], 1, centre=0), "leave NULLs out"),  # type: ignore[list-item]  # the point
    "a float centre": (lambda: mean_of([1], centre=0.5, sensitivity=1), "the centre is 0.5"),  # type: ignore[arg-type]  # the point
    "a float Delta": (lambda: variance_of([1], sensitivity=0.5), "the sensitivity is 0.5"),  # type: ignore[arg-type]  # the point
    "a negative Delta": (lambda: median([1], centre=0, sensitivity=-1), "write a number that is 0 or more"),
    "a Delta a unit": (lambda: mean_of([1, 2], centre=0, sensitivity=[1, 2]), "one sensitivity for all units"),  # type: ignore[arg-type]  # the point
    "too few Deltas": (lambda: maximum([1, 2], [1], centre=0), "1 sensitivities for 2 values"),
    "a Delta a class of counts": (lambda: total(Counts((1,), (2,)), [1]), "counts of one class"),
    "half trimmed": (lambda: trimmed_mean([1], Fraction(1, 2), centre=0, sensitivity=1), "below 1/2"),
    "a third ddof": (lambda: variance_of([1], sensitivity=1, ddof=2), "write 0 for the population's"),  # type: ignore[arg-type]  # the point
    "more at an end than in all": (lambda: mean(1, 3, [1, 2], [], centre=0, sensitivity=1), "2 values at one end of 1"),
    "more far values than values": (
        lambda: variance(1, 3, 5, [1, 2], [], sensitivity=1),
        "2 values at one end of 1",
    ),
    "counts that do not ascend": (lambda: Counts((2, 1), (1, 1)), "do not ascend"),
    "a count of nothing": (lambda: Counts((1,), (0,)), "a count is below 1"),
    "a count too many": (lambda: Counts((1,), (1, 1)), "one count for each value"),
    "no grid": (lambda: Counts((1,), (1,), Fraction(0)), "a step above 0"),
}


@pytest.mark.parametrize("name", tuple(REFUSED))
def test_what_has_no_exact_meaning_is_refused(name: str) -> None:
    call, message = REFUSED[name]
    with pytest.raises(ValueError, match=message):
        call()


def test_bags_are_what_the_oracles_say() -> None:
    """The oracles are not empty: among the data are ties, single values, outliers, and no values at all."""
    bags: list[Bag] = [bag for bag, _, _ in small_data(seed=1, count=SETS, sizes=range(8))]
    assert any(len(set(bag)) < len(bag) for bag in bags)
    assert {len(bag) for bag in bags} == set(range(8))
