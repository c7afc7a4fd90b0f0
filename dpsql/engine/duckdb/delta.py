"""Delta Lake tables on this machine: which Parquet files are a version, and what their folders say.

The log is read by ``deltalake``, which comes with the extra ``delta``; the rows are read by DuckDB. A version is told
by the file of its commit: one that comes later is a change of the data, as another file is.

Source: the protocol, https://github.com/delta-io/delta/blob/master/PROTOCOL.md (add actions, partition values, table
features). Tests: tests/unit/engine/test_delta.py.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from glob import escape
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from dpsql.engine.duckdb.dialect import DUCKDB
from dpsql.errors import OperationalError, PolicyError

__all__ = ["commit_number", "is_delta", "newest_commit", "rows_of_delta"]

_LOG = "_delta_log"
_FILE = "file of dpsql"  # The column that says which file a row is of.
_PARTITION = "partition."  # What begins the names of a file's own values.
_KNOWN = {"timestampNtz", "v2Checkpoint", "vacuumProtocolCheck"}
"""Features of a table that change nothing of what its Parquet files say."""
_TYPES = {
    "string": "VARCHAR", "long": "BIGINT", "integer": "INTEGER", "short": "SMALLINT", "byte": "TINYINT",
    "float": "FLOAT", "double": "DOUBLE", "boolean": "BOOLEAN", "date": "DATE", "timestamp": "TIMESTAMPTZ",
    "timestamp_ntz": "TIMESTAMP", "binary": "BLOB",
}  # fmt: skip
"""DuckDB's names of Delta's types; decimals keep theirs, and columns of other types are left out."""


def is_delta(name: str) -> bool:
    """Whether a path is a folder that holds a Delta table."""
    return (Path(name) / _LOG).is_dir()


def newest_commit(name: str) -> str:
    """The file of the newest version in a table's log: another one is a change of the data."""
    files = map(str, (Path(name) / _LOG).glob("[0-9]*.json"))
    return max((file for file in files if commit_number(file) is not None), default=str(Path(name) / _LOG))


def commit_number(file: str) -> int | None:
    """The number of the version that a file of a log commits; None of any other file.

    >>> commit_number("visits/_delta_log/00000000000000000012.json"), commit_number("visits/12.json")
    (12, None)
    """
    path = Path(file)
    known = path.parent.name == _LOG and path.suffix == ".json" and path.stem.isdecimal()
    return int(path.stem) if known else None


def rows_of_delta(table: str, name: str, commit: str) -> str:
    """What to write after FROM for a version of a Delta table.

    Args:
        table: The table, for messages.
        name: The path of its folder.
        commit: The file of the version's commit.

    Raises:
        OperationalError: ``deltalake`` is not installed.
        PolicyError: The table does not open, or its Parquet files alone do not say which rows it has.
    """
    try:
        from deltalake import DeltaTable
        from deltalake.exceptions import DeltaError
    except ImportError:
        raise OperationalError(
            f"{name} is a Delta table. Write, in the copy of dpsql's repository: pip install '.[delta]'"
        ) from None
    try:
        found = DeltaTable(name, version=commit_number(commit))
        protocol, configuration = found.protocol(), found.metadata().configuration
        added = found.get_add_actions(flatten=True)
        fields = json.loads(found.schema().to_json())["fields"]
    except (DeltaError, OSError, ValueError) as error:
        raise PolicyError(
            f"{name} does not open as a Delta table. Mend it, or write another path at tables.{table}.source."
        ) from error
    beyond = sorted(set(protocol.reader_features or ()) - _KNOWN)
    if configuration.get("delta.columnMapping.mode", "none") != "none":
        beyond = sorted({*beyond, "columnMapping"})
    if beyond:
        raise PolicyError(
            f"{name} has features that its Parquet files alone do not show: {', '.join(beyond)}. Write a copy without "
            f"them, and name it at tables.{table}.source."
        )
    types = {own["name"]: kind for own in fields if (kind := _type(own["type"])) is not None}
    nothing = ", ".join(f"CAST(NULL AS {kind}) AS {DUCKDB.quoted(own)}" for own, kind in types.items())
    sides = [f"(SELECT {nothing} WHERE false)", *_read(Path(name), list(_rows(added)), types)]
    return f"({' UNION ALL BY NAME '.join(sides)})"


def _rows(added: Any) -> Iterator[Mapping[str, Any]]:
    """The files that are in the table, each with its path and its own values."""
    names = added.schema.names
    columns = [added.column(number).to_pylist() for number in range(len(names))]
    yield from (dict(zip(names, row, strict=True)) for row in zip(*columns, strict=True))


def _type(written: object) -> str | None:
    if not isinstance(written, str):
        return None  # of a struct, a list or a map
    return written.upper() if written.startswith("decimal(") else _TYPES.get(written)


def _read(folder: Path, added: list[Mapping[str, Any]], types: Mapping[str, str]) -> list[str]:
    """SQL of the rows of these files; none where there is no file."""
    if not added:
        return []
    files = [str(folder / unquote(own["path"])) for own in added]
    told = [name for name in added[0] if name.startswith(_PARTITION)]
    own = {name: name.removeprefix(_PARTITION) for name in told}
    texts = ", ".join(DUCKDB.text(escape(file)) for file in files)  # the engine takes every name for a pattern
    rows = f"read_parquet([{texts}], filename = '{_FILE}', union_by_name = true, hive_partitioning = false)"
    if not own:
        return [f'(SELECT * EXCLUDE ("{_FILE}") FROM {rows})']
    values = ", ".join(
        f"({', '.join([DUCKDB.text(file), *(_value(one[name], types[short]) for name, short in own.items())])})"
        for file, one in zip(files, added, strict=True)
    )
    named, written = ", ".join(map(DUCKDB.quoted, own.values())), ", ".join(map(DUCKDB.text, own.values()))
    rows = f"(SELECT COLUMNS(lambda c: c NOT IN ({written})) FROM {rows})"  # some writers have them in the files, too
    return [
        f'(SELECT r.* EXCLUDE ("{_FILE}"), {named} FROM {rows} AS r JOIN (VALUES {values}) '
        f'AS p("its file", {named}) ON r."{_FILE}" = p."its file")'
    ]


def _value(value: object, kind: str) -> str:
    """One value of a file's own, as SQL."""
    return f"CAST({'NULL' if value is None else DUCKDB.text(str(value))} AS {kind})"
