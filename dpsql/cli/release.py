"""The owner's synthetic tables: for several readers at once, granted to more, listed, dropped, in files.

Tests: tests/unit/cli/test_release.py.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from dpsql.cli.app import release_app
from dpsql.cli.arguments import PolicyFile
from dpsql.cli.running import line, opened, progress, told

__all__ = ["create", "drop", "export", "grant", "list_all"]

Name = Annotated[str, typer.Argument(metavar="NAME", help="Its name, or its id where several have the name.")]


@release_app.command()
def create(
    policy: PolicyFile,
    sql: Annotated[str, typer.Argument(metavar="SQL", help="CREATE SYNTHETIC TABLE name WITH (...) AS SELECT ...")],
    readers: Annotated[str, typer.Option(help="Who may read it, such as ana,bob: each of them pays the price.")],
    quote: Annotated[
        bool, typer.Option("--quote", help="Say price and error alone: nothing is read or charged.")
    ] = False,
) -> None:
    """Make a synthetic table for readers, charged to the total once and to each of them."""
    names = [name.strip() for name in readers.split(",")]
    with told(policy), opened(policy) as proxy:
        if quote:
            typer.echo(str(proxy.releases.quote(sql, names)))
            return
        with progress() as bar:
            made = proxy.releases.create(sql, names, bar)
        typer.echo(str(made))


@release_app.command()
def grant(
    policy: PolicyFile,
    name: Name,
    analyst: Annotated[str, typer.Argument(metavar="ANALYST", help="Who may read it, too.")],
) -> None:
    """Let one more analyst read a table, who pays the whole price at the first reading."""
    with opened(policy) as proxy:
        typer.echo(line(proxy.releases.grant(name, analyst)))


@release_app.command(name="list")
def list_all(policy: PolicyFile) -> None:
    """All synthetic tables, who made them, what they cost, and who reads them."""
    with opened(policy) as proxy:
        typer.echo(proxy.releases.listed().to_text())


@release_app.command()
def drop(policy: PolicyFile, name: Name) -> None:
    """Forget a table, for all of its readers; nothing is given back."""
    with opened(policy) as proxy:
        typer.echo(line(proxy.releases.drop(name)))


@release_app.command()
def export(
    policy: PolicyFile,
    name: Name,
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A new file that ends in .parquet or .csv.")],
) -> None:
    """Write all rows of a table to a file."""
    with opened(policy) as proxy:
        typer.echo(line(proxy.releases.export(name, file)))
