"""Files of rows: which files are tables, and what a pattern such as ``flights/*.parquet`` stands for.

Tests: tests/unit/engine/test_files.py.
"""

from __future__ import annotations

import csv
import gzip
import re
import zlib
from collections.abc import Sequence
from glob import escape, glob, has_magic
from pathlib import Path

from dpsql.engine.duckdb.dialect import DUCKDB
from dpsql.engine.duckdb.ducklake import refuse_part
from dpsql.engine.duckdb.lakes import lake_of, version_of
from dpsql.engines import CSV
from dpsql.errors import PolicyError

__all__ = ["PARQUET", "is_pattern", "is_table", "matching", "no_utf_8", "rows_of", "unread"]

PARQUET = (".parquet",)
LONGEST = 2**24
"""Characters of a CSV file's line of names. It is a choice: a hundred thousand names of a hundred characters fit."""
_NAMED = re.compile("""["']([^"']+)["']""")  # What a view's SQL has in quotes, among it the files that it reads.


def is_table(name: str) -> bool:
    """Whether a file, or each of a pattern, is a table by its name.

    >>> is_table("flights/2013-*.parquet"), is_table("clinic.duckdb")
    (True, False)
    """
    return name.lower().endswith((*PARQUET, *CSV))


def is_pattern(name: str) -> bool:
    """Whether a path stands for several files.

    >>> is_pattern("flights/*.parquet"), is_pattern("flights.parquet")
    (True, False)
    """
    return has_magic(name) and not Path(name).is_file()


def matching(name: str) -> list[str]:
    """The files that a path stands for, in order: itself, or those of a pattern; ``**`` is folders within folders."""
    return sorted(glob(name, recursive=True)) if is_pattern(name) else [name]  # noqa: PTH207 - the pattern may be absolute


def rows_of(table: str, name: str) -> tuple[str, bool]:
    """(what to write after FROM for a table's own file or files, whether their types mean something).

    Args:
        table: The table, for messages.
        name: The path of its file, or a pattern; or the folder of a Delta or Iceberg table, whose newest version it
            then is, or the file that tells of a version of one.

    Raises:
        PolicyError: If there is none, or it is of no known kind, or several do not have the same columns.
    """
    if version := version_of(name):
        own, place, _ = version
        return own.rows(table, place, name), True
    if lake := lake_of(name):
        return lake.rows(table, name, lake.newest(name)), True
    files = matching(name)
    if not files or not all(Path(file).is_file() for file in files):
        if "ducklake:" in name or "#" in name:
            raise PolicyError(
                f"There is no file {name}, and no such DuckLake. Write the path of its catalogue, a DuckDB or SQLite "
                f"file, and its table at tables.{table}.source: lake.ducklake#{table}."
            )
        bare = Path(name).name
        stored = f", or main.{bare} for a table or view of engine.database" if bare.isidentifier() else ""
        raise PolicyError(f"There is no file {name}. Write its path at tables.{table}.source{stored}.")
    for file in files:
        refuse_part(table, file)
    for folder in {own for file in files for own in Path(file).parents}:
        if lake := lake_of(str(folder)):
            raise PolicyError(
                f"{name} lies in {lake.name}, of which some files may be no part any more. Write {folder} at "
                f"tables.{table}.source."
            )
    if all(file.lower().endswith(PARQUET) for file in files):
        return f"read_parquet({_texts(files)})", True
    if all(file.lower().endswith(CSV) for file in files):
        return _csv(files), False
    raise PolicyError(
        f"{name} is no Parquet or CSV file by its name. Rename it to .parquet, .csv, .tsv, .csv.gz or .tsv.gz; "
        f"a DuckDB database belongs at engine.database."
    )


def unread(view: str, sql: str) -> str:
    """What the owner is told of a view that is there, and cannot be read. What DuckDB says of it may rest on rows.

    Args:
        view: Its name.
        sql: Its definition.

    >>> unread("visits", "CREATE VIEW visits AS SELECT * FROM 'data/visits.parquet'")[:66]
    'The view visits reads data/visits.parquet by a relative path, whic'
    """
    files = (name for name in _NAMED.findall(sql) if is_table(name))
    if file := next((name for name in files if not Path(name).is_absolute() and "://" not in name), None):
        return (
            f"The view {view} reads {file} by a relative path, which leads nowhere from where dpsql reads it. Create "
            f"the view anew with the whole path, or write source: {file} at the table in the policy."
        )
    return (
        f"The view {view} is in the database, but cannot be read: a table or file that it names is not there, or is "
        f"read by an extension. Mend the view, or write source: FILE at the table in the policy."
    )


def _texts(files: Sequence[str]) -> str:
    names = [DUCKDB.text(escape(file)) for file in files]  # the engine takes every name for a pattern
    return names[0] if len(names) == 1 else f"[{', '.join(names)}]"


def _csv(files: Sequence[str]) -> str:
    """CSV files read as text under a fixed dialect: what to write after FROM.

    Nothing is guessed from the rows: one person's row must not change how another's is read. The delimiter is the
    one that the header line shows. A line that is no row (an open quote, too few or too many values) fails the job:
    left out, it would take other people's lines along.

    Raises:
        PolicyError: If one does not start with a header, or two have different ones.
    """
    headers = [_header(file) for file in files]
    delimiter, names = headers[0]
    for file, header in zip(files, headers, strict=True):
        if header != headers[0]:
            raise PolicyError(f"{file} does not start with the same line as {files[0]}. Give both the same columns.")
    columns = ", ".join(f"{DUCKDB.text(name)}: 'VARCHAR'" for name in names)
    return (
        f"read_csv({_texts(files)}, auto_detect = false, header = true, delim = {DUCKDB.text(delimiter)}, "
        f"quote = '\"', escape = '\"', nullstr = '', columns = {{{columns}}})"
    )


def no_utf_8(file: str) -> str:
    """What the owner is told of a CSV file in another encoding."""
    return f"{file} is no UTF-8 text. Save it as UTF-8."


def _header(file: str) -> tuple[str, list[str]]:
    """(delimiter, names) of a CSV file's first line."""
    opened = gzip.open if file.lower().endswith(".gz") else open
    try:
        with opened(file, "rt", encoding="utf-8-sig", errors="surrogateescape") as lines:
            header = lines.readline(LONGEST + 1)
    except (gzip.BadGzipFile, EOFError, zlib.error):
        raise PolicyError(f"{file} is no gzip file, or only part of one. Compress it anew.") from None
    if len(header) > LONGEST:
        raise PolicyError(f"The first line of {file} has more than {LONGEST:,} characters. Write a line of names.")
    header = header.rstrip("\r\n")
    if any("\udc80" <= sign <= "\udcff" or sign == "\0" for sign in header):  # bytes that are none, or UTF-16
        raise PolicyError(no_utf_8(file))
    delimiter = max(",;\t|", key=header.count)
    names = next(csv.reader([header], delimiter=delimiter), [])
    if not names or len({name.lower() for name in names}) != len(names) or not all(names):
        raise PolicyError(f"{file} does not start with a line of distinct column names. Write one.")
    return delimiter, names
