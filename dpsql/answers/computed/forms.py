"""What is computed of released values by adding, and by multiplying with constants: one weight for each value.

SUM, AVG, differences, running sums and moving means are such forms, w_1 x_1 + .. + w_k x_k + c, where it is known which
rows they read: the noise of each is the same sum of the values' noises.

Tests: tests/unit/answers/computed/test_linear.py.
"""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from fractions import Fraction
from math import isfinite
from typing import Protocol

from dpsql.limits import SATURATION
from dpsql.mechanisms.noise.laws import LaplaceLaw, Law
from dpsql.mechanisms.noise.weighted import Term, reach_of_sum
from dpsql.plan.intervals import Interval
from dpsql.plan.nodes import Apply, Case, Column, Constant, Expression, Total, Windowed
from dpsql.plan.over_answers.stages import RELEASED, is_aggregate
from dpsql.plan.rows.windows import NEIGHBOURS, SHOWING
from dpsql.plan.types import Type, Value
from dpsql.plan.values.expressions import arguments_of, columns_of

__all__ = [
    "FARTHEST",
    "Form",
    "InForms",
    "NoisedValue",
    "NotLinearError",
    "Over",
    "RowsRead",
    "choosing",
    "constant",
    "form",
    "parted",
]

Over = Windowed | Total | Apply
"""What reads several rows: a window, a sub-query as a value, an aggregate."""

FARTHEST = 2**40
"""No whole number is taken that lies farther from 0, so that no sum of them is cut (`far`). It is a choice."""
SAME = "same"  # What leaves such numbers as they are.
FIRST = ("coalesce", "ifnull")
APPLIED = {name: name for name in ("+", "-", "*", "/", "negate")} | dict.fromkeys(("cast:real", "saturated"), SAME)
NEAR, FAR = Fraction(1, 10**50), 10**140  # Between them a divisor surely counts.


ONE = Fraction(1)  # The weight of a value as it stands.


class NotLinearError(Exception):
    """An expression is no form, or it is not known which."""


@dataclass(frozen=True, slots=True)
class NoisedValue:
    """One released value, whose noise is independent of that of all others.

    Attributes:
        key: What tells it apart.
        law: Its noise, in steps.
        step: What a step is, in its unit.
        value: What was released, or is guessed.
    """

    key: Hashable
    law: Law
    step: Fraction
    value: Fraction

    def __hash__(self) -> int:
        return hash(self.key)


@dataclass(frozen=True, slots=True)
class Form:
    """A sum of weighted values, and a constant."""

    constant: Fraction
    weights: Mapping[NoisedValue, Fraction]

    def times(self, factor: Fraction) -> Form:
        """The form, so many times."""
        return Form(self.constant * factor, {cell: weight * factor for cell, weight in self.weights.items()})

    def around(self, chance: float) -> Interval:
        """What holds the noise-free value, but for this chance: by the law of the weighted sum of the noises."""
        alike: dict[tuple[int, int, int, int], list[NoisedValue]] = {}  # by law, step and weight: few, of many values
        for cell, weight in self.weights.items():
            key = id(cell.law), id(cell.step), weight.numerator, weight.denominator
            alike.setdefault(key, []).append(cell)
        middle, terms = self.constant, dict[tuple[Law, float], int]()
        for (_, _, above, below), cells in alike.items():
            weight, some = Fraction(above, below), cells[0]
            middle += weight * _total([cell.value for cell in cells])
            if weight:
                own = some.law, float(abs(weight) * some.step)
                terms[own] = terms.get(own, 0) + len(cells)
        counted = ((*own, _rounded_up(count)) for own, count in terms.items())
        ordered: tuple[Term, ...] = tuple(sorted(counted, key=lambda own: own[1:]))
        reach = Fraction(reach_of_sum(ordered, chance))
        return Interval(middle - reach, middle + reach)


def _total(values: Sequence[Fraction]) -> Fraction:
    """Their sum; of whole numbers without fractions in between, which take ten times as long."""
    if all(value.denominator == 1 for value in values):
        return Fraction(sum(value.numerator for value in values))
    return sum(values, Fraction(0))


