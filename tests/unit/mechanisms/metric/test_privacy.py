"""The theorems on small universes, by counting every output: loss, composition, post-processing, groups of rows."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest

from dpsql.mechanisms.metric import (
    Chain,
    Discrete,
    Product,
    Query,
    Star,
    exponent_of_groups,
    exponent_of_scores,
    shortfall,
    together,
)
from dpsql.mechanisms.noise.laws import laplace_tail
from tests.unit.mechanisms import chances
from tests.unit.mechanisms.metric.examples import KINDS, fraction

Cell = tuple[int, ...]


def output_loss(before: Sequence[int], after: Sequence[int], scales: Sequence[Fraction]) -> Fraction:
    """The largest ln P(o) / P'(o) over outputs o on the integers around both answers: the exponents are fractions."""
    loss = Fraction(0)
    for a, b, scale in zip(before, after, scales, strict=True):
        window = range(min(a, b) - 3, max(a, b) + 4)
        loss += max((abs(o - b) - abs(o - a)) / scale for o in window)
    return loss


def columns(query: Query, cell: Cell | None, groups: int) -> list[int]:
    """What one row there adds to each group's answer; nothing if it is absent."""
    added = [0] * groups
    if cell is not None:
        place = 0 if query.groups is None else int(query.groups[cell])
        added[place] = int(query.values[cell])
    return added


@pytest.mark.every(2)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("grouped", [False, True])
def test_the_loss_of_every_pair_is_within_its_distance_and_one_attains_it(kind: str, grouped: bool) -> None:
    for seed in range(6):
        rng = np.random.default_rng(seed)
        product = Product(
            (KINDS[kind](rng, 5), Discrete(2, fraction(rng))), presence=fraction(rng) if seed % 2 else None
        )
        query = Query(rng.integers(-6, 7, size=(5, 2)), rng.integers(0, 3, size=(5, 2)) if grouped else None)
        scale = product.lipschitz(query)
        cells: list[Cell | None] = [*np.ndindex(5, 2)]
        if product.presence is not None:
            cells.append(None)
        ratios = []
        for one, other in itertools.combinations(cells, 2):
            loss = output_loss(columns(query, one, 3), columns(query, other, 3), [scale] * 3)
            distance = product.presence if one is None or other is None else product.distance(one, other)
            assert distance is not None
            assert loss <= distance * (1 + Fraction(1, 2**50))
            ratios.append(loss / distance)
        assert max(ratios) >= 1 - Fraction(1, 2**28)


def test_metrics_of_answers_add_up_whatever_is_asked_second() -> None:
    first = Product((Chain.even(4, Fraction(1, 3)),))
    second = Product((Star.of([Fraction(1, 5), Fraction(1), Fraction(1, 2), Fraction(1)]),))
    rng = np.random.default_rng(0)
    opening, *follow_ups = [Query(rng.integers(-4, 5, size=4)) for _ in range(4)]
    scale = first.lipschitz(opening)
    for u, v in itertools.permutations(range(4), 2):
        worst = Fraction(0)
        for output in range(-9, 10):  # the first answer chooses the second question
            asked = follow_ups[output % 3]
            told = (abs(output - int(opening.values[v])) - abs(output - int(opening.values[u]))) / scale
            again = output_loss([int(asked.values[u])], [int(asked.values[v])], [second.lipschitz(asked)])
            worst = max(worst, told + again)
        assert worst <= first.distance((u,), (v,)) + second.distance((u,), (v,))


