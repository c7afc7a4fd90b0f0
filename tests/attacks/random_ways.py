"""Random statements, and the exact numbers that each of their readings finds: by whatever way the engine takes, and as
the database adds up the rows themselves; in one process.

An engine reads what is stored of units, cells or days in the place of rows, lets the worker count and add up, cuts
units as rows stream by, and packs several kinds of totals into one statement. Charges rest on what these numbers are
said to be. Here each reading is found once more without anything stored, and once more by the database alone.

    python -m tests.attacks.random_ways 1000 [FIRST SEED]
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import fields, is_dataclass, replace
from typing import Any, TypeVar

from dpsql.answers.computed.postprocess import PostProcess
from dpsql.engine.lower import Lower, lowering
from dpsql.errors import Error, InvariantBroken
from dpsql.plan.catalog import TableInfo
from dpsql.plan.needs import Need, Sized
from dpsql.prepare.prepared import Reading
from dpsql.privacy.tables import OUTSIDE, RawTable
from dpsql.session import Session
from dpsql.sql import syntax
from dpsql.sql.parse import parse
from tests.attacks.random_replay import KEY, InProcess, backend_over, from_seeds
from tests.attacks.random_worlds import statement, world
from tests.settled import settled

__all__ = ["compared"]

QUESTIONS = 14
"""Statements that are asked in each world."""

Tree = TypeVar("Tree")
Numbers = dict[Any, list[int]]
"""What a reading found: of each group, or of each value of a group."""


def compared(seed: int, after: PostProcess, seen: Counter[str] | None = None) -> Iterator[str]:
    """Where two ways find other numbers in a seed's world; ``seen`` counts what was read."""
    own, seen = world(seed), Counter[str]() if seen is None else seen
    engine = InProcess(own.drawn, own.units)
    try:
        session = Session(settled(backend_over(own.drawn.policy, engine, after)), "ana")
        others = {
            "nothing stored": lowering(engine.dialect, KEY),
            "the database": lowering(replace(engine.dialect, counts=False), KEY),
        }
        for _ in range(QUESTIONS):
            asked = statement(own)
            select = parse(asked.sql)
            assert isinstance(select, syntax.QueryStatement)
            try:
                parts = session._ask(select, (), asked.options).priced
            except InvariantBroken:
                raise
            except Error:
                seen["refused"] += 1
                continue
            for reading in (reading for part in parts for reading in part.readings):
                seen.update(("readings", *reading.statement.tables))
                for name, lower in others.items():
                    if _differ(engine, reading, lower):
                        yield f"world {seed}: {asked}: {type(reading.need).__name__} is not as by {name}"
    finally:
        engine.close()


def _differ(engine: InProcess, reading: Reading, lower: Lower) -> bool:
    """Whether a reading finds other numbers than its need does by itself, over rows alone."""
    alone = lower(stripped(reading.need))
    if alone.identity == reading.statement.identity:
        return False
    found = reading.own(engine.run(reading.statement))
    return numbers(reading.need, found) != numbers(reading.need, engine.run(alone))


def stripped(tree: Tree) -> Tree:
    """The same, over tables of which nothing is stored but their rows."""
    if isinstance(tree, TableInfo):
        return replace(tree, totals=(), sizes=None, days=(), open_days=(), ranks=None, counts=None)
    if isinstance(tree, tuple):
        return tuple(map(stripped, tree))  # type: ignore[return-value]  # a tuple for a tuple
    if not is_dataclass(tree) or isinstance(tree, type):
        return tree
    parts = {own.name: getattr(tree, own.name) for own in fields(tree) if own.init}
    changed = {name: own for name, part in parts.items() if (own := stripped(part)) is not part}
    return replace(tree, **changed) if changed else tree


def numbers(need: Need, found: RawTable) -> Numbers:
    """What was found of listed groups, whatever the order and the pieces in which it came; nothing of what is 0.

    In which of its groups a unit is counted is left open where totals are put by size: so units count over all groups.
    """
    keys = need.source.key_names
    columns = (
        ["bin", "units", "signs", "total"] if isinstance(need, Sized) else [n for n in found._columns if n not in keys]
    )
    groups = zip(*(map(_plain, found.column(name)) for name in keys), strict=True) if keys else [()] * len(found)
    values = zip(*([*map(_plain, found.column(name))] for name in columns), strict=True)
    counted: Numbers = {}

    def add(at: Any, *own: int) -> None:
        counted[at] = [one + two for one, two in zip(counted.get(at, [0] * len(own)), own, strict=True)]

    amounts = len(columns) if columns[0].startswith("m0") else 2 if "units" in columns else 1
    for group, row in zip(groups, values, strict=True):
        listed = all(value is not OUTSIDE for value in group) and all(
            key.domain is None or value in key.domain for key, value in zip(need.source.keys, group, strict=True)
        )
        if isinstance(need, Sized):
            add(("of all", row[0]), row[1], row[2])
            if listed:
                add((group, row[0]), row[3])
        elif listed:
            add((group, row[:-amounts]), *row[len(row) - amounts :])
    return {at: own for at, own in counted.items() if any(own)}


def _plain(value: Any) -> Any:
    return value.item() if hasattr(value, "item") else value


def main() -> None:
    """Compares in as many worlds as the first argument says, from the seed that the second says on."""
    from_seeds("world", compared)


if __name__ == "__main__":
    main()
