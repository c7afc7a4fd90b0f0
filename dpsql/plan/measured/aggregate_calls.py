"""Calls of aggregates over people: which arguments each takes, what is measured of them, and what is refused."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from decimal import Decimal
from fractions import Fraction

from dpsql.errors import UnsupportedQuery
from dpsql.plan.aggregates import CALLS, FUNCTIONS, AggregateCall, Takes
from dpsql.plan.functions.refused import REFUSED, refusal
from dpsql.plan.known.narrowing import facts_on
from dpsql.plan.known.relations import unit_of
from dpsql.plan.known.scope import identifying, named_where
from dpsql.plan.measured.dated import days_of, no_number
from dpsql.plan.measured.quantile_calls import element_of, quantile
from dpsql.plan.measured.squares import refuse_squares
from dpsql.plan.measured.tuple_counts import of_one_value, refuse_units
from dpsql.plan.nodes import Aggregate, Column, Constant, Expression, Relation
from dpsql.plan.plans import REPORTS
from dpsql.plan.types import Type
from dpsql.plan.values.applied import KEPT_WITHIN
from dpsql.plan.values.expressions import Resolver, all_of, as_constant, columns_of, nearest, where_true
from dpsql.sql import syntax
from dpsql.sql.elements import ELEMENT
from dpsql.sql.naming import column_name
from dpsql.sql.spoken import spoken

__all__ = ["FILTERED", "AggregateReader", "Asked", "without_report"]

FILTERED = " FILTER ("  # Where the condition of a call begins, as messages and plans name it.
LONGEST = 60
"""Of a condition that is said whole, in letters: two columns of one statement mostly differ in it. It is a choice."""


Finish = Callable[[Column], Expression]  # What the value of an aggregate call is, once its column is released.


@dataclass(frozen=True, slots=True)
class Asked:
    """One aggregate call: what is measured, and what follows once that is released."""

    aggregate: Aggregate
    finish: Finish


@dataclass(frozen=True, slots=True)
class AggregateReader:
    """Reads aggregate calls of one SELECT.

    Attributes:
        rows: Resolves expressions over one row.
        relation: The rows.
    """

    rows: Resolver
    relation: Relation

    def read(self, node: syntax.Call) -> Asked:
        """What a call measures; the aggregate has no name yet.

        Raises:
            UnsupportedQuery: Unknown aggregate, wrong arguments, the privacy unit where it must not stand.
        """
        name = node.name
        if name in REFUSED:
            reason, hint = refusal(name, [*map(column_name, node.arguments)])
            raise UnsupportedQuery(reason, construct=name.upper(), position=node.position, hint=hint)
        if name not in CALLS:
            raise UnsupportedQuery(
                "this aggregate is not supported.", construct=name.upper(), position=node.position,
                hint=nearest(name, [*CALLS]) or f"There are {', '.join(CALLS).upper()}.",
            )  # fmt: skip
        call, written = CALLS[name], node
        refuse_units(node, self.rows)
        node = of_one_value(node)
        if call.takes is Takes.VECTOR:
            raise UnsupportedQuery(
                "it makes several columns, so it stands alone in the SELECT list.", construct="AVG_VECTOR",
                position=node.position, hint="Write AVG of one column here, or compute in an outer query.",
            )  # fmt: skip
        epsilon, bounds, per_group = self._named(node)
        where = None if node.where is None else self.rows.boolean(self.rows.resolve(node.where), node.where)
        if where is not None:
            self._refuse_unit(where, node)
        aggregate = Aggregate("", "", None, _spelled(written), epsilon, position=node.position)
        finish: Finish = lambda column: column  # noqa: E731 - one line, used once
        match call.takes:
            case Takes.COUNTED:
                aggregate = self._count(node, aggregate, where)
            case Takes.COUNT_IF | Takes.ANY | Takes.ALL:
                aggregate, finish = self._condition(node, aggregate, where)
            case Takes.PAIR:
                aggregate = self._pair(node, aggregate, where)
            case _:
                aggregate, finish = self._single(node, aggregate, where, finish)
        refuse_squares(aggregate, node)
        if bounds is not None and aggregate.argument is None:
            raise UnsupportedQuery(
                "there is no value to bound.", construct="contribution_bounds_per_row", position=node.position,
                hint="Leave it out, or write contribution_bounds_per_group.",
            )  # fmt: skip
        if bounds is not None and per_group is not None:
            raise UnsupportedQuery(
                "bounds of each row and of each unit's total are not both in force.",
                construct="contribution_bounds_per_group", position=node.position,
                hint=f"Keep one of them, or bound the rows by {KEPT_WITHIN}.",
            )  # fmt: skip
        if per_group is not None and not (FUNCTIONS[aggregate.function].additive or aggregate.function == "avg"):
            raise UnsupportedQuery(
                "bounds of a unit's total, or of its mean, are for SUM, COUNT and AVG.",
                construct="contribution_bounds_per_group",
                position=node.position, hint="Write contribution_bounds_per_row.",
            )  # fmt: skip
        return Asked(replace(aggregate, bounds=self._tightened(aggregate, bounds, node), per_group=per_group), finish)

    def vector(self, node: syntax.Call) -> list[Asked]:
        """One mean for each argument of AVG_VECTOR, over the rows where none of them is NULL.

        Raises:
            UnsupportedQuery: Fewer than two arguments, or what AVG refuses of one.
        """
        self._plain(node)
        if len(node.arguments) < 2 or node.star:
            raise UnsupportedQuery(
                "it takes two columns or more.", construct="AVG_VECTOR", position=node.position,
                hint="Write AVG_VECTOR(x, y), or AVG(x).",
            )  # fmt: skip
        vector = tuple(self._numeric(self.rows.resolve(argument), node) for argument in node.arguments)
        there = [self._there(argument, node) for argument in vector]
        complete = all_of(there, self.rows, node.position)
        if node.where is not None:
            own = self.rows.boolean(self.rows.resolve(node.where), node.where)
            complete = self.rows.apply("and", (complete, own), node.position)
        asked = []
        for argument, coordinate in zip(node.arguments, vector, strict=True):
            single = self.read(replace(node, name="avg", arguments=(argument,), where=None))
            mean = replace(single.aggregate, argument=where_true(complete, coordinate), vector=(*vector, complete))
            asked.append(Asked(mean, single.finish))
        return asked

    # ------------------------------------------------------------------------------------------------- each family

    def _count(self, node: syntax.Call, aggregate: Aggregate, where: Expression | None) -> Aggregate:
        if node.star or not node.arguments:
            if node.distinct:
                raise UnsupportedQuery(
                    "DISTINCT needs a column.", construct="COUNT", position=node.position, hint="Write COUNT(*)."
                )
            if where is None:
                return replace(aggregate, function="count_rows")
            return replace(aggregate, function="count", argument=where_true(where, as_constant(1)))
        argument = self._argument(node, 1)
        named = named_where(argument)
        if named is None:
            self._refuse_unit(argument, node)
        else:
            argument, conditions = named[0], [*named[1], *([] if where is None else [where])]
            where = all_of(conditions, self.rows, node.position) if conditions else None
            if not argument.facts.nullable and not node.distinct:  # units and keys are never NULL in a bounded view
                return self._count(replace(node, star=True, arguments=()), aggregate, where)
            if not argument.facts.nullable and argument.unit and where is None:
                return replace(aggregate, function="count_units")
        argument = argument if where is None else where_true(where, argument)
        return replace(aggregate, function="count_distinct" if node.distinct else "count", argument=argument)

    def _condition(self, node: syntax.Call, aggregate: Aggregate, where: Expression | None) -> tuple[Aggregate, Finish]:
        """COUNT_IF, BOOL_OR and BOOL_AND: a count of the rows where the condition (or its opposite) is true."""
        condition = self.rows.boolean(self._argument(node, 1), node)
        self._refuse_unit(condition, node)
        takes = CALLS[node.name].takes
        if takes is Takes.ALL:
            condition = self.rows.apply("not", (condition,), node.position)
        if where is not None:
            condition = self.rows.apply("and", (where, condition), node.position)
        counted = replace(aggregate, function="count", argument=where_true(condition, as_constant(1)))
        if takes is Takes.COUNT_IF:
            return counted, lambda column: column
        operator = ">=" if takes is Takes.ANY else "<"
        return counted, lambda column: self.rows.apply(operator, (column, as_constant(1)), node.position)

    def _pair(self, node: syntax.Call, aggregate: Aggregate, where: Expression | None) -> Aggregate:
        """Covariances: rows where either argument is NULL do not count."""
        self._plain(node)
        if len(node.arguments) != 2:
            raise UnsupportedQuery(
                "it takes two arguments.", construct=node.name.upper(), position=node.position,
                hint=f"Write {node.name.upper()}(y, x).",
            )  # fmt: skip
        first, second = (self._numeric(self.rows.resolve(argument), node) for argument in node.arguments)
        there = [self._there(argument, node) for argument in (first, second)]
        both = self.rows.apply("and", (there[0], there[1]), node.position)
        if where is not None:
            both = self.rows.apply("and", (both, where), node.position)
        return replace(
            aggregate,
            function=CALLS[node.name].function,
            argument=where_true(both, first),
            second=where_true(both, second),
        )

    def _there(self, argument: Expression, node: syntax.Call) -> Expression:
        missing = self.rows.apply("is_null", (argument,), node.position)
        return self.rows.apply("not", (missing,), node.position)

    def _single(
        self, node: syntax.Call, aggregate: Aggregate, where: Expression | None, finish: Finish
    ) -> tuple[Aggregate, Finish]:
        call = CALLS[node.name]
        argument, fraction = self._argument_and_fraction(node, call)
        self._refuse_unit(argument, node)
        if argument.facts.type is Type.DATE and FUNCTIONS[call.function].one_of_them:
            days = days_of(facts_on(argument, self.relation), node)
            aggregate, argument = replace(aggregate, since=days.since), days.counted(argument, self.rows)
            finish = lambda released: days.as_date(released, self.rows)  # noqa: E731 - one line, used once
        elif call.takes is not Takes.VALUE:
            argument = self._numeric(argument, node)
        if call.function == "sum" and isinstance(argument, Constant) and argument.value == 1:  # as Tableau counts rows
            return self._count(replace(node, star=True, arguments=()), aggregate, where), finish
        if not columns_of(argument):
            raise UnsupportedQuery(
                "it aggregates a constant.", construct=node.name.upper(), position=node.position,
                hint="Name a column, or multiply COUNT(*) by the constant.",
            )  # fmt: skip
        argument = argument if where is None else where_true(where, argument)
        return replace(aggregate, function=call.function, argument=argument, fraction=fraction), finish

    def _argument_and_fraction(self, node: syntax.Call, call: AggregateCall) -> tuple[Expression, Fraction | None]:
        if call.takes is Takes.QUANTILE:
            return quantile(node, self.rows)
        if call.takes is Takes.ELEMENT:
            return element_of(node, self.rows)
        if call.takes is Takes.TRIMMED:
            return self._trimmed(node)
        self._plain(node)
        return self._argument(node, 1), call.fraction

    def _trimmed(self, node: syntax.Call) -> tuple[Expression, Fraction]:
        """TRIMMED_MEAN(x, share): the share is left out at either end."""
        self._plain(node)
        if len(node.arguments) != 2:
            raise UnsupportedQuery(
                "it takes a column and the share to leave out at either end.", construct="TRIMMED_MEAN",
                position=node.position, hint="Write TRIMMED_MEAN(x, 0.1).",
            )  # fmt: skip
        share = self.rows.constant(node.arguments[1], "the share")
        if isinstance(share, bool) or not isinstance(share, int | Decimal) or not 0 <= 2 * share < 1:
            raise UnsupportedQuery(
                "the share left out at either end must be 0 or more, and below 0.5.", construct="TRIMMED_MEAN",
                position=node.position, hint="Write 0.1 for the mean of the middle eight tenths, or MEDIAN(x).",
            )  # fmt: skip
        return self.rows.resolve(node.arguments[0]), Fraction(share)

    # --------------------------------------------------------------------------------------------------- arguments

    def _plain(self, node: syntax.Call) -> None:
        if node.distinct or node.order:
            raise UnsupportedQuery(
                "DISTINCT and ORDER BY inside it are not supported.", construct=node.name.upper(),
                position=node.position,
                hint="Leave them out, or aggregate a sub-query.",
            )  # fmt: skip

    def _argument(self, node: syntax.Call, count: int) -> Expression:
        if node.star or len(node.arguments) != count or node.order:
            raise UnsupportedQuery(
                "it takes one argument.", construct=node.name.upper(), position=node.position,
                hint=f"Write {node.name.upper()}(x).",
            )  # fmt: skip
        return self.rows.resolve(node.arguments[0])

    def _numeric(self, argument: Expression, node: syntax.Call) -> Expression:
        self._refuse_unit(argument, node)
        if argument.facts.type is Type.BOOLEAN and CALLS[node.name].takes is Takes.NUMBER_OR_TRUTH:
            return self.rows.apply("cast:integer", (argument,), node.position)
        if not argument.facts.type.numeric:
            raise UnsupportedQuery(
                f"it needs numbers, not {argument.facts.type.value}.", construct=node.name.upper(),
                position=node.position, hint=no_number(argument, CALLS[node.name]),
            )  # fmt: skip
        return argument

    def _refuse_unit(self, expression: Expression, node: syntax.Call) -> None:
        held = identifying(expression)
        if held is not None:
            unit = unit_of(self.relation)
            raise UnsupportedQuery(
                "nothing is computed from a privacy unit or a key: that would single out a person.",
                construct=held.shown, position=node.position,
                hint=f"COUNT(DISTINCT {held.shown if held.unit or unit is None else unit.name}) counts people.",
            )  # fmt: skip

    # --------------------------------------------------------------------------------------------- named arguments

    def _named(
        self, node: syntax.Call
    ) -> tuple[Fraction | None, tuple[Fraction, Fraction] | None, tuple[Fraction, Fraction] | None]:
        epsilon, bounds, per_group = None, None, None
        for name, value in node.named:
            match name:
                case "epsilon":
                    epsilon = self._positive(value, node)
                case "contribution_bounds_per_row":
                    bounds = self._ends(value, name, node)
                case "contribution_bounds_per_group":
                    per_group = self._ends(value, name, node)
                case "report_format":
                    raise UnsupportedQuery(
                        "a report stands alone in the SELECT list of the answer.", construct="report_format =>",
                        position=value.position or node.position, hint="Write the aggregate without it here.",
                    )  # fmt: skip
                case _ if name == ELEMENT and CALLS[node.name].takes is Takes.ELEMENT:
                    continue
                case _:
                    known = ("epsilon", "contribution_bounds_per_row", "contribution_bounds_per_group")
                    raise UnsupportedQuery(
                        "this named argument is not supported.", construct=f"{name} =>",
                        position=value.position or node.position,
                        hint=nearest(name, known) or f"There are {', '.join(known)}.",
                    )  # fmt: skip
        return epsilon, bounds, per_group

    def _positive(self, value: syntax.Expr, node: syntax.Call) -> Fraction:
        number = self.rows.constant(value, "epsilon")
        if (
            isinstance(number, bool)
            or not isinstance(number, int | Decimal)
            or not Fraction(1, 10**9) <= number <= 10**6
        ):
            raise UnsupportedQuery(
                "it must be a number from 1e-9 to 1e6.", construct="epsilon =>",
                position=value.position or node.position,
                hint="Write epsilon => 0.1.",
            )  # fmt: skip
        return Fraction(number)

    def _ends(self, value: syntax.Expr, name: str, node: syntax.Call) -> tuple[Fraction, Fraction]:
        parts = value.arguments if isinstance(value, syntax.Call) and value.name == "row" else ()
        numbers = [self.rows.constant(part, name) for part in parts]
        ends = [Fraction(n) for n in numbers if isinstance(n, int | Decimal) and not isinstance(n, bool)]
        if len(numbers) != 2 or len(ends) != 2 or ends[0] >= ends[1]:
            raise UnsupportedQuery(
                "it takes two numbers, the lower first.", construct=f"{name} =>",
                position=value.position or node.position,
                hint=f"Write {name} => (0, 500).",
            )  # fmt: skip
        return ends[0], ends[1]

    def _tightened(
        self, aggregate: Aggregate, bounds: tuple[Fraction, Fraction] | None, node: syntax.Call
    ) -> tuple[Fraction, Fraction] | None:
        """The analyst's bounds within those that are inferred: they may only tighten."""
        if bounds is None or aggregate.argument is None:
            return None
        facts = aggregate.argument.facts
        low = max(bounds[0], facts.low) if isinstance(facts.low, Fraction) else bounds[0]
        high = min(bounds[1], facts.high) if isinstance(facts.high, Fraction) else bounds[1]
        if low >= high:
            raise UnsupportedQuery(
                "the bounds lie outside those of the policy.", construct="contribution_bounds_per_row",
                position=node.position, hint="Bounds in a query may only tighten the policy's.",
            )  # fmt: skip
        return low, high


