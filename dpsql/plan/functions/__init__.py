"""The allow-list of functions over one row: every one is total, and nothing outside this table can run.

Each row says what an analyst may write, what types it takes, which bounds follow (its interval rule), when it is
NULL, and how the engine spells it so that no value of any row can raise an error. Operators are functions too.
The rows lie in one room each: `numbers`, `logic`, `text`, `dates`, `casts`. The page docs/functions.md is made of
them (``python -m dpsql.plan.functions``), and so are their tests.

Guards are plain conditions around a call. The engine's own TRY is never used: it repeats a failing batch row by
row, which takes a thousand times as long, and so tells of the row that failed.

Tests: tests/sql, tests/unit/plan/test_functions.py.
"""

from __future__ import annotations

from collections.abc import Mapping

from dpsql.plan.functions.casts import CASTS
from dpsql.plan.functions.dates import DATES
from dpsql.plan.functions.logic import LOGIC
from dpsql.plan.functions.numbers import NUMBERS
from dpsql.plan.functions.table import INTEGER_LIMIT, REAL_LIMIT, Function, Nulls, Spelt
from dpsql.plan.functions.text import TEXTS

__all__ = ["FUNCTIONS", "INTEGER_LIMIT", "REAL_LIMIT", "ROOMS", "Function", "Nulls", "Spelt", "overloads"]

ROOMS: Mapping[str, tuple[Function, ...]] = {
    "Numbers": NUMBERS,
    "Comparisons, conditions, choices": LOGIC,
    "Text": TEXTS,
    "Dates and times": DATES,
    "Casts": CASTS,
}

FUNCTIONS: tuple[Function, ...] = tuple(function for room in ROOMS.values() for function in room)
"""Every function at every signature, in the order in which overloads are tried."""

_BY_NAME: dict[str, list[Function]] = {}
for _function in FUNCTIONS:
    _BY_NAME.setdefault(_function.name, []).append(_function)


def overloads(name: str) -> list[Function]:
    """All rows of one name, in the order in which they are tried; none where the name is not allowed."""
    return _BY_NAME.get(name, [])
