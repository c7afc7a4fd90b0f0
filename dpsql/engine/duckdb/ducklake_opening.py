"""Opening the catalogue of a DuckLake: a DuckDB or SQLite file, to be read, for as long as that takes.

It is done in the owner's process alone. While a DuckDB file is open here, nobody can write to it, and the other way
round; a SQLite file is read as it was when it was opened.

Tests: tests/unit/engine/test_ducklake.py.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote

from dpsql.engine.duckdb.dialect import DUCKDB
from dpsql.errors import PolicyError

if TYPE_CHECKING:
    from dpsql.engine.duckdb.ducklake_catalogue import LakeCatalogue, Row

__all__ = ["begins_as", "opened"]

_SQLITE = b"SQLite format 3\0"
"""How a SQLite file begins. Source: https://www.sqlite.org/fileformat.html, section 1.3.1."""
_DUCKDB = (b"DUCK", 8)
"""What stands in a DuckDB file, and how many bytes from its begin: it follows a checksum of the header.
Source: https://duckdb.org/docs/stable/internals/storage."""
_PATIENCE = 1.0  # Seconds to wait for a program that writes to a SQLite file. It is a choice: a commit takes less.


def begins_as(file: str) -> str | None:
    """What a file is by its first bytes: ``duckdb``, ``sqlite``, or None."""
    if not Path(file).is_file():
        return None
    try:
        with open(file, "rb") as opened_file:  # noqa: PTH123 - a Path takes no bytes
            head = opened_file.read(len(_SQLITE))
    except OSError:
        return None
    word, at = _DUCKDB
    return "sqlite" if head == _SQLITE else "duckdb" if head[at : at + len(word)] == word else None


@contextmanager
def opened(file: str) -> Iterator[LakeCatalogue]:
    """A catalogue, to be read as it is now, whatever others write meanwhile.

    Raises:
        PolicyError: If it does not open, is being written to, or is none.
    """
    with _sqlite(file) if begins_as(file) == "sqlite" else _duckdb(file) as catalogue:
        yield catalogue


@contextmanager
def _duckdb(file: str) -> Iterator[LakeCatalogue]:
    import duckdb  # here and below: the proxy's process, which opens no catalogue, does without

    from dpsql.engine.duckdb.ducklake_catalogue import LakeCatalogue

    locked: dict[str, str | bool | int | float | list[str]] = dict.fromkeys(
        ("autoload_known_extensions", "autoinstall_known_extensions", "allow_community_extensions"), "false"
    )
    with duckdb.connect(config=locked) as connection:

        def ask(sql: str) -> list[Row]:
            try:
                return connection.execute(sql).fetchall()
            except duckdb.Error as error:
                raise _closed(file, busy="lock on file" in str(error)) from error

        ask(f"ATTACH {DUCKDB.text(file)} AS lake (READ_ONLY)")
        ask("USE lake")
        listed = (
            "SELECT table_name, column_name FROM duckdb_columns() WHERE database_name = 'lake' AND "
            "schema_name = 'main' ORDER BY table_name, column_index"
        )
        yield LakeCatalogue(file, ask, _by_table(ask(listed)), "CAST({} AS VARCHAR)")


@contextmanager
def _sqlite(file: str) -> Iterator[LakeCatalogue]:
    from dpsql.engine.duckdb.ducklake_catalogue import LakeCatalogue

    with closing(
        sqlite3.connect(f"file:{quote(file)}?mode=ro", timeout=_PATIENCE, isolation_level=None, uri=True)
    ) as connection:

        def ask(sql: str) -> list[Row]:
            try:
                return connection.execute(sql).fetchall()
            except sqlite3.Error as error:
                raise _closed(file, busy="locked" in str(error)) from error

        ask("BEGIN")
        listed = (
            "SELECT m.name, c.name FROM sqlite_master AS m JOIN pragma_table_info(m.name) AS c "
            "WHERE m.type = 'table' ORDER BY m.name, c.cid"
        )
        yield LakeCatalogue(file, ask, _by_table(ask(listed)), "{}")


def _by_table(listed: Sequence[Row]) -> Mapping[str, Sequence[str]]:
    found: dict[str, list[str]] = {}
    for table, column in listed:
        found.setdefault(table, []).append(column)
    return found


def _closed(file: str, *, busy: bool) -> PolicyError:
    if busy:
        return PolicyError(
            f"The catalogue {file} is open in another program, which may write to it. Close that one, and try again; a "
            f"catalogue in a SQLite file may be open in several."
        )
    return PolicyError(f"{file} does not open as the catalogue of a DuckLake. Mend it, or write another path.")
