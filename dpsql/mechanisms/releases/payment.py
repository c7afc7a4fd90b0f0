"""What a release may cost, what a neighbour changes, and the noise that follows.

Neighbours: ``add_remove``, one unit more or less; ``replace_one``, one unit's rows replaced by as many others. A unit
has at most ``rows`` rows of the table that is released, each in one cell of every histogram of it.

Theorem. Let one unit have at most r rows. Between neighbours every histogram of the table moves by at most l in L1 and
by s in squared L2, where l = r and s = r^2 under ``add_remove``, l = 2 r and s = 2 r^2 under ``replace_one``.

1. k histograms with discrete Laplace noise of scale k l / epsilon on every cell are epsilon-DP together.
2. k histograms with discrete Gaussian noise of variance k s / (2 rho) on every cell are rho-zCDP together.
3. k single numbers of rows (each of the rows that meet some condition) with discrete Laplace noise of scale
   k r / epsilon are epsilon-DP together, with discrete Gaussian noise of variance k r^2 / (2 rho) rho-zCDP, under both
   relations.
4. Let a score of each candidate move by at most d. k choices by permute-and-flip or by the exponential mechanism with
   weights exp(epsilon score / (2 d k)) are epsilon-DP together, and k by the exponential mechanism with weights
   exp(e score / (2 d)), e^2 <= 8 rho / k, are rho-zCDP together.
5. Parts with shares of epsilon, or of rho, that add up to 1 cost the whole.

Proof. A unit's rows add r to the cells of one histogram, so they move it by r in L1; its squares add up to at most r^2,
reached in one cell. A swap subtracts one such vector and adds another: l = 2 r, and s = |x|^2 + |y|^2 - 2 x y <= 2 r^2,
for x, y >= 0. Then 1 is `mechanisms.laplace` for the joint vector of the histograms (L1 of at most k l); 2 is
`mechanisms.gaussian` for it (squared L2 of at most k s). 3: a swap moves a number of rows by at most r, for at most r
of the unit's rows met the condition before and at most r after. 4 is McSherry, Talwar 2007 and McKenna, Sheldon 2020,
and for zCDP Cesar, Rogers 2021 (an exponential mechanism of loss e is e^2 / 8-zCDP; that of permute-and-flip is more);
5 is adaptive composition.  QED

Under ``replace_one`` the number of rows is public where each unit has exactly one.

**By a metric** (d_X privacy: one row i is replaced by j, at the loss d(i, j)). What 3 and 4 say holds with alpha r in
place of r / epsilon, alpha being the largest Lipschitz constant |q(i) - q(j)| / d(i, j) of the conditions that numbers
and scores are made of: write epsilon = 1 / alpha. Histograms move by more than their cells: 1 and 2 do not carry over.
Source: Kamalaruban, Perrier, Asghar, Kaafar 2018, sections 3.3 and 3.4.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import isqrt
from typing import Literal

from dpsql.mechanisms.noise.laws import GaussianLaw, LaplaceLaw
from dpsql.privacy.sampling import Sampler

__all__ = ["Payment", "Relation"]

Relation = Literal["add_remove", "replace_one"]

ROOT_DIGITS = 10**12
"""A square root of a fraction is rounded down to so many parts of its denominator. It is a choice: losses are counted
in parts of 1e-12."""


@dataclass(frozen=True, slots=True)
class Payment:
    """The price of a release, in epsilon or in rho, and the neighbours that it is for.

    Attributes:
        neighbours: ``"add_remove"`` or ``"replace_one"``.
        epsilon: Pure loss, > 0; or None.
        rho: zCDP loss, > 0; or None. Exactly one of the two is given.
        rows: The most rows of one unit, >= 1.

    Raises:
        ValueError: If a number is out of its range, or not exactly one of epsilon and rho is given.

    >>> Payment("replace_one", epsilon=Fraction(1)).noise().spread
    2.0
    """

    neighbours: Relation
    epsilon: Fraction | None = None
    rho: Fraction | None = None
    rows: int = 1

    def __post_init__(self) -> None:
        if (self.epsilon is None) == (self.rho is None):
            raise ValueError("a release has one price: give epsilon, or rho, and not both")
        if self.amount <= 0 or self.rows < 1:
            raise ValueError(f"the price {self.amount} must be above 0, and the {self.rows} rows of a unit 1 or more")
        if self.neighbours not in ("add_remove", "replace_one"):
            raise ValueError(f"neighbours are {self.neighbours!r}; write 'add_remove' or 'replace_one'")

    @property
    def amount(self) -> Fraction:
        """Epsilon or rho, whichever is given."""
        return Fraction(self.epsilon if self.epsilon is not None else self.rho or 0)

    @property
    def swapped(self) -> int:
        """How many units change: 1 under ``add_remove``, 2 under ``replace_one`` (one goes, one comes)."""
        return 2 if self.neighbours == "replace_one" else 1

    @property
    def l1(self) -> int:
        """How far a neighbour moves one histogram in L1, in rows."""
        return self.rows * self.swapped

    @property
    def squares(self) -> int:
        """How far a neighbour moves one histogram in squared L2, in rows^2."""
        return self.rows**2 * self.swapped

    def noise(self, share: Fraction = Fraction(1), histograms: int = 1) -> LaplaceLaw | GaussianLaw:
        """The noise of every cell of so many histograms that cost ``share`` of the price together (1 and 2)."""
        part = self.amount * share / histograms
        return LaplaceLaw(self.l1 / part) if self.epsilon is not None else GaussianLaw(self.squares / (2 * part))

    def number_noise(self, share: Fraction, numbers: int) -> LaplaceLaw | GaussianLaw:
        """The noise of each of so many single numbers of rows that cost ``share`` of the price together (3)."""
        part = self.amount * share / numbers
        return LaplaceLaw(self.rows / part) if self.epsilon is not None else GaussianLaw(self.rows**2 / (2 * part))

    def choose(self, scores: Sequence[int], sampler: Sampler, share: Fraction, choices: int, moved: int) -> int:
        """The index of one of so many private choices that cost ``share`` of the price together (4).

        Args:
            scores: (n,) integers, the highest is best.
            sampler: Of the choice.
            share: Of the price, for all choices.
            choices: How many there are.
            moved: By how much a neighbour moves a score at most, >= 1.
        """
        if self.epsilon is not None:
            return sampler.permute_and_flip(scores, self.epsilon * share / (choices * 2 * moved))
        loss = root_below(8 * self.amount * share / choices)
        return sampler.intervals([1] * len(scores), scores, loss / (2 * moved))[0]

    def check_total(self, total: int | None) -> None:
        """A public number of rows must be one: ValueError under ``add_remove``, or where a unit has several rows."""
        if total is not None and (self.neighbours == "add_remove" or self.rows > 1):
            raise ValueError(
                f"the number of rows is private under {self.neighbours} with {self.rows} rows a unit; leave it out"
            )


def root_below(x: Fraction) -> Fraction:
    """A fraction whose square is at most x, and nearly x.

    >>> root_below(Fraction(9, 4))
    Fraction(3, 2)
    """
    return Fraction(isqrt(x.numerator * x.denominator * ROOT_DIGITS**2), x.denominator * ROOT_DIGITS)
