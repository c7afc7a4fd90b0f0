"""How wide the interval of a computed column is expected to be: of SUM(cost) / COUNT(*), before anything is spent.

It is worked out as that of the answer will be (`answers.computed.intervals`): the range of the computation over the
box of its parts' intervals. In the place of released values stand guesses from public facts: rows as the policy
guesses them (of which conditions leave a share), values at their declared centre, or else an eighth of the way into
their bounds. Most bounds are much looser, and a divisor then is much nearer to 0: so there is another guess, eight
times nearer. Of an argument that is computed itself, as ln(x), either guess is made twice: within its own bounds, and
at what it is where its columns are guessed. The widest interval is told, of these and of the rows, where a column
reads what they are grouped by.

A window over all rows, or a sub-query as a value, is foretold where the groups are listed: each is thought to be alike.

Tests: tests/unit/answers/quotes/test_foreseen.py.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from dpsql.answers.computed.forms import InForms, NotLinearError, form
from dpsql.answers.computed.totals import Over, several_rows
from dpsql.answers.quotes.foreseen_forms import RowForeseen, parts_foreseen
from dpsql.answers.quotes.foreseen_rows import RowsForeseen
from dpsql.answers.quotes.picked import picked_of
from dpsql.mechanisms.base import Request
from dpsql.plan.aggregates import FUNCTIONS, Kind
from dpsql.plan.intervals import EVERYTHING, Interval
from dpsql.plan.known.guesses import units_guessed
from dpsql.plan.measured.dated import days_within
from dpsql.plan.nodes import Apply, Case, Column, Expression
from dpsql.plan.over_answers.ranged import Ranged, Told
from dpsql.plan.over_answers.roles import answer_columns
from dpsql.plan.over_answers.stages import aggregates_in
from dpsql.plan.plans import Plan
from dpsql.plan.types import Facts
from dpsql.plan.values.expressions import arguments_of, columns_of
from dpsql.plan.values.possible import NULL
from dpsql.prepare import Measured, Prepared

__all__ = [
    "GUESSES",
    "Foreseen",
    "Whereabouts",
    "computed_columns",
    "endless_from",
    "half_width_of",
    "lost_in_noise",
    "parts_of",
    "widest",
]

OFTEN = 8  # The width of bounds over that of the values, where no centre is declared. A guess, as in `located`.
LOOSE = OFTEN**2  # The same, for bounds that are loose. A guess.
FAR = (OFTEN**3, OFTEN**4)  # The same, for bounds that are very loose. A guess.


@dataclass(frozen=True, slots=True)
class Whereabouts:
    """How it is guessed where values are.

    Attributes:
        often: The width of bounds over that of the values, where no centre is declared.
        by_columns: Whether it is guessed of the columns that an argument is computed from, not of the argument.
    """

    often: int
    by_columns: bool = False

    def value(self, request: Request) -> Fraction | None:
        """About where the values of an aggregate's argument are; None where nothing tells."""
        argument, facts = request.aggregate.argument, request.facts
        if not self.by_columns or argument is None or isinstance(argument, Column) or facts.centre is not None:
            return _value(facts, self.often)
        asked = {column for condition in _conditions(argument) for column in columns_of(condition)}
        at = {column: _value(column.facts, self.often) for column in columns_of(argument) if column not in asked}
        points = {column: Interval.point(value) for column, value in at.items() if value is not None}
        found = Ranged(argument).over(lambda node: points.get(node) if isinstance(node, Column) else None)
        if not isinstance(found, Interval) or found.low is None or found.high is None:
            return _value(facts, self.often)
        return _within(facts, (found.low + found.high) / 2)


GUESSES = tuple(Whereabouts(often, by_columns) for often in (OFTEN, LOOSE) for by_columns in (False, True))
"""Of these the widest interval is told."""


def computed_columns(plan: Plan) -> dict[str, Expression]:
    """The numbers of an answer that are computed from released ones, and the days of its dates; by their labels."""
    names = {own.name for own in plan.aggregates}
    found = dict[str, Expression]()
    for output, expression in zip(plan.answer, answer_columns(plan), strict=True):
        noised = any(column.name in names for column in columns_of(expression))
        dated = days_within(expression)
        number = expression if dated is None else dated[1]
        if output.end is None and noised and not isinstance(number, Column) and number.facts.type.numeric:
            found[output.label] = number
    return found


