"""Windows over the rows of one privacy unit, in a sub-query: which visit of a patient is the first, what the one before
it cost. The rows stay, each with more columns; what those say follows from rows of the same unit alone.

Theorem. A unit's arrival or departure changes no row of another unit, whatever the engine does with rows that the
order of a window leaves equal. So the stability is that of the rows below (`stability.rows_per_unit`).

Proof. Partitions hold the unit, so a window sees rows of one unit. Where its value depends on how equal rows are put in
order, they are put in the order of their places, a column of the rows below. Those of a bounded table follow from the
unit's own rows (`owner.building.caps.placed`), and no two of its rows have one place. Elsewhere a unit's rows are
numbered in the order of all that is read of them: rows that this order leaves equal are equal in all of it, so that
whichever comes first, a unit has the same rows with the same places. All windows follow from rows and places.  QED

Sums and means of reals depend on the order in which they are added up: sums are of whole numbers alone.

Tests: tests/unit/plan/rows/test_unit_windows.py, tests/sql.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from fractions import Fraction

from dpsql.errors import UnsupportedQuery
from dpsql.plan.aggregates import FUNCTIONS, Kind
from dpsql.plan.catalog import RANK
from dpsql.plan.functions import INTEGER_LIMIT
from dpsql.plan.intervals import Interval
from dpsql.plan.known.conditions import bare_identity, merged_column, output_column, refuse_identifying, windows_in
from dpsql.plan.known.relations import is_public, names_unit, unit_of
from dpsql.plan.known.stability import rows_per_unit
from dpsql.plan.nodes import (
    Column,
    Constant,
    Expression,
    Filter,
    Order,
    Project,
    Relation,
    Scan,
    Semi,
    Windowed,
)
from dpsql.plan.rows.windows import NAMES as WINDOWED
from dpsql.plan.rows.windows import NUMBER_ROWS, RANKS, SHOWING, UNIT_SUM, refuse_over_rows, windowed
from dpsql.plan.types import Facts, Type
from dpsql.plan.values.expressions import Resolver
from dpsql.plan.values.people_windows import instead
from dpsql.plan.values.ranges import DATED, range_of
from dpsql.sql import syntax

__all__ = ["UnitWindows", "over_units"]


COUNTING = tuple(row.name for row in FUNCTIONS.values() if row.kind is Kind.COUNT and row.name in WINDOWED)
EXTREMES = tuple(row.name for row in FUNCTIONS.values() if row.one_of_them and row.name in WINDOWED)
NAMES = (*RANKS, *SHOWING, *COUNTING, *EXTREMES, UNIT_SUM.name)
PLACE = "place"  # The column that numbers a unit's rows.


def over_units(
    query: syntax.Select, relation: Relation, names: Resolver, alias: Callable[[], str]
) -> UnitWindows | None:
    """What resolves a select list that has windows over the rows of a unit each; None where it has no windows.

    Args:
        query: The sub-query.
        relation: Its FROM and WHERE.
        names: Resolves expressions over those rows.
        alias: Makes a new alias of the plan's own.

    Raises:
        UnsupportedQuery: It has some, over public rows.
    """
    if is_public(relation) or not any(windows_in(item.expression) for item in query.items):
        refuse_over_rows(query, relation)
        return None
    return UnitWindows(relation, names, alias(), alias())


@dataclass(slots=True)
class UnitWindows:
    """The select list of one such sub-query while it is resolved.

    Attributes:
        below: The rows that the windows go over.
        names: Resolves expressions over them.
        inner: The plan's alias of those rows with what is read of them.
        outer: The plan's alias of the same rows with windows.
        read: What is read of a row below.
        windows: Over what was read.
    """

    below: Relation
    names: Resolver
    inner: str
    outer: str
    read: dict[Expression, Column] = field(default_factory=dict)
    windows: dict[Windowed, Column] = field(default_factory=dict)

    def resolver(self) -> Resolver:
        """Resolves expressions over the rows with windows."""
        return Resolver(self._lookup, self.names.parameters)

    def passed(self, expression: Expression) -> Expression:
        """What stands beside the windows of a row: what it holds already."""
        return expression if isinstance(expression, Constant) else self._outer(self._held(expression))

    def relation(self) -> Relation:
        """The rows, each with its windows."""
        unit = self._unit(None)
        named = [(column.name, own) for own, column in self.read.items()]
        inner = Project(self.below, self.inner, (*named, (PLACE, self._numbered(unit))))
        columns = [(column.name, column) for column in self.read.values()]
        return Project(inner, self.outer, (*columns, *((column.name, own) for own, column in self.windows.items())))

    def _numbered(self, unit: Column) -> Expression:
        """What tells rows of one unit apart: the places that a table's rows have, or numbers in the order of it all."""
        scan = self.below
        while isinstance(scan, Filter | Semi):
            scan = scan.input
        if isinstance(scan, Scan) and scan.table.ranked:
            return Column(scan.alias, RANK, self._place.facts)
        order = tuple(Order(own, descending=False, nulls_first=True) for own in self.read if own != unit)
        return Windowed(NUMBER_ROWS, (), (unit,), order, None, ties=False, facts=self._place.facts)

    @property
    def _place(self) -> Column:
        return Column(self.inner, PLACE, self._numbers(1))

    def _numbers(self, least: int) -> Facts:
        """Of a number of rows of one unit."""
        return Facts(Type.INTEGER, Fraction(least), Fraction(rows_per_unit(self.below)), False, Fraction(1))

    def _lookup(self, node: syntax.Expr) -> Expression | None:
        if isinstance(node, syntax.Window):
            return self._window(node)
        if isinstance(node, syntax.Name | syntax.ScalarQuery):
            return self.passed(self.names.resolve(node))
        return None

    def _held(self, expression: Expression) -> Column:
        """The column of what is read of a row."""
        if expression not in self.read:
            self.read[expression] = output_column(self.inner, f"c{len(self.read)}", expression)
        return self.read[expression]

    def _outer(self, column: Column) -> Column:
        return output_column(self.outer, column.name, column)

    def _unit(self, position: syntax.Position) -> Column:
        unit = unit_of(self.below)
        if unit is None:
            raise UnsupportedQuery(
                "rows that have lost their privacy unit can only be aggregated.", construct="window function",
                position=position, hint="Keep the unit among the columns of the sub-query.",
            )  # fmt: skip
        return unit

    def _window(self, node: syntax.Window) -> Column:
        name = node.call.name
        if name not in NAMES:
            self._refuse_others(node)
            raise UnsupportedQuery(
                "over the rows of one unit it is not supported.", construct=f"{name.upper()} .. OVER",
                position=node.position,
                hint=f"{', '.join(map(str.upper, NAMES))} are. For means of a unit join a sub-query that is grouped by "
                "it: (SELECT unit, AVG(x) AS mean FROM t GROUP BY unit).",
            )  # fmt: skip
        own = windowed(node, self.names)
        self._check(own, node)
        unit, partition = self._unit(node.position), own.partition
        if not any(map(names_unit, partition)):  # a declared key belongs to one person
            partition = (unit, *partition)
        ties = own.ties or name in SHOWING
        order = [replace(term, expression=self._read_by(term.expression)) for term in own.order]
        over = replace(
            own,
            function=UNIT_SUM if own.function.name == UNIT_SUM.name else own.function,
            arguments=tuple(map(self._read_by, own.arguments)),
            partition=tuple(map(self._held, partition)),
            order=(*order, *((Order(self._place, descending=False, nulls_first=True),) if ties else ())),
            ties=False,
        )
        if over not in self.windows:
            self.windows[over] = self._column(f"w{len(self.windows)}", over)
        return self.windows[over]

    def _read_by(self, expression: Expression) -> Expression:
        return expression if isinstance(expression, Constant) else self._held(expression)

    def _of_several(self, node: syntax.Window) -> UnsupportedQuery:
        """Why a window sees no rows of several units."""
        unit = self._unit(node.position).name
        usual = (
            f"Write PARTITION BY {unit}: over rows a window stays within one person. Over groups it stands beside "
            "GROUP BY: RANK() OVER (ORDER BY COUNT(*) DESC)."
        )
        return UnsupportedQuery(
            "it looks at rows of several people.", construct="window function", position=node.position,
            hint=instead(node, unit=unit) or usual,
        )  # fmt: skip

    def _refuse_others(self, node: syntax.Window) -> None:
        """Refuses a function that goes over no unit's rows, where it would not stay within one anyway."""
        if not any(names_unit(self.names.resolve(key)) for key in node.partition):
            raise self._of_several(node)

    def _check(self, own: Windowed, node: syntax.Window) -> None:
        """Refuses windows over rows of several units, and those that tell who a row is of."""
        links = any(isinstance(key, Column) and key.link for key in own.partition)
        if not links and not any(map(names_unit, own.partition)):
            raise self._of_several(node)
        for key in own.partition:
            bare_identity(key, node.position)
        for argument in own.arguments:
            refuse_identifying(argument, "a window function", node.position)
        for term in own.order:
            bare_identity(term.expression, node.position)
        if own.function.name == UNIT_SUM.name:
            self._check_sum(own, node)
        if not all(isinstance(default, Constant) for default in own.arguments[2:]):
            raise UnsupportedQuery(
                "what it shows where there is no row is a constant here: not every engine takes a column.",
                construct=node.call.name.upper(), position=node.position,
                hint="Write COALESCE(LAG(x) OVER (..), y), or CASE WHEN ROW_NUMBER() OVER (..) = 1 THEN y ELSE .. END.",
            )  # fmt: skip
        ranged = own.function.result.numeric or own.function.result in DATED
        if own.function.name in EXTREMES and not ranged:
            raise UnsupportedQuery(
                "over the rows of one unit it is of numbers, days and moments.", construct=node.call.name.upper(),
                position=node.position,
                hint=f"Write FIRST_VALUE(x) OVER (PARTITION BY unit ORDER BY x{' DESC' * (node.call.name == 'max')}).",
            )  # fmt: skip

    def _check_sum(self, own: Windowed, node: syntax.Window) -> None:
        if own.function.result is not Type.INTEGER:
            raise UnsupportedQuery(
                "over the rows of one unit it is of whole numbers: sums of others depend on the order of the rows.",
                construct="SUM", position=node.position,
                hint="Write SUM(CAST(round(x * 100) AS BIGINT)) OVER (..) / 100. For totals of a unit join a sub-query "
                "that is grouped by it: (SELECT unit, SUM(x) AS total FROM t GROUP BY unit).",
            )  # fmt: skip
        most = rows_per_unit(self.below)
        if not range_of(own.arguments[0], hard=True).within(INTEGER_LIMIT // most):
            raise UnsupportedQuery(
                "the sum could be too large for the engine.", construct="SUM", position=node.position,
                hint="Declare or narrow the bounds of its columns.",
            )  # fmt: skip

    def _column(self, name: str, own: Windowed) -> Column:
        """What is known of a window's values."""
        function = own.function.name
        if function == UNIT_SUM.name:
            most = Interval.point(rows_per_unit(self.below))
            each, reach = (range_of(own.arguments[0], hard=hard) for hard in (False, True))
            ends = each.hull(each * most)
            facts = Facts(Type.INTEGER, ends.low, ends.high, True, Fraction(1))
            return Column(self.outer, name, facts, reach=None if facts.bounded else reach.hull(reach * most))
        if function in (*RANKS, *COUNTING):
            return Column(self.outer, name, self._numbers(1 if function in RANKS else 0))
        shown = [own.arguments[0], *own.arguments[2:]]
        column = merged_column(self.outer, name, shown)
        return replace(column, facts=replace(column.facts, nullable=True))
