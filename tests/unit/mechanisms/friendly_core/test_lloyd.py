"""The noisy step of Lloyd's algorithm: what it is without noise, and that its noise is enough for either relation."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from dpsql.mechanisms.friendly_core import lloyd
from dpsql.mechanisms.friendly_core.lloyd import lloyd_step
from dpsql.mechanisms.friendly_core.oracle import inside_ball
from dpsql.mechanisms.friendly_core.tuples import LARGEST
from dpsql.testing import Noiseless

RHO = Fraction(1, 3)


class Recorder(Noiseless):
    """Draws nothing, and remembers the variances asked for."""

    def __init__(self) -> None:
        self.variances: list[Fraction] = []

    def gaussian(self, variance: Fraction, size: int) -> npt.NDArray[Any]:
        self.variances.append(variance)
        return super().gaussian(variance, size)


class Constant(Noiseless):
    """Adds one number to everything."""

    def __init__(self, noise: int) -> None:
        self.noise = noise

    def gaussian(self, variance: Fraction, size: int) -> npt.NDArray[Any]:
        return np.full(size, self.noise, dtype=object)


def rows(seed: int, n: int, d: int = 2) -> npt.NDArray[np.int64]:
    return inside_ball(np.random.default_rng(seed).integers(-LARGEST, LARGEST, (n, d)))


def test_without_noise_every_centre_moves_to_the_mean_of_its_rows() -> None:
    points, start = rows(0, 300), rows(1, 4)
    moved = lloyd_step(points, start, RHO, "add_remove", Noiseless())
    own = ((points[:, None] - start[None]) ** 2).sum(axis=2).argmin(axis=1)
    for c in range(4):
        assert np.abs(moved[c] - points[own == c].mean(axis=0)).max() < 2


def test_a_centre_without_rows_stays() -> None:
    start = np.array([[0, 0], [LARGEST // 2, 0]])
    moved = lloyd_step(np.array([[10, 0]] * 5), start, RHO, "add_remove", Noiseless())
    assert moved.tolist() == [[10, 0], start[1].tolist()]
    assert (
        lloyd_step(np.empty((0, 2), dtype=np.int64), start, RHO, "add_remove", Noiseless()).tolist() == start.tolist()
    )


@pytest.mark.parametrize(("neighbours", "factor"), [("add_remove", 1), ("replace_one", 2)])
def test_noise_is_enough_for_the_worst_neighbour(neighbours: str, factor: int) -> None:
    recorder = Recorder()
    start = np.array([[-LARGEST // 2, 0], [LARGEST // 2, 0]])
    lloyd_step(rows(2, 10), start, RHO, neighbours, recorder)
    for_sums, for_counts = recorder.variances
    ends = [np.array([[x, y]]) for x, y in ((LARGEST, 0), (-LARGEST, 0), (0, LARGEST), (1, -LARGEST), (0, 0))]
    neighbour_pairs = (
        [(e, np.empty((0, 2), dtype=np.int64)) for e in ends]
        if neighbours == "add_remove"
        else [(e, f) for e in ends for f in ends]
    )
    losses = []
    for before, after in neighbour_pairs:
        (sums, counts), (other_sums, other_counts) = (lloyd._totals(inside_ball(p), start) for p in (before, after))
        moved = Fraction(int(((sums - other_sums) ** 2).sum())) / (2 * for_sums)
        losses.append(moved + Fraction(int(((counts - other_counts) ** 2).sum())) / (2 * for_counts))
    assert max(losses) == RHO, "the bound is reached, and never passed"
    # Seeded bug: replace_one at the noise of add_remove would be charged half of what it costs.
    assert max(losses) * factor == (RHO if factor == 1 else 2 * RHO)


def test_no_noise_leads_out_of_the_ball() -> None:
    for noise in (2**70, -(2**70), 5):
        moved = lloyd_step(rows(3, 30), rows(4, 3), RHO, "add_remove", Constant(noise))
        assert ((moved**2).sum(axis=1) <= LARGEST**2).all()


def test_totals_are_exact_over_more_rows_than_one_block(monkeypatch: pytest.MonkeyPatch) -> None:
    points, start = rows(5, 1000), rows(6, 3)
    whole = lloyd._totals(points, start)
    monkeypatch.setattr(lloyd, "ROWS_AT_ONCE", 7)
    for one, other in zip(whole, lloyd._totals(points, start), strict=True):
        assert (one == other).all()
