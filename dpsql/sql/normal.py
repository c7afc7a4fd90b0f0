"""One canonical text per syntax tree: what two spellings of the same statement share.

It is written in the dialect itself, with every name quoted and every operator in parentheses, and reads back as the
same tree. Space, comments, letter case of names, positions, and the spelling of constants do not show.
"""

from __future__ import annotations

from datetime import date, datetime
from decimal import Decimal

from dpsql.sql.syntax import (
    AllColumns,
    Call,
    CaseExpression,
    Cast,
    CreateSynthetic,
    Derived,
    Describe,
    DropTable,
    Exists,
    Explain,
    Expr,
    Frame,
    GroupAll,
    GroupingSets,
    InList,
    InQuery,
    IntervalLiteral,
    JoinClause,
    ListedRows,
    Literal,
    Name,
    OrderItem,
    Parameter,
    Queryable,
    QueryStatement,
    Relation,
    ScalarQuery,
    Select,
    SetOption,
    ShowBudget,
    ShowTables,
    Statement,
    TableFunctionCall,
    TableName,
    Union,
    Window,
)
from dpsql.sql.tokens import fold

__all__ = ["INFIX", "frame_text", "normal", "normal_expression", "quoted"]

INFIX = frozenset("+ - * / // % || = <> < <= > >= and or like ilike is_distinct_from".split())


def normal(statement: Statement) -> str:
    """The canonical text of a statement: equal for equal trees, different for different ones.

    >>> from dpsql.sql.parse import parse
    >>> normal(parse("select Sum(Cost)/2 as Half from Visits -- mine"))
    'SELECT (sum("cost") / 2) AS "Half" FROM "visits"'
    """
    match statement:
        case QueryStatement(select):
            return _query(select)
        case Explain(query):
            return f"EXPLAIN {normal(query)}"
        case ShowBudget():
            return "SHOW BUDGET"
        case ShowTables():
            return "SHOW TABLES"
        case Describe(table):
            return f"DESCRIBE {_relation(table)}"
        case SetOption(name, value):
            return f"SET {name} = {_constant(value)}"
        case CreateSynthetic(name, options, query):
            given = ", ".join(f"{option} = {_constant(value)}" for option, value in options)
            head = f"CREATE SYNTHETIC TABLE {quoted(name)}" + (f" WITH ({given})" if given else "")
            return f"{head} AS {_query(query.select)}"
        case DropTable(name):
            return f"DROP TABLE {quoted(name)}"


def quoted(name: str) -> str:
    """The name in double quotes.

    >>> quoted('a"b')
    '"a""b"'
    """
    return '"' + name.replace('"', '""') + '"'


def _query(query: Queryable) -> str:
    ctes = ", ".join(f"{quoted(name)} AS ({_query(inner)})" for name, inner in query.ctes)
    body = _union(query) if isinstance(query, Union) else _select(query)
    return f"WITH {ctes} {body}" if ctes else body


def _union(union: Union) -> str:
    plain = isinstance(union.left, Union) and not union.left.ctes
    left = _query(union.left) if plain else f"({_query(union.left)})"
    return f"{left} UNION {'ALL ' if union.all else ''}({_query(union.right)})"


def _select(select: Select) -> str:
    clauses = ["SELECT"]
    if select.options is not None:
        options = ", ".join(f"{name} = {normal_expression(value)}" for name, value in select.options)
        clauses.append(f"WITH DIFFERENTIAL_PRIVACY OPTIONS ({options})")
    if select.distinct:
        clauses.append("DISTINCT")
    items = []
    for item in select.items:
        text = normal_expression(item.expression)
        items.append(text if item.alias is None else f"{text} AS {quoted(item.alias)}")
    clauses.append(", ".join(items))
    if select.source is not None:
        clauses.append(f"FROM {_relation(select.source)}")
    if select.where is not None:
        clauses.append(f"WHERE {normal_expression(select.where)}")
    if select.group_by != ():
        clauses.append(f"GROUP BY {_group(select.group_by)}")
    if select.having is not None:
        clauses.append(f"HAVING {normal_expression(select.having)}")
    if select.order_by:
        clauses.append(_order(select.order_by))
    for word, rows in (("LIMIT", select.limit), ("OFFSET", select.offset)):
        if rows is not None:
            clauses.append(f"{word} {rows if isinstance(rows, int) else normal_expression(rows)}")
    return " ".join(clauses)


def _group(group: tuple[Expr, ...] | GroupAll | GroupingSets) -> str:
    match group:
        case GroupAll():
            return "ALL"
        case GroupingSets(sets):
            return f"GROUPING SETS ({', '.join(f'({_list(keys)})' for keys in sets)})"
    return _list(group)


def _order(keys: tuple[OrderItem, ...]) -> str:
    texts = []
    for key in keys:
        direction = " DESC" if key.descending else ""
        texts.append(normal_expression(key.expression) + direction + (" NULLS FIRST" if key.nulls_first else ""))
    return f"ORDER BY {', '.join(texts)}"


def _relation(relation: Relation) -> str:
    match relation:
        case TableName(name, alias):
            return ".".join(map(quoted, name)) + _alias(alias)
        case TableFunctionCall(call, alias):
            return f"{normal_expression(call)}{_alias(alias)}"
        case Derived(query, alias):
            return f"({_query(query)}){_alias(alias)}"
        case ListedRows(rows, names, alias):
            values = ", ".join(f"({_list(row)})" for row in rows)
            return f"(VALUES {values}){_alias(alias)} ({', '.join(map(quoted, names))})"
        case JoinClause(left, right, kind, on, using, natural):
            text = f"{_relation(left)} {'NATURAL ' if natural else ''}{kind.upper()} JOIN {_relation(right)}"
            if on is not None:
                return f"{text} ON {normal_expression(on)}"
            return f"{text} USING ({', '.join(map(quoted, using))})" if using else text


