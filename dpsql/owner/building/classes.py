"""Which class each unit is of: what its own rows say in the first table version that held it, kept from then on.

Runs in the owner's process, and leaves two things:

    "$classes" in the bounded file   unit and class, for every unit of the private tables; no analyst can name it
    the record, in the cache         hash and class, for every unit that any version held; the hash is keyed by the
                                     ledger's secret. It is never in the ledger.

A unit is of the strictest class if its rows name no class, an unknown one, or several. A class that changes from one
version to the next changes nothing: what the unit lost before was counted for the class it had. Where the record is
lost every unit is of the strictest class, and so are all who are not on record, for the life of the ledger: nobody
knows any more who was there before. The record says so in a row without a hash.

All of this depends on the rows of the unit itself, in all versions, and on nobody else's: a unit that comes or goes
moves its own row of "$classes" and no other.
"""

from __future__ import annotations

from pathlib import Path

from dpsql.engine.database import Database, SourceTable
from dpsql.errors import InvariantBroken, PolicyError
from dpsql.owner.building.owners import Owners
from dpsql.owner.shape import CLASSES, RECORD, ClassShape, Shape

__all__ = ["build_classes", "declared_classes", "known_class"]


def build_classes(
    database: Database, shape: Shape, source: SourceTable, owners: Owners, records: list[str] | None, into: Path
) -> None:
    """Writes "$classes" and the record, once all private tables stand.

    Args:
        database: Where the version is built.
        shape: With classes.
        source: The table that names them.
        owners: Whose each of its rows is.
        records: Earlier records, all of which hold; None where they are lost.
        into: The version's directory, which gives the record its name.

    Raises:
        PolicyError: If the data have no such column.
    """
    words = database.dialect
    unit, class_, hash_ = map(words.quoted, ("unit", "class", "hash"))
    strictest = words.text(_classes(shape).strictest)
    hashed = words.call("hash", words.call("secret"), words.text("unit "), words.cast(unit, "VARCHAR"))
    kept = f"SELECT {words.constant(None, 'VARCHAR')} AS {hash_}, {strictest} AS {class_}"
    if records is not None:
        rows = database.recorded(records) if records else f"({kept}) AS k WHERE 1 = 0"
        kept = (
            f"SELECT {hash_}, CASE WHEN min({class_}) = max({class_}) THEN min({class_}) ELSE {strictest} END "
            f"AS {class_} FROM {rows} GROUP BY {hash_}"
        )
    tables = [table for table in shape.tables if not table.public]
    units = " UNION ".join(
        f"SELECT {words.quoted(str(table.unit))} AS {unit} FROM {words.bounded(table.name)}" for table in tables
    )
    with database.scratch(kept) as kept:
        unknown = f"(SELECT {class_} FROM {kept} WHERE {hash_} IS NULL)"
        database.create(
            CLASSES,
            f"SELECT u.{unit}, coalesce(k.{class_}, {unknown}, s.{class_}, {strictest}) AS {class_} "
            f"FROM (SELECT {unit}, {hashed} AS {hash_} FROM ({units}) AS r) AS u "
            f"LEFT JOIN {kept} AS k ON k.{hash_} = u.{hash_} "
            f"LEFT JOIN ({declared_classes(shape, source, owners)}) AS s ON s.{unit} = u.{unit} ORDER BY u.{unit}",
        )
        record = f"SELECT {hash_}, {class_} FROM {kept} UNION SELECT {hashed}, {class_} FROM {words.bounded(CLASSES)}"
        database.record(record, into / RECORD)


def declared_classes(shape: Shape, source: SourceTable, owners: Owners) -> str:
    """SQL of ``unit`` and ``class`` for those whose rows all name the same known class.

    Raises:
        PolicyError: As `known_class`.
    """
    classes = _classes(shape)
    rows = owners.rows(shape.table(classes.table))
    unit, class_ = map(source.dialect.quoted, ("unit", "class"))
    return (
        f"SELECT c.{unit}, min(c.{class_}) AS {class_} FROM "
        f"(SELECT {rows.unit} AS {unit}, {known_class(classes, source)} AS {class_} FROM {rows.sql}) AS c "
        f"WHERE c.{unit} IS NOT NULL GROUP BY c.{unit} "
        f"HAVING count(*) = count(c.{class_}) AND min(c.{class_}) = max(c.{class_})"  # Spark reads a bare name as min's
    )


def known_class(classes: ClassShape, source: SourceTable) -> str:
    """SQL of the class that a row ``s`` names, NULL where there is none of that name.

    Raises:
        PolicyError: If the source has no such column, or one that is no text.
    """
    kind = source.type_of(classes.column)
    where = f"{classes.table}.{classes.column}"
    if kind is None:
        raise PolicyError(f"{where} names the privacy classes but is not in the data. Write the data's own name.")
    if kind.family != "text":
        raise PolicyError(
            f"{where} names the privacy classes, but the data hold {kind.name}. Make it a text, in a view."
        )
    words = source.dialect
    name = words.call("varchar_of_text", f"s.{words.quoted(classes.column)}")
    return f"CASE WHEN {name} IN ({', '.join(map(words.text, classes.names))}) THEN {name} END"


def _classes(shape: Shape) -> ClassShape:
    if shape.classes is None:
        raise InvariantBroken("a policy without classes was asked for them")
    return shape.classes
