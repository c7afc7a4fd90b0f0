"""What can be foretold of an answer before it is paid for: that it will be all hidden, all zeros, or say nothing.

Or that a column of it is one number, or NULL, whatever is released: COUNT(*) * 0.

It rests on the policy, the statement and the release's public facts alone; what it says of rows is as good as the
policy's guess (``rows_about``). Such a statement is answered, and says so in its quote and beside its answer; beside
the answer only where the released numbers do not show that the guess was wrong.
"""

from __future__ import annotations

import math
from datetime import date
from fractions import Fraction
from typing import Any

import numpy as np

from dpsql.mechanisms.base import Interval as Ends
from dpsql.mechanisms.base import Offer, Request
from dpsql.mechanisms.noise.sensitivity import most_values
from dpsql.mechanisms.stability import StabilityRelease
from dpsql.plan.aggregates import FUNCTIONS, Kind
from dpsql.plan.functions import Nulls
from dpsql.plan.intervals import Interval
from dpsql.plan.known.guesses import rows_guessed, rows_left, rows_said_by, units_guessed, units_said_by
from dpsql.plan.known.narrowing import counts_nothing, is_never
from dpsql.plan.measured.dated import as_shown, wide_as_shown
from dpsql.plan.needs import Cells
from dpsql.plan.nodes import Apply, Case, Column, Constant, Expression
from dpsql.plan.over_answers.roles import answer_columns
from dpsql.plan.plans import Plan
from dpsql.plan.values.expressions import as_constant, columns_of, range_of, substituted
from dpsql.plan.values.ranges import DATED, is_certain
from dpsql.privacy.tables import ReleasedTable

__all__ = ["foretold", "foretold_answer", "looked_at", "nothing_from", "of_use", "rows_said"]

QUOTIENTS = ("/", "//", "%", "mod")  # What is NULL where its second argument is 0.
BY_WIDTH = ("sum", "avg", "var_pop", "var_samp", "stddev_pop", "stddev_samp")  # What wide bounds make less precise.
UNNAMED = 1_000
"""How many times wider than the bounds of its columns an expression's range is where it is that of its functions alone,
as of the length of a text; and how many times so many, where no column has bounds. A guess."""
LOOKED_AT = 100
"""Groups of which intervals are worked out to see whether an answer says something, or up to twice as many. It is a
choice: that of a variance takes half a millisecond."""
FEW = 0.01
"""As a share of the rows that conditions are guessed to leave: noise that hides fewer is small. A guess."""
REPEATED = 10
"""In so many rows each different value is thought to be, where nothing tells how many there are. A guess."""
SEVERAL = 10
"""Different values that a count of them may miss by, which few would call useless. A guess."""
CAP = 4
"""Rows of a unit with which a count of different values is told to do. It is a choice: many units show most values."""
MOSTLY = 0.9
"""As a share of the half width of its own bounds: an interval that wide says next to nothing. A guess."""
NOTHING = "Expected to say next to nothing"
INSIDE = 0.01
"""As a share of the width of its bounds: an end of a quantile's interval that far inside says where some rows lie,
however far off the other one is. Where values are skewed most of them lie near one bound. A guess."""


def foretold(request: Request, release: Offer, released: ReleasedTable | None = None) -> tuple[str, ...]:
    """What to expect, one sentence each; nothing where the answer should be of use.

    Args:
        request: What is asked.
        release: What answers it.
        released: What it released; None before that. A guess that these numbers show to be wrong is left out.
    """
    if isinstance(release.need, Cells) or request.top is not None:
        return ()  # what no row of the domain can add to is exactly 0, and its notes say so
    if counts_nothing(request.aggregate.argument, request.source.relation):
        return (
            "By the public bounds and values of its columns no row can meet its conditions: it will show nothing but "
            "noise, or no group at all.",
        )
    if request.aggregate.argument is not None and _is_always_null(request.aggregate.argument):
        return ("What it aggregates is always NULL: it will show nothing but noise, or no group at all.",)
    if (only := _only_result(request)) is not None:
        value = (
            f"By the public bounds of its values it is {as_shown(only, request.aggregate.since)} whatever the data say"
        )
        return (f"{value}: it shows only noise.",)
    relation = request.source.relation
    rows, said = rows_guessed(relation), rows_said_by(relation)
    least, units = release.appears_from(released), units_guessed(relation)
    if least is not None and least > units and (released is None or not any(released.values)):
        rule = f"A group appears from about {least:,} units on"
        return (f"{rule}: more than the {units:,} {units_said_by(relation)}, so none is expected to appear.",)
    if least is not None:
        rule = f"A group appears from about {least:,} units on"
        return (_above(rule, least, rows, "appear", said, released),)
    if isinstance(release, StabilityRelease):
        rule = f"A group is shown above {release.threshold}"
        return (_above(rule, release.threshold, rows, "be shown", said, released),)
    if any(key.domain is None for key in request.source.keys):
        return ()  # groups that appear hold more than the guess
    found, unnamed = _wide(request, release, answered=released is not None), _unnamed(request)
    found = found or unnamed or _few_left(request, release, answered=released is not None)
    if released is not None and found and _of_use(request, release, released, total=bool(unnamed)):
        return ()
    return found


