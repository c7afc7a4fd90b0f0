"""Preprocessing in SQL: statistics moved to a wanted sensitivity, plus discrete Laplace noise; no bounds needed.

Neighbours: ``add_remove`` and ``replace_one``. Loss: `Pure`, one for the answer and one for a noised number of rows.

Theorem. Let each group's statistic g be one of `preprocessing`, which one row more or less moves by at most that
group's Delta, and let one unit bring or take at most N rows in all groups together. Then floor(g k / Delta) plus
discrete Laplace noise of scale k N / epsilon, drawn for each group, is epsilon-DP for any whole k, also where Delta
differs from group to group. It may rest on the group's number of rows, if that was noised with scale N / epsilon_n:
both together are (epsilon_n + epsilon)-DP.

Proof. A unit's r rows in a group move g by at most r Delta, one after the other, and floor(g k / Delta) by at most r k
(`preprocessing.output`). Over all groups these add up to at most k N, whatever each Delta is: the vector has L1
sensitivity k N. The numbers of rows move by at most N in L1 (`laplace`). Given the noised ones every Delta is a
constant, and the losses of two releases, the second of which looks at the first, add up.  QED

Under ``replace_one`` a unit goes and another comes: N is twice the rows of one. Nothing less will do: a median of -10^6
or 1000 in place of the other moves by 2 Delta.

Over units, over rows. Where a unit has one row (its table's, or that of a sub-query per unit) N is 1. Where it may have
m rows, each of them moves the answer by at most Delta, so the noise is m times as large; a sensitivity that the
statement names is the unit's, and each row gets 1 / m of it.

How Delta is set. ``OPTIONS (sensitivity = ...)`` names it, for the unit. Else a rule (`preprocessing.rules`) takes the
column's ``centre``, ``spread`` and bounds, and the number of rows of the group: the exact one where it is public (a
missing value then counts as the centre, lest the number of values tell how many are missing); a
floor that the owner vouches for (``rows_at_least``, for a whole table); or a noised one for a tenth of the price,
whichever of the last two promises less error. ``rows_about`` chooses between them, and never enters Delta: a guess that
is too high would move the answer far away, in silence. A noised number below 5 / epsilon counts as that many rows, so
that the noise never has a scale above 0.6 spreads: answers about fewer rows are hardly more than the centre.

Bounds alone set a Delta too (W is their width), but then other mechanisms do as well: without a spread it is offered
only by name, and for TRIMMED_MEAN, which no other answers. MIN, MAX and SUM take a sensitivity that is named with it.

The centre is public: the statement's, the column's, or the middle of the bounds. Empty groups are noise around it.

Intervals of a statement that names the mechanism are for g, the answer without noise, and hold at their level whatever
the data are. What g was moved away from the statistic f itself (bias) depends on the data and is in no interval: a note
says so. Unasked, an end stays where it holds for f, too, whatever the data are (`statistics.Statistic.holds`):

- a median with g > c has f >= g, one with g < c has f <= g: the end towards the centre holds, if it is beyond c.
- a variance has f >= g: the lower end holds.
- of all others f may lie on either side of g, as far as values can, and no end holds.

Source: Cummings, Durfee 2020, "Individual Sensitivity Preprocessing for Data Privacy"; the theorem is above.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from fractions import Fraction

from dpsql.errors import InvariantBroken
from dpsql.mechanisms.base import Mechanism, Offer, Refusal, Request
from dpsql.mechanisms.choice.groups import of_every_row
from dpsql.mechanisms.in_time import too_long
from dpsql.mechanisms.laplace import TOO_SMALL, laplace_scale, pure_loss, split
from dpsql.mechanisms.noise.laws import LaplaceLaw
from dpsql.mechanisms.noise.sensitivity import moved_rows, need_of, rows_fixed
from dpsql.mechanisms.preprocessing.personalised import personalised
from dpsql.mechanisms.preprocessing.release import (
    STEPS,
    ByRows,
    Fixed,
    PreprocessedQuery,
    PreprocessedRelease,
    PreprocessedSum,
)
from dpsql.mechanisms.preprocessing.rules import SumRule
from dpsql.mechanisms.preprocessing.statistics import Quantile, Statistic, TrimmedMean, statistic_of
from dpsql.plan.grids import saturating_grid
from dpsql.plan.needs import Measure, MeasureKind, Values
from dpsql.plan.types import Facts, Grid
from dpsql.privacy.kinds import Pure
from dpsql.privacy.loss import Composed

__all__ = ["Preprocessing"]

COUNT_SHARE = Fraction(1, 10)
"""The share of the price for a noised number of rows. A guess."""
LEAST_ROWS = 5
"""A noised number of rows below so many, divided by epsilon, counts as that many. A guess."""
MOST_GROUPS = 5_000
"""Groups of one statement; more are answered by name alone. It is a choice: each takes about a millisecond of exact
arithmetic."""
GROUP, ROW = 1e-3, 2e-7
"""Seconds that a group takes, and each of its rows. Measured: 10,000 groups of ten rows take 3 to 8, and ten million
rows one to two, where the centre serves."""
WALKED = ("avg", "trimmed_mean", "var_pop", "var_samp", "stddev_pop", "stddev_samp")
"""Functions that walk over rows far out, one by one."""
LEAST_SPREADS = 1000
"""What a spread, which half of the rows lie beyond, is divided by: n Delta is at least that. It is a choice."""
LEAST_WIDTHS = 10**9
"""What the width of the bounds is divided by in its place, where no spread is known. It is a choice."""
# Rows far out, over all listed groups: every walk reads them one by one, in the proxy's own process. Measured: 600,000
# take half a minute to a minute, so that as many as this take one to three seconds.
MOST_STEPS = 30_000
MOST_RANKED = 100_000
"""Rows of a quantile but the median, over all listed groups, by the policy's guess. Measured: as many take a fifth of a
second where the centre serves, and five where it is wrong."""
SPREADS_WIDE = 10  # In spreads: bounds are taken to be so wide where no spread is known. A guess.
ONLY_NAMED = ("min", "max", "sum")  # Functions whose sensitivity no rule sets.


@dataclass(frozen=True, slots=True)
class Preprocessing(Mechanism):
    """Quantiles, AVG, TRIMMED_MEAN, variances, and where a sensitivity is named also MIN, MAX and SUM."""

    name: str = "preprocessing"
    options: frozenset[str] = frozenset({"sensitivity", "centre"})

    def offer(self, request: Request) -> Offer | Refusal:
        """An offer for one statistic of one numeric argument, or why there is none."""
        aggregate, options = request.aggregate, request.options
        if request.selects:
            return Refusal(self.name, "it cannot decide which groups of an open domain appear; only a threshold can.")
        if request.personal is not None:
            return personalised(request, request.personal, self.name)
        by_name = options.mechanism == self.name
        if not by_name and request.cells > MOST_GROUPS:
            return Refusal(self.name, f"for more than {MOST_GROUPS} groups it takes long, and is offered only by name.")
        statistic = statistic_of(aggregate.function, aggregate.fraction)
        if statistic is None and aggregate.function != "sum":
            return Refusal(self.name, f"it answers {ANSWERS}, not {aggregate.text}.")
        if aggregate.function in ONLY_NAMED and not (by_name and options.sensitivity is not None):
            return Refusal(self.name, NAME_IT)
        if statistic is None:
            return self._sum(request)
        query = _query(request, statistic, self.is_named(request.options))
        if isinstance(query, str):
            return Refusal(self.name, query)
        if options.sensitivity is not None:
            amount = Fixed(options.sensitivity / request.source.contribution.total)
            silly = _silly(aggregate.function, query, amount.sensitivity)
            return Refusal(self.name, silly) if silly else self._in_time(request, self._by(request, query, amount))
        if query.spread is None and not (by_name or isinstance(statistic, TrimmedMean)):
            return Refusal(self.name, NO_SPREAD)
        return self._in_time(request, self._by_rule(request, query))

    def _in_time(self, request: Request, offer: PreprocessedRelease | Refusal) -> Offer | Refusal:
        """The offer, or a refusal of more steps than end in seconds, as far as public facts tell."""
        if isinstance(offer, Refusal):
            return offer
        if reason := too_long(request, GROUP + offer.query.rows_about * ROW):
            return Refusal(self.name, reason)
        if isinstance(offer.query.statistic, Quantile) and offer.query.rows_about * request.cells > MOST_RANKED:
            return Refusal(self.name, RANKED)
        if request.aggregate.function not in WALKED:
            return offer
        # A rule leaves about 8 / epsilon rows of a group so far out: those of many groups add up to what is bearable.
        groups = 1 if request.options.sensitivity is None else max(1, request.cells)
        delta = offer.amount.of(offer.query.rows_about)
        if _steps(offer.query, delta) * groups <= MOST_STEPS:
            return offer
        return Refusal(self.name, _too_long(offer.query, groups))

    def _by(self, request: Request, query: PreprocessedQuery, amount: Fixed) -> PreprocessedRelease | Refusal:
        """With a Delta that is known beforehand."""
        loss = pure_loss(request.price)
        if loss is None:
            return Refusal(self.name, TOO_SMALL)
        return PreprocessedRelease(self.name, loss, query, amount, _law(query, loss), None)

    def _by_rule(self, request: Request, query: PreprocessedQuery) -> PreprocessedRelease | Refusal:
        """With the Delta that the rule gives for the number of rows."""
        whole = pure_loss(request.price)
        if whole is None:
            return Refusal(self.name, TOO_SMALL)
        if query.rule.reach(1, Fraction(1)) is None:
            return Refusal(self.name, NO_SPREAD)
        each = whole.epsilon / query.moved
        if rows_fixed(request) and not _nullable(request):
            amount, of_all = (
                ByRows(query.rule, each, least=1),
                replace(query, need=of_every_row(query.need, request.facts)),
            )
            return PreprocessedRelease(self.name, whole, of_all, amount, _law(query, whole), None)
        offers: list[PreprocessedRelease | Refusal] = [self._noising_rows(request, query)]
        if request.rows_at_least is not None and not _nullable(request):
            floor, rule = request.rows_at_least, query.rule
            reach = rule.reach(floor, each)
            if reach is not None:
                offers.append(self._by(request, query, Fixed(rule.sensitivity(reach, floor), reach)))
        releases = [offer for offer in offers if not isinstance(offer, Refusal)]
        return min(releases, key=lambda release: release.half_width) if releases else offers[0]

    def _noising_rows(self, request: Request, query: PreprocessedQuery) -> PreprocessedRelease | Refusal:
        for_count, for_answer = map(pure_loss, split(request.price, COUNT_SHARE))
        if for_count is None or for_answer is None:
            return Refusal(self.name, TOO_SMALL)
        each = for_answer.epsilon / query.moved
        amount = ByRows(query.rule, each, least=math.ceil(LEAST_ROWS / each))
        return PreprocessedRelease(
            mechanism=self.name,
            loss=Composed((for_count, for_answer)),
            query=query,
            amount=amount,
            law=_law(query, for_answer),
            count_law=LaplaceLaw(laplace_scale(query.moved, for_count.epsilon)),
        )

    def _sum(self, request: Request) -> Offer | Refusal:
        """A sum of values clipped to plus or minus what one row may add: that is its preprocessed form."""
        argument, sensitivity, loss = request.aggregate.argument, request.options.sensitivity, pure_loss(request.price)
        if argument is None or sensitivity is None:
            raise InvariantBroken("a preprocessed sum needs its argument and a sensitivity")
        if loss is None:
            return Refusal(self.name, TOO_SMALL)
        whole, facts, total = _grid(request), request.facts, request.source.contribution.total
        inside = sensitivity // (total * whole.step)
        if inside < 1:
            return Refusal(self.name, f"a sensitivity of less than {total} grid steps leaves nothing of a sum.")
        grid = Grid(whole.step, max(whole.low, -inside), min(whole.high, inside))
        if grid.low > grid.high:
            return Refusal(self.name, "the bounds lie wholly beyond that sensitivity; name a larger one.")
        width = None if request.grid is None else (whole.high - whole.low) * whole.step
        moved = moved_rows(request).l1
        return PreprocessedSum(
            mechanism=self.name,
            loss=loss,
            need=need_of(request, Measure(MeasureKind.SUM, argument, grid)),
            law=LaplaceLaw(laplace_scale(inside * moved, loss.epsilon)),
            step=whole.step,
            sensitivity=float(inside * whole.step * total),
            bias=SumRule(facts.spread, width, facts.centre or Fraction(0)).bias(
                inside * whole.step, max(1, request.rows_read)
            ),
            rows_per_unit=total,
        )


def _query(request: Request, statistic: Statistic, named: bool) -> PreprocessedQuery | str:
    """What is publicly known, or in a sentence what is missing."""
    argument = request.aggregate.argument
    if argument is None:
        raise InvariantBroken("a statistic needs its argument")
    facts, grid, bounded = request.facts, _grid(request), request.grid is not None
    ends = (grid.low * grid.step, grid.high * grid.step) if bounded else None
    centre = Fraction(0) if statistic.power == 2 else _centre(request, facts, ends)
    if centre is None:
        return NO_CENTRE
    width = None if ends is None else ends[1] - ends[0]
    if width == 0:
        return f"{request.aggregate.text} can take one value only; there is nothing to ask."
    return PreprocessedQuery(
        need=Values(request.source, argument, grid),
        statistic=statistic,
        rule=statistic.rule(facts.spread, width),
        centre=centre,
        ends=ends,
        spread=facts.spread,
        rooted=request.aggregate.function.startswith("stddev"),
        on_grid=request.aggregate.function in ("min", "max"),
        named=named,
        rows_about=max(1, request.rows_read),
        moved=moved_rows(request).l1,
        rows_per_unit=request.source.contribution.total,
        since=request.aggregate.since,
    )


def _silly(function: str, query: PreprocessedQuery, sensitivity: Fraction) -> str | None:
    """Why a named sensitivity is refused: it moves most rows, so that walks over all of them take long and say nothing.

    A mean that each of n rows moves by at most Delta lies within n Delta of the centre: see `preprocessing.mean`.
    """
    if function not in WALKED:
        return None
    width = None if query.ends is None else query.ends[1] - query.ends[0]
    least = (
        query.spread / LEAST_SPREADS if query.spread is not None else None if width is None else width / LEAST_WIDTHS
    )
    if least is None or sensitivity * query.rows_about >= least**query.statistic.power:
        return None
    unit = query.rows_per_unit * least**query.statistic.power / query.rows_about
    return (
        f"a sensitivity that small leaves nothing of {query.rows_about} rows (rows_about) but the centre; name "
        f"{float(unit):.2g} or more."
    )


def _spread(query: PreprocessedQuery) -> float | None:
    """The declared spread, else a part of the bounds' width, else None."""
    if query.spread is not None:
        return float(query.spread)
    return None if query.ends is None else float(query.ends[1] - query.ends[0]) / SPREADS_WIDE


