"""The owner's measured facts: what they cost, what they say, and into the policy with them.

Tests: tests/unit/cli/test_advise.py.
"""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from typing import Annotated

import typer

from dpsql.cli.app import app
from dpsql.cli.arguments import PolicyFile
from dpsql.cli.running import line, progress, told
from dpsql.errors import OperationalError

__all__ = ["advise"]


@app.command()
def advise(
    policy: PolicyFile,
    epsilon: Annotated[
        Decimal | None,
        typer.Option(help="What the facts may cost, of the total and of every account.", show_default="0.05"),
    ] = None,
    delta: Annotated[
        Decimal | None, typer.Option(help="Also finds frequent values of open text columns.", show_default="none")
    ] = None,
    write: Annotated[bool, typer.Option("--write", help="Write what they say into the policy; comments stay.")] = False,
    narrow: Annotated[
        bool, typer.Option("--narrow", help="With tighter rows_per_unit and bounds in the place of your own, too.")
    ] = False,
    quote: Annotated[bool, typer.Option("--quote", help="Say the price alone: nothing is read or charged.")] = False,
) -> None:
    """The owner: measure sizes and tails privately, once a table version; good for bounds, caps and guesses."""
    from dpsql.advising import advise as measure

    with progress() as bar, told(policy):
        report = measure(
            policy,
            epsilon=None if epsilon is None else Fraction(epsilon),
            delta=Fraction(delta or 0),
            write=write,
            narrow=narrow,
            quote=quote,
            progress=bar,
            warned=lambda text: typer.echo(text, err=True),
        )
    if quote or not report.thin:
        typer.echo(report.quote)
    for text in report.lines:
        typer.echo(line(text))
    if report.changes:
        asked = f"dpsql advise --write{' --narrow' if narrow else ''} would write:"
        typer.echo("Written into the policy:" if report.written else asked)
        for change in report.changes:
            typer.echo(f"  {line(change)}")
    if report.written:
        name = line(str(policy))
        more = f"the tables are built anew by: dpsql refresh {name}" if report.version else f"then: dpsql check {name}"
        typer.echo(f"What it cost stands there as budget.advised. {more[0].upper()}{more[1:]}")
    if report.unseen and not report.unresolved:
        raise OperationalError(
            f"The facts tell nothing of {line(', '.join(report.unseen))}: no count stands above the noise. "
            "What is publicly known costs nothing: write rows_per_unit, bounds and rows_about by hand. Or run it with "
            "a larger --epsilon, which is charged in addition; --quote says how many units it needs."
        )
    if report.unresolved:
        raise OperationalError(
            f"No value but 0 was found above the noise of: {line(', '.join(report.unresolved))}. Until their bounds: "
            "auto are found or written, the policy does not open. Write bounds: [LOW, HIGH] from public knowledge "
            "([0, 1] for nothing but 0), and run dpsql advise again: what it was paid for and still has to count is "
            "free. Or run it with a larger --epsilon, which is charged in addition."
        )
