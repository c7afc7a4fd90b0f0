"""The plan in DuckDB's SQL: quoted, qualified names, bound parameters, total expressions.

This printer writes every statement an engine ever sees. It prints plan nodes only; the analyst's text is not at hand.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction

from dpsql.engines.base import EngineStatement
from dpsql.errors import InvariantBroken
from dpsql.plan.expressions import columns_of
from dpsql.plan.nodes import Apply, Case, Column, Constant, Expression, Filter, Join, Plan, Relation, Scan
from dpsql.plan.relations import scans, unit_column
from dpsql.plan.requests import Aggregates, Histogram, Measure, MeasureKind, Need, Source, Values
from dpsql.plan.types import Grid, Type, Value

__all__ = ["WIRE", "lower", "lower_cells", "lower_released"]

WIRE = {
    Type.INTEGER: "BIGINT",
    Type.REAL: "DOUBLE",
    Type.BOOLEAN: "BOOLEAN",
    Type.TEXT: "VARCHAR",
    Type.DATE: "DATE",
    Type.TIMESTAMP: "TIMESTAMP",
    Type.NULL: "BIGINT",
}
MOST_ROWS = 2**40  # public cap on the rows of a table
SUM_LIMIT = 2**126  # below HUGEINT's end

Naming = Callable[[Column], str]


def quoted(name: str) -> str:
    """An identifier of the engine.

    >>> quoted('a"b')
    '"a""b"'
    """
    return '"' + name.replace('"', '""') + '"'


def _qualified(column: Column) -> str:
    return f"{quoted(column.alias)}.{quoted(column.name)}"


@dataclass(slots=True)
class Printer:
    """Prints expressions and relations, collecting parameters and the functions the text uses."""

    naming: Naming = _qualified
    parameters: list[Value] = field(default_factory=list)
    functions: set[str] = field(default_factory=set)

    def expression(self, node: Expression) -> str:
        """SQL of one expression."""
        match node:
            case Column():
                return self.naming(node)
            case Constant():
                return self.constant(node.value, node.facts.type)
            case Apply():
                self.functions |= node.function.engine
                if "{rest}" not in node.function.sql and "{*}" not in node.function.sql:
                    return node.function.sql.format(*map(self.expression, node.arguments))
                arguments = [self.expression(argument) for argument in node.arguments]
                text = node.function.sql.replace("{*}", ", ".join(arguments)).replace(
                    "{rest}", ", ".join(arguments[1:])
                )
                return text.replace("{0}", arguments[0])
            case Case():
                branches = [
                    f"WHEN {self.expression(when)} THEN {self.expression(then)}" for when, then in node.branches
                ]  # fmt: skip
                return f"CASE {' '.join(branches)} ELSE {self.expression(node.default)} END"

    def constant(self, value: Value, type_: Type) -> str:
        """A bound parameter of a fixed type."""
        if value is None:
            return f"CAST(NULL AS {WIRE[type_]})"
        return self.bound(float(value) if type_ is Type.REAL else value, WIRE[type_])  # type: ignore[arg-type]  # numeric

    def bound(self, value: Value, wire: str) -> str:
        """A new parameter; they are numbered, so that parts may be printed in any order."""
        self.parameters.append(value)
        return f"CAST(${len(self.parameters)} AS {wire})"

    def real(self, value: Fraction | int) -> str:
        """A number as a bound DOUBLE."""
        return self.bound(float(value), "DOUBLE")

    def relation(self, node: Relation) -> str:
        """FROM and WHERE of a relation."""
        predicates: list[Expression] = []
        while isinstance(node, Filter):
            predicates.append(node.predicate)
            node = node.input
        text = "FROM " + self._tables(node)
        if predicates:
            text += " WHERE " + " AND ".join(self.expression(predicate) for predicate in reversed(predicates))
        return text

    def _tables(self, node: Relation) -> str:
        match node:
            case Scan():
                return f'"bounded"."main".{quoted(node.table.name)} AS {quoted(node.alias)}'
            case Join():
                on = " AND ".join(f"{_qualified(a)} = {_qualified(b)}" for a, b in node.equal)
                return f"{self._tables(node.left)} JOIN {self._tables(node.right)} ON {on}"
            case Filter():
                raise InvariantBroken("a filter below a join")


def lower(need: Need, contribution_key: bytes) -> EngineStatement:
    """The statement that fetches what a mechanism needs.

    Args:
        need: Aggregates, a histogram or values.
        contribution_key: The ledger's secret key; orders rows and groups where a cap cuts.
    """
    match need:
        case Aggregates():
            return _aggregates(need.source, need.measures, contribution_key)
        case Histogram():
            kind = MeasureKind.UNITS if need.of_units else MeasureKind.ROWS
            return _aggregates(need.source, (Measure(kind),), contribution_key)
        case Values():
            return _values(need, contribution_key)


@dataclass(frozen=True, slots=True)
class _Values:
    """One column of values in the inner rows: an argument as integers of a grid, or as it is."""

    argument: Expression
    grid: Grid | None


def _aggregates(source: Source, measures: Sequence[Measure], key: bytes) -> EngineStatement:
    printer = Printer()
    columns = _value_columns(measures)
    units = any(measure.kind is MeasureKind.UNITS for measure in measures) and source.contribution.rows > 1
    rows = _bounded_rows(printer, source, columns, key, units=units)
    fields = [(k.name, WIRE[k.expression.facts.type]) for k in source.keys]
    texts = [quoted(k.name) for k in source.keys]
    groups = f" GROUP BY {', '.join(texts)}" if texts else ""
    for index, measure in enumerate(measures):
        wire = "HUGEINT" if measure.kind in (MeasureKind.SUM, MeasureKind.PRODUCTS) else "BIGINT"
        fields.append((f"m{index}", wire))
        texts.append(f'CAST({_total(printer, measure, columns, units)} AS {wire}) AS "m{index}"')
    return _statement(printer, f"SELECT {', '.join(texts)} FROM ({rows}) AS q{groups}", fields, source.relation)


def _value_columns(measures: Sequence[Measure]) -> list[_Values]:
    """The distinct columns of values that the measures read: equal arguments are computed, and summed, once."""
    sums = [m for measure in measures for m in (measure, measure.by) if m is not None and m.grid is not None]
    columns = [_Values(m.argument, m.grid) for m in sums if m.argument is not None]
    for measure in measures:
        plain = measure.argument is not None and measure.grid is None
        shared = measure.kind is MeasureKind.VALUES and any(c.argument == measure.argument for c in columns)
        if plain and not shared and measure.argument is not None:
            columns.append(_Values(measure.argument, None))
    return list(dict.fromkeys(columns))


def _column(columns: Sequence[_Values], measure: Measure) -> str:
    """The column a measure reads. A value is NULL exactly where its grid integer is, so a count may read either."""
    for index, column in enumerate(columns):
        counted = measure.kind is MeasureKind.VALUES
        if column.argument == measure.argument and (counted or column.grid == measure.grid):
            return _x(index)
    raise InvariantBroken("a measure without its column")


def _total(printer: Printer, measure: Measure, columns: Sequence[_Values], units: bool) -> str:
    """SQL of one exact integer per group."""
    match measure.kind:
        case MeasureKind.ROWS:
            printer.functions.add("count")
            return "COUNT(*)"
        case MeasureKind.UNITS:  # with one row a unit the rows are counted: the same number, without a table of units
            printer.functions.add("count")
            return f"COUNT(DISTINCT {UNIT})" if units else "COUNT(*)"
        case MeasureKind.VALUES:
            printer.functions.add("count")
            return f"COUNT({_column(columns, measure)})"
        case MeasureKind.DISTINCT:
            printer.functions.add("count")
            return f"COUNT(DISTINCT {_column(columns, measure)})"
        case MeasureKind.SUM:
            _prove_sum(_reach(measure))
            x = _column(columns, measure)
            printer.functions.add("sum")
            if not measure.shift:
                return f"COALESCE(SUM({x}), 0)"
            printer.functions |= {"count", "-", "*"}  # the shift once per group, instead of once per row
            return f"COALESCE(SUM({x}), 0) - CAST({measure.shift} AS HUGEINT) * COUNT({x})"
        case MeasureKind.PRODUCTS:
            by = measure.by or measure
            _prove_sum(_reach(measure) * _reach(by))
            printer.functions |= {"sum", "*", "-"}
            wide = "BIGINT" if _reach(measure) * _reach(by) < 2**62 else "HUGEINT"
            factors = [f"(CAST({_column(columns, m)} AS {wide}) - {m.shift})" for m in (measure, by)]
            return f"COALESCE(SUM({' * '.join(factors)}), 0)"


def _reach(measure: Measure) -> int:
    """Largest magnitude of one value, before and after its shift."""
    if measure.grid is None:
        raise InvariantBroken("a sum without a grid")
    ends = measure.grid.low, measure.grid.high
    return max(abs(end - shift) for end in ends for shift in (0, measure.shift))


def _prove_sum(largest: int) -> None:
    """No sum over any permitted table overflows.

    Raises:
        InvariantBroken: One could; the mechanism must ask for a coarser grid.
    """
    if largest * MOST_ROWS >= SUM_LIMIT:
        raise InvariantBroken("a sum that could overflow")


UNIT = '"u"'


def _x(index: int) -> str:
    return f'"x{index}"'


def _bounded_rows(
    printer: Printer, source: Source, columns: Sequence[_Values], key: bytes, *, units: bool = False
) -> str:
    """Rows with ``k0...``, ``u`` and the values ``x0...``, cut to the contribution bounds in force."""
    capped = source.cap_rows or source.cap_groups or source.cap_rows_in_group
    rows = _value_rows(printer, source, columns, units=units or capped)
    keys = [quoted(k.name) for k in source.keys]
    held, every = source.contribution, [UNIT, *keys, *(_x(i) for i in range(len(columns)))]
    if source.cap_rows:
        rows = _cut(printer, rows, every, "row_number", [UNIT], every, held.rows, key)
    if source.cap_rows_in_group:
        rows = _cut(printer, rows, every, "row_number", [UNIT, *keys], every, held.rows_in_group, key)
    if source.cap_groups and keys:
        rows = _cut(printer, rows, every, "dense_rank", [UNIT], [UNIT, *keys], held.groups, key)
    return rows


def _cut(
    printer: Printer,
    rows: str,
    columns: list[str],
    rank: str,
    within: list[str],
    content: list[str],
    most: int,
    key: bytes,
) -> str:
    """The first ``most`` rows (or groups) of each partition, in the secret order of their own content.

    ``columns`` are all columns of ``rows``; every one is named, since the engine is never asked for ``*``.
    """
    printer.functions.add(rank)
    ties = [f"{column} NULLS FIRST" for column in content if column not in within]
    order = ", ".join([_keyed_hash(printer, content, key), *ties])
    window = f"{rank}() OVER (PARTITION BY {', '.join(within)} ORDER BY {order})"
    named = ", ".join(columns)
    ranked = f'SELECT {named}, {window} AS "{rank}" FROM ({rows}) AS q'
    return f'SELECT {named} FROM ({ranked}) AS q WHERE "{rank}" <= {int(most)}'


def _value_rows(printer: Printer, source: Source, columns: Sequence[_Values], *, units: bool) -> str:
    """Rows with keys, unit and values; what is not an integer of its grid yet becomes one a level further out."""
    inner = [f"{printer.expression(k.expression)} AS {quoted(k.name)}" for k in source.keys]
    outer = [quoted(k.name) for k in source.keys]
    if units:
        inner.append(f"{_qualified(unit_column(source.relation))} AS {UNIT}")
        outer.append(UNIT)
    plain = True
    for index, column in enumerate(columns):
        text, stored = _argument(printer, column)
        inner.append(f"{text} AS {_x(index)}")
        value = _grid_integer(printer, column, _x(index), stored)
        plain = plain and value == _x(index)
        outer.append(f"{value} AS {_x(index)}")
    rows = f"SELECT {', '.join(inner) or '1 AS one'} {printer.relation(source.relation)}"
    return rows if plain else f"SELECT {', '.join(outer)} FROM ({rows}) AS r"


def _argument(printer: Printer, column: _Values) -> tuple[str, bool]:
    """SQL of a column's argument, and whether it is a stored grid integer already."""
    argument, grid = column.argument, column.grid
    if grid is not None and isinstance(argument, Column) and argument.facts.step == grid.step:
        if argument.stored_grid:
            return f"{quoted(argument.alias)}.{quoted(argument.name + '$grid')}", True
        if argument.facts.type is Type.INTEGER and grid.step == 1:
            return printer.expression(argument), True
    return printer.expression(argument), False


