"""Doors that others reach: an agent's, over standard input and output.

Tests: tests/unit/server.
"""

from __future__ import annotations

from typing import Annotated

import typer

from dpsql.answers.answer import of_extra
from dpsql.cli.app import app
from dpsql.cli.arguments import PolicyFile
from dpsql.cli.running import opened

__all__ = ["mcp"]


@app.command()
def mcp(
    policy: PolicyFile,
    analyst: Annotated[str, typer.Option(help="For whom the agent asks, and whose budget it spends.")],
) -> None:
    """Serve an agent by the Model Context Protocol, over standard input and output."""
    of_extra("mcp", "mcp")
    from dpsql.server.mcp import mcp_server
    from dpsql.server.tools import Tools

    with opened(policy) as proxy:
        tools = Tools(proxy.session(analyst=analyst), float(proxy.policy.server.approve_above))
        mcp_server(tools, proxy.policy.name).run(transport="stdio")
