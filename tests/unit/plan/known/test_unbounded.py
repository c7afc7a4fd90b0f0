"""A refusal says which step of an expression loses the bounds of its columns, and its hint answers."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

import dpsql.testing
from dpsql.errors import UnsupportedQuery
from dpsql.session import Session
from tests.sql.databases import build


@pytest.fixture(scope="module")
def session(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Session]:
    path = build("shop", tmp_path_factory.mktemp("unbounded"))
    with dpsql.testing.open(path, dpsql.testing.Noiseless()) as opened:
        yield opened.session(analyst="ana")


@pytest.mark.parametrize(
    ("measured", "said"),
    [
        (
            "AVG(ln(total))",
            "ln is taken of numbers that may be 0 or less, or close to 0, so that its values have no bounds.",
        ),
        ("SUM(2 * log10(total + 0))", "log10 is taken of numbers that may be 0"),
        ("AVG(total / items)", "it divides by numbers that may be 0, or close to it"),
        ("AVG(total / NULLIF(items, 0))", "Keep the divisor at 1 or more: in WHERE, or by greatest"),
        ("AVG(total / items)", "WHERE items >= 1 leaves other rows out. NULLIF is not enough. Or name bounds"),
        ("AVG(items / total)", r"WHERE total >= 1 leaves other rows out, greatest\(total, 1\) lifts them."),
        ("CORR(total, ln(total))", "ln is taken of numbers that may be 0"),
    ],
)
def test_a_logarithm_or_a_divisor_that_may_be_0_is_said_in_the_place_of_missing_bounds(
    session: Session, measured: str, said: str
) -> None:
    with pytest.raises(UnsupportedQuery, match=said) as refused:
        session.explain(f"SELECT {measured} FROM orders")
    assert "Add bounds to its columns" not in str(refused.value)


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT AVG(ln(total)) FROM orders WHERE total >= 1",
        "SELECT AVG(ln(greatest(total, 1))) FROM orders",
        "SELECT AVG(total / items) FROM orders WHERE items >= 1",
        "SELECT AVG(items / greatest(total, 1)) FROM orders",
        "SELECT AVG(total / greatest(items + 2, 1)) FROM orders",
    ],
)
def test_what_the_hint_says_is_answered(session: Session, sql: str) -> None:
    assert session.explain(sql).columns


def test_of_real_numbers_it_is_said_that_above_0_is_not_enough_and_of_whole_ones_it_is(session: Session) -> None:
    with pytest.raises(UnsupportedQuery, match="Keep total away from 0, which > 0 alone does not: WHERE total >= 1"):
        session.explain("SELECT AVG(ln(total)) FROM orders WHERE total > 0")
    assert session.explain("SELECT AVG(total / items), AVG(ln(items)) FROM orders WHERE items > 0").columns


def test_the_step_that_a_condition_bounds_is_not_named(session: Session) -> None:
    with pytest.raises(UnsupportedQuery, match="it divides by numbers that may be 0"):
        session.explain("SELECT AVG(ln(total) / items) FROM orders WHERE total >= 1")


@pytest.mark.parametrize("measured", ["AVG(ln(height))", "AVG(credit / height)", "AVG(height)"])
def test_a_column_without_bounds_is_still_said_to_have_none(session: Session, measured: str) -> None:
    with pytest.raises(UnsupportedQuery, match="the bounds of its argument are not known"):
        session.explain(f"SELECT {measured} FROM customers")
