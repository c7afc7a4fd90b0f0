"""What the columns of files hold that say no types, or write numbers and days as some countries do.

Those of a public table analysts see as texts until the policy declares their types.

Tests: tests/unit/owner/checking/test_untyped.py.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

from dpsql.engine.database import Database, SourceTable
from dpsql.engine.dialect import Dialect
from dpsql.owner.building.bounded import ColumnReading
from dpsql.owner.csv_texts import without
from dpsql.owner.shape import NUMERIC, ColumnShape, TableShape

__all__ = ["left_unread", "read_otherwise", "rounded_away", "types_to_declare"]

_NUMBERS = ((",", ""), (",", "."), (",", " "), (",", "'"), (".", ","), (".", " "), (".", "'"))
"""Signs before decimals and between thousands, where there are any; the most usual ones first."""
_DAYS = {
    "%d.%m.%Y": "31.12.2024", "%d/%m/%Y": "31/12/2024", "%m/%d/%Y": "12/31/2024", "%d-%m-%Y": "31-12-2024",
    "%Y%m%d": "20241231",
}  # fmt: skip
WHOLE = 2.0**53  # Beyond it no double has decimals.
_CLOCKS = {" %H:%M": " 23:59", " %H:%M:%S": " 23:59:00", "T%H:%M:%S": "T23:59:00"}
_OPTIONS = {
    "date": ("dateformat",), "timestamp": ("timestampformat",),
    **dict.fromkeys(NUMERIC, ("decimal_separator", "thousands")),
}  # fmt: skip
"""By which options of `csv` texts of each type are read, and in no other way."""


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


def left_unread(database: Database, table: TableShape, column: ColumnShape, read: int) -> int:
    """How many texts of a CSV file are not written as the policy says that it writes them, and so read as NULL.

    Those that are written so, but are no value of the type, are none of these. Runs in the owner's process.

    Args:
        database, table, column: Where they are.
        read: How many are not NULL as the table is read.
    """
    options, words = dict(table.csv), database.dialect
    if not options.keys() & {*_OPTIONS.get(column.type, ())}:
        return 0
    text = f"s.{words.quoted(column.name)}"
    nulls = ", ".join(map(words.text, options.get("nullstr", ())))
    said = f" AND NOT {text} IN ({nulls})" if nulls else ""
    ((there,),) = database.rows(
        f"SELECT count(*) FILTER (WHERE {text} IS NOT NULL{said}) FROM {table.as_it_lies(database).sql} AS s"
    )
    return int(there) - read


def rounded_away(source: SourceTable, column: ColumnShape, read: ColumnReading) -> str:
    """SQL of whether a value has decimals where whole numbers are declared."""
    kind, words = source.type_of(column.name), source.dialect
    if column.type != "integer" or kind is None or kind.family not in ("real", "decimal", "text"):
        return "FALSE"
    value, whole = words.call(f"double_of_{kind.family}", read.raw), words.call("double_of_integer", read.parsed)
    least, most = (words.constant(end, "DOUBLE") for end in (-WHOLE, WHOLE))
    return f"coalesce({value} BETWEEN {least} AND {most} AND {value} <> {whole}, FALSE)"


def read_otherwise(database: Database, table: TableShape, column: ColumnShape) -> str:
    """What the owner can do where texts are numbers or days as some countries write them, or no booleans.

    Runs in the owner's process, of a column of which some texts could not be read.
    """
    source = table.as_it_lies(database)
    words, text = database.dialect, f"s.{database.dialect.quoted(column.name)}"
    kind = source.type_of(column.name)
    if kind is None or kind.family not in ("text", "untyped"):
        return ""
    if own := [f"{name}: {_quoted(value)}" for name, (value, *_) in table.csv if name in _OPTIONS.get(column.type, ())]:
        return f" By csv: {{{', '.join(own)}}} no other way is read: write all of a file in one way."
    if column.type == "boolean":
        listed = "" if source.typed else ", or csv: {true_values: [..], false_values: [..]} at the table in the policy"
        return (
            " Of texts true, t, yes, y, 1 and 1.0 are read, and false, f, no, n, 0 and 0.0. For others write type: "
            f"text with their values{listed}."
        )
    ways = list(_ways(words, text, column.type, source.typed))
    if not ways:
        return ""
    each = ", ".join(f"({so}) AS w{place}" for place, (_, so, _) in enumerate(ways))
    counts = ", ".join(f"count(*) FILTER (WHERE w{place})" for place in range(len(ways)))
    (counted,) = database.rows(f"SELECT {counts} FROM (SELECT {each} FROM {source.sql} AS s) AS q")
    found = max(counted)
    how, _, options = ways[counted.index(found)]
    if not found:
        return ""
    if not source.typed:
        written = ", ".join(f"{name}: {_quoted(value)}" for name, value in options.items())
        return f" {found} are written {how}. Write csv: {{{written}}} at the table in the policy."
    written = ", ".join(f"{name} = '{value}'" for name, value in options.items())
    return (
        f" {found} are written {how}. Have DuckDB read the file, CREATE TABLE t AS FROM read_csv('FILE.csv', {written})"
        ", and name its database in the policy; or write 1234.56 and 2024-12-31 in the file."
    )


def _quoted(text: str) -> str:
    return f'"{text}"' if "'" in text else f"'{text}'"


def _ways(words: Dialect, text: str, type_: str, typed: bool) -> Iterator[tuple[str, str, dict[str, str]]]:
    """Ways to write numbers or days: an example, whether a text that cannot be read is written so, and the options."""
    if type_ in NUMERIC:
        for decimal, thousands in _NUMBERS:
            bare = without(words, text, thousands)
            number = words.call("replace", bare, words.text(decimal), words.text("."))
            told = [
                f"{words.call('double_of_text', text)} IS NULL",
                f"{words.call('double_of_text', number)} IS NOT NULL",
                f"({words.call('contains', text, words.text(decimal))} OR {bare} <> {text})",
            ]
            if thousands:
                told.append(f"NOT {text} LIKE {words.text(f'%{decimal}%{thousands}%')}")
            if "." not in (decimal, thousands):
                told.append(f"NOT {words.call('contains', text, words.text('.'))}")
            options = {} if decimal == "." else {"decimal_separator": decimal}
            yield (
                f"like 1{thousands}234{decimal}50",
                " AND ".join(told),
                options | ({"thousands": thousands} if thousands else {}),
            )
    elif type_ == "date" and typed:
        yield "like 31.12.2024", f"substr({text}, 3, 1) = {words.text('.')}", {"dateformat": "%d.%m.%Y"}
    elif type_ == "date":
        for format_, example in _DAYS.items():
            so = f"{words.call('day_by_format', text, words.text(format_))} IS NOT NULL"
            yield f"like {example}", so, {"dateformat": format_}
    elif type_ == "timestamp" and not typed:
        for (day, example), (clock, shown) in product(_DAYS.items(), _CLOCKS.items()):
            so = f"{words.call('moment_by_format', text, words.text(day + clock))} IS NOT NULL"
            yield f"like {example}{shown}", so, {"timestampformat": day + clock}


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
