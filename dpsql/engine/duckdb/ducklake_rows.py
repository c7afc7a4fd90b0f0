"""The rows of a DuckLake's table, from its Parquet files and its catalogue: in the owner's process.

A column is read by its number, as in Iceberg. What the catalogue says of files is compared with the files themselves:
one that has other rows, or columns without numbers, is refused.

Tests: tests/unit/engine/test_ducklake.py.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from glob import escape
from itertools import count
from typing import TYPE_CHECKING

from dpsql.engine.duckdb.dialect import DUCKDB
from dpsql.errors import PolicyError

if TYPE_CHECKING:
    import duckdb

    from dpsql.engine.duckdb.ducklake_catalogue import DataFile, LakeColumn, Version

__all__ = ["rows_of_version"]

_FILE, _PLACE, _SNAPSHOT = "file of dpsql", "file_row_number", "_ducklake_internal_snapshot_id"
"""What files of rows and of deletions call the file, a row's place in it, and the snapshot that a row came with."""
_SNAPSHOT_NUMBER = 2147483539  # The number of that column in files of rows: 2^31 - 109, which Iceberg reserves.


def rows_of_version(connection: duckdb.DuckDBPyConnection, name: str, version: Version, snapshot: int) -> str:
    """What to write after FROM, on this connection, for a table at a snapshot.

    Places of deleted rows, and rows that the catalogue holds itself, become temporary tables: nothing of the catalogue
    has to stay open.

    Args:
        connection: The one that reads the source.
        name: The table, for messages.
        version: What the catalogue says of it.
        snapshot: Which.

    Raises:
        PolicyError: If its files are not what the catalogue says.
    """
    import duckdb

    if taken := {one.name.lower() for one in version.columns} & {_FILE, _PLACE, _SNAPSHOT}:
        raise PolicyError(f"{name} has a column {min(taken)}, a name that dpsql needs itself. Give it another one.")
    try:
        _compare(connection, name, version)
        gone = _gone(connection, version, snapshot)
        sides = [f"(SELECT {_nothing(version.columns)} WHERE false)"]
        whole, cut = ([one for one in version.files if one.cut is wanted] for wanted in (False, True))
        sides += [
            _read(version.columns, files, gone, until) for files, until in ((whole, None), (cut, snapshot)) if files
        ]
        if version.inlined:
            sides.append(_inlined(connection, version))
    except duckdb.Error as error:
        raise PolicyError(
            f"{name} names files that do not open as its catalogue has them. Run dpsql refresh again if somebody is "
            f"cleaning up there; else mend the lake, or write another source."
        ) from error
    return f"({' UNION ALL BY NAME '.join(sides)})"


def _compare(connection: duckdb.DuckDBPyConnection, name: str, version: Version) -> None:
    """Compares the catalogue with the files: their names, as the engine will tell them, their rows, and whether each
    column has a number. One that a file lacks had its default when the row was written.
    """
    files = {one.path: one for one in version.files}
    if not files:
        return
    sql = f"SELECT file_name, num_rows FROM parquet_file_metadata({_list(files)})"
    found: dict[str, int] = dict(connection.execute(sql).fetchall())
    sql = (
        f"SELECT file_name, list([num_children, field_id] ORDER BY column_id) FROM parquet_schema({_list(files)}) "
        f"GROUP BY file_name"
    )
    numbers = {path: _numbers(nodes) for path, nodes in connection.execute(sql).fetchall()}
    for path, file in files.items():
        known, wrong = numbers.get(path, set()), ""
        if found.get(path) != file.rows:
            wrong = "has other rows than"
        elif not known or (file.cut and _SNAPSHOT_NUMBER not in known):
            wrong = "has no numbers of its columns for"
        if wrong:
            raise PolicyError(f"{path} {wrong} the catalogue of {name}. Mend the lake, or write another source.")


def _numbers(nodes: Sequence[tuple[int | None, int | None]]) -> set[int]:
    """The numbers of a file's columns, which are none where one has none.

    Args:
        nodes: How many are right below each node of its schema, and its number; each comes before those below it.

    >>> _numbers([(2, None), (1, 4), (None, None), (None, 7)]), _numbers([(2, None), (None, 4), (None, None)])
    ({4, 7}, set())
    """
    found, below = set[int](), 0
    for children, number in nodes[1:]:
        if below:
            below += (children or 0) - 1
        elif number is None:
            return set()
        else:
            found.add(number)
            below = children or 0
    return found


