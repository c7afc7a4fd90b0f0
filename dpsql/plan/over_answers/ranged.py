"""Ranges of one expression over rows of an answer, in which more is known of its columns than their facts say.

What is alike in all rows is worked out once. A branch of CASE counts only where its condition can be true, and there
what is compared is narrowed by the comparison. A value may be NULL only where something that is known of its row leaves
that open: a number with an interval is one.

Nothing that keeps an engine from failing rests on this: `ranges.range_of` proves that, and takes any column for NULL.

Tests: tests/unit/plan/over_answers/test_ranged.py.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import Any

from dpsql.plan.functions import Function, Nulls
from dpsql.plan.intervals import EVERYTHING, Interval
from dpsql.plan.nodes import Apply, Case, Column, Constant, Expression, Total, Windowed
from dpsql.plan.over_answers.stages import is_aggregate
from dpsql.plan.types import Type
from dpsql.plan.values.implied import OPPOSITE
from dpsql.plan.values.possible import NULL, Possible, compared
from dpsql.plan.values.ranges import DATED, hull_of, known_range, reading

__all__ = ["Known", "Ranged", "Told"]

Told = Interval | str | Possible | None
"""What is known of a value: what it lies in, the text that it is, or that it is `NULL`; None where that is no more than
its facts say."""

Known = Callable[[Expression], Told]
"""What is known of a column of the row, a window, a sub-query, or an aggregate over rows."""

Step = Callable[[Sequence[Any], Known], Any]
"""What one node can be, from what those at the places before it can."""

Within = frozenset[tuple[int, int]]
"""Places of what conditions have narrowed, each with the place of what they leave of it."""

NEVER = "no row"  # What can never be so.
MOST_NARROWED = 2_000  # Nodes read once more under conditions. It is a choice; beyond it no branch is narrowed.


class _TooManyError(Exception):
    """More nodes are read under conditions than `MOST_NARROWED`."""


class Ranged:
    """One expression, taken apart into its distinct nodes.

    Args:
        expression: Over one row.
    """

    def __init__(self, expression: Expression) -> None:
        self._whole, self._narrows = expression, True
        try:
            self._take_apart()
        except _TooManyError:
            self._narrows = False
            self._take_apart()

    def _take_apart(self) -> None:
        self._places: list[Any] = []  # what no row changes; None for what is at a step
        self._steps: list[tuple[int, Step]] = []
        self._changing: set[int] = set()
        self._known: dict[Hashable, int] = {}
        self._read: dict[tuple[int, Within], int] = {}  # by identity: what stands in two places is one object
        self._narrowed = 0
        self._at = self._place(self._whole, frozenset())

    @property
    def size(self) -> int:
        """How many nodes are worked out for each row."""
        return len(self._steps)

    def over(self, known: Known) -> Any:
        """Bounds as of `ranges.range_of`, where this is known of a row; of a value that is NULL they are unknown."""
        found = self.possible(known).range
        if found is None:
            return (None, None) if self._whole.facts.type in DATED else EVERYTHING
        return found

    def possible(self, known: Known) -> Possible:
        """What the expression can be in a row of which this is known."""
        places = self._places.copy()
        for at, step in self._steps:
            places[at] = step(places, known)
        found = places[self._at]
        return found if isinstance(found, Possible) else NULL

    def _place(self, node: Expression, within: Within) -> int:
        """Where what a node can be is found."""
        asked = id(node), within
        if asked not in self._read:
            self._narrowed += bool(within)
            if self._narrowed > MOST_NARROWED:
                raise _TooManyError
            at, narrowed = self._new(node, within), dict(within)
            while at in narrowed:
                at = narrowed[at]
            self._read[asked] = at
        return self._read[asked]

    def _new(self, node: Expression, within: Within) -> int:
        match node:
            case Constant():
                own = NULL if node.value is None else Possible(known_range(node), null=False)
                return self._once((Constant, own), lambda: self._fixed(own))
            case Column():
                return self._once(node, lambda: self._step(_looked_up(node, known_range(node))))
            case Windowed() | Total():
                nothing = (None, None) if node.facts.type in DATED else EVERYTHING
                return self._once(node, lambda: self._step(_looked_up(node, nothing)))
            case Apply() if is_aggregate(node):
                return self._once(id(node), lambda: self._step(_looked_up(node, EVERYTHING)))
            case Apply(function=function, arguments=(first, second)) if function.name == "nullif":
                return self._nullif(first, second, within)
            case Apply(function=function, arguments=arguments):
                parts = tuple([self._place(own, within) for own in arguments])
                facts = tuple(map(known_range, arguments))
                return self._once((function, parts), lambda: self._made(_applied(function, parts, facts), parts))
            case Case():
                return self._case(node, within)

    def _case(self, node: Case, within: Within) -> int:
        ways: list[tuple[tuple[int, ...], int]] = []  # what must be possible to get there, and what is found there
        past: tuple[int, ...] = ()
        for condition, result in node.branches:
            taken, met = self._where(condition, within, truth=True, or_null=False)
            ways.append(((*past, *met), self._place(result, taken)))
            within, missed = self._where(condition, within, truth=False, or_null=True)
            past = (*past, *missed)
        ways.append((past, self._place(node.default, within)))
        kind = node.facts.type

        def chosen(places: Sequence[Any], _: Known) -> Any:
            reached = [places[at] for needed, at in ways if not any(places[own] is NEVER for own in needed)]
            return _any_of([own for own in reached if own is not NEVER], kind)

        parts = tuple(at for needed, result in ways for at in (*needed, result))
        return self._once((Case, kind, tuple(ways)), lambda: self._made(chosen, parts))

    def _nullif(self, first: Expression, second: Expression, within: Within) -> int:
        at = self._place(first, within)
        (equal,), (other,) = (
            self._compared(sign, first, second, within, or_null=or_null)[1]
            for sign, or_null in (("=", False), ("<>", True))
        )

        def left(places: Sequence[Any], _: Known) -> Any:
            if places[at] is NEVER:
                return NEVER
            if places[other] is NEVER:
                return NULL
            null = places[at].null or places[equal] is not NEVER
            return Possible(places[other][0].range, null)

        return self._once(("nullif", at, equal, other), lambda: self._made(left, (at, equal, other)))

    # ------------------------------------------------------------------------------------------- conditions

    def _where(
        self, condition: Expression, within: Within, *, truth: bool, or_null: bool
    ) -> tuple[Within, tuple[int, ...]]:
        """What is narrowed where a condition is TRUE (or FALSE), or NULL where that counts as well.

        Returns:
            With the places of what must be possible for it: where one of them is `NEVER`, it is never so.
        """
        match condition:
            case Constant(value=value):
                so = value is truth or (value is None and or_null)
                return within, () if so else (self._once(NEVER, lambda: self._fixed(NEVER)),)
            case Apply(function=function, arguments=arguments) if function.name in ("and", "or"):
                if (function.name == "and") is not truth:
                    ways = [self._where(own, within, truth=truth, or_null=or_null)[1] for own in arguments]
                    return within, self._one_of(ways)
                needed: tuple[int, ...] = ()
                for own in arguments:
                    within, more = self._where(own, within, truth=truth, or_null=or_null)
                    needed = (*needed, *more)
                return within, needed
            case Apply(function=function, arguments=(argument,)) if function.name == "not":
                return self._where(argument, within, truth=not truth, or_null=or_null)
            case Apply(function=function, arguments=(argument,)) if function.name == "is_null":
                return self._known_null(argument, within, truth=truth)
            case Apply(function=function, arguments=(first, *rest)) if function.name == "in":
                if truth:
                    ways = [self._compared("=", first, own, within, or_null=or_null)[1] for own in rest]
                    return within, self._one_of(ways)
                needed = ()
                for own in rest:
                    within, more = self._compared("<>", first, own, within, or_null=or_null)
                    needed = (*needed, *more)
                return within, needed
            case Apply(function=function, arguments=(first, second)) if function.name in OPPOSITE:
                sign = function.name if truth else OPPOSITE[function.name]
                return self._compared(sign, first, second, within, or_null=or_null)
        return within, ()

    def _one_of(self, ways: Sequence[tuple[int, ...]]) -> tuple[int, ...]:
        """The place of what is `NEVER` where none of several ways is possible; none where one always is."""
        if () in ways:
            return ()
        parts = tuple(dict.fromkeys(at for way in ways for at in way))

        def one(places: Sequence[Any], _: Known) -> Any:
            return None if any(all(places[at] is not NEVER for at in way) for way in ways) else NEVER

        return (self._once((NEVER, tuple(ways)), lambda: self._made(one, parts)),)

    def _known_null(self, argument: Expression, within: Within, *, truth: bool) -> tuple[Within, tuple[int, ...]]:
        at = self._place(argument, within)

        def left(places: Sequence[Any], _: Known) -> Any:
            held = places[at]
            if held is NEVER or (not held.null if truth else held.range is None):
                return NEVER
            return NULL if truth else Possible(held.range, null=False)

        found = self._once(("is_null", at, truth), lambda: self._made(left, (at,)))
        return self._with(within, [(at, found)]), (found,)

    def _compared(
        self, sign: str, first: Expression, second: Expression, within: Within, *, or_null: bool
    ) -> tuple[Within, tuple[int, ...]]:
        sides, parts = (first, second), (self._place(first, within), self._place(second, within))
        whole = tuple([_whole(own).facts.type is Type.INTEGER for own in sides])

        def both(places: Sequence[Any], _: Known) -> Any:
            one, other = places[parts[0]], places[parts[1]]
            if one is NEVER or other is NEVER:
                return NEVER
            return compared(sign, one, other, (whole[0], whole[1]), or_null=or_null) or NEVER

        pair = self._once((sign, parts, whole, or_null), lambda: self._made(both, parts))
        narrowed: list[tuple[int, int]] = []
        for side, (own, at) in enumerate(zip(sides, parts, strict=True)):
            left = self._once((sign, pair, side), lambda side=side: self._made(_side(pair, side), (pair,)))  # type: ignore[misc]  # bound now
            narrowed += [(place, left) for place in {at, self._place(_whole(own), within)}]
        return self._with(within, narrowed), (pair,)

    def _with(self, within: Within, narrowed: Sequence[tuple[int, int]]) -> Within:
        """What is narrowed, and this, too."""
        if not self._narrows:
            return within
        return within.union((at, left) for at, left in narrowed if at in self._changing and at != left)

    # ---------------------------------------------------------------------------------------------- places

    def _once(self, what: Hashable, new: Callable[[], int]) -> int:
        """The place of the same node that was met before, else a new one."""
        if what not in self._known:
            self._known[what] = new()
        return self._known[what]

    def _made(self, step: Step, parts: Sequence[int]) -> int:
        """A step, or what comes of it where no row changes what it is made of."""
        changes = not self._changing.isdisjoint(parts)
        return self._step(step) if changes else self._fixed(step(self._places, lambda _: None))

    def _fixed(self, found: Any) -> int:
        self._places.append(found)
        return len(self._places) - 1

    def _step(self, step: Step) -> int:
        at = self._fixed(None)
        self._steps.append((at, step))
        self._changing.add(at)
        return at


def _looked_up(node: Expression, otherwise: Any) -> Step:
    """What is known of the row; a number of which nothing is known may as well be NULL."""
    unknown = Possible(otherwise, null=True)
    most = _most(node)

    def found(_: Sequence[Any], known: Known) -> Possible:
        own = known(node)
        if own is None or isinstance(own, Possible):
            return own or unknown
        if most is not None and isinstance(own, Interval):
            return Possible(own.saturating(most), null=own == EVERYTHING)
        return Possible(own, null=own == EVERYTHING)

    return found


def _most(node: Expression) -> int | None:
    """How far from 0 a whole number may be that the worker without data reads: beyond, it is cut. None: any other."""
    if node.facts.type is not Type.INTEGER or (isinstance(node, Column) and node.facts.bounded):
        return None
    return reading(node.reach if isinstance(node, Column) else None)


def _applied(function: Function, parts: Sequence[int], facts: Sequence[Any]) -> Step:
    """A function of what is at some places, ``facts`` saying what a NULL there would be if it were a value."""

    def applied(places: Sequence[Any], _: Known) -> Any:
        held = [places[part] for part in parts]
        if NEVER in held:
            return NEVER
        missing = [own.range is None for own in held]
        match function.nulls:
            case Nulls.ALL:
                held = [own for own in held if own.range is not None]
                if not held:
                    return NULL
            case Nulls.STRICT | Nulls.MAY if any(missing):
                return NULL
            case _ if any(missing):
                held = [
                    Possible(of, null=True) if own.range is None else own for own, of in zip(held, facts, strict=True)
                ]
        ranges, nulls = tuple([own.range for own in held]), [own.null for own in held]
        found = function.bounds(ranges, tuple([not null for null in nulls]))
        return Possible(found, _may_be_null(function, ranges, nulls))

    return applied


def _may_be_null(function: Function, ranges: tuple[Any, ...], nulls: Sequence[bool]) -> bool:
    """Whether a function may be NULL of arguments in these ranges, of which these may be."""
    match function.nulls:
        case Nulls.NEVER:
            return False
        case Nulls.ALL:
            return all(nulls)
        case Nulls.STRICT | Nulls.ONLY:
            return any(nulls)
        case Nulls.MAY | Nulls.OPEN:
            return any(nulls) or function.has_value is None or not function.has_value(*ranges)


def _side(pair: int, side: int) -> Step:
    """What a comparison leaves of one of its sides."""
    return lambda places, _: NEVER if places[pair] is NEVER else places[pair][side]


def _any_of(ways: Sequence[Possible], kind: Type) -> Any:
    """One of several; `NEVER` where there is none."""
    if not ways:
        return NEVER
    ranges = [own.range for own in ways if own.range is not None]
    return Possible(hull_of(ranges, kind), any(own.null for own in ways)) if ranges else NULL


def _whole(expression: Expression) -> Expression:
    """The whole number that is read as a real one to compare it, else the expression itself."""
    match expression:
        case Apply(function=function, arguments=(argument,)) if function.name == "cast:real":
            return argument if argument.facts.type is Type.INTEGER else expression
    return expression
