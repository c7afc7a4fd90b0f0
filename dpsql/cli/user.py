"""The owner's care of users: tokens made, listed, taken away. A server that runs takes changes up at once.

Tests: tests/unit/cli/test_user.py.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from dpsql.cli.app import user_app
from dpsql.cli.arguments import PolicyFile
from dpsql.cli.running import line

if TYPE_CHECKING:
    from dpsql.policy import Policy
    from dpsql.server.users import Users

__all__ = ["add", "list_users", "remove"]

Name = Annotated[str | None, typer.Argument(metavar="NAME", help="An analyst of the policy.", show_default=False)]
Owner = Annotated[bool, typer.Option("--owner", help="The owner, for the owner's page.")]


@user_app.command()
def add(policy: PolicyFile, name: Name = None, owner: Owner = False) -> None:
    """Print a new user's token, once: only what checks it is kept."""
    loaded, users = _users(policy)
    whose = _whose(name, owner)
    typer.echo(users.add_owner() if owner else users.add(whose, loaded))


@user_app.command("list")
def list_users(policy: PolicyFile) -> None:
    """Who may come in, and since when."""
    from dpsql.answers.shown.screen import text_table

    rows = [(user.name or "the owner", user.id, user.since) for user in _users(policy)[1].all()]
    typer.echo(text_table(("user", "token begins with", "since"), rows))


@user_app.command()
def remove(policy: PolicyFile, name: Name = None, owner: Owner = False) -> None:
    """Take a user's token away; statements that run are finished, and no more are taken."""
    users = _users(policy)[1]
    users.remove(_whose(name, owner))
    typer.echo(f"Removed {line(name) if name else 'the owner'}.")


def _whose(name: str | None, owner: bool) -> str:
    if owner == bool(name):
        raise typer.BadParameter("Write the name of an analyst, or --owner.")
    return name or ""


def _users(policy: Path) -> tuple[Policy, Users]:
    from dpsql.policy import load_policy
    from dpsql.server.users import Users, users_file

    loaded = load_policy(policy)
    return loaded, Users(users_file(loaded))