def parts_of(prepared: Prepared, expression: Expression) -> list[Measured]:
    """The measurements that a column is computed from, of the first grouping."""
    read = {column.name for column in columns_of(expression)}
    return [own for own in prepared.measured if own.grouping == 0 and not own.rest and own.aggregate.name in read]


def half_width_of(prepared: Prepared, expression: Expression) -> float | None:
    """Half the width of the interval that is expected of a computed column at 95%, in the column's unit.

    Returns:
        Infinity where the interval may have no end, as where a divisor may be 0 at this price; None where nothing can
        be foretold, as of texts, and where nothing tells about where the parts will lie.
    """
    column, of = Foreseen(prepared, expression), picked_of(prepared, {own.name for own in columns_of(expression)})
    return widest(column.at(guess, of) for guess in GUESSES)


def lost_in_noise(prepared: Prepared, expression: Expression, half_width: float) -> float | None:
    """About what the totals are whose difference is expected to be lost in its noise; None where it is not, or no such.

    Of two totals that are alike, as of one month and the next, the difference is less than either: an interval as wide
    as they are themselves says next to nothing of it.
    """
    parts = parts_of(prepared, expression)
    kinds = {FUNCTIONS[own.aggregate.function].kind for own in parts}
    if not (len(kinds) == 1 and kinds <= {Kind.COUNT, Kind.SUM} and _is_difference(expression)):
        return None
    found = [_about(own.request, Whereabouts(OFTEN)) for own in parts]
    about = max((abs(own) for own in found if own is not None), default=None)
    return float(about) if about is not None and about <= half_width < math.inf else None


def _is_difference(expression: Expression) -> bool:
    return isinstance(expression, Apply) and expression.function.name == "-" and len(expression.arguments) == 2


def widest(intervals: Iterable[Interval | None]) -> float | None:
    """Half the width of the widest of several intervals, one for each guess; None where one is not known."""
    found = [None if own is None else _half(own) for own in intervals]
    return None if None in found else max(own for own in found if own is not None)


def _half(interval: Interval) -> float:
    low, high = interval.low, interval.high
    return math.inf if low is None or high is None else float(high - low) / 2


def endless_from(prepared: Prepared, expression: Expression) -> int | None:
    """How many times nearer to 0 than bounds reach values need only lie for an interval without an end; it has one if
    they lie as `half_width_of` guesses.

    None where even at the farthest of `FAR` they need lie nearer, or nothing can be foretold.
    """
    column = Foreseen(prepared, expression)
    return next((far for far in FAR if (at := column.at(Whereabouts(far))) is not None and not at.finite), None)


