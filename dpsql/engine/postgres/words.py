"""What several of PostgreSQL's spellings are made of.

*Underflow* is an error to PostgreSQL, and no guard sees it coming for the price of a product. So every real number is
kept a whole multiple of 2^-498: what is nearer to 0 than that counts as 0. The product of two such numbers is 0 or at
least 2^-996, which a double holds, and so is its quotient by what is within 10^150. `kept` rounds to such multiples by
adding 2^-445 and taking it away again: numbers beyond 2^-391 (10^-118) stay what they are, to the last bit.

Tests: tests/doors/test_postgres_dialect.py.
"""

from __future__ import annotations

__all__ = ["BYTES", "LAST_OF_MONTH", "NAN", "NEAREST_TO_ZERO", "ONCE", "kept", "within"]

NEAREST_TO_ZERO = 2.0**-391
"""Numbers nearer to 0 than this, 10^-118, may be rounded to multiples of 2^-498. It is a choice: far below what people
measure, far above where products of two of them could vanish."""
ADDED = "CAST('1.1006568214637918e-134' AS double precision)"
"""2^-445: a double of this size is a multiple of 2^-497, and so is what is left of a sum with it."""
NAN = "CAST('NaN' AS double precision)"
"""Not a number, which equals itself there."""
BYTES = 'COLLATE "C"'
"""By which texts are compared: byte by byte."""
ONCE = "WITH once AS (SELECT 1) "
"""What begins a subquery that is not merged with the query around it, which would repeat each expression wherever that
uses its column. One with a WITH of its own never is, and parts of it can run side by side (OFFSET 0 forbids that)."""
LAST_OF_MONTH = "date_trunc('month', {of}) + make_interval(months => 1) - make_interval(days => 1)"
"""The last day of a moment's month."""


def kept(text: str) -> str:
    """SQL of a real number, as a multiple of 2^-498."""
    return f"(({text} + {ADDED}) - {ADDED})"


def within(value: str, low: str, high: str, then: str) -> str:
    """What stands behind THEN where a value lies between two ends; NULL elsewhere."""
    return f"CASE WHEN {value} BETWEEN {low} AND {high} THEN {then} END"
