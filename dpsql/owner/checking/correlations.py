"""Does one attribute of a metric give another away? For the owner's eyes. Runs in the owner's process.

A metric protects what is not known already. Where a row's value of one attribute tells its value of another, precise
answers about the first are answers about the second, however little its own distances allow.

Tests: tests/unit/owner/checking/test_check.py.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from itertools import permutations

from dpsql.engine.database import SourceTable

__all__ = ["revealing_pairs"]

LEAST_ROWS = 20
"""The fewest rows of one value from which others are guessed; with fewer they would be guesses by chance. A guess."""
LEAST_SPARED = 0.5
"""The share of wrong guesses that knowing the other attribute must spare before the owner is warned. A guess."""

Row = Callable[[str], tuple[int, ...]]
"""Runs a query of counts that has one row."""


def revealing_pairs(
    source: SourceTable, values: Mapping[str, str], row: Row
) -> Iterator[tuple[str, str, int, int, int]]:
    """Pairs of attributes of which the first tells the second.

    Args:
        source: The table.
        values: Attribute to SQL of its value over a row ``s``.
        row: Runs queries.

    Returns:
        (telling attribute, told one, rows looked at, right guesses of the told value without the other, and with it).
    """
    whole = partial(source.dialect.cast, wire="BIGINT")
    for one, other in permutations(values, 2):
        counts = f"SELECT {values[one]} AS a, {values[other]} AS b, count(*) AS n FROM {source.sql} AS s GROUP BY 1, 2"
        common = (
            f"SELECT b, n FROM (SELECT a, b, n, sum(n) OVER (PARTITION BY a) AS m FROM ({counts}) AS c) AS c "
            f"WHERE m >= {LEAST_ROWS}"
        )
        best = f"SELECT max(n) AS top FROM ({counts}) AS c GROUP BY a HAVING sum(n) >= {LEAST_ROWS}"
        rows, without, given = row(
            f"SELECT (SELECT {whole('sum(n)')} FROM ({common}) AS c), "
            f"(SELECT {whole('max(m)')} FROM (SELECT sum(n) AS m FROM ({common}) AS c GROUP BY b) AS c), "
            f"(SELECT {whole('sum(top)')} FROM ({best}) AS c)"
        )
        if rows > without and given - without >= LEAST_SPARED * (rows - without):
            yield one, other, rows, without, given
