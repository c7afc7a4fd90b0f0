"""Every row of the table of functions, on hundreds of hostile values: the tests are made from the rows themselves."""

from __future__ import annotations

import math
import random
import string
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from decimal import Decimal
from fractions import Fraction
from typing import Any

import duckdb
import pytest

from dpsql.engine.duckdb.dialect import DUCKDB
from dpsql.plan.functions import FUNCTIONS, INTEGER_LIMIT, REAL_LIMIT, Function, Nulls
from dpsql.plan.functions.casts import decimal_cast
from dpsql.plan.intervals import EVERYTHING, Interval
from dpsql.plan.types import Type

ROWS = 24  # of one batch
DRAWN = 6
"""Batches that are drawn for a function. `make test-slow` tries all that the resolver would let through."""
BATCHES = 4  # Of these, so many are tried in `make test`: wide and narrow ones, with and without NULLs.

ENGINE = {
    Type.INTEGER: "BIGINT",
    Type.REAL: "DOUBLE",
    Type.TEXT: "VARCHAR",
    Type.BOOLEAN: "BOOLEAN",
    Type.DATE: "DATE",
    Type.TIMESTAMP: "TIMESTAMP",
}
HOSTILE: dict[Type, Sequence[Any]] = {
    Type.INTEGER: [
        0, 1, -1, 2, 3, 7, -7, 10, 100, 127, 128, -129, 255, 256, 2024, 65_536, 2**31 - 1, 2**31, -(2**31), 2**53,
        2**53 + 1, -(2**53) - 1, 2**62, -(2**62), 2**63 - 1, -(2**63),
    ],
    Type.REAL: [
        0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 1.5, 2.5, -2.5, 0.1, 0.3, 1.1, 2.675, 1e-9, 5e-324, -5e-324, 1e-300, 1e-61,
        1e-59, 99.99, 1e6, 123456.789, 2.0**53, 2.0**53 + 2, 9.3e18, -9.3e18, 1e20, 1e40, 1e154, -1e154, 1e300,
        -1e300, 2.0**31,
    ],
    Type.TEXT: [
        "", " ", "a", "A", "ab", "abc", "a-b-c", "a%b_c", "ÄÖü", "straße", "İı", "🤦\u200d♂️", "12", " 12 ", "-5", "1e3",
        "12.5", "nan", "inf", "1e400", "2024-05-31", "2024-02-30", "infinity", "99999-01-01", "2024-05-31 10:00:00",
        "true", "x" * 300, "\n\t", "a\\b",
    ],
    Type.BOOLEAN: [True, False],
    Type.DATE: [
        date(1, 1, 1), date(1, 12, 31), date(1582, 10, 15), date(1969, 12, 31), date(1970, 1, 1), date(2000, 2, 29),
        date(2024, 1, 31), date(2024, 2, 29), date(2024, 12, 30), date(2024, 12, 31), date(2025, 1, 1),
        date(9999, 1, 1), date(9999, 12, 31),
    ],
    Type.TIMESTAMP: [
        datetime(1, 1, 1), datetime(1969, 12, 31, 23, 59, 59, 999999), datetime(1970, 1, 1),
        datetime(2024, 2, 29, 12, 30, 1, 500), datetime(2024, 12, 31, 23, 59, 59), datetime(2025, 1, 1),
        datetime(9999, 12, 31, 23, 59, 59, 999999),
    ],
}  # fmt: skip
CONSTANT_TEXTS = [
    "a",
    "-",
    "ab",
    "xy",
    "%a%",
    "a_",
    "a!%",
    "^a",
    "[a-c]+",
    "(a)(b)",
    "\\d+",
    "b|c",
    "!",
    "$",
    "0",
    "%Y-%m",
    "%A %j %H",
    "",
]
UNREADABLE = ("make_timestamp",)
"""DuckDB makes moments of all whole numbers, and fails where it reads those beyond its own calendar again."""
CONSTANT_NUMBERS = [0, 1, 2, 3, 9, -1, -2, 10, 15, -15, 300, 1000]


