"""Quantiles, means and variances over several rows a unit, and the choice of groups where a unit is in several: a part
of the price finds how many of them serve best.

Neighbours: ``add_remove`` and ``replace_one``. Loss: `Composed` of the choice, `Pure`, and of what answers: `Pure`, or
where groups are chosen that of the threshold.

The rows of a unit that count are put in an order by a secret hash of what they say, so that a row has a rank within its
unit, and a cap m keeps the rows of rank m at most: those that ``max_rows_contributed => m`` keeps of such rows. Public
edges e_0 = 1, 2, 4, ..., e_J = R double up to the most rows that a unit may have. Let w = 1 under ``add_remove`` and 2
under ``replace_one``.

1. *The sizes.* Discrete Laplace noise of scale w / a is added to each number of units whose rows are more than e_(k-1)
   and at most e_k.
2. *The caps.* From these numbers and public ones alone, an edge is taken as the cap of each draw that follows.
3. *The answer.* `exponential`'s draws for a quantile and for the ends of its interval, or `located`'s release of means
   and variances, from the rows within the cap, for the remaining price b, with R replaced by the cap. Of shares, and of
   other means of which a place would miss the few, no group is located unasked: nothing is clipped.

Where the groups of an open domain are chosen, the rows of a unit in all of this are its groups, each of them once, and
3 is the release of `threshold` or of `gaussian_threshold` with U replaced by the cap.

Theorem. The numbers of 1 are a-DP, what 3 releases is b-DP at any fixed caps, and both together are (a + b)-DP; the
same holds of rho. Where groups are chosen, 3 has at every cap the loss that the threshold's theorem states for the
rest of the price; with the largest delta of all caps, both together have the sum of the losses.

Proof. 1. A unit's rank order, and so the one class that it is counted in, depends on its own rows and the key alone: a
unit that comes or goes moves one number by 1 (none, where its last row is in no listed group), one that is replaced two
at most, and the theorem of `laplace` holds. 3. The rows within a cap m are rows of which each unit has m at most, in as
many groups as before and m at most, and one unit's rows within it do not depend on another's: they are a source with
the contribution bounds m, for which the theorems of `exponential`, of `located` and of the thresholds are stated. In
those a group occurs where a unit is kept in it; what occurs else stays hidden. Draws of one quantile that have
different caps each have a share of b of their own, which bounds their loss at their own cap. Caps follow from what 1
released, so that the losses add up by adaptive composition.  QED

What a cap changes is in no noise. How far it moves an answer is worked out from the noised sizes (`sizes`) and widens
the interval; the answer says the cap, about how many rows are left out, and how many units have more at most.

When it is expected to err less than noise for all rows that are allowed is a guess, from public facts alone (`_guess`):
owners name caps that surely hold, and conditions leave a unit fewer rows. Where the guess is wrong and the noise for
the caps is small, finding that costs the `SHARE` of the price.

Source: Amin, Kulesza, Munoz Medina, Vassilvitskii 2019, "Bounding user contributions" (how a cap trades what it leaves
out for noise); Levy, Sun, Amin, Kale, Kulesza, Mohri, Suresh 2021, "Learning with user-level privacy" (units weighed
alike). The drift worked out from noised sizes is ours.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from dpsql.errors import InvariantBroken
from dpsql.mechanisms.base import Joint, Mechanism, Offer, Price, Refusal, Request, alike, total_price
from dpsql.mechanisms.capped.groups import CappedThreshold, pairs_of, thresholds_within, worst
from dpsql.mechanisms.capped.quantile import CappedQuantile
from dpsql.mechanisms.capped.release import CappedRelease
from dpsql.mechanisms.capped.sizes import SizeSearch, UnitSizes
from dpsql.mechanisms.capped.statistics import CappedStatistics
from dpsql.mechanisms.choice.clamp import edges_to
from dpsql.mechanisms.choice.quantile import QuantileRelease
from dpsql.mechanisms.choice.query import QUANTILES
from dpsql.mechanisms.clamped.facts import known_sizes
from dpsql.mechanisms.exponential import Exponential
from dpsql.mechanisms.gaussian_threshold import GaussianThreshold
from dpsql.mechanisms.laplace import TOO_SMALL, pure_loss, split
from dpsql.mechanisms.located.mechanism import LOCATED, AtOwnPlace, with_and_without_means
from dpsql.mechanisms.located.release import LocatedRelease
from dpsql.plan.known.guesses import rows_guessed, share_of_a_unit, thinned
from dpsql.plan.known.relations import unit_of
from dpsql.plan.needs import Contribution, Values
from dpsql.plan.nodes import Scan
from dpsql.privacy.kinds import Pure
from dpsql.privacy.loss import Composed

__all__ = ["Capped"]

NAME = "capped"

SHARE = Fraction(1, 8)
"""Of the price, for the sizes of units. Measured on those of real data: between a tenth and a fifth the error hardly
changes."""

INNER = AtOwnPlace(whole=False, everywhere=True)
"""What answers within a cap. Clamps are searched for within tight bounds, too: with ratings of 1 to 5 within 0 to 100,
groups of few rows err up to 20 times as much without. Shares are clipped nowhere."""

FEW = 2  # Rows a unit: a cap of no more leaves nothing to find.
LOOSE = 4  # How many times what a unit has a cap is thought to be, in a whole table. A guess.
MANY = 16  # From so many rows a unit on, a cap is thought to be loose. A guess.

MOST_SORTED = 5_000_000
"""Rows by the policy's guess or the facts; more are ranked by name alone. Measured: ten million take some ten seconds,
and of so many even noise for wide caps is little."""

MOST_HASHED = 500_000
"""The same where groups are chosen: each group of a unit is hashed. Measured: 1.5 million rows take some 35 seconds on
a busy machine, without a cap 2.5."""

NOTE = "A part of the price finds how many rows of each unit serve best."
OF_GROUPS = f"{float(SHARE):.1%} of its price finds in how many groups each unit counts."


@dataclass(frozen=True, slots=True)
class Capped(Mechanism):
    """Quantiles, means, variances and the choice of groups, with a cap of a unit's rows or groups found privately."""

    name: str = NAME
    options: frozenset[str] = frozenset()

    def reads(self, request: Request) -> frozenset[str]:
        """Those of what answers within a cap."""
        return _inner(request).reads(request)

    def offer(self, request: Request) -> Offer | Refusal:
        """An offer for a statistic whose statement names no cap, or why there is none."""
        if reason := self._why_not(request):
            return Refusal(self.name, reason)
        rest, parts = _parts(request.price)
        if parts is None:
            return Refusal(self.name, TOO_SMALL)
        if request.selects:
            return self._choosing(request, rest, parts)
        edges = edges_to(request.source.contribution.rows)
        inners = [_inner(request).offer(_within(request, rest, edge)) for edge in edges]
        refused = next((inner for inner in inners if isinstance(inner, Refusal)), None)
        if refused is not None:
            return Refusal(self.name, refused.reason)
        return _release(request, parts, edges, [inner for inner in inners if isinstance(inner, Offer)])

    def _choosing(self, request: Request, rest: Price, parts: tuple[Pure, Pure]) -> Offer | Refusal:
        """What decides which groups of an open domain appear."""
        edges = edges_to(request.source.contribution.of_units().total)
        inners = thresholds_within([_within(request, rest, edge) for edge in edges])
        if isinstance(inners, str):
            return Refusal(self.name, inners)
        return CappedThreshold(
            mechanism=NAME,
            loss=Composed((parts[0], worst(inners))),
            need=pairs_of(request, edges),
            quoted=(OF_GROUPS,),
            search=SizeSearch(edges, parts[0].epsilon, request.neighbour_rows),
            guess=_guess(request, edges, rows_guessed(request.source.relation)),
            groups=1,
            inners=tuple(inners),
        )

    def together(self, requests: Sequence[Request]) -> Sequence[Joint]:
        """Offers for several statistics of the same values."""
        found = []
        for members in with_and_without_means(requests, alike(requests, self._locates, _same_rows)):
            own = [requests[index] for index in members]
            (rest, parts), edges = _parts(total_price(own)), edges_to(own[0].source.contribution.rows)
            if parts is None:
                continue
            epsilon, rho = (None if x is None else x / len(own) for x in (rest.epsilon, rest.rho))
            each = Price(epsilon, Fraction(0), rho)
            joints = [INNER.together([_within(request, each, edge) for request in own]) for edge in edges]
            if all(len(joint) == 1 and len(joint[0].members) == len(own) for joint in joints):
                inners = [joint[0].offers[0] for joint in joints]
                found.append(Joint.of_one(members, _release(own[0], parts, edges, inners)))
        return found

    def _locates(self, request: Request) -> bool:
        """Whether it offers a mean or a variance."""
        return request.aggregate.function in LOCATED and self._why_not(request) is None

    def _why_not(self, request: Request) -> str | None:
        """Why there is no offer, but for a price that buys nothing and for what answers within a cap."""
        source, named = request.source, request.options.mechanism == self.name
        if _bounded(request):
            return "the statement or the policy names contribution bounds of its own."
        if unit_of(source.relation) is None:
            return "its rows have lost their privacy unit, within which they would be ranked."
        most, what = source.contribution.total, "has {} row"
        if request.selects:
            most, what = source.contribution.of_units().total, "is in {} group"
        if most <= FEW:
            return f"a unit {what.format(most)}{'s' if most > 1 else ''} at most; there is nothing to find."
        if request.aggregate.function in ("min", "max"):
            return "what a cap leaves out may be the one row that is asked for."
        if request.selects and request.aggregate.function != "count_units":
            return f"groups are chosen by their number of units, not by {request.aggregate.text}."
        if not request.selects and request.aggregate.function not in (*QUANTILES, *LOCATED):
            return f"it answers quantiles, means and variances, not {request.aggregate.text}."
        most = MOST_HASHED if request.selects else MOST_SORTED
        if rows_guessed(source.relation) > most and not named:
            return "so many rows take long to rank, and little is gained: it is offered only by name."
        if not request.selects and any(key.domain is None for key in source.keys):
            return "it weighs a cap by the groups that are listed, and here they are not."
        return None


