"""Totals whose contribution bound is found privately: a part of the price chooses a clamp of what one unit has, the
rest buys the noise for that clamp.

Neighbours: ``add_remove`` and ``replace_one``. Loss: `Composed` of the choice and of the noise, both `Pure`.

The size of a unit is the sum of the magnitudes of its totals in all groups (of its one total, where there are none).
Public edges e_0 < e_1 < ... < e_J double every other time; the last is what the public caps and bounds allow, so that
no size exceeds it. Let N_j be the number of units with a size above e_j, and w = 1 under ``add_remove``,
2 under ``replace_one``.

*The choice.* Permute-and-flip takes a j by the scores q(j) = -FINE N_j - p_j with exponent c = a / (w FINE), where the
penalties p_j are public. The slope by which they rise grows evenly from 0 at e_0 to CLIMB / c, for a clamp twice as
high, at the edge g that is guessed from public facts: there such a clamp is worth CLIMB w / a units. Above g they rise
by STEEP / c, for counts of a whole table by EASY / c. An edge h, g or above it, has q(h) = max(-FINE N_h - p_h, s -
FINE N), where N is the number of all units: where there are too few to tell where they lie, it stands. s is so large
that an edge below h which clips all units is taken with a chance of `RARELY` at most, of all such edges together; and
g, if none is above it, is taken in the place of h only where N FINE is s + p_g, and more than p_h - p_g: so many units,
were they all above g, would have shown that. Of a whole table h is where units lie that have as many rows as the caps
allow, of values as they are guessed: owners know how many rows people have, and bounds are what surely holds. Where a
condition or a join may leave units far less, h is halfway, by factors, between that and g. Penalties are the same over
many groups as over one.

*The sums.* With C = e_j for that j, each unit's totals are multiplied by a number from 0 to 1 that depends on its size
alone, and makes it at most C: without groups a unit of size s > C counts with C in place of s; with groups its totals
are multiplied by C / e_b, rounded down, where e_b is the first edge that is not below s, so that the sum of such totals
is made of the sums of each size. Discrete Laplace noise of scale w C / b is added to each group's sum.

Theorem. The choice is a-DP, the sums for a given j are b-DP, and both together (a + b)-DP.

Proof. A unit that comes raises N and each N_j by 0 or 1: under ``add_remove`` each score falls by 0 to FINE (as
the larger of two numbers does that do), and under ``replace_one`` it moves by -FINE to FINE. So max d - min d is at
most w FINE in the theorem of `exponential`, whose first part says that the choice is (c w FINE)-DP. A unit's totals are
multiplied by what its rows determine, and their magnitudes then add up to at most C: with groups the number is at most
C / e_b, and s C / e_b <= C, since s <= e_b. So a neighbour moves the vector of sums by at most w C in L1 (by C where it
is one number, of totals of one sign), and the theorem of `laplace` holds. Where a size is above all edges, which the
caps rule out, the unit counts as C without groups and as 0 with them.  QED

*An edge that clips all.* Where all N units are above e_j, q(j) = -FINE N - p_j and q(h) >= s - FINE N, so that e_j is
c (s + p_j) nats behind at least. Permute-and-flip takes what scores the most as soon as it comes to it; so it takes e_j
only if that comes first, which it does once of two times, and then with chance exp(-c (s + p_j)) at most. c s is
ln(sum over j < h of exp(-c p_j) / (2 RARELY)) or more.

*How many units are above the clamp.* q(J) >= -p_J, since N_J = 0. Permute-and-flip takes a j only if it comes up, with
chance at most exp(c (q(j) - q(J))), and before the best edge does, once of two times. So for every j the chance that it
is taken although FINE N_j > p_J - p_j + ln(J / (2 miss)) / c is at most miss / J: with chance 1 - miss the number of
units above the clamp is at most that over FINE. For h, which may be taken for its start, s is in the place of -p_h:
N_h <= N. Where no unit is above some edge e_k, k stands in the place of J.

*The interval* covers the noise, and besides what so many units may have above C: all that caps and bounds allow, up to
the last edge, for counts and where a unit has one row. Of sums over several rows both caps and bounds are rarely what
one unit has: it counts them up to many rows of usual values, or a part of the rows with values at the bound (`_far`),
and at least ALLOWED w / a times C and what w / a units have above C if they thin out slowly (`choice.tails`). A unit
above C adds about C to what shows, so that no more of them are counted than show, where totals have one sign. Where so
few show that all may be above C, and C is e_h, which stands while few are counted, or g is more than sixty-four times
C, it reaches up to the last edge for sums as well. That is post-processing of the released sums and j. So few units
that hold much are in the interval, although the choice misses them: 10 / a and more, the further up the more. The noise
and the number of units are each within what is allowed with the confidence asked for, which is not proved of both
together; it is measured (docs/audits.md).

Where `dpsql advise` released the sizes of a table's units, they give a clamp for nothing (`facts`), and the whole
price is for the noise; of the two ways the one with the less expected error is offered.

When it is expected to err less than noise for the caps is a guess, from public facts alone (`_guess`): owners name caps
and bounds that surely hold, and conditions and joins leave a unit far less than the products of caps allow. The guess
leans towards the search, which errs at most by 1 / (1 - share) times the noise for the caps where they are tight.

Source: the choice of a clamp by the number of units above it is that of Amin, Kulesza, Munoz Medina, Vassilvitskii
2019, "Bounding user contributions" (the best clamp has about 1 / epsilon of them); McKenna, Sheldon 2020
(permute-and-flip). The penalties, the sums by size and the bound on what is above are ours.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from dpsql.errors import UnsupportedQuery
from dpsql.mechanisms.base import Joint, Mechanism, Offer, Refusal, Request, derive
from dpsql.mechanisms.choice.clamp import EASY, STEEP, WIDE, ClampSearch, is_filled, place_of
from dpsql.mechanisms.clamped.facts import known_clamp, known_sizes
from dpsql.mechanisms.clamped.release import ClampedRelease
from dpsql.mechanisms.laplace import TOO_SMALL, pure_loss, split
from dpsql.mechanisms.noise.noised import in_unit
from dpsql.plan.advised import LogHistogram
from dpsql.plan.grids import edges_of_totals, grid_of_totals
from dpsql.plan.known.groups import most_values
from dpsql.plan.known.relations import conjuncts, is_public, most_met, private_scans
from dpsql.plan.known.stability import rows_per_unit
from dpsql.plan.known.there import wanted
from dpsql.plan.needs import Contribution, Sized, Source
from dpsql.plan.nodes import Column, Expression, Filter, Join, Project, Relation, Scan
from dpsql.plan.rows.per_unit import totals_per_unit
from dpsql.plan.types import Grid
from dpsql.privacy.loss import Composed

__all__ = ["Clamped"]

NAME = "clamped"
ALIAS = "totals"  # Of units' totals in a plan: one name, so that totals which are the same are read once.
TOTALS = ("count_rows", "count", "count_units", "sum")
VARIANCES = ("var_pop", "var_samp", "stddev_pop", "stddev_samp")

SHARES = ((2_000, Fraction(2, 5)), (20_000, Fraction(3, 10)), (math.inf, Fraction(1, 5)))
"""Of the price, for choosing the clamp: so much up to so many units, times epsilon for one of them. Few units need more
to be told apart, and many are told for little. Measured: the error hardly changes, and intervals of few units hold more
often."""

LOOSE = 8
"""How many times what a unit has lies below what loose caps and wide bounds allow, each of them, and below what facts
show of a whole table where conditions pick rows. A guess on the side of the search: where it is wrong, the error is
that of noise for the caps over 1 - share; noise for the caps, wrongly taken, may be a thousand times too large."""

MANY_ROWS = 8  # From so many rows a unit on, a cap is thought to be loose. A guess.

LIKELY_ROWS = 8
"""Rows at most that units are thought to have where rows of a whole table are counted, or the cap's, if fewer. A guess:
there the search keeps the caps unless many units show that they are loose, and few show it of such caps. Measured on
COVID tests and visits, with caps from 8 to 16 and 1.3 and 3 rows a unit: counts erred 1.2 to 1.7 times as much with the
search as by `laplace`."""

USUAL_ROWS = 8  # Rows a unit that a table is thought to have at most, to guess its number of units. A guess.

CERTAIN = 3.0
"""Nats by which the units of a whole table must outweigh the way from the guess up to the last edge. Where they do not,
no price shows whether a guess that stands is far too low, and noise for the caps answers. A guess."""


@dataclass(frozen=True, slots=True)
class Clamped(Mechanism):
    """Counts and sums over several rows a unit, with a clamp of each unit's total that is found privately."""

    name: str = NAME

    def takes(self, request: Request) -> bool:
        """Counts and sums; not of groups that were chosen, whose units have more in others."""
        own = Mechanism.takes(self, request) and request.source.cut is None
        return own and request.aggregate.function in (*TOTALS, "avg", *VARIANCES)

    def offer(self, request: Request) -> Offer | Refusal:
        """An offer for a count, a sum, a mean or a variance whose statement names no bound, or why there is none."""
        if request.aggregate.function == "avg":
            from dpsql.mechanisms.clamped.mean import mean_of_units  # it needs `located`, which sums do without

            return mean_of_units(request)
        if request.aggregate.function in VARIANCES:
            from dpsql.mechanisms.clamped.variance import variance_of_units  # as above

            return variance_of_units(request)
        totals = _totals(request)
        if isinstance(totals, str):
            return Refusal(self.name, totals)
        offers = [offer for offer in (_by_facts(request, totals), _by_search(request, totals)) if offer is not None]
        found = [offer for offer in offers if not isinstance(offer, str)]
        if not found:
            return Refusal(self.name, next(reason for reason in offers if isinstance(reason, str)))
        return min(found, key=lambda offer: offer.expected_error)

    def together(self, requests: Sequence[Request]) -> Sequence[Joint]:
        """Offers for several variances and deviations of the same values."""
        if sum(request.aggregate.function in VARIANCES for request in requests) < 2:
            return ()
        from dpsql.mechanisms.clamped.variance import together  # as above

        return together(requests)


