"""Window functions over the rows of an answer: ranks, neighbours, running sums, shares of a total.

They run after the noise, in the worker without data, so they cost nothing. What runs after the charge must not fail, so
every function here is total: sums of integers saturate where released integers do, and offsets are small constants.
"""

from __future__ import annotations

from fractions import Fraction

from dpsql.errors import UnsupportedQuery
from dpsql.limits import MOST_OFFSET, MOST_ROWS, SATURATION
from dpsql.plan.aggregates import CALLS, AggregateFunction, Kind
from dpsql.plan.aggregates import FUNCTIONS as AGGREGATES
from dpsql.plan.catalog import TableInfo
from dpsql.plan.functions import Function
from dpsql.plan.functions.rules import hull
from dpsql.plan.functions.table import Nulls
from dpsql.plan.intervals import Interval
from dpsql.plan.known.conditions import window_parts, windows_in
from dpsql.plan.known.relations import is_public, scans
from dpsql.plan.nodes import Apply, Column, Expression, Order, Relation, Windowed
from dpsql.plan.types import Facts, Type
from dpsql.plan.values.conversions import converted
from dpsql.plan.values.expressions import Resolver, arguments_of, refuse_large
from dpsql.plan.values.people_windows import bare, instead
from dpsql.plan.values.ranges import DATED, RELEASED, is_certain, known_range, range_of, with_bounds
from dpsql.sql import syntax
from dpsql.sql.qualify import KEPT
from dpsql.sql.refused import FIRST_ROW, QUALIFIED

__all__ = [
    "NamesPeople",
    "between_stages",
    "over_groups",
    "place_sql",
    "refuse_after_having",
    "refuse_over_rows",
    "windowed",
]

ROWS = Interval(Fraction(1), Fraction(MOST_ROWS))
COUNTS = Interval(Fraction(0), Fraction(MOST_ROWS))
SHARES = Interval(Fraction(0), Fraction(1))
END = RELEASED[Type.INTEGER]  # Released integers saturate there.
SATURATED = Interval(-END, END)
SATURATING = "bigint(CASE WHEN {0} > {1} THEN {1} WHEN {0} < -{1} THEN -{1} ELSE {0} END)"
BETWEEN_STAGES = Function(
    "saturated", (Type.INTEGER,), Type.INTEGER, SATURATING.format("{0}", END),
    interval=lambda x: x.saturating(SATURATION), saturated=lambda x: x.clipped(-END, END),
)  # fmt: skip
"""A whole number of one stage as the next one reads it: its proofs that nothing overflows start from there."""


def between_stages(expression: Expression) -> Expression:
    """What a later stage reads: a whole number where it is taken to lie, and no farther, as a column does already."""
    whole = expression.facts.type is Type.INTEGER and not isinstance(expression, Column)
    if not whole or range_of(expression, hard=True).within(SATURATION):
        return expression
    return Apply(BETWEEN_STAGES, (expression,), expression.facts)


def _numbered(name: str, *parameters: Type) -> Function:
    places = ", ".join(f"{{{i}}}" for i in range(len(parameters)))
    return _function(name, parameters, Type.INTEGER, f"{name.upper()}({places}) {{over}}", ROWS, Nulls.NEVER)


def _function(
    name: str, parameters: tuple[Type, ...], result: Type, sql: str, values: Interval, nulls: Nulls = Nulls.OPEN
) -> Function:
    """One whose values lie in an interval, whatever its arguments."""
    return Function(name, parameters, result, sql, interval=lambda *_: values, nulls=nulls)


def _chosen(name: str, kind: Type, *others: Type) -> Function:
    """One that shows a value of another row, or its last argument."""
    places = ", ".join(f"row_offset({{{i}}})" if i == 1 else f"{{{i}}}" for i in range(1 + len(others)))
    ranged = kind.numeric or kind in DATED
    return Function(
        name, (kind, *others), kind, f"{name.upper()}({places}) {{over}}", nulls=Nulls.OPEN,
        interval=(lambda x, *rest: hull((x, rest[1])) if len(rest) > 1 else x) if ranged else None,
    )  # fmt: skip


