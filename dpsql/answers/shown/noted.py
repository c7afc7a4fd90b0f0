"""What notes say, each once for all that it is said of.

Tests: tests/unit/answers/shown/test_noted.py.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable

from dpsql.plan.nodes import Aggregate, Column
from dpsql.plan.plans import Plan

__all__ = ["caller", "said_once"]


def caller(plan: Plan) -> Callable[[Aggregate], str]:
    """What notes call an aggregate: by its column's name, if it was given one, or where others have the same text."""
    names, texts = {own.name: own.text for own in plan.aggregates}, Counter(own.text for own in plan.aggregates)
    for output in reversed(plan.outputs):
        shown = output.expression
        if not isinstance(shown, Column) or shown.name not in names:
            continue
        if "(" not in output.label or texts[names[shown.name]] > 1:
            names[shown.name] = output.label
    return lambda own: names.get(own.name, own.text)


def said_once(noted: Iterable[tuple[str, str]]) -> tuple[str, ...]:
    """Each different note behind the names of all that it is of, in the order of the first.

    >>> said_once([("AVG(x)", "a"), ("AVG(x)", "b"), ("AVG(y)", "a"), ("AVG(x)", "a")])
    ('AVG(x), AVG(y): a', 'AVG(x): b')
    """
    names = dict[str, dict[str, None]]()
    for name, note in noted:
        names.setdefault(note, {})[name] = None
    return tuple(f"{', '.join(own)}: {note}" for note, own in names.items())