def _bounded(request: Request) -> bool:
    """Whether what a unit brings is bounded by name.

    Where groups are chosen, bounds of the policy are where the search starts: only the statement's own keep it away.
    """
    source, options = request.source, request.options
    if request.selects:
        return bool(options.max_groups_per_unit or options.max_rows_contributed) or source.cut is not None
    return source.capped or source.cut is not None


def _inner(request: Request) -> Mechanism:
    """What answers within a cap."""
    if request.selects:
        return GaussianThreshold()
    quantile = request.aggregate.function.startswith("quantile")
    return Exponential(count=Fraction(0)) if quantile else INNER


def _within(request: Request, price: Price, cap: int) -> Request:
    """The same request for the rows within a cap."""
    held = request.source.contribution
    own = Contribution(min(held.rows, cap), min(held.groups, cap), min(held.rows_in_group, cap))
    return replace(request, price=price, source=replace(request.source, contribution=own))


def _same_rows(one: Request, other: Request) -> bool:
    """Whether two aggregates are statistics of the same rows."""
    return one.source == other.source and one.aggregate.argument == other.aggregate.argument


def _parts(price: Price) -> tuple[Price, tuple[Pure, Pure] | None]:
    """What is left for the answer, and the losses of the sizes and of the answer; None where they buy nothing."""
    chosen, rest = split(price, SHARE)
    for_sizes, for_answer = pure_loss(chosen), pure_loss(rest)
    return rest, None if for_sizes is None or for_answer is None else (for_sizes, for_answer)


