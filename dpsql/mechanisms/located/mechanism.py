"""Means and variances that find each group's own place and clip there: mechanism ``located``.

Neighbours: ``add_remove`` and ``replace_one``: what is counted is the rows that a neighbour brings and takes. Loss:
`Pure`.

In each group, one after the other, each from what the earlier ones released:

1. The number of rows n, with noise.
2. If n is too small (`parts`): one clamp for all such groups together, chosen by the number of their rows that lie
   beyond it (`clamp`; none within tight bounds, unasked), and the number of rows once more. Within tight bounds where
   one was searched for all the same: also the number of rows of each group beyond it.
3. Otherwise a centre c: a point of the grid, by the exponential mechanism on its rank, the median's (`choice`),
4. and the numbers of rows by their distance from c, on either side and in doubling bins, each with noise.
5. From these a window (`place`), and the sum of x - middle over the rows clipped to it, for a variance also the sum of
   squares, each with noise for its half width.

The bounds of the policy are where the search starts; centre and spread serve to choose and to predict.

Theorem. The release is epsilon-DP.
Proof. Let a neighbour bring and take at most N rows in all, each in one group. All numbers of rows are released first,
then the clamp, then the rest group by group. Each part with a share p of epsilon is (p epsilon k / N)-DP for k rows
that come or go and bear on it, at any fixed outcome of the earlier parts: each row moves one number of rows by 1; it
moves the scores of the clamp as one unit does those of `clamped`, where N stands for the units of a neighbour, and only
if its group has a clamp, which the released numbers of rows say; it moves the number of rows beyond the clamp by 1 at
most; one bin moves by 1, as each row is in one bin of one side; a row clipped to a window is at most its half width h
from the middle, so that the sum moves by at most h and the sum of squares by at most h^2, with shares of their own; the
exponent of the choice of a centre is p epsilon / (2 N), and a row changes scores by at most 2 against each other
(`choice.quantile`). Which parts a group has, and with which shares, follows from what was released, and along every
path the shares that a row bears on add up to 1 at most. So each row adds epsilon / N at most to the loss of the whole
outcome, and N rows epsilon.  QED

Source: coarse, then fine estimates go back to Karwa, Vadhan 2018, "Finite sample differentially private confidence
intervals"; histograms with doubling bins for bounds to Wilson et al. 2020, "Differentially private SQL with bounded
user contribution"; composition with parts chosen on the way to Rogers, Roth, Ullman, Vadhan 2016, for pure losses by
multiplication as above. The window, the common clamp and the interval are ours.

Tests: tests/unit/mechanisms/located.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from dpsql.errors import InvariantBroken
from dpsql.mechanisms.base import Joint, Mechanism, Offer, Refusal, Request, alike, total_price
from dpsql.mechanisms.laplace import TOO_SMALL, pure_loss
from dpsql.mechanisms.located.clamp import clamps_of, is_tight
from dpsql.mechanisms.located.moments import LocatedMoments
from dpsql.mechanisms.located.parts import FEWEST, shares_for
from dpsql.mechanisms.located.place import Bins, most_hidden
from dpsql.mechanisms.located.release import LocatedMean, LocatedRelease, WholeMean
from dpsql.mechanisms.located.search import LocatedQuery
from dpsql.mechanisms.noise.moments import LARGEST
from dpsql.mechanisms.noise.sensitivity import moved_rows, why_not
from dpsql.plan.known.guesses import OPEN_GROUPS, rows_of_a_total
from dpsql.plan.needs import Values
from dpsql.plan.nodes import Case, Constant, Expression
from dpsql.plan.types import Facts, Grid
from dpsql.privacy.kinds import Pure

__all__ = ["LOCATED", "VARIANCES", "AtOwnPlace", "reach_of", "same_values", "with_and_without_means", "worth_of"]

NAME = "located"
VARIANCES = ("var_pop", "var_samp", "stddev_pop", "stddev_samp")
LOCATED = ("avg", *VARIANCES)
OFTEN = 8
"""The width of bounds over the reach of the rows, where no spread is declared. A guess: owners round up."""
SPREADS = 4  # Spreads that a window reaches. A guess: for lognormal values, of a spread of half their median.
NARROW = 16  # Grid steps: no window is expected to reach less far. It is a choice.
OFF = 100.0
"""By what factor the guess of the rows may be off, either way, when it is judged whether a group can be located. A
guess: trying costs a sixteenth of the price, not trying much more. Measured on means of 20 groups of 30 to 3,000 rows,
180 statements, with the guess right and ten times off: with 1 to 10 two are answered otherwise, and err four times as
much. What is foretold of groups too few to be located is off by 3 to 5 times, either way, where nothing tells how far
their values reach (`OFTEN`); by this factor it is a tenth too small."""
MOST_GROUPS = 5_000
"""Groups of one statement; more are answered by name alone. It is a choice: each takes about a millisecond."""
MOST_VALUES = 2_000_000
"""Different values in all groups, by public facts; more are answered by name alone. Measured: a million take one to
two seconds, in the worker and here."""
MOST_OPEN = 200_000
"""Rows by the policy's guess with open keys; more are answered by name alone. It is a choice: an answer of more than
two million values and groups fails there, and a guess may be ten times too low."""


@dataclass(frozen=True, slots=True)
class AtOwnPlace(Mechanism):
    """AVG, VAR and STDDEV of bounded numbers, clipped to where each group's rows are.

    Attributes:
        whole: Whether, unasked, groups with few rows are not clipped within tight bounds.
        everywhere: Whether, unasked, it offers means whose place would leave out the few, clipped nowhere.
    """

    name: str = NAME
    whole: bool = True
    everywhere: bool = False

    def offer(self, request: Request) -> Offer | Refusal:
        """An offer for a mean or a variance, or why there is none."""
        grid, loss = request.grid, pure_loss(request.price)
        if reason := self._why_not(request):
            return Refusal(self.name, reason)
        if grid is None or loss is None:
            return Refusal(self.name, TOO_SMALL)
        return self._offer((request,), grid, loss)

    def together(self, requests: Sequence[Request]) -> Sequence[Joint]:
        """Offers for several statistics of the same values, a variance or a deviation among them."""
        found = []
        every = alike(requests, lambda request: self._why_not(request) is None, same_values)
        for members in with_and_without_means(requests, every):
            own = [requests[index] for index in members]
            grid, loss = own[0].grid, pure_loss(total_price(own))
            varied = any(request.aggregate.function in VARIANCES for request in own)
            if varied and grid is not None and grid.reach < LARGEST and loss is not None:
                found.append(Joint.of_one(members, self._offer(own, grid, loss)))
        return found

    def _offer(self, requests: Sequence[Request], grid: Grid, loss: Pure) -> LocatedRelease:
        """For one mean, or for one variance or several statistics."""
        functions = tuple(request.aggregate.function for request in requests)
        if functions == ("avg",) and _may_miss(requests[0], grid):
            query = _query(requests[0], halved(grid), loss)
            return WholeMean(NAME, loss, replace(query, clamps=query.clamps.whole))
        first = next((request for request in requests if request.aggregate.function in VARIANCES), requests[0])
        query = _query(first, grid, loss)
        if self.whole and first.options.mechanism is None and is_tight(grid, first.facts):
            query = replace(query, clamps=query.clamps.whole)
        if functions == ("avg",):
            return LocatedMean(NAME, loss, query, notes=(_note(query),))
        return LocatedMoments(NAME, loss, query, functions, notes=(_note(query),))

    def _why_not(self, request: Request) -> str | None:
        """Why there is no offer, but for a price that buys nothing."""
        aggregate, grid = request.aggregate, request.grid
        if request.selects or aggregate.function not in LOCATED:
            return f"it answers means and variances, not {aggregate.text}."
        if reason := why_not(request):
            return reason
        if grid is None or aggregate.argument is None or grid.low == grid.high:
            return f"{aggregate.text} can take one value only; there is nothing to find."
        if request.options.mechanism != self.name and _long(request, grid):
            return "for so many groups or values it takes long, and is offered only by name."
        if (reason := _may_miss(request, grid)) and not (self.everywhere and aggregate.function == "avg"):
            return reason
        if aggregate.function != "avg" and max(grid.reach, grid.high - grid.low) >= LARGEST:
            return "its grid is too fine for exact sums of squares; declare a coarser grid."
        return None


def _may_miss(request: Request, grid: Grid) -> str | None:
    """Why a place may miss some rows, or leaves out nothing, in one sentence; None where it is worth finding, or named.

    `capped` by name is answered at a place, too.
    """
    if request.options.mechanism is not None:
        return None
    if request.aggregate.argument is not None and _is_named(request.aggregate.argument):
        return "its values are those that the statement names: it may miss the few."
    if reach_of(grid, _facts(request)) >= grid.high - grid.low:
        return "its values reach over all of their bounds, as far as is known; there is nothing to find."
    return None


def halved(grid: Grid) -> Grid:
    """The same numbers on a grid that has the middle of its ends; a sum about it moves by half of their width."""
    return grid if (grid.high - grid.low) % 2 == 0 else Grid(grid.step / 2, 2 * grid.low, 2 * grid.high)


def _is_named(argument: Expression) -> bool:
    """Whether it is a CASE of constants, as of a share or a score, FILTER's own CASE apart."""
    if not isinstance(argument, Case):
        return False
    results = [result for _, result in argument.branches if not _is_named(result)]
    return all(isinstance(result, Constant) for result in (*results, argument.default))


