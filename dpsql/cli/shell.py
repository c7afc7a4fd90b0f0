"""`dpsql shell`: one text after the other, at one session.

Tests: tests/unit/cli/test_shell.py.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from decimal import Decimal
from typing import TYPE_CHECKING, Annotated

import typer

from dpsql.cli.app import app
from dpsql.cli.arguments import PolicyFile
from dpsql.cli.running import line, opened, progress

if TYPE_CHECKING:
    from dpsql.cli.dots import Shell

__all__ = ["shell"]


@app.command()
def shell(
    policy: PolicyFile,
    analyst: Annotated[str, typer.Option(help="Who asks, and whose budget it spends.")],
    epsilon: Annotated[
        Decimal | None, typer.Option(help="What each statement may cost, until .price says otherwise.")
    ] = None,
) -> None:
    """Ask one statement after the other. It ends with .exit, exit or Ctrl-D."""
    from dpsql.cli.dots import Shell
    from dpsql.cli.terminal import reading

    with opened(policy) as proxy:
        session = proxy.session(analyst=analyst)
        if epsilon is not None:
            session.query(f"SET epsilon = {epsilon:f}")
        with reading(session, f"{line(proxy.policy.name)}> ") as (read, sure):
            own = Shell(session, typer.echo, lambda text: typer.echo(_safe(text), err=True), progress, sure)
            _loop(own, read)
    if own.refused and not sys.stdin.isatty():
        raise typer.Exit(1)


def _loop(own: Shell, read: Callable[[], str]) -> None:
    """Take texts until one says to leave, or there are no more. Ctrl-C drops what was begun."""
    while True:
        try:
            text = read()
        except KeyboardInterrupt:
            continue
        except EOFError:
            return
        if not own.take(text):
            return


def _safe(text: str) -> str:
    return "\n".join(map(line, text.splitlines()))
