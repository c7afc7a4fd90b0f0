"""Any function on a small set, made to depend on each unit by no more than that unit's sensitivity.

The rule and its theorem stand in `dpsql.mechanisms.preprocessing`; here it runs over every subset, as an oracle.

Neighbours: one unit comes or goes (``add_remove``). Under ``replace_one`` a unit goes and another comes: the sum of
their sensitivities, twice Delta where all have the same.

Two numbers (p, q) at once: their move counts as |dp| + |dq| = max(|du|, |dv|) for u = p + q and v = p - q. So u and v
are preprocessed one by one, each with the whole sensitivity. Three numbers cannot be: there are three sets whose L1
balls meet in pairs but not all together.

Source: Cummings, Durfee 2020, "Individual Sensitivity Preprocessing for Data Privacy", Algorithm 1, Theorems 3.3, 3.5
and section 8; the form for pairs by u and v is ours.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction
from typing import TypeVar

from dpsql.mechanisms.preprocessing.exact import Exact, exact, tolls_of

__all__ = ["MOST_UNITS", "preprocess", "preprocess_2d"]

MOST_UNITS = 12  # the recursion visits every subset: 4096 of them

Unit = TypeVar("Unit")


def preprocess(
    function: Callable[[tuple[Unit, ...]], Exact],
    values: Sequence[Unit],
    sensitivities: Exact | Iterable[Exact],
    empty_value: Exact,
) -> Fraction:
    """The function's value, moved as little as the sensitivities demand.

    Args:
        function: Of the values of any nonempty set of units, in their order. Must be exact and the same every time.
        values: One per unit, of any type, at most 12; NULLs left out.
        sensitivities: One for all units, or one for each; in the function's unit, >= 0, public.
        empty_value: The function of no units, public: never taken from the data.

    Returns:
        g of the theorem above, exact. Adding or removing unit i changes it by at most sensitivity i.

    Raises:
        ValueError: If there are more than 12 units, or a number is not exact.

    Source: Cummings, Durfee 2020, Algorithm 1.

    >>> preprocess(max, [3, 1, 50], sensitivities=10, empty_value=0)
    Fraction(13, 1)
    >>> preprocess(sum, [3, 1, 50], sensitivities=[5, 0, 10], empty_value=0)
    Fraction(13, 1)
    """
    _refuse_many(
        len(values),
        "median, mean_of, trimmed_mean, minimum, maximum, total or variance_of, "
        "or ordered for a statistic that never falls when a value rises",
    )
    tolls = tolls_of(sensitivities, len(values))
    subsets = [[i for i in range(len(values)) if subset >> i & 1] for subset in range(2 ** len(values))]
    wanted = [exact(empty_value, "the empty value")]
    wanted += [exact(function(tuple(values[i] for i in inside)), "the function's value") for inside in subsets[1:]]
    # On one grid for all of them: whole numbers are added and compared many times as fast as fractions.
    steps = math.lcm(*(number.denominator for number in (*wanted, *tolls)))
    goals, most = ([n.numerator * (steps // n.denominator) for n in numbers] for numbers in (wanted, tolls))
    found = goals[:1]
    for subset in range(1, len(subsets)):  # after all of its own subsets
        low = max(found[subset ^ 1 << i] - most[i] for i in subsets[subset])
        high = min(found[subset ^ 1 << i] + most[i] for i in subsets[subset])
        found.append(min(max(goals[subset], low), high))
    return Fraction(found[-1], steps)


def preprocess_2d(
    function: Callable[[tuple[Unit, ...]], tuple[Exact, Exact]],
    values: Sequence[Unit],
    sensitivities: Exact | Iterable[Exact],
    empty_value: tuple[Exact, Exact],
) -> tuple[Fraction, Fraction]:
    """Two numbers whose changes, added up, stay within each unit's sensitivity.

    Args:
        function: As for `preprocess`, giving a pair (p, q) in one unit.
        values: One per unit, at most 12.
        sensitivities: Bounds on |change of p| + |change of q|, one for all units or one for each.
        empty_value: The pair of no units, public.

    Returns:
        The pair, exact. Noise for an L1 sensitivity of one Delta serves both.

    Raises:
        ValueError: As `preprocess`.

    Source: Cummings, Durfee 2020, section 8; by the sum and the difference of the two, which is ours.

    >>> preprocess_2d(lambda bag: (max(bag), min(bag)), [0, 100], sensitivities=10, empty_value=(0, 0))
    (Fraction(10, 1), Fraction(0, 1))
    """
    _refuse_many(len(values), "a form of each number by itself, with a share of the epsilon")
    tolls = tolls_of(sensitivities, len(values))
    p0, q0 = (exact(each, "the empty value") for each in empty_value)

    def both(bag: tuple[Unit, ...]) -> tuple[Fraction, Fraction]:
        p, q = function(bag)
        return exact(p, "the function's value"), exact(q, "the function's value")

    u = preprocess(lambda bag: sum(both(bag), Fraction(0)), values, tolls, p0 + q0)
    v = preprocess(lambda bag: both(bag)[0] - both(bag)[1], values, tolls, p0 - q0)
    return (u + v) / 2, (u - v) / 2


def _refuse_many(count: int, instead: str) -> None:
    if count > MOST_UNITS:
        raise ValueError(
            f"{count} units are too many: the recursion takes 2^n steps and stops at {MOST_UNITS}; use {instead}."
        )
