"""What notes say, each once for all that it is said of.

Tests: tests/unit/answers/test_noted.py.
"""

from __future__ import annotations

from collections.abc import Iterable

__all__ = ["said_once"]


def said_once(noted: Iterable[tuple[str, str]]) -> tuple[str, ...]:
    """Each different note behind the names of all that it is of, in the order of the first.

    >>> said_once([("AVG(x)", "a"), ("AVG(x)", "b"), ("AVG(y)", "a"), ("AVG(x)", "a")])
    ('AVG(x), AVG(y): a', 'AVG(x): b')
    """
    names = dict[str, dict[str, None]]()
    for name, note in noted:
        names.setdefault(note, {})[name] = None
    return tuple(f"{', '.join(own)}: {note}" for note, own in names.items())
