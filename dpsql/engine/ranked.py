"""Rows in a secret order within their unit: cut to a cap, or split by their rank.

The order is that of the ranks that the bounded tables hold (`RANK`), the largest table's first: a row of a join is
told from all others of its unit by the ranks of the rows that it is made of, and a group of a unit's rows by the least
rank among them (`with_least_rank`). Where a relation has no such ranks, it is that of a keyed hash of what a row says.

Theorem. Whatever a unit's rows are, and whoever else is there, the same rows (and groups) of that unit stay: at most k.

Proof. A stored rank is a function of the unit's own rows and the secret (`owner.building.caps.placed`), and so is each
row of a relation of one unit's rows, with the ranks that it is made of; no two of them have the same, and no row is in
two groups of a sub-query that groups by the unit. So the first k rows in
the order of the ranks, and the first k groups in the order of their first rows, are functions of the unit's rows alone.
By a hash the same holds of what the rows say; equal rows are alike.

*As the table lies.* Rows of one table, filtered or not, are read in the order of (unit, rank), in which the builder
writes them. The row k before a unit's row is of the same unit if and only if k rows of the unit are before it. The
statement compares each row with the one before it and fails where (unit, rank) does not rise, so the rows of a unit
follow each other in the order of their ranks, or there is no answer.  QED

Tests: tests/unit/engine/test_ranked.py, tests/unit/mechanisms/capped/test_mechanism.py.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from dpsql.engine.printer import Printer
from dpsql.plan.catalog import NUMBER, RANK, ROW, rank_digits
from dpsql.plan.known.relations import filtered_scan, is_public, most_met, unit_scans
from dpsql.plan.known.stability import rows_per_unit
from dpsql.plan.nodes import Column, Filter, Join, PerUnit, Relation, Scan, Semi, UnitValue
from dpsql.plan.types import Facts, Type

__all__ = [
    "UnitRows",
    "cut_groups",
    "cut_rows",
    "keyed_hash",
    "lies",
    "number_of",
    "numbered",
    "numbers_in_order",
    "ordered_by",
    "ranked",
    "stored_ranks",
    "with_least_rank",
]

FARTHEST = 1000
"""Rows that a look back may span while rows stream by; DuckDB keeps 2,048 of them, and sorts all beyond. It is a choice
below that."""


@dataclass(frozen=True, slots=True)
class UnitRows:
    """SQL of rows that have a unit.

    Attributes:
        sql: The rows.
        unit: The column of the unit.
        columns: What the rows say, the unit among it.
        ranks: Columns that tell a unit's rows apart and order them; () where only what they say does.
        lie: Whether they come in the order of unit and rank, as one table lies.
        whole: Whether they are the first rows of each unit in a table, so that their ranks count from 1.
    """

    sql: str
    unit: str
    columns: Sequence[str]
    ranks: Sequence[str]
    lie: bool
    whole: bool

    @property
    def every(self) -> str:
        """All columns. Every one is named, since the engine is never asked for ``*``."""
        return ", ".join([*self.columns, *self.ranks])


def stored_ranks(relation: Relation) -> tuple[Column, ...] | None:
    """The stored ranks that tell a unit's rows of a relation apart, those of the largest table first.

    None where there are none: tables of public rows that multiply, sub-queries, unions.
    """
    found = _ranks(relation)
    return None if not found else tuple(column for _, column in sorted(found, key=lambda own: -own[0]))


def with_least_rank(relation: Relation) -> Relation:
    """The same, with the least rank of the rows that each of its own is made of, where one rank tells those apart."""
    match relation:
        case Filter() | Semi():
            return replace(relation, input=with_least_rank(relation.input))
        case PerUnit() if rows_per_unit(relation) > 1 and len(ranks := _ranks(relation.input) or []) == 1:
            least = UnitValue(RANK, "min", ranks[0][1], Facts(Type.INTEGER))
            return replace(relation, values=(*relation.values, least))
        case _:
            return relation


def _ranks(relation: Relation) -> list[tuple[int, Column]] | None:
    """Each with the most rows of a unit in its table; none of tables with one row a unit."""
    match relation:
        case Scan() if relation.table.ranked:
            return [(relation.table.rows_per_unit, Column(relation.alias, RANK, Facts(Type.INTEGER)))]
        case Scan() if not relation.table.public and relation.table.rows_per_unit == 1:
            return []
        case PerUnit() if any(value.name == RANK for value in relation.values):
            return [(rows_per_unit(relation), Column(relation.alias, RANK, Facts(Type.INTEGER)))]
        case Filter() | Semi():
            return _ranks(relation.input)
        case Join():
            sides = [
                side
                for side in (relation.left, relation.right)
                if not (is_public(side) and most_met(side, relation.equal) == 1)
            ]
            ranks = list(map(_ranks, sides))
            known = [own for own in ranks if own is not None]
            return [column for own in known for column in own] if len(known) == len(ranks) else None
        case _:
            return None


def lies(printer: Printer, relation: Relation) -> bool:
    """Whether a relation's rows are read in the order of unit and rank."""
    found = filtered_scan(relation)
    return found is not None and found[0].table.ranked and printer.dialect.has("out_of_order")


