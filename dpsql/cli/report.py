"""The owner's page as one file."""

from __future__ import annotations

import os
import stat
from pathlib import Path
from typing import Annotated

import typer

from dpsql.cli.app import app
from dpsql.cli.arguments import PolicyFile
from dpsql.cli.running import line

__all__ = ["report"]


@app.command()
def report(
    policy: PolicyFile,
    out: Annotated[Path, typer.Option(metavar="FILE.html", help="What to write; one that is there is replaced.")],
) -> None:
    """The owner: budgets, charges, releases and what waits, as one HTML file without any value of an answer."""
    from dpsql.ledger.beside import Beside, beside
    from dpsql.policy import load_policy
    from dpsql.proxy import open_ledger
    from dpsql.server.page.facts import gather
    from dpsql.server.page.sections import page

    loaded = load_policy(policy)
    with open_ledger(loaded) as ledger:
        text = page(gather(loaded, ledger, Beside(beside(loaded.resolve(loaded.budget.ledger)))))
    handle = os.open(out, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)  # it tells who asks what
    with os.fdopen(handle, "w", encoding="utf-8") as file:
        if stat.S_ISREG(os.fstat(handle).st_mode):
            os.fchmod(handle, 0o600)  # one that is replaced had a mode of its own
        file.write(text)
    typer.echo(f"Wrote {line(str(out))}.")
