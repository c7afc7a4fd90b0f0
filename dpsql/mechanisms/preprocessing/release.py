"""What `preprocessed` releases: preprocessed statistics of value counts, and clipped sums, with what to know of them.

Neighbours and loss: stated by `preprocessed`, with the theorem; everything here follows from its offer.

Tests: tests/unit/mechanisms/preprocessing/test_mechanism.py.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import date
from fractions import Fraction

from dpsql.mechanisms.base import Interval, Offer, derive
from dpsql.mechanisms.choice.groups import Whole, grouped
from dpsql.mechanisms.noise.laws import LaplaceLaw
from dpsql.mechanisms.noise.noised import NoisedRelease
from dpsql.mechanisms.preprocessing import Counts, output_steps
from dpsql.mechanisms.preprocessing.rules import Rule, half_width
from dpsql.mechanisms.preprocessing.statistics import Statistic
from dpsql.plan.measured.dated import as_shown, wide_as_shown
from dpsql.plan.needs import Values
from dpsql.plan.types import Grid
from dpsql.privacy.sampling import Sampler, noised
from dpsql.privacy.tables import RawTable, ReleasedTable

__all__ = ["STEPS", "ByRows", "Fixed", "PreprocessedQuery", "PreprocessedRelease", "PreprocessedSum"]

UNASKED = (
    "how far the answer was moved depends on the data. Its noise alone has one with OPTIONS (mechanism = "
    "'preprocessing')."
)
STEPS = 10**6
"""The k of the theorem: released numbers are whole millionths of Delta. It is a choice: far finer than the noise."""


@dataclass(frozen=True, slots=True)
class Fixed:
    """The same Delta everywhere, public.

    Attributes:
        sensitivity: Of one row.
        reach: W of the rule that gave it, or None where the statement names it.
    """

    sensitivity: Fraction
    reach: Fraction | None = None

    def of(self, rows: int) -> Fraction:
        return self.sensitivity


@dataclass(frozen=True, slots=True)
class ByRows:
    """What a rule gives for a group's number of rows, public or noised.

    Attributes:
        rule: The rule, which has a reach.
        epsilon: Of the answer, for one row more or less.
        least: Fewer rows count as so many.
    """

    rule: Rule
    epsilon: Fraction
    least: int

    def of(self, rows: int) -> Fraction:
        rows = max(rows, self.least)
        return self.rule.sensitivity(self.reach(rows), rows)

    def reach(self, rows: int) -> Fraction:
        """W for so many rows."""
        reach = self.rule.reach(rows, self.epsilon)
        if reach is None:
            raise ValueError("a rule without a reach sets no sensitivity")
        return reach


@dataclass(frozen=True, slots=True)
class PreprocessedQuery:
    """What a preprocessed statistic needs to know, all of it public.

    Attributes:
        need: The value counts.
        statistic: What is computed.
        rule: For its expected bias, and its Delta where none is named.
        centre: Its value for an empty group, in the column's unit.
        ends: Lower and upper bound of the values, or None.
        spread: The declared typical distance, or None.
        rooted: Whether the answer is the root of the noised statistic.
        on_grid: Whether the answer is rounded to the grid of the values.
        named: Whether the statement asks for it, and so for intervals of the noise alone.
        rows_about: Guess of the rows per group.
        moved: N: rows that a neighbour brings and takes, over all groups.
        rows_per_unit: Rows of one unit, over all groups.
        since: Where the values are days, the date from which they are counted; else None.
    """

    need: Values
    statistic: Statistic
    rule: Rule
    centre: Fraction
    ends: tuple[Fraction, Fraction] | None
    spread: Fraction | None
    rooted: bool
    on_grid: bool
    named: bool
    rows_about: int
    moved: int
    rows_per_unit: int
    since: date | None = field(default=None, compare=False)  # for the notes alone

    @property
    def range(self) -> tuple[float, float]:
        """Between which numbers the statistic lies, whatever the data are; the preprocessed one does so too."""
        low, high = (-math.inf, math.inf) if self.ends is None else map(float, self.ends)
        return (low, high) if self.statistic.power == 1 else (0.0, (high - low) ** 2 / 2)


@dataclass(frozen=True, slots=True)
class PreprocessedRelease(Offer):
    """An offer to release a preprocessed statistic.

    Attributes:
        loss: Of the answer and of the noised number of rows, all groups together.
        need: The values, counted.
        query: What is asked and publicly known.
        amount: How each group's Delta is set.
        law: Noise of the answer, in steps of Delta / 10^6.
        count_law: Noise of the number of rows; None where that is public or not needed.
        sensitivity: How far one unit moves the statistic, in its unit; None where that rests on a noised number of
            rows.
        scale: In the statistic's unit; None where it rests on a noised number of rows, and of a root.
        half_width: Of what holds 95% of noise and bias, for ``rows_about`` rows, in the answer's unit.
    """

    need: Values = field(init=False)
    query: PreprocessedQuery
    amount: Fixed | ByRows
    law: LaplaceLaw
    count_law: LaplaceLaw | None

    def __post_init__(self) -> None:
        query, known = self.query, self.count_law is None
        delta = self.amount.of(query.rows_about)
        scale = self.law.spread * float(delta) / STEPS
        derive(
            self,
            need=query.need,
            sensitivity=float(delta * query.rows_per_unit) if known else None,
            scale=scale if known and not query.rooted else None,
            half_width=self._width(half_width(scale, query.rule.bias(delta, query.rows_about))),
            notes=self._notes(delta),
        )

    def _width(self, about: float) -> float:
        """In the answer's unit, of a half width in the statistic's."""
        query = self.query
        if not query.rooted:
            return about
        # A variance of about the squared spread, else that of values anywhere within the bounds.
        width = 0.0 if query.ends is None else float(query.ends[1] - query.ends[0])
        variance = width**2 / 12 if query.spread is None else float(query.spread) ** 2
        return (math.sqrt(variance + about) - math.sqrt(max(variance - about, 0.0))) / 2

    def _notes(self, delta: Fraction) -> tuple[str, ...]:
        """Over what, how far one row moves it (delta), when it is exact, and what no interval covers."""
        query = self.query
        total, moved = float(delta * query.rows_about), wide_as_shown(float(delta), query.since)
        reach = wide_as_shown(total if query.statistic.power == 1 else math.sqrt(total), query.since)
        amount = f"Delta = {moved}"
        if isinstance(self.amount, ByRows):
            rows = "rows" if self.count_law is None else "rows, their number noised for a tenth of the price"
            squared = "^2" if query.statistic.power == 2 else ""
            amount = f"Delta = W{squared} / {rows}: about {moved}, W = {reach}"
        covered = "Intervals cover the noise alone." if query.named else f"{query.statistic.unknown}: {UNASKED}"
        return (
            f"{_over(query.rows_per_unit)}; one row moves it by at most {amount}.",
            f"Exact if {query.statistic.exact_if(reach, as_shown(float(query.centre), query.since))}. {covered}",
        )

    @property
    def bracketed(self) -> bool:
        """Where it is asked for; else at most one end of an interval is known."""
        return self.query.named

    def release(self, raw: RawTable, sampler: Sampler) -> ReleasedTable:
        """``value``, with ``noised`` (millionths of Delta) and ``rows``, noised or public, or 0 where not needed."""
        groups = list(grouped(raw))
        rows = [0] * len(groups)
        if isinstance(self.amount, ByRows):
            rows = [int(occur.sum()) for _, occur in groups]
            if self.count_law is not None:
                rows = [int(n) for n in noised(rows, self.count_law.draw(sampler, len(groups)))]
        exact = [self.steps(*group, n) for group, n in zip(groups, rows, strict=True)]
        steps = [int(k) for k in noised(exact, self.law.draw(sampler, len(groups)))]
        values = [self._answer(k, n) for k, n in zip(steps, rows, strict=True)]
        return ReleasedTable({"value": values, "noised": steps, "rows": rows})

    def steps(self, values: Whole, occur: Whole, rows: int) -> int:
        """The number that gets the noise: g in whole millionths of the Delta of so many rows, rounded down.

        Args:
            values: (k,) int64, distinct and rising, in grid steps.
            occur: (k,) how many rows hold each.
            rows: As released before, or public.
        """
        grid, delta = self._grid, self.amount.of(rows)
        return output_steps(
            self.query.statistic.moved(Counts(values, occur, grid.step), self.query.centre, delta),
            delta / STEPS,
        )

    @property
    def _grid(self) -> Grid:
        grid = self.query.need.grid
        if grid is None:
            raise ValueError("a preprocessed statistic is of values on a grid")
        return grid

    def _moved(self, steps: int, rows: int) -> Fraction:
        """In the statistic's unit."""
        return steps * self.amount.of(rows) / STEPS

    def _answer(self, steps: int, rows: int, whole: Callable[[Fraction], int] = round) -> float | int:
        """In the answer's unit, inside the range of the statistic; least and largest values in whole grid steps."""
        noised = self._moved(steps, rows)
        if self.query.on_grid:
            noised = whole(noised / self._grid.step) * self._grid.step
        low, high = self.query.range
        value = min(max(float(noised), low), high)
        if self.query.on_grid and self._grid.step.denominator == 1:
            return round(value)
        return math.sqrt(value) if self.query.rooted else value

    def intervals(self, released: ReleasedTable, confidence: float) -> Sequence[Interval]:
        """For each preprocessed statistic: the answer +- the exact quantile of the noise, inside the range.

        The noise was added to whole steps, rounded down: the statistic is up to one step above them. Unless that was
        asked for, an end stays only where it holds for the statistic as it was before it was moved.
        """
        reach = self.law.quantile(confidence)
        found = list[Interval]()
        for steps, rows in zip(released.columns["noised"], released.columns["rows"], strict=True):
            low, high = (
                self._answer(steps - reach, rows, math.floor),
                self._answer(steps + reach + 1, rows, math.ceil),
            )
            ends = self._moved(steps - reach, rows), self._moved(steps + reach + 1, rows)
            below, above = (True, True) if self.query.named else self.query.statistic.holds(*ends, self.query.centre)
            found.append((low if below else None, high if above else None))
        return found


@dataclass(frozen=True, slots=True)
class PreprocessedSum(NoisedRelease):
    """An offer to release a sum of clipped values.

    Attributes:
        sensitivity: Of one unit, in the column's unit.
        bias: Expected, in the column's unit.
        rows_per_unit: Rows of one unit.
        half_width: Of what holds 95% of noise and bias.
    """

    sensitivity: float = field(kw_only=True)
    bias: float
    rows_per_unit: int

    def __post_init__(self) -> None:
        scale, each = self.law.spread * float(self.step), self.sensitivity / self.rows_per_unit
        notes = (
            f"{_over(self.rows_per_unit)}; each value is clipped to within {each:.10g} of 0. Intervals cover the "
            "noise, not what clipping takes away.",
        )
        derive(self, scale=scale, half_width=half_width(scale, self.bias), notes=notes)


def _over(rows_per_unit: int) -> str:
    if rows_per_unit == 1:
        return "Over units, one row each"
    return f"Over rows, at most {rows_per_unit} of one unit"
