"""Answers that have no row whatever the data say are refused: nobody pays to be shown nothing.

It follows from what is public: the values that the policy declares for the keys, and the conditions on them. What is
asked with LIMIT 0 costs nothing, and is answered; so is what a statement returns before its parameters are known.
Beside others, in a UNION, such an answer adds nothing and costs nothing. So are answers about no row, because a
condition is true for none within the bounds of its column: it is misspelt, most likely. Conditions that exclude each
other, or that name no column, are noted alone: tools write them.

Tests: tests/unit/mechanisms/test_foretold.py, tests/sql/refused.sql.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from dpsql.errors import UnsupportedQuery
from dpsql.plan.known.narrowing import is_never
from dpsql.plan.known.relations import conjuncts, scans
from dpsql.plan.known.there import filtered
from dpsql.plan.measured.domains import Evaluate
from dpsql.plan.nodes import (
    Apply,
    Column,
    Constant,
    Expression,
    Filter,
    Join,
    PerUnit,
    Project,
    Relation,
    Semi,
    Total,
)
from dpsql.plan.plans import Plan
from dpsql.plan.types import Type
from dpsql.plan.values.expressions import arguments_of, columns_of, substituted
from dpsql.sql import syntax

__all__ = ["NoRows", "no_rows", "refuse_no_rows"]


@dataclass(frozen=True, slots=True)
class NoRows:
    """Why an answer has no row.

    Attributes:
        why: What is met by no group.
        construct: Where it stands.
        position: The same, in the text.
        hint: What to write instead.
    """

    why: str
    construct: str
    position: syntax.Position | None
    hint: str

    @property
    def refusal(self) -> UnsupportedQuery:
        """The error of who asks for it alone."""
        return UnsupportedQuery(
            f"{self.why}, so that the answer would have no row.", construct=self.construct, position=self.position,
            hint=self.hint,
        )  # fmt: skip

    def __str__(self) -> str:
        return f"{self.construct}: {self.why}"


def refuse_no_rows(plan: Plan, evaluate: Evaluate) -> None:
    """Refuses a statement that is known to have no row.

    Args:
        plan: What is asked.
        evaluate: Runs expressions over public values.

    Raises:
        UnsupportedQuery: Its answer would have no row, or be about none.
    """
    found = no_rows(plan, evaluate)
    if found is not None:
        raise found.refusal
    held = frozenset(scan.alias for scan in scans(plan.relation))
    outside = None if plan.empty else _outside_of(plan.relation, held)
    if outside is None and plan.aggregates and not plan.empty:
        conditions = (None if own.argument is None else filtered(own.argument)[0] for own in plan.aggregates)
        each = [_outside(condition, held) for condition in conditions]
        outside = each[0] if None not in each else None
    if outside is not None:
        low, high = outside.facts.low, outside.facts.high
        whole = "is a whole number" if outside.facts.type is Type.INTEGER else "lies"
        raise UnsupportedQuery(
            f"no row can meet its condition, for by what is public it {whole} within [{_said(low)}, {_said(high)}].",
            construct=outside.shown, position=None,
            hint="DESCRIBE shows which values columns have. Numbers outside count as the nearer bound, days as NULL.",
        )  # fmt: skip


def _outside_of(relation: Relation, held: frozenset[str]) -> Column | None:
    """The column of a condition on rows that none can meet by its bounds alone, where no row is left without it."""
    match relation:
        case Filter():
            return _outside(relation.predicate, held) or _outside_of(relation.input, held)
        case Semi():
            return _outside_of(relation.input, held) or (
                None if relation.negated else _outside_of(relation.right, held)
            )
        case Join():
            return _outside_of(relation.left, held) or (None if relation.outer else _outside_of(relation.right, held))
        case Project() | PerUnit():
            return _outside_of(relation.input, held)
    return None


def _outside(condition: Expression | None, held: frozenset[str]) -> Column | None:
    """The one column of a part of a condition that is never true by the column's bounds; it is one of a table's."""
    for part in () if condition is None else conjuncts(condition):
        if isinstance(part, Apply) and part.function.name == "or":
            each = [_outside(own, held) for own in part.arguments]
            if None not in each:
                return each[0]
        columns = columns_of(part)
        bounded = (
            len(columns) == 1 and columns[0].alias in held and None not in (columns[0].facts.low, columns[0].facts.high)
        )
        if bounded and is_never(part) and not _holds_null(part):
            return columns[0]
    return None


def _holds_null(expression: Expression) -> bool:
    if isinstance(expression, Constant):
        return expression.value is None
    return any(map(_holds_null, arguments_of(expression)))


def _said(end: object) -> str:
    return f"{float(end):.15g}" if isinstance(end, Fraction) else str(end)


def no_rows(plan: Plan, evaluate: Evaluate) -> NoRows | None:
    """Why no group is listed, or none can meet HAVING, or WHERE of a query over the answer; None where some may.

    None, too, of what is asked with LIMIT 0.
    """
    if plan.empty:
        return None
    bare = next((key for key in plan.written if key.domain == ()), None)
    if plan.sets is None and (bare is not None or any(not part.groups for part in plan.combined)):
        key = None if bare is None else bare.expression
        name, what = (key.shown, "none of its declared values") if isinstance(key, Column) else ("GROUP BY", "no group")
        return NoRows(
            f"{what} meets the conditions", name, None if bare is None else bare.position,
            "Data may hold what is not declared: SELECT COUNT(*) .. WHERE .., without GROUP BY, counts such rows.",
        )  # fmt: skip
    for construct, condition in (("HAVING", plan.having), ("WHERE", _first_where(plan))):
        if condition is not None and _never(condition, plan, evaluate):
            why, hint = "no group that is listed can meet it", "DESCRIBE shows which values columns have."
            return NoRows(why, construct, None, hint)
    return None


def _first_where(plan: Plan) -> Expression | None:
    """The condition of a query over the answer, over the released values; None where its answer has a row anyway."""
    stage = plan.stages[0] if plan.stages else None
    if stage is None or stage.where is None or _totals(stage.where):
        return None
    if any(own.aggregates and not own.group_by for own in plan.stages):
        return None
    return substituted(stage.where, {f"c{place}": output.expression for place, output in enumerate(plan.outputs)})


def _totals(expression: Expression) -> bool:
    """Whether it reads a total of the answer."""
    return isinstance(expression, Total) or any(map(_totals, arguments_of(expression)))


def _never(condition: Expression, plan: Plan, evaluate: Evaluate) -> bool:
    """Whether a condition over released values is true for no group, whatever is released."""
    if plan.sets is None and any(_of_no_value(part, plan, evaluate) for part in conjuncts(condition)):
        return True
    return is_never(substituted(condition, {key.name: key.expression for key in plan.keys}))


def _of_no_value(condition: Expression, plan: Plan, evaluate: Evaluate) -> bool:
    """Whether a condition on one listed key alone is true for none of its values."""
    columns = columns_of(condition)
    key = next((key for key in plan.keys if len(columns) == 1 and key.name == columns[0].name), None)
    if key is None or key.domain is None:
        return False
    return True not in {met for (met,) in evaluate([condition], columns, [(value,) for value in key.domain])}
