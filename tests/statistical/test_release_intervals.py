"""Intervals of free answers hold as often as they say, with real noise.

Each release answers one question, so that misses are independent; a miss has a chance of 0.05 at the most. Of 400
intervals more than 55 miss with a chance below 1e-9 (binomial law).
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from dpsql.mechanisms.releases.methods import Exact, Method
from dpsql.mechanisms.releases.payment import Payment, Relation
from dpsql.mechanisms.releases.proofs import least_interval
from dpsql.mechanisms.releases.table import WAYS
from dpsql.mechanisms.releases.workload import Wanted, read_workload
from dpsql.privacy.sampling import ExactSampler

RELEASES, MOST_MISSES = 400, 55
ONE = Wanted(("a",), (range(40),), read_workload("ranges(a)", ["a"]), rows_public=True, rows=10, rows_about=300)
WIDE = Wanted(("a", "b"), (range(4), range(60)), read_workload("marginals(2)", ["a", "b"]), rows_about=1200)
GRID = Wanted(("a", "b"), (range(9), range(12)), read_workload("rectangles(a, b)", ["a", "b"]), rows_about=500)
PLANE = Wanted(("x", "y"), (range(-4, 5), range(-4, 5)), read_workload("halfspaces(x, y)", ["x", "y"]), rows_about=300)


def cases() -> list[tuple[Method, Wanted, Relation]]:
    """The ways that prove something: one tree, for all of them are alike."""
    named = {way.name: way for way in WAYS}
    ranges: list[tuple[Method, Wanted, Relation]] = [
        (named[name], ONE, relation)
        for name in ("cells", "tree", "intervals")
        for relation in ("add_remove", "replace_one")
    ]
    planes: list[tuple[Method, Wanted, Relation]] = [
        (named["halfspaces"], PLANE, "add_remove"),
        (named["intervals"], GRID, "add_remove"),
    ]
    return [*ranges, (named["smalldb"], ONE, "replace_one"), *planes]


@pytest.mark.slow
@pytest.mark.chance(1.8e-8, "eighteen times the chance that more than 55 of 400 intervals miss")
@pytest.mark.parametrize("price", [{"epsilon": Fraction(1)}, {"rho": Fraction(1, 8)}], ids=str)
@pytest.mark.parametrize(("way", "asked", "relation"), cases())
def test_intervals_hold_as_often_as_they_say(
    way: Method, asked: Wanted, relation: Relation, price: dict[str, Fraction]
) -> None:
    payment = Payment(relation, **price)  # type: ignore[arg-type]  # one of the two
    rows = np.arange(asked.cells) * 7 % 11
    codes = np.stack(np.unravel_index(np.arange(asked.cells), asked.sizes), axis=1)
    if asked is PLANE:
        weights = (asked.points((0, 1)) @ np.array([2.0, 3.0]) > 0).astype(np.float64)
    elif asked is GRID:
        weights = ((codes >= [2, 3]) & (codes <= [6, 10])).all(axis=1).astype(np.float64)
    else:
        weights = (np.arange(asked.cells) // 10 == 1).astype(np.float64)
    sampler, misses = ExactSampler(), 0
    for _ in range(RELEASES):
        made = way.release(asked, payment, Exact(codes, rows, 0), sampler)
        (proof,) = made.proofs
        low, high = proof.interval(weights, 0.95) or (1.0, 0.0)
        misses += not low <= weights @ rows <= high
    assert misses <= MOST_MISSES


@pytest.mark.slow
@pytest.mark.chance(4e-9, "four times the chance that more than 55 of 400 intervals miss")
@pytest.mark.parametrize("price", [{"epsilon": Fraction(1)}, {"rho": Fraction(1, 8)}], ids=str)
@pytest.mark.parametrize("asks_pair", [True, False])
def test_intervals_of_marginals_hold_for_a_pair_and_for_a_column_that_was_cut(
    asks_pair: bool, price: dict[str, Fraction]
) -> None:
    payment = Payment("add_remove", **price)  # type: ignore[arg-type]  # one of the two
    way = next(way for way in WAYS if way.name == "marginals")
    codes = np.stack(np.unravel_index(np.arange(WIDE.cells), WIDE.sizes), axis=1)
    rows = np.arange(WIDE.cells) * 7 % 11
    of_b = (np.arange(60) // 7 == 2).astype(np.float64)
    of_a = np.array([0.0, 1, 1, 0]) if asks_pair else np.ones(4)
    weights = np.outer(of_a, of_b).ravel()
    sampler, misses = ExactSampler(), 0
    for _ in range(RELEASES):
        made = way.release(WIDE, payment, Exact(codes, rows, 0), sampler)
        found = {proof.columns: proof for proof in made.proofs}
        spread = [(found[0, 1], weights)] if asks_pair else [(found[1,], of_b), (found[0, 1], weights)]
        low, high = least_interval(spread, 0.95) or (1.0, 0.0)
        misses += not low <= weights @ rows <= high
    assert misses <= MOST_MISSES
