"""SQL as people read it: long lists of values, and branches of a CASE that differ in a value, are cut.

Tests: tests/unit/answers/shown/test_shortened.py.
"""

from __future__ import annotations

import re
from functools import partial

__all__ = ["shortened"]

SHOWN = 5  # Of a list that is cut. A choice, as the next one.
LONG = 20  # Items that are shown whole.

VALUE = r"(?:CAST\((?:\$\d+|\?|:\w+) AS [A-Z][A-Z ]*(?:\(\d+(?:, \d+)?\))?\)|[$:]\w+|\?|-?\d[\w.]*|'(?:[^']|'')*+')"
BRANCH = rf'WHEN [\w."]+ = {VALUE} THEN \d+'
RUNS = tuple((re.compile(f"{one}(?:{gap}{one}){{{LONG},}}"), re.compile(one), gap) for one, gap in (
    (VALUE, ", "),
    (BRANCH, " "),
))  # fmt: skip


def shortened(sql: str) -> str:
    """The text with a few items of each long list, and how many more there are.

    >>> shortened("x IN (" + ", ".join(map(str, range(640))) + ")")
    'x IN (0, 1, 2, 3, 4, ... 635 more)'
    """
    for run, one, gap in RUNS:
        sql = run.sub(partial(_cut, one, gap), sql)
    return sql


def _cut(one: re.Pattern[str], gap: str, found: re.Match[str]) -> str:
    items = one.findall(found[0])
    return gap.join([*items[:SHOWN], f"... {len(items) - SHOWN:,} more"])
