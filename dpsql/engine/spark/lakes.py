"""Tables of a cluster's catalogue whose store numbers their versions: Delta Lake's and Iceberg's.

The catalogue says where a table lies and what keeps it; the files of its log there say the newest version. SQL reads it
as it was then (``VERSION AS OF``), whatever is committed later. Where a catalogue or a store does not say so much,
tables have no number, and are told by their files, as others.

Source: Delta's protocol, https://github.com/delta-io/delta/blob/master/PROTOCOL.md (log entries); Iceberg's
specification, https://iceberg.apache.org/spec/ (table metadata). Tests: tests/doors/test_spark_lakes.py.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import PurePosixPath

from dpsql.engine.spark.connecting import SparkFailed, SparkSession

__all__ = ["AS_OF", "holds_lake", "newest"]

AS_OF = "VERSION AS OF "
"""What stands before a number behind a table's name, and in the place of a table's own file: no path begins so."""
_DETAILS = "# Detailed Table Information"
_METADATA = re.compile(r"\bmetadata_location=([^,\]]+)")
_LOGS = ("_delta_log/*.json", "metadata/*.metadata.json")
_DUCKLAKE = "ducklake-*.parquet"  # What DuckLake calls the files that it writes; its log lies elsewhere.
_SHOWN = "dpsql_metadata"  # A view of one file of metadata.


def newest(session: SparkSession, table: str) -> str | None:
    """`AS_OF` the newest version of a table, by its quoted name; None of one without numbers, such as a view.

    Raises:
        SparkFailed: If there is no server.
    """
    try:
        told = _told(session, table)
        match told.get("Provider", "").lower():
            case "delta":
                number = _commit(session, told["Location"])
            case "iceberg":
                number = _snapshot(session, told.get("Table Properties", ""))
            case _:
                return None
    except (SparkFailed, LookupError, ValueError) as error:
        if isinstance(error, SparkFailed) and error.gone:
            raise
        return None
    return None if number is None else f"{AS_OF}{number}"


def holds_lake(session: SparkSession, path: str) -> bool:
    """Whether a folder holds a Delta, Iceberg or DuckLake table, or a file is one's: some may be no part any more."""
    if PurePosixPath(path).match(_DUCKLAKE):
        return True
    for log in (*_LOGS, _DUCKLAKE, f"*/{_DUCKLAKE}"):  # of a table, or of one in parts
        try:
            if session.files(session.text(f"{path.rstrip('/')}/{log}")):
                return True
        except SparkFailed as error:  # there is no such file
            if error.gone:
                raise
    return False


def _told(session: SparkSession, table: str) -> Mapping[str, str]:
    """What the catalogue says of a table, behind its columns."""
    rows = [(row["col_name"], row["data_type"]) for row in session.rows(f"DESCRIBE EXTENDED {table}").to_pylist()]
    return dict(rows[[name for name, _ in rows].index(_DETAILS) :])


def _commit(session: SparkSession, folder: str) -> int | None:
    """The number of the newest commit of a Delta table's log."""
    files = session.files(session.text(f"{folder.rstrip('/')}/{_LOGS[0]}"))
    numbers = [PurePosixPath(file).stem for file in files]
    return max((int(number) for number in numbers if number.isdecimal()), default=None)


def _snapshot(session: SparkSession, properties: str) -> int | None:
    """The number of the snapshot that an Iceberg table's metadata name; a table without rows may have none."""
    named = _METADATA.search(properties)
    if named is None:
        return None
    session.view(_SHOWN, session.text(named[1]))
    lines = session.rows(f"SELECT * FROM {_SHOWN}").column(0).to_pylist()
    number = json.loads("\n".join(lines)).get("current-snapshot-id")
    return int(number) if number is not None and int(number) >= 0 else None
