"""Covariance matrices without bounds: one matrix from each part of the data, their core, and its mean with noise.

Neighbours: ``add_remove`` and ``replace_one``; one row per privacy unit. Loss: (epsilon, delta), *idealised*: matrix
roots, eigenvalues and normal noise are floats here, and no proof says what their rounding shows. It runs only where
the policy's owner admits that, and says so in every answer.

1. Every unit goes to one of t public parts, by fresh randomness (`parts`). Each part gives the covariance matrix of its
   rows around their own mean. One unit exchanges one matrix.
2. Two positive definite matrices are friends if every ln eigenvalue of A^-1 B lies within +-tau: Thompson's metric,
   which no linear map of the data changes. A singular matrix is its own friend alone. The basic swap filter keeps the
   core (`basic`).
3. m' stands for the number m of kept matrices as in `average`: below it, but for delta1. Let M be their
   mean, d its size and G a (d, d) matrix of independent normal variables. Released is

       M^(1/2) (I + eta G) (I + eta G)^T M^(1/2) / (1 + eta^2 d),    of expectation M.

Theorem. With u = 2 sinh(2 tau) / m' the release in 3., given m', has a Renyi divergence of order a of at most

    d ((d - 1) D_a(1, 1, s) + D_a(1, s, s)),

the larger of both signs s^2 = 1 +- u and both directions, D_a being that of N(1, eta^2) to N(shift, (s eta)^2), with
shift 1 or s. Proof. Friendly matrices of both cores lie within 2 tau of each other, hence of the means M and M1:
M1 - M is 1 / m times a difference of two matrices between e^(-2 tau) M and e^(2 tau) M (or of one of them and M). So
the eigenvalues s_i^2 of M1^(-1/2) M M1^(-1/2) lie in 1 +- u. By the polar decomposition M^(1/2) = M1^(1/2) S O, with
S symmetric of eigenvalues s_i and O orthogonal; O G O^T is distributed as G. Up to maps that depend on M1 alone, the
outcomes are S (I + eta G) and I + eta G, and in the eigenvectors of S row i is N(s_i e_i, s_i^2 eta^2 I) against
N(e_i, eta^2 I): d - 1 entries differ in variance, one also in mean.  QED

Source: the release is ours. The filter of matrices is from Tsfadia et al. 2022, appendix A, whose distance g is at most
ln(1 + g) in Thompson's metric; there rows have mean 0 and the output is larger than M by the factor 1 + eta^2 d.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from dpsql.mechanisms.base import Price
from dpsql.mechanisms.friendly_core.parts import dealt, part_numbers
from dpsql.mechanisms.friendly_core.swaps import ByChance
from dpsql.mechanisms.noise.laws import LaplaceLaw
from dpsql.privacy.account import DELTA_UNIT
from dpsql.privacy.conversions import pure_epsilon_of_rho
from dpsql.privacy.kinds import Approximate, Concentrated
from dpsql.privacy.sampling import Sampler

__all__ = ["Covariance", "closeness", "covariance", "noise_for", "part_covariance", "plan_covariance", "renyi"]

Floats = npt.NDArray[np.float64]

TAU = 0.5
"""The tau of step 2: how far apart friends lie at most, in Thompson's metric. It is a choice: more matrices are friends
with a larger one, and the noise grows with 2 sinh(2 tau)."""
NORMAL_BITS = 40
"""Binary digits after the point of normal noise: it is discrete Gaussian noise of standard deviation 2^40, divided by
that."""
SMALLEST = 1e-100
"""A variance below it, or above its inverse, is that of no data: products of two such stay within floats."""
MOST_NOISE = 4.0  # As an eta, the noise beside the identity matrix. It is a choice: more leaves nothing of the matrix.
SERVES = 0.1
"""The largest eta that a split is planned for: more noise leaves little of the matrix. A guess."""
AGREEING = Fraction(17, 20)
"""The share of the parts that is expected to agree. A guess."""
ROWS_PER_COLUMN = 50
"""The rows of a part for each column: the covariances of so many are mostly friends. A guess."""
PARTS_TO_TRY = (200, 300, 400, 500, 600, 800, 1000, 1200, 1500, 2000)
"""Numbers of parts that are tried, in order, until one serves at the price. It is a choice: the fewest parts have the
most rows each."""


@dataclass(frozen=True, slots=True)
class Covariance:
    """What a covariance matrix will take: public numbers alone.

    Attributes:
        columns: d.
        parts: t.
        filter: Chooses the core.
        count: Noise on the number of kept matrices, e1-DP.
        chance: delta1, that it exceeds its margin.
        epsilon, delta: Of the matrix with noise.
        loss: Of everything.
    """

    columns: int
    parts: int
    filter: ByChance
    count: LaplaceLaw
    chance: Fraction
    epsilon: Fraction
    delta: Fraction
    loss: Approximate | Concentrated

    @property
    def rows_needed(self) -> int:
        """About how many rows make the parts large enough to agree."""
        return ROWS_PER_COLUMN * self.columns * self.parts

    def eta(self, at_most: int) -> float | None:
        """The noise if m' is this; None where no noise is enough."""
        if at_most < 1:
            return None
        return noise_for(self.columns, 2 * math.sinh(2 * TAU) / at_most, float(self.epsilon), float(self.delta))

    @property
    def expected_eta(self) -> float:
        """The noise if 85 % of the parts agree; infinite where that is not enough."""
        kept = self.filter.expected(AGREEING * self.parts)
        return self.eta(int(kept) - self.count.beyond(self.chance)) or math.inf

    def matrix(self, rows: Floats, sampler: Sampler) -> Floats | None:
        """(d, d) float64 symmetric and positive semidefinite, or None where too few parts agree.

        Args:
            rows: (n, d) finite float64, one row per privacy unit.
            sampler: Source of noise.
        """
        groups = dealt(rows, part_numbers(len(rows), self.parts, sampler), self.parts)
        matrices = np.array([part_covariance(group) for group in groups])
        friends = (closeness(matrices) <= TAU).sum(axis=1)
        core = matrices[self.filter.kept(friends, sampler)]
        at_most = len(core) + int(self.count.draw(sampler, 1)[0]) - self.count.beyond(self.chance)
        d = self.columns
        steps = sampler.gaussian(Fraction(4**NORMAL_BITS), d * d).astype(np.float64)
        eta = self.eta(at_most)
        if len(core) == 0 or eta is None:
            return None
        values, vectors = np.linalg.eigh(core.mean(axis=0))
        root = vectors * np.sqrt(np.maximum(values, 0.0))  # M^(1/2) V; V (I + eta G) V^T is distributed as I + eta G
        noisy = root @ (np.eye(d) + eta * (steps / 2.0**NORMAL_BITS).reshape(d, d))
        return np.asarray(noisy @ noisy.T / (1 + eta * eta * d))


