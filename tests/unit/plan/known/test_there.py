"""In which rows an expression has a value, told from its form."""

from __future__ import annotations

from dataclasses import replace

from dpsql.plan.functions import overloads
from dpsql.plan.known.there import presence, value_where_there
from dpsql.plan.nodes import Apply, Case, Column, Constant, Expression
from dpsql.plan.types import Facts, Type

A = Column("t0", "a", Facts(Type.REAL, nullable=True))
B = Column("t0", "b", Facts(Type.REAL, nullable=True))
DONE = Column("t0", "done", Facts(Type.BOOLEAN, nullable=True))
NOTHING = Constant(None, Facts(Type.REAL))


def apply(name: str, *arguments: Expression) -> Expression:
    kinds = tuple(argument.facts.type for argument in arguments)
    function = next(own for own in overloads(name) if own.parameters == kinds)
    return Apply(function, arguments, Facts(Type.BOOLEAN))


def there(expression: Expression) -> Expression:
    return apply("not", apply("is_null", expression))


def where(condition: Expression, value: Expression) -> Expression:
    return Case(((condition, value),), NOTHING, replace(value.facts, nullable=True))


def test_a_pair_is_there_where_either_column_is_behind_a_filter_on_the_other() -> None:
    both = apply("and", there(A), there(B))
    forms = [
        where(both, A),
        where(both, B),
        where(there(B), A),
        where(there(A), B),
        where(there(B), where(there(A), A)),
    ]
    assert {presence(form) for form in forms} == {frozenset([("has", A), ("has", B)])}
    assert [value_where_there(form) for form in forms] == [A, B, A, B, A]


def test_other_conditions_are_other_rows() -> None:
    forms = [A, B, where(there(B), A), where(DONE, A), where(apply("not", DONE), A), where(there(DONE), A), DONE]
    assert len({presence(form) for form in forms}) == len(forms)


def test_a_declaration_of_no_null_says_nothing_for_data_may_break_it() -> None:
    required = replace(B, facts=replace(B.facts, nullable=False))
    assert presence(where(there(required), A)) != presence(A)


def test_what_is_never_null_holds_of_every_row() -> None:
    one = Constant(1, Facts(Type.REAL, nullable=False))
    assert presence(one) == presence(where(there(one), one)) == frozenset()
    assert presence(where(there(one), A)) == presence(A)


def test_a_case_with_another_value_is_not_looked_into() -> None:
    either = Case(((DONE, A),), B, A.facts)
    assert presence(either) == frozenset([("has", either)])
    assert value_where_there(either) == either
