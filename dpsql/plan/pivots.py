"""PIVOT over values that are not listed: what the policy declares of the key, or follows from bounds, as in GROUP BY.

    PIVOT patients ON sex USING COUNT(*) GROUP BY consent

No value is read from data. The columns stand in the order of the values, as in DuckDB.

Tests: tests/sql/accepted.sql, tests/sql/refused.sql.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from decimal import Decimal
from itertools import count

from dpsql.errors import UnsupportedQuery
from dpsql.plan.known.conditions import refuse_identifying
from dpsql.plan.known.relations import conjuncts, predicates
from dpsql.plan.known.scope import same_name
from dpsql.plan.measured.domains import Evaluate, domain_of
from dpsql.plan.nodes import Column, Expression
from dpsql.plan.plans import AnyPlan, Plan
from dpsql.plan.rows.from_where import Rows
from dpsql.plan.rows.sub_queries import ReleasesInside
from dpsql.plan.types import Value
from dpsql.sql import syntax
from dpsql.sql.naming import column_name
from dpsql.sql.pivot import unlisted_keys, with_values

__all__ = ["with_values_listed"]


def with_values_listed(
    query: syntax.Select, rows: Rows, evaluate: Evaluate, answer: Callable[[], AnyPlan | None]
) -> syntax.Select:
    """The query with the values of its PIVOT's keys; itself where they are listed.

    Args:
        query: A SELECT.
        rows: What its names mean.
        evaluate: Runs expressions over public values.
        answer: Plans the one sub-query that it reads; None where it reads others.

    Raises:
        UnsupportedQuery: The values of a key are not known.
    """
    keys = unlisted_keys(query)
    if not keys:
        return query
    values = []
    for key in keys:
        known = _known(key, query, replace(rows, aliases=count()), evaluate, answer)
        if known is None:
            raise UnsupportedQuery(
                "its values are not known, and PIVOT makes a column of each.", construct=column_name(key),
                position=key.position, hint=f"List them: PIVOT t ON {column_name(key)} IN ('a', 'b') USING COUNT(*).",
            )  # fmt: skip
        named = sorted(value for value in known if value is not None)
        values.append([syntax.Literal(Decimal(repr(own)) if isinstance(own, float) else own) for own in named])
    return with_values(query, values)


def _known(
    key: syntax.Expr, query: syntax.Select, rows: Rows, evaluate: Evaluate, answer: Callable[[], AnyPlan | None]
) -> tuple[Value, ...] | None:
    """The values of a key of people's rows, or of the answer that is read; None where they are not known."""
    try:
        relation, scope = rows.plan(syntax.Select((), query.source, position=query.position))
    except ReleasesInside:
        plan = answer()
        return _of_answer(plan, key) if isinstance(plan, Plan) else None
    expression = rows.resolver(scope).resolve(key)
    refuse_identifying(expression, "PIVOT", key.position)
    known = [part for predicate in predicates(relation) for part in conjuncts(predicate)]
    return domain_of(expression, known, evaluate)


def _of_answer(plan: Plan, key: syntax.Expr) -> tuple[Value, ...] | None:
    """The values of a column of an answer that is a listed key as it is."""
    if not isinstance(key, syntax.Name):
        return None
    found: Expression | None = next((own.expression for own in plan.answer if same_name(own.name, key.parts[-1])), None)
    for outputs in reversed([plan.outputs, *(stage.outputs for stage in plan.stages[:-1])] if plan.stages else []):
        if not isinstance(found, Column):
            return None
        found = outputs[int(found.name.removeprefix("c"))].expression
    name = found.name if isinstance(found, Column) else ""
    return next((own.domain for own in plan.keys if own.name == name), None)