def _rounded_up(draws: int) -> int:
    """As many or a few more, in steps of a sixteenth: so that a running sum takes few laws, and not one a row.

    More draws of laws with one peak, alike on both sides of 0, reach no less far (Anderson's inequality).

    >>> [_rounded_up(draws) for draws in (31, 33, 72, 974)]
    [31, 34, 72, 992]
    """
    step: int = 1 << max(0, draws.bit_length() - 5)
    return -(-draws // step) * step


class RowsRead(Protocol):
    """The released rows behind one row of an answer.

    Attributes:
        known: What several rows read of one row, by the identity of the expression: the same for all who ask.
    """

    @property
    def known(self) -> dict[tuple[int, int], Form | None]: ...

    def column(self, column: Column, row: int) -> Form | None:
        """What a row has in a column; None where that is NULL.

        Raises:
            NotLinearError: Its noise is not known, or it is no number.
        """
        ...

    def over(self, node: Over) -> tuple[Expression | None, Sequence[int]]:
        """What is read of which rows, in their order; no expression where rows are counted.

        Raises:
            NotLinearError: It is not known of which.
        """
        ...


def form(node: Expression, row: int, rows: RowsRead) -> Form | None:
    """An expression in one row as a form; None where it is NULL.

    Raises:
        NotLinearError: It is none.
    """
    match node:
        case Column():
            return rows.column(node, row)
        case Constant(value=value):
            return constant(value)
        case Windowed() | Total():
            found = _over(node, row, rows)
        case Apply() if is_aggregate(node):
            found = _over(node, row, rows)
        case Apply(function=function, arguments=arguments) if function.name in FIRST:
            each = (form(own, row, rows) for own in arguments)
            found = next((own for own in each if own is not None), None)
        case Apply(function=function, arguments=arguments) if function.name in APPLIED or function.sql == "{0}":
            parts = [own for argument in arguments if (own := form(argument, row, rows)) is not None]
            name = APPLIED.get(function.name, SAME)
            found = _applied(name, parts) if len(parts) == len(arguments) else None
        case _:
            raise NotLinearError
    if found is not None and node.facts.type is Type.INTEGER:
        heaviest = max(map(abs, {id(own): own for own in found.weights.values()}.values()), default=Fraction(0))
        farthest = abs(found.constant) + 2 * FARTHEST * heaviest * len(found.weights)
        if farthest > SATURATION // 2:
            raise NotLinearError
    return found


def constant(value: Value) -> Form | None:
    """A number; None for NULL.

    Raises:
        NotLinearError: It is no finite number.
    """
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int | float | Decimal | Fraction) or not isfinite(value):
        raise NotLinearError
    return Form(Fraction(value), {})


def _applied(name: str, parts: Sequence[Form]) -> Form:
    match name, parts:
        case ("+", (first, second)):
            return _sum((first, second))
        case ("-", (first, second)):
            return _sum((first, second.times(Fraction(-1))))
        case ("negate", (own,)):
            return own.times(Fraction(-1))
        case ("*", (first, second)) if not second.weights:
            return first.times(second.constant)
        case ("*", (first, second)) if not first.weights:
            return second.times(first.constant)
        case ("/", (own, divisor)) if not divisor.weights and NEAR < abs(divisor.constant) < FAR:
            return own.times(1 / divisor.constant)
        case (_, (own,)) if name == SAME:
            return own
    raise NotLinearError


def _over(node: Over, row: int, rows: RowsRead) -> Form | None:
    name, (argument, read) = node.function.name, rows.over(node)
    if argument is None:
        return Form(Fraction(len(read)), {})
    if name in SHOWING:
        if not read:
            return form(node.arguments[2], row, rows) if name in NEIGHBOURS and len(node.arguments) == 3 else None
        return form(argument, read[0], rows)
    for member in read:
        if (id(argument), member) not in rows.known:
            rows.known[id(argument), member] = form(argument, member, rows)
    each = [own for member in read if (own := rows.known[id(argument), member]) is not None]
    if name == "count" and "DISTINCT" not in node.function.sql:
        return Form(Fraction(len(each)), {})
    if name not in ("sum", "avg"):
        raise NotLinearError
    if not each:
        return None
    return _sum(each) if name == "sum" else _sum(each).times(Fraction(1, len(each)))


def _sum(forms: Iterable[Form]) -> Form:
    total, weights = Fraction(0), dict[NoisedValue, Fraction]()
    for own in forms:
        total = total + own.constant if own.constant else total
        for cell, weight in own.weights.items():
            weights[cell] = weights[cell] + weight if cell in weights else weight
    return Form(total, weights)