@dataclass(frozen=True)
class Batch:
    """Arguments of one function, row by row, and which of them are constants."""

    function: Function
    rows: list[tuple[Any, ...]]
    constants: dict[int, Any]

    @property
    def columns(self) -> list[list[Any]]:
        return [list(column) for column in zip(*self.rows, strict=True)]

    def ranges(self) -> tuple[Any, ...]:
        found: list[Any] = []
        for index, column in enumerate(self.columns):
            kind, values = self.function.parameter(index), [value for value in column if value is not None]
            if kind.numeric:
                found.append(Interval(Fraction(min(values)), Fraction(max(values))) if values else Interval.point(0))
            elif kind in (Type.DATE, Type.TIMESTAMP):
                found.append((min(values), max(values)) if values else (None, None))
            else:
                found.append(self.constants.get(index, EVERYTHING) if kind is Type.TEXT else EVERYTHING)
        return tuple(found)

    def certain(self) -> tuple[bool, ...]:
        return tuple(None not in column for column in self.columns)

    def proved(self) -> bool:
        """Whether the resolver would take this row of the table for arguments in these ranges."""
        function, ranges = self.function, self.ranges()
        if function.needs is not None and not function.needs(*ranges):
            return False
        bounds = function.bounds(ranges, self.certain(), hard=True)
        if not function.grows:
            return True
        if isinstance(bounds, tuple):
            return None not in bounds
        return bool(bounds.within(INTEGER_LIMIT if function.result is Type.INTEGER else REAL_LIMIT))

    def results(self, engine: duckdb.DuckDBPyConnection) -> list[tuple[Any, Any]]:
        """(our value, DuckDB's own value of what the analyst writes; None where that fails), row by row."""
        names = [f"c{index}" for index in range(len(self.rows[0]))]
        arguments = [
            f"CAST({_literal(self.constants[index])} AS {self._type(index)})" if index in self.constants else name
            for index, name in enumerate(names)
        ]
        literals = [self._as_written(index, name) for index, name in enumerate(names)]
        ours, theirs = _filled(spelled(self.function), arguments), _filled(self.function.spelling, literals)
        if self.function.name in UNREADABLE:
            theirs = f"CASE WHEN abs({literals[0]} // 2) < 1000000000000000000 THEN {theirs} END"
        kinds = {"row": "BIGINT"} | {name: self._type(index) for index, name in enumerate(names)}
        lists = ", ".join(f"unnest(CAST(? AS {kind}[])) AS {name}" for name, kind in kinds.items())
        table = f"CREATE OR REPLACE TEMP TABLE arguments AS SELECT {lists}"
        engine.execute(table, [list(range(len(self.rows))), *self.columns])
        known = "not in DuckDB" not in self.function.departs
        asked = f"({ours}), TRY({theirs})" if known else f"({ours})"
        rows = engine.execute(f"SELECT {asked} FROM arguments ORDER BY row").fetchall()
        return [(row[0], float(row[-1]) if known and isinstance(row[-1], Decimal) else row[-1]) for row in rows]

    def _as_written(self, index: int, name: str) -> str:
        if index in self.constants:
            return _literal(self.constants[index])
        return f"CAST({name} AS INTEGER)" if f"CAST({{{index}}} AS INTEGER)" in spelled(self.function) else name

    def _type(self, index: int) -> str:
        return ENGINE[self.function.parameter(index)]


def spelled(function: Function) -> str:
    """DuckDB's spelling of a row."""
    return DUCKDB.spelled(function.sql)[0]


def _filled(template: str, arguments: list[str]) -> str:
    text = template.replace("{*}", ", ".join(arguments)).replace("{rest}", ", ".join(arguments[1:]))
    for index, argument in enumerate(arguments):
        text = text.replace(f"{{{index}}}", argument)
    return text


def _literal(value: Any) -> str:
    return "'" + value.replace("'", "''") + "'" if isinstance(value, str) else repr(value)


