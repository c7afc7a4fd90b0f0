"""What several of Spark's spellings are made of.

Tests: tests/doors/test_spark_dialect.py.
"""

from __future__ import annotations

__all__ = ["LOCAL", "MICROS", "ceiling", "floored", "half_away", "truncated", "whole", "within"]

WHOLE = "4503599627370496"
"""2^52: no double of this size or more has a fraction."""
LOCAL = "TIMESTAMP_NTZ"
"""A moment without a zone. Spark's plain TIMESTAMP is in the session's."""
MICROS = "unix_micros(CAST({of} AS TIMESTAMP))"
"""Microseconds since 1970 of a day or a moment; the session is in UTC."""


def whole(text: str) -> str:
    """A number as a BIGINT: what Spark counts and takes apart it gives as INT."""
    return f"CAST({text} AS BIGINT)"


def within(value: str, low: str, high: str, then: str) -> str:
    """What stands behind THEN where a value lies between two ends; NULL elsewhere."""
    return f"CASE WHEN {value} BETWEEN {low} AND {high} THEN {then} END"


def _where_fractions_are(x: str, then: str) -> str:
    """Spark's own floor() and ceil() give BIGINT, at its ends for what is beyond them."""
    return f"CASE WHEN abs({x}) < {WHOLE} THEN CAST({then} AS DOUBLE) ELSE {x} END"


def floored(x: str) -> str:
    """The next whole number below a real one."""
    return _where_fractions_are(x, f"floor({x})")


def ceiling(x: str) -> str:
    """The next whole number above a real one."""
    return _where_fractions_are(x, f"ceil({x})")


def truncated(x: str) -> str:
    """A real number without its fraction."""
    return _where_fractions_are(x, f"CAST({x} AS BIGINT)")


def half_away(x: str) -> str:
    """The nearest whole number, halves away from 0. What is behind the point, doubled, is 1 or more: exact, unlike
    adding a half.
    """
    cut = f"CAST({x} AS BIGINT)"
    return _where_fractions_are(x, f"({cut} + CAST(({x} - {cut}) * 2 AS BIGINT))")
