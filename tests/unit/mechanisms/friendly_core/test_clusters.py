"""k-means by tuples from beginning to end: what it finds, what one unit changes, what it costs, what it refuses."""

from __future__ import annotations

from fractions import Fraction
from itertools import permutations
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from dpsql.mechanisms.base import Price
from dpsql.mechanisms.friendly_core import clusters, oracle
from dpsql.mechanisms.friendly_core.clusters import k_means, plan_k_means, rows_needed, scale_in_steps
from dpsql.mechanisms.friendly_core.tuples import LARGEST, NEVER
from dpsql.privacy.account import units
from dpsql.testing import FixedSampler, Noiseless

Points = npt.NDArray[np.float64]
CENTRES = np.array([[-0.6, 0.1], [0.0, -0.5], [0.5, 0.5]])
BY_EPSILON = Price(Fraction(3), Fraction(1, 10**6))
BY_RHO = Price(None, Fraction(1, 10**8), Fraction(2))


def disc(n: int, seed: int = 0) -> Points:
    rng = np.random.default_rng(seed)
    return np.asarray(CENTRES[rng.integers(0, len(CENTRES), n)] + rng.normal(0, 0.02, (n, 2)))


def found_in(
    points: Points, price: Price, neighbours: str = "add_remove", seed: int = 0, **given: Any
) -> Points | None:
    return k_means(points, 3, 1, (0.001, 1), price, neighbours, FixedSampler(seed), **given)


def error(found: Points) -> float:
    return min(float(np.abs(found[list(order)] - CENTRES).max()) for order in permutations(range(3)))


@pytest.mark.parametrize("neighbours", ["add_remove", pytest.param("replace_one", marks=pytest.mark.slow)])
@pytest.mark.parametrize("price", [BY_EPSILON, BY_RHO], ids=["epsilon", "rho"])
@pytest.mark.parametrize("number", [0, pytest.param(1, marks=pytest.mark.slow)])
def test_separate_clusters_are_found(price: Price, neighbours: str, number: int) -> None:
    found = found_in(disc(12_000, number), price, neighbours, number)
    assert found is not None
    assert error(found) < 0.01
    assert found.tolist() == sorted(found.tolist())


def test_without_noise_the_answer_is_lloyds_step_from_the_cores_mean() -> None:
    points = disc(9000)
    found = k_means(points, 3, 1, (0.001, 1), BY_EPSILON, "add_remove", Noiseless())
    assert found is not None
    own = ((points[:, None] - CENTRES[None]) ** 2).sum(axis=2).argmin(axis=1)
    wanted = np.array([points[own == c].mean(axis=0) for c in range(3)])
    assert np.abs(found - wanted[np.lexsort(wanted.T[::-1])]).max() < 1e-6


def test_data_without_clusters_have_no_answer() -> None:
    rng = np.random.default_rng(1)
    angles, distances = rng.uniform(0, 2 * np.pi, 4000), np.sqrt(rng.uniform(0, 1, 4000))
    ring = np.stack([distances * np.cos(angles), distances * np.sin(angles)], axis=1)
    assert k_means(ring, 8, 1, (0.001, 1), BY_EPSILON, "add_remove", FixedSampler(1)) is None


@pytest.mark.parametrize("n", [0, 1, 5, 300])
def test_parts_with_too_few_rows_agree_with_nobody(n: int) -> None:
    assert found_in(disc(n), BY_EPSILON) is None
    between = plan_k_means(3, BY_EPSILON, "add_remove", 40)._tuples(grid(disc(n)), FixedSampler(1))[1]
    assert (np.diag(between) == 0).all()
    assert n >= 300 or (between[~np.eye(40, dtype=bool)] == NEVER).all()


def tuples_of(points: npt.NDArray[np.int64], parts: int = 40) -> npt.NDArray[np.int64]:
    return plan_k_means(3, BY_EPSILON, "add_remove", parts)._tuples(points, Noiseless())[0]


def grid(points: Points) -> npt.NDArray[np.int64]:
    return np.rint(points * LARGEST).astype(np.int64)


def test_one_unit_more_or_exchanged_changes_one_tuple() -> None:
    points = grid(disc(800))
    for changed in (np.concatenate([points, [[LARGEST, 0]]]), np.concatenate([points[:-1], [[LARGEST, 0]]])):
        differing = (tuples_of(points) != tuples_of(changed)).any(axis=(1, 2))
        assert differing.sum() == 1


