"""PostgreSQL's types by the kind of values that they hold.

Tests: tests/doors/test_postgres_engine.py.
"""

from __future__ import annotations

from dpsql.engine.database import SourceType

__all__ = ["PLACES", "source_type"]

_ONE_TEXT = frozenset(
    {"bytea", "oid", "inet", "cidr", "macaddr", "macaddr8", "time without time zone", "time with time zone"}
    | {"bit", "bit varying"}
)
"""Other types in which equal values have one text. What is neither here nor below may be of any extension."""
_ALIKE = {
    "interval": "Write CAST(extract(epoch FROM x) * 1000000 AS bigint), its microseconds, in a view.",
    "citext": "Write lower(x::text) in a view.",
}
COLLATED = 'Its collation does that: write its one form in a view, such as lower(x) COLLATE "C".'
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


def source_type(name: str, category: str, modifier: int, *, collated: bool = False) -> SourceType:
    """The type that PostgreSQL calls by this name.

    Args:
        name: As `format_type` writes it without a modifier.
        category: PostgreSQL's ``typcategory``.
        modifier: Its ``typmod``, -1 for none.
        collated: Whether it has a collation that takes texts for equal although they differ.

    >>> source_type("numeric", "N", (10 << 16 | 2) + 4).places, source_type("mood", "E", -1).family
    (2, 'text')
    >>> source_type("numeric", "N", (20 << 16) + 4).family, source_type("integer[]", "A", -1).family
    ('wide', 'nested')
    >>> source_type("public.citext", "S", -1).alike, source_type("bytea", "U", -1).alike
    ('Write lower(x::text) in a view.', '')
    """
    if name == "numeric":
        places = _scale(modifier)
        return SourceType("numeric", "decimal", places) if places > 0 else SourceType("numeric", "wide")
    if category in "AC":
        return SourceType(name, "nested")
    if category == "E":
        return SourceType(name, "text")
    family, zoned = _FAMILIES.get(name, "other"), name.endswith("with time zone")
    return SourceType(name, family, zoned=zoned, alike=COLLATED if collated else _alike(name, family))


def _alike(name: str, family: str) -> str:
    """What to write instead of a type in which equal values can have several texts: jsonb has 1 and 1.0."""
    alike = _ALIKE.get(name.rpartition(".")[2], "")  # an extension's has its schema before it
    if alike or family != "other" or name in _ONE_TEXT:
        return alike
    return "Write an integer or a text of it in a view."


def _scale(modifier: int) -> int:
    """The digits behind the point; a scale is 11 bits, and may be below 0."""
    if modifier < 0:
        return PLACES
    scale = (modifier - 4) & 0x7FF
    return scale - 0x800 if scale > 0x3FF else scale