def _constants(function: Function, chance: random.Random) -> dict[int, Any]:
    """Random constants where the row asks for them."""
    chosen: dict[int, Any] = {}
    for index, check in function.constants.items():
        if callable(check):
            pool = CONSTANT_TEXTS if function.parameter(index) is Type.TEXT else CONSTANT_NUMBERS
            chosen[index] = chance.choice([value for value in pool if check(value) is None])
        else:
            chosen[index] = chance.choice(list(check))
    if function.name == "width_bucket":
        chosen[1], chosen[2] = sorted(chance.sample([-1.0, 0.0, 0.1, 1.0, 10.0], 2))
    return chosen


def _emptied(function: Function, constants: dict[int, Any], index: int) -> None:
    """Has texts among the constants be empty in the first batch, numbers 0 in the second, both in the third."""
    for place, check in function.constants.items():
        kind = function.parameter(place)
        if callable(check) and index in ((0, 2) if kind is Type.TEXT else (1, 2)):
            empty: Any = "" if kind is Type.TEXT else 0
            constants[place] = empty if check(empty) is None else constants[place]


def _values(kind: Type, chance: random.Random, near: bool) -> list[Any]:
    """Hostile values of all sizes, or random ones of a narrow range."""
    if not near or kind is Type.BOOLEAN:
        return [chance.choice(HOSTILE[kind]) for _ in range(ROWS)]
    match kind:
        case Type.INTEGER:
            low = chance.choice([-10, 0, 1, 5, 1000, -(10**6)])
            return [low + chance.randrange(20) for _ in range(ROWS)]
        case Type.REAL:
            start = chance.choice([-10.0, -1.0, 0.0, 0.1, 1.0, 20.5])
            return [start + round(chance.random() * 10, chance.randrange(3)) for _ in range(ROWS)]
        case Type.DATE:
            first = date(1900 + chance.randrange(200), 1, 1)
            return [first + timedelta(days=chance.randrange(900)) for _ in range(ROWS)]
        case Type.TIMESTAMP:
            moment = datetime(1900 + chance.randrange(200), 1, 1)
            return [moment + timedelta(microseconds=chance.randrange(10**14)) for _ in range(ROWS)]
    letters = string.ascii_letters + "0123456789%_-. é"
    return ["".join(chance.choice(letters) for _ in range(chance.randrange(12))) for _ in range(ROWS)]


def batches(function: Function, most: int = DRAWN) -> Iterator[Batch]:
    """At most so many batches that the resolver would let through, wide and narrow, with and without NULLs."""
    chance = random.Random(f"{function.name} {function.parameters} {spelled(function)}")
    count = len(function.parameters) + (chance.randrange(3) if function.variadic else 0)
    for index in range(DRAWN):
        constants = _constants(function, chance)
        _emptied(function, constants, index)
        columns = [_values(function.parameter(i), chance, near=index % 3 > 0) for i in range(count)]
        if index % 2:
            columns = [[None if chance.random() < 0.2 else value for value in column] for column in columns]
        for position, value in constants.items():
            columns[position] = [value] * ROWS
        rows = list(zip(*columns, strict=True)) if columns else [()] * ROWS
        batch = Batch(function, rows, constants)
        if batch.proved():
            yield batch
            most -= 1
        if most == 0:
            return


@pytest.fixture(scope="module")
def engine() -> Iterator[duckdb.DuckDBPyConnection]:
    with duckdb.connect(config={"threads": 1}) as connection:
        yield connection


def _name(function: Function) -> str:
    return f"{function.spelling} {'+'.join(kind.value for kind in function.parameters)} {function.nulls.name}"


ALL = [*FUNCTIONS, *decimal_cast(5, 0), *decimal_cast(38, 20), *decimal_cast(10, 2)]


