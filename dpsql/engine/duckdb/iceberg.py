"""Iceberg tables on this machine: which Parquet files are a snapshot, and which of their columns is which.

The metadata are read by ``pyiceberg``, which comes with the extra ``iceberg``; the rows are read by DuckDB, column by
column by Iceberg's own numbers: a column that was renamed is the same one in old files. A version is told by its file
of metadata, which has a number in its name: one that comes later is a change of the data.

Source: the specification, https://iceberg.apache.org/spec/ (column projection, file system tables, delete files).
Tests: tests/unit/engine/test_iceberg.py.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from glob import escape
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from dpsql.engine.duckdb.dialect import DUCKDB
from dpsql.errors import OperationalError, PolicyError

__all__ = ["is_iceberg", "metadata_number", "newest_metadata", "rows_of_iceberg"]

_METADATA = "metadata"
_NUMBERED = re.compile(r"^v?(\d+)(?:-[^/]*)?(?:\.gz)?\.metadata\.json$")
_ADDRESS = re.compile(r"^(?:file:(?://(?:localhost)?(?=/))?)?(/(?!/).*)$", re.DOTALL)
_LAST = 2  # Version of the format. Version 3 has deletion vectors, default values and encryption.
_TYPES = {
    "boolean": "BOOLEAN", "int": "INTEGER", "long": "BIGINT", "float": "FLOAT", "double": "DOUBLE", "date": "DATE",
    "timestamp": "TIMESTAMP", "timestamptz": "TIMESTAMPTZ", "string": "VARCHAR", "uuid": "UUID", "binary": "BLOB",
}  # fmt: skip
"""DuckDB's names of Iceberg's types; decimals keep theirs, and columns of other types are left out."""


def is_iceberg(name: str) -> bool:
    """Whether a path is a folder that holds an Iceberg table."""
    return bool(_numbered(Path(name)))


def newest_metadata(name: str) -> str:
    """The file with the newest metadata of a table."""
    return str(max(_numbered(Path(name)))[1])


def metadata_number(file: str) -> int | None:
    """The number of a file with metadata; None of any other file.

    >>> metadata_number("visits/metadata/00012-5f0e.metadata.json"), metadata_number("visits/12.metadata.json")
    (12, None)
    """
    path = Path(file)
    match = _NUMBERED.match(path.name) if path.parent.name == _METADATA else None
    return int(match[1]) if match else None


def _numbered(folder: Path) -> list[tuple[int, Path]]:
    """The files with metadata, each behind its number."""
    files = (folder / _METADATA).glob("*.metadata.json")
    return [(int(match[1]), file) for file in files if (match := _NUMBERED.match(file.name))]


def rows_of_iceberg(table: str, name: str, metadata: str) -> str:
    """What to write after FROM for a snapshot of an Iceberg table.

    Args:
        table: The table, for messages.
        name: The path of its folder.
        metadata: The file with the metadata of which it is the current one.

    Raises:
        OperationalError: ``pyiceberg`` is not installed.
        PolicyError: The table does not open, or its Parquet files alone do not say which rows it has.
    """
    try:
        from pyiceberg.table import StaticTable
    except ImportError:
        raise OperationalError(
            f"{name} is an Iceberg table. Write, in the copy of dpsql's repository: pip install '.[iceberg]'"
        ) from None
    try:
        found = StaticTable.from_metadata(metadata)
        beyond = [] if found.format_version <= _LAST else [f"version {found.format_version} of the format"]
        scanned = [] if beyond or not _is_here(found) else list(found.scan().plan_files())
        columns = {own.field_id: (own.name, kind) for own in found.schema().fields if (kind := _type(own.field_type))}
    except Exception as error:  # pyiceberg raises what its readers of JSON, Avro and files raise
        raise PolicyError(
            f"{name} does not open as an Iceberg table. Mend it, or write another path at tables.{table}.source."
        ) from error
    files = [_local(own.file.file_path) for own in scanned]
    if any(own.delete_files for own in scanned):
        beyond.append("delete files")
    if any(own.file.file_format.value != "PARQUET" for own in scanned):
        beyond.append("files that are not Parquet")
    if None in files or not _is_here(found):
        beyond.append("files that are not on this machine")
    known = [file for file in files if file is not None]
    if not beyond and _unnumbered(table, name, known):
        beyond.append("files whose columns have no numbers")
    if beyond:
        raise PolicyError(
            f"{name} has what Parquet files alone do not show: {', '.join(beyond)}. Have its engine write all "
            f"of its files anew, or a copy, and name that at tables.{table}.source."
        )
    return _read(columns, known)


def _is_here(found: Any) -> bool:
    """Whether a table's list of files is on this machine: else it would be fetched."""
    now = found.current_snapshot()
    return now is None or _local(now.manifest_list) is not None


def _local(address: str) -> str | None:
    """The path of a file of this machine; None of another. Most writers leave it as it is, some quote it as a URI."""
    if not (match := _ADDRESS.match(address)):
        return None
    path, plain = match[1], unquote(match[1])
    return plain if not Path(path).exists() and Path(plain).exists() else path


def _type(written: object) -> str | None:
    text = str(written)
    return text.upper() if text.startswith("decimal(") else _TYPES.get(text)


def _unnumbered(table: str, name: str, files: Sequence[str]) -> bool:
    """Whether a file tells no number of any of its columns, as those that were only added to a table do not."""
    if not files:
        return False
    import duckdb  # the proxy's process, which looks for newer metadata alone, does without

    sql = f"SELECT count(field_id) = 0 FROM parquet_schema({_list(files)}) GROUP BY file_name"
    try:
        with duckdb.connect() as own:
            return any(without for (without,) in own.execute(sql).fetchall())
    except duckdb.Error as error:
        raise PolicyError(
            f"{name} names files that do not open. Mend it, or write another path at tables.{table}.source."
        ) from error


def _read(columns: dict[int, tuple[str, str]], files: Sequence[str]) -> str:
    """SQL of the rows of these files."""
    if not files:
        nothing = ", ".join(f"CAST(NULL AS {kind}) AS {DUCKDB.quoted(own)}" for own, kind in columns.values())
        return f"(SELECT {nothing} WHERE false)"
    schema = ", ".join(
        f"{number}: {{name: {DUCKDB.text(own)}, type: '{kind}', default_value: NULL}}"
        for number, (own, kind) in columns.items()
    )
    return f"read_parquet({_list(files)}, schema = MAP {{{schema}}}, hive_partitioning = false)"


def _list(files: Sequence[str]) -> str:
    return f"[{', '.join(DUCKDB.text(escape(file)) for file in files)}]"  # the engine takes every name for a pattern