def _far(query: PreprocessedQuery) -> tuple[float, float]:
    """Beyond which part of W a row is walked over, as 1.5 over it, and the share of rows that are left out anyway."""
    share = query.statistic.share if isinstance(query.statistic, TrimmedMean) else Fraction(0)
    return (1.5, float(share)) if share else (3.0, 0.0)


def _steps(query: PreprocessedQuery, delta: Fraction) -> float:
    """About how many of a group's rows each walk reads: those further than W / 2 from the mean, W being n Delta.

    By the tail that the rules guess, n (1.5 s / (W / 2))^3; of a trimmed mean n ((1.5 s / W)^3 - share), which was
    measured; none where W reaches from bound to bound; all where nothing is known. A variance has W^2 = n Delta.
    """
    rows, wide = query.rows_about, float(delta * query.rows_about) ** (1 / query.statistic.power)
    if query.ends is not None and wide >= float(query.ends[1] - query.ends[0]):
        return 0.0
    spread, (far, share) = _spread(query), _far(query)
    return float(rows) if spread is None else rows * (min(1.0, far * spread / max(wide, 1e-300)) ** 3 - share)


def _too_long(query: PreprocessedQuery, groups: int) -> str:
    """The refusal: what would do instead."""
    spread, rows, (far, share) = _spread(query), query.rows_about, _far(query)
    of_groups = f" in each of {groups} groups" if groups > 1 else ""
    if spread is None:
        return (
            f"for {rows} rows (rows_about){of_groups} it may take minutes; declare a spread in the policy, which tells."
        )
    long = f"with so little sensitivity for {rows} rows (rows_about){of_groups} it takes minutes"
    wide = far * spread / (MOST_STEPS / (rows * groups) + share) ** (1 / 3)
    if query.ends is not None:
        wide = min(wide, float(query.ends[1] - query.ends[0]))
    least = query.rows_per_unit * wide**query.statistic.power / rows
    return f"{long}; name a sensitivity of {least * 1.005:.3g} or more, or ask with a larger epsilon."


