"""The choice of a clamp by exact chances: its loss, what it clips, and how few units it takes to move it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from decimal import Decimal
from fractions import Fraction

import pytest

from dpsql.mechanisms.choice.clamp import EASY, MISS, RARELY, STEEP, ClampSearch, above_edges
from dpsql.testing_samplers import Noiseless
from tests.unit.mechanisms.chances import loss, permute_and_flip, within

pytestmark = pytest.mark.chance(0, "chances are worked out exactly, and no noise is drawn")


def test_the_more_a_clamp_costs_the_lower_it_is() -> None:
    sizes = [400, 60, 20, 5, 0, 0]
    one, many = (ClampSearch((1, 2, 4, 8, 13), Fraction(1, 3), 1, 3, power) for power in (1, 100))
    assert Noiseless().permute_and_flip(one.scores(sizes), one.exponent) == 2
    assert Noiseless().permute_and_flip(many.scores(sizes), many.exponent) == 1


@pytest.mark.parametrize("units", [1, 2])
@pytest.mark.parametrize(("guess", "fallback"), [(3, None), (1, 4), (1, 3)])
def test_the_exact_loss_of_the_choice_is_within_its_price(units: int, guess: int, fallback: int | None) -> None:
    search = ClampSearch((1, 2, 4, 8, 13), Fraction(1, 3), units, guess, 1, fallback)

    def chances(sizes: Sequence[int]) -> list[Decimal]:
        return permute_and_flip(search.scores(sizes), search.exponent)

    most = Decimal(0)
    for sizes in ([5, 2, 2, 1, 0, 0], [0, 0, 30, 0, 0, 0], [0, 0, 0, 0, 0, 0], [47, 0, 0, 3, 0, 0], [1, 2, 1, 1, 3, 0]):
        for size in range(5):  # a unit that comes is above the edges before its own
            more = [many + (place == size) for place, many in enumerate(sizes)]
            less = [many - (units == 2 and place == 2 and many > 0) for place, many in enumerate(sizes)]
            lost = loss(chances(more), chances(less))
            assert within(lost, search.epsilon)
            most = max(most, lost)
    assert most > Decimal(search.epsilon.numerator) / search.epsilon.denominator / units / 2


def test_units_too_few_to_tell_where_they_lie_are_seldom_clipped() -> None:
    search = ClampSearch(tuple(2**place for place in range(12)), Fraction(1, 10), 1, 9, 1)
    for many in (0, 5, 20):
        chosen = permute_and_flip(search.scores([0] * 8 + [many, 0, 0, 0, 0]), search.exponent)
        assert sum(chosen[:8]) < Decimal("0.08")
    sure = permute_and_flip(search.scores([0] * 8 + [400, 0, 0, 0, 0]), search.exponent)
    assert sum(sure[:8]) < Decimal("0.01") and sure[8] > Decimal("0.8")


@pytest.mark.every(2)
@pytest.mark.parametrize(("guess", "fallback"), [(7, None), (4, 7), (0, 7), (7, 8)])
@pytest.mark.parametrize("many", [0, 28, 200, 2_000])
def test_an_edge_that_clips_all_units_is_as_rare_as_stated(many: int, guess: int, fallback: int | None) -> None:
    for units, steep in ((1, STEEP), (2, EASY)):
        search = ClampSearch(tuple(2**place for place in range(9)), Fraction(2, 25), units, guess, 1, fallback, steep)
        for size in (search.standing, 8):  # of all units, as the place of an edge
            sizes = [many * (at == size) for at in range(10)]
            chosen = permute_and_flip(search.scores(sizes), search.exponent)
            assert sum(chosen[: search.standing]) <= Decimal(RARELY)


@pytest.mark.parametrize(("guess", "fallback"), [(8, None), (18, 22), (4, 25)])
@pytest.mark.parametrize("many", [0, 28, 71, 105, 202, 2_000])
def test_nor_do_many_low_edges_add_up_to_more(many: int, guess: int, fallback: int | None) -> None:
    edges = (16, 24, *(edge for power in range(5, 17) for edge in (2**power, 3 * 2 ** (power - 1))))
    search = ClampSearch(edges, Fraction(2, 25), 1, guess, 1, fallback)
    scores = search.scores([many * (at == search.standing) for at in range(len(edges) + 1)])
    behind = ((max(scores) - score) * float(search.exponent) for score in scores[: search.standing])
    assert sum(math.exp(-nats) / 2 for nats in behind) <= RARELY  # of each, no less than its exact chance


@pytest.mark.parametrize("many", [0, 10, 60, 200, 600, 5_000])
def test_units_with_as_many_rows_as_they_may_have_are_not_clipped_however_few_they_are(many: int) -> None:
    edges = (1, 2, 3, 4, 6, 8, 12, 16, 20)  # rows of a unit that may have 20, at a price of 0.1
    search = ClampSearch(edges, Fraction(3, 100), 1, edges.index(3), fallback=8)
    chosen = permute_and_flip(search.scores([0] * 8 + [many, 0]), search.exponent)
    assert chosen[-1] > Decimal("0.85")


def test_heavy_users_at_their_cap_are_not_clipped_though_most_have_one_row() -> None:
    edges, sizes = (1, 2, 3, 4, 6, 8, 12, 16, 20), [750, 0, 0, 0, 0, 0, 0, 0, 250, 0]
    easy, steep = (ClampSearch(edges, Fraction(3, 100), 1, edges.index(3), 1, 8, own) for own in (EASY, STEEP))
    assert permute_and_flip(easy.scores(sizes), easy.exponent)[-1] > Decimal("0.8")
    assert permute_and_flip(steep.scores(sizes), steep.exponent)[-1] < Decimal("0.4")


@pytest.mark.parametrize("many", [0, 60, 600, 5_000])
def test_a_fallback_gives_way_to_the_guess_where_enough_units_show_it(many: int) -> None:
    edges = (1, 2, 3, 4, 6, 8, 12, 16, 20)
    search = ClampSearch(edges, Fraction(3, 100), 1, edges.index(3), fallback=8)
    chosen = permute_and_flip(search.scores([0, 0, many, *([0] * 7)]), search.exponent)
    assert sum(chosen[2:4]) > Decimal("0.75") if many >= 600 else chosen[-1] > Decimal("0.85")


def test_a_hundred_units_far_below_the_guess_are_found() -> None:
    edges = (256, *(edge for power in range(9, 15) for edge in (2**power, 3 * 2 ** (power - 1))))
    search = ClampSearch(edges, Fraction(3, 20), 1, edges.index(8192), 2)  # as in the eighth query of TPC-H
    sizes = [100 * (edge == 1536) for edge in edges] + [0]
    chosen = permute_and_flip(search.scores(sizes), search.exponent)
    assert sum(chance for edge, chance in zip(edges, chosen, strict=True) if 1536 <= edge <= 4096) > Decimal("0.9")


@pytest.mark.parametrize("fallback", [None, 4, 5])
def test_more_units_than_said_are_above_the_clamp_as_seldom_as_said(fallback: int | None) -> None:
    search = ClampSearch((1, 2, 4, 8, 16, 32), Fraction(2), 1, 3, 1, fallback)
    for place in range(5):
        many = search.most_above(place) + 1
        sizes = [0] * (place + 1) + [many] + [0] * (5 - place)
        chosen = permute_and_flip(search.scores(sizes), search.exponent)
        above = above_edges(sizes)
        wrong = [chance for at, chance in enumerate(chosen) if above[at] > search.most_above(at)]
        assert 0 < sum(wrong) <= Decimal(MISS)
        assert search.lost(place) == (many - 1) * (32 - search.edges[place])  # as many units, up to the last edge
    assert search.lost(5) == 0
