"""SHOW TABLES and DESCRIBE: the policy's public promises as rows.

Tests: tests/unit/answers/test_listing.py.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction

from dpsql.answers.answer import Answer, public
from dpsql.errors import UnsupportedQuery
from dpsql.given import text_given
from dpsql.plan.catalog import Catalog, ColumnInfo, TableInfo
from dpsql.plan.types import Type
from dpsql.plan.values.expressions import nearest

__all__ = ["comment", "describe_table", "descriptions", "list_tables"]

LISTED = 12  # Values of a column: DESCRIBE table shows so many. It is a choice: about one line.


def list_tables(catalog: Catalog) -> Answer:
    """One row per table: name, whether private, public or released, privacy unit, rows per unit, rows about; and where
    those come from: ``advised`` by `dpsql advise`, or the owner's guess. Then the owner's words, if any has some."""
    text, integer = Type.TEXT, Type.INTEGER
    return _told(
        catalog.tables.values(),
        ("table", "kind", "privacy_unit", "rows_per_unit", "rows_about", "known_from"),
        (text, text, text, integer, integer, text),
        [
            (t.name, "released", None, None, None, f"granted: its first reading costs {t.unread}")
            if t.unread
            else (t.name, "released" if t.released else "public", None, None, t.rows, "the table")
            if t.public
            else (t.name, "private", t.unit, t.rows_per_unit, t.rows_about, _known_from(t))
            for t in catalog.tables.values()
        ],
    )


def _known_from(table: TableInfo) -> str:
    """Who says how many rows a private table has."""
    return "a guess" if table.advised is None or table.advised.rows_of_policy else "advise"


def describe_table(catalog: Catalog, name: str) -> Answer:
    """One row per column: name, type, bounds or values, whether NULL is a group, grid step; then the owner's words,
    where there are any.

    Args:
        catalog: What is public.
        name: Of a table; or ``table.column``, for all values of that column, one a row.

    Raises:
        ProgrammingError: The name is no text.
        UnsupportedQuery: There is no such table, or the column's values are not listed.
    """
    table = _table(catalog, text_given(name, "A table's name", "Write it as text."))
    if table is None and (own := _table(catalog, name.rpartition(".")[0])) is not None:
        return _listed(catalog, own, name.rpartition(".")[2])
    if table is None:
        raise UnsupportedQuery(
            "there is no such table (or the policy does not name it).", construct=name,
            hint=nearest(name, list(catalog.tables)) or f"There are {', '.join(catalog.tables)}.",
        )  # fmt: skip
    text = Type.TEXT
    return _told(
        table.columns.values(),
        ("column", "type", "domain", "nullable", "grid"),
        (text, text, text, Type.BOOLEAN, text),
        [_described(catalog, table, column) for column in table.columns.values()],
    )


def descriptions(told: Answer) -> Sequence[str | None]:
    """The owner's words for what each row of such an answer is about; None where there are none."""
    return told["description"] if "description" in told.columns else [None] * len(told)


def comment(words: str | None, facts: str) -> str:
    """A table or a column in a comment: the owner's words, and behind them what else is known.

    >>> comment("In years", "[0, 99]"), comment(None, "[0, 99]")
    ('In years ([0, 99])', '[0, 99]')
    """
    return facts if words is None else f"{words} ({facts})"


def _told(
    of: Iterable[TableInfo | ColumnInfo],
    names: tuple[str, ...],
    types: tuple[Type, ...],
    rows: list[tuple[object, ...]],
) -> Answer:
    """The rows, each with the description of what it is about where any of these has one."""
    words = [each.description or None for each in of]
    if not any(words):
        return public(names, types, rows)
    described = [(*row, own) for row, own in zip(rows, words, strict=True)]
    return public((*names, "description"), (*types, Type.TEXT), described)


def _table(catalog: Catalog, name: str) -> TableInfo | None:
    return next((table for own, table in catalog.tables.items() if own.lower() == name.lower()), None)


def _listed(catalog: Catalog, table: TableInfo, name: str) -> Answer:
    """The declared values of a column; NULL behind them where it is a group."""
    column = next((own for own in table.columns.values() if own.name.lower() == name.lower()), None)
    if column is None:
        raise UnsupportedQuery(
            "there is no such column (or the policy does not name it).", construct=f"{table.name}.{name}",
            hint=nearest(name, list(table.columns)) or f"DESCRIBE {table.name} shows them.",
        )  # fmt: skip
    kind = column.facts.type
    values = (False, True) if kind is Type.BOOLEAN and column.values is None else column.values
    if values is None or column.unit or column.link is not None:
        raise UnsupportedQuery(
            f"its values are not listed: {_described(catalog, table, column)[2]}.",
            construct=f"{table.name}.{column.name}",
        )
    null = [(None,)] if column.facts.nullable else []
    return public((column.name,), (kind,), [*((value,) for value in values), *null])


def _described(catalog: Catalog, table: TableInfo, column: ColumnInfo) -> tuple[object, ...]:
    facts = column.facts
    if column.unit:
        return (column.name, "privacy unit", "joins and COUNT(DISTINCT) only", False, None)
    if column.link is not None:
        return (column.name, "key", _joined(catalog, table, column.link), False, None)
    if facts.bounded and (table.public or column.values is None):
        domain = f"[{_end(facts.low)}, {_end(facts.high)}]"
    elif column.values is not None:
        domain = ", ".join(map(str, column.values[:LISTED]))
        if len(column.values) > LISTED:  # the number in front: a screen cuts what is long at its end
            domain = f"{len(column.values):,} values (DESCRIBE {table.name}.{column.name}): {domain}, ..."
    else:
        domain = "open" if table.public or facts.type is not Type.BOOLEAN else "false, true"
    return (column.name, facts.type.value, domain, facts.nullable, None if facts.step is None else _end(facts.step))


def _joined(catalog: Catalog, table: TableInfo, link: str) -> str:
    """With which columns of other tables a key may be joined: those that identify the same record."""
    others = [
        f"{name}.{column.name}"
        for name, other in catalog.tables.items()
        for column in other.columns.values()
        if column.link == link and name != table.name
    ]
    return f"joins only, with {', '.join(others)}" if others else "joins only; no other table refers to it"


def _end(value: object) -> str:
    return f"{float(value):.15g}" if isinstance(value, Fraction) else str(value)
