"""Statements of a file asked one after the other: answered beside the truth, or refused and rewritten.

The file has a comment before each statement: ``-- Q3 Shipping priority`` (the original), ``-- Q3 rewritten: why`` (the
original is refused) or ``-- Q5 tuned: why`` (it is answered, with more noise). The truth is DuckDB's answer to the same
text, without the words that are dpsql's, over the same tables.
"""

from __future__ import annotations

import math
import re
import statistics
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import duckdb
from page import table

import dpsql.testing
from dpsql import Answer, Error, ProgrammingError, Session
from dpsql.answers.several import put_together
from dpsql.audit.remembering import Remembering
from dpsql.plan.plans import PublicPlan, Several
from dpsql.prepare import Prepared
from dpsql.privacy.sampling import Sampler
from dpsql.sql.parse import parse

ROUNDS = 15  # plans of one statement; the median counts
OURS = re.compile(
    r"WITH DIFFERENTIAL_PRIVACY\s+OPTIONS \([^)]*\)|,\s+contribution_bounds_per_\w+ => \([^)]*\)|,\s+epsilon => [0-9.]+"
)


@dataclass(frozen=True, slots=True)
class Statement:
    """One statement of a file.

    Attributes:
        name: ``Q7``.
        title: What TPC-H calls the query; of another statement, what was done to it.
        kind: ``original``, ``rewritten`` (the original is refused) or ``tuned`` (it is answered, with more noise).
        sql: The text; a ``?`` is the first value of the answer to the statement before.
    """

    name: str
    title: str
    kind: str
    sql: str


@dataclass(frozen=True, slots=True)
class Result:
    """What became of one statement.

    Attributes:
        statement: What was asked.
        refusal: The message, or None where it was answered.
        public: Whether it reads nothing private: then the answer is exact, and free.
        errors: Output column to the median over the groups of |answer - truth| / |truth|, root mean squared over draws.
        answered: How many of the true groups the answer holds, and how many there are.
        listed: Rows of the answer.
        first: The answer's first value, for the statement after.
        milliseconds: The median time to plan it.
    """

    statement: Statement
    refusal: str | None = None
    public: bool = False
    errors: dict[str, float] = field(default_factory=dict)
    answered: tuple[int, int] = (0, 0)
    listed: int = 0
    first: Any = None
    milliseconds: float = 0.0

    @property
    def outcome(self) -> str:
        """``refused``, ``exact`` (and free) or ``answered`` (with noise)."""
        return "refused" if self.refusal else "exact" if self.public else "answered"


def statements(file: Path) -> list[Statement]:
    """All statements of a file, in order."""
    found = []
    for block in re.split(r"^-- (?=[A-Z]\d+ )", file.read_text(), flags=re.MULTILINE)[1:]:
        heading, sql = block.split("\n", 1)
        name, words = heading.split(" ", 1)
        kind, _, reason = words.partition(":")
        derived = kind in ("rewritten", "tuned")
        found.append(
            Statement(name, reason.strip() if derived else words, kind if derived else "original", sql.strip())
        )
    return found


def truth(raw: duckdb.DuckDBPyConnection, sql: str, parameters: Sequence[Any]) -> list[tuple[Any, ...]]:
    """DuckDB's rows of a statement, all of them: which ones LIMIT keeps is another question."""
    text = re.sub(r"\nLIMIT \d+$", "", OURS.sub("", sql)).replace("PERCENTILE_CONT(", "QUANTILE_CONT(")  # DuckDB's name
    return raw.execute(text, list(parameters)).fetchall()


def relative_errors(answers: Sequence[Answer], rows: list[tuple[Any, ...]]) -> tuple[dict[str, float], tuple[int, int]]:
    """(median relative error by column, (true groups in the first answer, true groups)).

    The groups are told apart by the columns that hold no noise. A group's error is the root mean square over the
    answers that show it.
    """
    answer = answers[0]
    measured = [i for i, name in enumerate(answer.columns) if _is_noised(answer, name)]
    keys = [i for i in range(len(answer.columns)) if i not in measured]
    exact = {tuple(row[i] for i in keys): row for row in rows}
    squares: dict[int, dict[tuple[Any, ...], list[float]]] = {i: {} for i in measured}
    for row in (row for one in answers for row in one.rows):
        group = tuple(row[i] for i in keys)
        for i in measured if group in exact else ():
            if true := exact[group][i]:
                squares[i].setdefault(group, []).append((float(row[i] or 0) / float(true) - 1) ** 2)
    errors = {
        answer.columns[i]: statistics.median(math.sqrt(statistics.fmean(own)) for own in groups.values())
        for i, groups in squares.items()
        if groups
    }
    found = sum(tuple(row[i] for i in keys) in exact for row in answer.rows)
    return errors, (found, len(rows))


def _is_noised(answer: Answer, name: str) -> bool:
    """Whether a column has error bars; a key has none."""
    try:
        return bool(answer.interval(name))
    except ProgrammingError:
        return False


