"""How far apart values lie under a metric: as a policy writes it, and as anybody would work it out by hand."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from math import ceil
from typing import Any

__all__ = ["HIGHEST", "LISTED_VALUES", "PLACES", "PRESENCE", "SHAPES", "Attribute"]

HIGHEST = 3
"""The upper bound of x, whose lower one is 0."""

LISTED_VALUES = ("a", "b", "c")
"""The values of g."""

PRESENCE, OTHER, NONE = 2, 2, 3
"""How far a row is from none, one value of g from another, and a missing value from any."""

PLACES: Mapping[str, tuple[int, int]] = {"a": (0, 0), "b": (3, 4), "c": (0, 9)}
"""Points on the plane: the way from a to b is 5 long."""

PARTS = {"a": Fraction(1, 2), "b": Fraction(3, 2), "c": Fraction(1)}
"""Parts of a star."""


@dataclass(frozen=True)
class Attribute:
    """The metric of one column.

    Attributes:
        text: As the policy says it.
        between: The distance of two values, both inside their domain; None is a missing one.
        most: The largest of any two.
    """

    text: str
    between: Callable[[Any, Any], Fraction | int]
    most: Fraction | int


def _steps(one: int, two: int) -> int:
    return abs(one - two)


def _equal_or_not(one: str | None, two: str | None) -> int:
    return OTHER * (one != two)


def _gaps(one: int, two: int) -> Fraction:
    up_to = (Fraction(0), Fraction(1, 2), Fraction(3, 2), Fraction(7, 2))
    return abs(up_to[one] - up_to[two])


def _steps_or_missing(one: int | None, two: int | None) -> int:
    return NONE * (one is not two) if one is None or two is None else _steps(one, two)


def _way(one: str, two: str) -> Fraction | int:
    """From a to b over c, each half as long as the way is from one value to another."""
    return 0 if one == two else Fraction(OTHER, 2) * (2 - (one == "c") - (two == "c") or 1)


def _straight(one: str, two: str) -> Fraction:
    """Whole numbers squared: the three ways are 5, 9 and the root of 34 long, of which no row has the last."""
    (u, v), (x, y) = PLACES[one], PLACES[two]
    length = next((n for n in range(10) if n**2 == (u - x) ** 2 + (v - y) ** 2), None)
    assert length is not None
    return Fraction(OTHER, 5) * length


STEPS = Attribute("{kind: chain, epsilon: 1}", _steps, HIGHEST)
EQUAL = Attribute(f"{{kind: discrete, epsilon: {OTHER}}}", _equal_or_not, OTHER)

SHAPES: Mapping[str, Mapping[str, Attribute]] = {
    "steps": {"x": STEPS, "g": EQUAL},
    "gaps": {"x": Attribute("{kind: chain, gaps: [0.5, 1, 2]}", _gaps, Fraction(7, 2)), "g": EQUAL},
    "hops": {"x": Attribute("{kind: threshold, epsilon: 1, within: 2}", lambda a, b: ceil(Fraction(abs(a - b), 2)), 2)},
    "smooth": {
        "x": Attribute(
            "{kind: smooth, epsilon: 1, within: 2}",
            lambda a, b: max(Fraction(1), Fraction(abs(a - b), 2)) if a != b else 0,
            Fraction(3, 2),
        )
    },
    "star": {
        "g": Attribute(
            "{kind: star, parts: [[a, 0.5], [b, 1.5], [c, 1]]}",
            lambda a, b: PARTS[a] + PARTS[b] if a != b else 0,
            Fraction(5, 2),
        )
    },
    "tree": {"g": Attribute("{kind: tree, edges: [[a, c, 1], [c, b, 1]]}", _way, OTHER)},
    "graph": {"g": Attribute("{kind: graph, edges: [[a, c, 1], [c, b, 1], [a, b, 3]]}", _way, OTHER)},
    "matrix": {"g": Attribute("{kind: matrix, distances: [[0, 2, 1], [2, 0, 1], [1, 1, 0]]}", _way, OTHER)},
    "places": {"g": Attribute("{kind: euclidean, of: [places.u, places.v], epsilon: 0.4}", _straight, Fraction(18, 5))},
    "none": {
        "x": Attribute(f"{{kind: chain, epsilon: 1, missing: {NONE}}}", _steps_or_missing, NONE),
        "g": EQUAL,
    },
}
"""Each kind of distance that a policy may write, by a name of its own: of steps and of equal or not; of gaps; of hops;
of hops and then in proportion; of a star, a tree, a graph, a table, and points; and with values that are missing."""
