"""Which k of many listed groups are the largest, before anything is measured of them.

Neighbours: ``add_remove`` and ``replace_one``. Loss: `Pure`, with its own rho; or `Concentrated`, where that errs less.

ORDER BY a count or a sum, with LIMIT, is answered for k groups alone (OFFSET o takes k + o of them). They are drawn one
after the other, without replacement, by the exponential mechanism over all groups that the domain lists, empty ones
too: of those that are left, group v comes with chance proportional to exp(c u(v)), u(v) its number (or minus that, for
the smallest). Then the aggregates are measured for the k groups, at the rest of the price.

Let d(v) be how far a neighbour moves u(v), and w = max d - min d over the groups, the empty ones among them.

Theorem. One draw is c w-DP and (c w)^2 / 8-zCDP; the k draws are k c w-DP and k (c w)^2 / 8-zCDP.
Proof. Let R be those left. The chances of v on D and D' have the ratio exp(-c d(v)) Z' / Z, and Z' / Z is a mean of
exp(c d) over R, so that its logarithm is between c min d and c max d: the logarithm of the ratio lies in an interval of
length c w that holds 0, whatever R is. That is bounded range, hence c w-DP and (c w)^2 / 8-zCDP. What is left for the
next draw is a function of the draws before: adaptive composition.  QED

Lemma. Let one row move the number of its group by low ... high steps, and let a unit have at most r rows in a group.
Then w <= r (max(high, 0) - min(low, 0)) under ``add_remove``, and twice that under ``replace_one``. It does not grow
with the groups that a unit is in.
Proof. A unit's arrival moves each group by between r min(low, 0) and r max(high, 0); a departure by minus that; a swap
is one of each.  QED

So selection costs the same whether a unit is in one group or in a thousand. The measurements after it hold a unit in k
groups at most: given the k, what it has in them is some of its rows, min(m, min(g, k) r) (`Contribution.total`). Where
g is large that is less noise than on all groups; where g is small, noise on all groups errs less, and `prepare.top`
takes it. A group that is drawn has at most t less than the best of those that are not, with 95% confidence over all k
draws: a group that is t short comes with chance at most exp(-c t), so t = ln(20 k n) / c of n groups.

The intervals of what is measured hold as they stand: their noise is drawn after the choice, and the choice does not
look at it.

Source: McSherry, Talwar 2007; bounded range and peeling are Durfee, Rogers 2019 and Dong, Durfee, Rogers 2020, that of
zCDP Cesar, Rogers 2021. The proofs are those above.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import groupby

from dpsql.mechanisms.base import CHOICE, Interval, Mechanism, Offer, Refusal, Request, derive
from dpsql.mechanisms.exponential import root_below
from dpsql.mechanisms.gaussian import vector_loss
from dpsql.mechanisms.laplace import TOO_SMALL
from dpsql.mechanisms.noise.laws import LEAST_DELTA
from dpsql.mechanisms.noise.sensitivity import KINDS, measure_of, need_of, range_in_a_group
from dpsql.privacy.kinds import Concentrated, Pure
from dpsql.privacy.sampling import Sampler
from dpsql.privacy.tables import RawTable, ReleasedTable

__all__ = ["TopK", "TopKRelease"]

MISSED = 0.05  # The chance that a group which is drawn is further below the best than is said; for half widths of 95%.


@dataclass(frozen=True, slots=True)
class TopKRelease(Offer):
    """An offer to choose k groups.

    Attributes:
        exponent: c, per step.
        count: k.
        largest: Whether the largest are chosen, or the smallest.
        listed: How many groups there are to choose from.
        step: Of the numbers, in the column's unit.
        reach: w, in steps.
        half_width: In the column's unit: with 95% confidence no group that is drawn is further below the best of those
            that are left.
    """

    exponent: Fraction
    count: int
    largest: bool
    listed: int
    step: Fraction
    reach: int

    def __post_init__(self) -> None:
        short = math.log(self.count * self.listed / MISSED) / float(self.exponent)
        scale = float(self.step / self.exponent)
        short *= float(self.step)
        note = (
            f"A group that is chosen has at most {short:.4g} {'less' if self.largest else 'more'} than one that is not."
        )
        derive(self, sensitivity=float(self.reach * self.step), scale=scale, half_width=short, notes=(note,))

    def release(self, raw: RawTable, sampler: Sampler) -> ReleasedTable:
        """``value``: 1, 2, ... for the groups in the order in which they were drawn; None for all others."""
        numbers = [int(number) if self.largest else -int(number) for number in raw.column("m0")]
        # Groups of one number are equally likely: they are drawn from together.
        order = sorted(range(len(numbers)), key=numbers.__getitem__)
        left = [(score, list(same)) for score, same in groupby(order, key=numbers.__getitem__)]
        scores, places = [score for score, _ in left], dict[int, int]()
        for place in range(1, min(self.count, len(numbers)) + 1):
            at, offset = sampler.intervals([len(same) for _, same in left], scores, self.exponent)
            places[left[at][1].pop(offset)] = place
        return ReleasedTable({"value": [places.get(row) for row in range(len(numbers))]})

    def selected(self, released: ReleasedTable) -> Sequence[int]:
        """Rows of the released table whose groups were drawn."""
        return [row for row, place in enumerate(released.values) if place is not None]

    def intervals(self, released: ReleasedTable, confidence: float) -> Sequence[Interval]:
        """None: a place has no error bar."""
        return [(None, None)] * len(released.values)


@dataclass(frozen=True, slots=True)
class TopK(Mechanism):
    """The k largest groups of a listed domain."""

    name: str = "top_k"

    def takes(self, request: Request) -> bool:
        """What chooses the first groups of an order; and whatever names it, to say where it answers."""
        return request.top is not None or (not request.whole and request.options.mechanism == self.name)

    def reads(self, request: Request) -> frozenset[str]:
        """A share of epsilon may be named for the choice; no group is left out for its size."""
        return Mechanism.reads(self, request) - CHOICE | {"group_selection_epsilon"}

    def offer(self, request: Request) -> TopKRelease | Refusal:
        """An offer to choose groups by a count or a sum."""
        top = request.top
        if top is None:
            return Refusal(self.name, ELSEWHERE)
        if request.aggregate.function not in KINDS or (request.aggregate.function == "sum" and request.grid is None):
            return Refusal(self.name, ELSEWHERE)
        measure = measure_of(request)
        reach = range_in_a_group(request, measure)
        found = _rate(request, top.count, reach)
        if found is None:
            return Refusal(self.name, TOO_SMALL)
        exponent, loss = found
        return TopKRelease(
            self.name,
            loss,
            need_of(request, measure),
            exponent=exponent,
            count=top.count,
            largest=top.largest,
            listed=top.listed,
            step=Fraction(1) if measure.grid is None else measure.grid.step,
            reach=reach,
        )


def _rate(request: Request, count: int, reach: int) -> tuple[Fraction, Pure | Concentrated] | None:
    """The largest c within the price, per step, and the loss; None where the price is too small to buy any."""
    price = request.price
    concentrated = vector_loss(price) if price.rho is not None or price.delta >= LEAST_DELTA else None
    rate = Fraction(0) if concentrated is None else root_below(8 * concentrated.rho / count) / reach
    if price.epsilon is not None and (pure := price.epsilon / (count * reach)) >= rate:
        return pure, Pure(price.epsilon, rho=count * (pure * reach) ** 2 / 8)
    return (rate, concentrated) if concentrated is not None and rate > 0 else None


ELSEWHERE = (
    "it chooses the first groups of all that are listed, for ORDER BY a count or a sum with LIMIT, without HAVING and "
    "windows."
)
