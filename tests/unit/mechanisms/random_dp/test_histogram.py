"""The sparse histogram: what it shows, what it charges, and that its loss is what it says away from the bad event."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from dpsql.mechanisms.base import Price, Refusal
from dpsql.mechanisms.random_dp import RandomDP
from dpsql.mechanisms.random_dp.histogram import SparseHistogram, sparse_histogram
from dpsql.plan.needs import Contribution, MeasureKind
from dpsql.plan.nodes import Column, Filter, Join, Relation, Scan
from dpsql.plan.options import Options
from dpsql.plan.plans import Key
from dpsql.plan.types import Facts, Type
from dpsql.privacy import kinds
from dpsql.testing_samplers import FixedSampler, Noiseless
from tests.unit.mechanisms.asking import CELLS, CITY, FEW_ROWS, OPEN, VISITS, ConstantNoise, asking, raw

NAMED = Options(mechanism="random_dp")
WHOLE = replace(VISITS, every_unit=True, rows_per_unit=1)
IN_DELFT = Column("t0", "city", Facts(Type.BOOLEAN))
ELSEWHERE = Column("t0", "ward", Facts(Type.BOOLEAN))


def sparse(function: str = "count_rows", **facts: object) -> SparseHistogram:
    settings = {"keys": (CITY,), "options": NAMED, **facts}
    release = RandomDP().offer(asking(function, **settings))  # type: ignore[arg-type]  # passed on to asking
    assert isinstance(release, SparseHistogram), release
    return release


def why(function: str = "count_rows", **facts: object) -> str:
    settings = {"keys": (CITY,), "options": NAMED, **facts}
    answer = RandomDP().offer(asking(function, **settings))  # type: ignore[arg-type]  # passed on to asking
    assert isinstance(answer, Refusal)
    return answer.reason


# ------------------------------------------------------------------------------------------------- what is shown


def test_empty_cells_are_exactly_zero() -> None:
    for seed in range(20):
        before, shown = sparse_histogram([0, 5, 0, 9], Fraction(30), FixedSampler(seed))
        assert (before[0], before[2], shown[0], shown[2]) == (None, None, 0, 0)
        assert before[1] is not None


def test_without_noise_the_histogram_is_the_true_one() -> None:
    counts = [3, 0, 4, 1, 0]
    assert sparse_histogram(counts, Fraction(2), Noiseless()) == ([3, None, 4, 1, None], counts)
    assert sparse_histogram(counts, Fraction(2), Noiseless(), 8)[1] == counts
    assert sparse_histogram(counts, Fraction(2), Noiseless(), 20, others=True)[1] == counts


def test_it_has_as_many_points_as_are_public() -> None:
    for seed in range(20):
        assert sum(sparse_histogram([30, 0, 12], Fraction(9), FixedSampler(seed), 42)[1]) == 42
        assert sum(sparse_histogram([30, 0, 12], Fraction(9), FixedSampler(seed), 50, others=True)[1]) <= 50


def test_where_the_number_is_private_it_is_that_of_the_noised_counts() -> None:
    for seed in range(20):
        before, shown = sparse_histogram([3, 0, 2, 6], Fraction(9), FixedSampler(seed))
        assert sum(shown) == max(0, sum(k for k in before if k is not None))


def test_the_rows_that_a_condition_leaves_out_are_one_more_noised_cell() -> None:
    # Everything is noised by 5 and the points are fixed: the surplus of 15 is shared with the cell that is not shown.
    assert sparse_histogram([10, 10], Fraction(1), ConstantNoise(5), 40, others=True) == ([15, 15], [10, 10])


@pytest.mark.parametrize("points", [None, 100])
def test_nobody_at_all_is_all_zeros(points: int | None) -> None:
    assert sparse_histogram([0, 0], Fraction(3), FixedSampler(1), points, others=points is not None)[1] == [0, 0]


def test_the_noise_is_drawn_for_every_cell() -> None:
    one, two = (sparse_histogram([first, 500], Fraction(3), FixedSampler(5))[0][1] for first in (0, 900))
    assert one == two


def test_the_release_takes_the_public_number_from_the_groups_that_occur() -> None:
    release = sparse(neighbours="replace_one", table=WHOLE)
    assert [measure.kind for measure in release.need.measures] == [MeasureKind.ROWS, MeasureKind.EVERY_ROW]
    assert list(release.release(raw([4, 0, 3], [9, 0, 9]), Noiseless()).values) == [5, 0, 4]
    assert list(release.release(raw([0, 0, 0], [0, 0, 0]), Noiseless()).values) == [0, 0, 0]


def test_intervals_cover_the_true_counts() -> None:
    sampler = FixedSampler(1)
    release = sparse(price=Price(Fraction(1, 5), Fraction(0)))
    released = release.release(raw([0, 7, 300] * 3000), sampler)
    ends = release.intervals(released, 0.9)
    assert ends[0] == (0, 0)
    for at, exact in ((1, 7), (2, 300)):
        inside = [low <= exact <= high for low, high in ends[at::3] if low is not None and high is not None]
        assert np.mean(inside) >= 0.9 - 0.03


# ----------------------------------------------------------------------------------------- what it needs and costs


def test_it_charges_epsilon_and_the_gamma_of_the_base_partition() -> None:
    assert sparse().loss == kinds.RandomDPLoss(Fraction(1, 2), CELLS.gamma, "visits: city", 1)


@pytest.mark.parametrize(
    ("neighbours", "held", "function", "scale"),
    [
        ("add_remove", Contribution(1, 1, 1), "count_rows", 2),
        ("replace_one", Contribution(1, 1, 1), "count_rows", 4),
        ("add_remove", FEW_ROWS, "count_rows", 24),
        ("replace_one", FEW_ROWS, "count_rows", 48),
        ("replace_one", FEW_ROWS, "count_units", 12),
    ],
)
def test_the_noise_is_scaled_to_what_a_unit_holds(
    neighbours: str, held: Contribution, function: str, scale: int
) -> None:
    assert sparse(function, neighbours=neighbours, held=held).scale == scale


def test_a_swap_moves_a_single_number_once() -> None:
    assert sparse(neighbours="replace_one", keys=()).scale == 2


@pytest.mark.parametrize("epsilon", [Fraction(1, 3), Fraction(2)])
@pytest.mark.parametrize("swap", [False, True])
def test_tables_with_the_same_empty_cells_lose_at_most_epsilon(epsilon: Fraction, swap: bool) -> None:
    # The noised cells are all that tells: their log-ratio is at most the L1 distance over the scale.
    release = sparse(
        price=Price(epsilon, Fraction(0)),
        held=Contribution(2, 2, 2),
        neighbours="replace_one" if swap else "add_remove",
    )
    ways = [way for way in product(range(3), repeat=2) if sum(way) <= 2]
    for others, here, there in product(product((0, 1, 4), repeat=2), ways, ways if swap else [(0, 0)]):
        one, two = ([a + b for a, b in zip(others, way, strict=True)] for way in (here, there))
        if [n > 0 for n in one] == [n > 0 for n in two]:
            assert sum(abs(a - b) for a, b in zip(one, two, strict=True)) / release.law.scale <= epsilon


# ------------------------------------------------------------------------------------------------------- refusals


def test_it_answers_only_by_name() -> None:
    assert "only where it is named" in why(options=Options())


def test_every_refusal_says_what_is_wrong() -> None:
    assert "does not opt in" in why(table=replace(VISITS, random_dp=None))
    assert "open domain" in why(keys=(OPEN,), selects=True)
    assert "not SUM" in why("sum")
    assert "more than the gamma 0.001" in why(options=replace(NAMED, gamma=Fraction(1, 1000)))
    assert "too small" in why(price=Price(None, Fraction(0), rho=Fraction(1, 10**15)))
    ward = Key("k1", Column("t0", "ward", Facts(Type.TEXT)), ("A", "B"))
    assert "ward is not in it" in why(keys=(CITY, ward))


def test_conditions_and_joins_beyond_the_cells_are_refused() -> None:
    request = asking("count_rows", keys=(CITY,), options=NAMED)
    table = request.source.relation
    beyond: list[tuple[Relation, str]] = [
        (Filter(table, ELSEWHERE), "ward is not in it"),
        (Join(table, Scan(VISITS, "t1"), ()), "no joins"),
    ]
    for relation, reason in beyond:
        answer = RandomDP().offer(replace(request, source=replace(request.source, relation=relation)))
        assert isinstance(answer, Refusal)
        assert reason in answer.reason
    inside = replace(request.source, relation=Filter(table, IN_DELFT))
    assert isinstance(RandomDP().offer(replace(request, source=inside)), SparseHistogram)


def test_caps_of_a_statement_make_other_cells() -> None:
    request = asking("count_rows", keys=(CITY,), options=NAMED)
    whole = request.source
    for cut in (
        replace(whole, cap_rows=True),
        replace(whole, cap_groups=True),
        replace(whole, cap_rows_in_group=True),
    ):
        answer = RandomDP().offer(replace(request, source=cut))
        assert isinstance(answer, Refusal)
        assert "makes other cells" in answer.reason


def test_a_reader_learns_what_is_given_up() -> None:
    said = " ".join(sparse().notes)
    assert "alone in a cell of visits: city is shown exactly (up to 3 people)" in said
    assert "gamma 0.003" in said
    assert "Expected L1 error: 2 for each cell that holds somebody" in said
