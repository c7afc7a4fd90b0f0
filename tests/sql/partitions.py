"""The oracles of SQLancer: what a statement says of all rows and what it says of their parts must agree, without noise.

A condition is true, false or NULL for each row. So COUNT and SUM over all rows are the sums of those over the three
parts, and people are at most as many as in the three parts together. Of public tables MIN and MAX are those of the
parts. A WHERE says the same as a FILTER, and as a CASE inside the aggregate. Nobody else is asked: both sides are ours.

Statements whose contribution bounds leave out rows or groups are passed over: of each part other rows may be left out.
So are groups of an open domain: those of few people appear in the whole, and not in the parts.

Sources: Rigger and Su, "Finding Bugs in Database Systems via Query Partitioning", OOPSLA 2020; and by the same,
"Detecting Optimization Bugs in Database Engines via Non-Optimizing Reference Engine Construction", ESEC/FSE 2020.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import hypothesis
from hypothesis import given

from dpsql.answers.shown.screen import Ends
from dpsql.errors import UnsupportedQuery
from dpsql.prepare import Prepared
from tests.sql.corpus import Block
from tests.sql.generate import Parted, examples, parted
from tests.sql.meaning import Bench, exact, leaves_out

__all__ = ["difference", "tried"]

PRICE = {"epsilon": 100, "delta": 1e-3}
UNITS = 3  # The place of the people among the aggregates.
MOST = 5  # Aggregates of a statement, at most.
PARTS = ("{}", "NOT {}", "({}) IS NULL")
SLACK = 1e-9
"""Of a value: what adding up doubles in another order may change."""

Values = Mapping[Any, Sequence[Ends]]
"""Per group, between which numbers the value of each aggregate lies."""


def difference(bench: Bench, asked: Parted) -> str | None:
    """What does not agree, in words; empty where all does; None where it says nothing, as contributions are cut.

    Raises:
        UnsupportedQuery: A statement is refused.
    """
    counts = ["COUNT(*)", f"COUNT({asked.number})", f"SUM({asked.number})", f"COUNT(DISTINCT {asked.unit})"]
    whole = _values(bench, asked, counts)
    parts = [part.format(f"({asked.condition})") for part in PARTS]
    found = [_values(bench, asked, counts, part) for part in parts]
    filters = [_values(bench, asked, [text for _, text in _filtered(asked, part)]) for part in parts]
    if whole is None or None in found or None in filters:
        return None
    told = [values for values in found if values is not None]
    for group in {group for values in (whole, *told) for group in values}:
        sums = [_sum([_of(values, group)[place] for values in told]) for place in range(len(counts))]
        for place, text in enumerate(counts):
            (low, high), (least, most) = _of(whole, group)[place], sums[place]
            least = 0 if place == UNITS else least  # who is in several parts is counted in each
            if not _meet((low, high), (least, most)):
                return f"{text} of {group} is {low} to {high}, that of its parts {sums[place]}"
    for part, values, filtered in zip(parts, told, filters, strict=True):
        for group in {*values, *(filtered or ())}:
            theirs = _of(values, group)
            for at, (place, form) in enumerate(_filtered(asked, part)):
                one, other = theirs[place], _of(filtered or {}, group)[at]
                if not _meet(one, other):
                    return f"{form} of {group} is {other}, with WHERE {one}"
    return _extremes(bench, asked, parts) if asked.public else ""


def _extremes(bench: Bench, asked: Parted, parts: Sequence[str]) -> str:
    """What does not agree of the least and the largest value."""
    for name, extreme in {"MIN": min, "MAX": max}.items():
        text = f"SELECT {name}({asked.number}) FROM {asked.source}"
        found = [bench.session.query(f"{text} WHERE {part}").rows[0][0] for part in parts]
        known = [value for value in found if value is not None]
        ((whole,),) = bench.session.query(text).rows
        if whole != (extreme(known) if known else None):
            return f"{name}({asked.number}) is {whole}, those of its parts {found}"
    return ""


def _filtered(asked: Parted, part: str) -> list[tuple[int, str]]:
    """The same aggregates without WHERE, by CASE and by FILTER, each with its place; over public rows by CASE alone."""
    cases = [
        (0, f"SUM(CASE WHEN {part} THEN 1 ELSE 0 END)"),
        (1, f"COUNT(CASE WHEN {part} THEN {asked.number} END)"),
        (2, f"SUM(CASE WHEN {part} THEN {asked.number} END)"),
    ]
    filters = [(0, f"COUNT(*) FILTER (WHERE {part})"), (2, f"SUM({asked.number}) FILTER (WHERE {part})")]
    return cases if asked.public else cases + filters


def _values(bench: Bench, asked: Parted, aggregates: Sequence[str], part: str = "") -> Values | None:
    """The aggregates by group, with a WHERE or without one; None where some contributions are left out."""
    keys = [asked.key] if asked.key else []
    text = f"SELECT {', '.join([*keys, *aggregates])} FROM {asked.source}"
    text += f" WHERE {part}" if part else ""
    text += f" GROUP BY {asked.key}" if asked.key else ""
    plan, _, rows, ends = exact(bench, Block(lines=(), sql=text, options=PRICE))
    if leaves_out(plan) or (isinstance(plan, Prepared) and plan.selection is not None):
        return None
    return {
        row[: len(keys)]: [
            _ends(row[column], ends[column][at] if ends[column] else None) for column in range(len(keys), len(row))
        ]
        for at, row in enumerate(rows)
    }


def _ends(value: Any, end: Ends | None) -> tuple[float, float]:
    """Between which numbers a value lies; nothing is 0, as it is where there are no rows."""
    low, high = (None, None) if end is None else end
    known = 0 if value is None else value
    return known if low is None else low, known if high is None else high


def _of(values: Values, group: Any) -> Sequence[Any]:
    return values.get(group) or [(0, 0)] * MOST


def _sum(ends: Sequence[Any]) -> tuple[float, float]:
    return sum(low for low, _ in ends), sum(high for _, high in ends)


def _meet(one: Any, other: Any) -> bool:
    slack = SLACK * max(1, *map(abs, (*one, *other)))
    return bool(one[0] <= other[1] + slack and other[0] <= one[1] + slack)


def tried(bench: Bench, count: int, seed: int) -> Counter[str]:
    """How many of so many random conditions were compared, how many were passed over, and how many refused.

    Raises:
        AssertionError: Something does not agree; with what was asked.
    """
    seen = Counter[str]()

    @hypothesis.seed(seed)
    @examples(count)
    @given(parted(bench.session._backend.catalog))
    def compared(asked: Parted) -> None:
        try:
            found = difference(bench, asked)
        except UnsupportedQuery:
            seen["refused"] += 1
            return
        assert not found, f"{found}; {asked}; seed {seed}"
        seen["passed over" if found is None else "compared"] += 1

    compared()
    return seen
