"""What the paper says and does not hold, shown on data: each is why something here is built otherwise.

Tsfadia, Cohen, Kaplan, Mansour, Stemmer 2022, "FriendlyCore: Practical Differentially Private Aggregation". The bound
on the other rows' probabilities is in test_basic.py.
"""

from __future__ import annotations

import math

import numpy as np


def test_one_sample_for_all_rows_tells_who_is_in_it() -> None:
    # Appendix B estimates all friends on one sample S. On a circle every row is a friend of three quarters of the
    # others; a new row in the middle is a friend of all, and if it falls into S, all estimates rise together.
    n, s, rng = 60_000, 60, np.random.default_rng(10)
    angles = np.sort(rng.random(n)) * 2 * math.pi
    chord = math.radians(135)
    points = np.exp(1j * angles)

    def core_size(*, hub: bool) -> int:
        sample = points[rng.integers(0, n, s)]
        if hub:
            sample[0] = 0
        apart = np.abs(points[:, None] - sample[None, :])
        share = (apart <= 2 * math.sin(chord / 2)).mean(axis=1)
        return int((rng.random(n) < np.clip((share - 0.5) / 0.5, 0, 1)).sum())

    without = np.array([core_size(hub=False) for _ in range(12)])
    with_hub = np.array([core_size(hub=True) for _ in range(12)])
    assert with_hub.mean() - without.mean() > 3 * max(without.std(), with_hub.std())
    assert s / n > 1e-4  # how likely the new row is to be sampled: no delta


def test_a_count_whose_noise_depends_on_the_count_is_not_concentrated() -> None:
    # Footnote 4 takes the share rho_1(n) = (rho sqrt(ln(1/delta)) / n)^(2/3) with the secret n. The divergence of two
    # normal laws at order a is infinite where a v' + (1 - a) v <= 0; no zCDP loss is.
    n = 1000
    variance, neighbour = n ** (2 / 3), (n - 1) ** (2 / 3)
    order = variance / (variance - neighbour)
    assert 1.4 * n < order < 1.6 * n