@pytest.mark.every(2)
@pytest.mark.parametrize("function", ALL, ids=_name)
def test_a_function_is_total_is_what_duckdb_computes_stays_in_its_bounds_and_is_null_where_it_says(
    function: Function, engine: duckdb.DuckDBPyConnection
) -> None:
    assert tried(function, engine, BATCHES) >= ROWS, "no batch was proved"


@pytest.mark.slow
def test_every_function_is_so_on_more_batches(engine: duckdb.DuckDBPyConnection) -> None:
    for function in ALL:
        assert tried(function, engine, DRAWN) >= ROWS, function


def tried(function: Function, engine: duckdb.DuckDBPyConnection, most: int) -> int:
    """How many rows of at most so many batches a function was tried on.

    Raises:
        AssertionError: On one it is not what it says.
    """
    found = 0
    for batch in batches(function, most):
        ranges, certain = batch.ranges(), batch.certain()
        soft, hard = (function.bounds(ranges, certain, hard=hard) for hard in (False, True))
        for row, (ours, theirs) in zip(batch.rows, batch.results(engine), strict=True):
            found += 1
            shown = f"{spelled(function)} at {row}: {ours!r}, DuckDB {theirs!r}, bounds {soft}"
            assert not isinstance(ours, float) or math.isfinite(ours), shown
            signed = function.name == "atan2" and 0 in row  # to us zero has no sign
            assert ours == theirs or (function.departs and ours is None) or signed, shown
            assert null_rule_holds(function, row, ours), shown
            surely = function.has_value is not None and function.has_value(*ranges)
            assert not surely or ours is not None or None in row, shown
            assert inside(ours, soft), shown
            assert inside(ours, hard), shown
            assert not isinstance(ours, str) or len(ours) <= longest(batch, row), shown
    return found


def null_rule_holds(function: Function, row: tuple[Any, ...], value: Any) -> bool:
    some, every = None in row, bool(row) and all(argument is None for argument in row)
    match function.nulls:
        case Nulls.STRICT:
            return (value is None) == some
        case Nulls.ONLY:
            return value is not None or some
        case Nulls.NEVER:
            return value is not None
        case Nulls.ALL:
            return (value is None) == every
        case Nulls.MAY:
            return value is None or not some
        case Nulls.OPEN:
            return True


def longest(batch: Batch, row: tuple[Any, ...]) -> int:
    """How many characters the row of the table allows a text to have."""
    lengths = []
    for index, value in enumerate(row):
        text = isinstance(value, str) and index not in batch.constants
        lengths.append((1, 0) if text else (0, max(30, len(str(batch.constants.get(index, ""))))))
    most = max((len(value) for value in row if isinstance(value, str)), default=0)
    if batch.function.length is None:
        return max(most, 30)
    times, plus = batch.function.length(lengths, [batch.constants.get(index) for index in range(len(row))])
    return times * most + plus


def inside(value: Any, bounds: Any) -> bool:
    if value is None or isinstance(value, str | bool):
        return True
    low, high = bounds if isinstance(bounds, tuple) else (bounds.low, bounds.high)
    as_end: Callable[[Any], Any] = float if isinstance(value, float) else lambda end: end
    return (low is None or as_end(low) <= value) and (high is None or value <= as_end(high))


@pytest.mark.every(3)
@pytest.mark.parametrize("function", ALL, ids=_name)
def test_the_engine_reads_no_other_function_than_the_row_names(
    function: Function, engine: duckdb.DuckDBPyConnection
) -> None:
    from dpsql.worker.verify import verify

    columns = [f'"t"."c{i}"' for i in range(len(function.parameters))]
    sql = f'SELECT {_filled(spelled(function), columns)} FROM "t"'
    verify(engine, sql, schema=("", ""), tables={"t"}, functions=DUCKDB.spelled(function.sql)[1])
    for name in DUCKDB.spelled(function.sql)[1]:
        with pytest.raises(Exception, match="were not expected"):
            verify(engine, sql, schema=("", ""), tables={"t"}, functions=DUCKDB.spelled(function.sql)[1] - {name})
