"""What DuckDB says of a CSV file that it cannot read, in words that show nothing of the line: that is somebody's row.

Tests: tests/unit/engine/test_csv_errors.py.
"""

from __future__ import annotations

import re

from dpsql.engine.duckdb.files import no_utf_8

__all__ = ["is_unread", "told", "where"]

BROKEN_LINE = (
    "A CSV file has a line that is no row: an open quote, too few or too many values, another end than others, "
    "or over 2 MB. Mend the file. A large one with texts of many lines may be right and not be read: write Parquet."
)
_BROKEN = ("CSV Error on Line", "Parallel CSV Reader", "CSV Parser state machine")  # What DuckDB says of one.
_LINE = re.compile(r"CSV Error on Line: (\d+)")
_FILE = re.compile(r"^ *file = (.+)$", re.MULTILINE)
_WHY = (
    (re.compile(r"^Expected Number of Columns: (\d+) Found: (\d+)$", re.MULTILINE), r"\2 values, where there are \1"),
    (re.compile("^Value with unterminated quote found", re.MULTILINE), "a quote that is not closed"),
    (re.compile("^Invalid unicode", re.MULTILINE), "bytes that are no UTF-8"),
    (re.compile("^Maximum line size of .* exceeded", re.MULTILINE), "more than 2 MB"),
)
"""What it gives as the reason, and what the owner is told of it."""


def is_unread(said: str) -> bool:
    """Whether DuckDB speaks of a CSV file that it cannot read."""
    return any(words in said for words in _BROKEN)


def told(said: str) -> str:
    """What may be told of it to anybody: a fixed text, or the name of a file in another encoding."""
    file = _FILE.search(said)
    return no_utf_8(file[1]) if "not utf-8 encoded" in said and file else BROKEN_LINE


def where(said: str) -> str:
    """The file, the line and the reason, as far as DuckDB says them, for the owner's log.

    >>> said = "CSV Error on Line: 3\\nOriginal Line: 2,7\\nExpected Number of Columns: 3 Found: 2\\n  file = a.csv"
    >>> where(said)
    'a.csv, line 3: 2 values, where there are 3.'
    """
    file, line = (pattern.search(said) for pattern in (_FILE, _LINE))
    found = next((match.expand(why) for pattern, why in _WHY if (match := pattern.search(said))), "it is no row")
    place = [*([file[1]] if file else ["a CSV file"]), *([f"line {line[1]}"] if line else [])]
    return f"{', '.join(place)}: {found}."