def plan_covariance(columns: int, price: Price, parts: int | None = None) -> Covariance:
    """What a covariance matrix at this price will take, with the fewest parts that serve.

    A price in rho buys the largest epsilon whose rho is within it: (epsilon, delta)-DP is epsilon-DP outside events of
    weight delta (Bun, Steinke 2016, Lemma 8.8), and so rho-zCDP there (`conversions.rho_of_pure`).

    Raises:
        ValueError: It has no delta, or no number of parts up to the public limit serves.
    """
    epsilon = price.epsilon if price.rho is None else pure_epsilon_of_rho(price.rho)
    if not epsilon or price.delta // DELTA_UNIT < 10:
        raise ValueError("it needs delta beside epsilon or rho; give both, such as epsilon = 1, delta = 1e-6")
    by_rho = None if price.rho is None else Concentrated(price.rho, outside=price.delta)
    if parts is not None and not 2 <= parts <= PARTS_TO_TRY[-1]:
        raise ValueError(f"parts is {parts}; write a whole number from 2 to {PARTS_TO_TRY[-1]}")
    for t in [parts] if parts else PARTS_TO_TRY:
        plan = _planned(columns, t, epsilon, price.delta)
        if parts or plan.expected_eta <= SERVES:
            return plan if by_rho is None else replace(plan, loss=by_rho)
    raise ValueError(
        f"this price is too small for {columns} columns with at most {PARTS_TO_TRY[-1]} parts; ask for more"
    )


def _planned(columns: int, t: int, epsilon: Fraction, delta: Fraction) -> Covariance:
    filter_ = ByChance(t)
    inner, chance = filter_.swaps.inner(epsilon, delta)

    def with_share(tenths: int) -> Covariance:
        own = inner * tenths / 10
        law = LaplaceLaw(1 / own)
        return Covariance(columns, t, filter_, law, chance / 2, inner - own, chance / 2, Approximate(epsilon, delta))

    return min(map(with_share, (2, 3, 4, 5, 6)), key=lambda plan: plan.expected_eta)