def ask(
    session: Session, raw: duckdb.DuckDBPyConnection, statement: Statement, before: Any, rounds: int, draws: int
) -> Result:
    """One statement, asked at the price that it or the policy names, and compared."""
    parameters = [before] * statement.sql.count("?")
    try:
        milliseconds = planning(session, statement.sql, parameters, rounds)
        answer = session.query(statement.sql, parameters)
    except Error as refused:
        return Result(statement, refusal=str(refused))
    rows = truth(raw, statement.sql, parameters)
    first = answer.rows[0][0] if answer.rows else None
    if not answer.measurements:
        if not _same(answer.rows, rows[: len(answer.rows)]):
            raise SystemExit(f"{statement.name}: the answer from public tables is not DuckDB's")
        return Result(
            statement, public=True, answered=(len(rows), len(rows)), listed=len(answer), first=first,
            milliseconds=milliseconds,
        )  # fmt: skip
    errors, answered = relative_errors([answer, *again(session, statement.sql, parameters, draws - 1)], rows)
    return Result(
        statement, errors=errors, answered=answered, listed=len(answer), first=first, milliseconds=milliseconds
    )


def again(session: Session, sql: str, parameters: Sequence[Any], draws: int) -> Iterator[Answer]:
    """The same answer with other noise: a trial of the noise, which no session gives.

    None where the rows depend on a number that is released before: that would have to be drawn again, too.
    """
    if draws:
        query: Any = parse(sql)
        plan = session._plan(query.select, parameters)
        parts = plan.parts if isinstance(plan, Several) else (plan,)
        own = [part if isinstance(part, PublicPlan) else session._prepare(part, {}) for part in parts]
        if any(reading.statement.awaited for part in own if isinstance(part, Prepared) for reading in part.readings):
            return
        for _ in range(draws):
            answers = [_drawn(session, part) for part in own]
            if isinstance(plan, Several):
                beside, post_process = session._releases.tables_beside(plan), session._backend.post_process
                yield put_together(plan, answers, beside, answers[0].cost, post_process)
            else:
                yield answers[0]


def _drawn(session: Session, own: Any) -> Answer:
    """The answer to one SELECT, with noise of its own."""
    if isinstance(own, PublicPlan):
        return session._public(own)
    return session._finish(own, session._release(own), replayed=False)


def _same(ours: Sequence[Sequence[Any]], theirs: Sequence[Sequence[Any]]) -> bool:
    """Whether two exact answers are one: in any order, and with sums of reals as exact as those are."""
    return len(ours) == len(theirs) and all(
        a == b if isinstance(a, str | int | None) else math.isclose(a, b, rel_tol=1e-9)
        for one, other in zip(sorted(ours, key=_known), sorted(theirs, key=_known), strict=True)
        for a, b in zip(one, other, strict=True)
    )


def _known(row: Sequence[Any]) -> list[str]:
    return [str(value) for value in row if isinstance(value, str | int)]


def planning(session: Session, sql: str, parameters: Sequence[Any], rounds: int) -> float:
    """Milliseconds from text to quote, warm: the median."""
    session.explain(sql, parameters)
    times = []
    for _ in range(rounds):
        start = time.perf_counter()
        session.explain(sql, parameters)
        times.append((time.perf_counter() - start) * 1000)
    return statistics.median(times)


def results(
    policy: Path,
    raw: duckdb.DuckDBPyConnection,
    asked: Sequence[Statement],
    sampler: Sampler | None = None,
    rounds: int = ROUNDS,
    draws: int = 1,
) -> Iterator[Result]:
    """What becomes of statements that are asked in order; with real noise, unless a sampler is given.

    Args:
        policy: The policy file, beside its data.
        raw: The same tables, for DuckDB.
        asked: The statements.
        sampler: Of `dpsql.testing`.
        rounds: How often each is planned.
        draws: How often noise is drawn for each.
    """
    before = None
    with dpsql.testing.open(policy, sampler) as proxy:
        session = Session(replace(proxy._backend, engine=Remembering(proxy._backend.engine)), "bench")
        for statement in asked:
            result = ask(session, raw, statement, before, rounds, draws)
            before = result.first
            yield result


def outcomes(found: Sequence[Result]) -> list[str]:
    """A Markdown table: one line a statement."""
    titles = ["query", "came of it", "median relative error", "groups of the truth answered", "rows", "planning, ms"]
    return table(titles, [_row(result) for result in found])


def _row(result: Result) -> list[str]:
    statement = result.statement
    name = f"{statement.name} {statement.title if statement.kind == 'original' else statement.kind}"
    if result.refusal:
        return [name, result.outcome, "", "", "", ""]
    errors = ", ".join(f"{column} {error:.2%}" for column, error in result.errors.items())
    groups = f"{result.answered[0]:,} of {result.answered[1]:,}"
    return [name, result.outcome, errors, groups, f"{result.listed:,}", f"{result.milliseconds:.1f}"]


def refusals(found: Sequence[Result]) -> list[str]:
    """Markdown: each refusal, and the statements that were made of the refused one."""
    lines = []
    for result in found:
        if not result.refusal:
            continue
        statement = result.statement
        lines += [f"## {statement.name} {statement.title}", "", f"> {result.refusal}", ""]
        for step in (r.statement for r in found):
            if step.name == statement.name and step.kind == "rewritten":
                lines += [*([f"{step.title[0].upper()}{step.title[1:]}:", ""] if step.title else []), "```sql"]
                lines += [*step.sql.split("\n"), "```", ""]
    return lines
