"""What the ledger keeps of a synthetic table, and what that table is to the plan: a public one.

Tests: tests/unit/releasing/test_creating.py.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from dpsql.engine.dialect import WIRE
from dpsql.errors import OperationalError
from dpsql.plan.catalog import ColumnInfo, TableInfo
from dpsql.plan.types import Facts, Type, Value
from dpsql.worker import wire

if TYPE_CHECKING:
    from dpsql.mechanisms.releases.proofs import Proof

__all__ = ["MOST_READ", "StoredTable", "read_stored", "unread", "without_null", "written"]

MOST_READ = 1_000_000_000
"""Rows of a synthetic table that SQL reads. Each different one travels once; a sum by group of a tenth of so many takes
half a second (measured). It is a choice."""


@dataclass(frozen=True, slots=True)
class StoredTable:
    """A synthetic table.

    Attributes:
        info: As the plan sees it: a public table.
        values: One list a column, of the distinct rows.
        rows: How many rows there are of each.
        domains: One list of values a column, as they were released; the cells of a proof are their combinations.
        proofs: What is proved of it; none for nothing.
        left_out: Of which columns rows with a NULL are not in it.
    """

    info: TableInfo
    values: tuple[Sequence[Any], ...]
    rows: Sequence[int]
    domains: tuple[Sequence[Value], ...] = ()
    proofs: tuple[Proof, ...] = ()
    left_out: tuple[str, ...] = ()

    @property
    def too_large(self) -> str:
        """That SQL does not read it, for it came out larger than was foretold; '' where it does."""
        if self.info.rows <= MOST_READ:
            return ""
        return (
            f"{self.info.name} has {self.info.rows:,} rows; SQL reads {MOST_READ:,}. The data owner can write it to a "
            "file (dpsql release export), and say in the policy how many rows there are (rows_about)."
        )

    def counted(self) -> dict[str, tuple[str, Sequence[Any]]]:
        """The distinct rows and how often each stands there, as a worker takes them.

        Raises:
            OperationalError: They are too many.
        """
        if self.too_large:
            raise OperationalError(self.too_large)
        columns = zip(self.info.columns.values(), self.values, strict=True)
        return {column.name: (WIRE[column.facts.type], values) for column, values in columns} | {
            wire.TIMES: ("BIGINT", self.rows)
        }

    def expanded(self) -> list[tuple[Any, ...]]:
        """All rows; those that are alike are one object."""
        every = zip(zip(*self.values, strict=True), self.rows, strict=True)
        return [row for row, times in every for _ in range(times)]


def written(
    columns: Sequence[tuple[str, Type]],
    values: Sequence[Sequence[Any]],
    rows: Sequence[int],
    domains: Sequence[Sequence[Value]],
    proofs: Sequence[Proof],
    left_out: Sequence[str] = (),
) -> bytes:
    """A table as the ledger keeps it."""
    told = {
        "columns": [[name, kind.value] for name, kind in columns],
        "values": list(map(list, values)),
        "rows": list(rows),
        "domains": list(map(list, domains)) if proofs else [],
        "proofs": [proof.told() for proof in proofs],
        "left_out": list(left_out),
    }
    return wire.encode(told)


def unread(stored: StoredTable, price: str) -> TableInfo:
    """What a reader may know of a table before paying for it: names and types of its columns, and its price."""
    columns = {name: ColumnInfo(name, Facts(column.facts.type)) for name, column in stored.info.columns.items()}
    return TableInfo(stored.info.name, columns, public=True, released=stored.info.released, unread=price)


def read_stored(name: str, fingerprint: str, stored: bytes) -> StoredTable:
    """A stored table, with what is publicly known of its columns: their own values."""
    told: Mapping[str, Any] = wire.decode(stored)
    columns = {}
    for (column, kind), values in zip(told["columns"], told["values"], strict=True):
        held: dict[Any, int] = {}
        for value, rows in zip(values, told["rows"], strict=True):
            held[value] = held.get(value, 0) + rows
        known = sorted(value for value in held if value is not None)
        type_ = Type(kind)
        ends = (None, None) if type_ in (Type.TEXT, Type.BOOLEAN) or not known else (known[0], known[-1])
        low, high = (Fraction(end) if isinstance(end, int | float) else end for end in ends)
        step = Fraction(1) if type_ is Type.INTEGER else None
        columns[column] = ColumnInfo(
            column,
            Facts(type_, low, high, None in held, step),
            tuple(known),
            multiplicity=max(held.values(), default=0),
        )
    info = TableInfo(name, columns, public=True, rows=sum(told["rows"]), released=fingerprint)
    from dpsql.mechanisms.releases.proofs import read_proof  # here: few sessions read a table

    proofs = tuple(map(read_proof, told.get("proofs", ())))
    domains, left_out = (tuple(told.get(key, ())) for key in ("domains", "left_out"))  # one of before has none
    return StoredTable(info, tuple(told["values"]), told["rows"], domains, proofs, left_out)


def without_null(columns: Sequence[str]) -> str:
    """That rows with a NULL in one of these columns are in no such table; empty for none."""
    if not columns:
        return ""
    which = f"{', '.join(columns[:-1])} or {columns[-1]}" if len(columns) > 1 else columns[0]
    return (
        f"Rows whose {which} is NULL, or none of the declared values, are not in the table, and its errors say "
        "nothing of them: NULL is a value where the policy says nullable: true."
    )