def _grid_integer(printer: Printer, column: _Values, x: str, stored: bool) -> str:
    """The value in grid steps, clamped to the grid's ends; NULL stays NULL, NaN becomes NULL.

    NULL is tested first: the engine's least and greatest pass over NULL arguments.
    """
    grid, argument = column.grid, column.argument
    if grid is None or (stored and isinstance(argument, Column) and _covers(grid, argument)):
        return x
    if stored:
        return f"CASE WHEN {x} < {grid.low} THEN {grid.low} WHEN {x} > {grid.high} THEN {grid.high} ELSE {x} END"
    # multiplying by a whole number keeps decimal fractions exact where doubles can
    whole = grid.step.numerator == 1
    printer.functions |= {"isnan", "round", "least", "greatest", "*" if whole else "/"}
    real = f"CAST({x} AS DOUBLE)"
    steps = f"{real} * {printer.real(grid.step.denominator)}" if whole else f"{real} / {printer.real(grid.step)}"
    return (
        f"CASE WHEN {x} IS NULL OR isnan({real}) THEN NULL "
        f"WHEN {real} <= {printer.real(grid.low * grid.step)} THEN {grid.low} "
        f"WHEN {real} >= {printer.real(grid.high * grid.step)} THEN {grid.high} "
        f"ELSE greatest({grid.low}, least({grid.high}, CAST(round({steps}) AS BIGINT))) END"
    )


