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


def _aggregates(source: Source, measures: Sequence[Measure], key: bytes) -> EngineStatement:
    printer = Printer()
    rows = _bounded_rows(printer, source, measures, key)
    columns = [(k.name, WIRE[k.expression.facts.type]) for k in source.keys]
    texts = [quoted(k.name) for k in source.keys]
    groups = f" GROUP BY {', '.join(texts)}" if texts else ""
    for index, measure in enumerate(measures):
        wire = "HUGEINT" if measure.kind in (MeasureKind.SUM, MeasureKind.MOMENTS) else "BIGINT"
        columns.append((f"m{index}", wire))
        column = _x(_home(measures, index))
        texts.append(f'CAST({_total(printer, measure, column, source)} AS {wire}) AS "m{index}"')
    return _statement(printer, f"SELECT {', '.join(texts)} FROM ({rows}) AS q{groups}", columns, source.relation)


def _home(measures: Sequence[Measure], index: int) -> int:
    """The first measure over the same column of values: equal arguments are computed, and summed, once."""
    measure = measures[index]
    for at, other in enumerate(measures):
        if other.argument is None or other.argument != measure.argument:
            continue
        counted = measure.kind is MeasureKind.VALUES and other.kind is MeasureKind.SUM
        if counted or (other.grid == measure.grid and MeasureKind.MOMENTS not in (other.kind, measure.kind)):
            return at  # a value is NULL exactly where its grid integer is
    return index


def _total(printer: Printer, measure: Measure, x: str, source: Source) -> str:
    match measure.kind:
        case MeasureKind.ROWS:
            printer.functions.add("count")
            return "COUNT(*)"
        case MeasureKind.VALUES:
            printer.functions.add("count")
            return f"COUNT({x})"
        case MeasureKind.UNITS:
            if source.contribution.rows == 1:  # one row a unit: the same number, without a hash table of units
                printer.functions.add("count")
                return "COUNT(*)"
            printer.functions.add("count")
            return 'COUNT(DISTINCT "u")'
        case MeasureKind.SUM | MeasureKind.MOMENTS:
            grid = _grid(measure)
            largest = max(abs(grid.low - measure.shift), abs(grid.high - measure.shift))
            if (largest if measure.kind is MeasureKind.SUM else largest**2) * MOST_ROWS >= SUM_LIMIT:
                raise InvariantBroken("a sum that could overflow")
            printer.functions.add("sum")
            total = f"COALESCE(SUM({x}), 0)"
            if measure.kind is MeasureKind.SUM and measure.shift:  # once per group, instead of once per row
                printer.functions |= {"count", "-", "*"}
                return f"{total} - CAST({measure.shift} AS HUGEINT) * COUNT({x})"
            return total


UNIT = '"u"'


def _x(index: int) -> str:
    return f'"x{index}"'


def _grid(measure: Measure) -> Grid:
    if measure.grid is None:
        raise InvariantBroken("a sum without a grid")
    return measure.grid


def _bounded_rows(printer: Printer, source: Source, measures: Sequence[Measure], key: bytes) -> str:
    """Rows with ``k0...``, ``u`` and the integers ``x0...``, cut to the contribution bounds in force."""
    rows = _integer_rows(printer, source, measures)
    keys = [quoted(k.name) for k in source.keys]
    integers = [_x(i) for i, measure in enumerate(measures) if measure.argument is not None and _home(measures, i) == i]
    content = [UNIT, *keys, *integers]
    if source.cap_rows:
        rows = _cut(printer, rows, "row_number", [UNIT], content, [*keys, *integers], source.contribution.rows, key)
    if source.cap_rows_in_group:
        rows = _cut(
            printer, rows, "row_number", [UNIT, *keys], content, integers, source.contribution.rows_in_group, key
        )
    if source.cap_groups and keys:
        rows = _cut(printer, rows, "dense_rank", [UNIT], [UNIT, *keys], keys, source.contribution.groups, key)
    return rows


def _cut(
    printer: Printer,
    rows: str,
    rank: str,
    within: list[str],
    content: list[str],
    ties: list[str],
    most: int,
    key: bytes,
) -> str:
    """The first ``most`` rows (or groups) of each partition, in the secret order of their own content."""
    printer.functions.add(rank)
    order = ", ".join([_keyed_hash(printer, content, key), *(f"{column} NULLS FIRST" for column in ties)])
    window = f"{rank}() OVER (PARTITION BY {', '.join(within)} ORDER BY {order})"
    ranked = f'SELECT *, {window} AS "{rank}" FROM ({rows}) AS q'
    return f'SELECT * EXCLUDE ("{rank}") FROM ({ranked}) AS q WHERE "{rank}" <= {int(most)}'