def covariance(points: npt.ArrayLike, price: Price, sampler: Sampler, parts: int | None = None) -> Floats | None:
    """(d, d) covariance matrix of the core, in the points' squared unit; None where too few parts agree.

    It is what `dp_covariance` does, for points in the hand: mathematics to be imported. It needs no bounds. Which
    relation holds makes no difference: either exchanges one part's matrix.

    Args:
        points: (n, d) numbers, one row per privacy unit; rows with a NaN or an infinity are left out.
        price: epsilon and delta.
        sampler: Source of noise.
        parts: Their number; by default the least that serves at this price.

    Raises:
        ValueError: An argument is outside its range; never because of the points' values.
    """
    array = np.asarray(points, dtype=np.float64)
    if array.ndim != 2 or array.shape[1] < 1:
        raise ValueError(f"covariance: points have shape {array.shape}; give (n, d)")
    plan = plan_covariance(array.shape[1], price, parts)
    return plan.matrix(array[np.isfinite(array).all(axis=1)], sampler)


def closeness(matrices: Floats) -> Floats:
    """(t, t) Thompson distances of (t, d, d) symmetric matrices; inf with singular ones, 0 on the diagonal.

    >>> round(float(closeness(np.array([np.eye(2), np.diag([2.0, 1.0])]))[0, 1]), 6)
    0.693147
    """
    distances = _distances(matrices, matrices)
    distances = np.maximum(distances, distances.T)
    np.fill_diagonal(distances, 0.0)
    return distances


def _distances(a: Floats, b: Floats) -> Floats:
    """(m, n) largest |ln eigenvalue of a^-1 b|; inf where either is not `_sound`."""
    values, vectors = np.linalg.eigh(a)
    sound, other = _sound(values), _sound(np.asarray(np.linalg.eigvalsh(b), dtype=np.float64))
    result = np.full((len(a), len(b)), np.inf)
    for i in np.flatnonzero(sound):
        root = vectors[i] / np.sqrt(values[i])
        relative = np.linalg.eigvalsh(root.T @ b[other] @ root)
        result[i, other] = np.abs(np.log(np.maximum(relative, SMALLEST))).max(axis=1)
    return result


def _sound(values: Floats) -> npt.NDArray[np.bool_]:
    """Whether eigenvalues, rising, are those of a positive definite matrix, as far as floats tell."""
    least, largest = values[:, 0], values[:, -1]
    return np.asarray((least > largest * 1e-12) & (least > SMALLEST) & (largest < 1 / SMALLEST))


def part_covariance(rows: Floats) -> Floats:
    """(d, d) covariance of (m, d) rows around their mean, over m - 1; zeros for m <= d, or beyond what floats hold."""
    m, d = rows.shape
    if m <= d:
        return np.zeros((d, d))
    rows = rows[np.lexsort(rows.T[::-1])]
    with np.errstate(all="ignore"):
        centred = rows - rows.mean(axis=0)
        found = np.asarray(centred.T @ centred / (m - 1))
    return found if np.isfinite(found).all() else np.zeros((d, d))


def renyi(order: float, d: int, u: float, eta: float) -> float:
    """The theorem's bound on the Renyi divergence of that order > 1; inf where there is none.

    >>> renyi(2, 1, 0.01, 0.1) < renyi(3, 1, 0.01, 0.1)
    True
    """
    if not 0 <= u < 1:
        return math.inf
    worst = 0.0
    for s in (math.sqrt(1 - u), math.sqrt(1 + u)):
        for before, after in (((1.0, 1.0), (s, s)), ((s, s), (1.0, 1.0))):
            moved = _normal(order, before, after, eta)
            spread = _normal(order, (0.0, before[1]), (0.0, after[1]), eta)
            worst = max(worst, d * ((d - 1) * spread + moved))
    return worst


def _normal(order: float, p: tuple[float, float], q: tuple[float, float], eta: float) -> float:
    """Renyi divergence of N(p0, (p1 eta)^2) from N(q0, (q1 eta)^2)."""
    mixed = (1 - order) * p[1] ** 2 + order * q[1] ** 2
    if mixed <= 0:
        return math.inf
    scales = math.log(q[1] / p[1]) + math.log(q[1] ** 2 / mixed) / (2 * (order - 1))
    return scales + order * (p[0] - q[0]) ** 2 / (2 * mixed * eta**2)


@lru_cache(maxsize=256)
def noise_for(d: int, u: float, epsilon: float, delta: float) -> float | None:
    """The least eta whose release is (epsilon, delta)-DP, or None where none is, however large.

    Source of the conversion: Canonne, Kamath, Steinke 2020, Prop. 12.
    """
    orders = [1 + 10 ** (k / 40) for k in range(-60, 200)]
    gaps = [(math.log(1 / delta) + (a - 1) * math.log1p(-1 / a) - math.log(a)) / (a - 1) for a in orders]

    def enough(eta: float) -> bool:
        return any(renyi(a, d, u, eta) + gap <= epsilon for a, gap in zip(orders, gaps, strict=True))

    if not enough(MOST_NOISE):
        return None
    low, high = 0.0, MOST_NOISE
    while high - low > 1e-4 * high:
        middle = (low + high) / 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return high
