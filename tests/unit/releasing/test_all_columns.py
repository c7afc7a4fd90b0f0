"""All columns of a table are no synthetic table: the refusal writes out a statement that makes one."""

from __future__ import annotations

import pytest

from dpsql.errors import UnsupportedQuery
from dpsql.proxy import Proxy


@pytest.mark.parametrize("table", ["people", "visits"])
@pytest.mark.parametrize("rows", ["SELECT * FROM {}", "FROM {}", "SELECT * EXCLUDE (person) FROM {} WHERE TRUE"])
def test_all_columns_are_refused_with_a_statement_that_makes_a_table(proxy: Proxy, table: str, rows: str) -> None:
    session = proxy.session(analyst="ana")
    with pytest.raises(UnsupportedQuery, match="its columns are named") as refused:
        session.query(f"CREATE SYNTHETIC TABLE s WITH (epsilon = 1) AS {rows.format(table)}")
    written_out = str(refused.value.hint).removeprefix("Write ").removesuffix(".")
    session.query(written_out)
    made = session.query("SELECT * FROM s")
    shown = {"people": ("age", "sex", "seen"), "visits": ("cost", "code")}[table]
    assert made.columns == shown
    session.query("DROP TABLE s")
