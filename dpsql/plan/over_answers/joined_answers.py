"""How much work answers that are joined can be at the most, by what is public: the keys, LIMITs and the conditions.

Tests: tests/unit/plan/over_answers/test_joined_answers.py, which compares it with rows that are really joined.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

from dpsql.limits import MOST_OPEN_GROUPS
from dpsql.plan.known.relations import aliases_of, conjuncts, is_rounded, scans, size_of
from dpsql.plan.measured.combined import most_groups_listed
from dpsql.plan.nodes import Apply, Column, Expression, Filter, Join, PerUnit, Project, Relation, Scan, Semi, UnionAll
from dpsql.plan.plans import Plan, PublicPlan, Stage
from dpsql.plan.values.expressions import columns_of
from dpsql.plan.values.partners import WrongAnswer

__all__ = ["MOST_VALUES", "TooManyTogether", "most_joined", "refuse_too_many", "rows_of_answer"]

MOST_VALUES = 2_000_000
"""Values of joined answers, rows times columns. It is a choice: the worker without data puts so many together within
the least memory that a policy may give it (measured with texts of 100 letters)."""

MOST_COMPARED = 100_000_000
"""Pairs of rows that EXISTS looks at where no column has to be equal. It is a choice: the worker compares them one by
one, and does four times as many in 20 s of the 30 that it has (measured beside other work)."""

Parts = Sequence[Plan | PublicPlan]
Tied = Collection[tuple[str, str]]
"""Columns, by alias and name, whose values are given."""


class TooManyTogether(WrongAnswer):
    """Answers may be more work together than can be done."""


def refuse_too_many(relation: Relation, parts: Parts, columns: int) -> None:
    """Refuses answers that may have more rows together than can be worked with: they would be paid for and then fail.

    Args:
        relation: The answers as tables, joined.
        parts: What they are.
        columns: How many the rows have.

    Raises:
        TooManyTogether: They may.
    """
    _refuse_comparing(relation, parts)
    most = max(MOST_VALUES // columns, sum(most_joined(scan, parts) for scan in scans(relation)))
    found = most_joined(relation, parts)
    if found > most:
        raise TooManyTogether(
            f"the answers that it joins may have {found:,} rows together, and {most:,} can be worked with.",
            construct="JOIN",
            hint="Join them by all the keys of one of them (ON a.key = b.key), or end a sub-query with LIMIT. A key "
            f"whose values the policy lists has only those; of another there may be {MOST_OPEN_GROUPS:,}.",
        )


def _refuse_comparing(relation: Relation, parts: Parts) -> None:
    """Refuses EXISTS that would look at too many pairs of rows, one by one.

    Raises:
        TooManyTogether: It may.
    """
    match relation:
        case Filter():
            _refuse_comparing(relation.input, parts)
        case Join():
            _refuse_comparing(relation.left, parts)
            _refuse_comparing(relation.right, parts)
        case Semi():
            _refuse_comparing(relation.input, parts)
            pairs = most_joined(relation.input, parts) * most_joined(relation.right, parts)
            if pairs > MOST_COMPARED and _compares(relation):
                raise TooManyTogether(
                    f"it may compare {pairs:,} pairs of rows, and {MOST_COMPARED:,} can be compared.",
                    construct="EXISTS",
                    hint="Have a column of the one equal one of the other, or end a sub-query with LIMIT.",
                )


def _compares(semi: Semi) -> bool:
    """Whether each row is compared with each other one: a condition reads both, and none is that columns are equal."""
    sides = aliases_of(semi.input), aliases_of(semi.right)

    def read(expression: Expression) -> tuple[bool, ...]:
        found = {column.alias for column in columns_of(expression)}
        return tuple(not found.isdisjoint(side) for side in sides)

    conditions = [part for condition in semi.on for part in conjuncts(condition)]
    equal = [own for own in conditions if isinstance(own, Apply) and own.function.name == "="]
    if any({*map(read, own.arguments)} == {(True, False), (False, True)} for own in equal):
        return False
    return any(all(read(own)) for own in conditions)


def most_joined(relation: Relation, parts: Parts, tied: Tied = ()) -> int:
    """Most rows of answers as tables that have given values in some of their columns.

    A row of one side meets at most as many of the other as have its values in the columns that are joined: one, where
    these are all the keys of an answer. Either side may be the one whose rows are counted first; where rows without a
    partner stay, it is their own.
    """
    match relation:
        case Scan() if relation.table.answer is not None:
            names = list(relation.table.columns)
            places = {names.index(name) for alias, name in tied if alias == relation.alias}
            return rows_of_answer(parts[relation.table.answer], places)
        case Scan():
            columns = [relation.table.columns[name] for alias, name in tied if alias == relation.alias]
            return max(1, min([relation.table.rows, *(column.multiplicity for column in columns)]))
        case Filter() | Semi():
            return most_joined(relation.input, parts, tied)
        case PerUnit():  # groups of a public table: no more than its rows
            return most_joined(relation.input, parts)
        case Project():
            return most_joined(relation.input, parts, _below(relation.columns, relation.alias, tied))
        case UnionAll():
            return sum(
                most_joined(part, parts, _below(zip(relation.names, columns, strict=True), relation.alias, tied))
                for part, columns in relation.parts
            )
        case Join():
            pairs = [
                (_name(left), _name(right))
                for left, right in relation.equal
                if not (is_rounded(left, relation.equal) or is_rounded(right, relation.equal))
            ]
            given = {own for pair in pairs if {*pair} & {*tied} for own in pair} | {*tied}
            met = given | {own for pair in pairs for own in pair}
            ways = [most_joined(relation.left, parts, given) * max(1, most_joined(relation.right, parts, met))]
            if not relation.outer:
                ways.append(most_joined(relation.right, parts, given) * most_joined(relation.left, parts, met))
            return min(ways)
    return size_of(relation)


def rows_of_answer(part: Plan | PublicPlan, places: Collection[int] = ()) -> int:
    """Most rows of an answer, with given values in some of its columns by their places."""
    stages: Sequence[Stage] = (part.stage,) if isinstance(part, PublicPlan) else part.stages
    cut = None if isinstance(part, PublicPlan) else part.cut.limit
    found = _of_stages(part, stages, {part.answer[place].expression for place in places})
    return found if cut is None else min(found, cut)


def _of_stages(part: Plan | PublicPlan, stages: Sequence[Stage], tied: Collection[Expression]) -> int:
    """Most rows of the last of some stages with given values of some expressions over the rows before it."""
    if not stages:
        return _of_release(part, tied) if isinstance(part, Plan) else size_of(part.relation)
    *before, last = stages
    if last.aggregates and {*last.group_by} <= {*tied}:
        return 1
    read = [own for own in tied if own in last.group_by] if last.aggregates else tied
    found = _of_stages(part, before, _of_columns(part, before, read))
    return found if last.limit is None else min(found, last.limit)


def _of_columns(part: Plan | PublicPlan, before: Sequence[Stage], read: Collection[Expression]) -> set[Expression]:
    """What the columns among some expressions are in the rows that they are read from."""
    if not before and isinstance(part, PublicPlan):
        return set()
    outputs = before[-1].outputs if before else part.outputs  # type: ignore[union-attr]  # a Plan
    return {outputs[int(own.name[1:])].expression for own in read if isinstance(own, Column)}


def _of_release(plan: Plan, tied: Collection[Expression]) -> int:
    """Most groups of a release with given values of some released columns, which are keys or numbers."""
    names = {own.name for own in tied if isinstance(own, Column)}
    given = {place for place, key in enumerate(plan.keys) if key.name in names}
    found = min(sum(most_groups_listed(plan, own, given) for own in plan.shown_sets), MOST_OPEN_GROUPS)
    return found if plan.limit is None else min(found, plan.limit)


def _below(columns: Iterable[tuple[str, Expression]], alias: str, tied: Tied) -> set[tuple[str, str]]:
    """What given columns of a relation are in the rows below it, where they are columns there."""
    own = {name for above, name in tied if above == alias}
    below = {_name(expression) for name, expression in columns if name in own and isinstance(expression, Column)}
    return {*tied} | below


def _name(column: Column) -> tuple[str, str]:
    return column.alias, column.name
