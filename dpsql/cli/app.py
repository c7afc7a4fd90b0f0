"""The command line's table of commands: each module of this room puts its own there.

Tests: tests/unit/cli.
"""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from typing import Annotated, Any

import typer
from typer.core import TyperGroup
from typer.main import get_command_name

__all__ = ["app", "ledger_app", "of_one", "release_app", "user_app"]


class _Group(TyperGroup):
    """Commands with all that the first paragraph of their help says."""

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """Writes the list of commands."""
        rows = [(name, " ".join((self.commands[name].help or "").split())) for name in self.list_commands(ctx)]
        with formatter.section("Commands"):
            formatter.write_dl(rows)


app = typer.Typer(
    name="dpsql",
    cls=_Group,
    help="Ordinary SQL in, differentially private answers with error bars out.",
    add_completion=False,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,  # plain text: rich would take half of the time of a start
)


def _tell_version(wanted: bool) -> None:
    if wanted:
        from dpsql import __version__

        typer.echo(f"dpsql {__version__}")
        raise typer.Exit


@app.callback()
def every(
    version: Annotated[
        bool, typer.Option("--version", callback=_tell_version, is_eager=True, help="Which version this is.")
    ] = False,
) -> None:
    """Ordinary SQL in, differentially private answers with error bars out."""


ledger_app = typer.Typer(help="The owner: back up, restore or verify the ledger.", no_args_is_help=True, cls=_Group)
app.add_typer(ledger_app, name="ledger")
release_app = typer.Typer(help="The owner: synthetic tables for several readers.", no_args_is_help=True, cls=_Group)
app.add_typer(release_app, name="release")
user_app = typer.Typer(help="The owner: who may come in at the doors of a server.", no_args_is_help=True, cls=_Group)
app.add_typer(user_app, name="user")


def of_one(arguments: Sequence[str]) -> typer.Typer:
    """The table with the command alone that is asked for: what all the others take is not worked out for it.

    Args:
        arguments: What stands after ``dpsql``. Where it does not begin with a command, the whole table comes back.
    """
    word, one = "".join(arguments[:1]), copy(app)
    one.registered_commands = [own for own in app.registered_commands if _named(own) == word]
    one.registered_groups = [own for own in app.registered_groups if own.name == word]
    return one if one.registered_commands or one.registered_groups else app


def _named(command: Any) -> str:
    """What a command is called: by default as its function."""
    return str(command.name or get_command_name(command.callback.__name__))