def _by_facts(request: Request, totals: Sized) -> ClampedRelease | None:
    """The clamp that public facts give, where they give one, at the whole price."""
    loss = pure_loss(request.price)
    clamp = None if loss is None else known_clamp(request, totals, loss.epsilon)
    if loss is None or clamp is None:
        return None
    most = f"{in_unit(clamp.edges[0], totals.grid.step):,.6g}"
    return ClampedRelease(
        mechanism=NAME,
        loss=loss,
        need=replace(totals, edges=clamp.edges),
        notes=(f"each unit counts with at most {most}, by what advise released: nothing is spent to find it.",),
        search=clamp,
        epsilon=loss.epsilon,
        guess=0,
        far=clamp.edges[-1],
    )


def _by_search(request: Request, totals: Sized) -> ClampedRelease | str:
    """A clamp that a part of the price finds, or in a sentence why there is none."""
    share = _share(request)
    for_choice, for_noise = (pure_loss(part) for part in split(request.price, share))
    if for_choice is None or for_noise is None:
        return TOO_SMALL
    tight = _whole(request.source.relation)
    low, high = (_guess(request, totals, loose=loose) for loose in (True, False))
    few = high if tight else math.sqrt(low * high)  # beside conditions and joins halfway, by factors
    guess, fallback = (place_of(totals.edges, size) for size in (low, few))
    steep = EASY if tight and request.aggregate.function != "sum" else STEEP
    search = ClampSearch(totals.edges, for_choice.epsilon, request.neighbour_rows, guess, 1, fallback, steep)
    climb = search.climbed[-1] - search.climbed[guess]
    needed = (search.sure + climb + CERTAIN) * request.neighbour_rows / max(1.0, _units(request))
    if for_choice.epsilon < needed:
        wanted = f"about {needed / float(share):.2g} would do" if request.price.rho is None else "ask for more"
        return f"this price is too small to find a bound by so few units; {wanted}."
    if tight and request.aggregate.function != "sum":
        guess = place_of(totals.edges, max(low, min(high, LIKELY_ROWS)))
    offer = ClampedRelease(
        mechanism=NAME,
        loss=Composed((for_choice, for_noise)),
        need=totals,
        search=search,
        epsilon=for_noise.epsilon,
        guess=guess,
        far=_far(request, totals),
    )
    chosen = f"{float(share):.0%} of its price chooses the most that one unit counts with."
    derive(offer, quoted=(chosen, *offer.hides))
    return offer


