"""The owner's commands around a policy: whether it is sound, new data, and its schema."""

from __future__ import annotations

import typer

from dpsql.cli.app import app
from dpsql.cli.arguments import PolicyFile
from dpsql.cli.running import line, progress, screen_width, told
from dpsql.errors import OperationalError

__all__ = ["check", "refresh", "schema"]


@app.command()
def check(policy: PolicyFile) -> None:
    """The owner: is the policy sound, and does the data fit it? Exact shares, for the owner's eyes; no row's value."""
    from dpsql.advising import facts_of
    from dpsql.answers.shown.screen import text_table
    from dpsql.owner.advice.advised import with_bounds
    from dpsql.owner.advice.recommend import contradictions, unmeasured
    from dpsql.owner.building.versions import numbered, refused
    from dpsql.owner.checking.budget_report import budget_findings
    from dpsql.owner.checking.check import Finding
    from dpsql.owner.checking.check import check as findings_of
    from dpsql.owner.checking.guess_report import guess_findings
    from dpsql.owner.checking.metric_report import metric_findings
    from dpsql.owner.checking.partition_report import partition_findings
    from dpsql.owner.finding import HEADS, RIGHT, rows_of, verdict
    from dpsql.policy import load_policy
    from dpsql.proxy import current

    loaded = load_policy(policy)
    with told(policy):
        facts = facts_of(loaded)
        findings = [
            *findings_of(loaded),
            *budget_findings(loaded),
            *guess_findings(loaded),
            *(metric_findings(loaded) if loaded.metrics else []),
            *partition_findings(loaded),
            *(contradictions(loaded, facts) if facts is not None else unmeasured(loaded)),
        ]
        asked = current(loaded)
        sources, stale = numbered(loaded, *asked), None
        if not any(finding.severity == "error" for finding in findings):
            stale = refused(with_bounds(loaded, facts), *asked)
    if stale is not None:
        findings.insert(0, Finding(None, None, stale.replace("POLICY", line(str(policy))), None, None, "warning"))
    if findings:
        typer.echo(text_table(HEADS, rows_of(findings), right=RIGHT, widest=None, screen=screen_width()))
    for source in sources:
        typer.echo(f"{line(str(source))}.")
    errors = sum(finding.severity == "error" for finding in findings)
    if errors and all(finding.lacks for finding in findings if finding.severity == "error"):
        raise OperationalError(f"The policy does not open yet: bounds are auto. Columns without any: {errors}.")
    if errors:
        raise OperationalError(f"The data do not fit the policy. Errors above: {errors}.")
    typer.echo(verdict(findings, stale is not None))


@app.command()
def refresh(policy: PolicyFile) -> None:
    """The owner: the data are a new version. Builds the bounded views; refreshes no budget."""
    from dpsql import proxy
    from dpsql.owner.building.versions import numbered
    from dpsql.policy import load_policy

    with progress() as bar, told(policy):
        version = proxy.refresh(policy, progress=bar)
        loaded = load_policy(policy)
        sources = numbered(loaded, *proxy.current(loaded))
    replays = " Earlier answers are no longer replayed free." if version > 1 else ""  # before the first there were none
    typer.echo(f"The tables are at version {version}.{replays}")
    for source in sources:
        typer.echo(f"{line(str(source))}.")


@app.command()
def schema() -> None:
    """Print the policy file's JSON Schema, for editors."""
    from dpsql.policy.schema import schema_text

    typer.echo(schema_text(), nl=False)