# ----------------------------------------------------------------------------------------------- parts of expressions


@dataclass(frozen=True, slots=True)
class InForms:
    """An expression over forms.

    Attributes:
        whole: The expression with a column in the place of each of them.
        forms: They, by these columns; a bare column may be none.
        noised: How many released columns are read.
    """

    whole: Expression
    forms: Mapping[Column, Expression]
    noised: int

    @property
    def nearer(self) -> bool:
        """Whether their intervals are shorter than what follows from those of the values, each for itself."""
        over = [any(map(_reads_rows, _nodes(own))) for own in self.forms.values()]
        several = len(self.forms) <= self.noised and any(len(columns_of(own)) > 1 for own in self.forms.values())
        return any(over) or several


@dataclass(frozen=True, slots=True)
class _Any:
    """Some row, for whoever asks what is a form in every one."""

    noised: Collection[str]
    known: dict[tuple[int, int], Form | None] = field(default_factory=dict)

    def column(self, column: Column, row: int) -> Form | None:
        if not column.facts.type.numeric:
            raise NotLinearError
        noise = {NoisedValue(column.name, LaplaceLaw(Fraction(1)), Fraction(1), Fraction(0)): Fraction(1)}
        return Form(Fraction(1), noise if column.name in self.noised else {})

    def over(self, node: Over) -> tuple[Expression | None, Sequence[int]]:
        if any(column.name in self.noised for column in choosing(node)):
            raise NotLinearError  # which rows are read is left to chance
        argument = node.arguments[0] if node.arguments else None
        if argument is not None and any(map(_reads_rows, _nodes(argument))):
            raise NotLinearError  # it is asked of the answer's rows alone what they read
        match argument:
            case Case(branches=((_, value),), default=Constant(value=None)) if isinstance(node, Apply):
                return value, (0,)
        return argument, (0,)


def _nodes(node: Expression) -> Iterator[Expression]:
    yield node
    for argument in arguments_of(node):
        yield from _nodes(argument)


def _reads_rows(node: Expression) -> bool:
    return isinstance(node, Windowed | Total) or is_aggregate(node)


def choosing(node: Over) -> list[Column]:
    """The columns that decide which rows are read."""
    match node:
        case Windowed(partition=partition, order=order, frame=frame):
            if frame is not None and frame.start is None and frame.end is None and node.function.name not in SHOWING:
                order = ()  # all rows of the partition, in whichever order
            return [own for part in (*partition, *(term.expression for term in order)) for own in columns_of(part)]
        case Total(where=where) if where is not None:
            return list(columns_of(where))
        case Apply(arguments=(Case(branches=branches), *_)):
            return [own for condition, _ in branches for own in columns_of(condition)]
    return []


def _is_form(node: Expression, noised: Collection[str]) -> bool:
    try:
        form(node, 0, _Any(noised))
    except NotLinearError:
        return False
    return True


def parted(expression: Expression, noised: Collection[str], plain: Collection[str]) -> InForms | None:
    """The largest forms that hold noise in an expression; None where it reads noise in another way, but bare columns.

    Args:
        expression: Over released values, and what rows are grouped by.
        noised: Names of columns that hold noise.
        plain: Of those whose noise is known, cell by cell.
    """
    found: dict[Expression, Column] = {}

    def replaced(node: Expression) -> Expression:
        read = [column.name for column in columns_of(node) if column.name in noised]
        if not read:
            return node
        if isinstance(node, Column) or (set(read) <= set(plain) and _is_form(node, noised)):
            return found.setdefault(node, Column(RELEASED, f"part{len(found)}", node.facts))
        match node:
            case Apply() if not is_aggregate(node):
                return replace(node, arguments=tuple(map(replaced, node.arguments)))
            case Case(branches=branches):
                own = tuple((replaced(when), replaced(then)) for when, then in branches)
                return replace(node, branches=own, default=replaced(node.default))
        raise NotLinearError

    try:
        whole = replaced(expression)
    except NotLinearError:
        return None
    forms = {column: node for node, column in found.items()}
    return InForms(whole, forms, len({column.name for column in columns_of(expression)} & set(noised)))