def place_sql(name: str, types: tuple[Type, ...]) -> str:
    """An aggregate's SQL; not every database has the least and the greatest of truths."""
    if types == (Type.BOOLEAN,) and name in ("min", "max"):
        return "all_true({0})" if name == "min" else "any_true({0})"
    return f"{name.upper()}({{0}})"


def _aggregate(row: AggregateFunction, kind: Type) -> Function:
    name, result, sql = row.name, row.result(kind), f"{place_sql(row.name, (kind,))} {{over}}"
    if row.kind is Kind.COUNT:
        return _function(name, (kind,), result, sql, COUNTS, Nulls.NEVER)
    if row.kind is Kind.SUM and kind is Type.INTEGER:
        return _function(name, (kind,), result, SATURATING.format(sql, END), SATURATED)
    times = COUNTS if row.kind is Kind.SUM else Interval.point(1)
    ranged = kind.numeric or kind in DATED
    interval = (lambda x: x * times) if kind.numeric else (lambda x: x) if ranged else None
    return Function(name, (kind,), result, sql, nulls=Nulls.OPEN, interval=interval)


INTEGER, REAL = Type.INTEGER, Type.REAL
CHOSEN = ("first_value", "last_value")
NEIGHBOURS = ("lag", "lead")
SHOWING = (*NEIGHBOURS, *CHOSEN, "nth_value")  # Functions that show the value of another row.
RANKS = ("row_number", "rank", "dense_rank")
NUMBER_ROWS = _numbered("row_number")
UNIT_SUM = Function("sum", (INTEGER,), INTEGER, "bigint(SUM({0}) {over})", nulls=Nulls.OPEN, interval=lambda x: x)
"""Of a unit's rows, whose values are proven to add up to a BIGINT; what it lies in follows from how many they are."""
COUNT_ROWS = _function("count", (), INTEGER, "COUNT(*) {over}", COUNTS, Nulls.NEVER)
_LISTED: tuple[Function, ...] = (
    NUMBER_ROWS,
    *(_numbered(name) for name in RANKS if name != NUMBER_ROWS.name),
    _numbered("ntile", INTEGER),
    *(
        _function(name, (), REAL, f"{name.upper()}() {{over}}", SHARES, Nulls.NEVER)
        for name in ("percent_rank", "cume_dist")
    ),
    COUNT_ROWS,
    *(
        _aggregate(row, kind)
        for row in AGGREGATES.values()
        if row.name in CALLS and row.kind in (Kind.COUNT, Kind.SUM, Kind.PLACE)
        for kind in row.over_answers or ()
    ),
    *(_chosen(name, kind) for name in (*CHOSEN, *NEIGHBOURS) for kind in Type),
    *(_chosen("nth_value", kind, INTEGER) for kind in Type),
    *(_chosen(name, kind, INTEGER) for name in NEIGHBOURS for kind in Type),
    *(_chosen(name, kind, INTEGER, kind) for name in NEIGHBOURS for kind in Type),
)
FUNCTIONS = {(function.name, function.parameters): function for function in _LISTED}
NAMES = tuple(dict.fromkeys(function.name for function in _LISTED))
ONE_AFTER_ANOTHER = ("row_number", "ntile", *NEIGHBOURS)  # Functions that tell rows apart which ORDER BY leaves equal.
LEAST = {"ntile": 1, "nth_value": 1, "lag": 0, "lead": 0}
"""The least number of rows that each function takes as its argument, as in SQL."""


