"""The command line. Exit code 0; 1 refused or failed, with one message on stderr; 2 wrong usage; 130 interrupted.

Every command imports what it needs when it runs, so that help is there at once.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from decimal import Decimal
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NoReturn

import typer

from dpsql.errors import Error, InterfaceError, LedgerError, OperationalError, PolicyError, ProgrammingError

if TYPE_CHECKING:
    from dpsql.answers.answer import Answer
    from dpsql.policy import Policy
    from dpsql.proxy import Proxy

__all__ = ["app", "main"]

app = typer.Typer(
    name="dpsql",
    help="Ordinary SQL in, differentially private answers with error bars out.",
    add_completion=False,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
)
ledger_app = typer.Typer(help="The owner: back up, restore or verify the ledger.", no_args_is_help=True)
app.add_typer(ledger_app, name="ledger")


class Format(StrEnum):
    """How an answer is written."""

    TABLE = "table"
    CSV = "csv"
    JSON = "json"
    PARQUET = "parquet"


def _policy_first(file: Path) -> Path:
    """The policy file; a statement in its place is told where it belongs."""
    first, *more = str(file).split(maxsplit=1)
    if more and first.upper() in {"SELECT", "WITH", "FROM", "EXPLAIN", "SHOW", "DESCRIBE"} and not file.exists():
        raise typer.BadParameter("the policy file comes first, then the statement.")
    return file


PolicyFile = Annotated[Path, typer.Argument(metavar="POLICY", help="The policy file.", callback=_policy_first)]
Sql = Annotated[str, typer.Argument(metavar="SQL", help="One statement.")]
Epsilon = Annotated[Decimal | None, typer.Option(help="What the whole statement may cost.")]
Delta = Annotated[Decimal | None, typer.Option(help="A ceiling on its delta.")]
Rho = Annotated[Decimal | None, typer.Option(help="Its price in zCDP, in place of epsilon.")]
Mechanism = Annotated[str | None, typer.Option(help="The mechanism for every aggregate that offers it.")]
MetricName = Annotated[str | None, typer.Option(help="The policy's metric that prices the statement.")]
Multiple = Annotated[Decimal | None, typer.Option(help="How many times that metric it may cost.")]
Gamma = Annotated[Decimal | None, typer.Option(help="The gamma of random_dp above which it is refused.")]
GroupCap = Annotated[int | None, typer.Option(help="Most groups that one unit counts in.")]
RowCap = Annotated[int | None, typer.Option(help="Most rows of one unit that count in one group.")]
Confidence = Annotated[float | None, typer.Option(help="The level of the printed errors.", show_default="0.95")]


@app.command()
def init(
    database: Annotated[Path, typer.Argument(metavar="DATABASE", help="A DuckDB file.")],
    output: Annotated[
        Path | None, typer.Option(help="The policy file to write; - prints it.", show_default="beside DATABASE")
    ] = None,
) -> None:
    """The owner: write a commented first policy from the schema alone, never from values."""
    import os

    from dpsql.owner.describe import describe
    from dpsql.policy.template import first_policy

    to_screen = output == Path("-")
    file = output or database.with_suffix(".yaml")
    name = os.path.relpath(database, Path() if to_screen else file.parent)
    text = first_policy(database.stem, name, describe(database))
    if to_screen:
        typer.echo(text, nl=False)
        return
    try:
        with file.open("x", encoding="utf-8") as new:
            new.write(text)
    except FileExistsError:
        raise OperationalError(f"{file} exists and stays as it is. Write --output with another name.") from None
    typer.echo(f"Wrote {_line(str(file))}. Fill in what it marks FILL_IN, then: dpsql check {_line(str(file))}")


@app.command()
def check(policy: PolicyFile) -> None:
    """The owner: is the policy sound, and does the data fit it? Exact shares, for the owner's eyes; no row's value."""
    from dpsql.answers.screen import text_table
    from dpsql.owner.budget_report import budget_findings
    from dpsql.owner.check import check as findings_of
    from dpsql.owner.guess_report import guess_findings
    from dpsql.owner.metric_report import metric_findings
    from dpsql.owner.partition_report import partition_findings
    from dpsql.policy import load_policy, require_enforced

    loaded = load_policy(policy)
    require_enforced(loaded)
    with _told(policy):
        findings = [
            *findings_of(loaded),
            *budget_findings(loaded),
            *guess_findings(loaded),
            *(metric_findings(loaded) if loaded.metrics else []),
            *partition_findings(loaded),
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

    with _progress() as progress, _told(policy):
        version = proxy.refresh(policy, progress=progress)
    typer.echo(f"The tables are at version {version}. Earlier answers are no longer replayed free.")


@app.command()
def explain(
    policy: PolicyFile,
    sql: Sql,
    analyst: Annotated[
        str | None, typer.Option(help="Whose budget to look at.", show_default="the first in the policy")
    ] = None,
    epsilon: Epsilon = None,
    delta: Delta = None,
    rho: Rho = None,
    mechanism: Mechanism = None,
    metric: MetricName = None,
    multiple: Multiple = None,
    gamma: Gamma = None,
    max_groups_per_unit: GroupCap = None,
    max_rows_per_group: RowCap = None,
    confidence: Confidence = None,
    half_width: Annotated[
        list[str] | None,
        typer.Option(metavar="COLUMN=WIDTH", help="Quote the epsilon whose 95% intervals are this narrow: n=50."),
    ] = None,
) -> None:
    """What would run, by which mechanism, at what cost and error. Spends nothing and reads no data."""
    wanted = _widths(half_width or [])
    with _opened(policy) as proxy:
        account = analyst or next(iter(proxy.policy.budget.analysts))
        quote = proxy.session(analyst=account).explain(
            sql,
            half_width=wanted,
            epsilon=epsilon,
            delta=delta,
            rho=rho,
            mechanism=mechanism,
            metric=metric,
            multiple=multiple,
            gamma=gamma,
            max_groups_per_unit=max_groups_per_unit,
            max_rows_per_group=max_rows_per_group,
            confidence=confidence,
        )
    typer.echo(f"{quote}\nThe budget is that of {_line(account)}.")


def _widths(texts: list[str]) -> dict[str, float]:
    """``n=50`` as output column and half width."""
    widths = {}
    for text in texts:
        column, _, width = text.rpartition("=")
        try:
            widths[column] = float(width)
        except ValueError:
            column = ""
        if not column:
            raise ProgrammingError(f"--half-width is {_line(text)}; write an output column and a width, such as n=50.")
    return widths


@app.command()
def query(
    policy: PolicyFile,
    sql: Sql,
    analyst: Annotated[str, typer.Option(help="Who asks, and whose budget it spends.")],
    epsilon: Epsilon = None,
    delta: Delta = None,
    rho: Rho = None,
    mechanism: Mechanism = None,
    metric: MetricName = None,
    multiple: Multiple = None,
    gamma: Gamma = None,
    max_groups_per_unit: GroupCap = None,
    max_rows_per_group: RowCap = None,
    confidence: Confidence = None,
    format: Annotated[Format, typer.Option(help="How to write the answer.")] = Format.TABLE,  # noqa: A002 - the option's name
) -> None:
    """Ask, spend, and print the answer with its errors."""
    if format is Format.PARQUET and sys.stdout.isatty():
        raise InterfaceError(
            "Parquet is not text. Send it to a file: dpsql query ... --format parquet > answer.parquet"
        )
    with _opened(policy) as proxy:
        answer = proxy.session(analyst=analyst).query(
            sql,
            epsilon=epsilon,
            delta=delta,
            rho=rho,
            mechanism=mechanism,
            metric=metric,
            multiple=multiple,
            gamma=gamma,
            max_groups_per_unit=max_groups_per_unit,
            max_rows_per_group=max_rows_per_group,
            confidence=confidence,
        )
    _write(answer, format)


@app.command()
def budget(
    policy: PolicyFile,
    analyst: Annotated[str | None, typer.Option(help="One analyst only.")] = None,
    reset: Annotated[bool, typer.Option("--reset", help="The owner: forget what was spent, on record.")] = False,
    reason: Annotated[str | None, typer.Option(help="Why, for the record; a reset needs it.")] = None,
) -> None:
    """What was spent and what is left, of all together and of each analyst."""
    from dpsql.answers.budget import Budget
    from dpsql.answers.promise import total_promise
    from dpsql.answers.screen import text_table
    from dpsql.owner.metric_report import metrics_of
    from dpsql.policy import load_policy
    from dpsql.proxy import open_ledger

    if reset != bool(reason):
        raise typer.BadParameter("--reset and --reason TEXT go together.")
    loaded = load_policy(policy)
    if reason:
        _reset(loaded, analyst, reason)
    with open_ledger(loaded) as ledger:
        accounts = [analyst] if analyst else [None, *loaded.budget.analysts]
        budgets = [(account or "all together", Budget.of(ledger.budget(account))) for account in accounts]
    rows = [(name, *state.cells()) for name, state in budgets]
    typer.echo(text_table(("analyst", *Budget.TITLES), rows))
    typer.echo(f"Losses add up by {loaded.budget.composition} composition.")
    metrics = metrics_of(loaded) if any(state.spent.metric for _, state in budgets) else {}
    for name, state in budgets:
        if promise := total_promise(state, loaded.neighbours, metrics):
            typer.echo(f"{_line(name)}: {promise}")


@app.command()
def log(policy: PolicyFile) -> None:
    """The owner: who asked what, when, at which loss."""
    from dpsql.answers.answer import cost_text
    from dpsql.answers.screen import text_table
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
    typer.echo(text_table(names, rows, right=(True,), widest=None))


@ledger_app.command()
def backup(policy: PolicyFile, to: Annotated[Path, typer.Argument(metavar="TO", help="A new file.")]) -> None:
    """Copy the ledger, also while it is in use, to a new file."""
    from dpsql.policy import load_policy
    from dpsql.proxy import open_ledger

    with open_ledger(load_policy(policy)) as ledger:
        ledger.backup(to)
    typer.echo(f"Wrote {_line(str(to))}.")


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


@app.command()
def schema() -> None:
    """Print the policy file's JSON Schema, for editors."""
    from dpsql.policy.schema import schema_text

    typer.echo(schema_text(), nl=False)


