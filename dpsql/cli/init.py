"""A first policy from the schema of an unknown source; on a terminal the owner is asked for what only they can say.

Tests: tests/unit/cli/test_init.py.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from dpsql.cli.app import app
from dpsql.cli.running import line
from dpsql.errors import OperationalError

if TYPE_CHECKING:
    from dpsql.engine.database import SourceType, TableSchema
    from dpsql.owner.proposed import Link
    from dpsql.owner.template import Choices

__all__ = ["asked", "init"]

Tables = Mapping[str, "TableSchema"]
Facts = tuple[dict[str, str], dict[str, str], dict[str, str]]

_NUMBER = r"-?[0-9]{1,15}(?:[.][0-9]{1,9})?"
_DAY = r"[0-9]{4}-[0-9]{2}-[0-9]{2}"
_COUNT = r"[1-9][0-9]{0,11}"
_WHOLE = r"-?[0-9]{1,15}"
_ENDS = {"integer": _WHOLE, "wide": _WHOLE, "real": _NUMBER, "decimal": _NUMBER, "date": _DAY}
"""How an end of the bounds is written, by family of types."""
_DELTA = r"-|[1-9](?:[.][0-9])?e-(?:[3-9]|[1-2][0-9])"
"""A chance: none, or from 1e-29 to 0.0099."""
_SHOWN = 12  # Values of an ENUM in a question. It is a choice: about one line.
_EXAMPLES = {"date": "2020-01-01 2025-12-31"}


@app.command()
def init(
    source: Annotated[
        list[str],
        typer.Argument(
            metavar="SOURCE...",
            help="A DuckDB file; Parquet and CSV files, patterns and folders; or a connection string of PostgreSQL or "
            "Spark, such as postgresql://owner@host/hospital or sc://host:15002.",
        ),
    ],
    output: Annotated[
        Path | None, typer.Option(help="The policy file to write; - prints it.", show_default="beside SOURCE")
    ] = None,
    unit: Annotated[str | None, typer.Option(help="The column of the protected person, where it is there.")] = None,
) -> None:
    """The owner: write a commented first policy from the schema, never from values; of CSV files from formats, too."""
    from dpsql.ledger.folders import write_new
    from dpsql.owner.engines import describing
    from dpsql.owner.template import Choices, first_policy

    kind, folder = describing(source[0])
    base = folder.beside(source[0])
    to_screen = output == Path("-")
    file = output or base.with_name(f"{base.name}.yaml")
    tables = _tables(source, folder.is_table, folder.describe)
    named = {Path(one) for one in source}
    for one in source:
        if others := [file for file in folder.left_out(one) if file not in named]:
            typer.echo(_left_out(one, others), err=True)
    for table in tables.values():
        if told := _first_row(table):
            typer.echo(told, err=True)
    if not to_screen and file.exists():
        raise OperationalError(f"{file} exists and stays as it is. Write --output with another name.")
    at = Path() if to_screen else file.parent
    if unit is not None or to_screen or not _on_terminal():
        chosen = Choices(unit=_there(tables, unit))
    else:
        chosen = asked(tables)
    keys = folder.keys(source[0], at)
    text = first_policy((base if to_screen else file).name.split(".")[0], kind, keys, _placed(tables, at), chosen)
    if to_screen:
        typer.echo(text, nl=False)
        return
    write_new(file, text.encode())
    measured = re.search(r"^ +[^#\n]*bounds: auto", text, re.MULTILINE) is not None
    typer.echo(_told(line(str(file)), text.count("FILL_IN") > 1, measured, _parts(tables)))


def _on_terminal() -> bool:
    import sys

    return sys.stdin.isatty() and sys.stdout.isatty()


def _tables(source: Sequence[str], is_table: Callable[[str], bool], describe: Callable[[str], Tables]) -> Tables:
    """What all sources hold."""
    from dpsql.owner.template import plain_name, with_plain_columns

    if len(source) > 1 and not all(map(is_table, source)):
        raise OperationalError("Name one database, or files of one table each: Parquet or CSV.")
    found = [
        # A policy may call a table that is a file of its own as it likes.
        {name if table.file is None else plain_name(name, "table"): table for name, table in describe(one).items()}
        for one in source
    ]
    tables: dict[str, TableSchema] = {}
    for name, table in (pair for one in found for pair in one.items()):
        first = tables.setdefault(name, table)
        if first is not table:
            raise OperationalError(
                "Two files have one name, but for signs, and it is that of their table: "
                f"{first.file} and {table.file}. Rename one."
            )
    return with_plain_columns(tables)


def _placed(tables: Tables, at: Path) -> Tables:
    """The tables with their files as the policy names them, from where it will lie."""
    import os
    from dataclasses import replace

    return {
        name: table if table.file is None else replace(table, file=Path(os.path.relpath(table.file, at)))
        for name, table in tables.items()
    }


def _there(tables: Tables, unit: str | None) -> str | None:
    """The unit's column as a table writes it.

    Raises:
        OperationalError: If no table has it.
    """
    from dpsql.owner.proposed import units

    every = [column for table in tables.values() for column, _ in table.columns]
    own = {name: new for table in tables.values() for new, name in table.rename.items()}
    unit = own.get(unit, unit) if unit is not None else None
    found = None if unit is None else next((name for name in every if name.lower() == unit.lower()), None)
    if unit is not None and found is None:
        likely = ", ".join(units(tables)) or ", ".join(every)
        raise OperationalError(f"No table has a column {unit}. Write --unit with one of: {likely}.")
    return found


def asked(tables: Tables) -> Choices:
    """What the owner answers on a terminal. Nothing is read for it but names and types, and CSV files' first lines."""
    from dataclasses import replace

    from dpsql.owner.proposed import links
    from dpsql.owner.template import Choices

    for name, table in tables.items():
        typer.echo(f"{line(name)}: {', '.join(line(column) for column, _ in table.columns)}")
    unit = _asked_unit(tables)
    owned = links(tables, unit) if unit is not None else {}
    public = [name for name in tables if unit is not None and name not in owned and _nobodys(name, unit)]
    private = {name: table for name, table in tables.items() if name not in public}
    naming = _naming(private)
    without = f" (all but {', '.join(map(line, naming))})" if naming else ""
    columns = typer.confirm(f"\nMay analysts use the columns{without}?", default=True)
    facts = _asked_facts(private, Choices(unit, columns=columns), owned) if columns and unit else ({}, {}, {})
    typer.echo("\nHow much may be learnt? epsilon 1 is strong, 10 is weak. It is the promise to each person.")
    total = _price("by all analysts together, ever", "3")
    each = _price("by each analyst who has no line of their own, together", "1")
    per_query = _price("by one query that names no price", "0.1")
    chosen = Choices(unit, frozenset(public), columns, *facts, total, each, per_query)
    return replace(chosen, delta=_asked_delta(private, chosen))


