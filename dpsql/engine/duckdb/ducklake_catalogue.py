"""What the catalogue of a DuckLake says of one table at one snapshot: its columns, its files, and which rows are gone.

What is not known here is refused: rows that are read wrongly look like others.

Source: the specification, https://ducklake.select/docs/stable/specification/introduction (tables, queries, paths), and
what the extension ``ducklake`` 1.5.5 writes. Tests: tests/unit/engine/test_ducklake.py.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dpsql.engine.duckdb.dialect import DUCKDB
from dpsql.errors import PolicyError

__all__ = ["DataFile", "LakeCatalogue", "LakeColumn", "Row", "Text", "Version"]

Row = tuple[Any, ...]
Text = str | None

_FORMAT = "1.0"  # Version of the format; later ones may delete rows in ways that are not looked for here.
_TYPES = {
    "boolean": "BOOLEAN", "int8": "TINYINT", "int16": "SMALLINT", "int32": "INTEGER", "int64": "BIGINT",
    "uint8": "UTINYINT", "uint16": "USMALLINT", "uint32": "UINTEGER", "uint64": "UBIGINT",
    "float32": "FLOAT", "float64": "DOUBLE", "date": "DATE", "timestamp": "TIMESTAMP",
    "timestamptz": "TIMESTAMPTZ", "timestamp_s": "TIMESTAMP_S", "timestamp_ms": "TIMESTAMP_MS",
    "timestamp_ns": "TIMESTAMP_NS", "varchar": "VARCHAR", "blob": "BLOB", "uuid": "UUID",
}  # fmt: skip
"""DuckDB's names of DuckLake's types; decimals keep theirs, and columns of other types are left out: nested ones, and
integers of 128 bits, which files hold rounded."""
_DECIMAL = re.compile(r"decimal\(\d+, ?\d+\)")
_READ = {
    "ducklake_metadata": "key value scope scope_id",
    "ducklake_schema": "schema_id schema_uuid begin_snapshot end_snapshot schema_name path path_is_relative",
    "ducklake_table": "table_id table_uuid begin_snapshot end_snapshot schema_id table_name path path_is_relative",
    "ducklake_column": "column_id begin_snapshot end_snapshot table_id column_order column_name column_type "
    "initial_default default_value nulls_allowed parent_column default_value_type default_value_dialect",
    "ducklake_data_file": "data_file_id table_id begin_snapshot end_snapshot file_order path path_is_relative "
    "file_format record_count file_size_bytes footer_size row_id_start partition_id encryption_key mapping_id "
    "partial_max",
    "ducklake_delete_file": "delete_file_id table_id begin_snapshot end_snapshot data_file_id path path_is_relative "
    "format delete_count file_size_bytes footer_size encryption_key partial_max",
    "ducklake_inlined_data_tables": "table_id table_name schema_version",
    "ducklake_schema_versions": "begin_snapshot schema_version table_id",
    "ducklake_snapshot": "snapshot_id snapshot_time schema_version next_catalog_id next_file_id",
}
"""The tables that are read, with all of their columns: one more might say that a file is not what it was."""


@dataclass(frozen=True, slots=True)
class LakeColumn:
    """A column of the table.

    Attributes:
        number: The same whatever it is called; files know it by this one.
        name: What it is called at the snapshot.
        kind: Its type, by DuckDB's name.
        default: The value of rows in files without it, as text.
    """

    number: int
    name: str
    kind: str
    default: Text


@dataclass(frozen=True, slots=True)
class DataFile:
    """A Parquet file of the table.

    Attributes:
        path: Where.
        rows: How many it has, deleted ones too.
        cut: Whether rows of later snapshots are in it, too, each with the number of its own.
        deleted: The Parquet file with the places of rows that are gone, if there is one.
        gone: Places of other rows that are gone.
    """

    path: str
    rows: int
    cut: bool
    deleted: Text
    gone: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Version:
    """A table at a snapshot.

    Attributes:
        snapshot: The number; None where the lake has no later one, which tells nothing of the table itself.
        columns: Those of known types, in order.
        files: Its data files.
        inlined: Rows that lie in the catalogue itself: the values of the columns, as text.
    """

    snapshot: int | None
    columns: tuple[LakeColumn, ...]
    files: tuple[DataFile, ...]
    inlined: tuple[tuple[Text, ...], ...]


class LakeCatalogue:
    """An open catalogue.

    Args:
        file: Its path.
        ask: Gives the rows of a query.
        columns: Its tables, with the names of their columns in order.
        cast: What makes a value text, with {} for it.
    """

    def __init__(
        self, file: str, ask: Callable[[str], list[Row]], columns: Mapping[str, Sequence[str]], cast: str
    ) -> None:
        self._file, self._ask, self._columns, self._cast = file, ask, columns, cast
        if "ducklake_metadata" not in columns:
            raise PolicyError(f"{file} is not the catalogue of a DuckLake. Write the path of one before the #.")
        found: dict[str, str] = dict(ask("SELECT key, value FROM ducklake_metadata WHERE scope IS NULL"))
        self._data, self._encrypted = str(found.get("data_path", "")), found.get("encrypted") != "false"
        if (version := found.get("version")) != _FORMAT:
            raise PolicyError(
                f"{file} is a DuckLake of version {version} of the format, and dpsql reads {_FORMAT} alone. Bring it "
                f"there with DuckDB's extension ducklake, or write a copy of the table as Parquet, and name that."
            )
        for table, names in _READ.items():
            if more := set(names.split()) ^ set(columns.get(table, ())):
                raise PolicyError(
                    f"{file} is not as version {_FORMAT} of DuckLake's format has it: {table}.{min(more)}. Write a "
                    f"copy of the table as Parquet, and name that."
                )

    def newest(self) -> int:
        """The number of the newest snapshot."""
        return int(self._ask("SELECT coalesce(max(snapshot_id), -1) FROM ducklake_snapshot")[0][0])

    def tables(self) -> list[tuple[str, str]]:
        """(schema, name) of each table of the newest snapshot, those of ``main`` first."""
        now = self.newest()
        return [
            (schema, name)
            for schema, name in self._ask(
                f"SELECT schema_name, table_name FROM ducklake_table AS t JOIN ducklake_schema AS s USING (schema_id) "
                f"WHERE {_at(now, 't.')} AND {_at(now, 's.')} ORDER BY schema_name <> 'main', schema_name, table_name"
            )
        ]

    def version(self, schema: str, name: str, snapshot: int) -> Version:
        """A table at a snapshot.

        Raises:
            PolicyError: If there is none, or it has what is not read here.
        """
        if not self._ask(f"SELECT 1 FROM ducklake_snapshot WHERE snapshot_id = {snapshot}"):
            raise PolicyError(f"{self._file} has no snapshot {snapshot} any more. Run dpsql refresh again.")
        number, folder = self._table(schema, name, snapshot)
        columns = self._columns_of(number, snapshot)
        if not columns:
            raise PolicyError(f"{self._file}#{schema}.{name} has no column of a type that dpsql reads. Write another.")
        files = self._files(number, folder, snapshot, f"{self._file}#{schema}.{name}")
        inlined = tuple(self._inlined(number, columns, snapshot))
        return Version(None if snapshot == self.newest() else snapshot, columns, files, inlined)

    def _table(self, schema: str, name: str, snapshot: int) -> tuple[int, str]:
        """(number, folder) of a table. Upper and lower case are alike in names, as DuckDB has it."""
        found = self._ask(
            f"SELECT t.table_id, s.path, s.path_is_relative, t.path, t.path_is_relative FROM ducklake_table AS t "
            f"JOIN ducklake_schema AS s USING (schema_id) WHERE {_at(snapshot, 't.')} AND {_at(snapshot, 's.')} "
            f"AND lower(schema_name) = lower({DUCKDB.text(schema)}) AND lower(table_name) = lower({DUCKDB.text(name)})"
        )
        if len(found) != 1:
            raise PolicyError(
                f"The DuckLake {self._file} has no table {name} in its schema {schema} (views are not read). Create it "
                f"there, or write source: {Path(self._file).name}#SCHEMA.TABLE at the table in the policy."
            )
        ((number, of_schema, below_data, of_table, below_schema),) = found
        data = os.path.join(Path(self._file).absolute().parent, self._data)  # noqa: PTH118 - an address keeps its slashes
        return int(number), _below(_below(data, of_schema, below_data), of_table, below_schema)

    def _columns_of(self, table: int, snapshot: int) -> tuple[LakeColumn, ...]:
        rows = self._ask(
            f"SELECT column_id, column_name, column_type, initial_default FROM ducklake_column "
            f"WHERE table_id = {table} AND {_at(snapshot)} AND parent_column IS NULL ORDER BY column_order"
        )
        known = ((number, name, _type(kind), default) for number, name, kind, default in rows)
        return tuple(LakeColumn(number, name, kind, default) for number, name, kind, default in known if kind)

    def _files(self, table: int, folder: str, snapshot: int, name: str) -> tuple[DataFile, ...]:
        """The data files of a table.

        Raises:
            PolicyError: If some have what is not read here.
        """
        found = self._ask(
            f"SELECT f.data_file_id, f.path, f.path_is_relative, f.record_count, "
            f"coalesce(f.partial_max > {snapshot}, false), d.path, d.path_is_relative, lower(f.file_format), "
            f"lower(d.format), f.mapping_id, coalesce(f.encryption_key, d.encryption_key) FROM ducklake_data_file AS f "
            f"LEFT JOIN (SELECT * FROM ducklake_delete_file WHERE table_id = {table} AND {_at(snapshot)}) AS d "
            f"ON d.data_file_id = f.data_file_id WHERE f.table_id = {table} AND {_at(snapshot, 'f.')} "
            f"ORDER BY f.data_file_id"
        )
        gone, files, beyond = self._gone(table, snapshot), list[DataFile](), set[str]()
        for number, path, relative, rows, cut, deleted, below, kind, other, mapping, key in found:
            places = [_below(folder, path, relative), *([] if deleted is None else [_below(folder, deleted, below)])]
            told = {
                "encryption": self._encrypted or key is not None,
                "files that are not Parquet": kind != "parquet",
                "deletion vectors": other not in (None, "parquet"),
                "files whose columns are told by their names": mapping is not None,
                "files that are not on this machine": not all(map(_is_here, places)),
            }
            beyond |= {what for what, there in told.items() if there}
            first, *second = map(os.path.normpath, places)
            files.append(DataFile(first, rows, bool(cut), second[0] if second else None, gone.get(number, ())))
        named = [place for one in files for place in (one.path, one.deleted) if place is not None]
        if len(set(named)) < len(named):
            beyond.add("files that are listed twice")
        if beyond:
            raise PolicyError(
                f"{name} has what dpsql does not read in a DuckLake: {', '.join(sorted(beyond))}. Write a copy of the "
                f"table without it, or as Parquet, and name that as its source."
            )
        return tuple(files)

    def _gone(self, table: int, snapshot: int) -> dict[int, tuple[int, ...]]:
        """Places of deleted rows that the catalogue lists itself, by the number of their file."""
        own = f"ducklake_inlined_delete_{table}"
        if own not in self._columns:
            return {}
        self._expect(own, ["file_id", "row_id", "begin_snapshot"])
        found: dict[int, list[int]] = {}
        sql = f"SELECT file_id, row_id FROM {own} WHERE begin_snapshot <= {snapshot} ORDER BY file_id, row_id"
        for file, place in self._ask(sql):
            found.setdefault(file, []).append(place)
        return {file: tuple(places) for file, places in found.items()}

    def _inlined(self, table: int, columns: Sequence[LakeColumn], snapshot: int) -> Iterator[tuple[Text, ...]]:
        """The rows that lie in the catalogue, in tables with the columns that were there when they were made."""
        listed = self._ask(
            f"SELECT i.table_name, v.begin_snapshot FROM ducklake_inlined_data_tables AS i LEFT JOIN "
            f"ducklake_schema_versions AS v ON v.table_id = i.table_id AND v.schema_version = i.schema_version "
            f"WHERE i.table_id = {table} ORDER BY i.table_name"
        )
        if len({own for own, _ in listed}) < len(listed):
            raise PolicyError(f"{self._file} tells the columns of the rows that it holds itself twice. Mend the lake.")
        for own, since in listed:
            made_of = self._ask(
                f"SELECT column_name, column_id FROM ducklake_column WHERE table_id = {table} "
                f"AND parent_column IS NULL AND {_at(-1 if since is None else int(since))} ORDER BY column_order"
            )
            self._expect(own, ["row_id", "begin_snapshot", "end_snapshot", *(name for name, _ in made_of)])
            called = {number: self._cast.format(DUCKDB.quoted(name)) for name, number in made_of}
            picked = ", ".join(called.get(one.number, _literal(one.default)) for one in columns)
            sql = f"SELECT {picked} FROM {DUCKDB.quoted(own)} WHERE {_at(snapshot)} ORDER BY row_id"
            yield from (tuple(map(_text, row)) for row in self._ask(sql))

    def _expect(self, table: str, columns: Sequence[str]) -> None:
        if list(self._columns.get(table, ())) != list(columns):
            raise PolicyError(
                f"{self._file} does not have {table} as its columns would have it. Have its rows written to files "
                f"(CALL ducklake_flush_inlined_data), or write a copy of the table as Parquet, and name that."
            )


def _at(snapshot: int, table: str = "") -> str:
    """The condition that what a row tells of is there at a snapshot."""
    return f"{table}begin_snapshot <= {snapshot} AND ({table}end_snapshot IS NULL OR {table}end_snapshot > {snapshot})"


def _type(written: str) -> Text:
    text = written.lower()
    return text.upper() if _DECIMAL.fullmatch(text) else _TYPES.get(text)


def _below(folder: str, path: str, relative: object) -> str:
    return os.path.join(folder, path) if relative else path  # noqa: PTH118 - an address keeps its slashes


def _is_here(path: str) -> bool:
    return Path(path).is_absolute() and "://" not in path


def _literal(value: Text) -> str:
    return "NULL" if value is None else DUCKDB.text(value)


def _text(value: object) -> Text:
    """A value of the catalogue as DuckDB casts it from text."""
    if isinstance(value, bytes):
        return "".join(f"\\x{byte:02X}" for byte in value)
    return value if value is None or isinstance(value, str) else str(value)
