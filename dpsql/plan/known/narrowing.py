"""What conditions say of the numbers and dates of the rows for which they are true.

`facts_on` narrows the bounds of an expression by the conditions on its rows. Nothing that is proved rests on this: the
narrowed bounds, rounded outward to the grid, are also the clamp of the argument in the engine's query
(`prepare.sources`), so that a sensitivity holds whatever an engine makes of a condition. The clamp changes no value
that the condition lets through, but for what a grid rounds.

A condition narrows a column, or a function of columns, by constants: comparisons in either order, IN, BETWEEN, and AND,
OR and NOT of these. One that compares two of them narrows their difference (`differences`). Where a function
never falls as a column rises, the column is narrowed, too (`inverse`). What is known is a box: a range for each of
them, in which all its values lie that are not NULL.

* Three-valued logic. ``implied`` gives the box of the rows for which a condition is true (or false), or also those for
  which it is NULL: the rows that are left for ELSE. A comparison with a constant is NULL only where the column is, and
  a box says nothing of NULL; so its box is the same with and without NULL.
* AND is true where all parts are: the ranges meet. OR is true where one part is: the hull of the parts, in which a part
  that does not name a column leaves all of it. For FALSE the two change places, and NOT changes TRUE and FALSE.
* Where ranges do not meet the column can only be NULL (`NOTHING`); the row may still be there, and nothing is narrowed.
* The kept side of an outer join is narrowed neither by ON nor by the other side, and no row by what stands inside IN or
  EXISTS. The other side's columns are NULL, or come from rows for which ON is true.
* A branch of CASE is narrowed by its own condition and by those before it, which are false or NULL; so is ELSE.
* The total of one unit lies between as many times the ends as it can have rows.

An integer is compared with a real constant as a double: below 2^53 that is exact, and beyond it narrows nothing. Whole
numbers, days and moments are `steps` apart: below a constant lies at most the step before it. A day is compared with a
moment by its midnight.

`is_empty` and `is_never` say where no row can be at all, for notes and refusals before the charge. A comparison that
is true has no NULL in it, so a column without any value but NULL has no such row.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from dpsql.plan.aggregates import FUNCTIONS, Kind
from dpsql.plan.grids import grid_of
from dpsql.plan.intervals import Interval
from dpsql.plan.known.stability import most_rows
from dpsql.plan.nodes import (
    Apply,
    Case,
    Column,
    Constant,
    Expression,
    Filter,
    Join,
    PerUnit,
    Project,
    Relation,
    Scan,
    Semi,
    UnionAll,
    UnitValue,
    Windowed,
    Written,
)
from dpsql.plan.remembered import remembered
from dpsql.plan.types import Facts, Type
from dpsql.plan.values.boxes import Box, Key, Range, Value, all_of, any_of, key_of, meet
from dpsql.plan.values.differences import in_other_names, of_difference
from dpsql.plan.values.implied import implied, is_ranged
from dpsql.plan.values.ranges import hull_of, is_certain, known_range
from dpsql.plan.values.steps import NOTHING

__all__ = ["counts_nothing", "facts_on", "facts_where", "is_empty", "is_never"]


def facts_on(expression: Expression, relation: Relation) -> Facts:
    """What is known of an expression over the rows of a relation: its own facts within its conditions.

    Bounds are those of the rows that can be there, a centre lies inside them and a spread is no wider. Where no row can
    be there, nothing is narrowed.
    """
    return _facts(expression, _rows(relation))


def facts_where(expression: Expression, conditions: Sequence[Expression]) -> Facts:
    """The same over the rows for which all of these conditions are true."""
    return _facts(expression, all_of([implied(condition, truth=True, or_null=False) for condition in conditions]))


def is_empty(relation: Relation) -> bool:
    """Whether a relation can have no row, by its conditions and what is known of its columns."""
    match relation:
        case Scan() | Written():
            return False
        case Filter():
            return is_empty(relation.input) or _excluded(relation.predicate, _rows(relation.input))
        case Semi():
            return is_empty(relation.input) or (not relation.negated and is_empty(relation.right))
        case Join():
            return is_empty(relation.left) or (not relation.outer and is_empty(relation.right))
        case Project() | PerUnit():
            return is_empty(relation.input)
        case UnionAll():
            return all(is_empty(part) for part, _ in relation.parts)


def is_never(condition: Expression) -> bool:
    """Whether a condition is true for no row, by what is known of its columns."""
    return _excluded(condition, {})


def counts_nothing(argument: Expression | None, relation: Relation) -> bool:
    """Whether an aggregate has no value to read: there is no row, or FILTER or CASE leaves NULL alone."""
    if is_empty(relation):
        return True
    if not isinstance(argument, Case):
        return False
    box = _rows(relation)
    reached = argument.default, *(then for when, then in argument.branches if not _excluded(when, box))
    return all(isinstance(result, Constant) and result.value is None for result in reached)


def _excluded(condition: Expression, box: Box | None) -> bool:
    """Whether a condition is true for no row of a box."""
    name, parts = (condition.function.name, condition.arguments) if isinstance(condition, Apply) else ("", ())
    if name == "or":
        return all(_excluded(part, box) for part in parts)
    if _past_end(condition) or _unlisted(condition) or (name == "and" and any(_excluded(part, box) for part in parts)):
        return True
    true = implied(condition, truth=True, or_null=False)
    met = all_of([box, true])
    return met is None or any(met[at] is NOTHING for at in true or {})


def _past_end(condition: Expression) -> bool:
    """Whether a column of real numbers would lie below its own lower bound, or above its upper one."""
    match condition:
        case Apply(function=function, arguments=(Column(facts=facts), Constant() as constant)):
            end = {"<": facts.low, ">": facts.high}.get(function.name)
            found: Range = known_range(constant)
            return end is not None and isinstance(found, Interval) and facts.type is Type.REAL and found.low == end
    return False


def _unlisted(condition: Expression) -> bool:
    """Whether a column would equal what is none of its declared values: the empty text, for others are refused."""
    match condition:
        case (
            Apply(function=function, arguments=(Column(declared=True, values=known), *rest))
            | Apply(function=function, arguments=(*rest, Column(declared=True, values=known)))
        ) if function.name in ("=", "in"):
            return all(isinstance(own, Constant) and own.value not in (known or ()) for own in rest)
    return False


def _facts(expression: Expression, box: Box | None) -> Facts:
    facts = expression.facts
    if not is_ranged(expression):
        return facts
    before, after = known_range(expression), _range(expression, box or {})
    if after == before:
        return facts
    if not isinstance(after, Interval):
        return replace(facts, low=after[0], high=after[1])
    low, high, centre, spread = after.low, after.high, facts.centre, facts.spread
    if centre is not None:
        centre = Interval.point(centre).clipped(low, high).low
    if spread is not None and low is not None and high is not None and low < high:
        spread = min(spread, high - low)
    narrowed = replace(facts, low=low, high=high, centre=centre, spread=spread)
    own = grid_of(facts)
    if own is not None and grid_of(narrowed) is None:  # so narrow that a finer grid would be out of reach
        return replace(narrowed, step=own.step)
    return narrowed


def _range(expression: Expression, box: Box) -> Range:
    """The range of an expression where the columns lie in a box."""
    match expression:
        case Column():
            known = known_range(expression)
            found = meet(known, box.get((expression.alias, expression.name), known))
            return known if found is NOTHING else found
        case Constant():
            return known_range(expression)
        case Apply():
            ranges = tuple(_range(argument, box) for argument in expression.arguments)
            known = expression.function.bounds(ranges, tuple(map(is_certain, expression.arguments)))
            found = meet(known, box.get(expression, known)) if box else known
            if box and isinstance(known, Interval) and found is not NOTHING:
                found = meet(found, of_difference(expression, box))
            return known if found is NOTHING else found
        case Case():
            parts = [
                _range(result, inner)
                for result, inner in _branches(expression, box)
                if not (isinstance(result, Constant) and result.value is None)
            ]
            return hull_of(parts, expression.facts.type) if parts else known_range(expression)
        case Windowed():  # of released rows alone
            return known_range(expression)


def _branches(case: Case, box: Box) -> Iterator[tuple[Expression, Box]]:
    """The results that can be reached, each with the box of the rows that reach it."""
    waiting: Box | None = box
    for condition, result in case.branches:
        taken = all_of([waiting, implied(condition, truth=True, or_null=False)])
        if taken is not None:
            yield result, taken
        waiting = all_of([waiting, implied(condition, truth=False, or_null=True)])
    if waiting is not None:
        yield case.default, waiting


# -------------------------------------------------------------------------------------------------- of a relation


@remembered
def _rows(relation: Relation) -> Box | None:
    """The box of a relation's rows; None where it can have none."""
    match relation:
        case Scan() | Written():
            return {}
        case Filter():
            return all_of([_rows(relation.input), implied(relation.predicate, truth=True, or_null=False)])
        case Semi():
            return _rows(relation.input)
        case Join():
            left, right = _rows(relation.left), _rows(relation.right)
            if not relation.outer:
                return all_of([left, right])
            met = all_of([right, *(implied(condition, truth=True, or_null=False) for condition in relation.on)])
            own, named = _aliases(relation.right), (met or {}).items()
            return all_of([left, {at: known for at, known in named if isinstance(at, tuple) and at[0] in own}])
        case Project():
            return _named(relation.alias, relation.columns, _rows(relation.input))
        case PerUnit():
            return _per_unit(relation)
        case UnionAll():
            parts = [
                _named(relation.alias, list(zip(relation.names, expressions, strict=True)), _rows(part))
                for part, expressions in relation.parts
            ]
            return any_of(parts)


