"""A line of a CSV file that cannot be read: its place and the reason are told, what stands in it is not."""

from __future__ import annotations

from pathlib import Path

import duckdb
import pytest

from dpsql.engine.duckdb.database import DuckDBDatabase
from dpsql.errors import OperationalError

SECRET = "HIV positive"


@pytest.mark.parametrize(
    ("line", "why"),
    [
        (f"2,{SECRET},5,7", "line 3: 4 values, where there are 3."),
        (f"2,{SECRET}", "line 3: 2 values, where there are 3."),
        (f'2,"{SECRET}', "line 3: a quote that is not closed."),
        (f'2,"{SECRET}\nPossible fixes', "line 3: a quote that is not closed."),
        (f"2,{SECRET}\xff,5", "line 3: bytes that are no UTF-8."),
        (f"2,{SECRET * 200_000},5", "more than 2 MB."),
    ],
)
def test_a_line_that_is_no_row_is_told_without_what_stands_in_it(tmp_path: Path, line: str, why: str) -> None:
    file = tmp_path / "visits.csv"
    file.write_bytes(f"person,diagnosis,cost\n1,flu,3\n{line}\n3,cold,4\n".encode("latin-1"))
    with duckdb.connect() as connection, pytest.raises(OperationalError) as raised:
        database = DuckDBDatabase(connection)
        database.rows(f"SELECT * FROM {database.table('visits', str(file)).sql} AS r")
    cause = str(raised.value.__cause__)
    assert cause.startswith(str(file)) and cause.endswith(why)
    assert SECRET not in cause + str(raised.value)
