"""What a source holds, by its schema: names, types, and the keys that the database declares; never a value.

A CSV file has no schema: of it the first lines say types, and how values are written (`csv_formats`).

Tests: tests/unit/engine/test_describe.py.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from dpsql.engine.database import SourceType, TableSchema
from dpsql.engine.duckdb.csv_formats import CELLS, LINES, Formats, written
from dpsql.engine.duckdb.ducklake import Address, address_of, tables_of
from dpsql.engine.duckdb.files import PARQUET, is_pattern, matching
from dpsql.engine.duckdb.files import is_table as named
from dpsql.engine.duckdb.lakes import lake_of
from dpsql.engine.duckdb.types import source_type
from dpsql.engines import CSV
from dpsql.errors import OperationalError, PolicyError

if TYPE_CHECKING:
    import duckdb

__all__ = ["beside", "describe", "is_table", "keys", "left_out", "reads"]

_COLUMNS = """
    SELECT schema_name, table_name, column_name, data_type
    FROM duckdb_columns()
    WHERE database_name = current_database() AND NOT internal
    ORDER BY schema_name <> 'main', schema_name, table_name, column_index
"""
_CONSTRAINTS = """
    SELECT schema_name, table_name, constraint_type, constraint_column_names, referenced_table,
        referenced_column_names
    FROM duckdb_constraints()
    WHERE database_name = current_database() AND constraint_type IN ('PRIMARY KEY', 'UNIQUE', 'FOREIGN KEY')
    ORDER BY constraint_type
"""
_COMMENTS = """
    SELECT schema_name, table_name, '', comment FROM duckdb_tables()
    WHERE database_name = current_database() AND comment IS NOT NULL
    UNION ALL
    SELECT schema_name, view_name, '', comment FROM duckdb_views()
    WHERE database_name = current_database() AND comment IS NOT NULL
    UNION ALL
    SELECT schema_name, table_name, column_name, comment FROM duckdb_columns()
    WHERE database_name = current_database() AND comment IS NOT NULL
"""
"""On tables and views, whose column is '', and on columns."""
_PLAIN = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,62}")

Tables = Mapping[str, TableSchema]


def reads(source: str) -> bool:
    """Whether a source may be a path: whatever no other engine reads."""
    return True


def beside(source: str) -> Path:
    """The source without its ending; of a pattern the folder where it begins."""
    path = Path(source)
    while any(set("*?[") & set(part) for part in path.parts) and not path.is_file():
        path = path.parent
    return (path if path.name else Path.cwd() / Path.cwd().name).with_suffix("")


def keys(source: str, at: Path) -> dict[str, str]:
    """What a policy writes under ``engine`` beside its kind, for tables of this source; none for tables' own files."""
    return {} if is_table(source) else {"database": os.path.relpath(source, at)}


def is_table(source: str | Path) -> bool:
    """Whether a source is files of rows: Parquet or CSV by its name, a pattern of them, a folder, or a DuckLake."""
    return Path(source).is_dir() or named(Path(source).name) or address_of("", str(source)) is not None


def describe(source: str | Path) -> Tables:
    """The tables and views of a source by the name that a policy may give them.

    A database's tables outside the schema ``main`` come last, as ``schema_table``. A file is a table of its own name.
    The files of a folder or a pattern are one table where they have the same columns, else a table each.

    Raises:
        OperationalError: If the source is missing, cannot be read, is in use, or holds no table.
    """
    source = Path(source)
    if source.is_dir():
        return _tables_of_folder(source)
    if lake := address_of("", str(source)):
        return _tables_of_ducklake(lake)
    if is_table(source):
        return _tables_of_files(source)
    if not source.is_file():
        raise OperationalError(
            f"{source} is not a file. Write the path of a DuckDB database, of Parquet or CSV files, or of a folder."
        )
    return _tables_of_database(source)


def left_out(source: str | Path) -> list[Path]:
    """The files of rows in a folder that `describe` does not read: of another ending, or further inside; in order."""
    folder = Path(source)
    if not folder.is_dir() or lake_of(str(folder)) or (pattern := _pattern(folder)) is None:
        return []
    read = set(folder.glob(pattern))
    return sorted(file for file in folder.rglob("*") if file not in read and named(file.name) and file.is_file())


def _pattern(folder: Path) -> str | None:
    """The files of a folder that are read: of the first ending that any has, in it, or further inside if none is."""
    patterns = (pattern for ending in (*PARQUET, *CSV) for pattern in (f"*{ending}", f"**/*{ending}"))
    return next((pattern for pattern in patterns if any(folder.glob(pattern))), None)


def _tables_of_folder(folder: Path) -> Tables:
    """Those of the files that lie in it, of the first ending that any has; or itself, if it is one of a lake."""
    if lake_of(str(folder)):
        return {_name(folder): TableSchema(_columns_of(folder), file=folder)}
    if (pattern := _pattern(folder)) is not None:
        return _tables_of_files(folder / pattern)
    raise OperationalError(f"{folder} holds no Parquet or CSV file. Write the path of one that does.")


def _tables_of_ducklake(lake: Address) -> Tables:
    """Those of its newest snapshot with plain names; or the one that the source names."""
    if lake.table:
        return {lake.table: TableSchema(_columns_of(Path(str(lake))), file=Path(str(lake)))}
    try:
        found = tables_of(lake.file)
    except PolicyError as error:
        raise OperationalError(str(error)) from None
    if not found:
        raise OperationalError(f"{lake.file} holds no table. Create the tables first.")
    taken = {name for schema, name, _ in found if schema == "main"}
    return {
        name if schema == "main" else _beside(f"{schema}_{name}", taken): TableSchema(
            _columns_of(Path(str(one))), file=Path(str(one))
        )
        for schema, name, one in found
    }