def test_what_is_computed_from_an_answer_tells_no_more() -> None:
    product, query = Product((Chain.even(5, Fraction(1, 4)),)), Query(np.array([0, 3, 1, 2, 7]))
    scale = float(product.lipschitz(query))

    def law(answer: int) -> np.ndarray:
        outputs = np.arange(-600, 600)
        weights = np.exp(-np.abs(outputs - answer) / scale)
        weights /= weights.sum()
        return np.bincount(np.clip(outputs // 3, -4, 5) + 4, weights=weights)  # rounded, then clamped

    for u, v in itertools.permutations(range(5), 2):
        told = np.log(law(int(query.values[u])) / law(int(query.values[v]))).max()
        assert told <= float(product.distance((u,), (v,))) + 1e-9


def test_several_rows_lose_what_they_have_to_move_in_all() -> None:
    rng = np.random.default_rng(4)
    product = Product((Chain.of([Fraction(1, 2), Fraction(2), Fraction(1, 3)]),))
    queries = [Query(rng.integers(-4, 5, size=4)) for _ in range(2)]
    scales = together(product, queries).scales
    for _ in range(40):
        before, after = rng.integers(0, 4, size=(2, 3)).tolist()
        matched = min(
            sum((product.distance((u,), (v,)) for u, v in zip(before, order, strict=True)), Fraction(0))
            for order in itertools.permutations(after)
        )
        here, there = ([sum(int(query.values[row]) for row in rows) for query in queries] for rows in (before, after))
        assert output_loss(here, there, scales) <= matched


@pytest.mark.parametrize("mechanism", ["exponential", "permute_and_flip"])
@pytest.mark.parametrize("presence", [None, Fraction(1, 2)])
def test_choosing_a_group_is_private(mechanism: str, presence: Fraction | None) -> None:
    for seed in range(6):
        rng = np.random.default_rng(seed)
        product = Product((KINDS["chain" if seed % 2 else "star"](rng, 5),), presence=presence)
        groups = np.array([0, 1, 2, 0, 1])
        query = Query(rng.integers(0, 4, size=5) + (np.arange(5) == seed % 5), groups)
        exponent = exponent_of_groups(product, query)
        others = rng.integers(0, 3, size=3)

        def law(
            cell: int | None, query: Query = query, exponent: Fraction = exponent, at: np.ndarray = others
        ) -> list[Decimal]:
            scores = (at + columns(query, None if cell is None else (cell,), 3)).tolist()
            if mechanism == "exponential":
                return chances.exponential([1] * 3, scores, exponent)
            return chances.permute_and_flip(scores, exponent)

        for u, v in itertools.combinations(range(5), 2):
            assert chances.within(chances.loss(law(u), law(v)), product.distance((u,), (v,)))
        if presence is not None:
            assert all(chances.within(chances.loss(law(u), law(None)), presence) for u in range(5))


def test_the_exponent_of_groups_is_never_below_the_papers_and_twice_it_where_rows_come_and_go() -> None:
    product = Product((Discrete(3, Fraction(100)),), presence=Fraction(1, 2))
    counts = Query(np.ones(3, dtype=int), np.arange(3))
    assert exponent_of_groups(product, counts) == 2 * exponent_of_scores(product, counts.apart())
    for seed in range(20):
        rng = np.random.default_rng(seed)
        any_product = Product((KINDS["graph"](rng, 5),))
        query = Query(rng.integers(0, 5, size=5), np.arange(5))
        if query.largest():
            assert exponent_of_groups(any_product, query) >= exponent_of_scores(any_product, query.apart())
    with pytest.raises(ValueError, match="is public"):
        exponent_of_groups(Product((Discrete(3, Fraction(1)),)), Query(np.ones(3, dtype=int)))


def test_the_chosen_score_falls_short_no_more_than_promised() -> None:
    scores, exponent, beta = [9, 9, 4, 0, 0, 1], Fraction(1, 2), 0.1
    short = shortfall(exponent, candidates=6, best=2, beta=beta)
    law = chances.exponential([1] * 6, scores, exponent)
    assert sum(float(p) for p, score in zip(law, scores, strict=True) if 9 - score >= short) <= beta


def test_errors_are_within_the_papers_bounds() -> None:
    # E|noise| <= s, E noise^2 <= 2 s^2, and with probability 1 - beta no error of K exceeds s ln(K / beta).
    for scale in (Fraction(1, 3), Fraction(2), Fraction(40)):
        s = float(scale)
        outputs = np.arange(1, int(60 * s) + 60)
        weights = np.exp(-outputs / s)
        total = 1 + 2 * weights.sum()
        assert 2 * (weights * outputs).sum() / total <= s
        assert 2 * (weights * outputs**2).sum() / total <= 2 * s**2
        for k, beta in ((1, 0.05), (10, 0.01)):
            assert k * laplace_tail(scale, math.ceil(s * math.log(k / beta)) + 0) <= beta * math.exp(1 / s)


def test_moving_the_query_to_need_less_noise_hardly_ever_pays() -> None:
    # The paper also bends the query itself: p with |p - q| <= t needs the scale max (|q_i - q_j| - 2 t) / d, and costs
    # a bias of n t. With n rows the squared error falls by less than 1 + (8 / (n d))^2, d being the distance of the
    # steepest pair.
    rng = np.random.default_rng(2)
    for n in (5, 30, 1000):
        query = rng.random(12)
        apart = np.abs(np.subtract.outer(np.arange(12), np.arange(12))) * 0.4 + np.eye(12)
        rise = np.abs(np.subtract.outer(query, query))
        steepest = np.unravel_index((rise / apart).argmax(), rise.shape)
        plain = 2 * (rise / apart).max() ** 2
        bent = min(
            n**2 * t**2 + 2 * (np.maximum(rise - 2 * t, 0) / apart).max() ** 2 for t in np.linspace(0, 0.5, 2001)
        )
        assert plain / (1 + (8 / (n * apart[steepest])) ** 2) <= bent <= plain
