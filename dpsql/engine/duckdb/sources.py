"""Whether the owner's files changed since the bounded tables were built from them.

It is told by size and time of the files, and by their content only where the time alone is another one: a look at a
time costs nothing, a look at the content about a second for each gigabyte.

Tests: tests/unit/owner/test_builder.py.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Collection, Mapping
from typing import Any

from dpsql.engine.duckdb.files import matching
from dpsql.engine.duckdb.lakes import lake_of, version_of

__all__ = ["apart", "contents", "fingerprint", "may_be_equal", "number", "versions"]


def versions(source: Mapping[str, str], tables: Mapping[str, str | None]) -> dict[str, str]:
    """The file that tells of the newest version of each table of a lake."""
    found = {
        name: lake.newest(file)
        for name, file in tables.items()
        if file is not None and (lake := lake_of(os.fsdecode(_name(file))))
    }
    return {name: file for name, file in found.items() if version_of(file)}  # else its log holds no version


def number(version: str) -> int:
    """The number of a version, as its store has it."""
    found = version_of(version)
    if found is None:
        raise ValueError(version)
    return found[2]


def fingerprint(source: Mapping[str, str], tables: Mapping[str, str | None]) -> list[list[Any]]:
    """[path, size, time of its last change in ns] of each file, sorted.

    A database's write-ahead log counts as a file of its own.
    """
    return [_mark(path) for path in _paths(source, tables.values())]


def may_be_equal(one: list[list[Any]], other: list[list[Any]]) -> bool:
    """Whether two fingerprints differ in nothing but times."""
    return [mark[:2] for mark in one] == [mark[:2] for mark in other]


def contents(source: Mapping[str, str], tables: Mapping[str, str | None]) -> list[list[str | None]]:
    """[path, SHA-256 of the content] of each file, sorted. Runs in the owner's process."""
    return [[path, _digest(path)] for path in _paths(source, tables.values())]


def apart(tables: Mapping[str, str | None], contents: list[list[str | None]]) -> Mapping[str, Any]:
    """[path, SHA-256 of the content] of the files of each table that has its own.

    A table of the database has none: it may be a view, and another program's file may be what it reads. Of a lake only
    the file is known here that names the others.
    """
    found = {str(path): digest for path, digest in contents}
    files = {name: file for name, file in tables.items() if file is not None and not _of_lake(file)}
    own = {name: sorted(_files(file)) for name, file in files.items()}
    return {name: [[path, found.get(path)] for path in paths] for name, paths in own.items()}


def _paths(source: Mapping[str, str], files: Collection[str | None]) -> list[str]:
    paths = {one for file in files if file is not None for one in _files(file)}
    if "database" in source and None in files:
        paths |= {source["database"], source["database"] + ".wal"}
    return sorted(paths)


def _files(file: str) -> list[str]:
    """The files of a pattern, or itself: another file under the pattern is a change, as another version is."""
    if lake := lake_of(os.fsdecode(_name(file))):
        return [lake.newest(file)]
    return [os.fsencode(one).decode("utf-8", "surrogateescape") for one in matching(os.fsdecode(_name(file)))]


def _of_lake(file: str) -> bool:
    return lake_of(os.fsdecode(_name(file))) is not None or version_of(file) is not None


def _mark(path: str) -> list[Any]:
    try:
        status = os.stat(_name(path))  # noqa: PTH116 - a Path takes no bytes
    except OSError:
        return [path, None, None]
    return [path, status.st_size, status.st_mtime_ns]


def _digest(path: str) -> str | None:
    try:
        with open(_name(path), "rb") as file:  # noqa: PTH123 - as above
            return hashlib.file_digest(file, "sha256").hexdigest()
    except FileNotFoundError:
        return None


def _name(path: str) -> bytes:
    """A path as the system knows it, whatever this process's locale can say."""
    return path.encode("utf-8", "surrogateescape")