def with_and_without_means(requests: Sequence[Request], groups: Sequence[tuple[int, ...]]) -> Iterator[tuple[int, ...]]:
    """Groups of requests, and of each the variances and deviations alone: a mean may be better off by itself."""
    for members in groups:
        yield members
        varied = tuple(index for index in members if requests[index].aggregate.function in VARIANCES)
        if 1 < len(varied) < len(members):
            yield varied


def same_values(one: Request, other: Request) -> bool:
    """Whether two aggregates are of the same values of the same rows."""
    first, second = one.aggregate.argument, other.aggregate.argument
    return (one.source, first, one.grid, one.narrowed) == (other.source, second, other.grid, other.narrowed)


def _query(request: Request, grid: Grid, loss: Pure) -> LocatedQuery:
    argument, facts, moved = request.aggregate.argument, _facts(request), moved_rows(request).l1
    if argument is None:
        raise InvariantBroken("a statistic needs its argument")
    rows, each = max(1, request.rows_about), float(loss.epsilon / moved)
    return LocatedQuery(
        need=Values(request.source, argument, grid),
        grid=grid,
        moved=moved,
        epsilon=loss.epsilon,
        rows_about=rows,
        reach=reach_of(grid, facts),
        worth=worth_of(rows * each),
        clamps=clamps_of(grid, facts),
    )