def _covers(grid: Grid, column: Column) -> bool:
    """Whether the bounded view already keeps a column inside the grid's ends."""
    facts = column.facts
    if not isinstance(facts.low, Fraction | int) or not isinstance(facts.high, Fraction | int):
        return False
    return grid.low * grid.step <= facts.low and facts.high <= grid.high * grid.step


def _keyed_hash(printer: Printer, columns: Sequence[str], key: bytes) -> str:
    """A secret order of rows by their own content, in an encoding that no two contents share."""
    printer.functions |= {"sha256", "concat", "length"}
    secret = printer.bound(key.hex(), "VARCHAR")
    parts = [
        f"CASE WHEN {c} IS NULL THEN 'N' ELSE concat(length(CAST({c} AS VARCHAR)), ':', CAST({c} AS VARCHAR)) END"
        for c in columns
    ]
    return f"sha256(concat({secret}, {', '.join(parts)}))"


def _values(need: Values, key: bytes) -> EngineStatement:
    printer = Printer()
    rows = _bounded_rows(printer, need.source, [_Values(need.argument, need.grid)], key)
    by = ", ".join([*(quoted(k.name) for k in need.source.keys), _x(0)])
    printer.functions.add("count")
    sql = (
        f'SELECT {by} AS "value", CAST(COUNT(*) AS BIGINT) AS "rows" FROM ({rows}) AS q '
        f"WHERE {_x(0)} IS NOT NULL GROUP BY {by} ORDER BY {by}"
    )
    fields = [(k.name, WIRE[k.expression.facts.type]) for k in need.source.keys]
    wire = WIRE[need.argument.facts.type] if need.grid is None else "BIGINT"
    return _statement(printer, sql, [*fields, ("value", wire), ("rows", "BIGINT")], need.source.relation)


