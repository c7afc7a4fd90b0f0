"""A query around an answer keeps its order where it names none and makes no groups."""

from __future__ import annotations

import pytest

from dpsql.errors import UnsupportedQuery
from dpsql.plan.catalog import Catalog, ColumnInfo, TableInfo
from dpsql.plan.nodes import Order
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


def order(text: str) -> list[tuple[str, bool]]:
    """What the last query of a statement orders by, and whether downwards."""
    statement = parse(text)
    assert isinstance(statement, QueryStatement)
    plan = resolve_query(statement.select, CATALOG, (), lambda *_: ())
    assert isinstance(plan, Plan)
    return [(said(term), term.descending) for term in plan.stages[-1].order_by]


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
        ("SELECT m FROM (SELECT n + 1 AS m FROM {}) LIMIT 3", "n DESC", []),  # its n shows no more
        ("SELECT n, k || '' AS m FROM {} ORDER BY k", "n DESC", [("c0", False)]),
        ("SELECT n, MAX(k) AS m FROM {} GROUP BY n", "n DESC", []),
        ("SELECT DISTINCT n FROM {}", "n DESC", []),
    ],
)
def test_the_order_is_kept_as_far_as_it_shows(around: str, inner: str, kept: list[tuple[str, bool]]) -> None:
    assert order(around.format(INNER.format(inner))) == kept


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
    with pytest.raises(UnsupportedQuery, match=r"LIMIT .*is for the order of the query inside.*Write ORDER BY beside"):
        order(around.format(INNER.format(inner)))
