"""What the rows of one unit have an engine do, and hold at once, at the most: by what is public.

Where one person's rows alone may take an engine past its deadline or its memory, that a statement fails tells of this
person, whatever it cost. So a statement is refused before the charge where the rows of one unit, in all that it does
with them together, may take more than a small part of the one or of the other.

Each node of a plan is counted with as many rows as one unit can have there (`stability`). What it works out takes as
long as its functions do for the longest texts that there may be (`ranges.letters_of`); what passes by is held for as
many rows as are worked on at once, and what is grouped, sorted or looked up in is held for all of them.

Tests: tests/unit/plan/rows/test_unit_work.py.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain

from dpsql.errors import UnsupportedQuery
from dpsql.limits import MOST_OPEN_GROUPS
from dpsql.plan.catalog import Catalog
from dpsql.plan.functions import Function, Spelt
from dpsql.plan.functions.patterns import NS_A_LETTER
from dpsql.plan.known.relations import aliases_of, is_public, most_met, scans
from dpsql.plan.known.stability import rows_per_unit, values_per_unit
from dpsql.plan.nodes import (
    Apply,
    Column,
    Expression,
    Filter,
    Join,
    PerUnit,
    Project,
    Relation,
    Semi,
    UnionAll,
    Windowed,
)
from dpsql.plan.plans import Plan
from dpsql.plan.types import Type
from dpsql.plan.values.expressions import arguments_of, columns_of
from dpsql.plan.values.ranges import letters_of, printed_size, value_of

__all__ = ["Load", "all_of", "loads_of_unit", "nanoseconds", "parts_of", "refuse_heavy_unit", "values_of"]

PART_OF_DEADLINE, PART_OF_MEMORY = 30, 8
"""One unit may take a thirtieth of the time, and an eighth of the memory. They are choices: an engine beside others
takes several times as long as alone, and holds what it groups two or three times."""
NS_A_NODE = 10  # Of a function on a row, or a row in a node, whatever their letters (measured).
NS_SORTED, NS_A_WINDOW = 3_000, 1_000
"""Of a row that is sorted for windows, and of each window on it, its letters apart (measured: up to 6 microseconds of
PostgreSQL's together, of DuckDB's up to 1.6)."""
NS_IN_FRAME = 100
"""Of a row in the frame of another one, where frames have a first row that moves: PostgreSQL looks through each of them
for its largest (measured: 75 to 110), and so does Spark for whatever is asked of it."""
PLAIN = 20_000
"""Nanoseconds that are always possible for a row that a unit has in its table: two thousand plain functions, or a look
through two texts of the greatest length that is the default. It is a choice."""
LETTER, VALUE = 4, 64
"""Bytes of a letter, and of a value that is held beside those of its text, of which an engine keeps 16 to 50."""
FEWER = "or join fewer rows to each of a unit. The owner may lower max_length of text columns, or rows_per_unit."
WORDS = {Filter: "WHERE", Semi: "IN", Project: "SELECT", PerUnit: "GROUP BY", UnionAll: "UNION ALL", Join: "JOIN"}
MOST_SPELT = 20_000
"""Nodes of all expressions of a statement in the engine's words. It is a choice: PostgreSQL reads and plans that many
in a quarter of a second."""
Spelling = Callable[[Function], Spelt]
AT_ONCE = 2 * 2_048  # Rows that are worked on at once: DuckDB's 2,048 in each of two threads.


@dataclass(frozen=True, slots=True)
class Load:
    """What some rows have an engine do.

    Attributes:
        rows: Of one unit, at the most.
        ns: Nanoseconds that it takes.
        held: Bytes that are held at once.
        construct: Where, for messages.
    """

    rows: int
    ns: int
    held: int
    construct: str


def refuse_heavy_unit(plan: Plan, catalog: Catalog) -> None:
    """Refuses what is too much for the rows of one unit.

    Args:
        plan: One answer.
        catalog: Whose engine has so much time and memory.

    Raises:
        UnsupportedQuery: It is.
    """
    _refuse_spelt([*values_of(plan), *all_of(plan.relation)], catalog.spelt)
    loads, seconds = loads_of_unit(plan, catalog.spelt), catalog.deadline / PART_OF_DEADLINE
    memory = catalog.memory // PART_OF_MEMORY
    ns, held = sum(load.ns for load in loads), sum(load.held for load in loads)
    if ns > seconds * 10**9:
        most = max(loads, key=lambda load: load.ns)
        raise UnsupportedQuery(
            f"one privacy unit may have {most.rows:,} rows there, and what is worked out for all of its rows may take "
            f"{ns / 10**9:,.1f} s, of which {seconds:,.1f} s are possible: no unit may show by the deadline.",
            construct=most.construct,
            hint=f"Write fewer functions and windows, shorter frames and texts, or simpler patterns; {FEWER}",
        )  # fmt: skip
    if held > memory:
        most = max(loads, key=lambda load: load.held)
        raise UnsupportedQuery(
            f"one privacy unit may have {most.rows:,} rows there, and what is held of all of its rows may take "
            f"{held >> 20:,} MiB, of which {memory >> 20:,} MiB are possible: no unit may show by the memory.",
            construct=most.construct, hint=f"Group by, count and join on shorter texts; {FEWER}",
        )  # fmt: skip
    possible = MOST_OPEN_GROUPS // PART_OF_MEMORY
    if (groups := _open_groups(plan)) > max(_alone(plan), possible):
        raise UnsupportedQuery(
            f"one privacy unit may be in {groups:,} groups, of which {possible:,} are possible: no unit may show by "
            "more groups than are read.", construct="GROUP BY",
            hint="Join fewer rows to each of a unit, or group by columns whose values are listed.",
        )  # fmt: skip


def _refuse_spelt(expressions: Sequence[Expression], spelt: Spelling) -> None:
    """Refuses what an engine's words for functions inside functions blow up: they say an argument several times."""
    nodes = 0
    for expression in expressions:
        nodes += printed_size(expression, MOST_SPELT, spelt)[0]
        if nodes > MOST_SPELT:
            raise UnsupportedQuery(
                f"the engine's words for its functions say their arguments several times, more than {MOST_SPELT:,} in "
                "all.", construct="SELECT", hint="Nest fewer functions, such as round, substr and casts of texts.",
            )  # fmt: skip


