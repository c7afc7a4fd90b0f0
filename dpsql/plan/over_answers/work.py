"""What a statement has an engine do, at the most, by what is public: too much of it is refused before the charge.

A statement that takes too long, or more memory than there is, fails after the charge. So these are bounded: what the
rows of one unit need (`unit_work`), the rows of public tables beside them, the letters of texts that one row is worked
out by (an engine works on 2,048 rows at once), the letters of all groups, and how many values are drawn among others.

Tests: tests/unit/plan/over_answers/test_work.py.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import chain

from dpsql.errors import UnsupportedQuery
from dpsql.plan.aggregates import FUNCTIONS
from dpsql.plan.catalog import Catalog
from dpsql.plan.known.relations import is_public, scans
from dpsql.plan.known.stability import rows_per_unit
from dpsql.plan.nodes import Apply, Expression, Join, Relation
from dpsql.plan.over_answers.joined_answers import most_joined, rows_of_answer
from dpsql.plan.over_answers.written_out import refuse_blown_up
from dpsql.plan.plans import WHOLE, AnyPlan, Plan, PublicPlan, Several, Stage
from dpsql.plan.rows.unit_work import all_of, parts_of, refuse_heavy_unit, values_of
from dpsql.plan.types import Type
from dpsql.plan.values.applied import Position
from dpsql.plan.values.expressions import arguments_of, columns_of
from dpsql.plan.values.ranges import letters_of

__all__ = ["MOST_OF_CONSTANTS", "refuse_heavy"]

PLAIN = 1_000
"""Letters of a row that are always possible: a hundred functions. It is a choice: texts that people write are far
below."""
MOST_OF_A_ROW = 200_000
"""Letters of a row: 400 MB where 2,048 rows are worked out at once. It is a choice within the least memory that a
policy may give, 1 GiB."""
MOST_OF_GROUPS = 200_000_000
"""Letters of all groups together: they are held several times, and stored in one piece of at most 10^9 bytes. It is a
choice within the least memory, too."""
MOST_DRAWS = 100_000
"""Values of listed groups that are drawn among many, one after the other. It is a choice: one takes 0.25 ms (measured),
so they take as long as an engine may."""
MOST_JOINED = 2_000_000_000
"""Rows of people with what they are joined with, by the policy's guess of a table's rows, or of public tables alone of
which all rows meet. It is a choice: DuckDB makes so many in about ten seconds (measured with a comparison of each)."""
MOST_OF_CONSTANTS = 1_000_000
"""Values and letters of an answer that reads no table, and rows that it puts together. It is a choice: a statement
costs nothing, and people write a few."""
MOST_PUBLIC = 20_000_000
"""Rows of public tables that are joined beside people's: DuckDB joins so many in about a second. It is a choice; a
table that has more by itself is possible."""


def refuse_heavy(plan: AnyPlan, position: Position, catalog: Catalog) -> None:
    """Refuses what may take an engine, or what follows it, too long or too much memory.

    Args:
        plan: What is asked.
        position: Where the statement begins, for messages.
        catalog: Whose engine is asked.

    Raises:
        UnsupportedQuery: It may.
    """
    refuse_blown_up(plan, position)
    _refuse(plan, catalog)


def _refuse(plan: AnyPlan, catalog: Catalog) -> None:
    if isinstance(plan, Several):
        for part in plan.parts:
            _refuse(part, catalog)
        joined = most_joined(plan.after.relation, plan.parts)
        of_parts = [(part, max(joined, rows_of_answer(part))) for part in plan.parts]
        _refuse_letters([*of_parts, (plan.after, joined)])
        if all(isinstance(part, PublicPlan) and not scans(part.relation) for part in plan.parts):
            _refuse_constants(plan.after, joined, joined)
    elif isinstance(plan, Plan):
        refuse_heavy_unit(plan, catalog)
        _refuse_of_relation(plan.relation)
        if sum(map(letters, chain(all_of(plan.relation), values_of(plan)))) > MOST_OF_A_ROW:
            raise _too_long()
        _refuse_letters([(plan, rows_of_answer(plan))])
        _refuse_draws(plan)
        for first in plan.awaits:
            _refuse(first, catalog)
    elif not scans(plan.relation):
        _refuse_constants(plan, most_joined(plan.relation, ()), rows_of_answer(plan))
    elif _crosses(plan.relation) and (found := most_joined(plan.relation, ())) > MOST_JOINED:
        raise UnsupportedQuery(
            f"the public tables that it joins may have {found:,} rows together, and {MOST_JOINED:,} are possible.",
            construct="JOIN", hint="Join them ON equal columns, or choose fewer rows of them first.",
        )  # fmt: skip
    else:
        _refuse_letters([(plan, rows_of_answer(plan))])


def _refuse_constants(part: Plan | PublicPlan, joined: int, rows: int) -> None:
    """Refuses an answer that reads no table, where much is made of little.

    Args:
        part: What is answered.
        joined: Rows that are put together.
        rows: Rows of the answer.
    """
    each = len(part.answer) + sum(map(_shown, _of_answer(part)))
    found = max(joined, rows * each)
    if found > MOST_OF_CONSTANTS:
        raise UnsupportedQuery(
            f"it reads no table, and may make {found:,} values and letters; {MOST_OF_CONSTANTS:,} are possible.",
            construct="SELECT", hint="Write fewer rows and shorter texts, or read a table.",
        )  # fmt: skip


def _shown(expression: Expression) -> int:
    """The letters of a text; 0 for anything else."""
    return letters_of(expression) if expression.facts.type is Type.TEXT else 0


def _crosses(relation: Relation) -> bool:
    """Whether all rows of tables may meet, since no columns are equal."""
    if isinstance(relation, Join) and not relation.equal and not relation.outer:
        return True
    return any(below is not None and _crosses(below) for _, below in parts_of(relation))


def letters(expression: Expression) -> int:
    """Letters that are written to work it out for one row, beyond those of the row's own texts."""
    return _written(expression) + sum(map(letters, arguments_of(expression)))


