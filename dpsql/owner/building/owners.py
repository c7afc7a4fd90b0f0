"""Whose each row of the source is: the unit in its own column, or found through a chain of keys.

Runs in the owner's process. A chain is followed in the source itself, before any table is bounded: a row whose key
two units own becomes a row of each, and a row that leads to nobody is no row of anyone. So the rows of one unit
depend on no other unit.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from dpsql.engine.database import SourceTable
from dpsql.errors import PolicyError
from dpsql.owner.building.bounded import identity
from dpsql.owner.shape import Shape, TableShape

__all__ = ["Owned", "Owners", "require_one_unit_type"]

_WHOLE = ("integer", "wide")
"""Families of whole numbers."""


@dataclass(frozen=True, slots=True)
class Owned:
    """The rows of a private table with their units.

    Attributes:
        sql: What to write after FROM: rows ``s`` of the source; through a chain, once for each unit.
        unit: SQL of the unit over it, as BIGINT or VARCHAR; NULL where there is none.
    """

    sql: str
    unit: str


class Owners:
    """Units, keys and references of a source, each written the same way in every table.

    What they identify is stored as an integer if every table holds integers of 64 bits, otherwise as text: wider ones,
    such as hashes, are all told apart. A CSV file has no types of its own: it is read as the other tables are.

    Args:
        shape: The tables.
        sources: Where each comes from, by name.
    """

    def __init__(self, shape: Shape, sources: Mapping[str, SourceTable]) -> None:
        self._shape = shape
        self._sources = sources
        self._whole = {of: set(kinds.values()) == {"integer"} for of, kinds in _kinds(shape, sources).items()}

    def identity(self, table: TableShape, column: str) -> str:
        """SQL of a unit, key or reference over a row ``s`` of its table.

        Raises:
            PolicyError: If the source has no such column, or one that cannot name anything.
        """
        whole = self._whole[table.identities[column]]
        return identity(table, column, self._sources[table.name], integer=whole)

    def rows(self, table: TableShape) -> Owned:
        """The rows of a private table with their units.

        Raises:
            PolicyError: If a column on the way is missing, or cannot name anything.
        """
        source = self._sources[table.name]
        if table.via is None or table.on is None:
            return Owned(f"{source.sql} AS s", self.identity(table, str(table.unit)))
        reference = self.identity(table, table.on)
        key, unit = (f"o.{source.dialect.quoted(name)}" for name in ("key", "unit"))
        return Owned(f"{source.sql} AS s JOIN ({self.of_keys(table)}) AS o ON {reference} = {key}", unit)

    def of_keys(self, table: TableShape) -> str:
        """SQL of the relation by which a table's rows find their units: ``key`` and ``unit``, each pair once.

        Args:
            table: One that is owned through a chain of keys.

        Raises:
            PolicyError: As `rows`.
        """
        owner = self._shape.table(str(table.via))
        if owner.name not in self._sources:
            raise PolicyError(f"{table.name} is owned through {owner.name}, which cannot be read. Mend that first.")
        rows, key, quoted = (
            self.rows(owner),
            self.identity(owner, str(owner.key)),
            self._sources[owner.name].dialect.quoted,
        )
        return (
            f"SELECT DISTINCT {key} AS {quoted('key')}, {rows.unit} AS {quoted('unit')} FROM {rows.sql} "
            f"WHERE {key} IS NOT NULL AND {rows.unit} IS NOT NULL"
        )


def require_one_unit_type(shape: Shape, sources: Mapping[str, SourceTable]) -> None:
    """Returns if units are integers in every table, or in none.

    Raises:
        PolicyError: Naming the columns of each kind.
    """
    kinds = _kinds(shape, sources).get(None, {})
    whole = [column for column, family in kinds.items() if family in _WHOLE]
    others = [column for column, family in kinds.items() if family not in _WHOLE]
    if whole and others:
        raise PolicyError(
            f"The unit is an integer in {', '.join(whole)} and a text in {', '.join(others)}. Give it one "
            f"type, in a view if need be."
        )


def _kinds(shape: Shape, sources: Mapping[str, SourceTable]) -> dict[str | None, dict[str, str]]:
    """For each that is identified, the columns ``table.column`` that have a type, and its family."""
    kinds: dict[str | None, dict[str, str]] = {}
    for table in shape.tables:
        for column, identified in table.identities.items():
            found = kinds.setdefault(identified, {})
            source = sources.get(table.name)
            kind = source.type_of(column) if source is not None and source.typed else None
            if kind is not None:
                found[f"{table.name}.{column}"] = kind.family
    return kinds