def _tables_of_files(source: Path) -> Tables:
    files = [Path(file) for file in matching(str(source))]
    if not files or not all(file.is_file() for file in files):
        raise OperationalError(f"{source} is not a file, and no pattern of files that are there. Write another path.")
    found = {file: _columns_of(file) for file in files}
    if len(files) == 1 and not is_pattern(str(source)):
        return {_name(files[0]): _schema(found[files[0]], source)}
    if len(set(found.values())) == 1:
        parts = (part for part in reversed(source.parts[:-1]) if _PLAIN.fullmatch(part))
        return {next(parts, _name(files[0])): _schema(found[files[0]], source)}
    named: dict[str, Path] = {}
    for file in files:
        first = named.setdefault(_name(file), file)
        if first is not file:
            raise OperationalError(
                f"Two files have one name, which is that of their table: {first} and {file}. Rename one."
            )
    return {_name(file): _schema(columns, file) for file, columns in found.items()}


def _schema(columns: tuple[tuple[str, SourceType], ...], file: Path) -> TableSchema:
    """Of one table: a CSV file's types, and how it writes values, as its first lines say."""
    found = _looked_at(file, len(columns)) if any(kind.family == "untyped" for _, kind in columns) else Formats()
    return (
        TableSchema(found.typed(columns), file=file, csv=tuple(found.options), seen=found.seen)
        if found.types
        else TableSchema(columns, file=file)
    )


def _looked_at(file: Path, columns: int) -> Formats:
    """What the first lines of a CSV file hold; nothing where one of them cannot be read, as the build will say."""
    import duckdb

    from dpsql.engine.duckdb.database import DuckDBDatabase

    with duckdb.connect() as connection:
        database = DuckDBDatabase(connection)
        table = database.table(file.name, str(file))
        lines = min(LINES, CELLS // columns)
        try:
            rows = database.rows(f"SELECT * FROM {table.sql} AS s LIMIT {lines}")
        except (duckdb.Error, OperationalError):
            return Formats()
    return written(dict(zip(table.types, zip(*rows, strict=True), strict=True))) if rows else Formats()


def _name(file: Path) -> str:
    return file.name.split(".")[0]


def _columns_of(file: Path) -> tuple[tuple[str, SourceType], ...]:
    """The columns of a Parquet or CSV file; those of the latter have no types."""
    import duckdb

    from dpsql.engine.duckdb.database import DuckDBDatabase

    try:
        with duckdb.connect() as connection:
            table = DuckDBDatabase(connection).table(file.name, str(file))
    except (duckdb.Error, UnicodeDecodeError, PolicyError) as error:
        why = str(error) if isinstance(error, PolicyError) else f"{file} cannot be read as the file that its name says."
        raise OperationalError(why) from None
    untyped = SourceType("CSV", "untyped")
    return tuple((name, kind if table.typed else untyped) for name, kind in table.types.items())


def _tables_of_database(database: Path) -> Tables:
    import duckdb

    locked: dict[str, str | bool | int | float | list[str]] = {
        "enable_external_access": "false",
        "autoload_known_extensions": "false",
    }
    try:
        with duckdb.connect(str(database), read_only=True, config=locked) as connection:
            tables = _described(connection)
    except duckdb.Error as error:
        raise OperationalError(
            f"{database} cannot be read as a DuckDB database. Write the path of one that nobody is writing to.\n"
            f"DuckDB says: {str(error).splitlines()[0]}"
        ) from None
    if not tables:
        raise OperationalError(f"{database} holds no table. Create the tables first.")
    return tables


def _described(connection: duckdb.DuckDBPyConnection) -> Tables:
    columns: dict[tuple[str, str], list[tuple[str, SourceType]]] = {}
    for schema, table, column, kind in connection.execute(_COLUMNS).fetchall():
        columns.setdefault((schema, table), []).append((column, source_type(kind)))
    taken = {table for schema, table in columns if schema == "main"}
    names = {place: place[1] if place[0] == "main" else _beside(f"{place[0]}_{place[1]}", taken) for place in columns}
    unique: dict[tuple[str, str], list[tuple[str, ...]]] = {}
    references: dict[tuple[str, str], dict[str, tuple[str, str]]] = {}
    for schema, table, kind, own, other, others in connection.execute(_CONSTRAINTS).fetchall():
        if kind != "FOREIGN KEY":
            unique.setdefault((schema, table), []).append(tuple(own))
        elif len(own) == 1 and (schema, other) in names:
            references.setdefault((schema, table), {})[own[0]] = (names[schema, other], others[0])
    comments: dict[tuple[str, str], dict[str, str]] = {}
    for schema, table, column, comment in connection.execute(_COMMENTS).fetchall():
        comments.setdefault((schema, table), {})[column] = comment
    return {
        names[place]: TableSchema(
            tuple(found),
            stored=None if place[0] == "main" else ".".join(place),
            keys=tuple(unique.get(place, ())),
            references=references.get(place, {}),
            comment=comments.get(place, {}).pop("", ""),
            comments=comments.get(place, {}),
        )
        for place, found in columns.items()
    }


def _beside(name: str, taken: set[str]) -> str:
    """The name, or the next one that no table has."""
    while name in taken:
        name += "_"
    taken.add(name)
    return name