def _written(expression: Expression) -> int:
    """The letters of its own text alone, beyond those of the longest text that it is made of."""
    if not isinstance(expression, Apply) or expression.facts.type is not Type.TEXT:
        return 0
    texts = [column.letters for column in columns_of(expression) if column.facts.type is Type.TEXT]
    return max(0, letters_of(expression) - max(texts, default=0))


def _refuse_of_relation(relation: Relation) -> None:
    """Refuses too many rows below the groups: of all people, by what is thought of them, and of public tables."""
    if is_public(relation):
        alone = max((scan.table.rows for scan in scans(relation)), default=0)
        found = most_joined(relation, ())
        if found > max(MOST_PUBLIC, alone):
            raise UnsupportedQuery(
                f"the public tables that it joins may have {found:,} rows together, and {MOST_PUBLIC:,} are possible.",
                construct="JOIN", hint="Join them on columns whose values differ, or choose fewer rows of them first.",
            )  # fmt: skip
        return
    for _, below in parts_of(relation):
        if below is not None:
            _refuse_of_relation(below)
    rows, tables = rows_per_unit(relation), scans(relation)
    alone = max(scan.table.rows_per_unit for scan in tables)
    about = max(scan.table.rows_about for scan in tables if not scan.table.public) * (rows // alone)
    if rows > alone and about > MOST_JOINED:
        raise UnsupportedQuery(
            f"what it joins may have {about:,} rows together, by the policy's guess.", construct="JOIN",
            hint="Join fewer rows to each, or aggregate before.",
        )  # fmt: skip


def _refuse_draws(plan: Plan) -> None:
    """Refuses more values than are drawn in time, where the groups are listed: all of them have one."""
    draws = rows_of_answer(replace(plan, stages=(), limit=None, cut=WHOLE))
    draws *= sum(FUNCTIONS[aggregate.function].drawn for aggregate in plan.aggregates)
    if draws > MOST_DRAWS and all(key.domain is not None for key in plan.keys):
        raise UnsupportedQuery(
            f"its groups have {draws:,} quantiles, least, largest or most frequent values together, and "
            f"{MOST_DRAWS:,} are possible.", construct="GROUP BY",
            hint="Group by fewer values, or ask for fewer quantiles.",
        )  # fmt: skip


def _refuse_letters(parts: Iterable[tuple[Plan | PublicPlan, int]]) -> None:
    """Refuses texts that are too long for one row of an answer, or for all of them.

    Args:
        parts: What is answered, and how many rows its texts may stand in.
    """
    whole = 0
    for part, rows in parts:
        each = sum(map(letters, _of_answer(part)))
        if each > MOST_OF_A_ROW:
            raise _too_long()
        whole += rows * each if each > PLAIN else 0
    if whole > MOST_OF_GROUPS:
        raise UnsupportedQuery(
            f"the texts of all groups may have {whole:,} letters together, and {MOST_OF_GROUPS:,} are possible.",
            construct="SELECT", hint="Write shorter texts, or group by fewer values.",
        )  # fmt: skip


def _of_answer(part: Plan | PublicPlan) -> Iterator[Expression]:
    """What is worked out for each group, the keys themselves among it."""
    stages: Iterable[Stage] = (part.stage,) if isinstance(part, PublicPlan) else part.stages
    if isinstance(part, Plan):
        yield from (key.expression for key in part.keys)
        yield from (output.expression for output in part.outputs)
        yield from (own for own in (part.having,) if own is not None)
        yield from (order.expression for order in part.order_by)
    for stage in stages:
        yield from (output.expression for output in stage.outputs)
        yield from (own for own in (stage.where, stage.having) if own is not None)
        yield from stage.group_by
        yield from (order.expression for order in stage.order_by)


def _too_long() -> UnsupportedQuery:
    return UnsupportedQuery(
        f"the texts that it works out for one row may have more than {MOST_OF_A_ROW:,} letters together.",
        construct="expression", hint="Write shorter texts, or fewer of them.",
    )  # fmt: skip
