"""What a neighbour changes and what noise follows, against every pair of small tables."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import combinations_with_replacement, product
from typing import Literal

import numpy as np
import pytest

from dpsql.mechanisms.noise.laws import GaussianLaw, LaplaceLaw
from dpsql.mechanisms.releases.payment import Payment, root_below
from dpsql.privacy.sampling import Integers
from dpsql.testing_samplers import FixedSampler

Relation = Literal["add_remove", "replace_one"]
CELLS = 3


def histograms(rows: int) -> list[Integers]:
    """Those that one unit with up to so many rows can bring, the empty one among them."""
    units = [unit for size in range(rows + 1) for unit in combinations_with_replacement(range(CELLS), size)]
    return [np.bincount(np.array(unit, dtype=int), minlength=CELLS) for unit in units]


@pytest.mark.parametrize("rows", [1, 2, 3])
def test_a_neighbour_moves_a_histogram_by_what_is_said_and_no_less(rows: int) -> None:
    units = histograms(rows)
    moves = {"add_remove": units, "replace_one": [x - y for x, y in product(units, units)]}
    for relation in ("add_remove", "replace_one"):
        payment = Payment(relation, epsilon=Fraction(1), rows=rows)
        assert payment.l1 == max(int(np.abs(move).sum()) for move in moves[relation])
        assert payment.squares == max(int((move**2).sum()) for move in moves[relation])


@pytest.mark.parametrize("relation", ["add_remove", "replace_one"])
def test_the_noise_of_several_histograms_costs_their_share(relation: Relation) -> None:
    share, rows = Fraction(1, 4), 2
    pure = Payment(relation, epsilon=Fraction(3), rows=rows)
    law = pure.noise(share, histograms=5)
    assert isinstance(law, LaplaceLaw)
    assert 5 * pure.l1 / law.scale == 3 * share  # a move by l1 of five histograms changes chances by this exponent
    dense = Payment(relation, rho=Fraction(1, 10), rows=rows)
    wide = dense.noise(share, histograms=5)
    assert isinstance(wide, GaussianLaw)
    assert 5 * dense.squares / (2 * wide.variance) == share / 10


def test_choices_cost_their_share() -> None:
    """The exponent that a sampler is asked for: epsilon / (2 moved) of each choice, or sqrt(8 rho) in its place."""
    asked: list[Fraction] = []

    class Noted(FixedSampler):
        def permute_and_flip(self, scores: object, exponent: Fraction) -> int:
            asked.append(exponent)
            return 0

        def intervals(self, widths: object, scores: object, exponent: Fraction) -> tuple[int, int]:
            asked.append(exponent)
            return 1, 0

    assert Payment("add_remove", epsilon=Fraction(1)).choose([1, 2], Noted(0), Fraction(1, 2), 5, 3) == 0
    assert Payment("add_remove", rho=Fraction(1, 8)).choose([1, 2], Noted(0), Fraction(1, 2), 5, 3) == 1
    assert asked[0] == Fraction(1, 60)
    loss = 6 * asked[1]
    assert loss**2 / 8 <= Fraction(1, 80)
    assert math.isclose(float(loss**2 / 8), 1 / 80, rel_tol=1e-9)


def test_a_root_is_never_above() -> None:
    for x in (Fraction(2), Fraction(1, 3), Fraction(7, 10**30), Fraction(10**30, 7)):
        root = root_below(x)
        assert root**2 <= x
        assert math.isclose(root**2, x, rel_tol=1e-10)


def test_bad_prices_are_refused() -> None:
    for epsilon, rho in ((None, None), (Fraction(1), Fraction(1)), (Fraction(0), None), (None, Fraction(-1))):
        with pytest.raises(ValueError, match="price"):
            Payment("add_remove", epsilon, rho)
    with pytest.raises(ValueError, match="rows of a unit"):
        Payment("add_remove", epsilon=Fraction(1), rows=0)
    with pytest.raises(ValueError, match="write 'add_remove' or 'replace_one'"):
        Payment("swap", epsilon=Fraction(1))  # type: ignore[arg-type]  # what nobody may write


def test_a_private_number_of_rows_cannot_be_named() -> None:
    for private in (Payment("add_remove", epsilon=Fraction(1)), Payment("replace_one", epsilon=Fraction(1), rows=2)):
        with pytest.raises(ValueError, match="private under"):
            private.check_total(7)
        private.check_total(None)
    Payment("replace_one", epsilon=Fraction(1)).check_total(7)
