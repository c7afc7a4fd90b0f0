"""The concentrated filter: friends counted with noise, against a threshold; a zCDP guarantee.

Neighbours: ``add_remove`` (`ConcentratedFilter`) and ``replace_one`` with a public number of rows
(`ConcentratedSwapFilter`). Loss: approximate zCDP. A mechanism is delta-approximately rho-zCDP if its outcome on either
neighbour is, with probability 1 - delta, drawn from laws that are rho-zCDP to each other (Bun, Steinke 2016, Def. 8.1);
both numbers add up under adaptive composition.

Friendly data and friendly mechanisms are as in `basic`: A is friendly (rho_A, delta_A)-zCDP if it is so for neighbours
whose union is friendly.

``add_remove``. Let row i have z_i of n friends, rho_1 + rho_2 = (1 - delta) rho, and tail(law, p) be the least k with
P(noise >= k) <= p. Release

    n^ = n + N_Z(1 / (2 rho_1)) + tail(that law, delta / 2) - 1,

and keep row i if 2 z_i - n + N_Z(s) >= 1 + tail(that law, delta / (2 (n^ + 1))), where s = n^ / (2 rho_2) is the
variance. Where n^ < 1 no row stays.

Theorem. The filter and A on what it keeps are together (rho + rho_A, delta + delta_A)-zCDP.

Proof. Let D' be D without row j, and C the rows of both. Call a row of D bad if z_i <= n / 2. Removing j changes
2 z_i - n by exactly 1, so a bad row has at most 1 in both runs.

1. Let G be the event that n^ >= n - 1 and that no bad row of C is kept. In D, n^ < n - 1 needs noise below -tail, in D'
   noise of at most -tail: probability at most delta / 2. Given n^ >= n - 1 there are at most n^ + 1 rows, and each bad
   one is kept with probability at most delta / (2 (n^ + 1)) <= delta / (2 n). So with probability 1 - delta G holds and
   a bad j is not kept, and every outcome of G has at least 1 - delta times its probability given G in a run that never
   keeps a bad j.
2. Compare runs that never keep a bad j, publish n^, publish the bits of C where n^ >= n - 1, and run A where G holds.
   They are (rho_1 + rho_2 + rho_A)-zCDP: n^ has sensitivity 1. The n - 1 entries 2 z_i - n move by 1 each:
   (n - 1) / (2 s) <= rho_2. Rows kept under G, of either run, and a good j, have more than n / 2 friends in D each, so
   they are friendly together.
3. Whether G holds is seen in what these runs publish. Conditioning on it costs no more than a factor: let p and q be
   the probabilities of its failing, and let the outcomes where it fails be merged into one. Then with the Renyi
   divergences R of all and R_G of the conditional laws at order a,
       e^((a - 1) R) = (1 - p)^a (1 - q)^(1 - a) e^((a - 1) R_G) + p^a q^(1 - a),
   and by the inequality of weighted means (weights 1 - p and p), R >= (1 - p) R_G + KL(p, q) >= (1 - delta) R_G.
   Of R only the part before A is conditioned, so that rho_1 + rho_2 grows to rho, and rho_A is added.  QED

``replace_one``. n is public. Keep row i if 2 z_i - n + N_Z(s) >= 1 + tail(that law, delta / n), s = 2 (n - 1) / rho'
with rho' = (1 - delta) rho. The theorem and its proof are the same, with w_i, the friends among the n - 1 rows that
stay, in the place of z_i in D: a row is bad if w_i <= (n - 1) / 2, and then 2 z_i - n <= 1; the n - 1 entries move by
at most 2 each; A must be friendly zCDP for rows added, removed and replaced.

Source: Tsfadia, Cohen, Kaplan, Mansour, Stemmer 2022, "FriendlyCore", section 4.3 (add_remove, with a larger threshold
and continuous noise); the factor in 3. and the swap are proved above. Discrete Gaussian: Canonne, Kamath, Steinke 2020.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from dpsql.mechanisms.friendly_core.noise import gaussian_law
from dpsql.mechanisms.noise.laws import GaussianLaw
from dpsql.privacy.sampling import Integers, Sampler

__all__ = ["ConcentratedFilter", "ConcentratedSwapFilter", "Core"]

COUNT_SHARE = Fraction(1, 10)
"""The share of rho that the noised number of friends takes. A guess."""


@dataclass(frozen=True, slots=True)
class Core:
    """What a filter kept.

    Attributes:
        kept: (n,) bool; private.
        about: A number of rows that may be shown: released (with a surplus), or public; 0 or less for nobody.
    """

    kept: npt.NDArray[np.bool_]
    about: int


@dataclass(frozen=True, slots=True)
class ConcentratedFilter:
    """The concentrated filter for one row more or less.

    Attributes:
        rho: > 0, of the filter alone.
        delta: 0 < delta < 1, of the filter alone.
    """

    rho: Fraction
    delta: Fraction

    def __post_init__(self) -> None:
        _check(self.rho, self.delta)

    def core(self, friends: npt.NDArray[Any], sampler: Sampler) -> Core:
        """Which rows stay.

        Args:
            friends: (n,) int64, z_i, from 1 to n.
            sampler: For the exact noise.
        """
        n, rho = len(friends), (1 - self.delta) * self.rho
        count = gaussian_law(Fraction(1), rho * COUNT_SHARE)
        about = n + int(count.draw(sampler, 1)[0]) + count.beyond(self.delta / 2) - 1
        if about < 1:
            return Core(np.zeros(n, dtype=np.bool_), 0)
        noise = gaussian_law(Fraction(about), rho * (1 - COUNT_SHARE))
        return Core(_passed(friends, noise, self.delta / (2 * (about + 1)), sampler), about)


@dataclass(frozen=True, slots=True)
class ConcentratedSwapFilter:
    """The concentrated filter for one row replaced, the number of rows being public.

    Attributes:
        rho: > 0, of the filter alone.
        delta: 0 < delta < 1, of the filter alone.
    """

    rho: Fraction
    delta: Fraction

    def __post_init__(self) -> None:
        _check(self.rho, self.delta)

    def core(self, friends: npt.NDArray[Any], sampler: Sampler) -> Core:
        """Which rows stay; ``friends`` as for `ConcentratedFilter`."""
        n = len(friends)
        if n < 2:  # nobody else to be friends with: the one row may be anything
            return Core(np.zeros(n, dtype=np.bool_), n)
        noise = gaussian_law(Fraction(4 * (n - 1)), (1 - self.delta) * self.rho)
        return Core(_passed(friends, noise, self.delta / n, sampler), n)


def _passed(friends: Integers, noise: GaussianLaw, chance: Fraction, sampler: Sampler) -> npt.NDArray[np.bool_]:
    """Rows whose noisy surplus of friends a row without any would reach with no more than this chance."""
    n = len(friends)
    surplus = 2 * np.asarray(friends).astype(np.int64) - n
    return np.asarray(surplus + noise.draw(sampler, n) >= 1 + noise.beyond(chance), dtype=np.bool_)


def _check(rho: Fraction, delta: Fraction) -> None:
    if rho <= 0 or not 0 < delta < 1:
        raise ValueError(f"rho is {rho} and delta is {delta}; write Fractions, rho above 0, delta between 0 and 1")
