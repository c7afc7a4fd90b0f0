"""An analyst's commands: quotes and answers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from dpsql.cli.app import app
from dpsql.cli.arguments import File, HalfWidth, PolicyFile, Sql, piped, statements_of, takes_options, widths_of
from dpsql.cli.running import line, opened, progress
from dpsql.cli.writing import Format, refuse_on_screen, write
from dpsql.errors import InterfaceError

if TYPE_CHECKING:
    from dpsql.answers.answer import Answer
    from dpsql.session import Session

__all__ = ["explain", "query"]

NOBODY = "everybody else"  # No policy can name an account so: whoever is called this has the one that "*" stands for.
Plot = Annotated[
    Path | None, typer.Option(metavar="FILE", help="Draw the answer, too: FILE ends in .png or .svg.", dir_okay=False)
]


@app.command()
@takes_options
def explain(
    policy: PolicyFile,
    sql: Sql = None,
    file: File = None,
    analyst: Annotated[
        str | None, typer.Option(help="Whose budget to look at.", show_default="the first in the policy")
    ] = None,
    half_width: HalfWidth = None,
    **options: Any,
) -> None:
    """What would run, by which mechanism, at what cost and error. Spends nothing and reads no data."""
    sql, file = piped(sql, file)
    statements, wanted = statements_of(sql, file), widths_of(half_width)
    with opened(policy) as proxy:
        account = analyst or next(iter(proxy.policy.budget.analysts))
        session = proxy.session(analyst=NOBODY if account == "*" else account)
        if file is None:
            quote: object = session.explain(statements[0], half_width=wanted, **options)
        else:
            quote = session.quote(statements, half_width=wanted, **options)
    whose = "everybody without a line in the policy" if account == "*" else line(account)
    typer.echo(f"{quote}\nThe budget is that of {whose}.")


@app.command()
@takes_options
def query(
    policy: PolicyFile,
    analyst: Annotated[str, typer.Option(help="Who asks, and whose budget it spends.")],
    sql: Sql = None,
    file: File = None,
    together: Annotated[
        bool, typer.Option("--together", help="Buy the statements of FILE at once: what they ask alike is paid once.")
    ] = False,
    half_width: HalfWidth = None,
    format: Format = "table",  # noqa: A002 - the option's name
    intervals: Annotated[
        bool, typer.Option("--intervals", help="Columns n_low and n_high beside each noised column n.")
    ] = False,
    plot: Plot = None,
    **options: Any,
) -> None:
    """Ask, spend, and print the answer with its errors."""
    sql, file = piped(sql, file)
    statements, wanted = statements_of(sql, file), widths_of(half_width)
    if plot is not None:
        _ready(plot, statements)
    if file is None and together:
        raise typer.BadParameter("--together is for the statements of a file: -f FILE.")
    if wanted and not together:
        raise typer.BadParameter("--half-width needs -f FILE --together; explain tells what one statement costs then.")
    if len(statements) > 1 and format == "parquet":
        raise InterfaceError("A Parquet file holds one answer. Ask one statement, or choose another format.")
    refuse_on_screen(format, "query")
    with opened(policy) as proxy:
        session = proxy.session(analyst=analyst)
        if together:
            answers: Iterable[Answer] = session.query_all(statements, half_width=wanted, **options)
        else:
            answers = _one_by_one(session, statements, options, alone=file is None)
        if plot is not None:
            answers = [*answers]
        shown = (answer.with_intervals() for answer in answers) if intervals else answers
        if file is None:
            write(next(iter(shown)), format)
        else:
            _write_all(shown, format)
    if plot is not None:
        next(iter(answers)).plot(plot)


def _one_by_one(
    session: Session, statements: Sequence[str], options: Mapping[str, Any], *, alone: bool
) -> Iterator[Answer]:
    """Each answer when it is there; a refusal says of which statement it is, but of one that stands alone."""
    from dpsql.answers.quotes.batch import numbered

    for place, statement in enumerate(statements, 1):
        with nullcontext() if alone else numbered(place), progress() as bar:
            answer = session.query(statement, progress=bar, **options)
        yield answer


def _ready(plot: Path, statements: Sequence[str]) -> None:
    """Says what stands against a picture before anything is paid for."""
    from dpsql.answers.plots.files import ready_for

    if len(statements) > 1:
        raise InterfaceError("A picture shows one answer. Ask one statement, or leave --plot out.")
    ready_for(plot)


def _write_all(answers: Iterable[Answer], format: str) -> None:  # noqa: A002 - the option's name
    """Tables with an empty line between them; one list of JSON."""
    before, between, after = ("[\n", ",\n", "]\n") if format == "json" else ("", "\n", "")
    typer.echo(before, nl=False)
    for place, answer in enumerate(answers):
        typer.echo(between if place else "", nl=False)
        write(answer, format)
    typer.echo(after, nl=False)
