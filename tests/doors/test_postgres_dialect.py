"""What PostgreSQL computes for every row of the allow-list, on hostile values, is what DuckDB computes.

Where they differ is written here: reals nearer to 0 than 10^-118 are 0, and functions that go by a library's tables
(logarithms, angles, powers) or through decimals of many digits may differ in the last digits.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import duckdb
import psycopg
import pytest

from dpsql.engine.dialect import WIRE, filled
from dpsql.engine.postgres.casts import CASTS, READING
from dpsql.engine.postgres.connecting import settle
from dpsql.engine.postgres.dialect import BUILDING, postgres
from dpsql.engine.postgres.words import NEAREST_TO_ZERO, kept
from dpsql.errors import UnsupportedQuery
from dpsql.plan.functions import Function
from examples.postgres import Server
from tests.unit.engine.test_offsets import asked, hold
from tests.unit.plan.test_functions import ALL, Batch, batches

pytestmark = pytest.mark.doors

WORDS = postgres("bounded", "")
REFUSED = {
    "date_sub", "length_grapheme", "real_remainder", "regexp_extract", "regexp_full_match", "regexp_matches",
    "regexp_replace", "strftime", "strip_accents", "datesub",
}  # fmt: skip
"""Primitives that PostgreSQL has not, or not so that they always end."""
TABLED = {"exp", "ln", "log", "log10", "log2", "pow", "power", "sin", "cos", "tan", "atan", "atan2", "tanh", "asin",
          "acos", "cbrt", "degrees", "radians", "cast:decimal"}  # fmt: skip
KNOWN = {
    ("upper", "straße"): "STRAßE",  # DuckDB has a capital sharp s
    ("ucase", "straße"): "STRAßE",
    ("reverse", "🤦\u200d♂️"): "️♂\u200d🤦",  # DuckDB keeps what is one sign to the eye
    ("try:bigint", "6_1"): None,  # DuckDB passes over the underscore, as in a number of its own
    ("try:date", "2024-05-31 10:00:00"): None,  # DuckDB passes over what follows the day
}


@pytest.fixture(scope="module")
def there(server: Server) -> Iterator[psycopg.Connection[Any]]:
    with psycopg.connect(server.dsn("postgres"), autocommit=True, cursor_factory=psycopg.RawCursor) as connection:
        settle(connection)
        yield connection


@pytest.fixture(scope="module")
def here() -> Iterator[duckdb.DuckDBPyConnection]:
    with duckdb.connect(config={"threads": 1}) as connection:
        yield connection


def computed(there: psycopg.Connection[Any], batch: Batch, spelled: str) -> list[Any]:
    """PostgreSQL's value of each row: constants are bound, other arguments are columns."""
    parameters: list[Any] = []
    arguments, columns = [], []
    for index, values in enumerate(batch.columns):
        kind = WORDS.types[WIRE[batch.function.parameter(index)]]
        if index in batch.constants:
            parameters.append(batch.constants[index])
            arguments.append(f"CAST(${len(parameters)} AS {kind})")
            continue
        parameters.append(values)
        column = f"unnest(CAST(${len(parameters)} AS {kind}[]))"
        column = {"text": f'{column} COLLATE "C"', "double precision": kept(column)}.get(kind, column)
        columns.append(f"{column} AS c{index}")
        arguments.append(f"t.c{index}")
    parameters.append(list(range(len(batch.rows))))
    columns.append(f"unnest(CAST(${len(parameters)} AS bigint[])) AS place")
    sql = f"SELECT {filled(spelled, arguments)} FROM (SELECT {', '.join(columns)}) AS t ORDER BY place"
    return [value for (value,) in there.execute(sql.encode(), parameters).fetchall()]


def same(function: Function, row: tuple[Any, ...], ours: Any, theirs: Any) -> bool:
    if any(isinstance(value, float) and value and abs(value) < NEAREST_TO_ZERO for value in row):
        return True  # such a number is 0 there: what is asked is that nothing fails
    if (function.name, row[0] if row else None) in KNOWN:
        return bool(theirs == KNOWN[function.name, row[0]])
    if not isinstance(ours, float) or theirs is None:
        return bool(ours == theirs)
    slack = 4 * math.ulp(ours) if function.name in TABLED else 0.0
    return bool(abs(ours - float(theirs)) <= max(slack, NEAREST_TO_ZERO))


@pytest.mark.parametrize("function", ALL, ids=lambda f: f"{f.name} {'+'.join(k.value for k in f.parameters)} {f.sql}")
def test_a_function_is_what_duckdb_computes(
    function: Function, there: psycopg.Connection[Any], here: duckdb.DuckDBPyConnection
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


def test_texts_with_an_offset_are_moments_in_utc(there: psycopg.Connection[Any]) -> None:
    hold(there.execute(asked(WORDS).encode()).fetchall())


LONG = ("1" * 200_000, "-0." + "1" * 20_000, "0" * 200_000 + "1", "1" * 131_070 + "e9", "." + "1" * 16_000 + "e-999")


@pytest.mark.parametrize("name", [name for name in (CASTS | READING | BUILDING) if name.endswith("_text")])
def test_no_text_is_too_long_to_be_read_as_something(name: str, there: psycopg.Connection[Any]) -> None:
    spelled = filled((CASTS | READING | BUILDING)[name], ["t.c", "10", "5"])
    rows = there.execute(
        f'SELECT {spelled} FROM (SELECT unnest($1::text[]) COLLATE "C" AS c) AS t'.encode(), [list(LONG)]
    )
    assert name.startswith("varchar") or not any(value for (value,) in rows.fetchall())


@pytest.mark.parametrize(
    ("name", "value", "read"),
    [
        ("timestamp_of_date", "DATE '5874897-12-31'", "infinity"),
        ("timestamp_of_date", "DATE '294276-12-31'", "294276-12-31 00:00:00"),
        ("timestamp_of_date", "DATE '-infinity'", "-infinity"),
        ("unscaled_decimal", "round(CAST('1e131071' AS numeric), 12)", None),  # its double is infinite, and is cut
        ("unscaled_decimal", "round(CAST('12.5' AS numeric), 2)", "1250"),
        ("identity_of_wide", "CAST('18446744073709551615' AS numeric)", "18446744073709551615"),
        ("identity_of_wide", "CAST('1.0' AS numeric)", "1"),
        ("identity_of_wide", "CAST('-7' AS numeric)", "-7"),
        ("identity_of_wide", "CAST('NaN' AS numeric)", None),
        ("identity_of_wide", "CAST('-Infinity' AS numeric)", None),
        ("identity_of_wide", "CAST('1e131071' AS numeric)", None),  # longer than the name of anybody
    ],
)
def test_no_day_and_no_number_of_the_source_is_too_far_to_be_read(
    name: str, value: str, read: str | None, there: psycopg.Connection[Any]
) -> None:
    sql = f"SELECT CAST({filled(BUILDING[name], ['t.c'])} AS text) FROM (SELECT {value} AS c OFFSET 0) AS t"
    assert there.execute(sql.encode()).fetchall() == [(read,)]