def _gone(connection: duckdb.DuckDBPyConnection, version: Version, snapshot: int) -> str | None:
    """A table with the file and the place of each row that was deleted until then; None where none was."""
    listed = [(one.path, place) for one in version.files for place in one.gone]
    of = {one.deleted: one.path for one in version.files if one.deleted is not None}
    if not listed and not of:
        return None
    table = _scratch(connection)
    connection.execute(f"CREATE TABLE {table} (file VARCHAR NOT NULL, place BIGINT NOT NULL)")
    _fill(connection, table, listed)
    dated: set[str] = set()
    if of:
        schema = f"SELECT DISTINCT file_name FROM parquet_schema({_list(of)})"
        named = f"{schema} WHERE name = {DUCKDB.text(_SNAPSHOT)}"
        if {file for (file,) in connection.execute(schema).fetchall()} != of.keys():
            raise PolicyError(f"The files of deletions beside {min(of.values())} go by other names. Mend the lake.")
        dated = {file for (file,) in connection.execute(named).fetchall()}
    for files, until in ((of.keys() - dated, ""), (dated, f'WHERE d."{_SNAPSHOT}" <= {snapshot}')):
        if files:
            pairs = ", ".join(f"({DUCKDB.text(file)}, {DUCKDB.text(of[file])})" for file in sorted(files))
            connection.execute(
                f"INSERT INTO {table} SELECT p.data, d.pos FROM read_parquet({_list(sorted(files))}, "
                f"filename = '{_FILE}', hive_partitioning = false) AS d JOIN (VALUES {pairs}) AS p(deleted, data) "
                f'ON d."{_FILE}" = p.deleted {until}'
            )
    return table


def _read(columns: Sequence[LakeColumn], files: Sequence[DataFile], gone: str | None, until: int | None) -> str:
    """SQL of the rows of these files, without those that are gone, and of no later snapshot."""
    entries = [_entry(one.number, one.name, one.kind, one.default) for one in columns]
    if until is not None:
        entries.append(_entry(_SNAPSHOT_NUMBER, _SNAPSHOT, "BIGINT", None))
    beside = f", filename = '{_FILE}', {_PLACE} = true" if gone else ""
    rows = (
        f"read_parquet({_list([one.path for one in files])}, schema = MAP {{{', '.join(entries)}}}"
        f"{beside}, hive_partitioning = false) AS r"
    )
    if gone:
        rows += f' ANTI JOIN {gone} AS g ON g.file = r."{_FILE}" AND g.place = r.{_PLACE}'
    named = ", ".join(f"r.{DUCKDB.quoted(one.name)}" for one in columns)
    kept = "" if until is None else f' WHERE r."{_SNAPSHOT}" <= {until}'
    return f"(SELECT {named} FROM {rows}{kept})"


def _inlined(connection: duckdb.DuckDBPyConnection, version: Version) -> str:
    """SQL of the rows that the catalogue holds itself."""
    table = _scratch(connection)
    names = [f"c{place}" for place in range(len(version.columns))]
    connection.execute(f"CREATE TABLE {table} ({', '.join(f'{name} VARCHAR' for name in names)})")
    _fill(connection, table, version.inlined)
    cast = (
        f"CAST({name} AS {one.kind}) AS {DUCKDB.quoted(one.name)}"
        for name, one in zip(names, version.columns, strict=True)
    )
    return f"(SELECT {', '.join(cast)} FROM {table})"


_NAMES = count(1)  # One number for each table in memory of this process.


def _scratch(connection: duckdb.DuckDBPyConnection) -> str:
    """A name for a table in memory, until the database is closed: all connections to it see one, no temporary one."""
    connection.execute("ATTACH IF NOT EXISTS ':memory:' AS lakes")
    return f"lakes.main.rows{next(_NAMES)}"


def _fill(connection: duckdb.DuckDBPyConnection, table: str, rows: Sequence[tuple[object, ...]]) -> None:
    if rows:
        lists = [list(column) for column in zip(*rows, strict=True)]
        connection.execute(f"INSERT INTO {table} SELECT {', '.join('unnest(?)' for _ in lists)}", lists)


def _nothing(columns: Sequence[LakeColumn]) -> str:
    return ", ".join(f"CAST(NULL AS {one.kind}) AS {DUCKDB.quoted(one.name)}" for one in columns)


def _entry(number: int, name: str, kind: str, default: str | None) -> str:
    value = "NULL" if default is None else DUCKDB.text(default)
    return f"{number}: {{name: {DUCKDB.text(name)}, type: '{kind}', default_value: CAST({value} AS VARCHAR)}}"


def _list(files: Iterable[str]) -> str:
    return f"[{', '.join(DUCKDB.text(escape(file)) for file in files)}]"  # the engine takes every name for a pattern