def _centre(request: Request, facts: Facts, ends: tuple[Fraction, Fraction] | None) -> Fraction | None:
    """The statement's, else the column's, else the middle of the bounds; inside them."""
    middle = None if ends is None else (ends[0] + ends[1]) / 2
    centre = next((c for c in (request.options.centre, facts.centre, middle) if c is not None), None)
    return centre if centre is None or ends is None else min(max(centre, ends[0]), ends[1])


def _grid(request: Request) -> Grid:
    if request.grid is not None:
        return request.grid
    if request.aggregate.argument is None:
        raise InvariantBroken("a statistic needs its argument")
    return saturating_grid(request.facts)


def _nullable(request: Request) -> bool:
    return request.aggregate.argument is None or request.aggregate.argument.facts.nullable


def _law(query: PreprocessedQuery, loss: Pure) -> LaplaceLaw:
    return LaplaceLaw(laplace_scale(STEPS * query.moved, loss.epsilon))


ANSWERS = "quantiles, AVG, TRIMMED_MEAN, variances, MIN, MAX and SUM"
NAME_IT = (
    "no rule sets its sensitivity; write OPTIONS (mechanism = 'preprocessing', sensitivity = ...), how far one person "
    "may move it, or ask for a quantile or a mean."
)
RANKED = (
    f"for more than {MOST_RANKED} rows (rows_about) a quantile other than the median takes long where the centre is "
    "wrong; declare bounds, with which mechanism 'exponential' answers it."
)
NO_CENTRE = "there is no centre; declare centre and spread in the policy, or write OPTIONS (centre = ...)."
NO_SPREAD = (
    "there is no spread; declare centre and spread in the policy, or write OPTIONS (sensitivity = ...), how far one "
    "person may move the answer."
)
