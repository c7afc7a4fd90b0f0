"""How likely it is, over the data, that a person's presence shows in which cells are empty: gamma of random privacy.

Units X_1, ..., X_(n + 1) come in an order that says nothing of them (exchangeable; or independent draws of one law). A
unit touches the cells of a fixed partition in which it has rows, and is *alone* in a cell that nobody else touches.
Random differential privacy looks at the pair of tables that differ in the last unit:

    replace_one    X_1, ..., X_n        and    X_1, ..., X_(n - 1), X_(n + 1)
    add_remove     X_1, ..., X_n        and    X_1, ..., X_n, X_(n + 1)

Theorem. With k cells and n >= n0, the two tables have different empty cells with chance at most

    replace_one    2 k / n0  for exchangeable units,   2 k / (e n0)  for independent ones
    add_remove       k / n0                              k / (e n0)

Proof. A cell is empty in one table and not in the other only if it is touched in one alone: then a unit that the other
table lacks touches it, and nobody of the n units in common (or n - 1 and, in the other table, the replaced one) does.
So that unit is alone in the cell among all n + 1. Each cell has at most one unit alone in it, hence at most k of the
n + 1 units are alone anywhere; by exchangeability a given one is with chance at most k / (n + 1). Under ``replace_one``
two units may be, the one that goes and the one that comes. For independent units that touch cell j with chance p_j, a
given one is alone there with chance p_j (1 - p_j)^n <= (1 / n) (n / (n + 1))^(n + 1) < 1 / (e n), as p = 1 / (n + 1) is
the worst; sum over j.  QED

Coarser partitions, conditions that keep whole cells, and any choice among them, however it is made, are covered by the
same event: a unit alone in a union of cells is alone in one of them. A partition that is not a union of those cells is
not: see the counterexample in docs/random_dp.md.

Source: Hall, Rinaldo, Wasserman 2013, "Random differential privacy", Prop. 5.1 (exchangeable, replace_one); the rest is
above.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Literal

__all__ = ["Assumption", "gamma_of_cells", "rounded_up"]

Assumption = Literal["exchangeable", "iid"]
"""What is assumed of the units: an order that says nothing, or independent draws of one law."""

ONE_OVER_E = Fraction(367879441171442322, 10**18)  # The number 1 / e, rounded up at its 18th decimal digit.


def gamma_of_cells(cells: int, units_at_least: int, neighbours: str, assume: Assumption) -> Fraction:
    """The chance that two neighbours have different empty cells, never below it; 1 and more promise nothing.

    Args:
        cells: k >= 1, of the finest partition.
        units_at_least: n0 >= 1, a floor on the number of units.
        neighbours: ``"add_remove"`` or ``"replace_one"``.
        assume: Of the units.

    >>> gamma_of_cells(25, 500, "replace_one", "exchangeable")
    Fraction(1, 10)
    >>> round(float(gamma_of_cells(25, 500, "replace_one", "iid")), 4)
    0.0368
    """
    moving = 2 if neighbours == "replace_one" else 1
    return Fraction(moving * cells, units_at_least) * (ONE_OVER_E if assume == "iid" else 1)


def rounded_up(gamma: Fraction) -> str:
    """Three digits for people to read, never less than it is.

    >>> rounded_up(Fraction(1, 3))
    '0.334'
    """
    digits = 2 - math.floor(math.log10(gamma))
    return f"{math.ceil(gamma * 10**digits) / 10**digits:.6g}"
