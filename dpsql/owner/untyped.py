"""What the columns of files hold that say no types, or write numbers and days as some countries do.

Those of a public table analysts see as texts until the policy declares their types.

Tests: tests/unit/owner/test_untyped.py.
"""

from __future__ import annotations

from dpsql.engine.database import Database, SourceTable
from dpsql.owner.shape import NUMERIC, ColumnShape

__all__ = ["read_otherwise", "types_to_declare"]


def types_to_declare(database: Database, source: SourceTable) -> str | None:
    """What the owner of such a table is told; None where the source has types, or all of its columns hold texts.

    Public tables alone are asked. Runs in the owner's process.
    """
    if source.typed:
        return None
    found = ", ".join(f"{name}: {{type: {kind}}}" for name, kind in _held(database, source).items())
    if not found:
        return None
    return (
        f"is a CSV file, whose columns are text where the policy declares none. To compute with them write columns: "
        f"{{{found}}}, and {{type: text}} for each of the others that analysts may use."
    )


def read_otherwise(database: Database, source: SourceTable, column: ColumnShape) -> str:
    """What the owner can do where texts are numbers with a decimal comma, or days with points, or no booleans.

    Runs in the owner's process, of a column of which some texts could not be read.
    """
    words, text = database.dialect, f"s.{database.dialect.quoted(column.name)}"
    kind = source.type_of(column.name)
    if kind is None or kind.family not in ("text", "untyped"):
        return ""
    if column.type == "boolean":
        listed = "" if source.typed else ", or csv: {true_values: [..], false_values: [..]} at the table in the policy"
        return (
            " Of texts true, t, yes, y, 1 and 1.0 are read, and false, f, no, n, 0 and 0.0. For others write type: "
            f"text with their values{listed}."
        )
    if column.type in NUMERIC:
        dotted = f"replace(replace({text}, {words.text('.')}, {words.text('')}), {words.text(',')}, {words.text('.')})"
        so = f"{words.call('contains', text, words.text(','))} AND {words.call('double_of_text', dotted)} IS NOT NULL"
        how, options = "with a decimal comma", {"decimal_separator": ",", "thousands": "."}
    elif column.type == "date":
        so, how, options = f"substr({text}, 3, 1) = {words.text('.')}", "as 31.12.2024", {"dateformat": "%d.%m.%Y"}
    else:
        return ""
    ((found,),) = database.rows(
        f"SELECT count(*) FILTER (WHERE so) FROM (SELECT {so} AS so FROM {source.sql} AS s) AS q"
    )
    if not found:
        return ""
    if not source.typed:
        written = ", ".join(f"{name}: '{value}'" for name, value in options.items())
        return f" {found} are written {how}. Write csv: {{{written}}} at the table in the policy."
    written = ", ".join(f"{name} = '{value}'" for name, value in options.items())
    return (
        f" {found} are written {how}. Have DuckDB read the file, CREATE TABLE t AS FROM read_csv('FILE.csv', {written})"
        ", and name its database in the policy; or write 1234.56 and 2024-12-31 in the file."
    )


def _held(database: Database, source: SourceTable) -> dict[str, str]:
    """Of each column that could be declared another type than text, by all of its values, which type."""
    words, conditions = database.dialect, list[str]()
    for name in source.types:
        text = f"s.{words.quoted(name)}"
        number, whole, day = (words.call(f"{wire}_of_text", text) for wire in ("double", "bigint", "date"))
        conditions += [
            f"{text} IS NOT NULL",
            f"{number} IS NOT NULL",
            f"{number} = {words.call('double_of_integer', whole)}",
            f"{day} IS NOT NULL",
            words.call("contains", text, words.text(":")),
        ]
    held = [(f"c{place}", condition) for place, condition in enumerate(conditions)]
    counts = ", ".join(f"count(*) FILTER (WHERE {name})" for name, _ in held)
    each = ", ".join(f"({condition}) AS {name}" for name, condition in held)
    (found,) = database.rows(f"SELECT {counts} FROM (SELECT {each} FROM {source.sql} AS s) AS q")
    own = (found[place : place + 5] for place in range(0, len(found), 5))
    kinds = {name: _kind(*map(int, counts)) for name, counts in zip(source.types, own, strict=True)}
    return {name: kind for name, kind in kinds.items() if kind is not None}


def _kind(there: int, numbers: int, whole: int, days: int, clocks: int) -> str | None:
    """The type that all values of a column have, by how many are there, and are of each; None for texts."""
    if there == 0:
        return None
    if numbers == there:
        return "integer" if whole == there else "real"
    if days == there:
        return "timestamp" if clocks else "date"
    return None