def numbered(printer: Printer, relation: Relation) -> Column | None:
    """The number of each row's unit in the largest table that has one for all of them; None where none does."""
    known = [scan for scan in unit_scans(relation) if scan.table.ranked]
    if not known or not printer.dialect.has("out_of_order"):
        return None
    return number_of(max(known, key=lambda scan: scan.table.rows_about))


def ordered_by(printer: Printer, relation: Relation) -> Column | None:
    """The number of each row's unit, where it and one rank put all rows in order; else None."""
    ranks = stored_ranks(relation) or ()
    return numbered(printer, relation) if len(ranks) == 1 else None


def number_of(scan: Scan) -> Column:
    """The number of each row's unit in a table."""
    return Column(scan.alias, NUMBER, Facts(Type.INTEGER))


def numbers_in_order(scan: Scan) -> tuple[Column, int]:
    """The numbers of units in a table, with rows' ranks below them, and how many binary digits a rank has."""
    return Column(scan.alias, ROW, Facts(Type.INTEGER)), rank_digits(scan.table.rows_per_unit)


def cut_rows(printer: Printer, rows: UnitRows, within: Sequence[str], most: int, key: bytes) -> UnitRows:
    """The first ``most`` rows of each unit, or of each of its groups.

    Args:
        printer: Collects what the text uses.
        rows: Rows with their keys.
        within: The keys; () for all rows of a unit.
        most: The cap.
        key: The ledger's secret key.
    """
    if not rows.ranks:
        cut = _cut_by_hash(printer, rows, "row_number", [rows.unit, *within], rows.columns, most, key)
        return replace(rows, sql=cut)
    if rows.whole and not within:
        return replace(rows, sql=f"SELECT {rows.every} FROM ({rows.sql}) AS q WHERE {rows.ranks[0]} <= {int(most)}")
    if rows.lie and not within and most <= FARTHEST:
        kept = f"SELECT {rows.every} FROM ({_looking_back(printer, rows, [('before', most)])}) AS q WHERE "
        return replace(rows, sql=kept + _unless_disorder(printer, rows, _other(printer, rows, "before")))
    printer.functions.add("row_number")
    place = printer.quoted("place")
    over = f"PARTITION BY {', '.join([rows.unit, *within])} ORDER BY {', '.join(rows.ranks)}"
    placed = f"SELECT {rows.every}, row_number() OVER ({over}) AS {place} FROM ({rows.sql}) AS q"
    return replace(
        rows, sql=f"SELECT {rows.every} FROM ({placed}) AS q WHERE {place} <= {int(most)}", lie=False, whole=False
    )


def cut_groups(printer: Printer, rows: UnitRows, keys: Sequence[str], most: int, key: bytes) -> UnitRows:
    """The rows of each unit's first ``most`` groups: those of its first rows."""
    if not rows.ranks:
        content = [rows.unit, *keys]
        return replace(rows, sql=_cut_by_hash(printer, rows, "dense_rank", [rows.unit], content, most, key))
    printer.functions |= {"row_number", "min"}
    place, own, groups = (printer.quoted(name) for name in ("place", "own", "groups"))
    by = ", ".join([rows.unit, *keys])
    order = ", ".join([f"MIN({rows.ranks[0]})", *(f"{name} NULLS FIRST" for name in keys)])
    placed = f"row_number() OVER (PARTITION BY {rows.unit} ORDER BY {order}) AS {place}"
    first = f"SELECT {by} FROM (SELECT {by}, {placed} FROM {own} GROUP BY {by}) AS q WHERE {place} <= {int(most)}"
    named = ", ".join(f"q.{name}" for name in [*rows.columns, *rows.ranks])
    alike = [f"q.{name} IS NOT DISTINCT FROM g.{name}" for name in keys]
    same = " AND ".join([f"q.{rows.unit} = g.{rows.unit}", *alike])
    kept = f"SELECT {named} FROM {own} AS q JOIN {groups} AS g ON {same}"
    return replace(rows, sql=f"WITH {own} AS ({rows.sql}), {groups} AS ({first}) {kept}", lie=False, whole=False)


