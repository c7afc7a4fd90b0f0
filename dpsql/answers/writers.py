"""An answer as a file: CSV, JSON or Parquet."""

from __future__ import annotations

import csv
import io
import json
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from datetime import date, datetime
from decimal import Decimal
from fractions import Fraction
from typing import Any

from dpsql.answers.answer import NOT_PRIVATE, Answer
from dpsql.answers.shown.screen import safe

__all__ = ["WRITERS", "json_value", "to_csv", "to_json", "to_parquet"]

_FORMULA = ("=", "+", "-", "@", "＝", "＋", "－", "＠")
"""What begins a formula in a spreadsheet: OWASP, CSV injection; with the full width forms."""


def to_csv(answer: Answer) -> bytes:
    """Column names and rows, unrounded; text that a spreadsheet would run as a formula starts with an apostrophe.

    NULL is an empty cell, and an empty text is one in quotes, as DuckDB writes them. An answer that is not
    private has a last column that says so.
    """
    text = io.StringIO()
    write = csv.writer(text, lineterminator="\n")
    stamp = () if answer.private else (NOT_PRIVATE,)
    write.writerow([_cell(name) for name in (*answer.columns, *stamp)])
    for row in answer.rows:
        cells = [*map(_cell, row), *(None for _ in stamp)]
        if "" in cells and len(cells) > 1:
            text.write(",".join(_written(cell) for cell in cells) + "\n")
        else:
            write.writerow(cells)
    return text.getvalue().encode()


def _written(cell: str | None) -> str:
    """One cell of a line that has an empty text, which Python's writer would leave out as it does NULL."""
    if not cell:
        return "" if cell is None else '""'
    line = io.StringIO()
    csv.writer(line, lineterminator="").writerow([cell])
    return line.getvalue()


def _cell(value: Any) -> str | None:
    match value:
        case None:
            return None
        case str():
            shown = safe(value)
            return f"'{shown}" if shown.lstrip().startswith(_FORMULA) else shown
        case list():
            return _dump(value)
        case _:
            return str(json_value(value)) if not isinstance(value, bool) else str(value).lower()


def to_json(answer: Answer) -> bytes:
    """One JSON object: columns with types and intervals, rows, cost, measurements.

    Numbers that are not finite, as a loss can be, are null. The text is ASCII, so that no terminal acts on it.
    """
    document = {
        "columns": [
            {"name": name, "type": kind.value, **_interval(answer, column)}
            for column, (name, kind) in enumerate(zip(answer.columns, answer.types, strict=True))
        ],
        "rows": answer.rows,
        "cost": asdict(answer.cost),
        "measurements": [asdict(measurement) for measurement in answer.measurements],
        "replayed": answer.replayed,
        "private": answer.private,
        **({} if answer.private else {"warning": NOT_PRIVATE}),
    }
    text = "{\n" + ",\n".join(f"  {_dump(key)}: {_part(value)}" for key, value in document.items()) + "\n}\n"
    return text.encode()


def _part(value: Any) -> str:
    """A list with one element a line, anything else on one line."""
    if not isinstance(value, list) or not value:
        return _dump(value)
    return "[\n" + ",\n".join(f"    {_dump(element)}" for element in value) + "\n  ]"


def _dump(value: Any) -> str:
    return json.dumps(json_value(value), ensure_ascii=True, allow_nan=False).replace("\x7f", "\\u007f")


def _interval(answer: Answer, column: int) -> dict[str, Any]:
    ends = answer.ends(column)
    return {"confidence": answer.confidence, "intervals": ends} if ends else {}


def json_value(value: Any) -> Any:
    """The value in JSON's own types."""
    match value:
        case Mapping():
            return {str(key): json_value(inner) for key, inner in value.items()}
        case str() | bool() | int() | None:
            return value
        case float():
            return value if math.isfinite(value) else None
        case Fraction() | Decimal():
            return int(value) if value == int(value) else float(value)
        case datetime() | date():
            return value.isoformat()
        case Sequence():
            return [json_value(inner) for inner in value]
        case _:
            raise TypeError(f"{type(value).__name__} is not a type of answers")


def to_parquet(answer: Answer) -> bytes:
    """The rows as a Parquet file; needs the extra ``arrow``.

    Raises:
        MissingExtra: If pyarrow is not installed.
    """
    table = answer.to_arrow()
    from pyarrow import parquet

    file = io.BytesIO()
    parquet.write_table(table, file)
    return file.getvalue()


WRITERS: Mapping[str, Callable[[Answer], bytes]] = {"csv": to_csv, "json": to_json, "parquet": to_parquet}
"""File formats by name."""