def _only_result(request: Request) -> float | None:
    """The one number that the aggregate is of any rows, as where all values are 0; None where there are more."""
    if request.aggregate.argument is None or request.aggregate.second is not None:
        return None
    low, high = request.facts.low, request.facts.high
    if not isinstance(low, Fraction) or low != high:
        return None
    match FUNCTIONS[request.aggregate.function].kind:
        case Kind.SUM if low == 0:
            return 0.0
        case Kind.PLACE:
            return float(low)
        case Kind.VARIANCE | Kind.DEVIATION:
            return 0.0
    return None


def foretold_answer(plan: Plan) -> tuple[str, ...]:
    """Which columns of the answer say nothing of the data."""
    named = zip(plan.answer, answer_columns(plan), strict=True)
    alone = [(output.label, _only_value(plan, own)) for output, own in named if output.end is None]
    return tuple(f"{name} is {value} whatever the data say." for name, value in alone if value)


def _only_value(plan: Plan, expression: Expression) -> str:
    """The one value of what is computed from released aggregates, as text; empty where it may have several."""
    read = {own.name: own for own in plan.aggregates}
    names = [column.name for column in columns_of(expression) if column.name in read]
    if isinstance(expression, Column) or not names:
        return ""
    if _is_always_null(expression):
        return "NULL"
    if not expression.facts.type.numeric:
        return ""
    found: Interval = range_of(expression, hard=True)
    if found.low is None or found.low != found.high:
        return ""
    always = (name for name in names if FUNCTIONS[read[name].function].kind in (Kind.COUNT, Kind.SUM))  # never NULL
    certain = is_certain(substituted(expression, dict.fromkeys(always, as_constant(1))))
    return f"{float(found.low):.10g}" + " or NULL" * (not certain)


def _is_always_null(expression: Expression) -> bool:
    """Whether it is NULL whatever its columns are: it is written so, or divides by 0."""
    match expression:
        case Constant(value=value):
            return value is None
        case Apply(function=function, arguments=arguments):
            nulls = [_is_always_null(argument) for argument in arguments]
            if function.nulls is Nulls.ALL:
                return all(nulls)
            if function.name in QUOTIENTS and range_of(arguments[1], hard=True) == Interval.point(0):
                return True
            return any(nulls) and function.nulls in (Nulls.STRICT, Nulls.ONLY, Nulls.MAY)
        case Case(branches=branches, default=default):
            reached = (default, *(then for when, then in branches if not is_never(when)))
            return all(map(_is_always_null, reached))
    return False


