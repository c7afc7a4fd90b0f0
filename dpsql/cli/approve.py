"""The owner's word: statements that wait for it."""

from __future__ import annotations

import time
from typing import Annotated

import typer

from dpsql.cli.app import app
from dpsql.cli.arguments import PolicyFile
from dpsql.cli.running import line, screen_width

__all__ = ["approve"]


@app.command()
def approve(
    policy: PolicyFile,
    id: Annotated[  # noqa: A002 - what the page of the command line calls it
        str | None, typer.Argument(metavar="ID", help="Of the statement that may run.", show_default="list what waits")
    ] = None,
) -> None:
    """The owner: the statements that wait for approval, or one of them approved, to run once within a day."""
    from dpsql.answers.shown.screen import text_table
    from dpsql.ledger.beside import Beside, beside
    from dpsql.ledger.waiting import Waiting
    from dpsql.policy import load_policy
    from dpsql.proxy import open_ledger

    loaded = load_policy(policy)
    with open_ledger(loaded) as ledger:
        version = ledger.version()
    waiting = Waiting(Beside(beside(loaded.resolve(loaded.budget.ledger))))
    if id is not None:
        one = waiting.approve(id, version)
        typer.echo(
            f"Approved: {line(one.analyst)} may ask it once within a day, for {one.price}. Nothing was run or charged."
        )
        return
    shown = [(own, own.state(version, time.time())) for own in waiting.all()]
    rows = [
        (own.id, state, _when(own.asked), own.analyst, own.price, own.statement, own.options)
        for own, state in shown
        if state in ("waits", "approved")
    ]
    if not rows:
        typer.echo("Nothing waits.")
        return
    names = ("id", "state", "asked", "analyst", "price", "statement", "options")
    typer.echo(text_table(names, rows, widest=None, screen=screen_width()))
    typer.echo("Write: dpsql approve POLICY ID. Whoever asked may then ask the same once within a day.")


def _when(seconds: float) -> str:
    return time.strftime("%Y-%m-%d %H:%M", time.localtime(seconds))
