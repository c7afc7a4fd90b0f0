"""What an output column is called where the analyst gives no alias: as DuckDB calls it.

Functions show in lower case, columns as they were written, operators in parentheses, and what DuckDB does not have
(named arguments) not at all. A few forms that DuckDB spells in its inner terms (intervals, sub-queries) keep the
canonical text instead.
"""

from __future__ import annotations

import re
from datetime import date, datetime
from decimal import Decimal

from dpsql.sql.keywords import KEYWORDS
from dpsql.sql.normal import INFIX, frame_text, normal_expression, quoted
from dpsql.sql.syntax import (
    Call,
    CaseExpression,
    Cast,
    Exists,
    Expr,
    InList,
    InQuery,
    Literal,
    Name,
    OrderItem,
    ScalarQuery,
    Window,
)

__all__ = ["as_written", "column_name", "text_of"]

_PLAIN = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_TYPES = {  # DuckDB's keywords among the names of types; it shows all others as they are written.
    **{name: name.upper() for name in ("bigint", "boolean", "smallint", "timestamp", "varchar")},
    **dict.fromkeys(("int", "integer"), "INTEGER"),
    **dict.fromkeys(("float", "real"), "FLOAT"),
    **dict.fromkeys(("decimal", "numeric", "dec"), "DECIMAL"),
    "char": "VARCHAR",
    "double precision": "DOUBLE",
}
_FUNCTIONS = {
    "coalesce": "COALESCE",
    "ifnull": "COALESCE",
    "percentile_cont": "quantile_cont",
    "percentile_disc": "quantile_disc",
}
_SIGNS = {"<>": "!=", "like": "~~", "ilike": "~~*", "is_distinct_from": "IS DISTINCT FROM"}


def column_name(expression: Expr) -> str:
    """The name that DuckDB gives to the column of this expression.

    >>> from dpsql.sql.syntax import Call, Name
    >>> column_name(Call("sum", (Call("+", (Name(("age",), "Age"), Name(("cost",), "cost"))),)))
    'sum((Age + "cost"))'
    """
    return expression.spelling if isinstance(expression, Name) else text_of(expression)


def as_written(name: Name) -> str:
    """A column as the analyst wrote it, for messages.

    >>> from dpsql.sql.syntax import Name
    >>> as_written(Name(("p", "size (cm)"), "Size (cm)", quoted=True)), as_written(Name(("age",), "Age"))
    ('p."Size (cm)"', 'Age')
    """
    last = name.spelling or name.parts[-1]
    return ".".join((*name.parts[:-1], f'"{last}"' if name.quoted else last))


def text_of(expression: Expr) -> str:
    """The text of an expression in DuckDB's names of columns, where it is a part of one."""
    match expression:
        case Name(parts, spelling):
            return ".".join(_identifier(part) for part in (*parts[:-1], spelling))
        case Literal():
            return _constant(expression)
        case Call():
            return _operator(expression) or _function(expression)
        case CaseExpression(operand, branches, default):
            whens = [(text_of(when), text_of(then)) for when, then in branches]
            if operand is not None:
                whens = [(f"({text_of(operand)} = {when})", then) for when, then in whens]
            listed = " ".join(f"WHEN ({when}) THEN ({then})" for when, then in whens)
            return f"CASE  {listed} ELSE {'NULL' if default is None else text_of(default)} END"
        case InList(operand, values, negated):
            listed = f"({text_of(operand)} IN ({', '.join(map(text_of, values))}))"
            return f"(NOT {listed})" if negated else listed
        case InQuery(operand, query, negated):
            among = f"({text_of(operand)} = ANY{normal_expression(ScalarQuery(query))})"
            return f"(NOT {among})" if negated else among
        case Exists(query, negated):
            some = f"EXISTS{normal_expression(ScalarQuery(query))}"
            return f"(NOT {some})" if negated else some
        case Cast(operand, type_name, safe, spelling):
            return f"{'TRY_CAST' if safe else 'CAST'}({text_of(operand)} AS {_type(spelling or type_name)})"
        case Window():
            return _window(expression)
    return normal_expression(expression)


def _identifier(name: str) -> str:
    return name if _PLAIN.fullmatch(name) and name.lower() not in KEYWORDS else quoted(name)


