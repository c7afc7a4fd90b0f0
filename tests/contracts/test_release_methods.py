"""The contract of everything that releases a table: what it may ask of the sampler, and what it must say of itself.

Every way in `WAYS` runs on it. What a neighbour moves is checked where the numbers are: tests of each module, and
tests/attacks/test_releases.py. Here the requests for noise are the same on all neighbours, all that is foretold follows
from public facts, and small databases have the very distribution that is claimed.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import combinations_with_replacement, product
from typing import Any

import numpy as np
import pytest

from dpsql.mechanisms.releases.classical import BySmallDb
from dpsql.mechanisms.releases.methods import Exact, Method
from dpsql.mechanisms.releases.payment import Payment, Relation
from dpsql.mechanisms.releases.proofs import read_proof
from dpsql.mechanisms.releases.table import WAYS
from dpsql.mechanisms.releases.workload import Wanted, read_workload
from dpsql.privacy.sampling import Integers
from dpsql.testing_samplers import Noiseless
from dpsql.worker.wire import decode, encode

ONE = Wanted(("a",), (range(6),), read_workload("ranges(a)", ["a"]), rows_public=True, rows_about=12)
TWO = Wanted(
    ("a", "b"), (range(3), (-1, 1, None)), read_workload("marginals(2)", ["a", "b"]), rows_public=True, rows_about=12
)
PLANE = Wanted(TWO.names, TWO.domains, read_workload("halfspaces(a, b)", ["a", "b"]), rows_about=12)
GRID = Wanted(
    TWO.names, (range(3), range(4)), read_workload("rectangles(a, b)", ["a", "b"]), rows_public=True, rows_about=12
)
RELATIONS: tuple[Relation, ...] = ("add_remove", "replace_one")
PRICES: tuple[dict[str, Fraction], ...] = ({"epsilon": Fraction(1)}, {"rho": Fraction(1, 8)})


class Asked(Noiseless):
    """Keeps which noise and which choices were asked for, but not about what."""

    def __init__(self) -> None:
        self.requests: list[tuple[Any, ...]] = []

    def laplace(self, scale: Fraction, size: int) -> Integers:
        self.requests.append(("laplace", scale, size))
        return super().laplace(scale, size)

    def gaussian(self, variance: Fraction, size: int) -> Integers:
        self.requests.append(("gaussian", variance, size))
        return super().gaussian(variance, size)

    def permute_and_flip(self, scores: Sequence[int], exponent: Fraction) -> int:
        self.requests.append(("choice", exponent, len(scores)))
        return super().permute_and_flip(scores, exponent)

    def intervals(self, widths: Sequence[int], scores: Sequence[int], exponent: Fraction) -> tuple[int, int]:
        self.requests.append(("choice", exponent, sum(widths)))
        return super().intervals(widths, scores, exponent)


def table(asked: Wanted, rows: Sequence[int]) -> Exact:
    """Rows by the numbers of their cells; the number behind the last is that of rows in no listed cell."""
    cells, weights = np.unique([row for row in rows if row < asked.cells], return_counts=True)
    codes = np.stack(np.unravel_index(cells.astype(np.int64), asked.sizes), axis=1)
    return Exact(codes, weights.astype(np.int64), sum(row >= asked.cells for row in rows))


def fitting() -> Iterator[Any]:
    for way, asked, relation, price in product(WAYS, (ONE, TWO, PLANE, GRID), RELATIONS, PRICES):
        payment = Payment(relation, **price)  # type: ignore[arg-type]  # one of the two
        if not way.unfit(asked, payment) and way.name != "mbi":  # which has tests of its own: it takes long
            yield pytest.param(way, asked, payment, id=f"{way}, {asked.workload[0].kind}, {relation}, {price}")


@pytest.mark.parametrize(("way", "asked", "payment"), list(fitting()))
def test_neighbours_are_asked_about_alike_and_the_rest_is_public(way: Method, asked: Wanted, payment: Payment) -> None:
    rows = [0, 0, 1, 2, 2, 2, 4, 5, 5, 0, 3, asked.cells]
    others = [[*rows[:-1], 1], [*rows[1:], 4]] if payment.neighbours == "replace_one" else [rows[1:], [*rows, 2]]
    requests = []
    for own in (rows, *others):
        sampler = Asked()
        made = way.release(asked, payment, table(asked, own), sampler)
        requests.append([one for one in sampler.requests if way.name != "intervals" or one[0] != "order"])
        assert (made.rows > 0).all()
        assert made.codes.shape == (len(made.rows), len(asked.sizes))
        assert ((made.codes >= 0) & (made.codes < np.array(asked.sizes))).all()
        for proof in made.proofs:
            columns = range(len(asked.sizes)) if proof.columns is None else proof.columns
            assert proof.cells == math.prod(asked.sizes[column] for column in columns)
            assert read_proof(decode(encode(proof.told()))).told() == proof.told()
    if way.name == "intervals":  # a search may end early: what is left of its share is not spent
        assert {one[:2] for one in requests[0]} == {one[:2] for own in requests for one in own}
    else:
        assert requests[0] == requests[1] == requests[2]
    assert way.deviation(asked, payment) > 0
    assert way.memory(asked) > 0
    bound = way.largest(asked, payment, 0.05)
    assert bound is None or bound >= way.deviation(asked, payment) / 2


class Forced(Noiseless):
    """Takes one outcome of the exponential mechanism, and keeps its probability."""

    def __init__(self, number: int) -> None:
        self.number, self.probability = number, 0.0

    def intervals(self, widths: Sequence[int], scores: Sequence[int], exponent: Fraction) -> tuple[int, int]:
        weights = [math.exp(float(exponent) * score) for score in scores]
        total = sum(width * weight for width, weight in zip(widths, weights, strict=True))
        left = self.number
        for index, width in enumerate(widths):
            if left < width:
                self.probability = weights[index] / total
                return index, left
            left -= width
        raise AssertionError("no such outcome")


@pytest.mark.parametrize("price", PRICES, ids=str)
@pytest.mark.parametrize(
    "asked",
    [
        Wanted(("a",), (range(2),), read_workload("ranges(a)", ["a"]), rows_public=True, rows=2),
        Wanted(("a", "b"), (range(2), (0,)), read_workload("marginals(2)", ["a", "b"]), rows_public=True, rows=2),
    ],
    ids=["paths", "databases"],
)
def test_small_databases_have_the_loss_that_is_claimed(asked: Wanted, price: dict[str, Fraction]) -> None:
    """Every table of three rows, rows in no listed cell among them, beside every one with one row replaced."""
    payment = Payment("replace_one", **price)  # type: ignore[arg-type]  # one of the two
    loss = float(price["epsilon"]) if "epsilon" in price else math.sqrt(8 * float(price["rho"]))
    cells = asked.cells + 1
    laws: dict[tuple[int, ...], dict[tuple[Any, ...], float]] = {}
    for rows in combinations_with_replacement(range(cells), 3):
        laws[rows] = {}
        for number in range(math.comb(cells + 1, 2)):
            sampler = Forced(number)
            made = BySmallDb().release(asked, payment, table(asked, rows), sampler)
            outcome = (*map(tuple, made.codes.tolist()), *made.rows.tolist())
            laws[rows][outcome] = laws[rows].get(outcome, 0.0) + sampler.probability
        assert sum(laws[rows].values()) == pytest.approx(1)
    for one, other in product(laws, laws):
        if sum((np.bincount(one, minlength=cells) - np.bincount(other, minlength=cells)).clip(0)) == 1:
            for outcome, chance in laws[one].items():
                assert chance <= math.exp(loss) * laws[other].get(outcome, 0.0) * (1 + 1e-9)
