"""Random statements of the dialect, drawn from a catalog: joins, conditions, keys, aggregates, HAVING, ORDER BY.

Numbers with a point are halves and quarters, which a double holds exactly: DuckDB computes with decimals where dpsql
computes with doubles. Divisors are constants other than 0, where DuckDB and dpsql agree.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import date
from fractions import Fraction
from functools import cache

from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st

from dpsql.plan.catalog import Catalog, ColumnInfo, TableInfo
from dpsql.plan.types import Facts, Type, Value

__all__ = ["Parted", "examples", "parted", "statements"]

Text = st.SearchStrategy[str]

NUMBERS = ("0", "1", "2", "7", "10", "40", "100", "0.5", "2.25")
PATTERNS = ("'a%'", "'%e%'", "'_o%'", "'%'", "''", "'S%, CA'")
UNITS = ("'year'", "'quarter'", "'month'", "'week'")
FIRST, LAST = date(1925, 1, 1), date(2026, 12, 31)
COMPARISONS = ("=", "<>", "<", "<=", ">", ">=")


@dataclass(frozen=True, eq=False)
class _Scope:
    """The columns at hand, as SQL, by type. Each is itself alone: what is drawn from it is built once."""

    columns: Sequence[tuple[str, ColumnInfo]]
    unit: str

    def of(self, *types: Type) -> list[tuple[str, ColumnInfo]]:
        return [(text, info) for text, info in self.columns if info.facts.type in types]


def examples(count: int, phases: Sequence[Phase] = (Phase.generate, Phase.shrink)) -> settings:
    """How so many random statements are drawn: as slowly as they are, and none is kept."""
    checks = list(HealthCheck)
    return settings(max_examples=count, deadline=None, database=None, phases=phases, suppress_health_check=checks)


def statements(catalog: Catalog) -> st.SearchStrategy[str]:
    """Statements over the tables of one policy."""
    return st.one_of([_statement(source, scope) for source, scope in _sources(catalog)])


@dataclass(frozen=True)
class Parted:
    """What is asked of the same rows at once and in parts.

    Attributes:
        source: What stands after FROM.
        unit: The column of the unit.
        key: What is grouped by; empty for nothing.
        number: What is summed up.
        condition: What parts the rows.
        public: Whether they are rows of a public table.
    """

    source: str
    unit: str
    key: str
    number: str
    condition: str
    public: bool = False


def parted(catalog: Catalog) -> st.SearchStrategy[Parted]:
    """Rows of one policy, and a condition that parts them."""
    public = [table for table in catalog.tables.values() if table.public]
    return st.one_of(
        [_parts(source, scope, False) for source, scope in _sources(catalog)]
        + [
            _parts(f"{table.name} AS p", _Scope(_columns(table, "p"), f"p.{table.key or min(table.columns)}"), True)
            for table in public
        ]
    )


@st.composite
def _parts(draw: st.DrawFn, source: str, scope: _Scope, public: bool) -> Parted:
    key = draw(_key(scope)) if draw(st.booleans()) else ""
    return Parted(source, scope.unit, key, draw(_number(scope, 2)), draw(_condition(scope, 2)), public)


@st.composite
def _queries(
    draw: st.DrawFn,
    source: str,
    conditions: Text,
    keys: st.SearchStrategy[list[str]],
    values: st.SearchStrategy[list[str]],
) -> str:
    groups = draw(keys)
    items = [f"{key} AS key{i}" for i, key in enumerate(groups)]
    items += [f"{value} AS value{i}" for i, value in enumerate(draw(values))]
    text = f"SELECT {', '.join(items)} FROM {source}"
    if draw(st.booleans()):
        text += f" WHERE {draw(conditions)}"
    if groups:
        numbers = range(len(groups))
        ways = ["ALL", ", ".join(f"key{i}" for i in numbers), ", ".join(groups), ", ".join(f"{i + 1}" for i in numbers)]
        text += f" GROUP BY {draw(st.sampled_from(ways))}"
    if draw(st.booleans()):
        text += f" HAVING COUNT(*) {draw(st.sampled_from(COMPARISONS))} {draw(st.integers(0, 60))}"
    if draw(st.booleans()) and groups:
        order = [f"{i + 1}{draw(st.sampled_from(['', ' DESC', ' NULLS FIRST']))}" for i in range(len(groups))]
        text += f" ORDER BY {', '.join(order)}"
        if draw(st.booleans()):
            text += f" LIMIT {draw(st.integers(0, 9))} OFFSET {draw(st.integers(0, 3))}"
    return text


def _statement(source: str, scope: _Scope) -> Text:
    keys = st.lists(_key(scope), max_size=2, unique=True)
    values = st.lists(_aggregate(scope), min_size=1, max_size=3)
    return _queries(source, _condition(scope, 2), keys, values)


def _sources(catalog: Catalog) -> Iterator[tuple[str, _Scope]]:
    """FROM: a private table, perhaps joined with a second one on the unit, perhaps with a public one on its key."""
    private = [table for table in catalog.tables.values() if not table.public]
    for first in private:
        unit = f"t0.{first.unit}"
        pairs = [(f"{first.name} AS t0", _columns(first, "t0")), *_with_windows(first)]
        for second in private:
            if second is not first:
                on = f"{second.name} AS t1 ON {unit} = t1.{second.unit}"
                columns = _columns(first, "t0") + _columns(second, "t1")
                pairs += [(f"{first.name} AS t0 {kind} {on}", columns) for kind in ("JOIN", "LEFT JOIN")]
                pairs += [(f"{first.name} AS t0 LEFT JOIN {on} AND {never}", columns) for never in _never(second, "t1")]
        for text, columns in pairs:
            yield text, _Scope(columns, unit)
            for own, info in columns:
                for table in catalog.tables.values():
                    if table.public and table.key is not None and _named_alike(info, table):
                        joined = f"{text} JOIN {table.name} AS p ON {own} = p.{table.key}"
                        yield joined, _Scope(columns + _columns(table, "p"), unit)


def _with_windows(table: TableInfo) -> Iterator[tuple[str, list[tuple[str, ColumnInfo]]]]:
    """The rows of a table, each with windows over those of its unit, where a key puts these in one order."""
    if table.key is None or table.rows_per_unit == 1:
        return
    over = f"OVER (PARTITION BY {table.unit} ORDER BY {table.key})"
    number = Facts(Type.INTEGER, Fraction(1), Fraction(table.rows_per_unit), nullable=False)
    named, columns = [f"ROW_NUMBER() {over} AS own_number"], [("t0.own_number", ColumnInfo("own_number", number))]
    for own, info in _columns(table, "t0"):
        shown = replace(info, facts=replace(info.facts, nullable=True))
        named.append(f"LAG({info.name}) {over} AS {info.name}_before")
        columns += [(own, info), (f"t0.{info.name}_before", shown)]
    ranked = min(info.name for _, info in _columns(table, "t0"))
    named.append(f"RANK() OVER (PARTITION BY {table.unit} ORDER BY {ranked}) AS own_rank")
    named.append(f"COUNT(*) OVER (PARTITION BY {table.unit}) AS own_rows")
    columns += [(f"t0.{name}", ColumnInfo(name, number)) for name in ("own_rank", "own_rows")]
    yield f"(SELECT *, {', '.join(named)} FROM {table.name}) AS t0", columns
    yield f"(SELECT * FROM (SELECT *, {', '.join(named)} FROM {table.name}) WHERE own_number <= 2) AS t0", columns


def _never(table: TableInfo, alias: str) -> list[str]:
    """A condition that no row meets, by what is stored, where there is one: optimisers see that, too."""
    numbers = [(name, info.facts.high) for name, info in table.columns.items() if info.facts.bounded]
    return [f"{alias}.{name} > {float(high)}" for name, high in numbers if isinstance(high, Fraction)][:1]


def _named_alike(info: ColumnInfo, table: TableInfo) -> bool:
    """Whether a column's declared domain is a public table's key."""
    key = table.columns[str(table.key)]
    return info.values is not None and info.facts.type is key.facts.type and info.name != table.key


def _columns(table: TableInfo, alias: str) -> list[tuple[str, ColumnInfo]]:
    hidden = {table.unit, None if table.public else table.key}
    return [(f"{alias}.{name}", info) for name, info in table.columns.items() if name not in hidden]


def _key(scope: _Scope) -> Text:
    """What is grouped by: mostly of a listed domain."""
    listed = [text for text, info in scope.columns if info.values is not None or info.facts.type is Type.BOOLEAN]
    dates = [text for text, _ in scope.of(Type.DATE, Type.TIMESTAMP)]
    bounded = [text for text, info in scope.of(Type.INTEGER) if info.facts.bounded]
    opened = [text for text, info in scope.of(Type.TEXT) if info.values is None]
    return st.one_of(
        *([st.sampled_from(listed)] * 2 if listed else []),
        *([st.sampled_from(opened)] if opened else []),
        *([st.sampled_from(bounded).map(lambda x: f"{x} // 10")] if bounded else []),
        *([st.sampled_from(bounded).map(lambda x: f"{x} % 7")] if bounded else []),
        *([st.sampled_from(dates).map(lambda d: f"year({d})")] if dates else []),
        *(
            [st.tuples(st.sampled_from(UNITS), st.sampled_from(dates)).map(lambda p: f"date_trunc({p[0]}, {p[1]})")]
            if dates
            else []
        ),
        _condition(scope, 0),
        _condition(scope, 0).map(lambda c: f"CASE WHEN {c} THEN 'yes' ELSE 'no' END"),
    )


def _aggregate(scope: _Scope) -> Text:
    number = _number(scope, 2)
    return st.one_of(
        st.just("COUNT(*)"),
        st.just(f"COUNT(DISTINCT {scope.unit})"),
        st.sampled_from([text for text, _ in scope.columns]).map(lambda x: f"COUNT({x})"),
        number.map(lambda x: f"SUM({x})"),
        number.map(lambda x: f"AVG({x})"),
        st.tuples(number, _condition(scope, 1)).map(lambda p: f"SUM({p[0]}) FILTER (WHERE {p[1]})"),
        _condition(scope, 1).map(lambda c: f"COUNT(*) FILTER (WHERE {c})"),
        _condition(scope, 1).map(lambda c: f"SUM(CASE WHEN {c} THEN 1 ELSE 0 END)"),
    )


@cache
def _number(scope: _Scope, depth: int) -> Text:
    columns = [text for text, info in scope.of(Type.INTEGER, Type.REAL) if info.facts.bounded]
    dates, texts = [t for t, _ in scope.of(Type.DATE, Type.TIMESTAMP)], [t for t, _ in scope.of(Type.TEXT)]
    leaves = [st.sampled_from(columns)] * 3 if columns else [st.just("1")]
    if dates:
        leaves.append(st.sampled_from(dates).map(lambda d: f"month({d})"))
    if texts:
        leaves.append(st.sampled_from(texts).map(lambda t: f"least(length({t}), 99)"))
    if depth == 0:
        return st.one_of(*leaves)
    inner, constant = _number(scope, depth - 1), st.sampled_from(NUMBERS)
    divisor = st.sampled_from(("2", "4", "10", "0.5"))
    return st.one_of(
        *leaves,
        st.tuples(inner, st.sampled_from("+-*"), inner | constant).map(lambda p: f"({p[0]} {p[1]} {p[2]})"),
        st.tuples(inner, divisor).map(lambda p: f"({p[0]} / {p[1]})"),
        inner.map(lambda x: f"abs({x})"),
        inner.map(lambda x: f"(-{x})"),
        inner.map(lambda x: f"floor({x})"),
        inner.map(lambda x: f"sqrt(abs({x}))"),
        st.tuples(inner, constant).map(lambda p: f"least({p[0]}, {p[1]})"),
        st.tuples(inner, inner).map(lambda p: f"greatest({p[0]}, {p[1]}, 0)"),
        st.tuples(inner, constant).map(lambda p: f"coalesce({p[0]}, {p[1]})"),
        st.tuples(inner, constant).map(lambda p: f"nullif({p[0]}, {p[1]})"),
        st.tuples(_condition(scope, depth - 1), inner, inner | st.just("NULL")).map(
            lambda p: f"CASE WHEN {p[0]} THEN {p[1]} ELSE {p[2]} END"
        ),
    )


@cache
def _condition(scope: _Scope, depth: int) -> Text:
    leaves = [_comparison(scope, depth)]
    if texts := scope.of(Type.TEXT):
        leaves += [
            st.tuples(
                st.sampled_from([t for t, _ in texts]),
                st.sampled_from(["LIKE", "NOT LIKE", "ILIKE"]),
                st.sampled_from(PATTERNS),
            )
            .map(" ".join)
            .map("({})".format),
            st.sampled_from(texts).flatmap(_in_list),
        ]
    if booleans := scope.of(Type.BOOLEAN):
        leaves.append(st.sampled_from([text for text, _ in booleans]))
    if dates := scope.of(Type.DATE):
        leaves.append(
            st.tuples(st.sampled_from([t for t, _ in dates]), st.sampled_from(COMPARISONS), st.dates(FIRST, LAST)).map(
                lambda p: f"({p[0]} {p[1]} DATE '{p[2]}')"
            )
        )
    leaves.append(st.sampled_from([text for text, _ in scope.columns]).map(lambda x: f"({x} IS NULL)"))
    if depth == 0:
        return st.one_of(*leaves)
    inner = _condition(scope, depth - 1)
    return st.one_of(
        *leaves,
        st.tuples(inner, st.sampled_from(["AND", "OR"]), inner).map(lambda p: f"({p[0]} {p[1]} {p[2]})"),
        inner.map(lambda c: f"(NOT {c})"),
        inner.map(lambda c: f"({c} IS NOT TRUE)"),
        st.tuples(inner, inner).map(lambda p: f"({p[0]} = {p[1]})"),
    )


@cache
def _comparison(scope: _Scope, depth: int) -> Text:
    number, constant = _number(scope, depth), st.sampled_from(NUMBERS)
    return st.one_of(
        st.tuples(number, st.sampled_from(COMPARISONS), number | constant).map(lambda p: f"({p[0]} {p[1]} {p[2]})"),
        st.tuples(number, constant, constant).map(lambda p: f"({p[0]} BETWEEN {p[1]} AND {p[2]})"),
        st.tuples(number, number).map(lambda p: f"({p[0]} IS DISTINCT FROM {p[1]})"),
    )


def _in_list(column: tuple[str, ColumnInfo]) -> Text:
    text, info = column
    known: Sequence[Value] = info.values or ("flu", "cold", "phone", "Ana")
    chosen = st.lists(st.sampled_from(list(known)[:20]), min_size=1, max_size=3)
    word = st.sampled_from(["IN", "NOT IN"])
    return st.tuples(word, chosen).map(lambda p: f"({text} {p[0]} ({', '.join(map(_quoted, p[1]))}))")


def _quoted(value: Value) -> str:
    return "'" + str(value).replace("'", "''") + "'"
