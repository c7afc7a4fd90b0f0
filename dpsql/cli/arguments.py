"""The arguments and options that several commands take.

Tests: tests/unit/cli.
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Mapping
from decimal import Decimal
from pathlib import Path
from typing import Annotated, Any

import typer

from dpsql.cli.running import line
from dpsql.errors import ProgrammingError

__all__ = [
    "OPTIONS",
    "File",
    "HalfWidth",
    "PolicyFile",
    "Sql",
    "piped",
    "statements_of",
    "takes",
    "takes_options",
    "widths_of",
]


BEGINNINGS = {"SELECT", "WITH", "FROM", "EXPLAIN", "SHOW", "DESCRIBE", "CREATE", "DROP"}
"""First words of statements."""


def _policy_first(file: Path) -> Path:
    """The policy file; a statement in its place is told where it belongs."""
    first, *more = str(file).split(maxsplit=1)
    if more and first.upper() in BEGINNINGS and not file.exists():
        raise typer.BadParameter("the policy file comes first, then the statement.")
    return file


PolicyFile = Annotated[Path, typer.Argument(metavar="POLICY", help="The policy file.", callback=_policy_first)]
Sql = Annotated[
    str | None,
    typer.Argument(metavar="SQL", help="One statement; or -f FILE; - is standard input.", show_default=False),
]
File = Annotated[
    Path | None,
    typer.Option("--file", "-f", metavar="FILE", help="Statements, with semicolons between them; - is standard input."),
]
HalfWidth = Annotated[
    list[str] | None,
    typer.Option(metavar="COLUMN=WIDTH", help="The least epsilon whose 95% intervals are this narrow: n=50."),
]


def piped(sql: str | None, file: Path | None) -> tuple[str | None, Path | None]:
    """The statement and the file, where a statement ``-`` is the file ``-``: standard input."""
    return (None, Path("-")) if sql == "-" and file is None else (sql, file)


def statements_of(sql: str | None, file: Path | None) -> list[str]:
    """The statement, or those of the file.

    Raises:
        typer.BadParameter: Neither is given, or both, or the file holds none.
        ProgrammingError: It cannot be read.
    """
    if (sql is None) == (file is None):
        raise typer.BadParameter("Write one statement, or -f FILE.")
    if file is None:
        return [sql or ""]
    from dpsql.sql.tokens import statements_in

    try:
        text = sys.stdin.buffer.read() if file == Path("-") else file.read_bytes()
        found = statements_in(text.decode("utf-8-sig"))
    except (OSError, UnicodeDecodeError) as error:
        why = "it is no UTF-8 text" if isinstance(error, UnicodeDecodeError) else error.strerror
        raise ProgrammingError(f"{file} cannot be read: {why}.") from None
    if not found:
        raise ProgrammingError(f"{file} holds no statement.")
    return found


def widths_of(texts: list[str] | None) -> dict[str, float]:
    """``n=50`` as output column and half width."""
    widths = {}
    for text in texts or []:
        column, _, width = text.rpartition("=")
        try:
            widths[column] = float(width)
        except ValueError:
            column = ""
        if not column:
            raise ProgrammingError(f"--half-width is {line(text)}; write an output column and a width, such as n=50.")
    return widths


OPTIONS: Mapping[str, tuple[type, str]] = {
    "epsilon": (Decimal, "What the whole statement may cost."),
    "delta": (Decimal, "A ceiling on its delta."),
    "rho": (Decimal, "Its price in zCDP, in place of epsilon."),
    "mechanism": (str, "The mechanism for every aggregate that offers it."),
    "metric": (str, "The policy's metric that prices the statement."),
    "multiple": (Decimal, "How many times that metric it may cost."),
    "gamma": (Decimal, "The gamma of random_dp above which it is refused."),
    "max_groups_per_unit": (int, "Most groups that one unit counts in."),
    "max_rows_per_group": (int, "Most rows of one unit that count in one group."),
    "interval": (str, "none: no interval of a quantile, and the whole price for its value."),
    "rest": (bool, "One more row, for all groups that stay hidden."),
    "confidence": (float, "The level of the printed errors."),
}
"""The options of a statement that the command line takes: their types and what it says of them. A statement's own
OPTIONS clause takes all of `dpsql.plan.options`."""

DEFAULTS = {"confidence": "0.95"}
"""What the command line says of an option that has a default of its own."""


def takes(command: Callable[..., None], options: Mapping[str, Any]) -> Callable[..., None]:
    """The command, whose ``**keywords`` are these options; one that is not given is None.

    Args:
        command: What `typer` is to run.
        options: Name to annotation, as `typer` reads them.
    """
    own = inspect.signature(command, eval_str=True)
    parameters = []
    for parameter in own.parameters.values():
        if parameter.kind is not inspect.Parameter.VAR_KEYWORD:
            parameters.append(parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY))
            continue
        for name, annotation in options.items():
            parameters.append(
                inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=annotation)
            )
    command.__signature__ = own.replace(parameters=parameters)  # type: ignore[attr-defined]  # typer reads it
    command.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    return command


def takes_options(command: Callable[..., None]) -> Callable[..., None]:
    """The command, whose ``**options`` are those of `OPTIONS`; one that is not given is None."""
    shown = {
        name: typer.Option(help=words, show_default=DEFAULTS.get(name, True)) for name, (_, words) in OPTIONS.items()
    }
    return takes(command, {name: Annotated[kind | None, shown[name]] for name, (kind, _) in OPTIONS.items()})
