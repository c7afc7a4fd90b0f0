"""Comparisons of tuples, part by part; what they answer is compared with DuckDB in tests/sql."""

from __future__ import annotations

import pytest

from dpsql.errors import UnsupportedQuery
from dpsql.plan.tuples import by_parts
from dpsql.sql.normal import normal_expression
from dpsql.sql.syntax import Call, InList, Literal, Name


def row(*values: int | str | None) -> Call:
    """A tuple of columns, by name, and constants."""
    return Call("row", tuple(Name((v,), v) if isinstance(v, str) else Literal(v) for v in values))


def text(node: Call | InList) -> str:
    """What is written in the place of a comparison."""
    found = by_parts(node)
    assert found is not None
    return normal_expression(found)


def test_a_constant_is_compared_without_null() -> None:
    assert text(Call("=", (row("a", "b"), row(1, 2)))) == text(InList(row("a", "b"), (row(1, 2),), False))
    assert "IS NOT DISTINCT FROM" not in text(Call("=", (row("a", "b"), row(1, 2))))


def test_null_equals_null_alone() -> None:
    assert "distinct" in text(Call("=", (row("a", "b"), row(1, None)))).lower()
    assert "distinct" in text(Call("<>", (row("a", "b"), row("b", "a")))).lower()


@pytest.mark.parametrize("other", [row(1, 2, 3), row(1)])
def test_tuples_of_two_lengths_are_refused(other: Call) -> None:
    with pytest.raises(UnsupportedQuery, match="one has 2 parts"):
        by_parts(InList(row("a", "b"), (row(1, 2), other), False))


def test_a_part_that_compares_tuples_is_refused_and_one_that_is_a_tuple_is_none() -> None:
    """Thirty in each other would be 2^30 conditions."""
    inner = Call("=", (row("a", "b"), row(1, 2)))
    with pytest.raises(UnsupportedQuery, match="compares tuples itself"):
        by_parts(Call("=", (Call("row", (Call("not", (inner,)), Literal(1))), row(1, 1))))
    assert by_parts(Call("=", (Call("row", (row("a", "b"), Literal(1))), Call("row", (row(1, 2), Literal(1))))))


def test_other_comparisons_stay() -> None:
    assert by_parts(Call("<", (row("a", "b"), row(1, 2)))) is None
    assert by_parts(Call("=", (row("a", "b"), Literal(None)))) is None
    assert by_parts(InList(row("a", "b"), (row(1, 2), Literal(None)), False)) is None