def _alias(alias: str | None) -> str:
    return "" if alias is None else f" AS {quoted(alias)}"


def _list(expressions: tuple[Expr, ...]) -> str:
    return ", ".join(normal_expression(expression) for expression in expressions)


def normal_expression(expression: Expr) -> str:
    """The canonical text of one expression."""
    text = normal_expression
    match expression:
        case Name(parts):
            return ".".join(map(quoted, parts))
        case Literal():
            return _constant(expression)
        case Parameter(index):
            return f"${index + 1}"
        case IntervalLiteral(count, unit):
            return f"INTERVAL '{count}' {unit.upper()}"
        case Call():
            return _call(expression)
        case CaseExpression(operand, branches, default):
            head = "CASE" if operand is None else f"CASE {text(operand)}"
            whens = "".join(f" WHEN {text(when)} THEN {text(then)}" for when, then in branches)
            return f"{head}{whens}{'' if default is None else f' ELSE {text(default)}'} END"
        case InList(operand, (Parameter(many=True) as own,), negated):
            return f"({text(operand)} {'<> ALL' if negated else '= ANY'} ({text(own)}))"
        case InList(operand, values, negated):
            return f"({text(operand)} {'NOT ' if negated else ''}IN ({_list(values)}))"
        case InQuery(operand, query, negated):
            return f"({text(operand)} {'NOT ' if negated else ''}IN ({_query(query)}))"
        case Exists(query, negated):
            return f"({'NOT ' if negated else ''}EXISTS ({_query(query)}))"
        case ScalarQuery(query):
            return f"({_query(query)})"
        case Cast(operand, type_name, safe):
            return f"{'TRY_CAST' if safe else 'CAST'}({text(operand)} AS {type_name})"
        case AllColumns(table, without, instead):
            said = f" EXCLUDE ({', '.join(map(quoted, without))})" if without else ""
            for word, kept in (("REPLACE", True), ("RENAME", False)):
                entries = [item for name, item in instead if (fold(item.name) == name) == kept]
                texts = [f"{text(item.expression)} AS {quoted(item.name)}" for item in entries]
                said += f" {word} ({', '.join(texts)})" if texts else ""
            return f"{'' if table is None else quoted(table) + '.'}*{said}"
        case Window(call, partition, order, frame):
            parts = (
                f"PARTITION BY {_list(partition)}" if partition else "",
                _order(order) if order else "",
                frame_text(frame),
            )
            return f"{text(call)} OVER ({' '.join(filter(None, parts))})"


def frame_text(frame: Frame | None) -> str:
    """The frame of a window as SQL; empty for the usual one.

    >>> frame_text(Frame(True, -2, None))
    'ROWS BETWEEN 2 PRECEDING AND UNBOUNDED FOLLOWING'
    """
    if frame is None:
        return ""
    start, end = _frame_end(frame.start, "PRECEDING"), _frame_end(frame.end, "FOLLOWING")
    return f"{'ROWS' if frame.rows else 'RANGE'} BETWEEN {start} AND {end}"


def _frame_end(rows: int | None, side: str) -> str:
    if rows is None:
        return f"UNBOUNDED {side}"
    return "CURRENT ROW" if rows == 0 else f"{abs(rows)} {'PRECEDING' if rows < 0 else 'FOLLOWING'}"


def _call(call: Call) -> str:
    arguments = [normal_expression(argument) for argument in call.arguments]
    if call.name in INFIX:
        sign = call.name.replace("_", " ").upper()
        return f"({arguments[0]} {sign} {arguments[1]})"
    match call.name:
        case "not":
            return f"(NOT {arguments[0]})"
        case "negate":
            return f"(- {arguments[0]})"
        case "is_null":
            return f"({arguments[0]} IS NULL)"
        case "position" if len(arguments) == 2:
            return f"position({arguments[1]} IN {arguments[0]})"
        case "[]":
            return f"{arguments[0]}[ORDINAL({arguments[1]})]"
    listed = ", ".join([*arguments, *(f"{name} => {normal_expression(value)}" for name, value in call.named)])
    if call.star:
        listed = f"*, {listed}" if listed else "*"
    inner = " ".join(filter(None, ("DISTINCT" if call.distinct else "", listed)))
    text = f"{call.name}({inner}"
    if call.order:
        text += f") WITHIN GROUP ({_order(call.order)})" if call.within_group else f" {_order(call.order)})"
    else:
        text += ")"
    return text if call.where is None else f"{text} FILTER (WHERE {normal_expression(call.where)})"


def _constant(literal: Literal) -> str:
    match literal.value:
        case None:
            return "NULL"
        case bool(value):
            return "TRUE" if value else "FALSE"
        case int(value):
            return str(value)
        case Decimal() as value:
            return _decimal(value)
        case str(value):
            return "'" + value.replace("'", "''") + "'"
        case datetime() as value:
            return f"TIMESTAMP '{value.isoformat(' ')}'"
        case date() as value:
            return f"DATE '{value.isoformat()}'"


def _decimal(value: Decimal) -> str:
    """Digits and exponent, exactly: ``1.50`` and ``15e-1`` are one number."""
    sign, digits, exponent = value.as_tuple()
    number = "".join(map(str, digits)).lstrip("0")
    stripped = number.rstrip("0") or "0"
    shift = int(exponent) + len(number) - len(stripped) if number else 0
    return f"{'-' if sign and number else ''}{stripped}e{shift}"