def _naming(tables: Tables) -> list[str]:
    """Columns that may tell who somebody is."""
    from dpsql.owner.proposed import names_somebody

    every = [column for table in tables.values() for column, _ in table.columns]
    return [name for name in dict.fromkeys(every) if names_somebody(name)]


def _asked_unit(tables: Tables) -> str | None:
    from dpsql.owner.proposed import units

    likely = units(tables)
    typer.echo("\nWho is protected? The column that says which person a row is about; - where there is none.")
    while (answer := str(typer.prompt("column", default=likely[0] if likely else "-")).strip()) != "-":
        try:
            return _there(tables, answer)
        except OperationalError as error:
            typer.echo(str(error))
    return None


def _asked_facts(tables: Tables, chosen: Choices, owned: Mapping[str, Link]) -> Facts:
    """(each table's rows, rows of one person, what its columns hold), as far as the owner knows without a look."""
    from dpsql.owner.template import CEILING, shown

    rows, caps, known = {}, {}, {}
    typer.echo("\nWhat is publicly known? Answer without a look at the data, or press Enter.")
    typer.echo("Lowest and highest value, such as 0 110. Enter: numbers are measured privately by `dpsql advise`, at a")
    typer.echo("price that grows with each such column, and is high below some thousands of people; days stay open.")
    typer.echo("Of text, every value there is, such as F, M, X. Enter: open, and a group is shown only if it is large.")
    for name in owned:
        table = tables[name]
        rows[name] = _matched(f"rows of {line(name)}, about", "10000", _COUNT, "Write a number.")[0]
        if (owned[name].column,) not in table.keys:
            caps[name] = _matched("  of one person, at most", str(CEILING), _COUNT, "Write a number.")[0]
        usable = shown(table, chosen)
        for column, kind in table.columns:
            if column in usable and column != owned[name].column and (found := _asked_column(column, kind)):
                known[f"{name}.{column}"] = found
    return rows, caps, known


def _asked_column(column: str, kind: SourceType) -> str | None:
    """What the owner knows of a column, as the policy writes it; None where that is nothing."""
    from dpsql.owner.template import quoted

    family = kind.family
    what = f"  {line(column)} ({family})"
    if family == "text":
        if kind.listed:
            shown = ", ".join((*kind.listed[:_SHOWN], *(["..."] if len(kind.listed) > _SHOWN else [])))
            what = f"{what}, an ENUM of {line(shown)}; = for these, if no data made that list"
        told = str(typer.prompt(what, default="", show_default=False))
        values = dict.fromkeys(part for value in told.split(",") if (part := value.strip()))
        values = dict.fromkeys(kind.listed) if kind.listed and [*values] == ["="] else values
        return f"values: [{', '.join(map(quoted, values))}]" if values else None
    if (end := _ENDS.get(family)) is None:
        return None
    hint = f"Write two of them, such as {_EXAMPLES.get(family, '0 110')}, the lower one first."
    _, *ends = _matched(what, "", rf"|({end})[ ,]+({end})", hint)
    return f"bounds: [{', '.join(ends)}]" if ends else None


