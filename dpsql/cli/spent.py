"""What was spent: the budget, the log, and the owner's care of the ledger."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from dpsql.cli.app import app, ledger_app
from dpsql.cli.arguments import PolicyFile
from dpsql.cli.running import line, screen_width
from dpsql.cli.writing import Format, refuse_on_screen, write
from dpsql.errors import InterfaceError, LedgerError

if TYPE_CHECKING:
    from dpsql.policy import Policy

__all__ = ["backup", "budget", "log", "restore", "verify"]


@app.command()
def budget(
    policy: PolicyFile,
    analyst: Annotated[str | None, typer.Option(help="One analyst only.")] = None,
    reset: Annotated[bool, typer.Option("--reset", help="The owner: forget what was spent, on record.")] = False,
    reason: Annotated[str | None, typer.Option(help="Why, for the record; a reset needs it.")] = None,
    format: Format = "table",  # noqa: A002 - the option's name
) -> None:
    """What was spent and what is left, of all together and of each analyst."""
    from dpsql.answers.budget import Budget, as_rows
    from dpsql.answers.promise import total_promise
    from dpsql.answers.shown.screen import text_table
    from dpsql.owner.checking.metric_report import metrics_of
    from dpsql.policy import load_policy
    from dpsql.proxy import open_ledger

    if reset != bool(reason):
        raise typer.BadParameter("--reset and --reason TEXT go together.")
    refuse_on_screen(format, "budget")
    loaded = load_policy(policy)
    if reason:
        _reset(loaded, analyst, reason)
    with open_ledger(loaded) as ledger:
        accounts = [analyst] if analyst else [None, *loaded.budget.analysts]
        budgets = [(account or "all together", Budget.of(ledger.budget(account))) for account in accounts]
    metrics = metrics_of(loaded) if any(state.spent.metric for _, state in budgets) else {}
    budgets = [(name, replace(own, promise=total_promise(own, loaded.neighbours, metrics))) for name, own in budgets]
    if format != "table":
        write(as_rows(budgets), format)
        return
    rows = [(name, *state.cells()) for name, state in budgets]
    typer.echo(text_table(("analyst", *Budget.TITLES), rows, widest=None, screen=screen_width()))
    typer.echo(budgets[0][1].adding_up)
    for name, state in budgets:
        if state.promise:
            typer.echo(f"{line(name)}: {state.promise}")


@app.command()
def log(policy: PolicyFile) -> None:
    """The owner: who asked what, when, at which loss."""
    from dpsql.answers.shown.costs import cost_text
    from dpsql.answers.shown.screen import text_table
    from dpsql.policy import load_policy
    from dpsql.privacy.loss import summary
    from dpsql.proxy import open_ledger

    loaded = load_policy(policy)
    with open_ledger(loaded) as ledger:
        entries = ledger.log()
    rows = [
        (
            *(str(entry.sequence), entry.at, entry.kind, entry.analyst),
            cost_text(summary(entry.loss, loaded.budget.composition, loaded.classes)) if entry.loss else "",
            entry.statement or entry.reason,
        )
        for entry in entries
    ]
    names = ("id", "when", "what", "analyst", "loss", "statement or reason")
    typer.echo(text_table(names, rows, right=(True,), widest=None, screen=screen_width()))


@ledger_app.command()
def backup(policy: PolicyFile, to: Annotated[Path, typer.Argument(metavar="TO", help="A new file.")]) -> None:
    """Copy the ledger, also while it is in use, to a new file."""
    from dpsql.policy import load_policy
    from dpsql.proxy import open_ledger

    with open_ledger(load_policy(policy)) as ledger:
        ledger.backup(to)
    typer.echo(f"Wrote {line(str(to))}.")


@ledger_app.command()
def restore(
    policy: PolicyFile,
    source: Annotated[Path, typer.Argument(metavar="FROM", help="A backup.")],
    reason: Annotated[str, typer.Option(help="Why, for the record.")],
) -> None:
    """Put a backup in the ledger's place, where it counts as fully spent until a reset."""
    from dpsql.ledger.owner import restore as restore_ledger
    from dpsql.policy import load_policy

    ledger, mark = _ledger_files(load_policy(policy))
    restore_ledger(source, ledger, reason=reason, mark=mark)
    typer.echo("Restored. It counts as fully spent until: dpsql budget POLICY --reset --reason TEXT")
    typer.echo("If tables were refreshed since it was made, build them anew: dpsql refresh POLICY")
    typer.echo("A server that runs goes on with neither ledger: start it again.")


@ledger_app.command()
def verify(policy: PolicyFile) -> None:
    """Check every record, every stored answer and the high-water mark."""
    from dpsql.ledger.owner import verify as verify_ledger
    from dpsql.policy import load_policy

    ledger, mark = _ledger_files(load_policy(policy))
    report = verify_ledger(ledger, mark=mark)
    if report.problems:
        raise LedgerError("\n".join(report.problems))
    typer.echo(f"The ledger is sound: {report.records} records, {report.answers} stored answers, head {report.head}.")


def _reset(policy: Policy, analyst: str | None, reason: str) -> None:
    """Start one account afresh, or all."""
    from dpsql.ledger.owner import reset
    from dpsql.proxy import limits_of, pinned_of

    limits = limits_of(policy)
    if analyst is not None and analyst not in limits.analysts:  # a name misspelt would start the shared account anew
        others = ", or '*', the account that all others share" if "*" in limits.analysts else ""
        hint = f"Name one of budget.analysts in the policy{others}."
        raise InterfaceError(f"Analyst {analyst!r} has no account of their own. Nothing was reset. {hint}")
    ledger, mark = _ledger_files(policy)
    found = reset(ledger, pinned=pinned_of(policy), limits=limits, reason=reason, mark=mark, account=analyst)
    typer.echo(line(" ".join(["Reset, on record.", found]).strip()))


def _ledger_files(policy: Policy) -> tuple[Path, Path | None]:
    """The ledger's file, and the folder of its mark where the policy names one."""
    mark = policy.budget.mark
    return policy.resolve(policy.budget.ledger), None if mark is None else policy.resolve(mark)
