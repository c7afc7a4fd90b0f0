"""What is expected of columns that are computed from several answers: of b.n / a.n, before anything is spent.

Each number of an answer is expected where `answers.quotes.foreseen` expects it there, and the computation is taken
over the box of these intervals, as that of the answer will be (`answers.several`).

Tests: tests/unit/answers/quotes/test_foreseen.py.
"""

from __future__ import annotations

from collections.abc import Sequence

from dpsql.answers.computed.totals import several_rows
from dpsql.answers.quotes.batch import Own
from dpsql.answers.quotes.foreseen import GUESSES, Foreseen, widest
from dpsql.answers.quotes.quoted import QuoteColumn, computed_column
from dpsql.plan.intervals import Interval
from dpsql.plan.known.relations import scans
from dpsql.plan.nodes import Column, Expression
from dpsql.plan.over_answers.ranged import Ranged
from dpsql.plan.over_answers.roles import answer_columns
from dpsql.plan.plans import Several
from dpsql.plan.values.expressions import columns_of, substituted
from dpsql.prepare import Prepared
from dpsql.privacy.loss import PrivacyLoss

__all__ = ["columns_together"]


def columns_together(several: Several, parts: Sequence[Own]) -> list[QuoteColumn]:
    """The lines of columns that are computed from several answers, or have another name than in theirs.

    Args:
        several: What is made of the answers.
        parts: What each of them is.
    """
    held = {output.name: output.expression for output in several.rows.stage.outputs}
    tables = {scan.alias: scan.table.answer for scan in scans(several.rows.relation)}
    found = list[QuoteColumn]()
    for output, over in zip(several.answer, answer_columns(several.after), strict=True):
        noised = any(column.name.startswith("a") for column in columns_of(over))
        if output.end is not None or not noised or not over.facts.type.numeric:
            continue
        expression = substituted(over, held)
        at = {column: _foreseen(column, tables, parts) for column in columns_of(expression)}
        if isinstance(expression, Column):
            named = _label(expression, tables, parts)
            if named is None or named == output.label:
                continue  # it has a line, as a column of its answer
        found.append(computed_column(output.label, PrivacyLoss(), _half_width(expression, at), expression))
    return found


def _half_width(expression: Expression, at: dict[Column, Foreseen | None]) -> float | None:
    """Half the width of its interval; None where nothing can be foretold."""
    known = {column: own for column, own in at.items() if own is not None}
    if len(known) < len(at) or several_rows(expression):
        return None
    ranged = Ranged(expression)
    found = list[Interval | None]()
    for guess in GUESSES:
        boxes = {column: own.at(guess, len(known)) for column, own in known.items()}
        if None in boxes.values():
            return None
        found.append(ranged.over(lambda node, boxes=boxes: boxes.get(node)))  # type: ignore[misc]  # bound now
    return widest(found)


def _foreseen(column: Column, tables: dict[str, int | None], parts: Sequence[Own]) -> Foreseen | None:
    """Where a number of an answer is expected; None for whatever is none."""
    number = tables.get(column.alias)
    own = None if number is None else parts[number]
    if not isinstance(own, Prepared) or not column.name.startswith("a") or not column.facts.type.numeric:
        return None
    return Foreseen(own, answer_columns(own.plan)[int(column.name[1:])])


def _label(column: Column, tables: dict[str, int | None], parts: Sequence[Own]) -> str | None:
    """What a column of an answer is called in its quote; None where it is of several answers."""
    number = tables.get(column.alias)
    own = None if number is None else parts[number]
    return own.plan.answer[int(column.name[1:])].label if isinstance(own, Prepared) else None