def _matched(what: str, default: str, pattern: str, hint: str) -> tuple[str, ...]:
    """The answer and its parts: two ends are in order."""
    while True:
        answer = str(typer.prompt(what, default=default, show_default=bool(default))).strip()
        found = re.fullmatch(pattern, answer)
        if found is not None:
            parts = [part for part in found.groups() if part is not None]
            if not parts or _order(parts[0]) <= _order(parts[1]):
                return answer, *parts
        typer.echo(hint)


def _order(end: str) -> tuple[int, float | str]:
    return (0, float(end)) if re.fullmatch(_NUMBER, end) else (1, end)


def _nobodys(table: str, unit: str) -> bool:
    typer.echo(f"\nNothing in {line(table)} leads to {line(unit)}. A list of towns or prices is nobody's data.")
    return typer.confirm("May everybody read all of it (public)?", default=False)


def _price(what: str, default: str) -> str:
    """An epsilon above 0."""
    above = r"(?!0*[.]?0*$)[0-9]{1,6}(?:[.][0-9]{1,9})?"
    return _matched(what, default, above, "Write a number above 0, such as 0.5.")[0]


def _asked_delta(tables: Tables, chosen: Choices) -> Decimal | None:
    """What the groups of open texts need; None where there are none, or the owner wants none."""
    from dpsql.owner.proposed import links
    from dpsql.owner.template import shown

    if chosen.unit is None:
        return None
    texts = [
        name
        for of, link in links(tables, chosen.unit).items()
        for name, kind in tables[of].columns
        if kind.family == "text" and name != link.column and f"{of}.{name}" not in chosen.known
        if name in shown(tables[of], chosen)
    ]
    if not texts:
        return None
    named = line(", ".join(texts[:3])) + (", ..." if len(texts) > 3 else "")
    typer.echo(f"\nGroups of open texts ({named}) need a delta, the chance that the promise fails:")
    typer.echo("at most 1 in a hundred times the number of people. - for none.")
    delta = _matched("delta", "1e-7", _DELTA, "Write a number such as 1e-7, or -.")[0]
    return None if delta == "-" else Decimal(delta)


def _parts(tables: Tables) -> list[str]:
    """Several files of their own with the same columns: they may be parts of one table."""
    alike: dict[object, list[str]] = {}
    for name, table in tables.items():
        if table.file is not None:
            alike.setdefault(table.columns, []).append(name)
    return max(alike.values(), key=len, default=[]) if any(len(names) > 1 for names in alike.values()) else []


def _first_row(table: TableSchema) -> str:
    """What the owner is told where the names of a CSV file's columns look like values; empty where they do not."""
    from dpsql.engines import CSV

    names = [table.rename.get(name, name) for name, _ in table.columns]
    values = [name for name in names if re.fullmatch(f"{_NUMBER}|{_DAY}", name.strip())]
    if table.file is None or not table.file.name.lower().endswith(CSV) or not values:
        return ""
    return line(
        f"The first line of {table.file} holds {values[0]}, as a row would. Its words are taken for names of columns, "
        "which analysts see: if it is somebody's row, write a line of names above it, and remove this policy."
    )


def _left_out(folder: str, files: Sequence[Path]) -> str:
    """That files of a folder are not read, and how they are."""
    shown = f"{', '.join(map(str, files[:3]))}{', ...' if len(files) > 3 else ''}"
    return line(
        f"Left out: {shown}. Of a folder the files of one ending are read, in one depth. Name others beside it: "
        f"dpsql init {folder} {files[0]}"
    )


def _told(file: str, gaps: bool, measured: bool, parts: Sequence[str]) -> str:
    """What the owner does next.

    Args:
        file: The policy.
        gaps: Whether it has choices that are still to be made.
        measured: Whether bounds are to be measured before it opens.
        parts: Tables that may be parts of one.
    """
    first = "Fill in what it marks FILL_IN, then" if gaps else "Read it once, then"
    told = f"Wrote {file}. {first}: dpsql advise {file} --quote, and dpsql check {file}"
    if not gaps and not measured:
        told = f"Wrote {file}. {first}: dpsql check {file}, and ask: dpsql shell {file} --analyst NAME"
    if parts:
        told += (
            f"\n{line(', '.join(parts[:3]))}{', ...' if len(parts) > 3 else ''} have the same columns. If they are "
            "parts of one table, write the folder, or a pattern in quotes: 'folder/*.parquet'."
        )
    return told
