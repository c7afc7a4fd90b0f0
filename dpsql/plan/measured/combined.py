"""Which values of keys stand together, where all of them are columns of one public table, or equal such.

    SELECT name, category, COUNT(*) FROM items JOIN products ON product = name GROUP BY name, category

Each row of a person holds columns of one row of that table; after a left join it may hold none, and then all of them
are NULL together. A person's own column that an inner join, IN or EXISTS makes equal to one of the table is that one,
and conditions on the table's columns hold for that row. So no row of any database is in another group than the table
has, and only these are listed. This follows from public rows alone: it costs nothing. What one unit is thought to hold
at most is still that of all combinations.

Tests: tests/sql/accepted.sql, tests/unit/plan/measured/test_combined.py.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain, product
from math import prod
from operator import itemgetter

from dpsql.limits import MOST_LISTED, MOST_OPEN_GROUPS
from dpsql.plan.known.conditions import across
from dpsql.plan.known.relations import aliases_of, conjuncts, is_public
from dpsql.plan.measured.domains import Cell, Evaluate
from dpsql.plan.nodes import Column, Expression, Filter, Join, PerUnit, Project, Relation, Semi
from dpsql.plan.plans import Combined, Key, Plan
from dpsql.plan.types import Value
from dpsql.plan.values.expressions import columns_of, substituted

__all__ = ["Combinations", "combined", "listed_groups", "most_groups_listed", "unread"]

Combinations = Callable[[Relation, Sequence[Column]], Sequence[Cell] | None]
"""The values that columns of a public relation have together in its rows, each once; None where they are not read."""


def unread(_relation: Relation, _columns: Sequence[Column]) -> None:
    """No combinations, where there is no engine to read public tables."""


def combined(relation: Relation, keys: Sequence[Key], read: Combinations, evaluate: Evaluate) -> tuple[Combined, ...]:
    """For each public side of a statement of which several columns are keys: their values that stand together.

    Conditions that name nothing but these columns narrow them, as they narrow those of a single key.

    Args:
        relation: The rows.
        keys: What they are grouped by.
        read: Reads public tables.
        evaluate: Runs expressions over public values.
    """
    listed = {place: key.expression for place, key in enumerate(keys) if key.domain is not None}
    sides = list(_sides(_Rows(relation, _within(listed, aliases_of(relation)), ())))
    sides.sort(key=lambda side: not side.keys)  # what keys are made of says more of them than what they equal
    placed, found = {place for side in sides for place in side.keys}, list[Combined]()
    for side in sides:
        equal = {place: own for place, own in side.equal.items() if place not in placed}
        own = _found(replace(side, keys=dict(sorted({**side.keys, **equal}.items()))), keys, read, evaluate)
        if own is not None:
            found.append(own)
            placed |= equal.keys()  # one key is of one side alone
    return tuple(found)


def listed_groups(plan: Plan, places: Sequence[int]) -> tuple[Cell, ...] | None:
    """Every group that some keys of a plan list, in the order of their domains; None where there are too many.

    Args:
        plan: The statement.
        places: The keys by index, in the order of the values of each group.
    """
    known = [plan.keys[place].domain for place in places]
    if None in known or most_groups_listed(plan, places) > MOST_LISTED:
        return None
    domains, parts = [own or () for own in known], _parts(plan, places)
    if not parts:
        return tuple(product(*domains))
    if any(part.keys == tuple(places) for part in plan.combined):
        return tuple(parts[0][1])
    alone = [place for place in places if all(place not in own for own, _ in parts)]
    order = [*(place for own, _ in parts for place in own), *alone]
    back = [order.index(place) for place in places]
    every = [
        *(cells for _, cells in parts),
        *([(value,) for value in plan.keys[place].domain or ()] for place in alone),
    ]
    groups = [(*chain(*cells),) for cells in product(*every)]
    ranks = [{value: rank for rank, value in enumerate(domain)} for domain in domains]
    return tuple(_in_order(_taken(groups, back), ranks))


def most_groups_listed(plan: Plan, places: Sequence[int], given: Collection[int] = ()) -> int:
    """How many groups some keys of a plan list at most, with given values of some of them; open keys as many as may be.

    Args:
        plan: The statement.
        places: The keys by index.
        given: Those among them whose values are given.
    """
    parts, sizes = _parts(plan, places), list[int]()
    for own, cells in parts:
        fixed = [at for at, place in enumerate(own) if place in given]
        sizes.append(max(Counter(_taken(cells, fixed)).values(), default=0) if fixed else len(cells))
    met = {*given, *(place for own, _ in parts for place in own)}
    domains = [plan.keys[place].domain for place in places if place not in met]
    return prod([*sizes, *(MOST_OPEN_GROUPS if domain is None else len(domain) for domain in domains)])


def _parts(plan: Plan, places: Sequence[int]) -> list[tuple[tuple[int, ...], Sequence[Cell]]]:
    """Those of some keys that are combined, with the values that they have together, each once."""
    found: list[tuple[tuple[int, ...], Sequence[Cell]]] = []
    for part in plan.combined:
        own = [at for at, place in enumerate(part.keys) if place in places]
        if len(own) == len(part.keys):
            found.append((part.keys, part.groups))
        elif own:
            cells = list(dict.fromkeys(_taken(part.groups, own)))
            found.append((tuple(part.keys[at] for at in own), cells))
    return found


def _taken(cells: Sequence[Cell], places: Sequence[int]) -> Iterator[Cell]:
    """Some values of each cell, by their places. There may be 100,000 cells, of which each statement makes lists."""
    columns = [map(itemgetter(place), cells) for place in places]
    return zip(*columns, strict=True)


@dataclass(frozen=True, slots=True)
class _Rows:
    """Rows of a statement on the way down to its public tables.

    Attributes:
        relation: The rows.
        keys: Those keys that are made of their columns, by index.
        known: Conditions on their columns that hold for every row of the statement.
        missing: Whether a left join above may leave all their columns NULL.
        equal: Other keys, that inner joins make equal to what their columns hold, as made of these.
    """

    relation: Relation
    keys: Mapping[int, Expression]
    known: tuple[Expression, ...]
    missing: bool = False
    equal: Mapping[int, Expression] = field(default_factory=dict)


def _sides(rows: _Rows) -> Iterator[_Rows]:
    """The public relations whose rows stand beside those of people, each with the keys that are made of its columns."""
    relation, keys, known, missing, equal = rows.relation, rows.keys, rows.known, rows.missing, rows.equal
    if is_public(relation):
        yield rows
        return
    match relation:
        case Filter(predicate=predicate):  # below a left join it holds for rows that are there, and not for NULLs
            own = aliases_of(relation.input)
            more = () if missing else (part for part in conjuncts(predicate) if _made_of(part, own))
            yield from _sides(_Rows(relation.input, keys, (*known, *more), missing, equal))
        case Semi():
            yield from _sides(_Rows(relation.input, keys, known, missing, equal))
            if not (missing or relation.negated):
                yield from _looked_up(relation, {**equal, **keys})
        case Join():
            for side, absent in ((relation.left, missing), (relation.right, missing or relation.outer)):
                own = aliases_of(side)
                conditions = tuple(p for p in known if _made_of(p, own))
                pairs = () if relation.outer else relation.equal  # a row may have no partner
                others = {} if absent else _made_equal({**equal, **keys}, pairs, own)
                yield from _sides(_Rows(side, _within(keys, own), conditions, absent, others))
        case Project() | PerUnit() if not missing:  # what is computed of columns that are there is not NULL with them
            columns = dict(relation.columns if isinstance(relation, Project) else relation.keys)
            below = {place: substituted(own, columns) for place, own in keys.items() if _named(own, columns)}
            conditions = tuple(substituted(own, columns) for own in known if _named(own, columns))
            yield from _sides(_Rows(relation.input, below, conditions))


def _looked_up(semi: Semi, keys: Mapping[int, Expression]) -> Iterator[_Rows]:
    """The public rows in which IN or EXISTS finds a partner, with the keys that equal what these hold."""
    if is_public(semi.right):
        own, parts = aliases_of(semi.right), [part for condition in semi.on for part in conjuncts(condition)]
        pairs = [pair for part in parts if (pair := across(part, semi.input, semi.right)) is not None]
        conditions = tuple(part for part in parts if _made_of(part, own))
        yield _Rows(semi.right, {}, conditions, equal=_made_equal(keys, pairs, own))


def _made_equal(
    keys: Mapping[int, Expression], equal: Sequence[tuple[Column, Column]], aliases: Collection[str]
) -> dict[int, Expression]:
    """The keys that are one column of another side of an inner join, as the column of this side that equals it."""
    partners = dict[Expression, Column]()
    for pair in equal:
        for one, other in (pair, pair[::-1]):
            if other.alias in aliases and one.facts.type is other.facts.type:
                partners.setdefault(one, other)
    found = {place: partners.get(own, own) for place, own in keys.items()}
    return {place: own for place, own in found.items() if own is not keys[place] or _made_of(own, aliases)}


def _within(keys: Mapping[int, Expression], aliases: Collection[str]) -> dict[int, Expression]:
    """The keys that are made of columns with some aliases, and of nothing else."""
    return {place: own for place, own in keys.items() if _made_of(own, aliases)}


def _made_of(expression: Expression, aliases: Collection[str]) -> bool:
    columns = columns_of(expression)
    return bool(columns) and all(column.alias in aliases for column in columns)


def _named(expression: Expression, names: Collection[str]) -> bool:
    return all(column.name in names for column in columns_of(expression))


def _found(side: _Rows, keys: Sequence[Key], read: Combinations, evaluate: Evaluate) -> Combined | None:
    """The values that the keys of one public side have together; None where that says no more, or is not read."""
    places, expressions = tuple(side.keys), tuple(side.keys.values())
    keyed, known = {column for own in expressions for column in columns_of(own)}, tuple(filter(columns_of, side.known))
    fewer = tuple(p for p in known if set(columns_of(p)) <= keyed)
    for own in dict.fromkeys((known, fewer)):  # with all columns there may be too many to list
        columns = list(dict.fromkeys(column for part in (*expressions, *own) for column in columns_of(part)))
        more = len(columns) > 1 or len(places) > 1 or isinstance(side.relation, Filter | Join | Semi)
        cells = read(side.relation, columns) if places and more else None
        if cells is not None:
            break
    else:
        return None
    nothing: Cell = (None,) * len(columns)
    rows = [*cells, nothing] if side.missing and nothing not in cells else cells
    if not own and all(isinstance(expression, Column) for expression in expressions):
        values = list(_taken(rows, [columns.index(at) for at in expressions]))  # type: ignore[arg-type]  # all are columns
    else:
        width, results = len(places), evaluate([*expressions, *own], columns, rows)
        values = [result[:width] for result in results if all(flag is True for flag in result[width:])]
    ranks = [{value: rank for rank, value in enumerate(keys[place].domain or ())} for place in places]
    groups = tuple(_in_order(dict.fromkeys(values), ranks))
    return None if len(places) == 1 and len(groups) == len(ranks[0]) else Combined(places, groups)


def _in_order(cells: Iterable[Cell], ranks: Sequence[Mapping[Value, int]]) -> list[Cell]:
    """Cells in the order of their values' places in the domains; those with a value outside of them are left out."""
    known = list(cells)
    placed = zip(*(map(rank.get, map(itemgetter(at), known)) for at, rank in enumerate(ranks)), strict=True)
    kept = [(at, cell) for at, cell in zip(placed, known, strict=True) if None not in at]
    return [cell for _, cell in sorted(kept, key=itemgetter(0))]
