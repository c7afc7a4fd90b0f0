"""Which offers may be taken without being named: those whose intervals count all that moves the answer.

A guess of the owner (``rows_about``, ``centre``, ``spread``, ``scale``) may make an answer better, never false. The
answers of laplace, gaussian and exponential are off by their noise alone, which their intervals count, whatever was
guessed. So are those of clamped but for what units have above the clamp: the answer says how many those are at most,
which is proved, and up to what amount of clipping the interval holds. Those of capped besides for what a cap of rows
or groups leaves out: its interval counts that as far as the noised sizes tell, and the answer says how much. Those of
located are off by their noise and by what it clips, which it measures and counts; a note says how many rows the noise
may hide there. Three others move the answer by an amount that depends on the data, is not known, and is in no interval:

- preprocessing moves it towards a centre. How far is bounded by nothing but the declared bounds, and the direction is
  not known either: values far below the centre may outweigh those above.
- friendly_core moves rows towards the place where most of them are.
- threshold, over listed groups, shows a group of up to T as 0. Its intervals hold, but noise on every group is off by
  about T / ln(1 / delta) at most likely, however many rows there are, and a guess of the rows that is too low would
  make an answer of zeros out of large groups.

So they are taken by name alone: the statement's (``mechanism = '...'``, or an option that is the mechanism's own), or
the owner's default for the column. Where a number has no bounds the first two are the only ones that answer, but for
quantiles. Then they are taken unasked for a whole table, which is what the column's centre, spread and scale describe,
where nothing else has an interval of two ends; their own then keep the ends alone that hold whatever the data are, of
most statistics none. A condition, a FILTER, a join or groups pick rows that may lie anywhere else.
"""

from __future__ import annotations

from collections.abc import Sequence

from dpsql.mechanisms.base import Mechanism, Request
from dpsql.plan.known.relations import conjuncts
from dpsql.plan.known.there import wanted
from dpsql.plan.nodes import Case, Column, Expression, Filter, PerUnit, Project, Relation, Scan
from dpsql.plan.values.hints import source

__all__ = ["only_named"]


def only_named(mechanism: Mechanism, request: Request) -> str | None:
    """Why an offer is taken by name alone, in one sentence; None where it may be taken unasked.

    Args:
        mechanism: Whose offer it is.
        request: What it answers.
    """
    if mechanism.is_named(request.options):
        return None
    if mechanism.name == "threshold":
        return None if request.selects else ZEROS
    if mechanism.name == "clamped":
        return SHRINKS if any(key.domain is None for key in request.source.keys) else None
    if mechanism.name not in ("preprocessing", "friendly_core"):
        return None
    if request.personal is not None or _bounded(request):
        return LEANS
    return None if _describes(request) else ELSEWHERE


def _bounded(request: Request) -> bool:
    """Whether every argument has bounds."""
    return request.grid is not None and (request.aggregate.second is None or request.second_grid is not None)


def _describes(request: Request) -> bool:
    """Whether the values are those of a whole column, or of one computed for each unit from all of its rows."""
    aggregate = request.aggregate
    columns = [source(x) for x in (aggregate.argument, aggregate.second) if x is not None]
    if aggregate.vector:
        *columns, complete = aggregate.vector
        bare = _complete(columns, complete)
    elif isinstance(aggregate.argument, Case) and isinstance(aggregate.second, Case):
        ((complete, first),), ((_, second),) = aggregate.argument.branches, aggregate.second.branches
        columns = [first, second]
        bare = _complete(columns, complete)
    else:
        bare = all(isinstance(column, Column) for column in columns)
    return bare and not request.source.keys and _whole(request.source.relation, columns)


def _complete(columns: Sequence[Expression], condition: Expression) -> bool:
    """Whether these are columns, and the condition on their rows says no more than that none of them is NULL."""
    return len(conjuncts(condition)) == len(columns) and all(isinstance(column, Column) for column in columns)


def _whole(relation: Relation, columns: Sequence[Expression]) -> bool:
    """Whether these are all rows of a table, but for those without a value in these columns."""
    match relation:
        case Scan():
            return True
        case Project():
            return not relation.distinct and _whole(relation.input, columns)
        case PerUnit():
            return _whole(relation.input, columns)
        case Filter(predicate=predicate):
            return all(wanted(part) in columns for part in conjuncts(predicate)) and _whole(relation.input, columns)
    return False


ZEROS = "it shows most groups of few rows as 0, however little the noise, so it is taken by name alone."
SHRINKS = (
    "a unit in many groups counts less in each, and where groups are discovered intervals did not hold that: it is "
    "taken by name alone."
)
LEANS = "it moves the answer by an amount that no interval counts, so it is taken by name alone."
ELSEWHERE = (
    "centre, spread and scale describe the whole column, and these rows may lie elsewhere: it is taken by name alone, "
    "and its interval covers the noise alone."
)
