"""What notes call an expression: as it was written, more or less."""

from __future__ import annotations

import pytest

from dpsql.sql.parse import parse
from dpsql.sql.spoken import spoken
from dpsql.sql.syntax import QueryStatement, Select


@pytest.mark.parametrize(
    "text",
    [
        "CASE WHEN value IS NULL THEN 1 ELSE 0 END",
        "a / b",
        "(a + b) * (c - 1)",
        "abs(a - b)",
        "round((a + b) / 2, 1)",
        "(a = 1) AND (b = 2)",
        "a IN (1, 2)",
        "(a IN (1, 2)) OR (b = '((x))')",
        "CASE WHEN (a > 1) OR (b = 2) THEN a + b ELSE -1 END",
        '"order" + Value',
        "t.value * 2",
        "Age",
    ],
)
def test_an_expression_that_needs_no_more_brackets_is_told_as_it_was_written(text: str) -> None:
    statement = parse(f"SELECT {text} FROM t")
    assert isinstance(statement, QueryStatement)
    assert isinstance(statement.select, Select)
    assert spoken(statement.select.items[0].expression) == text
