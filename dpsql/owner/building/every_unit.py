"""Whether every unit has exactly one row of its own in a table that says so. Runs in the owner's process.

The number of such a table's rows is released exactly and for nothing, and proofs take it as known: were it false,
exchanging one unit for another would move it. So it is counted in the source before anything is built from it, over
the units of all private tables, whatever caps and keys leave of their rows. Rows without a unit are nobody's, and stay
whoever is exchanged. A chain of keys finds no unit that is not in the table where it ends; a row that it gives to two
people is neither's own, since it would stay when one of them goes.

Two databases are neighbours only if both keep the promise, which the policy makes in public; all that a refused build
tells is that this database does not.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from dpsql.engine.database import Database, SourceTable
from dpsql.errors import PolicyError
from dpsql.owner.building.owners import Owners
from dpsql.owner.shape import Shape, TableShape

__all__ = ["Miscounted", "miscounted", "require_every_unit"]


@dataclass(frozen=True, slots=True)
class Miscounted:
    """How far a table is from one row for each unit; for the owner's eyes.

    Attributes:
        units: Units of all private tables.
        missing: Those without a row.
        several: Those with more than one.
        shared: Rows that belong to more than one unit.
    """

    units: int
    missing: int
    several: int
    shared: int


def require_every_unit(database: Database, shape: Shape, sources: Mapping[str, SourceTable], owners: Owners) -> None:
    """Returns if each table that promises exactly one row for every unit has it.

    Raises:
        PolicyError: Naming the table, in a text that is the same however far the data are from it.
    """
    for table in shape.tables:
        if not table.every_unit:
            continue
        found = miscounted(database, shape, sources, owners, table)
        if found.missing or found.several or found.shared:
            raise PolicyError(
                f"{table.name} says every_unit: true, but not every unit of the private tables has exactly one row "
                f"there. Mend the data, or remove every_unit; dpsql check counts the units. No tables were built."
            )


def miscounted(
    database: Database, shape: Shape, sources: Mapping[str, SourceTable], owners: Owners, table: TableShape
) -> Miscounted:
    """The exact counts of one table.

    Raises:
        PolicyError: If a column on the way is missing, or cannot name anything.
    """
    ends = [owners.rows(other) for other in shape.tables if not other.public and other.via is None]
    key, unit = map(database.dialect.quoted, ("key", "unit"))
    units = " UNION ".join(f"SELECT {rows.unit} AS {unit} FROM {rows.sql}" for rows in ends)
    own, shared = owners.rows(table), "0"
    if table.via is not None:
        several = f"SELECT {key} FROM ({owners.of_keys(table)}) AS k GROUP BY {key} HAVING count(*) > 1"
        reference = owners.identity(table, str(table.on))
        shared = f"(SELECT count(*) FROM {sources[table.name].sql} AS s JOIN ({several}) AS o ON {reference} = o.{key})"
    each = f"SELECT {own.unit} AS {unit}, count(*) AS n FROM {own.sql} GROUP BY 1"
    ((everybody, missing, more, shared_rows),) = database.rows(
        f"SELECT count(*), count(*) FILTER (WHERE e.n IS NULL), count(*) FILTER (WHERE e.n > 1), {shared} "
        f"FROM ({units}) AS u LEFT JOIN ({each}) AS e ON e.{unit} = u.{unit} WHERE u.{unit} IS NOT NULL"
    )
    return Miscounted(everybody, missing, more, shared_rows)