def _above(rule: str, threshold: float, rows: int, verb: str, said: str, released: ReleasedTable | None) -> str:
    most = int(rows // max(1, threshold))
    if released is not None and sum(map(bool, released.values)) > most:
        return f"{rule}."
    if most == 0:
        return f"{rule}: more than the {rows} rows {said}, so none is expected to {verb}."
    return f"{rule}: of the {rows} rows {said} at most {most} groups could {verb}."


def _wide(request: Request, release: Offer, *, answered: bool) -> tuple[str, ...]:
    half_width = release.half_width
    if FUNCTIONS[request.aggregate.function].kind is Kind.COUNT:
        return _wide_count(request, release, answered=answered)
    if request.aggregate.function == "regr_slope":
        return _wide_slope(request, half_width)
    ends = _ends(request)
    nothing = nothing_from(request)
    if ends is None or half_width < nothing:
        return ()
    summed, said = FUNCTIONS[request.aggregate.function].kind is Kind.SUM, rows_said(request)
    by_rows = summed or (request.aggregate.rank is not None and not answered)
    of_rows = f" with {request.rows_about} rows in a group, by the number {said}" if by_rows else ""
    since = request.aggregate.since
    low, high = (as_shown(end, since) for end in ends)
    ranked = request.aggregate.rank is not None and release.bracketed
    nearer = " The value itself is often nearer than its interval can show." * ranked
    near = math.inf if answered or not by_rows else release.near_end
    says = _one_end(release, since) if near < nothing else f"{NOTHING}: ±{wide_as_shown(half_width, since)}"
    return (f"{says}, where any answer lies between {low} and {high}{of_rows}.{nearer}",)


def _one_end(release: Offer, since: date | None = None) -> str:
    """What is expected of an answer whose interval is long on one side alone: the other end of a total tells it from 0,
    that of a quantile where some of the rows are."""
    near = release.near_end
    far = wide_as_shown(2 * release.half_width - near, since)
    return (
        f"Expected to tell one end alone: its interval reaches about {as_shown(near)} to one side of the value and "
        f"{far} to the other"
    )


def nothing_from(request: Request) -> float:
    """The half width from which on an interval reaches over about all that the answer may be; inf: not known."""
    ends = _ends(request)
    return math.inf if ends is None else MOSTLY * (ends[1] - ends[0]) / 2


def _wide_slope(request: Request, half_width: float) -> tuple[str, ...]:
    """The same of a slope, which is seldom steeper than a line from corner to corner of what the bounds allow."""
    y, x = request.grid, request.second_grid
    if y is None or x is None or x.low >= x.high:
        return ()
    steepest = float((y.high - y.low) * y.step / ((x.high - x.low) * x.step))
    if half_width < MOSTLY * steepest:
        return ()
    return (
        f"{NOTHING}: ±{as_shown(half_width)}, where a line from bound to bound has a slope of {as_shown(steepest)}.",
    )


def _few_left(request: Request, release: Offer, *, answered: bool) -> tuple[str, ...]:
    """Of different values, or before the answer of a sum over rows that conditions leave: how few are lost in noise."""
    half_width = release.half_width
    if request.aggregate.function == "count_distinct":
        few = most_values(request) is None and SEVERAL < half_width < math.inf
        said = f"Of fewer than about {half_width:,.0f} different values it says next to nothing"
        return (f"{said}, and no public fact tells how many there are.{_of_few_rows(request, release)}",) * few
    if answered:
        return ()
    conditions = rows_left(request.source.relation, request.aggregate.argument) < rows_guessed(request.source.relation)
    if FUNCTIONS[request.aggregate.function].kind is not Kind.SUM or not conditions or not request.facts.centre:
        return ()
    rows = half_width / abs(float(request.facts.centre))
    if not FEW * request.rows_about < rows < math.inf:
        return ()
    return (
        f"Of fewer than about {rows:,.0f} rows it would say next to nothing: {request.rows_about:,} are a guess of "
        "what conditions leave.",
    )


def _of_few_rows(request: Request, release: Offer) -> str:
    """What to write for different values where each unit may have many of them."""
    if release.sensitivity is None or release.sensitivity <= CAP:
        return ""
    nearer, argument = release.half_width * CAP / release.sensitivity, request.aggregate.argument
    listed = (
        f" GROUP BY {argument.shown}, with delta, lists those of many units." if isinstance(argument, Column) else ""
    )
    return (
        f" SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS (max_rows_contributed = {CAP}) .. counts those in {CAP} rows of "
        f"each unit, within about ±{as_shown(nearer)}.{listed}"
    )


def _wide_count(request: Request, release: Offer, *, answered: bool) -> tuple[str, ...]:
    """The same of a count: of rows, of units or of different values, of which it cannot find more than there are."""
    half_width = release.half_width
    relation, values = request.source.relation, most_values(request)
    most, what, said = request.rows_about, "rows", rows_said(request)
    if request.aggregate.function == "count_units" and (units := units_guessed(relation)) < most:
        most, what, said = units, "units", units_said_by(relation)
    if half_width >= most:
        of_use = not answered and release.near_end < most
        says = _one_end(release) if of_use else f"{NOTHING}: ±{as_shown(half_width)}"
        return (f"{says}, where a group has about {most} {what} by the number {said}.",)
    if request.aggregate.function == "count_distinct" and values is None and REPEATED * half_width >= most:
        return (
            f"{NOTHING}: ±{as_shown(half_width)}, where about {most} rows by the number {said} have about "
            f"{most // REPEATED} different values, if each is in {REPEATED} of them.{_of_few_rows(request, release)}",
        )
    if values is not None and half_width >= MOSTLY * values / 2:
        return (f"{NOTHING}: ±{as_shown(half_width)}, where any answer lies between 0 and {values}.",)
    return ()


def rows_said(request: Request) -> str:
    """Who says how many rows a group has, as notes put it."""
    left = " and by a guess of what conditions leave" if request.rows_about < request.rows_read else ""
    return rows_said_by(request.source.relation) + left


def _unnamed(request: Request) -> tuple[str, ...]:
    """What to name where nothing tells how large an expression's values are, but what its functions can give."""
    argument = request.aggregate.argument
    if argument is None or isinstance(argument, Column) or request.aggregate.bounds is not None:
        return ()
    low, high, function = request.facts.low, request.facts.high, FUNCTIONS[request.aggregate.function]
    if not isinstance(low, Fraction) or not isinstance(high, Fraction):
        return ()
    anywhere = (
        f"its values lie anywhere between {as_shown(float(low))} and {as_shown(float(high))}, as far as is known."
    )
    name_it = "contribution_bounds_per_row => (low, high), behind the argument."
    columns = columns_of(argument)
    if sum(own.facts.type in DATED for own in columns) > 1 and (function.located or function.name == "sum"):
        ordered = "WHERE end >= start leaves out what runs backwards. " * (low < 0 < high)
        return (
            f"By the bounds of its dates {anywhere} {ordered}Where most times are short, name how long they are, WHERE "
            f"end <= start + INTERVAL 60 DAY or {name_it}",
        )
    if function.name not in BY_WIDTH:
        return ()
    ranges = [(own.facts.low, own.facts.high) for own in columns]
    known = [b - a for a, b in ranges if isinstance(a, Fraction) and isinstance(b, Fraction)]
    if high - low < UNNAMED * max(known, default=Fraction(UNNAMED)):
        return ()
    return (f"Expected to say little: {anywhere} Name where they do: {name_it}",)


def _ends(request: Request) -> tuple[float, float] | None:
    """Between what numbers any answer lies, of a sum with as many rows as the policy guesses; None: not known."""
    if (values := most_values(request)) is not None:
        return 0.0, float(values)
    grid = request.grid
    if grid is None or grid.low >= grid.high:
        return None
    low, high = float(grid.low * grid.step), float(grid.high * grid.step)
    match FUNCTIONS[request.aggregate.function].kind:
        case Kind.SUM:
            most = request.rows_about * max(abs(low), abs(high))
            return min(0.0, math.copysign(most, low)), max(0.0, math.copysign(most, high))
        case Kind.VARIANCE:
            return 0.0, (high - low) ** 2 / 4
        case Kind.DEVIATION:
            return 0.0, (high - low) / 2
        case Kind.CORRELATION:
            return -1.0, 1.0
        case Kind.PLACE:
            return low, high
    return None


def _of_use(request: Request, release: Offer, released: ReleasedTable, *, total: bool) -> bool:
    """Whether at least half of the released values do say something; nobody's bounds tell nothing (``total``)."""
    found = of_use(request, release, released, total=total)
    return bool(found) and 2 * sum(found) >= len(found)


def looked_at(release: Offer, released: ReleasedTable) -> list[tuple[Any, Ends]]:
    """Released values with their 95% intervals; of many groups a part, in equal steps."""
    known: Offer | None
    found: list[tuple[Any, Ends]]
    known, found = released.worked_out.get(looked_at, (None, []))
    if known is not release:
        many = len(released.values)
        part = released.take(np.arange(0, many, max(1, many // LOOKED_AT)))
        found = list(zip(part.values, release.intervals(part, 0.95), strict=True))
        released.worked_out[looked_at] = release, found
    return found


def of_use(request: Request, release: Offer, released: ReleasedTable, *, total: bool = False) -> list[bool]:
    """Which released values say something, by their own 95% intervals; of many groups a part, in equal steps.

    A count or a sum says something where 0 is outside of its interval, and what is looked at as a total where it is
    farther from 0 than its interval is wide to one side. Anything else does where its interval is narrower than its
    bounds; a quantile, where one end is inside of them. Values whose intervals nobody knows, such as a mode's, or that
    have no bounds, are left out, and so are those without bounds of whose interval one end is known.

    Args:
        request: What is asked.
        release: What answers it.
        released: What it released.
        total: Whether anything is looked at as a total is.
    """
    kind, ends = FUNCTIONS[request.aggregate.function].kind, _ends(request)
    added = kind is Kind.SUM or (kind is Kind.COUNT and ends is None)
    found = []
    for value, (low, high) in looked_at(release, released):
        if value is not None and (low is high is None or (ends is None and None in (low, high))):
            continue
        if value is None or low is None or high is None:
            found.append(False)
        elif added:
            found.append(low > 0 or high < 0)
        elif total:
            found.append((high - low) / 2 < abs(value))
        elif ends is not None:
            width = ends[1] - ends[0]
            inside = request.aggregate.rank is not None and max(low - ends[0], ends[1] - high) > INSIDE * width
            found.append(inside or (high - low) < MOSTLY * width)
    return found
