"""DuckDB's types by the kind of values that they hold.

Tests: tests/unit/owner/test_bounded.py, tests/unit/owner/test_owners.py.
"""

from __future__ import annotations

import re

from dpsql.engine.database import SourceType

__all__ = ["source_type"]

_FAMILIES = {
    **dict.fromkeys(("TINYINT", "SMALLINT", "INTEGER", "BIGINT", "UTINYINT", "USMALLINT", "UINTEGER"), "integer"),
    **dict.fromkeys(("UBIGINT", "HUGEINT", "UHUGEINT"), "wide"),
    **dict.fromkeys(("FLOAT", "DOUBLE"), "real"),
    **dict.fromkeys(("VARCHAR", "UUID"), "text"),
    "BOOLEAN": "boolean",
    "DATE": "date",
}


def source_type(name: str) -> SourceType:
    """The type that DuckDB calls by this name.

    >>> source_type("DECIMAL(10,2)").places, source_type("TIMESTAMP WITH TIME ZONE").zoned
    (2, True)
    >>> source_type("INTEGER[]").family, source_type("ENUM('a', 'b')").family
    ('nested', 'text')
    """
    if name.endswith("]") or name.startswith(("STRUCT", "MAP", "UNION")):
        return SourceType(name, "nested")
    if name.startswith("DECIMAL"):
        return SourceType(name, "decimal", places=int(re.findall(r"\d+", name)[1]))
    if name.startswith("TIMESTAMP"):
        return SourceType(name, "timestamp", zoned=name.endswith("WITH TIME ZONE"))
    if name.startswith("ENUM"):
        return SourceType(name, "text")
    return SourceType(name, _FAMILIES.get(name, "other"))
