"""Whether the owner's files changed since the bounded tables were built from them.

It is told by size and time of the files, and by their content only where the time alone is another one: a look at a
time costs nothing, a look at the content about a second for each gigabyte.

Tests: tests/unit/owner/building/test_builder.py.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping
from typing import Any

from dpsql.engine.duckdb.ducklake import Address, address_of, newest, snapshot_of, state
from dpsql.engine.duckdb.files import matching
from dpsql.engine.duckdb.lakes import lake_of, version_of

__all__ = ["apart", "contents", "fingerprint", "may_be_equal", "number", "opens", "versions"]


def opens(tables: Mapping[str, str | None]) -> bool:
    """Whether `versions` opens a file: the catalogue of a DuckLake."""
    return bool(_ducklakes(tables))


def versions(source: Mapping[str, str], tables: Mapping[str, str | None]) -> dict[str, str]:
    """The file that tells of the newest version of each table of a lake, or its address with the newest snapshot."""
    catalogued = newest({name: one for name, one in _ducklakes(tables).items() if one.snapshot is None})
    found = {
        name: lake.newest(file)
        for name, file in tables.items()
        if file is not None and (lake := lake_of(os.fsdecode(_name(file))))
    }
    return catalogued | {name: file for name, file in found.items() if version_of(file)}  # else its log has none


def number(version: str) -> int:
    """The number of a version, as its store has it."""
    found, snapshot = version_of(version), snapshot_of(version)
    if found is None and snapshot is None:
        raise ValueError(version)
    return found[2] if found else int(snapshot or 0)


def fingerprint(source: Mapping[str, str], tables: Mapping[str, str | None]) -> list[list[Any]]:
    """[path, size, time of its last change in ns] of each file, sorted.

    A database's write-ahead log counts as a file of its own. A table of a DuckLake is [its address, None, such marks of
    its catalogue]; at one snapshot, nothing can change it, and the marks are None.
    """
    return [
        *(_mark(path) for path in _paths(source, tables)),
        *([name, None, _marks(one)] for name, one in _by_address(tables)),
    ]


def may_be_equal(one: list[list[Any]], other: list[list[Any]]) -> bool:
    """Whether two fingerprints differ in nothing but times."""
    return [mark[:2] for mark in one] == [mark[:2] for mark in other]


def contents(source: Mapping[str, str], tables: Mapping[str, str | None]) -> list[list[str | None]]:
    """[path, SHA-256 of the content] of each file, sorted; of a DuckLake's table its address and `state`. Runs in the
    owner's process.
    """
    files: list[list[str | None]] = [[path, _digest(path)] for path in _paths(source, tables)]
    return files + [[name, state(one)] for name, one in _by_address(tables)]


def apart(tables: Mapping[str, str | None], contents: list[list[str | None]]) -> Mapping[str, Any]:
    """[path, SHA-256 of the content] of the files of each table that has its own.

    A table of the database has none: it may be a view, and another program's file may be what it reads. Of a lake only
    the file is known here that names the others.
    """
    found = {str(path): digest for path, digest in contents}
    files = {name: file for name, file in tables.items() if file is not None and not _of_lake(file)}
    own = {name: sorted(_files(file)) for name, file in files.items()}
    return {name: [[path, found.get(path)] for path in paths] for name, paths in own.items()}


def _ducklakes(tables: Mapping[str, str | None]) -> dict[str, Address]:
    """Where the tables are that lie in a DuckLake."""
    found = {name: address_of(name, os.fsdecode(_name(file))) for name, file in tables.items() if file is not None}
    return {name: one for name, one in found.items() if one is not None}


def _by_address(tables: Mapping[str, str | None]) -> list[tuple[str, Address]]:
    """(its address without a snapshot, where) of each table that lies in a DuckLake, sorted; of two alike one."""
    return sorted({one.plain: one for one in _ducklakes(tables).values()}.items())


def _paths(source: Mapping[str, str], tables: Mapping[str, str | None]) -> list[str]:
    lakes, files = _ducklakes(tables), tables.values()
    paths = {one for name, file in tables.items() if file is not None and name not in lakes for one in _files(file)}
    if "database" in source and None in files:
        paths |= {source["database"], source["database"] + ".wal"}
    return sorted(paths)


def _files(file: str) -> list[str]:
    """The files of a pattern, or itself: another file under the pattern is a change, as another version is."""
    if lake := lake_of(os.fsdecode(_name(file))):
        return [lake.newest(file)]
    return [os.fsencode(one).decode("utf-8", "surrogateescape") for one in matching(os.fsdecode(_name(file)))]


def _of_lake(file: str) -> bool:
    path = os.fsdecode(_name(file))
    return lake_of(path) is not None or version_of(file) is not None or address_of("", path) is not None


def _marks(lake: Address) -> list[list[Any]] | None:
    return None if lake.snapshot is not None else [_mark(path) for path in lake.files]


def _mark(path: str) -> list[Any]:
    try:
        status = os.stat(_name(path))  # noqa: PTH116 - a Path takes no bytes
    except OSError:
        return [path, None, None]
    return [path, status.st_size, status.st_mtime_ns]


def _digest(path: str) -> str | None:
    if not os.path.isfile(_name(path)):  # noqa: PTH113 - as above; a device or a pipe may have no end
        return None
    try:
        with open(_name(path), "rb") as file:  # noqa: PTH123 - as above
            return hashlib.file_digest(file, "sha256").hexdigest()
    except FileNotFoundError:
        return None


def _name(path: str) -> bytes:
    """A path as the system knows it, whatever this process's locale can say."""
    return path.encode("utf-8", "surrogateescape")
