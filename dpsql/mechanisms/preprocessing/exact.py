"""Exact numbers: what the mathematics of this package takes and gives. Floats are refused, not rounded.

Tests: tests/unit/mechanisms/preprocessing/test_counts.py, tests/unit/mechanisms/preprocessing/test_general.py.
"""

from __future__ import annotations

from collections.abc import Iterable
from decimal import Decimal
from fractions import Fraction
from numbers import Rational
from typing import TypeAlias

__all__ = ["Exact", "exact", "exact_all", "sensitivity_of", "tolls_of"]

Exact: TypeAlias = int | Fraction | Decimal


def exact(value: object, name: str) -> Fraction:
    """The same number as a fraction.

    Args:
        value: An integer (numpy's too), a fraction or a finite decimal.
        name: What to call it in the error.

    Raises:
        ValueError: If it is a float, NaN, infinite, NULL or no number.

    >>> exact(Decimal("0.10"), "the centre")
    Fraction(1, 10)
    >>> exact(0.1, "the centre")
    Traceback (most recent call last):
    ValueError: the centre is 0.1, not an exact number; write an int, a Fraction or a Decimal, on a public grid.
    """
    match value:
        case Rational():
            return Fraction(int(value.numerator), int(value.denominator))
        case Decimal() if value.is_finite():
            return Fraction(value)
        case None:
            raise ValueError(f"{name} is NULL; leave NULLs out: they are not in the data.")
        case _:
            raise ValueError(
                f"{name} is {value}, not an exact number; write an int, a Fraction or a Decimal, on a public grid."
            )


def exact_all(values: Iterable[object], name: str) -> list[Fraction]:
    """The same numbers as fractions, in order; errors as in `exact`."""
    return [exact(value, name) for value in values]


def sensitivity_of(value: Exact) -> Fraction:
    """The wanted sensitivity as a fraction.

    Raises:
        ValueError: If it is negative or not exact, or if there are several.

    >>> sensitivity_of(3)
    Fraction(3, 1)
    """
    if isinstance(value, Iterable):
        raise ValueError(
            "this statistic takes one sensitivity for all units; give that of the smallest epsilon, "
            "or use total, minimum or maximum."
        )
    delta = exact(value, "the sensitivity")
    if delta < 0:
        raise ValueError(f"the sensitivity is {delta}; write a number that is 0 or more.")
    return delta


def tolls_of(sensitivities: Exact | Iterable[Exact], count: int) -> list[Fraction]:
    """One sensitivity for each of so many units, from one for all or one for each.

    Raises:
        ValueError: If there is not one for each, or one is negative or not exact.

    >>> tolls_of(2, 3)
    [Fraction(2, 1), Fraction(2, 1), Fraction(2, 1)]
    """
    if not isinstance(sensitivities, Iterable):
        return [sensitivity_of(sensitivities)] * count
    tolls = [sensitivity_of(each) for each in sensitivities]
    if len(tolls) != count:
        raise ValueError(f"there are {len(tolls)} sensitivities for {count} values; give one for each, or one for all.")
    return tolls
