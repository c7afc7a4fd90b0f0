"""The quote of a prepared statement: each column's mechanism, noise and expected error, before anything is spent."""

from __future__ import annotations

from dpsql.answer import Quote, QuoteColumn
from dpsql.plan.expressions import columns_of
from dpsql.plan.nodes import Column
from dpsql.prepare import Measured, Prepared
from dpsql.privacy.loss import summary

__all__ = ["quote"]


def quote(prepared: Prepared, repeats_left: int | None) -> Quote:
    """What a prepared statement would cost and how precise it would be.

    Args:
        prepared: The statement.
        repeats_left: How often the budget would still grant it.
    """
    by_name = {measured.aggregate.name: measured for measured in prepared.measured if measured.grouping == 0}
    columns = []
    shown = set()
    for output in prepared.plan.outputs:
        for column in columns_of(output.expression):
            measured = by_name.get(column.name)
            if measured is None:
                continue
            bare = isinstance(output.expression, Column)
            columns.append(_column(output.name if bare else f"{output.name}: {measured.aggregate.text}", measured))
            shown.add(measured.aggregate.name)
    hidden = [_column(measured.aggregate.text, measured) for name, measured in by_name.items() if name not in shown]
    return Quote(
        cost=summary(prepared.loss),
        columns=(*columns, *hidden),
        sql="\n".join(reading.statement.sql for reading in prepared.readings),
        repeats_left=repeats_left,
        notes=_notes(prepared),
    )


def _column(name: str, measured: Measured) -> QuoteColumn:
    release = measured.choice.release
    return QuoteColumn(
        name=name,
        mechanism=release.mechanism,
        loss=summary(release.loss),
        sensitivity=release.sensitivity,
        scale=release.scale,
        half_width=release.half_width,
        others=tuple(
            (other.mechanism, other.reason if other.half_width is None else f"±{other.half_width:.4g}, {other.reason}")
            for other in measured.choice.others
        ),
    )


def _notes(prepared: Prepared) -> tuple[str, ...]:
    notes = []
    contribution = prepared.measured[0].request.source.contribution
    if contribution.rows > 1:
        notes.append(f"One privacy unit counts with at most {contribution.rows} rows.")
    if prepared.measured[0].request.source.cap_groups:
        notes.append(f"One privacy unit counts in at most {contribution.groups} groups.")
    if prepared.selection is not None:
        notes.append("Groups are discovered: rare ones stay hidden. A declared domain would list every group.")
    elif prepared.plan.keys:
        listed = sum(len(grouping.groups or ()) for grouping in prepared.groupings)
        notes.append(f"All {listed} groups of the declared domain are listed, empty ones included.")
    if len(prepared.groupings) > 1:
        notes.append(
            f"Each aggregate is measured for {len(prepared.groupings)} groupings, at an equal part of its price."
        )
    if any(measured.aggregate.function == "avg" for measured in prepared.measured):
        notes.append("The error of a mean is for the number of rows that the policy guesses (rows_about).")
    return tuple(notes)
