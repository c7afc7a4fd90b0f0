"""The rows of a statement over several answers, each with what tells which rows of which answers it is made of.

Tests: tests/unit/answers/test_several.py, tests/sql.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from fractions import Fraction

from dpsql.plan.known.relations import column_of
from dpsql.plan.known.scope import place_of, whole_name
from dpsql.plan.nodes import Column, Constant, Expression, Filter, Join, Order, Relation, Scan, Semi, UnionAll
from dpsql.plan.over_answers.joined_answers import refuse_too_many
from dpsql.plan.over_answers.noised import is_noised
from dpsql.plan.over_answers.stages import RELEASED
from dpsql.plan.plans import Key, Output, Plan, PublicPlan, Several, Stage
from dpsql.plan.types import Facts, Type
from dpsql.plan.values.conversions import as_constant
from dpsql.plan.values.ranges import uncut, with_length

__all__ = ["NUMBER", "PART", "ROW", "gathered"]

ROW = "row"  # The column of an answer's table that numbers its rows, from 0.
PART = "part"  # The column of answers one after the other that says which of them a row is of, from 0.
NUMBER = Facts(Type.INTEGER, nullable=False, step=Fraction(1))


def gathered(
    parts: Sequence[Plan | PublicPlan],
    relation: Relation,
    columns: Iterable[tuple[str, Expression]],
    notes: Sequence[str] = (),
) -> Several:
    """Answers whose rows are those of a relation, with these columns; and what is said beside them."""
    traced, places = _with_origins(relation)
    kept, keys, outputs = list[Output](), list[Key](), list[Output]()
    for i, (name, expression) in enumerate(columns):
        noised, facts = is_noised(relation, expression), expression.facts
        known = Facts(facts.type, nullable=facts.nullable, step=facts.step)
        as_it_is = uncut if isinstance(expression, Column) and not noised else with_length
        column = as_it_is(Column(RELEASED, f"{'a' if noised else 'k'}{i}", known), expression)
        kept.append(Output(column.name, expression))
        outputs.append(Output(whole_name(name), column, element=place_of(name)))
        keys += [] if noised else [Key(column.name, column, None)]
    order = [*places, *(output.expression for output in kept)]
    named = [Output(f"{ROW}{i}", place) for i, place in enumerate(places)]
    terms = tuple(Order(expression, descending=False, nulls_first=False) for expression in order)
    refuse_too_many(relation, parts, len(kept) + len(named))
    rows = PublicPlan(traced, Stage((*kept, *named), order_by=terms))
    return Several(tuple(parts), rows, Plan(relation, tuple(keys), (), tuple(outputs)), tuple(notes))


def _with_origins(relation: Relation) -> tuple[Relation, tuple[Expression, ...]]:
    """The relation, and what tells of each of its rows which rows of which answers it is made of."""
    match relation:
        case Scan() if relation.table.answer is not None:
            return relation, (column_of(relation, ROW),)
        case Filter() | Semi():
            inner, places = _with_origins(relation.input)
            return replace(relation, input=inner), places
        case Join():
            left, ours = _with_origins(relation.left)
            right, theirs = _with_origins(relation.right)
            return replace(relation, left=left, right=right), (*ours, *theirs)
        case UnionAll():
            sides = [_with_origins(part) for part, _ in relation.parts]
            most = max(len(places) for _, places in sides)
            nothing = Constant(None, Facts(Type.INTEGER))
            parts = tuple(
                (side, (*columns, as_constant(number), *places, *[nothing] * (most - len(places))))
                for number, ((side, places), (_, columns)) in enumerate(zip(sides, relation.parts, strict=True))
            )
            named = (PART, *(f"{ROW}{i}" for i in range(most)))
            whole = UnionAll(parts, relation.alias, (*relation.names, *named))
            return whole, tuple(Column(relation.alias, name, NUMBER) for name in named)
    return relation, ()
