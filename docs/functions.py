"""docs/functions.md, made from the allow-list of functions itself.

python docs/functions.py        writes the page anew
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from dpsql.plan.functions import FUNCTIONS, Function, Nulls

__all__ = ["page", "spelled", "table"]

PAGE = Path(__file__).with_name("functions.md")
ABOVE = """# Functions of one row

<!-- Made by docs/functions.py; `make schema` makes it anew. -->

This is the whole list of what may be computed from a row. None can fail: division by zero, roots of negative numbers
and dates that do not exist are NULL. Unless it says otherwise a function is NULL when an argument is; AND, OR and IN
follow SQL's logic of three values. Integers become reals where a type asks for it, or where a result could be too
large; dates become timestamps. A result that could exceed what a real can hold is refused.

`CASE`, `if(c, x, y)`, `BETWEEN`, `NOT IN`, `NOT LIKE`, `IS NOT NULL` and `IS NOT DISTINCT FROM` are made of these.
`extract(part FROM x)` and `date_part('part', x)` take the parts from `year` to `second` below. INTERVAL takes a whole
number of YEAR, QUARTER, MONTH, WEEK, DAY, HOUR, MINUTE or SECOND.

"""
LETTERS = ("x", "y", "z")

_INFIX = "+ - * / // % || = <> < <= > >= and or like ilike".split()
_FORMS = {name: f"{{0}} {name.upper()} {{1}}" for name in _INFIX} | {
    "negate": "-{0}",
    "not": "NOT {0}",
    "in": "{0} IN ({rest})",
    "is_null": "{0} IS NULL",
    "is_distinct_from": "{0} IS DISTINCT FROM {1}",
    "cast:integer": "CAST({0} AS BIGINT)",
    "cast:real": "CAST({0} AS DOUBLE)",
    "cast:text": "CAST({0} AS VARCHAR)",
    "cast:date": "CAST({0} AS DATE)",
    "cast:timestamp": "CAST({0} AS TIMESTAMP)",
    "add:months": "{0} + INTERVAL {1} MONTH",
    "add:days": "{0} + INTERVAL {1} DAY",
    "add:seconds": "{0} + INTERVAL {1} HOUR",
}
_NULLS = {
    Nulls.STRICT: "",
    Nulls.NEVER: "never NULL",
    Nulls.ALL: "NULL when all are",
    Nulls.MAY: "NULL also where it has no value",
}


def spelled(name: str, arguments: Sequence[str]) -> str:
    """A call as an analyst writes it.

    >>> spelled("is_null", ["x"]), spelled("round", ["x", "y"])
    ('x IS NULL', 'round(x, y)')
    """
    form = _FORMS.get(name)
    if form is None:
        return f"{name}({', '.join(arguments)})"
    return form.format(*arguments, rest=", ".join(arguments[1:]))


def table() -> str:
    """The allow-list as a Markdown table: one line for each function, its other names beside it."""
    overloads: dict[str, list[Function]] = {}
    for function in FUNCTIONS:
        overloads.setdefault(function.name, []).append(function)
    rows: dict[tuple[str, str], list[str]] = {}  # same signatures and remarks -> the names that share them
    for name, functions in overloads.items():
        shape = f"{len(rows)}" if name in _FORMS and name.isalpha() else functions[0].sql  # aliases share their SQL
        key = (shape, f"{_signatures(functions)} | {_remarks(functions)}")
        written = spelled(name, _arguments(functions[0]))
        rows.setdefault(key, []).append("`" + written.replace("|", "\\|") + "`")
    lines = [f"| {', '.join(names)} | {rest} |" for (_, rest), names in rows.items()]
    return "\n".join(["| write | takes → gives | remarks |", "| --- | --- | --- |", *lines]) + "\n"


def page() -> str:
    """The whole page."""
    return ABOVE + table()


def _arguments(function: Function) -> list[str]:
    return [*LETTERS[: len(function.parameters)], *(["..."] if function.variadic else [])]


def _signatures(functions: Sequence[Function]) -> str:
    if len(functions) == 6 and all(len(set(function.parameters)) == 1 for function in functions):
        results = {function.result for function in functions}
        return f"all of one type → {results.pop().value if len(results) == 1 else 'that type'}"
    shown = (f"{', '.join(_parameters(function))} → {function.result.value}" for function in functions)
    return "; ".join(dict.fromkeys(shown))


def _parameters(function: Function) -> Iterator[str]:
    for index, parameter in enumerate(function.parameters):
        if index in function.choices:
            yield "unit"
        else:
            yield f"constant {parameter.value}" if index in function.constants else parameter.value


def _remarks(functions: Sequence[Function]) -> str:
    units = {
        f"{function.parameters[-1].value}: {', '.join(map(repr, choices))}"
        for function in functions
        for choices in function.choices.values()
    }
    nulls = dict.fromkeys(_NULLS[function.nulls] for function in functions)
    return "; ".join(filter(None, [*sorted(units), *nulls]))


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