def windowed(node: syntax.Window, resolver: Resolver) -> Windowed:
    """A window function over the rows that ``resolver`` reads: released rows, or those of public tables.

    Raises:
        UnsupportedQuery: Another function, arguments it does not take, or a window inside it.
    """
    call = node.call
    name = CALLS[call.name].function if call.name in CALLS and CALLS[call.name].plain else call.name
    for part in window_parts(node):
        _refuse_windows(part)
    if name not in NAMES or call.distinct or call.where or call.order or call.named:
        raise UnsupportedQuery(
            "this is no window function here."
            if name not in NAMES
            else "DISTINCT, FILTER, ORDER BY and named arguments do not go with a window.",
            construct=f"{call.name.upper()} .. OVER", position=node.position,
            hint=f"There are {', '.join(name.upper() for name in NAMES)}, with plain arguments.",
        )  # fmt: skip
    function, arguments = _applied(name, tuple(map(resolver.resolve, call.arguments)), node)
    bounds = function.bounds(tuple(map(known_range, arguments)), tuple(map(is_certain, arguments)))
    facts = Facts(function.result, nullable=function.nulls is not Nulls.NEVER)
    result = Windowed(
        function, arguments, tuple(map(resolver.resolve, node.partition)),
        tuple(Order(resolver.resolve(term.expression), term.descending, term.nulls_first) for term in node.order),
        node.frame, name in ONE_AFTER_ANOTHER or (node.frame is not None and node.frame.rows),
        with_bounds(facts, bounds, Fraction(1) if function.result is INTEGER else None),
    )  # fmt: skip
    refuse_large(result, call.name, node.position)
    return result


class NamesPeople(UnsupportedQuery):
    """What stands beside aggregates reads a privacy unit or a key."""


def over_groups(node: syntax.Window, resolver: Resolver) -> Windowed:
    """A window beside aggregates, over the groups of an answer.

    Raises:
        UnsupportedQuery: As `windowed`, or it would go over people's rows.
    """
    try:
        return windowed(node, resolver)
    except NamesPeople as refusal:
        raise UnsupportedQuery(
            f"beside aggregates it goes over groups, and {refusal.construct} is none.",
            construct=f"{node.call.name.upper()} .. OVER", position=node.position,
            hint="Choose people's rows in a sub-query, and aggregate around it: SELECT AVG(x) FROM (SELECT x FROM t "
            f"QUALIFY ROW_NUMBER() OVER (PARTITION BY {refusal.construct} ORDER BY ts) = 1).",
        ) from None  # fmt: skip


def _applied(name: str, given: tuple[Expression, ...], node: syntax.Window) -> tuple[Function, tuple[Expression, ...]]:
    """The function for these arguments, which come back at the types that it takes."""
    arguments = given
    if len(given) == 3 and name in NEIGHBOURS:
        default = converted(given[2], given[0].facts.type)
        arguments = (*given[:2], default) if default is not None else given
    function = FUNCTIONS.get((name, tuple(argument.facts.type for argument in arguments)))
    if function is None:
        taken = [parameters for own, parameters in FUNCTIONS if own == name]
        counts = sorted({len(parameters) for parameters in taken})
        raise UnsupportedQuery(
            f"it does not take ({', '.join(argument.facts.type.value for argument in given)}).",
            construct=name.upper(), position=node.position,
            hint=f"It takes {' or '.join(map(str, counts))} arguments; "
            f"sums and means are of numbers, and what LAG and LEAD show instead of no row is of the first one's type.",
        )  # fmt: skip
    if name in LEAST and len(arguments) > (name != "ntile"):
        rows = arguments[name != "ntile"]
        value = getattr(rows, "value", None)
        if not isinstance(value, int) or not LEAST[name] <= value < MOST_OFFSET:
            raise UnsupportedQuery(
                f"its number of rows must be a whole number from {LEAST[name]} to 2^31.", construct=name.upper(),
                position=node.position, hint="Write a constant.",
            )  # fmt: skip
    return function, arguments


def _refuse_windows(node: syntax.Expr) -> None:
    for window in windows_in(node):
        raise UnsupportedQuery(
            "a window does not go over another.", construct="window function", position=window.position,
            hint=QUALIFIED,
        )  # fmt: skip


def refuse_after_having(having: Expression | None, query: syntax.Select) -> None:
    """Refuses a HAVING that names a column with a window: windows go over the groups that HAVING leaves.

    Raises:
        UnsupportedQuery: It does.
    """
    if having is not None and query.having is not None and _holds_window(having):
        raise UnsupportedQuery(
            "windows go over what HAVING leaves.", construct="HAVING", position=query.having.position, hint=QUALIFIED
        )


