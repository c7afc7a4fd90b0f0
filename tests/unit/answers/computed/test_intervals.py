"""Intervals of large answers take time in proportion to their rows, and are the same as row by row."""

from __future__ import annotations

from dataclasses import replace

import pytest

from dpsql.answers.answer import Answer
from dpsql.answers.computed.intervals import MOST_NODES, AnswerRows, Bars, output_intervals
from dpsql.answers.computed.totals import MOST_GROUPS
from dpsql.answers.finish import Intervals
from dpsql.answers.shown.screen import Ends
from dpsql.plan.nodes import Apply, Column, Expression
from dpsql.plan.over_answers.members import Members
from dpsql.plan.over_answers.ranged import Ranged
from dpsql.plan.over_answers.stages import AGGREGATES
from dpsql.plan.types import Facts, Type
from dpsql.plan.values.expressions import Resolver, as_constant
from dpsql.privacy.tables import GroupColumns
from dpsql.session import Session

X = Column("released", "x", Facts(Type.REAL, nullable=False))
BY_AGE = "SELECT sex, age, COUNT(*) AS n, SUM(weight) AS w FROM patients GROUP BY sex, age"


def counted(answer: Answer) -> tuple[Intervals, list[float]]:
    """The answer's intervals, and the levels at which those of released values are asked for."""
    held, asked = answer._intervals, list[float]()
    assert isinstance(held, Intervals)

    def counting(own: Bars) -> Bars:
        def bars(level: float) -> list[Ends]:
            asked.append(level)
            return list(own(level))

        return bars

    return replace(held, bars={name: counting(own) for name, own in held.bars.items()}), asked


def test_released_intervals_are_asked_for_once_a_level_whatever_the_groups(session: Session) -> None:
    answer = session.query(f"SELECT age, SUM(ABS(n)) AS s FROM ({BY_AGE}) GROUP BY age", epsilon=0.2)
    intervals, asked = counted(answer)
    assert len(answer.rows) > 100
    found = intervals(1, 0.95)
    assert found == answer.interval("s")
    assert asked == [1 - 0.05 / 3]  # three rows a group
    assert None not in (end for pair in found for end in pair)


def terms(count: int) -> Expression:
    """x * 0.5 + x * 1.5 + ..."""
    resolver, whole = Resolver(lambda _: None, ()), None
    for number in range(count):
        term = resolver.apply("*", (X, as_constant(number + 0.5)), None)
        whole = term if whole is None else resolver.apply("+", (whole, term), None)
    assert whole is not None
    return whole


def around(count: int, different: int) -> dict[str, Bars]:
    """Intervals of so many released rows, of which so many are different."""
    return {"x": lambda _: [(float(row % different), row % different + 3.5) for row in range(count)]}


def test_rows_with_the_same_ends_are_worked_out_once() -> None:
    rows, expression = MOST_NODES // 20, terms(50)
    assert Ranged(expression).size * rows > MOST_NODES
    found = output_intervals(expression, around(rows, 4), AnswerRows([()] * rows, range(rows)), 0.95)
    assert found[:8] == [(1250.0 * (row % 4), 1250.0 * (row % 4 + 3.5)) for row in range(8)]
    assert found == found[:4] * (rows // 4)


def test_of_a_row_that_stands_for_none_nothing_is_known() -> None:
    found = output_intervals(terms(2), around(3, 3), AnswerRows([()] * 3, [2, None, 0]), 0.95)
    assert found == [(4.0, 11.0), (None, None), (0.0, 7.0)]


def test_where_rows_times_nodes_are_too_many_nothing_is_said() -> None:
    expression = terms(50)
    rows = MOST_NODES // Ranged(expression).size + 1
    found = output_intervals(expression, around(rows, rows), AnswerRows([()] * rows, range(rows)), 0.95)
    assert found == [(None, None)] * rows


@pytest.mark.parametrize("apart", [False, True])
def test_where_rows_of_groups_times_nodes_are_too_many_nothing_is_said(*, apart: bool) -> None:
    of = terms(50)
    function = next(own for own in AGGREGATES["sum"] if own.parameters == (Type.REAL,))
    summed = Apply(function, (of,), Facts(Type.REAL))
    rows = MOST_NODES // Ranged(of).size + 1
    members = [Members((row,)) for row in range(rows)] if apart else [Members(range(rows))]
    held = AnswerRows([()] * len(members), [None] * len(members), members)
    assert output_intervals(summed, around(rows, rows), held, 0.95) == [(None, None)] * len(members)
    few = replace(held, rows=[()], members=[Members((1, 2))])
    assert output_intervals(summed, around(rows, rows), few, 0.95) == [(3 * 1250.0, 10 * 1250.0)]


@pytest.mark.slow
def test_where_windows_read_too_many_nodes_of_too_many_rows_nothing_is_said(session: Session) -> None:
    left, right = ("+".join(f"n * {number}.5" for number in range(first, first + 60)) for first in (0, 60))
    answer = session.query(f"SELECT sex, SUM(({left}) + ({right})) OVER () AS s FROM ({BY_AGE})", epsilon=0.2)
    intervals, asked = counted(answer)
    assert None not in intervals(1, 0.95)[0]
    times = MOST_GROUPS // len(answer.rows)
    rows = AnswerRows(answer.rows * times, list(range(len(answer.rows))) * times)
    together = replace(intervals.together, groups=GroupColumns.of(list(intervals.together.groups) * times, 2))
    asked.clear()
    assert replace(intervals, rows=rows, together=together)(1, 0.95) == [(None, None)] * len(rows.rows)
    assert asked == []
