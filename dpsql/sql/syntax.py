"""What a statement says, before any name or type is known: the closed set of syntax nodes.

Names are folded to ASCII lower case, aliases keep the analyst's spelling, and every node knows its position:
``(line, column)`` in the analyst's text, both from 1. Positions and spellings do not take part in equality.

Operators are calls too. The names that are not SQL function names:
``+ - * / // % || = <> < <= > >= and or not negate like ilike is_null is_distinct_from``, ``[]`` for one element of a
list, by its place from 1, and ``row`` for ``(a, b)``.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import date, datetime
from decimal import Decimal
from typing import Literal as Choice
from typing import TypeAlias

__all__ = [
    "AllColumns",
    "Call",
    "CaseExpression",
    "Cast",
    "CreateSynthetic",
    "Derived",
    "Describe",
    "DropTable",
    "Exists",
    "Explain",
    "Expr",
    "Frame",
    "GroupAll",
    "GroupingSets",
    "InList",
    "InQuery",
    "IntervalLiteral",
    "Item",
    "JoinClause",
    "ListedRows",
    "Literal",
    "Name",
    "OrderItem",
    "Parameter",
    "Position",
    "QueryStatement",
    "Queryable",
    "Relation",
    "ScalarQuery",
    "Select",
    "SetOption",
    "ShowBudget",
    "ShowTables",
    "Statement",
    "TableFunctionCall",
    "TableName",
    "Union",
    "Window",
]

Position: TypeAlias = tuple[int, int] | None


@dataclass(frozen=True, slots=True)
class Node:
    """Anything in the tree."""

    position: Position = field(default=None, compare=False, kw_only=True)


# Expressions


@dataclass(frozen=True, slots=True)
class Name(Node):
    """A column, perhaps behind a table and a schema: ``v.cost`` is ``("v", "cost")``."""

    parts: tuple[str, ...]
    spelling: str = field(default="", compare=False)  # the last part as the analyst wrote it
    quoted: bool = field(default=False, compare=False)  # whether that part stands in double quotes


@dataclass(frozen=True, slots=True)
class Literal(Node):
    """A constant. Numbers are exact: int, or Decimal where written with a point or an exponent."""

    value: None | bool | int | Decimal | str | date | datetime


@dataclass(frozen=True, slots=True)
class Parameter(Node):
    """``?``, ``$1`` or ``$name`` (folded); the index counts from 0. With ``many`` it is a list: ``= ANY(?)``."""

    index: int
    many: bool = False
    name: str = ""


@dataclass(frozen=True, slots=True)
class IntervalLiteral(Node):
    """``INTERVAL '3' DAY``: a whole number of one unit, singular and in lower case."""

    count: int
    unit: str


@dataclass(frozen=True, slots=True)
class Call(Node):
    """A function or an operator with everything that was written between and after its parentheses."""

    name: str
    arguments: tuple[Expr, ...] = ()
    named: tuple[tuple[str, Expr], ...] = ()
    distinct: bool = False
    star: bool = False
    where: Expr | None = None
    order: tuple[OrderItem, ...] = ()
    within_group: bool = False  # whether ``order`` stood in WITHIN GROUP rather than inside the parentheses


@dataclass(frozen=True, slots=True)
class CaseExpression(Node):
    """``CASE [operand] WHEN .. THEN .. [ELSE default] END``."""

    operand: Expr | None
    branches: tuple[tuple[Expr, Expr], ...]
    default: Expr | None


@dataclass(frozen=True, slots=True)
class InList(Node):
    """``operand [NOT] IN (values)``."""

    operand: Expr
    values: tuple[Expr, ...]
    negated: bool


@dataclass(frozen=True, slots=True)
class InQuery(Node):
    """``operand [NOT] IN (SELECT ..)``."""

    operand: Expr
    query: Queryable
    negated: bool


@dataclass(frozen=True, slots=True)
class Exists(Node):
    """``[NOT] EXISTS (SELECT ..)``."""

    query: Queryable
    negated: bool


@dataclass(frozen=True, slots=True)
class ScalarQuery(Node):
    """``(SELECT ..)`` where a value is expected."""

    query: Queryable


@dataclass(frozen=True, slots=True)
class Cast(Node):
    """``CAST(operand AS type)``, ``operand::type``; ``safe`` for TRY_CAST. Types look like ``decimal(18,3)``."""

    operand: Expr
    type_name: str
    safe: bool
    spelling: str = field(default="", compare=False)  # the type as the analyst wrote it


@dataclass(frozen=True, slots=True)
class AllColumns(Node):
    """``*`` or ``table.*`` in a select list, without some columns, and with entries for others: REPLACE, RENAME."""

    table: str | None
    without: tuple[str, ...] = ()
    instead: tuple[tuple[str, Item], ...] = ()


@dataclass(frozen=True, slots=True)
class Frame(Node):
    """``ROWS BETWEEN start AND end``, or RANGE: ends are rows from the current one, None at the partition's own end."""

    rows: bool
    start: int | None
    end: int | None


@dataclass(frozen=True, slots=True)
class Window(Node):
    """``call OVER (PARTITION BY .. ORDER BY .. frame)``; the frame is None where it is the usual one."""

    call: Call
    partition: tuple[Expr, ...]
    order: tuple[OrderItem, ...]
    frame: Frame | None