def _release(
    request: Request, parts: tuple[Pure, Pure], edges: tuple[int, ...], inners: Sequence[Offer]
) -> CappedRelease:
    """What is offered for a request, or for several of which it is the first."""
    need = inners[0].need
    losses = [inner.loss for inner in inners if isinstance(inner.loss, Pure)]
    if not isinstance(need, Values) or len(losses) < len(edges):
        raise InvariantBroken("what answers within a cap reads values, at a pure loss")
    rhos = [loss.rho for loss in losses if loss.rho is not None]
    answer = Pure(max(loss.epsilon for loss in losses), rho=max(rhos) if rhos else None)
    search = SizeSearch(edges, parts[0].epsilon, request.neighbour_rows)
    groups = 1 if any(key.domain is None for key in request.source.keys) else request.cells
    every: dict[str, Any] = {
        "mechanism": NAME,
        "loss": Composed((parts[0], answer)),
        "need": replace(need, source=request.source, ranks=edges),
        "search": search,
        "guess": replace(_guess(request, edges, request.rows_about * max(1, groups)), noise=search.law.spread),
        "groups": max(1, groups),
    }
    placed = tuple(inner for inner in inners if isinstance(inner, LocatedRelease))
    if placed:  # what else is to be noted depends on the cap
        return CappedStatistics(**every, inners=placed, quoted=(NOTE,))
    own = tuple(inner for inner in inners if isinstance(inner, QuantileRelease))
    full = replace(_guess(request, edges, request.rows_about * max(1, groups), loose=False), noise=search.law.spread)
    return CappedQuantile(**every, inners=own, notes=own[0].notes, quoted=(NOTE,), full=full)


def _guess(request: Request, edges: tuple[int, ...], rows: int, *, loose: bool = True) -> UnitSizes:
    """About how many units have how many rows, to choose and to predict: by facts, else spread over the sizes.

    What facts say is of whole tables; conditions are thought to leave less. A unit has as many groups as rows at most.

    Args:
        request: What is asked.
        edges: Of the classes of sizes.
        rows: A guess of the rows of all units.
        loose: Whether a high cap is thought to be far from what units have; else some are thought to reach it.
    """
    relation, argument = request.source.relation, request.aggregate.argument
    known = known_sizes(request)
    if known is not None and known[0].units:
        share = share_of_a_unit(relation, argument)
        units = [0.0] * len(edges)
        for bin_, many in enumerate(known[0].seen):
            size = (2 << bin_) - 1
            left = -math.expm1(-size * share) if share < 1 else 1.0  # of which any row is left
            units[min(bisect_left(edges, round(thinned(size, share))), len(edges) - 1)] += many * left
        return UnitSizes(edges, tuple(units))
    most = float(edges[-1])
    if most >= MANY and loose:
        most /= LOOSE
    if not isinstance(relation, Scan):
        most = min(most, 2 * math.sqrt(edges[-1]))
    flat = UnitSizes(edges, tuple(float(k == 0 or edges[k - 1] < most) for k in range(len(edges))))
    scale = rows / flat.rows
    return UnitSizes(edges, tuple(scale * many for many in flat.units))
