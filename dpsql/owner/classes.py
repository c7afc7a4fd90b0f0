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

import duckdb

from dpsql.errors import InvariantBroken, PolicyError
from dpsql.owner.bounded import family
from dpsql.owner.owners import Owners
from dpsql.owner.shape import CLASSES, RECORD, ClassShape, Shape
from dpsql.owner.sources import SourceTable, quote, text

__all__ = ["build_classes", "known_class", "said"]


def build_classes(
    connection: duckdb.DuckDBPyConnection,
    shape: Shape,
    source: SourceTable,
    owners: Owners,
    records: list[str] | None,
    into: Path,
) -> None:
    """Writes "$classes" and the record, once all private tables stand.

    Args:
        connection: With the database ``bounded``, and the secret in the session variable ``key``.
        shape: With classes.
        source: The table that names them.
        owners: Whose each of its rows is.
        records: Earlier records, all of which hold; None where they are lost.
        into: Where the record is written.

    Raises:
        PolicyError: If the data have no such column.
    """
    classes = _classes(shape)
    strictest, hashed = text(classes.strictest), "sha256(getvariable('key') || 'unit ' || CAST(\"unit\" AS VARCHAR))"
    kept = f'SELECT CAST(NULL AS VARCHAR) AS "hash", {strictest} AS "class"'
    if records is not None:
        files = f"read_parquet([{', '.join(map(text, records))}])" if records else f"({kept}) WHERE FALSE"
        kept = (
            f'SELECT "hash", CASE WHEN min("class") = max("class") THEN min("class") ELSE {strictest} END AS "class" '
            f'FROM {files} GROUP BY "hash"'
        )
    tables = [table for table in shape.tables if not table.public]
    units = " UNION ".join(f'SELECT {quote(str(t.unit))} AS "unit" FROM bounded.main.{quote(t.name)}' for t in tables)
    connection.execute(f"CREATE TEMP TABLE kept AS {kept}")
    connection.execute(
        f"CREATE TABLE bounded.main.{quote(CLASSES)} AS "
        f'SELECT u."unit", coalesce(k."class", (SELECT "class" FROM kept WHERE "hash" IS NULL), '
        f's."class", {strictest}) AS "class" FROM (SELECT "unit", {hashed} AS "hash" FROM ({units})) AS u '
        f'LEFT JOIN kept AS k ON k."hash" = u."hash" LEFT JOIN ({said(shape, source, owners)}) AS s '
        f'ON s."unit" = u."unit" ORDER BY u."unit"'
    )
    record = f'SELECT * FROM kept UNION SELECT {hashed}, "class" FROM bounded.main.{quote(CLASSES)}'
    connection.execute(f"COPY ({record}) TO {text(str(into / RECORD))} (FORMAT parquet)")


def said(shape: Shape, source: SourceTable, owners: Owners) -> str:
    """SQL of ``unit`` and ``class`` for those whose rows all name the same known class.

    Raises:
        PolicyError: As `known_class`.
    """
    classes = _classes(shape)
    rows = owners.rows(shape.table(classes.table))
    return (
        f'SELECT "unit", min("class") AS "class" FROM '
        f'(SELECT {rows.unit} AS "unit", {known_class(classes, source)} AS "class" FROM {rows.sql}) '
        f'WHERE "unit" IS NOT NULL GROUP BY "unit" '
        f'HAVING count(*) = count("class") AND min("class") = max("class")'
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
    if family(kind) != "text":
        raise PolicyError(f"{where} names the privacy classes, but the data hold {kind}. Make it a text, in a view.")
    name = f"TRY_CAST(s.{quote(classes.column)} AS VARCHAR)"
    return f"CASE WHEN {name} IN ({', '.join(map(text, classes.names))}) THEN {name} END"


def _classes(shape: Shape) -> ClassShape:
    if shape.classes is None:
        raise InvariantBroken("a policy without classes was asked for them")
    return shape.classes