def test_parts_of_equal_size_would_all_change_with_one_unit_more() -> None:
    """What the paper does: t parts of floor(n / t) rows each. An oracle that shows its size then shows in all."""

    def sizes(n: int, t: int) -> list[int]:
        return [n // t] * t

    assert sum(a != b for a, b in zip(sizes(599, 200), sizes(600, 200), strict=True)) == 200
    drawn = [np.bincount((FixedSampler(1).integers(200, n) + np.arange(n)) % 200, minlength=200) for n in (599, 600)]
    assert sum(drawn[0] != drawn[1]) == 1


def test_parts_are_uniform_and_drawn_anew() -> None:
    plan, points = plan_k_means(1, BY_EPSILON, "add_remove", 10), np.arange(LARGEST // 2)[-20_000:, None]
    seen = [len(set(plan._tuples(points, FixedSampler(seed))[0].ravel().tolist())) for seed in range(3)]
    assert min(seen) > 5
    assert (plan._tuples(points, FixedSampler(1))[0] != plan._tuples(points, FixedSampler(2))[0]).any()


def test_an_oracle_sees_its_own_part_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    points = grid(disc(500))
    asked: list[int] = []
    true_oracle = oracle.centres

    def watched(part: npt.NDArray[np.int64], k: int) -> npt.NDArray[np.int64]:
        asked.append(len(part))
        return true_oracle(part, k)

    monkeypatch.setattr(oracle, "centres", watched)
    tuples_of(points, parts=20)
    assert sum(asked) == 500
    assert max(asked) == 25


@pytest.mark.parametrize("price", [BY_EPSILON, BY_RHO, Price(Fraction(7, 11), Fraction(1, 10**5))])
@pytest.mark.parametrize("neighbours", ["add_remove", "replace_one"])
def test_the_loss_is_no_more_than_the_price(price: Price, neighbours: str) -> None:
    loss = plan_k_means(2, price, neighbours).loss
    if price.rho is not None:
        account = loss.account("zcdp")
        assert account.rho <= units(price.rho)
    else:
        assert price.epsilon is not None
        account = loss.account("basic")
        assert account.epsilon is not None
        assert account.epsilon <= units(price.epsilon)
    assert 0 < account.delta <= price.delta * 10**30


def test_a_smaller_price_takes_more_parts() -> None:
    parts = [plan_k_means(4, Price(Fraction(e), Fraction(1, 10**6)), "add_remove").parts for e in (8, 4, 2, 1)]
    assert parts == sorted(parts)
    assert parts[0] < parts[-1] <= clusters.MOST_PARTS
    assert rows_needed(plan_k_means(4, BY_EPSILON, "add_remove")) >= 4 * parts[0]


def test_rows_that_are_not_finite_are_left_out_and_change_no_other() -> None:
    points = disc(6000)
    with_gaps = np.concatenate([points, [[np.nan, 0], [np.inf, 1], [0, -np.inf]]])
    one, other = (found_in(p, BY_EPSILON) for p in (points, with_gaps))
    assert one is not None
    assert other is not None
    assert (one == other).all()


def test_a_far_row_counts_as_one_at_the_edge_of_the_ball() -> None:
    points = disc(6000)
    one, other = (found_in(np.concatenate([points, [[far, 0.0]]]), BY_EPSILON) for far in (1.0, 1e300))
    assert one is not None
    assert other is not None
    assert (one == other).all()


@pytest.mark.slow
def test_the_unit_of_measurement_does_not_matter() -> None:
    points = disc(6000)
    metres = k_means(points * 1024, 3, 1024, (1.024, 1024), BY_EPSILON, "add_remove", FixedSampler(5))
    kilometres = k_means(points, 3, 1, (0.001, 1), BY_EPSILON, "add_remove", FixedSampler(5))
    assert metres is not None
    assert kilometres is not None
    assert np.allclose(metres, kilometres * 1024, atol=0.01)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"k": 0}, "k is 0"),
        ({"k": 10**6}, "whole number from 1 to"),
        ({"bound": 0}, "bound > 0"),
        ({"scale": (0, 1)}, "scale"),
        ({"scale": (1e-9, 1)}, "scale"),
        ({"scale": (0.1, 3)}, "twice the bound"),
        ({"scale": (0.5, 0.1)}, "scale"),
        ({"price": Price(Fraction(1), Fraction(0))}, "delta"),
        ({"price": Price(Fraction(1, 100), Fraction(1, 10**6))}, "too small"),
        ({"price": Price(None, Fraction(1, 10**6), Fraction(1, 1000))}, "too small"),
        ({"parts": 1}, "parts is 1"),
        ({"points": np.zeros(7)}, "shape"),
    ],
)
def test_what_cannot_be_is_refused_by_public_facts(given: dict[str, Any], said: str) -> None:
    asked: dict[str, Any] = {
        "points": disc(10), "k": 3, "bound": 1, "scale": (0.001, 1), "price": BY_EPSILON,
        "neighbours": "add_remove", "sampler": Noiseless(),
    } | given  # fmt: skip
    with pytest.raises(ValueError, match=said):
        k_means(**asked)


def test_the_scale_reaches_from_end_to_end_in_grid_steps() -> None:
    assert scale_in_steps(Fraction(1), (Fraction(1, 1000), Fraction(1))) == (LARGEST // 1000, LARGEST)


@pytest.mark.slow
def test_two_gaussians_in_fifty_dimensions_are_told_apart() -> None:
    rng = np.random.default_rng(2)
    truth = rng.integers(0, 2, (2, 50)).astype(float)
    labels = rng.integers(0, 2, 360_000)
    points = truth[labels] + rng.normal(0, 1, (360_000, 50))
    found = k_means(points, 2, 12, (0.05, 20), Price(None, Fraction(1, 10**8), Fraction(1)), "add_remove",
                    FixedSampler(2), parts=600)  # fmt: skip
    assert found is not None
    nearest = (points[:, None, :1] * 0).repeat(2, axis=1)[..., 0]
    for c in range(2):
        nearest[:, c] = ((points - found[c]) ** 2).sum(axis=1)
    share = (nearest.argmin(axis=1) == labels).mean()
    best = (((points - truth[1]) ** 2).sum(axis=1) < ((points - truth[0]) ** 2).sum(axis=1)) == labels
    assert max(share, 1 - share) > best.mean() - 0.002