def _type(name: str) -> str:
    """A type as DuckDB shows it.

    >>> _type("int"), _type("numeric(18,3)"), _type("Double")
    ('INTEGER', 'DECIMAL(18, 3)', 'Double')
    """
    word, opening, sizes = name.partition("(")
    return _TYPES.get(word.lower(), word) + opening + sizes.replace(",", ", ")


def _constant(literal: Literal) -> str:
    match literal.value:
        case bool(value):
            return "true" if value else "false"
        case Decimal() as value:
            return str(value).lower().replace("e+", "e")
        case datetime() as value:
            text = value.isoformat(" ")
            return f"CAST('{text.rstrip('0') if value.microsecond else text}' AS TIMESTAMP)"
        case date() as value:
            return f"CAST('{value.isoformat()}' AS DATE)"
    return normal_expression(literal)


def _operator(call: Call) -> str | None:
    """The text of an operator; None for a function."""
    match call:
        case Call("and", (Call(_, (operand, low)), Call(_, (_, high)))) if _is_between(call):
            return f"({text_of(operand)} BETWEEN {text_of(low)} AND {text_of(high)})"
        case Call("and" | "or" as name):
            return f"({f' {name.upper()} '.join(_flat(name, call))})"
        case Call("not", (Call("is_distinct_from", (left, Literal(value=bool()) as truth)),)):
            return f"(CAST({text_of(left)} AS BOOLEAN) IS NOT DISTINCT FROM {text_of(truth)})"
        case Call("not", (Call("is_distinct_from", (left, right)),)):
            return f"({text_of(left)} IS NOT DISTINCT FROM {text_of(right)})"
        case Call("is_distinct_from", (left, Literal(value=bool()) as truth)):
            return f"(CAST({text_of(left)} AS BOOLEAN) IS DISTINCT FROM {text_of(truth)})"
        case Call("not", (Call("is_null", (operand,)),)):
            return f"({text_of(operand)} IS NOT NULL)"
        case Call("not", (Call("like" | "ilike" as name, (left, right)),)):
            return f"({text_of(left)} !{_SIGNS[name]} {text_of(right)})"
        case Call("not", (operand,)):
            return f"(NOT {text_of(operand)})"
        case Call("is_null", (operand,)):
            return f"({text_of(operand)} IS NULL)"
        case Call("negate", (Literal(value=int() | Decimal()) as operand,)):
            return f"-{text_of(operand)}"
        case Call("negate", (operand,)):
            return f"(-({text_of(operand)}))"
        case Call("[]", (listed, place)):
            return f"{text_of(listed)}[{text_of(place)}]"
        case Call(name, (left, right)) if name in INFIX:
            return f"({text_of(left)} {_SIGNS.get(name, name)} {text_of(right)})"
    return None


def _flat(name: str, expression: Expr) -> list[str]:
    """The operands of ``a AND b AND c``, which DuckDB keeps in one list."""
    if isinstance(expression, Call) and expression.name == name and not _is_between(expression):
        return [text for argument in expression.arguments for text in _flat(name, argument)]
    return [text_of(expression)]


def _is_between(call: Call) -> bool:
    """Whether this AND was written BETWEEN: only then do its two halves share one operand."""
    match call:
        case Call("and", (Call(">=", (operand, _)), Call("<=", (same, _)))):
            return same is operand
    return False


def _function(call: Call) -> str:
    if call.name == "count" and not call.distinct and not call.arguments:
        name = "count_star"
    else:
        name = _FUNCTIONS.get(call.name) or _identifier(call.name)
    order = f" ORDER BY {', '.join(map(_key, call.order))}" if call.order else ""
    text = f"{name}({'DISTINCT ' if call.distinct else ''}{', '.join(map(text_of, call.arguments))}{order})"
    return text if call.where is None else f"{text} FILTER (WHERE {text_of(call.where)})"


def _window(window: Window) -> str:
    call = "count()" if window.call.star else _function(window.call)
    partition = f"PARTITION BY {', '.join(map(text_of, window.partition))}" if window.partition else ""
    order = f"ORDER BY {', '.join(map(_key, window.order))}" if window.order else ""
    return f"{call} OVER ({' '.join(filter(None, (partition, order, frame_text(window.frame))))})"


def _key(key: OrderItem) -> str:
    return text_of(key.expression) + (" DESC" if key.descending else "") + (" NULLS FIRST" if key.nulls_first else "")
