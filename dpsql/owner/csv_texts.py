"""Texts of a CSV file, as its table's policy says that they are written, put as they are read without.

Each text is read by itself, and none makes a statement fail: what is written otherwise than a format says is NULL, as
any other text that is no value of its column's type. Which lines there are was settled before (`engine.duckdb.files`).

Tests: tests/unit/owner/test_csv_texts.py.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dpsql.engine.database import SourceTable
    from dpsql.engine.dialect import Dialect

__all__ = ["as_written", "without"]

_ALIKE = {" ": " \N{NO-BREAK SPACE}\N{NARROW NO-BREAK SPACE}\N{THIN SPACE}", "'": "'\N{RIGHT SINGLE QUOTATION MARK}"}
"""How programs write these signs between thousands: French ones a narrow space, Swiss ones a curved apostrophe."""


def as_written(
    source: SourceTable, csv: Sequence[tuple[str, tuple[str, ...]]], declared: Mapping[str, str]
) -> SourceTable:
    """The rows of a CSV file whose texts were rewritten; any others as they are.

    Args:
        source: The rows, by the policy's names.
        csv: Options and their texts; see `CsvPolicy.options`.
        declared: The types of the columns that the policy names.
    """
    if not csv or source.typed:
        return source
    words, options = source.dialect, dict(csv)
    types = {name.lower(): type_ for name, type_ in declared.items()}
    shown = [
        f"{_rewritten(words, words.quoted(name), types.get(name.lower(), 'text'), options)} AS {words.quoted(name)}"
        for name in source.types
    ]
    return replace(source, sql=f"(SELECT {', '.join(shown)} FROM {source.sql} AS r)")


def _rewritten(words: Dialect, text: str, type_: str, options: Mapping[str, tuple[str, ...]]) -> str:
    """SQL of one text."""

    def one_of(name: str) -> str:
        return f"{text} IN ({', '.join(map(words.text, options[name]))})"

    cases = [f"WHEN {one_of('nullstr')} THEN NULL"] if "nullstr" in options else []
    read = text
    if type_ == "boolean":
        for name, value in (("true_values", "true"), ("false_values", "false")):
            cases += [f"WHEN {one_of(name)} THEN {words.text(value)}"] if name in options else []
    elif type_ == "date" and "dateformat" in options:
        read = words.call("day_by_format", text, words.text(*options["dateformat"]))
    elif type_ == "timestamp" and "timestampformat" in options:
        read = words.call("moment_by_format", text, words.text(*options["timestampformat"]))
    elif type_ in ("integer", "real", "decimal"):
        for thousands in options.get("thousands", ()):
            read = without(words, read, thousands)
        for decimal in options.get("decimal_separator", ()):
            if "." not in options.get("thousands", ()):  # then a point is no part of a number
                cases.append(f"WHEN {words.call('contains', text, words.text('.'))} THEN NULL")
            read = words.call("replace", read, words.text(decimal), words.text("."))
    return f"CASE {' '.join(cases)} ELSE {read} END" if cases else read


def without(words: Dialect, text: str, thousands: str) -> str:
    """SQL of a number without what stands between its thousands."""
    for sign in _ALIKE.get(thousands, thousands):
        text = words.call("replace", text, words.text(sign), words.text(""))
    return text
