"""An analyst's commands: a quote and an answer."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated, Any

import typer

from dpsql.answers.writers import WRITERS
from dpsql.cli.app import app
from dpsql.cli.arguments import PolicyFile, Sql, takes_options
from dpsql.cli.running import line, opened
from dpsql.errors import InterfaceError, ProgrammingError

if TYPE_CHECKING:
    from dpsql.answers.answer import Answer

__all__ = ["explain", "query"]

FORMATS = ("table", *WRITERS)


def _known(name: str) -> str:
    if name not in FORMATS:
        raise typer.BadParameter(f"{name!r} is not one of {', '.join(FORMATS)}.")
    return name


FORMAT = typer.Option(help="How to write the answer.", metavar=f"<{'|'.join(FORMATS)}>", callback=_known)


@app.command()
@takes_options
def explain(
    policy: PolicyFile,
    sql: Sql,
    analyst: Annotated[
        str | None, typer.Option(help="Whose budget to look at.", show_default="the first in the policy")
    ] = None,
    half_width: Annotated[
        list[str] | None,
        typer.Option(metavar="COLUMN=WIDTH", help="Quote the epsilon whose 95% intervals are this narrow: n=50."),
    ] = None,
    **options: Any,
) -> None:
    """What would run, by which mechanism, at what cost and error. Spends nothing and reads no data."""
    wanted = _widths(half_width or [])
    with opened(policy) as proxy:
        account = analyst or next(iter(proxy.policy.budget.analysts))
        quote = proxy.session(analyst=account).explain(
            sql,
            half_width=wanted,
            **options,
        )
    typer.echo(f"{quote}\nThe budget is that of {line(account)}.")


def _widths(texts: list[str]) -> dict[str, float]:
    """``n=50`` as output column and half width."""
    widths = {}
    for text in texts:
        column, _, width = text.rpartition("=")
        try:
            widths[column] = float(width)
        except ValueError:
            column = ""
        if not column:
            raise ProgrammingError(f"--half-width is {line(text)}; write an output column and a width, such as n=50.")
    return widths


@app.command()
@takes_options
def query(
    policy: PolicyFile,
    sql: Sql,
    analyst: Annotated[str, typer.Option(help="Who asks, and whose budget it spends.")],
    format: Annotated[str, FORMAT] = "table",  # noqa: A002 - the option's name
    **options: Any,
) -> None:
    """Ask, spend, and print the answer with its errors."""
    if format == "parquet" and sys.stdout.isatty():
        raise InterfaceError(
            "Parquet is not text. Send it to a file: dpsql query ... --format parquet > answer.parquet"
        )
    with opened(policy) as proxy:
        answer = proxy.session(analyst=analyst).query(
            sql,
            **options,
        )
    _write(answer, format)


def _write(answer: Answer, format: str) -> None:  # noqa: A002 - the option's name
    if format == "table":
        typer.echo(answer.to_text())
        return
    sys.stdout.buffer.write(WRITERS[format](answer))
    sys.stdout.buffer.flush()
