"""A query around an answer keeps its order where it names none and makes no groups."""

from __future__ import annotations

import pytest

from dpsql.errors import UnsupportedQuery
from dpsql.plan.catalog import Catalog, ColumnInfo, TableInfo
from dpsql.plan.nodes import Order, Windowed
from dpsql.plan.plans import Plan
from dpsql.plan.resolve import resolve_query
from dpsql.plan.types import Facts, Type
from dpsql.sql.parse import parse
from dpsql.sql.syntax import QueryStatement

COLUMNS = {
    "id": ColumnInfo("id", Facts(Type.TEXT, nullable=False), unit=True),
    "k": ColumnInfo("k", Facts(Type.TEXT, nullable=False), values=("a", "b")),
}
CATALOG = Catalog({"t": TableInfo("t", COLUMNS, unit="id", rows_per_unit=1)}, "add_remove", "t.yaml", 1)
INNER = "(SELECT k, COUNT(*) AS n FROM t GROUP BY k ORDER BY {})"


def planned(text: str) -> Plan:
    statement = parse(text)
    assert isinstance(statement, QueryStatement)
    plan = resolve_query(statement.select, CATALOG, (), lambda *_: ())
    assert isinstance(plan, Plan)
    return plan


def order(text: str) -> list[tuple[str, bool]]:
    """What the last query of a statement orders by, and whether downwards."""
    return [(said(term), term.descending) for term in planned(text).stages[-1].order_by]


def said(term: Order) -> str:
    own = term.expression
    names = [getattr(part, "name", "") for part in getattr(own, "arguments", ())]
    return f"{own.function.name}({', '.join(names)})" if hasattr(own, "function") else getattr(own, "name", "")


@pytest.mark.parametrize(
    ("around", "inner", "kept"),
    [
        ("SELECT n * 2 AS m FROM {} LIMIT 3", "n DESC, k", [("c1", True), ("c0", False)]),
        ("SELECT k, n + 1 AS m FROM {} LIMIT 3", "n % 7, k DESC", [("%(c1, )", False), ("c0", True)]),
        ("SELECT n FROM (SELECT n, k, 1 AS one FROM {}) LIMIT 3", "n DESC", [("c0", True)]),
        ("SELECT m FROM (SELECT n + 1 AS m FROM {})", "n DESC", []),  # its n shows no more
        ("SELECT n, k || '' AS m FROM {} ORDER BY k", "n DESC", [("c0", False)]),
        ("SELECT n, MAX(k) AS m FROM {} GROUP BY n", "n DESC", []),
        ("SELECT DISTINCT n FROM {}", "n DESC", []),
    ],
)
def test_the_order_is_kept_as_far_as_it_shows(around: str, inner: str, kept: list[tuple[str, bool]]) -> None:
    assert order(around.format(INNER.format(inner))) == kept


@pytest.mark.parametrize(
    ("window", "ordered"),
    [
        ("ROW_NUMBER() OVER ()", True),
        ("LAG(n) OVER (PARTITION BY k)", True),
        ("LAST_VALUE(n) OVER ()", True),
        ("SUM(n) OVER (ROWS UNBOUNDED PRECEDING)", True),
        ("SUM(n) OVER ()", False),  # of all rows, in whatever order
        ("RANK() OVER ()", False),  # no order tells these apart
    ],
)
def test_a_window_without_an_order_reads_rows_in_that_of_the_answer(window: str, ordered: bool) -> None:
    for more in ("", " ORDER BY k"):
        plan = planned(f"SELECT k, {window} AS w FROM {INNER.format('n DESC')}{more}")
        found = plan.stages[-1].outputs[1].expression
        assert isinstance(found, Windowed)
        assert [(said(term), term.descending) for term in found.order] == ([("c1", True)] if ordered else [])
        assert found.function.name != "last_value" or found.frame is not None  # all rows are in it


@pytest.mark.parametrize(
    "text",
    [
        "SELECT m FROM (SELECT n + 1 AS m FROM {}) LIMIT 1",
        "SELECT m FROM (SELECT n + 1 AS m FROM {}) OFFSET 1",
        "SELECT m FROM (SELECT m FROM (SELECT n + 1 AS m FROM {})) LIMIT 1",
        "SELECT m, ROW_NUMBER() OVER () AS r FROM (SELECT n + 1 AS m FROM {})",
        "SELECT m, 2 * LAG(m) OVER () AS r FROM (SELECT n + 1 AS m FROM {}) ORDER BY m",
    ],
)
def test_an_order_that_does_not_show_decides_nothing(text: str) -> None:
    with pytest.raises(UnsupportedQuery, match="does not show what it orders by"):
        planned(text.format(INNER.format("n DESC")))


def test_an_order_that_ended_below_an_aggregate_is_not_missed() -> None:
    inner = f"SELECT m, COUNT(*) AS c FROM (SELECT n + 1 AS m FROM {INNER.format('n DESC')}) GROUP BY m"
    assert order(f"SELECT c FROM (SELECT c FROM (SELECT COUNT(*) AS c FROM {INNER.format('n')})) LIMIT 1") == []
    assert order(f"{inner} LIMIT 3") == []


@pytest.mark.parametrize(
    ("around", "inner", "refused"),
    [
        ("SELECT k FROM {} LIMIT 1", "n % 2, k", False),
        ("SELECT k FROM (SELECT k, n + 1 AS m FROM {}) LIMIT 1", "n", True),  # its n shows no more
        ("SELECT k FROM (SELECT k, n + 1 AS m FROM {}) LIMIT 2", "n", False),  # there are no more
        ("SELECT k FROM (SELECT k, n + 1 AS m FROM {}) OFFSET 1", "n", True),
        ("SELECT k FROM (SELECT k, n + 1 AS m FROM {}) ORDER BY m LIMIT 1", "n", False),
        ("SELECT k FROM (SELECT k, n + 1 AS m FROM {}) LIMIT 0", "n", False),
        ("SELECT k FROM {} LIMIT 1", "SUM(1) OVER (), k", True),
        ("SELECT k FROM {} LIMIT 1", "COUNT(DISTINCT id)", True),
        ("SELECT k FROM {} LIMIT 1", "k, COUNT(DISTINCT id)", False),  # no two rows have one k
    ],
)
def test_rows_are_not_taken_by_an_order_of_what_does_not_show(around: str, inner: str, refused: bool) -> None:
    if not refused:
        order(around.format(INNER.format(inner)))
        return
    with pytest.raises(UnsupportedQuery, match="does not show what it orders by"):
        order(around.format(INNER.format(inner)))
