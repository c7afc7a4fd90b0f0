"""Rows in a secret order of their own content within their unit: cut to a cap, or split by their rank.

Tests: tests/unit/mechanisms/capped/test_mechanism.py.
"""

from __future__ import annotations

from collections.abc import Sequence

from dpsql.engine.printer import Printer

__all__ = ["cut", "keyed_hash", "ranked"]


def cut(
    printer: Printer,
    rows: str,
    columns: list[str],
    rank: str,
    within: list[str],
    content: list[str],
    most: int,
    key: bytes,
) -> str:
    """The first ``most`` rows (or groups) of each partition, in the secret order of their own content.

    ``columns`` are all columns of ``rows``; every one is named, since the engine is never asked for ``*``.
    """
    named, place = ", ".join(columns), printer.quoted(rank)
    placed = _placed(printer, rows, columns, columns, rank, within, content, most, key)
    return f"SELECT {named} FROM ({placed}) AS q WHERE {place} <= {int(most)}"


def ranked(
    printer: Printer, rows: str, columns: list[str], unit: str, edges: Sequence[int], key: bytes
) -> tuple[str, str, str]:
    """The same rows with their rank within their unit, in the order by which `cut` cuts.

    Args:
        printer: Collects what the text uses.
        rows: SQL of rows.
        columns: All their columns.
        unit: The one of the unit.
        edges: Of the classes of ranks, rising from 1.
        key: The ledger's secret key.

    Returns:
        SQL of the rows, and over it: the class of a row's rank, and 1 for a unit's last row, else NULL.
    """
    place, n = printer.quoted("row_number"), printer.quoted("n")
    placed = _placed(printer, rows, columns, [*columns, n], "row_number", [unit], columns, 1, key)
    classes = " ".join(f"WHEN {place} <= {int(edge)} THEN {index}" for index, edge in enumerate(edges))
    return placed, f"CASE {classes} ELSE {len(edges)} END", f"CASE WHEN {place} = {n} THEN 1 END"


def _placed(
    printer: Printer,
    rows: str,
    columns: list[str],
    shown: list[str],
    rank: str,
    within: list[str],
    content: list[str],
    most: int,
    key: bytes,
) -> str:
    """The rows with their place in their partition; ``n``, how many rows that has, may be shown, too.

    Only partitions with more than ``most`` rows pay for the hash: in the others every row and group is among the first
    ``most`` anyway.
    """
    printer.functions |= {rank, "count"}
    named, partition = ", ".join(columns), f"PARTITION BY {', '.join(within)}"
    n, place = printer.quoted("n"), printer.quoted(rank)
    secret = f"CASE WHEN {n} > {int(most)} THEN {keyed_hash(printer, content, key)} END"
    order = ", ".join([secret, *(f"{column} NULLS FIRST" for column in content if column not in within)])
    counted = f"SELECT {named}, COUNT(*) OVER ({partition}) AS {n} FROM ({rows}) AS q"
    return f"SELECT {', '.join(shown)}, {rank}() OVER ({partition} ORDER BY {order}) AS {place} FROM ({counted}) AS q"


def keyed_hash(printer: Printer, columns: Sequence[str], key: bytes) -> str:
    """A secret order of rows by their own content, in an encoding that no two contents share."""
    parts = [f"CASE WHEN {c} IS NULL THEN 'N' ELSE {printer.call('with_length', c)} END" for c in columns]
    return printer.call("hash", printer.bound(key.hex(), "VARCHAR"), *parts)