def without_report(node: syntax.Expr) -> tuple[syntax.Expr, str]:
    """An aggregate without ``report_format => 'JSON'``, and that format; any other node as it is, and no format.

    Raises:
        UnsupportedQuery: Another format.
    """
    wanted = dict(node.named).get("report_format") if isinstance(node, syntax.Call) and node.name in CALLS else None
    if wanted is None or not isinstance(node, syntax.Call):
        return node, ""
    match wanted:
        case syntax.Literal(value=str(word)) | syntax.Name(parts=(word,)) if word.upper() in REPORTS:
            plain = replace(node, named=tuple(pair for pair in node.named if pair[0] != "report_format"))
            return plain, word.upper()
    raise UnsupportedQuery(
        f"reports are written as {' or '.join(REPORTS)}.", construct="report_format =>",
        position=wanted.position or node.position, hint="Write report_format => 'JSON'.",
    )  # fmt: skip


def _spelled(node: syntax.Call) -> str:
    """The aggregate as a person would write it, for messages and plans: AVG(cost), COUNT(*)."""
    where = "" if node.where is None else f"WHERE {spoken(node.where)}"
    name, kept = node.name.upper(), where and f"{FILTERED}{where if len(where) <= LONGEST else '...'})"
    if node.star or not node.arguments:
        return f"{name}(*){kept}"
    element = dict(node.named).get(ELEMENT)
    which = f"[OFFSET({element.value})]" if isinstance(element, syntax.Literal) else ""
    return f"{name}({'DISTINCT ' if node.distinct else ''}{', '.join(map(spoken, node.arguments))}){which}{kept}"
