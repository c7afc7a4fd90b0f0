"""PostgreSQL's types by the kind of values that they hold.

Tests: tests/doors/test_postgres_engine.py.
"""

from __future__ import annotations

from dpsql.engine.database import SourceType

__all__ = ["PLACES", "source_type"]

PLACES = 12
"""Digits behind the point that are read of a numeric that states none. It is a choice."""

_FAMILIES = {
    **dict.fromkeys(("smallint", "integer", "bigint"), "integer"),
    **dict.fromkeys(("real", "double precision"), "real"),
    **dict.fromkeys(("text", "character varying", "character", "uuid", "name", "citext"), "text"),
    "boolean": "boolean",
    "date": "date",
    "timestamp without time zone": "timestamp",
    "timestamp with time zone": "timestamp",
}


def source_type(name: str, category: str, modifier: int) -> SourceType:
    """The type that PostgreSQL calls by this name.

    Args:
        name: As `format_type` writes it without a modifier.
        category: PostgreSQL's ``typcategory``.
        modifier: Its ``typmod``, -1 for none.

    >>> source_type("numeric", "N", (10 << 16 | 2) + 4).places, source_type("mood", "E", -1).family
    (2, 'text')
    >>> source_type("numeric", "N", (20 << 16) + 4).family, source_type("integer[]", "A", -1).family
    ('wide', 'nested')
    """
    if name == "numeric":
        places = _scale(modifier)
        return SourceType("numeric", "decimal", places) if places > 0 else SourceType("numeric", "wide")
    if category in "AC":
        return SourceType(name, "nested")
    if category == "E":
        return SourceType(name, "text")
    return SourceType(name, _FAMILIES.get(name, "other"), zoned=name.endswith("with time zone"))


def _scale(modifier: int) -> int:
    """The digits behind the point; a scale is 11 bits, and may be below 0."""
    if modifier < 0:
        return PLACES
    scale = (modifier - 4) & 0x7FF
    return scale - 0x800 if scale > 0x3FF else scale
