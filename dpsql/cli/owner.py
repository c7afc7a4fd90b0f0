"""The owner's commands around a policy: a first one, whether it is sound, new data, and its schema."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from dpsql.cli.app import app
from dpsql.cli.arguments import PolicyFile
from dpsql.cli.running import line, progress, told
from dpsql.errors import OperationalError

__all__ = ["check", "init", "refresh", "schema"]


@app.command()
def init(
    source: Annotated[list[Path], typer.Argument(metavar="SOURCE...", help="A DuckDB file; or Parquet and CSV files.")],
    output: Annotated[
        Path | None, typer.Option(help="The policy file to write; - prints it.", show_default="beside SOURCE")
    ] = None,
    unit: Annotated[str | None, typer.Option(help="The column of the protected person, where it is there.")] = None,
) -> None:
    """The owner: write a commented first policy from the schema alone, never from values."""
    import os

    from dpsql.engines import ENGINES
    from dpsql.owner.engines import describing
    from dpsql.owner.template import first_policy, plain_name

    first, *more = source
    to_screen = output == Path("-")
    file = output or first.with_suffix(".yaml")
    names = [os.path.relpath(one, Path() if to_screen else file.parent) for one in source]
    kind = next(iter(ENGINES))  # the embedded one, whose files this command reads
    folder = describing(kind)
    if more and not all(map(folder.is_table, source)):
        raise OperationalError("Name one database, or files of one table each: Parquet or CSV.")
    found = [folder.describe(one) for one in source]
    if folder.is_table(first):  # a policy may call a table that is a file of its own as it likes
        found = [{plain_name(name, "table"): columns for name, columns in one.items()} for one in found]
    tables = {name: columns for one in found for name, columns in one.items()}
    if len(tables) < sum(map(len, found)):
        raise OperationalError("Two files have one name, but for signs, and it is that of their table. Rename one.")
    files = {
        next(iter(one)): name for one, name, path in zip(found, names, source, strict=True) if folder.is_table(path)
    }
    text = first_policy(first.name.split(".")[0], kind, folder.keys(names[0]), tables, files, unit)
    if to_screen:
        typer.echo(text, nl=False)
        return
    try:
        with file.open("x", encoding="utf-8") as new:
            new.write(text)
    except FileExistsError:
        raise OperationalError(f"{file} exists and stays as it is. Write --output with another name.") from None
    name = line(str(file))
    typer.echo(
        f"Wrote {name}. Fill in what it marks FILL_IN, then: dpsql advise {name} --quote, and dpsql check {name}"
    )


@app.command()
def check(policy: PolicyFile) -> None:
    """The owner: is the policy sound, and does the data fit it? Exact shares, for the owner's eyes; no row's value."""
    from dpsql.advising import facts_of
    from dpsql.answers.screen import text_table
    from dpsql.owner.budget_report import budget_findings
    from dpsql.owner.check import check as findings_of
    from dpsql.owner.guess_report import guess_findings
    from dpsql.owner.metric_report import metric_findings
    from dpsql.owner.partition_report import partition_findings
    from dpsql.owner.recommend import contradictions
    from dpsql.policy import load_policy

    loaded = load_policy(policy)
    with told(policy):
        facts = facts_of(loaded)
        findings = [
            *findings_of(loaded),
            *budget_findings(loaded),
            *guess_findings(loaded),
            *(metric_findings(loaded) if loaded.metrics else []),
            *partition_findings(loaded),
            *(contradictions(loaded, facts) if facts is not None else []),
        ]
    if findings:
        rows = [
            (
                finding.severity,
                ".".join(filter(None, (finding.table, finding.column))),
                finding.what,
                "" if finding.count is None else str(finding.count),
                "" if finding.share is None else f"{float(finding.share):.4%}",
            )
            for finding in findings
        ]
        names = ("severity", "where", "what", "count", "share")
        typer.echo(text_table(names, rows, right=(False, False, False, True, True), widest=None))
    errors = sum(finding.severity == "error" for finding in findings)
    if errors:
        raise OperationalError(f"The data do not fit the policy. Errors above: {errors}.")
    typer.echo("The policy is sound. " + ("It can be used as it is." if findings else "The data fit it."))


@app.command()
def refresh(policy: PolicyFile) -> None:
    """The owner: the data are a new version. Builds the bounded views; refreshes no budget."""
    from dpsql import proxy

    with progress() as bar, told(policy):
        version = proxy.refresh(policy, progress=bar)
    typer.echo(f"The tables are at version {version}. Earlier answers are no longer replayed free.")


@app.command()
def schema() -> None:
    """Print the policy file's JSON Schema, for editors."""
    from dpsql.policy.schema import schema_text

    typer.echo(schema_text(), nl=False)
