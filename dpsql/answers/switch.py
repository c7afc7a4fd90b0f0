"""``SET intervals``: whether a door shows the ends of intervals as columns. The session knows nothing of it.

Tests: tests/unit/server/test_outlines.py, tests/unit/test_dbapi.py.
"""

from __future__ import annotations

import re

from dpsql.answers.answer import Answer, public
from dpsql.errors import ProgrammingError
from dpsql.plan.types import Type

__all__ = ["intervals_set", "set_answer"]

_INTERVALS = re.compile(r"\s*SET\s+(?:SESSION\s+)?intervals\s*(?:=|\sTO\s)\s*'?(\w+)'?\s*;?\s*", re.IGNORECASE)
_ON = {"on": True, "true": True, "yes": True, "1": True}
_OFF = dict.fromkeys(("off", "false", "no", "0", "null", "default"), False)


def intervals_set(sql: str) -> bool | None:
    """Whether a statement turns intervals on or off; None where it does neither.

    Raises:
        ProgrammingError: It says something else of them.

    >>> intervals_set("SET intervals = on"), intervals_set("set intervals to 'off';"), intervals_set("SELECT 1")
    (True, False, None)
    """
    found = _INTERVALS.fullmatch(sql)
    if found is None:
        return None
    word = found[1].lower()
    if word not in _ON | _OFF:
        raise ProgrammingError("intervals is on or off. Write SET intervals = on.")
    return (_ON | _OFF)[word]


def set_answer(on: bool) -> Answer:
    """What ``SET intervals`` returns."""
    return public(("option", "value"), (Type.TEXT, Type.TEXT), [("intervals", "on" if on else "off")])
