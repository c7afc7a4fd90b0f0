"""Keys over columns that nobody lists, whose few values follow from what they are made of.

A condition is FALSE or TRUE (or NULL), whatever it compares; a CASE has the values of its branches; whole numbers lie
between their ends; and what is counted by the day, hour, minute or second of a timestamp depends on nothing finer, so
that it is worked out for each day (hour, ...) within the bounds of the timestamp; so it is of one to which a constant
interval is added. Such a part stands in the key as if it were a column with listed values. More values may be listed
than can occur together; none is left out.

Conditions narrow a timestamp's bounds before they are cut into days. They are computed for the days only where they
look no closer at it than at its day: one that midnight does not meet may hold in the afternoon. So are those that name
a part which stands in the key, such as `floor(cost / 1000) < 5`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Any

from dpsql.limits import MOST_LISTED
from dpsql.plan.functions.dates import DAY_PARTS
from dpsql.plan.functions.days import truncated
from dpsql.plan.known.narrowing import facts_where
from dpsql.plan.known.value_lists import listed_numbers
from dpsql.plan.nodes import Apply, Case, Column, Constant, Expression
from dpsql.plan.types import Facts, Type, Value
from dpsql.plan.values.conversions import MOVED
from dpsql.plan.values.expressions import columns_of
from dpsql.plan.values.ranges import known_range

__all__ = ["Listing"]

Values = tuple[Value, ...]

BY_DAY = frozenset({"cast:date", "dayname", "monthname", "last_day", *DAY_PARTS})
GRAINS = {
    "day": timedelta(days=1),
    "hour": timedelta(hours=1),
    "minute": timedelta(minutes=1),
    "second": timedelta(seconds=1),
}
FORMATS = {"day": "", "hour": "HIp", "minute": "HIpM", "second": "HIpMScX"}
"""Letters of a format that depend on the clock, and no finer than so."""


@dataclass(slots=True)
class Listing:
    """A key with its listed parts in the place of columns.

    Attributes:
        conditions: Over the key's own columns, true for every row.
        domain: The listed values of another key over the same rows; None where it is open.
        found: The parts, as columns, with their values.
    """

    conditions: Sequence[Expression]
    domain: Callable[[Expression], Values | None]
    found: dict[Column, Values] = field(default_factory=dict)

    def replaced(self, expression: Expression) -> Expression | None:
        """The expression over `found`; None where some part of it is not listed."""
        match expression:
            case Constant():
                return expression
            case Apply():
                return self._at_its_grain(expression) or self._by_arguments(expression) or self._part(expression)
            case _:
                return self._part(expression)

    def narrowing(self) -> list[Expression]:
        """The conditions that follow from the parts found so far, over these.

        No other part is looked for: it would not be among them, and what it can be may hang on the condition itself.
        """
        known = Listing(self.conditions, lambda part: None, dict(self.found))
        replaced = (known.replaced(condition) for condition in self.conditions)
        return [over for over in replaced if over is not None and set(columns_of(over)) <= self.found.keys()]

    def _part(self, expression: Expression) -> Column | None:
        """The expression itself as a column, where its values are known."""
        name, facts = repr(expression), expression.facts
        known = _listed(name, facts)
        return known if known in self.found else self._kept(name, facts, self._values(expression))

    def _kept(self, name: str, facts: Facts, values: Values | None) -> Column | None:
        if not values or len(values) > MOST_LISTED:
            return None
        column = _listed(name, facts)
        self.found[column] = values
        return column

    def _values(self, expression: Expression) -> Values | None:
        if isinstance(expression, Column):
            return self.domain(expression)
        if expression.facts.type is Type.BOOLEAN:
            return (False, True, None) if expression.facts.nullable else (False, True)
        if isinstance(expression, Case):
            return self._of_branches(expression)
        return listed_numbers(facts_where(expression, self.conditions))

    def _of_branches(self, case: Case) -> Values | None:
        results = [*(result for _, result in case.branches), case.default]
        domains = [(r.value,) if isinstance(r, Constant) else self.domain(r) for r in results]
        held = [value for domain in domains if domain is not None for value in domain]
        if None in domains:
            return None
        values = {_as_computed(value, case.facts.type) for value in held if value is not None}
        return (*sorted(values), *([None] if None in held else []))

    def _by_arguments(self, expression: Apply) -> Expression | None:
        before = dict(self.found)
        arguments = [self.replaced(argument) for argument in expression.arguments]
        known = [argument for argument in arguments if argument is not None]
        if len(known) == len(arguments):
            return replace(expression, arguments=tuple(known))
        self.found = before
        return None

    def _at_its_grain(self, expression: Apply) -> Expression | None:
        """A function of a timestamp, bare or moved, that looks no closer than at its day, hour, minute or second."""
        looked_at = [argument for argument in expression.arguments if not isinstance(argument, Constant)]
        if len(looked_at) != 1 or not _is_timestamp(looked_at[0]):
            return None
        moment, grain = looked_at[0], grain_of(expression)
        if grain is None:
            return None
        moments = self._kept(f"{grain} of {moment!r}", moment.facts, self._moments(moment, grain))
        if moments is None:
            return None
        return replace(expression, arguments=tuple(moments if a is moment else a for a in expression.arguments))

    def _moments(self, moment: Expression, grain: str) -> Values | None:
        facts = facts_where(moment, self.conditions)
        low, high = known_range(replace(moment, facts=facts))
        if low is None or high is None:
            return None
        first = _cut(grain, low)
        count = (high - first) // GRAINS[grain] + 1
        if count > MOST_LISTED:
            return None
        missing = moment.facts.nullable and facts == moment.facts  # a comparison leaves no NULL
        return (*(first + at * GRAINS[grain] for at in range(count)), *([None] if missing else []))


def _as_computed(value: Any, type_: Type) -> Any:
    """A branch's value, as databases compute it: a real number is the nearest float, however it was written.

    >>> from decimal import Decimal
    >>> _as_computed(Decimal("0.1"), Type.REAL), _as_computed(2, Type.REAL), _as_computed(2, Type.INTEGER)
    (0.1, 2.0, 2)
    """
    return float(value) if type_ is Type.REAL else value


def _listed(name: str, facts: Facts) -> Column:
    """A part of a key, as a column of its own."""
    return Column("listed", name, facts)


def _is_timestamp(expression: Expression) -> bool:
    """Whether it is a timestamp of a table, or one to which constants are added: NULL where that is."""
    match expression:
        case Column():
            return expression.facts.type is Type.TIMESTAMP
        case Apply(function=function, arguments=(moment, Constant())) if function.name in MOVED:
            return _is_timestamp(moment)
    return False


def grain_of(expression: Apply) -> str | None:
    """What a function of one timestamp looks no closer than at; None where that is finer, or not known."""
    name = expression.function.name
    if name in BY_DAY:
        return "day"
    if name in ("hour", "minute", "second"):
        return name
    texts = [a.value for a in expression.arguments if isinstance(a, Constant) and isinstance(a.value, str)]
    if len(texts) != 1:
        return None
    if name in ("date_trunc", "datetrunc"):
        unit = texts[0].lower()
        return unit if unit in GRAINS else "day"
    if name == "strftime":
        clock = set(re.findall("%-?(.)", texts[0])) & set("HIpMSfcX")
        return next((grain for grain, known in FORMATS.items() if clock <= set(known)), None)
    return None


def _cut(grain: str, moment: datetime) -> datetime:
    cut: Any = truncated(grain, (moment, moment))[0]
    return cut if isinstance(cut, datetime) else datetime.combine(cut, datetime.min.time())
