"""The 22 queries of TPC-H are answered or refused as docs/tpch.md says, here over a few hundred made-up rows."""

from __future__ import annotations

import importlib
import re
import sys
from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

import duckdb
import pytest

import dpsql.testing

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "tpch.md").read_text()

# Every "random" number is a hash of the row's own: the same rows on every machine. Names and words are TPC-H's.
MACRO = "CREATE MACRO pick(i, salt, n) AS (hash(salt || i) % n::UBIGINT)::BIGINT"
NATIONS = ("ALGERIA", "BRAZIL", "CANADA", "CHINA", "FRANCE", "GERMANY", "INDIA", "SAUDI ARABIA")
TINY = {
    "region": """SELECT i AS r_regionkey, ['AFRICA', 'AMERICA', 'ASIA', 'EUROPE', 'MIDDLE EAST'][i + 1] AS r_name
        FROM range(5) AS t(i)""",
    "nation": f"""SELECT i AS n_nationkey, {list(NATIONS)}[i + 1] AS n_name,
        [0, 1, 1, 2, 3, 3, 2, 4][i + 1] AS n_regionkey FROM range(8) AS t(i)""",
    "supplier": """SELECT i AS s_suppkey, 'Supplier#' || i AS s_name, 'street ' || i AS s_address, i % 8 AS s_nationkey,
        '1' || i AS s_phone, (100 * i)::DECIMAL(15, 2) AS s_acctbal,
        CASE WHEN i % 9 = 0 THEN 'Customer Complaints' ELSE 'fine' END AS s_comment FROM range(1, 25) AS t(i)""",
    "part": """SELECT i AS p_partkey, ['forest green', 'blue'][1 + i % 2] AS p_name, 'Manufacturer#1' AS p_mfgr,
        ['Brand#12', 'Brand#23', 'Brand#34'][1 + i % 3] AS p_brand,
        ['PROMO BRASS', 'ECONOMY ANODIZED STEEL', 'SMALL TIN'][1 + i % 3] AS p_type, 1 + i % 15 AS p_size,
        ['SM BOX', 'MED BOX', 'LG BOX'][1 + i % 3] AS p_container FROM range(1, 41) AS t(i)""",
    "partsupp": """SELECT p AS ps_partkey, 1 + (p + 6 * j) % 24 AS ps_suppkey, 100 + p AS ps_availqty,
        (10 * p + j)::DECIMAL(15, 2) AS ps_supplycost FROM range(1, 41) AS t(p), range(4) AS u(j)""",
    "customer": """SELECT i AS c_custkey, 'Customer#' || i AS c_name, pick(i, 'nation', 8) AS c_nationkey,
        (10 + pick(i, 'phone', 25)) || '-555' AS c_phone, (pick(i, 'balance', 9000) - 500)::DECIMAL(15, 2) AS c_acctbal,
        ['BUILDING', 'MACHINERY'][1 + i % 2] AS c_mktsegment FROM range(1, 151) AS t(i)""",
    "orders": """SELECT i AS o_orderkey, 1 + pick(i, 'customer', 100) AS o_custkey,
        ['F', 'O'][1 + i % 2] AS o_orderstatus, (1000 + 300 * pick(i, 'price', 1000))::DECIMAL(15, 2) AS o_totalprice,
        DATE '1992-01-01' + pick(i, 'day', 2400)::INTEGER AS o_orderdate,
        ['1-URGENT', '2-HIGH', '3-MEDIUM', '4-NOT SPECIFIED', '5-LOW'][1 + i % 5] AS o_orderpriority,
        0 AS o_shippriority, ['none', 'special requests'][1 + i % 2] AS o_comment FROM range(1, 501) AS t(i)""",
    "lineitem": """SELECT o_orderkey AS l_orderkey, 1 + pick(i, 'part', 40) AS l_partkey,
        1 + (1 + pick(i, 'part', 40) + 6 * (i % 4)) % 24 AS l_suppkey,
        (1 + pick(i, 'quantity', 50))::DECIMAL(15, 2) AS l_quantity,
        (900 + 10 * pick(i, 'price', 9000))::DECIMAL(15, 2) AS l_extendedprice,
        (pick(i, 'discount', 11) / 100)::DECIMAL(15, 2) AS l_discount,
        (pick(i, 'tax', 9) / 100)::DECIMAL(15, 2) AS l_tax,
        ['A', 'N', 'R'][1 + i % 3] AS l_returnflag, o_orderstatus AS l_linestatus,
        o_orderdate + pick(i, 'ship', 90)::INTEGER AS l_shipdate, o_orderdate + 60 AS l_commitdate,
        o_orderdate + pick(i, 'ship', 90)::INTEGER + 5 AS l_receiptdate,
        ['NONE', 'DELIVER IN PERSON'][1 + i % 2] AS l_shipinstruct, ['AIR', 'MAIL', 'SHIP'][1 + i % 3] AS l_shipmode
        FROM (SELECT *, 10 * o_orderkey + j AS i FROM orders, range(4) AS u(j))""",
}  # fmt: skip


class Widest(dpsql.testing.Noiseless):
    """No noise, and no clamp of units' totals: the last candidate is what the caps allow."""

    def permute_and_flip(self, scores: Sequence[int], exponent: Fraction) -> int:
        """The last candidate."""
        return len(scores) - 1


@pytest.fixture(scope="module")
def bench() -> Any:
    """The script that writes the page."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "path", [str(ROOT / "bench"), *sys.path])
        return importlib.import_module("tpch")


@pytest.fixture(scope="module")
def found(bench: Any, tmp_path_factory: pytest.TempPathFactory) -> list[Any]:
    """What becomes of every statement over the made-up rows."""
    folder = tmp_path_factory.mktemp("tpch")
    with duckdb.connect() as connection:
        connection.execute(MACRO)
        for name, rows in TINY.items():
            connection.execute(f"CREATE TABLE {name} AS {rows}")
            connection.execute(f"COPY {name} TO '{folder / name}.parquet'")
    return list(bench.results(folder, Widest(), 1))


@pytest.mark.slow
def test_each_query_is_answered_or_refused_as_the_page_says(found: list[Any]) -> None:
    said = re.findall(r"^\| (Q\d+) .*? \| (answered|exact|refused) \|", PAGE, flags=re.MULTILINE)
    assert [(result.statement.name, result.outcome) for result in found] == said
    assert list(dict.fromkeys(name for name, _ in said)) == [f"Q{number}" for number in range(1, 23)]


def test_each_refusal_stands_on_the_page_with_the_statements_that_follow_from_it(found: list[Any]) -> None:
    for result in found:
        if result.refusal:
            assert f"> {result.refusal}\n" in PAGE
        if result.statement.kind == "rewritten":
            assert f"```sql\n{result.statement.sql}\n```" in PAGE


def test_what_is_refused_is_answered_in_the_end(found: list[Any]) -> None:
    last = {result.statement.name: result for result in found}
    assert [name for name, result in last.items() if result.refusal] == []


def test_without_noise_the_answers_are_duckdbs_wherever_nothing_was_cut(found: list[Any]) -> None:
    for result in found:
        if result.statement.kind == "original" and result.outcome == "answered":
            assert result.errors, result.statement.name
            assert max(result.errors.values()) < 1e-4, result.statement.name


def test_codes_that_where_names_are_listed_also_where_nobody_has_them(found: list[Any]) -> None:
    codes = next(result for result in reversed(found) if result.statement.name == "Q22")
    assert codes.listed == 7 > codes.answered[1]
