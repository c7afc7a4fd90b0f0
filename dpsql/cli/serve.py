"""Doors that others reach: those of a server, and an agent's over standard input and output.

Tests: tests/unit/server.
"""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer

from dpsql.answers.shown.extras import of_extra
from dpsql.cli.app import app
from dpsql.cli.arguments import PolicyFile, takes
from dpsql.cli.running import line, opened
from dpsql.server.doors import DOORS

__all__ = ["mcp", "serve"]


DOOR_OPTIONS: dict[str, Any] = {
    kind.name: Annotated[str | None, typer.Option(metavar="HOST:PORT|unix:PATH", help=kind.words)] for kind in DOORS
}


@app.command()
@partial(takes, options=DOOR_OPTIONS)
def serve(
    policy: PolicyFile,
    tls_cert: Annotated[Path | None, typer.Option(metavar="FILE", help="The certificate, in PEM.")] = None,
    tls_key: Annotated[Path | None, typer.Option(metavar="FILE", help="Its key, in PEM.")] = None,
    insecure: Annotated[bool, typer.Option("--insecure", help="Speak over the network without TLS.")] = False,
    **doors: str | None,
) -> None:
    """The owner: let analysts ask over the network, by tokens of `dpsql user add`. SIGTERM or Ctrl-C ends it."""
    if (tls_cert is None) != (tls_key is None):
        raise typer.BadParameter("--tls-cert FILE and --tls-key FILE go together.")
    if not any(doors.values()):
        raise typer.BadParameter(f"Open a door: {', '.join(f'--{kind.name}' for kind in DOORS)} HOST:PORT.")
    from dpsql.server.listening import Listen, Tls
    from dpsql.server.running import serve as run

    listening = {name: Listen.read(text) for name, text in doors.items() if text is not None}
    tls = None if tls_cert is None or tls_key is None else Tls(tls_cert, tls_key)
    with opened(policy, lines=True) as proxy:
        run(proxy, listening, tls, insecure=insecure, told=lambda text: typer.echo(line(text)))


@app.command()
def mcp(
    policy: PolicyFile,
    analyst: Annotated[str, typer.Option(help="For whom the agent asks, and whose budget it spends.")],
) -> None:
    """Serve an agent by the Model Context Protocol, over standard input and output."""
    of_extra("mcp", "mcp")
    from dpsql.answers.budget import left_now
    from dpsql.server.events import told_by
    from dpsql.server.mcp import mcp_server
    from dpsql.server.tools import Tools

    told_by("mcp")
    with opened(policy) as proxy:
        session = proxy.session(analyst=analyst)
        tools = Tools(session, lambda: float(proxy.policy.server.approve_above), lambda: left_now(session.budget))
        mcp_server(tools, proxy.policy.name).run(transport="stdio")
