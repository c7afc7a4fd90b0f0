"""DuckLake: a table of a catalogue in a DuckDB or SQLite file, written ``lake.ducklake#visits``.

A version is told by the number of a snapshot: ``lake.ducklake#main.visits@12``. Whether the catalogue changed is seen
from outside, by size and time of its files; what changed in it only the owner's process can see, which opens it.

Tests: tests/unit/engine/test_ducklake.py.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from dpsql.engine.duckdb.ducklake_opening import begins_as, opened
from dpsql.engine.duckdb.ducklake_rows import rows_of_version
from dpsql.errors import PolicyError

if TYPE_CHECKING:
    import duckdb

__all__ = [
    "Address",
    "address_of",
    "is_ducklake",
    "newest",
    "refuse_part",
    "rows_of_ducklake",
    "snapshot_of",
    "state",
    "tables_of",
]

_NAME = "[A-Za-z_][A-Za-z0-9_]*"
_WRITTEN = re.compile(
    rf"(?P<file>.+?)(?:#(?:(?P<schema>{_NAME})\.)?(?P<table>{_NAME})(?:@(?P<snapshot>\d{{1,18}}))?)?", re.DOTALL
)
_ENDING = ".ducklake"
_DATA = re.compile(r"ducklake-[0-9a-f-]{36}(-delete)?\.parquet")
"""What the extension calls the files that it writes."""


@dataclass(frozen=True, slots=True)
class Address:
    """Where a table is.

    Attributes:
        file: The catalogue.
        schema, table: In it.
        snapshot: Its number, or None for the newest.
    """

    file: str
    schema: str
    table: str
    snapshot: int | None

    @property
    def plain(self) -> str:
        """The same of whatever snapshot.

        >>> Address("lake.ducklake", "main", "visits", 12).plain
        'lake.ducklake#main.visits'
        """
        return f"{self.file}#{self.schema}.{self.table}"

    def __str__(self) -> str:
        return self.plain if self.snapshot is None else f"{self.plain}@{self.snapshot}"

    @property
    def files(self) -> list[str]:
        """The catalogue, and the logs that DuckDB and SQLite keep beside it."""
        return [self.file, *(self.file + end for end in (".wal", "-wal", "-journal"))]


def is_ducklake(path: str) -> bool:
    """Whether a path names the catalogue of a DuckLake, or a table of one."""
    return address_of("", path) is not None


def address_of(table: str, path: str) -> Address | None:
    """Where a path has a table; None of a path that names no catalogue.

    Args:
        table: Its name where the path gives none.
        path: As the policy has it, but absolute; or as a version has it.
    """
    match = _WRITTEN.fullmatch(path)
    if not match or (match["table"] and Path(path).exists()):
        return None
    file, kind = match["file"], begins_as(match["file"])
    if kind is None or not (match["table"] or kind == "sqlite" or file.lower().endswith(_ENDING)):
        return None
    number = None if match["snapshot"] is None else int(match["snapshot"])
    return Address(file, match["schema"] or "main", match["table"] or table, number)


def snapshot_of(version: str) -> int | None:
    """The number of the snapshot in a version; None of any other path.

    >>> snapshot_of("lake.ducklake#main.visits@12"), snapshot_of("lake.ducklake#visits")
    (12, None)
    """
    match = _WRITTEN.fullmatch(version)
    return int(match["snapshot"]) if match and match["snapshot"] else None


def newest(addresses: Mapping[str, Address]) -> dict[str, str]:
    """The newest version of each table: of one catalogue, all at the same snapshot. In the owner's process.

    Raises:
        PolicyError: If a catalogue does not open, or is being written to.
    """
    numbers: dict[str, int] = {}
    for file in {address.file for address in addresses.values()}:
        with opened(file) as catalogue:
            numbers[file] = catalogue.newest()
    return {name: str(replace(address, snapshot=numbers[address.file])) for name, address in addresses.items()}


def state(address: Address) -> str:
    """A hash of all that a catalogue says of a table: equal only if its rows are. In the owner's process.

    A later snapshot that changes other tables alone is the same state. Where there is a later one than the one that is
    asked for, its number counts, too: files of deletions may hold more than that snapshot sees.

    Raises:
        PolicyError: As `newest`, or if there is no such table.
    """
    with opened(address.file) as catalogue:
        now = catalogue.newest()
        at = now if address.snapshot is None else address.snapshot
        found = asdict(catalogue.version(address.schema, address.table, at))
    told = json.dumps([found, None if at == now else at], sort_keys=True)
    return hashlib.sha256(told.encode("utf-8", "surrogateescape")).hexdigest()


def rows_of_ducklake(connection: duckdb.DuckDBPyConnection, address: Address) -> str:
    """What to write after FROM, on this connection, for a table; it is the newest snapshot's where none is named.

    Raises:
        PolicyError: As `state`, or if it has what is not read here.
    """
    with opened(address.file) as catalogue:
        at = catalogue.newest() if address.snapshot is None else address.snapshot
        version = catalogue.version(address.schema, address.table, at)
    return rows_of_version(connection, address.plain, version, at)


def tables_of(file: str) -> list[tuple[str, str, Address]]:
    """(schema, name, where) of each table of a catalogue with plain names, those of ``main`` first."""
    with opened(file) as catalogue:
        found = catalogue.tables()
    plain = re.compile(_NAME)
    return [
        (schema, name, Address(file, schema, name, None))
        for schema, name in found
        if plain.fullmatch(schema) and plain.fullmatch(name)
    ]


def refuse_part(table: str, file: str) -> None:
    """Refuses a file that lies in a DuckLake's folder of data, or is named as its files are.

    Raises:
        PolicyError: If it is one.
    """
    beside = next((str(own)[: -len(".files")] for own in Path(file).parents if own.name.endswith(".files")), None)
    if _DATA.fullmatch(Path(file).name) or (beside is not None and is_ducklake(beside)):
        raise PolicyError(
            f"{file} is a file of a DuckLake, of which some rows may be no part any more. Write the path of the "
            f"lake's catalogue, and its table, at tables.{table}.source: lake.ducklake#{table}."
        )
