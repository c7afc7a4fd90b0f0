"""Spark's types by the kind of values that they hold, and as they are written.

Tests: tests/doors/test_spark_engine.py.
"""

from __future__ import annotations

from typing import Any

from dpsql.engine.database import SourceType

__all__ = ["source_type", "wire_type", "written"]

_FAMILIES = {
    **dict.fromkeys(("byte", "short", "integer", "long"), "integer"),
    **dict.fromkeys(("float", "double"), "real"),
    **dict.fromkeys(("string", "char", "var_char"), "text"),
    "boolean": "boolean",
    "date": "date",
    **dict.fromkeys(("timestamp", "timestamp_ntz"), "timestamp"),
    **dict.fromkeys(("array", "struct", "map"), "nested"),
}
_NAMES = {
    "byte": "TINYINT",
    "short": "SMALLINT",
    "integer": "INT",
    "long": "BIGINT",
    "var_char": "STRING",
    "char": "STRING",
}
_WIRES = {
    "long": "BIGINT",
    "double": "DOUBLE",
    "string": "VARCHAR",
    "date": "DATE",
    "timestamp_ntz": "TIMESTAMP",
    "boolean": "BOOLEAN",
}


def _kind(data_type: Any) -> str:
    return data_type.WhichOneof("kind") or "null"


def written(data_type: Any) -> str:
    """A type as SQL has it."""
    kind = _kind(data_type)
    if kind == "decimal":
        return f"DECIMAL({data_type.decimal.precision},{data_type.decimal.scale})"
    return _NAMES.get(kind, kind.upper())


def source_type(data_type: Any) -> SourceType:
    """The type of a column of the source."""
    kind = _kind(data_type)
    if kind == "decimal":
        places = data_type.decimal.scale
        return SourceType(written(data_type), "decimal" if places > 0 else "wide", max(places, 0))
    return SourceType(
        written(data_type), _FAMILIES.get(kind, "other"), zoned=kind == "timestamp", alike=_alike(data_type)
    )


def _alike(data_type: Any) -> str:
    """What to write instead of a type in which equal values can have several texts."""
    kind = _kind(data_type)
    if kind == "string" and getattr(data_type.string, "collation", "") not in ("", "UTF8_BINARY"):
        return "Its collation does that: write its one form in a view, such as lower(x) COLLATE UTF8_BINARY."
    return "" if kind in _FAMILIES or kind == "binary" else "Write an integer or a text of it in a view."


def wire_type(data_type: Any) -> str:
    """The wire type of a column of a result, or ``"?"``."""
    kind = _kind(data_type)
    if kind == "decimal":
        return "HUGEINT" if (data_type.decimal.precision, data_type.decimal.scale) == (38, 0) else "?"
    return _WIRES.get(kind, "?")