def ranked(printer: Printer, rows: UnitRows, edges: Sequence[int], key: bytes) -> tuple[str, str, str]:
    """The same rows with their rank within their unit, in the order by which `cut_rows` cuts.

    Args:
        printer: Collects what the text uses.
        rows: The rows.
        edges: Of the classes of ranks, rising from 1.
        key: The ledger's secret key.

    Returns:
        SQL of the rows, and over it: the class of a row's rank, and 1 for a unit's last row, else NULL.
    """
    if rows.lie and edges[-1] <= FARTHEST:
        before = [(f"before{index}", int(edge)) for index, edge in enumerate(edges)]
        printer.functions.add("lead")
        after = f", lead({rows.unit}) OVER () AS {printer.quoted('after')}"
        named = ", ".join([rows.every, *(printer.quoted(name) for name, _ in before), printer.quoted("after")])
        looking = _looking_back(printer, rows, before, after)
        sql = f"SELECT {named} FROM ({looking}) AS q WHERE {_unless_disorder(printer, rows, 'TRUE')}"
        classes = " ".join(f"WHEN {_other(printer, rows, name)} THEN {index}" for index, (name, _) in enumerate(before))
        return sql, f"CASE {classes} ELSE {len(edges)} END", f"CASE WHEN {_other(printer, rows, 'after')} THEN 1 END"
    place, n = printer.quoted("place"), printer.quoted("n")
    printer.functions |= {"row_number", "count"}
    if rows.ranks:
        own = f"PARTITION BY {rows.unit}"
        placed = f"row_number() OVER ({own} ORDER BY {', '.join(rows.ranks)}) AS {place}, COUNT(*) OVER ({own}) AS {n}"
        sql = f"SELECT {rows.every}, {placed} FROM ({rows.sql}) AS q"
    else:
        sql = _placed_by_hash(printer, rows, "row_number", [rows.unit], rows.columns, 1, key)
    classes = " ".join(f"WHEN {place} <= {int(edge)} THEN {index}" for index, edge in enumerate(edges))
    return sql, f"CASE {classes} ELSE {len(edges)} END", f"CASE WHEN {place} = {n} THEN 1 END"


def _looking_back(printer: Printer, rows: UnitRows, before: Sequence[tuple[str, int]], more: str = "") -> str:
    """The rows with the units of rows before them, by name and distance, and the (unit, rank) of the last one."""
    printer.functions.add("lag")
    looks = [("unit1", rows.unit, 1), ("rank1", rows.ranks[0], 1), *((name, rows.unit, far) for name, far in before)]
    shown = [f"lag({column}, {int(far)}) OVER () AS {printer.quoted(name)}" for name, column, far in looks]
    return f"SELECT {rows.every}, {', '.join(shown)}{more} FROM ({rows.sql}) AS q"


def _other(printer: Printer, rows: UnitRows, name: str) -> str:
    """Whether a column that looks elsewhere finds no row of the same unit."""
    return f"({printer.quoted(name)} IS NULL OR {printer.quoted(name)} <> {rows.unit})"


def _unless_disorder(printer: Printer, rows: UnitRows, condition: str) -> str:
    """The condition; the statement fails where a row does not come behind the one before it."""
    unit, rank = printer.quoted("unit1"), printer.quoted("rank1")
    falls = f"{unit} > {rows.unit} OR ({unit} = {rows.unit} AND {rank} >= {rows.ranks[0]})"
    return f"CASE WHEN {falls} THEN {printer.call('out_of_order')} ELSE {condition} END"


def _cut_by_hash(
    printer: Printer, rows: UnitRows, rank: str, within: Sequence[str], content: Sequence[str], most: int, key: bytes
) -> str:
    """The first ``most`` rows (or groups) of each partition, in the secret order of their own content."""
    placed = _placed_by_hash(printer, rows, rank, within, content, most, key)
    return f"SELECT {rows.every} FROM ({placed}) AS q WHERE {printer.quoted('place')} <= {int(most)}"


def _placed_by_hash(
    printer: Printer, rows: UnitRows, rank: str, within: Sequence[str], content: Sequence[str], most: int, key: bytes
) -> str:
    """The rows with their ``place`` in their partition, and ``n``, how many rows that has.

    Only partitions with more than ``most`` rows pay for the hash: in the others every row and group is among the first
    ``most`` anyway.
    """
    printer.functions |= {rank, "count"}
    partition, n = f"PARTITION BY {', '.join(within)}", printer.quoted("n")
    secret = f"CASE WHEN {n} > {int(most)} THEN {keyed_hash(printer, content, key)} END"
    order = ", ".join([secret, *(f"{column} NULLS FIRST" for column in content if column not in within)])
    counted = f"SELECT {rows.every}, COUNT(*) OVER ({partition}) AS {n} FROM ({rows.sql}) AS q"
    placed = f"{rank}() OVER ({partition} ORDER BY {order}) AS {printer.quoted('place')}"
    return f"SELECT {rows.every}, {n}, {placed} FROM ({counted}) AS q"


def keyed_hash(printer: Printer, columns: Sequence[str], key: bytes) -> str:
    """A secret order of rows by their own content, in an encoding that no two contents share."""
    parts = [f"CASE WHEN {c} IS NULL THEN 'N' ELSE {printer.call('with_length', c)} END" for c in columns]
    return printer.call("hash", printer.bound(key.hex(), "VARCHAR"), *parts)