def _statement(printer: Printer, sql: str, columns: list[tuple[str, str]], relation: Relation) -> EngineStatement:
    return EngineStatement(
        sql=sql,
        parameters=tuple(printer.parameters),
        columns=tuple(columns),
        tables=frozenset(scan.table.name for scan in scans(relation)),
        functions=frozenset(printer.functions),
    )


# --------------------------------------------------------------- released values: no data behind these


_ROW = '"released"."row"'


def _released_name(column: Column) -> str:
    return f'"released".{quoted(column.name)}'


def lower_released(plan: Plan) -> EngineStatement:
    """What happens to released values: output columns ``c0...`` and ``row`` (the released row each came from).

    Rows that ORDER BY leaves equal come in the order of the released rows, which is that of the keys.
    """
    outputs = [output.expression for output in plan.outputs]
    printer = Printer(_released_name)
    texts = [f'{printer.expression(expression)} AS "c{i}"' for i, expression in enumerate(outputs)]
    texts.append(f'{_ROW} AS "row"')
    sql = f'SELECT {", ".join(texts)} FROM "released"'
    if plan.having is not None:
        sql += f" WHERE {printer.expression(plan.having)}"
    terms = [
        f"{printer.expression(order.expression)} {'DESC' if order.descending else 'ASC'} "
        f"NULLS {'FIRST' if order.nulls_first else 'LAST'}"
        for order in plan.order_by
    ]
    sql += f" ORDER BY {', '.join([*terms, _ROW])}"
    if plan.limit is not None:
        sql += f" LIMIT {int(plan.limit)}"
    if plan.offset:
        sql += f" OFFSET {int(plan.offset)}"
    columns = [(f"c{i}", WIRE[e.facts.type]) for i, e in enumerate(outputs)]
    return EngineStatement(
        sql,
        tuple(printer.parameters),
        (*columns, ("row", "BIGINT")),
        frozenset({"released"}),
        frozenset(printer.functions),
    )


def lower_cells(expressions: Sequence[Expression], columns: Sequence[Column]) -> EngineStatement:
    """Expressions over public cells, given as the table ``released`` with columns ``c0...`` and ``row``."""
    names: Mapping[Column, str] = {column: f'"released"."c{i}"' for i, column in enumerate(columns)}
    printer = Printer(lambda column: names[column])
    for expression in expressions:
        if not set(columns_of(expression)) <= set(columns):
            raise InvariantBroken("an expression over columns that are not at hand")
    texts = [f'{printer.expression(e)} AS "e{i}"' for i, e in enumerate(expressions)]
    return EngineStatement(
        f'SELECT {", ".join(texts)} FROM "released" ORDER BY "released"."row"',
        tuple(printer.parameters),
        tuple((f"e{i}", WIRE[e.facts.type]) for i, e in enumerate(expressions)),
        frozenset({"released"}),
        frozenset(printer.functions),
    )