class Foreseen:
    """Where a column of an answer is expected to lie.

    Args:
        prepared: The statement.
        expression: The column, over released values and what rows are grouped by.
    """

    def __init__(self, prepared: Prepared, expression: Expression) -> None:
        aggregates = aggregates_in(expression)
        self._parts = parts_of(prepared, expression)
        self._over: tuple[Over | Apply, ...] = (*several_rows(expression), *aggregates)
        self._rows = RowsForeseen(prepared)
        self._ranged = Ranged(expression)
        names = {own.aggregate.name for own in self._parts}
        self._keys = [column.name for column in columns_of(expression) if column.name not in names]
        self._forms = parts_foreseen(prepared, expression, self._parts)
        self._can = expression.facts.type.numeric
        self._most = self._rows.most(aggregates) if aggregates else self._rows.count

    def at(self, guess: Whereabouts, times: int | Fraction = 1) -> Interval | None:
        """The widest interval of a row that is expected; None where nothing can be foretold.

        Args:
            guess: Where values lie.
            times: How many such columns are to lie in their intervals at once, or of how many rows one is kept.
        """
        keyed = self._rows.values(self._keys) if self._can else None
        if keyed is None or (self._over and self._most is None):
            return None
        if self._forms is not None and (own := self._by_forms(self._forms, guess, times, keyed)) is not None:
            return own
        boxes = _boxes(self._parts, guess, times * (self._most or 1 if self._over else 1))
        if boxes is None:
            return None
        found = list[Interval]()
        for row in keyed:
            known: dict[str, Told] = {**boxes, **row}
            inside = {node: self._rows.over(node, known) for node in self._over}
            if None in inside.values():
                return None
            lies = self._ranged.possible(
                lambda node, known=known, inside=inside: (
                    known.get(node.name)  # type: ignore[misc]  # bound now
                    if isinstance(node, Column)
                    else inside.get(node)
                )
            )
            if lies.range is not None:  # it is not always NULL there
                found.append(lies.range)
        return max(found, key=_half, default=None)

    def _by_forms(
        self, parts: InForms, guess: Whereabouts, times: int | Fraction, keyed: Sequence[Mapping[str, Told]]
    ) -> Interval | None:
        """The same by the forms that it is made of; None where one is not known."""
        chance, ranged, found = 0.05 / float(len(parts.forms) * times), Ranged(parts.whole), list[Interval]()
        alone = _boxes(self._parts, guess, Fraction(len(parts.forms) * times, len(self._parts)))
        if alone is None:
            return None
        measured = {own.aggregate.name: own for own in self._parts}
        values = {name: value for name, own in measured.items() if (value := _about(own.request, guess)) is not None}
        for keys in keyed:
            row = RowForeseen(self._rows, measured, values, keys)
            known: dict[str, Told] = dict(keys)
            try:
                for column, own in parts.forms.items():
                    if isinstance(own, Column):
                        known[column.name] = alone[own.name]
                    else:
                        of = form(own, 0, row)
                        known[column.name] = NULL if of is None else of.around(chance)
            except NotLinearError:
                return None
            lies = ranged.possible(
                lambda node, known=known: known.get(node.name) if isinstance(node, Column) else None  # type: ignore[misc]  # bound now
            )
            if lies.range is not None:
                found.append(lies.range)
        return max(found, key=_half, default=None)


def _boxes(parts: Sequence[Measured], guess: Whereabouts, times: int | Fraction) -> dict[str, Interval] | None:
    """Where the parts are expected to be, noise included, so many times at once; None where nothing tells of one."""
    known = dict[str, Interval]()
    for own in parts:
        value = _about(own.request, guess)
        if value is None or not own.choice.release.bracketed:
            return None
        reach = own.choice.release.half_width * math.log(20 * len(parts) * times) / math.log(20)  # Laplace noise's
        ends = Interval(value - Fraction(reach), value + Fraction(reach)) if reach < math.inf else EVERYTHING
        known[own.aggregate.name] = ends
    return known


def _about(request: Request, guess: Whereabouts) -> Fraction | None:
    """About what an aggregate will be; None where nothing tells."""
    aggregate, kind = request.aggregate, FUNCTIONS[request.aggregate.function].kind
    rows = Fraction(request.rows_about)
    if aggregate.function == "count_units":
        return Fraction(min(units_guessed(request.source.relation), request.rows_about))
    if kind is Kind.COUNT:
        return rows
    if kind in (Kind.CORRELATION, Kind.PAIR):
        return Fraction(0)
    value, apart = guess.value(request), _apart(request.facts, guess.often)
    if value is None or apart is None:
        return None
    return {
        Kind.SUM: rows * value,
        Kind.PLACE: value,
        Kind.VARIANCE: apart**2,
        Kind.DEVIATION: apart,
    }.get(kind)


def _conditions(expression: Expression) -> list[Expression]:
    """The conditions of CASE in it: a guess of single values would take each for certain, or for impossible."""
    own = [condition for condition, _ in expression.branches] if isinstance(expression, Case) else []
    return own + [found for argument in arguments_of(expression) for found in _conditions(argument)]


def _within(facts: Facts, value: Fraction) -> Fraction:
    low, high = facts.low, facts.high
    value = max(low, value) if isinstance(low, Fraction) else value
    return min(high, value) if isinstance(high, Fraction) else value


def _value(facts: Facts, often: int) -> Fraction | None:
    """About where values are."""
    if facts.centre is not None or not isinstance(facts.low, Fraction) or not isinstance(facts.high, Fraction):
        return facts.centre
    return max(facts.low, min(facts.high, Fraction(0))) + (facts.high - facts.low) / often


def _apart(facts: Facts, often: int) -> Fraction | None:
    """About how far they are from there."""
    if facts.spread is not None or not isinstance(facts.low, Fraction) or not isinstance(facts.high, Fraction):
        return facts.spread
    return (facts.high - facts.low) / often
