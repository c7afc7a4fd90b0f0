"""Comparisons, conditions and choices, for every type whose values have an order."""

from __future__ import annotations

from collections.abc import Iterator

from dpsql.plan.functions.rules import first_of, greatest, least, same
from dpsql.plan.functions.table import BOOLEAN, DATE, INTEGER, REAL, TEXT, TIMESTAMP, Function, Nulls

__all__ = ["LOGIC", "ORDERED"]

WIDER = {INTEGER: (REAL,), DATE: (TIMESTAMP,)}
ORDERED = (INTEGER, REAL, TEXT, DATE, TIMESTAMP, BOOLEAN)


def _comparisons() -> Iterator[Function]:
    for kind in ORDERED:
        pair = (kind, kind)
        for sign in ("=", "<>", "<", "<=", ">", ">="):
            sql = f"({{0}} {sign} {{1}})"
            yield Function(sign, pair, BOOLEAN, sql, written=sql)
        sql = "({0} IS DISTINCT FROM {1})"
        yield Function("is_distinct_from", pair, BOOLEAN, sql, written=sql, nulls=Nulls.NEVER)
        yield Function(
            "in", pair, BOOLEAN, "({0} IN ({rest}))", written="({0} IN ({rest}))", variadic=True, nulls=Nulls.ONLY
        )  # fmt: skip
        yield Function("is_null", (kind,), BOOLEAN, "({0} IS NULL)", written="({0} IS NULL)", nulls=Nulls.NEVER)


def _conditions() -> Iterator[Function]:
    for name in ("and", "or"):
        sql = f"({{0}} {name.upper()} {{1}})"
        yield Function(name, (BOOLEAN, BOOLEAN), BOOLEAN, sql, written=sql, nulls=Nulls.ONLY)
    yield Function("not", (BOOLEAN,), BOOLEAN, "(NOT {0})", written="(NOT {0})")


def _choices() -> Iterator[Function]:
    for kind in ORDERED:
        pair = (kind, kind)
        ranged = kind not in (TEXT, BOOLEAN)
        for name, rule in (("coalesce", first_of), ("ifnull", first_of), ("greatest", greatest), ("least", least)):
            yield Function(
                name, pair, kind, f"{'COALESCE' if rule is first_of else name}({{*}})", written=f"{name}({{*}})",
                variadic=name != "ifnull", interval=rule if ranged else None, nulls=Nulls.ALL,
            )  # fmt: skip
        for second in (kind, *WIDER.get(kind, ())):  # the value keeps its own type, whatever it is compared with
            compared = "timestamp_from_date({0})" if (kind, second) == (DATE, TIMESTAMP) else "{0}"
            yield Function(
                "nullif", (kind, second), kind, f"CASE WHEN {compared} = {{1}} THEN NULL ELSE {{0}} END",
                written="NULLIF({0}, {1})", interval=same if ranged else None, nulls=Nulls.OPEN,
            )  # fmt: skip


LOGIC: tuple[Function, ...] = (*_comparisons(), *_conditions(), *_choices())
