"""The stability histogram: numbers of the cells of a declared domain, with noise on the occupied ones alone.

Neighbours: ``add_remove`` and ``replace_one``. Loss: `Approximate`, delta as far as it is used.

Each cell whose number is above 0 gets discrete Laplace noise of scale b = 1 / e0, and is shown with it where the noised
number exceeds the integer T. All other cells are shown as 0: empty ones and small ones alike.

A unit adds to at most U cells, 1 to r to each, and at most N to all together. Write p = P(r + noise > T): the chance
that a cell which is all one unit's is shown is at most p. Write w for the units by which neighbours differ: 1 under
``add_remove``, 2 under ``replace_one``.

Theorem. If e0 = epsilon / (w N), the release is (epsilon, delta)-DP with delta = 1 - (1 - p)^U.

Proof. Let A be the cells that are occupied in D alone, A' those in D' alone: each is all one unit's, and |A|, |A'| <= U
(one of them is empty under ``add_remove``). The other cells differ by at most w N - |A| - |A'| in L1, as a unit adds at
least 1 to each of its own. Let E say that every cell of A is shown as 0 in D, E' the same of A' in D': their chances
are at least (1 - p)^|A| and (1 - p)^|A'|. Given both, the chances of the other cells differ by a factor of at most
exp(w N e0) = exp(epsilon). The lemma of `noise/thresholds` with d = 0 gives the delta.  QED

With r = 1 and N = U this is the theorem of `threshold`. Noise is drawn for empty cells too, and not used: how long a
release takes does not tell how many cells are occupied.

It is the better answer where most cells are empty. Cells that hold n in all lose at most about n in L1, when every one
of them is small, and nothing but noise when they are large; noise on k cells costs about k b. So it is compared by the
n that the policy guesses: at n / k for each cell, or T where that is less.

Source: the idea is Korolova, Kenthapadi, Mishra, Ntoulas 2009; and Bun, Nissim, Stemmer 2016, section 7.1, for declared
domains. The proof is that above.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from dpsql.mechanisms.base import Interval, Request, derive
from dpsql.mechanisms.laplace import laplace_scale, pure_loss
from dpsql.mechanisms.noise.laws import LEAST_DELTA, LaplaceLaw
from dpsql.mechanisms.noise.noised import NoisedRelease
from dpsql.mechanisms.noise.sensitivity import KINDS, measure_of, most_values, need_of, sensitivity_of
from dpsql.mechanisms.noise.thresholds import threshold_delta, threshold_for
from dpsql.mechanisms.noise.values import within
from dpsql.plan.known.guesses import rows_guessed
from dpsql.plan.known.relations import unit_of
from dpsql.privacy.kinds import Approximate
from dpsql.privacy.sampling import Sampler
from dpsql.privacy.tables import RawTable, ReleasedTable

__all__ = ["StabilityRelease", "rows_per_cell", "stability_offer"]

NINETEEN_IN_TWENTY = math.log(20)
"""The 95% half width of Laplace noise, in mean absolute errors: P(|X| > b ln 20) = 1/20."""


@dataclass(frozen=True, slots=True)
class StabilityRelease(NoisedRelease):
    """An offer to release one number per listed cell, 0 for every cell up to a threshold.

    Attributes:
        threshold: T: a cell is shown when its noised number is above it. Its delta is within that of the loss.
        cells: How many are listed.
        rows_per_cell: Guess of the mean number of rows in a cell.
        most: How many different values are possible, of a count of them; else None.
    """

    threshold: int
    cells: int
    rows_per_cell: float
    most: int | None = None

    def __post_init__(self) -> None:
        reach, noise, delta = self.law.quantile(0.95), self.law.spread, self.loss.priced().delta * 1e-18
        # The widest 95% interval: that of a 0 reaches up to the threshold and beyond, however few it stands for.
        width = max(reach, (self.threshold + reach) / 2)
        width = width if self.most is None else min(width, self.most / 2)
        notes = (
            f"0 stands for empty cells and for most cells of up to {self.threshold}.",
            f"Expected L1 error over all {self.cells} cells: {noise:.3g} for each larger cell, all of each smaller "
            f"one; noise on every cell would make it {noise * self.cells:.3g}.",
            f"It promises epsilon-DP but for a chance of {delta:.2g}, whatever the data are.",
        )
        derive(self, scale=noise, half_width=width, notes=notes)

    @property
    def expected_error(self) -> float:
        """Of Laplace noise with the mean error that cells can have if the policy's guess of the rows is right."""
        error = NINETEEN_IN_TWENTY * min(self.rows_per_cell, self.threshold)
        return error if self.most is None else min(error, float(self.most))

    def release(self, raw: RawTable, sampler: Sampler) -> ReleasedTable:
        """``value`` and ``steps``, the same before it is clipped; 0 for empty cells and those up to the threshold."""
        exact, noised = raw.column("m0"), NoisedRelease.release(self, raw, sampler).columns["steps"]
        steps = [k if n > 0 and k > self.threshold else 0 for n, k in zip(exact, noised, strict=True)]
        values = steps if self.most is None else [min(k, self.most) for k in steps]
        return ReleasedTable({"value": values, "steps": steps})

    def intervals(self, released: ReleasedTable, confidence: float) -> Sequence[Interval]:
        """Value +- q, the exact quantile of the noise; 0 to T + q for a cell shown as 0.

        A cell of more than T + q is shown as 0 only if its noise is below -q: either way a miss needs noise beyond q.
        """
        reach = self.law.quantile(confidence)
        steps: Sequence[int] = released.columns["steps"]
        ends: list[Interval] = [(k - reach, k + reach) if k else (0, self.threshold + reach) for k in steps]
        return [within(own, self.most) for own in ends]


def stability_offer(name: str, request: Request) -> StabilityRelease | str:
    """The offer for a count over listed cells, or in a sentence why there is none.

    Args:
        name: Of the mechanism.
        request: One that selects no groups.
    """
    if request.aggregate.function not in KINDS or request.aggregate.function == "sum":
        return f"it counts; {request.aggregate.text} is no count."
    if not request.source.keys:
        return "a single number has no empty groups to leave without noise."
    if unit_of(request.source.relation) is None:
        return "it is proved for rows that have their privacy unit."
    if request.price.delta < LEAST_DELTA:
        return "0 for empty groups needs delta; add delta to the statement's options, such as delta = 1e-8."
    pure = pure_loss(request.price)
    if pure is None:
        return "this rho is too small to buy any noise; ask for more."
    held, measure = request.source.contribution, measure_of(request)
    l1 = sensitivity_of(request, measure).l1
    law = LaplaceLaw(laplace_scale(l1, pure.epsilon))
    groups, most = held.of_units().total, min(held.total, held.rows_in_group)
    # A cell of r is above T when its noise reaches T - r + 1, as one of 1 unit is above T - r + 1.
    beyond = threshold_for(law, groups, request.price.delta)
    return StabilityRelease(
        mechanism=name,
        loss=Approximate(pure.epsilon, threshold_delta(law, groups, beyond), pure.rho),
        need=need_of(request, measure),
        law=law,
        step=Fraction(1),
        sensitivity=float(l1),
        threshold=beyond + most - 1,
        cells=request.cells,
        rows_per_cell=rows_per_cell(request),
        most=most_values(request),
    )


def rows_per_cell(request: Request) -> float:
    """The guessed rows, spread evenly over the listed cells."""
    return rows_guessed(request.source.relation) / max(1, request.cells)
