"""gamma of a partition: a bound on the chance that neighbours have different empty cells, and not a loose one."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpsql.privacy.exposure import ONE_OVER_E, Assumption, gamma_of_cells, rounded_up


def exact(chances: list[float], n: int, *, swap: bool) -> float:
    """The chance that independent units show by their presence, one unit to a cell: summed over the cells.

    Alone in cell j among n + 1 is the one that goes or the one that comes; never both in one cell.
    """
    return (2 if swap else 1) * sum(p * (1 - p) ** n for p in chances) - (0 if not swap else _both(chances, n))


def _both(chances: list[float], n: int) -> float:
    """The chance that either is alone, in two different cells: counted twice above."""
    pairs = product(range(len(chances)), repeat=2)
    return sum(chances[i] * chances[j] * (1 - chances[i] - chances[j]) ** (n - 1) for i, j in pairs if i != j)


@given(st.lists(st.floats(0.001, 1), min_size=1, max_size=8), st.integers(1, 60), st.booleans())
def test_no_law_shows_people_more_often(weights: list[float], n: int, swap: bool) -> None:
    chances = [weight / sum(weights) for weight in weights]
    neighbours = "replace_one" if swap else "add_remove"
    claimed = float(gamma_of_cells(len(weights), n, neighbours, "iid"))
    assert exact(chances, n, swap=swap) <= claimed * (1 + 1e-9)


@pytest.mark.parametrize(("cells", "units"), [(5, 200), (25, 500), (100, 4000)])
@pytest.mark.parametrize("neighbours", ["add_remove", "replace_one"])
def test_the_worst_law_reaches_nine_tenths_of_it(cells: int, units: int, neighbours: str) -> None:
    rare = 1 / (units + 1)
    chances = [rare] * (cells - 1) + [1 - (cells - 1) * rare]
    claimed = float(gamma_of_cells(cells, units, neighbours, "iid"))
    share = exact(chances, units, swap=neighbours == "replace_one") / claimed
    assert 0.9 * (cells - 1) / cells < share <= 1
    assert share > 0.9 or cells == 5  # one cell of five must hold the rest


def test_exchangeable_units_may_all_be_alone() -> None:
    # n + 1 units of which k are alone, shuffled: the last one is alone with chance k / (n + 1), and may be two.
    assert gamma_of_cells(4, 99, "add_remove", "exchangeable") >= Fraction(4, 100)
    assert gamma_of_cells(4, 99, "replace_one", "exchangeable") >= Fraction(8, 100)


@pytest.mark.parametrize(
    ("cells", "units", "neighbours", "assume", "gamma"),
    [
        (25, 500, "replace_one", "exchangeable", 0.1),
        (25, 500, "replace_one", "iid", 0.0368),
        (400, 8000, "replace_one", "exchangeable", 0.1),
        (400, 8000, "replace_one", "iid", 0.0368),
        (15, 50_000, "replace_one", "exchangeable", 0.0006),
        (15, 50_000, "add_remove", "exchangeable", 0.0003),
    ],
)
def test_textbook_values(cells: int, units: int, neighbours: str, assume: Assumption, gamma: float) -> None:
    assert float(gamma_of_cells(cells, units, neighbours, assume)) == pytest.approx(gamma, rel=1e-2)


def test_one_over_e_is_rounded_up() -> None:
    assert 0 <= float(ONE_OVER_E) - math.exp(-1) < 1e-15
    assert ONE_OVER_E * sum(Fraction(1, math.factorial(i)) for i in range(30)) > 1


@given(st.fractions(Fraction(1, 10**9), Fraction(99, 100)))
def test_a_gamma_is_never_shown_smaller_than_it_is(gamma: Fraction) -> None:
    assert gamma <= Fraction(rounded_up(gamma)) <= gamma * Fraction(101, 100)