def _open_groups(plan: Plan) -> int:
    """In how many groups that nobody listed one unit can be."""
    keys = [key.expression for key in plan.keys]
    if all(key.domain is not None for key in plan.keys):
        return 0
    rows = rows_per_unit(plan.relation)
    return min(rows, values_per_unit(plan.relation, keys, missing=1) or rows)


def loads_of_unit(plan: Plan, spelt: Spelling = Spelt.as_written) -> Sequence[Load]:
    """What the rows of one unit have an engine do for an answer, step by step.

    Args:
        plan: One answer.
        spelt: How much the engine's words for a function have it do.
    """
    own = [*values_of(plan)]
    read = chain(*map(columns_of, own), *map(columns_of, all_of(plan.relation)))
    used = {(column.alias, column.name): column for column in read}
    count = _Count([*used.values()], _alone(plan), spelt)
    return [*count.below(plan.relation), *count.held(rows_per_unit(plan.relation), own)]


def _alone(plan: Plan) -> int:
    """The most rows that a unit has in a table that is read."""
    return max((scan.table.rows_per_unit for scan in scans(plan.relation)), default=0)


def values_of(plan: Plan) -> Iterator[Expression]:
    """What is worked out for each of the rows that an answer is about: keys, and what is aggregated."""
    yield from (key.expression for key in plan.keys)
    yield from (value for aggregate in plan.aggregates for value in aggregate.values)


@dataclass(frozen=True, slots=True)
class _Count:
    """Counts what one unit's rows need, node by node.

    Attributes:
        used: All columns that anything reads: joins carry these.
        alone: The most rows that a unit has in a table that is read.
        spelt: How much the engine's words for a function have it do.
    """

    used: Sequence[Column]
    alone: int
    spelt: Spelling

    def below(self, relation: Relation) -> Iterator[Load]:
        """The loads of a private relation and of all below it."""
        for own, below in parts_of(relation):
            if below is None:
                compared = _compared(relation) if isinstance(relation, Semi) else rows_per_unit(relation)
                yield self.passing(compared, own, WORDS[type(relation)])
            elif not is_public(below):
                yield from self.below(below)
                yield from self._of_rows(relation, below, own)

    def _of_rows(self, relation: Relation, below: Relation, own: Sequence[Expression]) -> Iterator[Load]:
        """The load of the rows of a relation below another one, which it passes, gathers, or looks up in."""
        rows, construct = rows_per_unit(below), WORDS[type(relation)]
        match relation:
            case Join() | Semi():
                aliases = aliases_of(below)
                yield from self.held(rows, [one for one in self.used if one.alias in aliases], construct)
            case PerUnit() | Project(distinct=True):
                yield from self.held(rows, own, construct)
            case Project() if any(isinstance(one, Windowed) for one in own):
                yield from self.held(rows, own, construct)
            case _:
                yield self.passing(rows, own, construct)

    def passing(self, rows: int, own: Sequence[Expression], construct: str) -> Load:
        """Rows for each of which something is worked out, and forgotten; of a column nothing but its being there."""
        worked = [one for one in own if not isinstance(one, Column)]
        windows = [one for one in worked if isinstance(one, Windowed)]
        sorts = NS_SORTED * len({(one.partition, one.order) for one in windows})
        each = NS_A_NODE * (1 + len(own) - len(worked)) + sorts
        each += sum(nanoseconds(one, self.spelt) + _in_window(one, rows) for one in worked)
        at_once = min(rows, AT_ONCE) * LETTER * sum(_written(one, self.spelt) for one in worked)
        return Load(rows, rows * each if rows > self.alone or each > PLAIN else 0, at_once, construct)

    def held(self, rows: int, own: Sequence[Expression], construct: str = "SELECT") -> Iterator[Load]:
        """Rows whose values are all held until the last of them is there."""
        yield self.passing(rows, own, construct)
        beside = VALUE if rows > self.alone else 0
        each = beside + sum(beside + LETTER * _letters(expression) for expression in own)
        yield Load(rows, 0, rows * each, construct)


