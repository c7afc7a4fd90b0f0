"""The owner's audit of a policy: what its answers really lose, over tables that are made up.

Tests: tests/unit/cli/test_audit.py.
"""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from typing import Annotated

import typer

from dpsql.cli.app import app
from dpsql.cli.arguments import PolicyFile
from dpsql.cli.running import progress
from dpsql.errors import OperationalError

__all__ = ["audit"]


@app.command()
def audit(
    policy: PolicyFile,
    epsilon: Annotated[Decimal, typer.Option(help="The price of each question.")] = Decimal(1),
    draws: Annotated[int, typer.Option(min=100, help="Draws of noise for each question, at most.")] = 100_000,
    seconds: Annotated[float, typer.Option(min=0.01, help="Time for the draws of each question, about.")] = 2.0,
    confidence: Annotated[
        float, typer.Option(min=0.5, max=1 - 1e-12, help="That no bound of the whole table is too high.")
    ] = 0.999,
    json: Annotated[bool, typer.Option("--json", help="The table as JSON.")] = False,
) -> None:
    """The owner: what answers under this policy really lose, at least, beside what they claim. Reads no data."""
    from dpsql.audit.auditing import Effort
    from dpsql.audit.auditing import audit as audited
    from dpsql.policy import load_policy

    if epsilon <= 0:
        raise typer.BadParameter("--epsilon is not above 0.")
    with progress() as bar:
        report = audited(load_policy(policy), Effort(Fraction(epsilon), draws, seconds, confidence), bar)
    typer.echo(report.to_json() if json else str(report))
    if report.convicted:
        raise OperationalError(f"Convicted: {report.convicted} of {len(report.rows)}. More is lost than is claimed.")
