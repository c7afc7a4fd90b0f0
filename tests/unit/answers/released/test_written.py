"""What the ledger keeps of an answer: every value comes back as it was, and whole numbers take few bytes."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from datetime import date, datetime
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from dpsql.answers.released.release import Released
from dpsql.answers.released.written import LONG, read_released, write_released
from dpsql.errors import InvariantBroken
from dpsql.mechanisms.base import Price
from dpsql.plan.nodes import Column
from dpsql.plan.plans import Key, Plan
from dpsql.plan.types import Facts, Type
from dpsql.privacy.tables import GroupColumns, ReleasedTable
from dpsql.sql import syntax
from dpsql.sql.parse import parse
from tests.unit.server.clinic import open_clinic

MANY = 3 * LONG
KEYS: dict[Type, list[Any]] = {
    Type.INTEGER: [*range(-1, MANY - 2), None],
    Type.TEXT: [f"é{n}" for n in range(MANY)],
    Type.DATE: [date.fromordinal(700_000 + n) for n in range(MANY - 1)] + [None],
    Type.TIMESTAMP: [datetime(2000, 1, 1, n % 24, 0, 0, n) for n in range(MANY)],
    Type.BOOLEAN: [n % 2 == 0 for n in range(MANY)],
    Type.REAL: [n / 7 for n in range(MANY)],
}


@pytest.fixture(scope="module")
def plan(tmp_path_factory: pytest.TempPathFactory) -> Plan:
    """A plan with a key of each type."""
    with open_clinic(tmp_path_factory.mktemp("clinic")) as clinic:
        statement = parse("SELECT sex, COUNT(*) FROM people GROUP BY sex")
        assert isinstance(statement, syntax.QueryStatement)
        own = clinic.proxy.session(analyst="ana")._plan(statement.select, ())
    assert isinstance(own, Plan)
    keys = [Key(f"k{i}", Column("t0", f"c{i}", Facts(kind)), None) for i, kind in enumerate(KEYS)]
    return replace(own, keys=tuple(keys))


def back(plan: Plan, released: Released, groupings: Sequence[Sequence[int]]) -> Released:
    return read_released(plan, groupings, write_released(released))


@pytest.mark.parametrize("size", [0, 1, LONG - 1, LONG, MANY])
def test_every_value_comes_back(plan: Plan, size: int) -> None:
    groups = GroupColumns([own[:size] for own in KEYS.values()], size)
    values: list[Any] = [None, *range(size)][:size]
    tables = {
        "a0": ReleasedTable({"value": list(range(size)), "steps": [-(2**62) + n for n in range(size)]}),
        "a1": ReleasedTable({"value": values, "steps": [2**80 + n for n in range(size)]}),
        "a3": ReleasedTable({"value": [True if n == 1 else n for n in range(size)]}),
        "a2": ReleasedTable({"value": [0.1 * n for n in range(size)], "cap": [n % 2 == 0 for n in range(size)]}),
    }
    price = Price(Fraction(1, 3), Fraction(0))
    found = back(plan, Released((groups,), tables, {"a0": price}), [range(len(KEYS))])
    assert list(found.groups[0]) == list(groups)
    assert [[type(value) for value in group] for group in found.groups[0]] == [[*map(type, own)] for own in groups]
    assert found.tables == tables
    assert str(found.tables) == str(tables)  # True is not 1
    assert found.prices == {"a0": price}


@pytest.mark.every(2)
@pytest.mark.parametrize("largest", [127, 128, 32_767, 32_768, 2**31 - 1, 2**31, 2**63 - 1])
@pytest.mark.parametrize("sign", [1, -1])
def test_whole_numbers_keep_every_bit_at_the_ends_of_their_width(plan: Plan, largest: int, sign: int) -> None:
    values = [0] * MANY + [sign * largest, sign * largest - (sign < 0)]
    array: Any = np.array(values)
    table = ReleasedTable({"value": values, "array": array})
    found = back(plan, Released((), {"a0": table}), []).tables["a0"]
    assert list(found.columns["value"]) == list(found.columns["array"]) == values
    assert {type(value) for value in found.columns["value"]} == {int}


def test_a_column_that_is_another_is_written_once(plan: Plan) -> None:
    values = list(range(10_000))
    once = write_released(Released((), {"a0": ReleasedTable({"value": values})}))
    twice = write_released(Released((), {"a0": ReleasedTable({"value": values, "steps": values})}))
    assert len(twice) < len(once) + 40
    assert len(once) < 3 * len(values)  # two bytes a number, as text
    assert read_released(plan, [], twice).tables["a0"].columns["steps"] == values


def test_days_take_few_bytes(plan: Plan) -> None:
    every = [date.min, date.max] * LONG
    own = Released((GroupColumns([every], len(every)),), {})
    assert len(write_released(own)) < 7 * len(every)  # four bytes a day, as text
    assert list(back(plan, own, [[2]]).groups[0]) == [(day,) for day in every]


def test_a_statement_without_keys_has_one_group(plan: Plan) -> None:
    found = back(plan, Released((GroupColumns.of([()], 0),), {"a0": ReleasedTable({"value": [7]})}), [()])
    assert list(found.groups[0]) == [()]


def test_what_earlier_versions_stored_is_read(plan: Plan) -> None:
    stored = {"groups": [[["a", "2024-01-31"], [None, None]]], "tables": {"a0": {"value": [1, 2], "steps": [1, 2]}}}
    found = read_released(plan, [[1, 2]], json.dumps(stored).encode())
    assert list(found.groups[0]) == [("a", date(2024, 1, 31)), (None, None)]
    assert found.tables["a0"].values == [1, 2]


@pytest.mark.every(2)
@pytest.mark.parametrize(
    "groups",
    [
        [[["a", "b"]]],
        [{"size": 1, "columns": []}],
        [{"size": 2, "columns": [["a"]]}],
        [{"size": 1, "columns": [{"bytes": "AQ", "width": 1}]}],
        [{"size": 1, "columns": [{"bytes": "AQ=="}]}],
        [{"size": 2, "columns": [{"bytes": "AQ==", "width": 1}]}],
        [],
    ],
)
@pytest.mark.parametrize("key", [1, 2])
def test_bytes_of_another_statement_are_refused(plan: Plan, groups: Any, key: int) -> None:
    with pytest.raises(InvariantBroken):
        read_released(plan, [[key]], json.dumps({"groups": groups, "tables": {}}).encode())