def _in_window(expression: Expression, rows: int) -> int:
    """How long a window takes for a row of so many, beside what it reads of them."""
    if not isinstance(expression, Windowed):
        return 0
    found, frame = NS_A_WINDOW + NS_A_LETTER * sum(map(_letters, expression.parts)), expression.frame
    if frame is None or frame.start is None:
        return found
    within = rows if frame.end is None or not frame.rows else min(rows, frame.end - frame.start + 1)
    return found + NS_IN_FRAME * within


def _letters(expression: Expression) -> int:
    return letters_of(expression) if expression.facts.type is Type.TEXT else 0


def _written(expression: Expression, spelt: Spelling) -> int:
    """Letters of all texts that are made on the way to it."""
    own = _letters(expression) if isinstance(expression, Apply) else 0
    return own + sum(times * _written(argument, spelt) for argument, times in _copies(expression, spelt))


def nanoseconds(expression: Expression, spelt: Spelling = Spelt.as_written) -> int:
    """How long it takes at most to work it out for one row, in the engine's words for each function."""
    arguments = arguments_of(expression)
    found = NS_A_NODE + sum(times * nanoseconds(own, spelt) for own, times in _copies(expression, spelt))
    if not isinstance(expression, Apply):
        return found
    letters, own = [_letters(argument) for argument in arguments], spelt(expression.function)
    found += NS_A_NODE * (own.calls - 1) + NS_A_LETTER * _letters(expression)
    work = own.work or expression.function.work
    if work is None:
        return found + NS_A_LETTER * own.calls * sum(letters)
    return found + own.calls * work(letters, [value_of(argument) for argument in arguments])


def _copies(expression: Expression, spelt: Spelling) -> Iterator[tuple[Expression, int]]:
    """What an expression is directly made of, and how often it is worked out: a guard names what it guards again."""
    copies = spelt(expression.function).copies if isinstance(expression, Apply) else (1,)
    for place, argument in enumerate(arguments_of(expression)):
        yield argument, copies[min(place, len(copies) - 1)]


def _compared(relation: Semi) -> int:
    """Rows of one unit that are looked up; where more than equality decides, pairs of them with possible partners."""
    rows = rows_per_unit(relation.input)
    equal = [one for one in relation.on if isinstance(one, Apply) and one.function.name == "="]
    if len(equal) == len(relation.on):
        return rows
    if not is_public(relation.right):
        return rows * rows_per_unit(relation.right)
    sides = [one.arguments for one in equal if all(isinstance(side, Column) for side in one.arguments)]
    return rows * most_met(relation.right, tuple(sides))  # type: ignore[arg-type]  # pairs of columns


def all_of(relation: Relation) -> Iterator[Expression]:
    """What is worked out for each row of a relation, and of those below it."""
    for own, below in parts_of(relation):
        yield from own
        if below is not None:
            yield from all_of(below)


def parts_of(relation: Relation) -> Iterator[tuple[Sequence[Expression], Relation | None]]:
    """The relations below one, and what is worked out for the rows of each; behind them what is for pairs of rows."""
    match relation:
        case Filter():
            yield (relation.predicate,), relation.input
        case Semi():
            yield (), relation.input
            yield (), relation.right
            yield relation.on, None
        case Project():
            yield [own for _, own in relation.columns], relation.input
        case PerUnit():
            values = [value.argument for value in relation.values if value.argument is not None]
            yield [*(key for _, key in relation.keys), *values], relation.input
        case UnionAll():
            for part, columns in relation.parts:
                yield columns, part
        case Join():
            yield (), relation.left
            yield (), relation.right
            yield (*chain(*relation.equal), *relation.on), None