def _facts(request: Request) -> Facts:
    """What is known of the argument, to choose by: numbers of rows of one unit vary as much as there are of them.

    Their bounds are those of a unit with as many rows as it may have, and nobody rounded them up.
    """
    facts, argument = request.facts, request.aggregate.argument
    total = None if argument is None else rows_of_a_total(request.source.relation, argument)
    if facts.spread is not None or total is None or total[2] is not None:
        return facts
    return replace(facts, spread=Fraction(total[0]))


def reach_of(grid: Grid, facts: Facts) -> float:
    """How far a window is guessed to reach, in grid steps."""
    wide = grid.high - grid.low
    guess = wide / OFTEN if facts.spread is None else SPREADS * float(facts.spread / grid.step)
    return min(max(guess, NARROW), float(wide))


def worth_of(size: float) -> float:
    """The chance that a group is located, by a guess of its rows times epsilon for one of them."""
    certain = math.log(OFF * size / FEWEST) / (2 * math.log(OFF)) if size > 0 else 0.0
    return min(max(certain, 0.0), 1.0)


def _note(query: LocatedQuery) -> str:
    """What the interval rests on, for people to read."""
    few = math.ceil(FEWEST / query.each)
    shares = shares_for(max(query.rows_about, few), query.each) or shares_for(10 * few, query.each)
    tails = Fraction(1, 4) if shares is None else shares.tails
    hidden = most_hidden(len(Bins(query.grid).edges), query.law(tails).spread)
    unseen = (
        f"with 99% confidence {hidden:,} of a group or fewer" if hidden < query.rows_about else "in a small group many"
    )
    hides = f"and may not hold where rows that noise hides ({unseen}) lie very much farther out than the others"
    if query.clamps.tight:
        hides = f"and takes rows that noise hides ({unseen}) to lie at the bounds, 19 times of 20"
    others = "others at one clamp that a part of the price finds" if len(query.clamps.edges) > 1 else "others nowhere"
    return (
        f"A group of more than about {few:,} rows is clipped where its rows thin out, {others}. Its interval allows "
        f"for what noised numbers of rows show farther out, {hides}."
    )


def _long(request: Request, grid: Grid) -> bool:
    """Whether there may be more groups, or more different values in them, than are soon read and worked on."""
    listed = request.cells
    if any(key.domain is None for key in request.source.keys):
        return listed * request.rows_read * OPEN_GROUPS > MOST_OPEN
    values = min(grid.high - grid.low, request.rows_read) * listed
    return listed > MOST_GROUPS or values > MOST_VALUES
