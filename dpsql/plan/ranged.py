"""Ranges of one expression over many rows: as `ranges.range_of`, but what is alike in all rows is worked out once.

Tests: tests/unit/plan/test_ranged.py.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import Any

from dpsql.plan.intervals import EVERYTHING, Interval
from dpsql.plan.nodes import Apply, Case, Column, Constant, Expression, Total, Windowed
from dpsql.plan.ranges import hull_of, is_certain, is_null, known_range
from dpsql.plan.types import Type

__all__ = ["Known", "Ranged"]

Known = Callable[[Column | Windowed | Total], Interval | None]
"""What a column of the row lies in; None where nothing better is known than its facts."""

Step = Callable[[Sequence[Any], Known], Any]
"""The range of one node from those of the places before it."""


class Ranged:
    """One expression, taken apart into its distinct nodes.

    Args:
        expression: Over one row.
    """

    def __init__(self, expression: Expression) -> None:
        self._places: list[Any] = []  # ranges that no row changes; None for those of a step
        self._steps: list[tuple[int, Step]] = []
        self._changing: set[int] = set()
        self._known: dict[Hashable, int] = {}
        self._read: dict[int, int] = {}  # by identity: what stands in two places is one object, and lives as long
        self._whole = expression
        self._at = self._place(expression)

    @property
    def size(self) -> int:
        """How many nodes are worked out for each row."""
        return len(self._steps)

    def over(self, known: Known) -> Any:
        """``range_of(expression, hard=False, known=known)``."""
        places = self._places.copy()
        for at, step in self._steps:
            places[at] = step(places, known)
        return places[self._at]

    def _place(self, node: Expression) -> int:
        """Where the range of a node is found."""
        if id(node) not in self._read:
            self._read[id(node)] = self._new(node)
        return self._read[id(node)]

    def _new(self, node: Expression) -> int:
        match node:
            case Constant():
                own = known_range(node)
                return self._once((Constant, own, node.value is None), lambda: self._fixed(own))
            case Column():
                own = known_range(node)

                def column(_: Sequence[Any], known: Known) -> Any:
                    found = known(node)
                    return own if found is None else found

                return self._once(node, lambda: self._step(column))
            case Windowed() | Total():
                nothing = (None, None) if node.facts.type in (Type.DATE, Type.TIMESTAMP) else EVERYTHING
                return self._once(node, lambda: self._step(lambda _, known: known(node) or nothing))
            case Apply(function=function, arguments=arguments):
                parts = tuple(map(self._place, arguments))
                certain = tuple(map(is_certain, arguments))

                def applied(places: Sequence[Any], _: Known) -> Any:
                    return function.bounds(tuple([places[part] for part in parts]), certain, hard=False)

                return self._once((function, parts), lambda: self._made(applied, parts))
            case Case(branches=branches, default=default):
                results = [result for _, result in branches] + [default]
                parts = tuple(self._place(own) for own in results if not is_null(own))
                kind = node.facts.type

                def chosen(places: Sequence[Any], _: Known) -> Any:
                    return hull_of([places[part] for part in parts], kind)

                return self._once((Case, kind, parts), lambda: self._made(chosen, parts))

    def _once(self, what: Hashable, new: Callable[[], int]) -> int:
        """The place of the same node that was met before, else a new one."""
        if what not in self._known:
            self._known[what] = new()
        return self._known[what]

    def _made(self, step: Step, parts: Sequence[int]) -> int:
        """A step, or its range where no row changes what it is made of."""
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
