"""What Spark computes for every row of the allow-list, on hostile values, is what DuckDB computes.

It is asked of Sail. Where they differ is written here: functions that go by a library's tables (logarithms, angles,
powers) or through decimals of many digits may differ in the last digits.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import duckdb
import pytest

from dpsql.engine.dialect import WIRE, filled
from dpsql.engine.spark.client import driver
from dpsql.engine.spark.connecting import SparkSession
from dpsql.engine.spark.dialect import spark
from dpsql.errors import UnsupportedQuery
from dpsql.plan.functions import Function
from examples.spark import Server
from tests.unit.engine.test_offsets import asked, hold
from tests.unit.plan.test_functions import ALL, Batch, batches

pytestmark = pytest.mark.doors

WORDS = spark("")
REFUSED = {
    "chr", "date_sub", "datesub", "gcd", "length_grapheme", "regexp_extract", "regexp_full_match", "regexp_matches",
    "regexp_replace", "strftime", "strip_accents",
}  # fmt: skip
"""Primitives that Spark has not, or not so that they always end, or not as DuckDB has them."""
TABLED = {"exp", "ln", "log", "log10", "log2", "pow", "power", "sin", "cos", "tan", "atan", "atan2", "tanh", "asin",
          "acos", "cbrt", "degrees", "radians", "cast:decimal", "try:decimal"}  # fmt: skip
KNOWN: dict[tuple[str, Any], Any] = {
    ("upper", "straße"): "STRASSE",  # DuckDB has a capital sharp s
    ("ucase", "straße"): "STRASSE",
    ("lower", "İı"): "i̇ı",  # DuckDB leaves the dot of the capital out
    ("lcase", "İı"): "i̇ı",
    ("reverse", "🤦\u200d♂️"): "️♂\u200d🤦",  # DuckDB keeps what is one sign to the eye
    ("try:bigint", "6_1"): None,  # DuckDB passes over the underscore, as in a number of its own
    ("try:date", "2024-05-31 10:00:00"): None,  # DuckDB passes over what follows the day
}


@pytest.fixture(scope="module")
def there(cluster: Server) -> Iterator[SparkSession]:
    with cluster.asked() as session:
        yield session


@pytest.fixture(scope="module")
def here() -> Iterator[duckdb.DuckDBPyConnection]:
    with duckdb.connect(config={"threads": 1}) as connection:
        yield connection


def computed(there: SparkSession, batch: Batch, spelled: str) -> list[Any]:
    """Spark's value of each row: constants are bound, other arguments are columns."""
    arrow = driver().arrow
    kinds = {"BIGINT": arrow.int64(), "DOUBLE": arrow.float64(), "VARCHAR": arrow.string(), "DATE": arrow.date32(),
             "TIMESTAMP": arrow.timestamp("us"), "BOOLEAN": arrow.bool_()}  # fmt: skip
    columns = {"place": arrow.array(range(len(batch.rows)), arrow.int64())}
    bound, arguments = {}, []
    for index, values in enumerate(batch.columns):
        wire = WIRE[batch.function.parameter(index)]
        if index in batch.constants:
            bound[f"p{index}"] = batch.constants[index]
            arguments.append(f"CAST(:p{index} AS {WORDS.types[wire]})")
            continue
        columns[f"c{index}"] = arrow.array(values, kinds[wire])
        arguments.append(f"`t`.`c{index}`")
    there.view("t", there.given(arrow.table(columns)))
    found = there.rows(f"SELECT {filled(spelled, arguments)} AS r FROM t ORDER BY place", bound)
    return list(found.column("r").to_pylist())


def same(function: Function, row: tuple[Any, ...], ours: Any, theirs: Any) -> bool:
    if (function.name, row[0] if row else None) in KNOWN:
        return bool(theirs == KNOWN[function.name, row[0]])
    if not isinstance(ours, float) or theirs is None:
        return bool(ours == theirs)
    slack = 4 * math.ulp(ours) if function.name in TABLED else 0.0
    return bool(ours == theirs or abs(ours - float(theirs)) <= slack)


@pytest.mark.parametrize("function", ALL, ids=lambda f: f"{f.name} {'+'.join(k.value for k in f.parameters)} {f.sql}")
def test_a_function_is_what_duckdb_computes(
    function: Function, there: SparkSession, here: duckdb.DuckDBPyConnection
) -> None:
    try:
        spelled = WORDS.spelled(function.sql)[0]
    except UnsupportedQuery as refusal:
        assert refusal.construct in REFUSED
        return
    for batch in batches(function):
        pairs = zip(batch.rows, batch.results(here), computed(there, batch, spelled), strict=True)
        for row, (ours, _), theirs in pairs:
            assert same(function, row, ours, theirs), f"{spelled} at {row}: {theirs!r}, DuckDB {ours!r}"


def test_texts_with_an_offset_are_moments_in_utc(there: SparkSession) -> None:
    table = there.rows(asked(WORDS))
    hold(list(zip(*(column.to_pylist() for column in table.columns), strict=True)))
