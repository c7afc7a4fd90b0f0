"""How commands write an answer: as a table, or in one of the formats of files.

Tests: tests/unit/cli/test_analyst.py, tests/unit/cli/test_spent.py.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated

import typer

from dpsql.errors import InterfaceError

if TYPE_CHECKING:
    from dpsql.answers.answer import Answer

__all__ = ["Format", "refuse_on_screen", "write"]

FORMATS = ("table", "csv", "json", "parquet")  # The last three are the names of `answers.writers.WRITERS`.


def _known(name: str) -> str:
    if name not in FORMATS:
        raise typer.BadParameter(f"{name!r} is not one of {', '.join(FORMATS)}.")
    return name


Format = Annotated[
    str, typer.Option(help="How to write the answer.", metavar=f"<{'|'.join(FORMATS)}>", callback=_known)
]


def refuse_on_screen(format: str, command: str) -> None:  # noqa: A002 - the option's name
    """Nothing, but where bytes that are no text would go to a terminal.

    Raises:
        InterfaceError: Naming the command whose answer should go to a file.
    """
    if format == "parquet" and sys.stdout.isatty():
        raise InterfaceError(
            f"Parquet is not text. Send it to a file: dpsql {command} ... --format parquet > answer.parquet"
        )


def write(answer: Answer, format: str) -> None:  # noqa: A002 - the option's name
    """Write the answer to stdout."""
    if format == "table":
        typer.echo(answer.to_text())
        return
    from dpsql.answers.writers import WRITERS

    sys.stdout.buffer.write(WRITERS[format](answer))
    sys.stdout.buffer.flush()