def main(arguments: Sequence[str] | None = None) -> NoReturn:
    """Run the command line and leave with its exit code. No bad input ends in a traceback.

    Args:
        arguments: What stands after ``dpsql``; the process's own where absent.
    """
    for stream in (sys.stdout, sys.stderr):
        stream.reconfigure(errors="replace")  # type: ignore[union-attr]  # both are text streams here
    try:
        app(args=arguments, prog_name="dpsql")
    except SystemExit as end:
        if end.code == 130:
            _complain("Interrupted. What was charged stays charged; `dpsql budget` shows it.")
        raise
    except Error as error:
        _complain(str(error))
    except OSError as error:
        _complain(f"{error.strerror}: {error.filename}" if error.filename else str(error.strerror or error))
    except Exception as bug:  # noqa: BLE001 - its text may hold anything, so only its kind and place are told
        _complain(f"This is a bug in dpsql: {type(bug).__name__} at {_place(bug)}. Please report it.")
    sys.exit(1)


@contextmanager
def _opened(policy: Path) -> Iterator[Proxy]:
    """The policy's proxy, with progress where a first version is built."""
    from dpsql import proxy as proxies

    with _progress() as progress:
        proxy = proxies.open(policy, progress=progress)
    try:
        yield proxy
    finally:
        proxy.close()


