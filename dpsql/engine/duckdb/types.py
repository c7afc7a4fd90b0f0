"""DuckDB's types by the kind of values that they hold.

Tests: tests/unit/owner/building/test_bounded.py, tests/unit/owner/building/test_owners.py.
"""

from __future__ import annotations

import re

from dpsql.engine.database import SourceType

__all__ = ["COLLATED", "EQUAL", "source_type"]

EQUAL = ("'a'", "'A'", "'á'", "'a' || chr(769)", "'ａ'", "'a' || chr(0)")
"""SQL of texts that differ. Collations take some of them for equal: those without case, without accents, of Unicode's
normal form and of languages."""
COLLATED = "Its collation does that: write its one form in a view, such as decode(encode(lower(x)))."

_FAMILIES = {
    **dict.fromkeys(("TINYINT", "SMALLINT", "INTEGER", "BIGINT", "UTINYINT", "USMALLINT", "UINTEGER"), "integer"),
    **dict.fromkeys(("UBIGINT", "HUGEINT", "UHUGEINT"), "wide"),
    **dict.fromkeys(("FLOAT", "DOUBLE"), "real"),
    **dict.fromkeys(("VARCHAR", "UUID"), "text"),
    "BOOLEAN": "boolean",
    "DATE": "date",
}
_ONE_TEXT = frozenset({"BLOB", "BIT", "TIME", "JSON"})
"""Other types in which no two texts are equal; JSON is a text here. An INTERVAL of a day is one of 24 hours."""
_ALIKE = {"INTERVAL": "Write epoch_us(x), its microseconds, in a view."}


def source_type(name: str) -> SourceType:
    """The type that DuckDB calls by this name.

    >>> source_type("DECIMAL(10,2)").places, source_type("TIMESTAMP WITH TIME ZONE").zoned
    (2, True)
    >>> source_type("INTEGER[]").family, source_type("ENUM('a', 'b')").family
    ('nested', 'text')
    >>> source_type("INTERVAL").alike, source_type("BLOB").alike
    ('Write epoch_us(x), its microseconds, in a view.', '')
    """
    if name.endswith("]") or name.startswith(("STRUCT", "MAP", "UNION")):
        return SourceType(name, "nested")
    if name.startswith("DECIMAL"):
        return SourceType(name, "decimal", places=int(re.findall(r"\d+", name)[1]))
    if name.startswith("TIMESTAMP"):
        return SourceType(name, "timestamp", zoned=name.endswith("WITH TIME ZONE"))
    if name.startswith("ENUM"):
        return SourceType(name, "text")
    if name in _FAMILIES or name in _ONE_TEXT:
        return SourceType(name, _FAMILIES.get(name, "other"))
    return SourceType(name, "other", alike=_ALIKE.get(name, "Write an integer or a text of it in a view."))