def _holds_window(expression: Expression) -> bool:
    return isinstance(expression, Windowed) or any(map(_holds_window, arguments_of(expression)))


def refuse_over_rows(query: syntax.Select, relation: Relation) -> None:
    """Refuses windows of a SELECT that neither groups nor aggregates: they would go over people's rows, or stand in a
    sub-query over public ones.

    Raises:
        UnsupportedQuery: It has one.
    """
    nodes = [*(item.expression for item in query.items), *(term.expression for term in query.order_by)]
    for window in (window for node in nodes for window in windows_in(node)):
        if is_public(relation):
            if any(item.name == KEPT for item in query.items):
                raise UnsupportedQuery(
                    "it chooses no rows of public tables.", construct="QUALIFY, DISTINCT ON",
                    position=window.position,
                    hint="Leave it out, and have the window among the columns: SELECT name, ROW_NUMBER() OVER (ORDER "
                    "BY name) AS r FROM t ORDER BY r. That costs nothing, and r says which rows it would keep.",
                )  # fmt: skip
            raise UnsupportedQuery(
                "over public rows it stands in a statement of its own, and in no sub-query.",
                construct="window function", position=window.position,
                hint="Write SELECT name, ROW_NUMBER() OVER (ORDER BY name) AS r FROM t ORDER BY r: that costs nothing.",
            )  # fmt: skip
        hint = "Use GROUP BY and aggregates; a window may go over those: RANK() OVER (ORDER BY COUNT(*) DESC)."
        table = next((scan.table for scan in scans(relation) if scan.table.unit is not None), None)
        own = "" if table is None else str(table.unit)
        of_one = own in map(bare, window.partition)
        if not of_one and (other := instead(window, table.name if table else "t", own)):
            hint = other
        elif window.call.name in RANKS:
            hint = f"{hint} {FIRST_ROW}" if table is None else _of_ranks(window, query, table)
        elif table is not None and window.call.name in CALLS and of_one:
            of = ", ".join(map(bare, window.call.arguments)) or "*"
            total = f"{window.call.name.upper()}({of}) AS value"
            hint = (
                f"Of each person it is an aggregate in a sub-query: SELECT AVG(value) FROM (SELECT {table.unit}, "
                f"{total} FROM {table.name} GROUP BY {table.unit})."
            )
        elif window.call.name in (*NEIGHBOURS, *CHOSEN) and table is not None:
            hint = (
                "Over the rows of one person it stands in a sub-query: FROM (SELECT x - LAG(x) OVER (PARTITION BY "
                f"{table.unit} ORDER BY ts) AS change FROM {table.name}); then aggregate."
            )
        raise UnsupportedQuery(
            "it answers row by row, and rows are private.", construct="window function", position=window.position,
            hint=hint,
        )  # fmt: skip


def _of_ranks(window: syntax.Window, query: syntax.Select, table: TableInfo) -> str:
    """What to ask instead of a rank of people's rows, in the statement's own names."""
    columns = [item.expression.parts[-1] for item in query.items if isinstance(item.expression, syntax.Name)]
    known = [table.columns[name] for name in columns if name in table.columns]
    shown = [column for column in known if not (column.unit or column.link)]
    number = next((own.name for own in shown if own.facts.type.numeric), None)
    key = next((own.name for own in shown if own.values is not None), None)
    value, read = (f"AVG({number})", number) if number else ("COUNT(*)", "*")
    named = [term for term in window.order if bare(term.expression) != table.unit]
    order = ", ".join(f"{bare(term.expression)}{' DESC' * term.descending}" for term in named) or "x"
    group = key or next((own.name for own in shown if own.facts.type is Type.TEXT), "key")
    return (
        f"Of each person's first row ask for aggregates: SELECT {value} FROM (SELECT {read} FROM {table.name} QUALIFY "
        f"ROW_NUMBER() OVER (PARTITION BY {table.unit} ORDER BY {order}) = 1). Of groups: SELECT {group}, COUNT(*) AS "
        f"n, {window.call.name.upper()}() OVER (ORDER BY COUNT(*) DESC) AS r FROM {table.name} GROUP BY {group}."
    )