Expr: TypeAlias = (
    Name
    | Literal
    | Parameter
    | IntervalLiteral
    | Call
    | CaseExpression
    | InList
    | InQuery
    | Exists
    | ScalarQuery
    | Cast
    | AllColumns
    | Window
)


@dataclass(frozen=True, slots=True)
class OrderItem(Node):
    """One key of an ORDER BY. NULLs come last unless asked first, in both directions, as in DuckDB."""

    expression: Expr
    descending: bool
    nulls_first: bool


# Relations


@dataclass(frozen=True, slots=True)
class TableName(Node):
    """A table, perhaps behind a schema and a catalog."""

    name: tuple[str, ...]
    alias: str | None


@dataclass(frozen=True, slots=True)
class Derived(Node):
    """``(SELECT ..) AS alias`` in FROM."""

    query: Queryable
    alias: str | None


@dataclass(frozen=True, slots=True)
class JoinClause(Node):
    """Two relations; a comma is a cross join. Any other has ``on`` or ``using``, or is ``natural``."""

    left: Relation
    right: Relation
    kind: Choice["inner", "left", "right", "full", "cross"]
    on: Expr | None
    using: tuple[str, ...]
    natural: bool = False


@dataclass(frozen=True, slots=True)
class TableFunctionCall(Node):
    """``f((SELECT ..), name => value) AS alias`` in FROM; a query is a `ScalarQuery` among the call's arguments."""

    call: Call
    alias: str | None


@dataclass(frozen=True, slots=True)
class ListedRows(Node):
    """``(VALUES (1, 'a'), (2, 'b')) AS t (x, y)``, ``UNNEST([1, 2]) AS t (x)``: rows that the statement holds."""

    rows: tuple[tuple[Expr, ...], ...]
    names: tuple[str, ...]
    alias: str | None


Relation: TypeAlias = TableName | Derived | JoinClause | TableFunctionCall | ListedRows


# Queries


@dataclass(frozen=True, slots=True)
class Item(Node):
    """One entry of a select list. ``text`` is the column's name where no alias is given, as DuckDB names it."""

    expression: Expr
    alias: str | None
    text: str = field(compare=False)

    @property
    def name(self) -> str:
        """What the output column is called."""
        return self.text if self.alias is None else self.alias


@dataclass(frozen=True, slots=True)
class GroupAll(Node):
    """``GROUP BY ALL``."""


@dataclass(frozen=True, slots=True)
class GroupingSets(Node):
    """GROUPING SETS, ROLLUP and CUBE, multiplied out."""

    sets: tuple[tuple[Expr, ...], ...]


@dataclass(frozen=True, slots=True)
class Select(Node):
    """One SELECT with all its clauses.

    ``options`` is its WITH DIFFERENTIAL_PRIVACY OPTIONS clause; ``lists``: a keyword or SET lists its groups.
    """

    items: tuple[Item, ...]
    source: Relation | None = None
    where: Expr | None = None
    group_by: tuple[Expr, ...] | GroupAll | GroupingSets = ()
    having: Expr | None = None
    order_by: tuple[OrderItem, ...] = ()
    limit: int | Parameter | None = None
    offset: int | Parameter | None = None
    distinct: bool = False
    options: tuple[tuple[str, Expr], ...] | None = None
    ctes: tuple[tuple[str, Queryable], ...] = ()
    lists: bool = field(default=False, compare=False)


@dataclass(frozen=True, slots=True)
class Union(Node):
    """``left UNION [ALL] right``."""

    left: Queryable
    right: Queryable
    all: bool
    ctes: tuple[tuple[str, Queryable], ...] = ()


Queryable: TypeAlias = Select | Union


# Statements


@dataclass(frozen=True, slots=True)
class QueryStatement(Node):
    """A statement that asks for an answer."""

    select: Queryable


@dataclass(frozen=True, slots=True)
class Explain(Node):
    """``EXPLAIN SELECT ..``, ``EXPLAIN CREATE SYNTHETIC TABLE ..``: the quote."""

    query: QueryStatement | CreateSynthetic


@dataclass(frozen=True, slots=True)
class ShowBudget(Node):
    """``SHOW BUDGET``."""


@dataclass(frozen=True, slots=True)
class ShowTables(Node):
    """``SHOW TABLES``."""


@dataclass(frozen=True, slots=True)
class Describe(Node):
    """``DESCRIBE table``, or ``DESCRIBE table.column``."""

    table: TableName


@dataclass(frozen=True, slots=True)
class SetOption(Node):
    """``SET name = value``; ``RESET name`` and ``SET name = NULL`` or ``DEFAULT`` carry ``Literal(None)``."""

    name: str
    value: Literal


@dataclass(frozen=True, slots=True)
class CreateSynthetic(Node):
    """``CREATE SYNTHETIC TABLE name WITH (option = constant, ..) AS SELECT ..``."""

    name: str
    options: tuple[tuple[str, Literal], ...]
    query: QueryStatement


@dataclass(frozen=True, slots=True)
class DropTable(Node):
    """``DROP TABLE name``."""

    name: str


Statement: TypeAlias = (
    QueryStatement | Explain | ShowBudget | ShowTables | Describe | SetOption | CreateSynthetic | DropTable
)