@contextmanager
def _told(policy: Path) -> Iterator[None]:
    """For the owner's commands alone: a failure whose text is fixed names the log, and ends with the engine's words."""
    from dpsql.engine.log import FILE, TELLS, overheard

    with overheard() as said:
        try:
            yield
        except (OperationalError, PolicyError) as error:
            if not said:
                raise
            from dpsql.policy import load_policy
            from dpsql.proxy import owners_folder

            log = owners_folder(load_policy(policy)) / FILE
            where = f"The owner's log is {_line(str(log))}." if log.exists() else "What the engine said:"
            raise OperationalError("\n".join([str(error).replace(TELLS, where), *said])) from None


@contextmanager
def _progress() -> Iterator[Callable[[str, float], None]]:
    """A bar on stderr, where that is a terminal."""
    from rich.console import Console
    from rich.markup import escape
    from rich.progress import Progress

    console = Console(stderr=True)
    with Progress(console=console, transient=True, disable=not console.is_terminal) as bar:
        task = bar.add_task("", total=1.0, visible=False)
        yield lambda step, done: bar.update(task, description=escape(_line(step)), completed=done, visible=True)


def _reset(policy: Policy, analyst: str | None, reason: str) -> None:
    """Start one account afresh, or all."""
    from dpsql.ledger.owner import reset
    from dpsql.proxy import limits_of, pinned_of

    limits = limits_of(policy)
    account = None if analyst is None else limits.account(analyst)
    if analyst is not None and account is None:
        raise InterfaceError(f"Analyst {analyst!r} has no account. Name one of budget.analysts in the policy.")
    ledger, mark = _ledger_files(policy)
    found = reset(ledger, pinned=pinned_of(policy), limits=limits, reason=reason, mark=mark, account=account)
    typer.echo(_line(" ".join(["Reset, on record.", found]).strip()))


def _ledger_files(policy: Policy) -> tuple[Path, Path | None]:
    """The ledger's file, and the folder of its mark where the policy names one."""
    mark = policy.budget.mark
    return policy.resolve(policy.budget.ledger), None if mark is None else policy.resolve(mark)


def _write(answer: Answer, format: Format) -> None:  # noqa: A002 - the option's name
    if format is Format.TABLE:
        typer.echo(answer.to_text())
        return
    from dpsql.answers.writers import WRITERS

    sys.stdout.buffer.write(WRITERS[format](answer))
    sys.stdout.buffer.flush()


def _line(text: str) -> str:
    from dpsql.answers.screen import safe

    return safe(text)


def _complain(message: str) -> None:
    """The message on stderr, without anything that a terminal would act on."""
    sys.stderr.write("\n".join(map(_line, message.splitlines())) + "\n")


def _place(bug: BaseException) -> str:
    """File and line where it happened."""
    trace = bug.__traceback__
    while trace and trace.tb_next:
        trace = trace.tb_next
    return f"{Path(trace.tb_frame.f_code.co_filename).name}:{trace.tb_lineno}" if trace else "an unknown place"


if __name__ == "__main__":
    main()
