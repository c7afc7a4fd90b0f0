"""FETCH FIRST is read as LIMIT, and what takes other rows than so many is refused with the analyst's own number."""

from __future__ import annotations

import pytest

from dpsql.errors import UnsupportedQuery
from dpsql.sql.parse import parse


@pytest.mark.parametrize(
    ("written", "plain"),
    [
        ("FETCH FIRST 2 ROWS ONLY", "LIMIT 2"),
        ("FETCH NEXT ROW ONLY", "LIMIT 1"),
        ("OFFSET 3 ROWS FETCH NEXT 2 ROWS ONLY", "OFFSET 3 LIMIT 2"),
        ("OFFSET ? ROW FETCH FIRST ? ROW ONLY", "OFFSET ? LIMIT ?"),
        ("OFFSET 3 ROWS", "OFFSET 3"),
    ],
)
def test_fetch_first_is_limit(written: str, plain: str) -> None:
    select = "SELECT sex, COUNT(*) OVER (ORDER BY n ROWS UNBOUNDED PRECEDING) FROM a ORDER BY 1"
    assert parse(f"{select} {written}") == parse(f"{select} {plain}")


@pytest.mark.parametrize(
    ("written", "hint"),
    [
        ("FETCH FIRST 7 ROWS WITH TIES", "Write LIMIT 7"),
        ("FETCH FIRST 7 PERCENT ROWS ONLY", "Write LIMIT 7"),
        ("FETCH FIRST 7", "Write LIMIT 7"),
        ("FETCH 7", "Write LIMIT 10"),
    ],
)
def test_what_is_no_number_of_rows_is_refused_with_the_limit_to_write(written: str, hint: str) -> None:
    with pytest.raises(UnsupportedQuery) as caught:
        parse(f"SELECT COUNT(*) FROM a {written}")
    assert caught.match(hint)
