"""What is expected of sums, means, differences and windows over an answer: by the law of their noise, as in the answer.

Every row is thought to hold the same values. Of windows the rows are told of which the interval is the widest: of a
running sum the last one, of a moving mean the first, which has the fewest rows to read.

Tests: tests/unit/answers/quotes/test_foreseen.py.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction

from dpsql.answers.computed.forms import ONE, Form, InForms, NoisedValue, NotLinearError, Over, parted
from dpsql.answers.computed.linear import most_rows, noise_of
from dpsql.answers.computed.totals import several_rows
from dpsql.answers.quotes.foreseen_rows import RowsForeseen
from dpsql.plan.intervals import Interval
from dpsql.plan.nodes import Apply, Column, Expression
from dpsql.plan.over_answers.members import picking
from dpsql.plan.over_answers.ranged import Told
from dpsql.prepare import Measured, Prepared

__all__ = ["RowForeseen", "parts_foreseen"]


def parts_foreseen(prepared: Prepared, expression: Expression, measured: Sequence[Measured]) -> InForms | None:
    """The forms that a column of the answer is expected to be made of; None where each value is taken for itself.

    Args:
        prepared: The statement.
        expression: The column, over released values and what rows are grouped by.
        measured: What is measured for it.
    """
    names = {own.aggregate.name for own in measured}
    plain = {own.aggregate.name for own in measured if noise_of(own.choice.release) is not None}
    if len(prepared.groupings) > 1 or picking(prepared.plan) & {own.name for own in prepared.plan.aggregates}:
        return None
    if (RowsForeseen(prepared).count or 0) > most_rows(several_rows(expression)):
        return None
    found = parted(expression, names, plain)
    return found if found is not None and found.nearer else None


@dataclass(frozen=True, slots=True)
class RowForeseen:
    """One row of an answer, number 0, and those that it reads, before anything is released.

    Attributes:
        rows: What is known of all of them.
        measured: What each row holds, by name.
        values: About what each of these is.
        keys: What is known of what it is grouped by.
        known: What several rows read of one.
    """

    rows: RowsForeseen
    measured: Mapping[str, Measured]
    values: Mapping[str, Fraction]
    keys: Mapping[str, Told]
    known: dict[tuple[int, int], Form | None] = field(default_factory=dict)

    def column(self, column: Column, row: int) -> Form | None:
        name = column.name
        if name in self.measured:
            noise = noise_of(self.measured[name].choice.release)
            if noise is None:
                raise NotLinearError
            law, step, _ = noise
            return Form(Fraction(0), {NoisedValue((name, row), law, step, self.values[name]): ONE})
        known = self.keys.get(name)
        if not isinstance(known, Interval) or known.low is None or known.low != known.high:
            raise NotLinearError
        return Form(known.low, {})

    def over(self, node: Over) -> tuple[Expression | None, Sequence[int]]:
        found = self.rows.counted(node) if isinstance(node, Apply) else self.rows.read(node)
        if found is None:
            raise NotLinearError
        return found