def _integer_rows(printer: Printer, source: Source, measures: Sequence[Measure]) -> str:
    """Rows with keys, unit and arguments; what is not an integer of its grid yet becomes one a level further out."""
    inner = [f"{printer.expression(k.expression)} AS {quoted(k.name)}" for k in source.keys]
    outer = [quoted(k.name) for k in source.keys]
    capped = source.cap_rows or source.cap_groups or source.cap_rows_in_group
    if capped or (source.contribution.rows > 1 and any(m.kind is MeasureKind.UNITS for m in measures)):
        inner.append(f"{_qualified(unit_column(source.relation))} AS {UNIT}")
        outer.append(UNIT)
    plain = True
    for index, measure in enumerate(measures):
        if measure.argument is None or _home(measures, index) != index:
            continue
        text, stored = _argument(printer, measure)
        inner.append(f"{text} AS {_x(index)}")
        integer = _grid_integer(printer, measure, _x(index), stored)
        plain = plain and integer == _x(index)
        outer.append(f"{integer} AS {_x(index)}")
    rows = f"SELECT {', '.join(inner) or '1 AS one'} {printer.relation(source.relation)}"
    return rows if plain else f"SELECT {', '.join(outer)} FROM ({rows}) AS r"


def _argument(printer: Printer, measure: Measure) -> tuple[str, bool]:
    """SQL of a measure's argument, and whether it is a stored grid integer already."""
    argument = measure.argument
    if argument is None:
        raise InvariantBroken("a measure without its argument")
    grid = measure.grid
    if grid is not None and isinstance(argument, Column) and argument.facts.step == grid.step:
        if argument.stored_grid:
            return f"{quoted(argument.alias)}.{quoted(argument.name + '$grid')}", True
        if argument.facts.type is Type.INTEGER and grid.step == 1:
            return printer.expression(argument), True
    return printer.expression(argument), False


def _grid_integer(printer: Printer, measure: Measure, x: str, stored: bool) -> str:
    """The value in grid steps, clamped to the grid's ends and shifted; NULL stays NULL, NaN becomes NULL.

    NULL is tested first: the engine's least and greatest pass over NULL arguments.
    """
    if measure.kind is MeasureKind.VALUES:
        return x
    grid = _grid(measure)
    argument = measure.argument
    if stored and isinstance(argument, Column) and _covers(grid, argument):
        text = x
    elif stored:
        text = f"CASE WHEN {x} < {grid.low} THEN {grid.low} WHEN {x} > {grid.high} THEN {grid.high} ELSE {x} END"
    else:
        # multiplying by a whole number keeps decimal fractions exact where doubles can
        whole = grid.step.numerator == 1
        printer.functions |= {"isnan", "round", "least", "greatest", "*" if whole else "/"}
        real = f"CAST({x} AS DOUBLE)"
        steps = f"{real} * {printer.real(grid.step.denominator)}" if whole else f"{real} / {printer.real(grid.step)}"
        text = (
            f"CASE WHEN {x} IS NULL OR isnan({real}) THEN NULL "
            f"WHEN {real} <= {printer.real(grid.low * grid.step)} THEN {grid.low} "
            f"WHEN {real} >= {printer.real(grid.high * grid.step)} THEN {grid.high} "
            f"ELSE greatest({grid.low}, least({grid.high}, CAST(round({steps}) AS BIGINT))) END"
        )
    if measure.shift and measure.kind is MeasureKind.MOMENTS:
        printer.functions.add("-")
        text = f"({text} - {measure.shift})"
    if measure.kind is MeasureKind.MOMENTS:
        printer.functions |= {"*"}
        text = f"(CAST({text} AS HUGEINT) * CAST({text} AS HUGEINT))"
    return text


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
    measure = Measure(MeasureKind.SUM, need.argument, need.grid)
    rows = _bounded_rows(printer, need.source, (measure,), key)
    by = ", ".join([*(quoted(k.name) for k in need.source.keys), _x(0)])
    printer.functions.add("count")
    sql = (
        f'SELECT {by} AS "value", CAST(COUNT(*) AS BIGINT) AS "rows" FROM ({rows}) AS q '
        f"WHERE {_x(0)} IS NOT NULL GROUP BY {by} ORDER BY {by}"
    )
    columns = [(k.name, WIRE[k.expression.facts.type]) for k in need.source.keys]
    return _statement(printer, sql, [*columns, ("value", "BIGINT"), ("rows", "BIGINT")], need.source.relation)


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
