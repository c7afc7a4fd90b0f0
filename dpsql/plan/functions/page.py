"""docs/functions.md: the allow-list as people read it, made from its rows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from dpsql.plan.functions import ROOMS, Function, Nulls
from dpsql.plan.functions.dates import PARTS
from dpsql.plan.functions.refused import REFUSED, refusal
from dpsql.sql.pivot import UNLISTED

__all__ = ["page", "table"]

ABOVE = """# Functions of one row

<!-- Made from the table of functions; `make schema` makes it anew. -->

This is the whole list of what may be computed from a row. None can fail on any value, and none gives NaN or an
infinity: where DuckDB would, the value is NULL, or the query is refused because the bounds of its columns do not rule
it out. Otherwise a function gives what DuckDB gives; of decimals, in a column or written as 2.5 is, it is what DuckDB
gives for the nearest DOUBLE: `amount * 3 = 0.9` compares doubles, and a half is rounded as theirs is (`CAST(2.5 AS
INTEGER)` is 2, the even one). Unless the last column says otherwise it is NULL exactly when an argument is. Bounds
follow through every function, so `AVG(ln(cost + 1))` needs none of its own.

Integers become reals where a type asks for it, or where a result could be too large for 64 bits; dates become
timestamps. `round(x, n)` and `trunc(x, n)` of an integer are integers. `CASE`, `if(c, x, y)`, `BETWEEN`, `NOT IN`,
`NOT LIKE`, `IS NOT NULL`, `IS TRUE`, `IS NOT DISTINCT FROM` and the signs `~`, `~*`, `~~` are made of these. INTERVAL
takes a whole number of YEAR, QUARTER, MONTH, WEEK, DAY, HOUR, MINUTE or SECOND. The time between two moments may be
compared with one of anything but months: `left_at - came_at > INTERVAL 4 HOUR`. Its seconds are
`epoch(left_at - came_at)`.

`EXTRACT(part FROM x)` and `date_part('part', x)` take the parts {parts}.

Functions of other databases are read as these where they mean the same: `DATE_TRUNC(x, MONTH)`,
`TIMESTAMP_TRUNC(x, MONTH)`, `DATE_DIFF(later, earlier, DAY)`, `DATEDIFF(day, earlier, later)`,
`DATEDIFF(later, earlier)`, `DATE_ADD(x, INTERVAL 3 DAY)`, `DATEADD(day, 3, x)`, `DATE(x)`, `SAFE_DIVIDE(x, y)`,
`DIV0(x, y)`, `REGEXP_CONTAINS(x, 'pattern')`, `NVL(x, y)`, `IFF(c, x, y)` and `SAFE_CAST(x AS INT64)`;
`TIMESTAMPTZ '2024-05-31 13:45:00+02:00'`
is its moment in UTC; and `TO_CHAR(x, 'YYYY-MM-DD')`, of days and moments, with YYYY, MM, DD, HH24, MI and SS alone.
The standard's words are read, too: `SUBSTRING(x FROM 2 FOR 3)`, `TRIM(LEADING 'a' FROM x)`, `POSITION('a' IN x)`,
`IS UNKNOWN`. `x[2]` is the second character of a text.

Patterns are constants of a part of RE2's grammar: characters, `.`, classes, groups, `|`, anchors, `* + ?`, counts up
to 100, `\\d \\w \\s \\b` and their opposites; 200 characters at most, also with its repetitions written out. Short
patterns, and words one instead of the other, take a few ns a letter; long repetitions of classes take a thousand times
that, which counts towards [what one person's rows may take](policy.md#long-texts).
"""
REFUSALS = """
## Not here, and why

"""
LETTERS = "xyzuvw"
_NULLS = {
    Nulls.STRICT: "",
    Nulls.ONLY: "NULL as SQL's logic of three values has it",
    Nulls.NEVER: "never NULL",
    Nulls.ALL: "NULL when all are",
    Nulls.MAY: "",
    Nulls.OPEN: "NULL where both are equal",
}


def page() -> str:
    """The whole page, in Markdown."""
    parts = ", ".join(f"`{part}`" for part in dict.fromkeys(PARTS.values()))
    rooms = [f"\n## {name}\n\n{table(rows)}" for name, rows in ROOMS.items()]
    names: dict[tuple[str, str], list[str]] = {}
    for name in REFUSED:
        if name != UNLISTED:  # which nobody calls
            names.setdefault(refusal(name), []).append(f"`{name}`")
    refused = [f"- {', '.join(listed)}: {reason} {hint}\n" for (reason, hint), listed in names.items()]
    return ABOVE.replace("{parts}", parts) + "".join(rooms) + REFUSALS + "".join(refused)


def table(functions: Sequence[Function]) -> str:
    """Rows of the allow-list as a Markdown table: one line for each function, its other names beside it."""
    by_name: dict[str, list[Function]] = {}
    for function in functions:
        by_name.setdefault(_written(function), []).append(function)
    lines: dict[str, list[str]] = {}  # what is said -> the names of which it is true
    for written, rows in by_name.items():
        said = f"{_signatures(rows)} | {_remarks(rows)}"
        lines.setdefault(said, []).append("`" + written.replace("|", "\\|") + "`")
    body = "".join(f"| {', '.join(names)} | {said} |\n" for said, names in lines.items())
    return f"| write | takes → gives | remarks |\n| --- | --- | --- |\n{body}"


def _written(function: Function) -> str:
    """A call as an analyst writes it, with letters for arguments."""
    letters = [*LETTERS[: len(function.parameters)], *(["..."] if function.variadic else [])]
    for index, kind in enumerate(function.constants.values()):
        if not callable(kind) and list(function.constants)[index] == 0:
            letters[0] = f"'{kind[0]}'"
    text = function.spelling.replace("{*}", ", ".join(letters)).replace("{rest}", ", ".join(letters[1:]))
    for index, letter in enumerate(letters):
        text = text.replace(f"{{{index}}}", letter)
    return text[1:-1] if text.startswith("(") else text


def _signatures(functions: Sequence[Function]) -> str:
    if len(functions) == 6 and all(len(set(function.parameters)) == 1 for function in functions):
        results = {function.result for function in functions}
        return f"all of one type → {results.pop().value if len(results) == 1 else 'that type'}"
    shown = (f"{', '.join(_parameters(function)) or 'nothing'} → {function.result.value}" for function in functions)
    return "; ".join(dict.fromkeys(shown))


def _parameters(function: Function) -> Iterator[str]:
    for index, parameter in enumerate(function.parameters):
        check = function.constants.get(index)
        if check is None:
            yield parameter.value
        elif callable(check):
            yield f"constant {parameter.value}"
        else:
            yield "one of " + " ".join(f"`{choice}`" for choice in check)


def _remarks(functions: Sequence[Function]) -> str:
    said = dict.fromkeys(_NULLS[function.nulls] for function in functions)
    departs = dict.fromkeys(function.departs for function in functions)
    return "; ".join(filter(None, [*said, *departs]))