def _share(request: Request) -> Fraction:
    """What part of the price chooses the clamp, by about how many units there are, and what each of them may lose."""
    loss = pure_loss(request.price)
    size = 0.0 if loss is None else _units(request) * float(loss.epsilon / request.neighbour_rows)
    return next(share for most, share in SHARES if size < most)


def _totals(request: Request) -> Sized | str:
    """The totals of units, or in a sentence why this is none of them."""
    aggregate, source = request.aggregate, request.source
    if request.selects:
        return "it cannot decide which groups of an open domain appear; only a threshold can."
    if aggregate.bounds is not None or source.capped:
        return "the statement or the policy names contribution bounds of its own."
    one_row = Grid(Fraction(1), 0, 1) if aggregate.function != "sum" else request.grid
    if one_row is None:
        return f"{aggregate.text} has no bounds; declare bounds in the policy."
    held = source.contribution
    rows = held.of_units().total if aggregate.function == "count_units" else held.total
    if rows * max(abs(one_row.low), abs(one_row.high)) < 2:
        return "one unit counts with one step at most; there is nothing to find."
    if held.rows == 1 and aggregate.argument is not None:  # a sum: the one row of a unit is its total
        grid = grid_of_totals(one_row, 1)
        return Sized(source, aggregate.argument, grid, edges_of_totals(one_row, grid, 1), single=True)
    asked = replace(aggregate, per_group=(Fraction(0), Fraction(0)))
    if aggregate.function == "count_units":  # a unit counts once in each of its groups: its rows there, clamped to 1
        asked = replace(asked, function="count_rows")
    try:
        relation, keys, own = totals_per_unit(source.relation, source.keys, asked, ALIAS)
    except UnsupportedQuery:
        return "its rows have no totals per unit."
    if own.argument is None:
        return "its rows have no totals per unit."
    in_group = 1 if aggregate.function == "count_units" else held.rows_in_group
    grid, groups = grid_of_totals(one_row, in_group), held.groups
    of_units = Source(relation, keys, Contribution(groups, groups, 1))
    return Sized(of_units, own.argument, grid, edges_of_totals(one_row, grid, _most(source, aggregate.function)))


