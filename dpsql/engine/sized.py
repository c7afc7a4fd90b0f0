"""Units' totals added up by how much each unit has, as SQL over their rows.

Tests: tests/unit/mechanisms/test_clamped.py.
"""

from __future__ import annotations

from dpsql.engine.printer import Printer
from dpsql.plan.needs import Sized

__all__ = ["sized_totals"]


def sized_totals(printer: Printer, need: Sized, rows: str, x: str, unit: str) -> str:
    """SQL of what `Sized` describes.

    Args:
        printer: Collects what the text uses.
        need: What is wanted.
        rows: SQL of one row for each unit and group: its keys, the unit where it has several, and the total.
        x: The column of the total, in grid steps.
        unit: The column of the unit.
    """
    keys = [printer.quoted(key.name) for key in need.source.keys]
    size, first, held = (printer.quoted(name) for name in ("size", "first", "bin"))
    several = bool(keys) and not need.single
    printer.functions |= {"-", "row_number"} if several else {"-"}
    whole, place = f"CASE WHEN {x} < 0 THEN 0 - {x} ELSE {x} END", "1"
    if several:  # what the unit has in all groups, and the one group in which it is counted
        whole = printer.call("sum_within", whole, unit)
        place = f"row_number() OVER (PARTITION BY {unit} ORDER BY {', '.join(f'{key} NULLS FIRST' for key in keys)})"
    columns = ", ".join([*keys, x])
    rows = f"SELECT {columns}, {whole} AS {size}, {place} AS {first} FROM ({rows}) AS q WHERE {x} <> 0"
    bins = " ".join(f"WHEN {size} <= {int(edge)} THEN {index}" for index, edge in enumerate(need.edges))
    rows = f"SELECT {columns}, {first}, CASE {bins} ELSE {len(need.edges)} END AS {held} FROM ({rows}) AS q"
    one = f"CASE WHEN {first} = 1 THEN 1 ELSE 0 END"
    sign = f"CASE WHEN {first} <> 1 OR {x} = 0 THEN 0 WHEN {x} > 0 THEN 1 ELSE 0 - 1 END"
    values = [f"{printer.cast(held, 'BIGINT')} AS {held}"]
    for name, value, wire in (("units", one, "BIGINT"), ("signs", sign, "BIGINT"), ("total", x, "HUGEINT")):
        total = printer.cast(printer.call("sum_of_integers", value), wire)
        values.append(f"{total} AS {printer.quoted(name)}")
    by = ", ".join([*keys, held])
    return f"SELECT {', '.join([*keys, *values])} FROM ({rows}) AS q GROUP BY {by} ORDER BY {by}"