def _aliases(relation: Relation) -> set[str]:
    """Aliases of the columns that a relation shows."""
    match relation:
        case Filter() | Semi():
            return _aliases(relation.input)
        case Join():
            return _aliases(relation.left) | _aliases(relation.right)
        case _:
            return {relation.alias}


def _named(alias: str, columns: Sequence[tuple[str, Expression]], box: Box | None) -> Box | None:
    if box is None:
        return None
    names: dict[Value, Value] = {
        key_of(shown): (alias, name) for name, shown in columns if isinstance(shown, Column | Apply)
    }
    ranges: dict[Key, Range] = {(alias, name): _range(shown, box) for name, shown in columns if is_ranged(shown)}
    return {**ranges, **in_other_names(box, names)}


def _per_unit(relation: PerUnit) -> Box | None:
    box = _rows(relation.input)
    keys = _named(relation.alias, relation.keys, box)
    if box is None or keys is None:
        return None
    most = most_rows(relation.input)
    return {**keys, **{(relation.alias, v.name): _of_unit(v, box, most) for v in relation.values if is_ranged(v)}}


def _of_unit(value: UnitValue, box: Box, most: int) -> Range:
    """An exact aggregate over at most so many rows of one unit."""
    if value.argument is None or FUNCTIONS[value.function].kind is Kind.COUNT:
        return Interval(value.facts.low, value.facts.high)  # type: ignore[arg-type]  # a number of rows
    found = _range(value.argument, box)
    if FUNCTIONS[value.function].kind is not Kind.SUM:
        return found
    low, high = found.low, found.high
    return Interval(None if low is None else min(low, low * most), None if high is None else max(high, high * most))