def _most(source: Source, function: str) -> int:
    """With how many values of one row a unit counts at most: with its rows, or once in each of its groups.

    A key that is not in its domain is NULL, which is no group of the answer, but is one of the unit's.
    """
    if function != "count_units":
        return source.contribution.rows
    sizes = (None if key.domain is None else len({*key.domain, None}) for key in source.keys)
    groups = most_values(source.relation, [*zip((key.expression for key in source.keys), sizes, strict=True)])
    return min(source.contribution.rows, groups or source.contribution.rows)


def _guess(request: Request, totals: Sized, *, loose: bool) -> float:
    """About the largest size of a unit, in steps of the totals' grid; it only serves to choose and to predict.

    Caps and bounds are what an owner is sure of, not what is there: many rows and wide bounds are thought to be far
    from what a unit has. A declared centre and spread tell about values.

    Args:
        request: What is asked.
        totals: The totals.
        loose: Whether caps are thought to be loose, and conditions to leave a unit far less than it has in all.
    """
    known, whole = known_sizes(request), _whole(request.source.relation)
    if known is not None and known[0].units:
        return max(1.0, _seen(known[0], totals) / (LOOSE if loose and not whole else 1))
    held, function = request.source.contribution, request.aggregate.function
    most = held.of_units().total if function == "count_units" else held.total
    rows = most / LOOSE if loose and most >= MANY_ROWS else float(most)
    if function != "sum" or request.grid is None:
        return rows
    facts, steps = request.facts, max(abs(request.grid.low), abs(request.grid.high))
    wide = steps >= WIDE and not is_filled(request.grid.low, request.grid.high)
    one = steps * request.grid.step * (Fraction(1, LOOSE) if wide else 1)
    if facts.centre is not None and facts.spread is not None:
        one = min(steps * request.grid.step, abs(facts.centre) + 2 * facts.spread)
    return max(1.0, rows * float(one / totals.grid.step))


def _far(request: Request, totals: Sized) -> int:
    """How far intervals take a unit above the clamp to reach, in steps of the totals' grid.

    A count, and the one row of a unit, may be all that caps and bounds allow. Of a sum over several rows it is many
    rows of usual values, or usual rows of values at the bound, whichever is more; both together only where caps and
    bounds are tight.
    """
    last, most = totals.edges[-1], request.source.contribution.total
    if request.aggregate.function != "sum" or request.grid is None:
        return last
    at_bounds = max(abs(request.grid.low), abs(request.grid.high)) * request.grid.step / totals.grid.step
    rows = max(1.0, most / math.sqrt(LOOSE)) if most >= MANY_ROWS else float(most)
    return min(last, math.ceil(max(_guess(request, totals, loose=False), rows * float(at_bounds))))


def _seen(sizes: LogHistogram, totals: Sized) -> float:
    """The upper end of the last bin in which facts show units, in steps of the totals' grid."""
    return max(1.0, min(float(sizes.farthest / totals.grid.step), totals.edges[-1]))


def _units(request: Request) -> float:
    """About how many units there are at least: by facts, else by the guessed rows of the largest table."""
    tables = [scan.table for scan in private_scans(request.source.relation)]
    known = [float(table.advised.units) for table in tables if table.advised is not None and table.advised.units > 0]
    guessed = [table.rows_about / min(USUAL_ROWS, max(1, table.rows_per_unit)) for table in tables]
    return max(1.0, *(known or guessed))


def _whole(relation: Relation) -> bool:
    """Whether each unit's rows are those of a whole table, or none: no condition leaves some of them out, as far as the
    policy says, and each is joined with one row at most, of the same unit or of a public table.
    """
    match relation:
        case Scan():
            return True
        case Project():
            return (
                not relation.distinct
                and all(isinstance(e, Column) for _, e in relation.columns)
                and _whole(relation.input)
            )
        case Filter():
            return _is_true(relation.predicate) and _whole(relation.input)
        case Join(left=left, right=right):
            if is_public(right):
                return isinstance(right, Scan) and most_met(right, relation.equal) == 1 and _whole(left)
            return 1 in (rows_per_unit(left), rows_per_unit(right)) and _whole(left) and _whole(right)
    return False


def _is_true(predicate: Expression) -> bool:
    """Whether a condition leaves out NULLs alone, where the policy says there are none; ROLLUP does of its keys."""
    return all(own is not None and not own.facts.nullable for own in map(wanted, conjuncts(predicate)))
