"""What a statement released as bytes, and back: the ledger keeps them, so that the same statement is answered for free.

JSON, column by column. Long columns of whole numbers are the bytes of the narrowest integers that hold them all, and so
are keys that are days, in Python's count of them.

Tests: tests/unit/answers/released/test_written.py.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from datetime import date, datetime
from fractions import Fraction
from typing import Any

import numpy as np

from dpsql.answers.released.release import Released
from dpsql.errors import InvariantBroken
from dpsql.mechanisms.base import Price
from dpsql.plan.aggregates import FUNCTIONS, Kind
from dpsql.plan.plans import Plan
from dpsql.plan.types import Type
from dpsql.privacy.tables import GroupColumns, ReleasedTable

__all__ = ["may_be_repriced", "read_released", "write_released"]

LONG = 64
"""Values from which on whole numbers are written as bytes. It is a choice: below, digits are as short."""
SAME, BYTES, WIDTH = "same", "bytes", "width"
"""What stands in the place of a column: the name of another one that is the same; bytes, and how many a number has."""


def write_released(released: Released) -> bytes:
    """The release as bytes."""
    groups = [{"size": len(own), "columns": list(map(_keys, own.columns))} for own in released.groups]
    tables = {name: _table(table.columns) for name, table in released.tables.items()}
    whole: dict[str, Any] = {"groups": groups, "tables": tables}
    if released.prices:
        whole["prices"] = {name: asdict(price) for name, price in released.prices.items()}
        whole["bought_as"] = released.bought_as
    return json.dumps(whole, default=_plain).encode()


def read_released(plan: Plan, groupings: Sequence[Sequence[int]], stored: bytes) -> Released:
    """The release that was stored for the same plan.

    Args:
        plan: The statement.
        groupings: The keys, by index, of each grouping.
        stored: What `write_released` made, of this version or of an earlier one.

    Raises:
        InvariantBroken: If the bytes are not a release of this plan.
    """
    try:
        read = json.loads(stored)
        types = [[plan.keys[index].expression.facts.type for index in keys] for keys in groupings]
        groups = tuple(_groups(own, kinds) for own, kinds in zip(read["groups"], types, strict=True))
        chosen = _chosen(plan)
        tables = {
            name: ReleasedTable(_read_table(columns, chosen.get(name.rpartition("@")[0])))
            for name, columns in read["tables"].items()
        }
        prices = {name: _price(own) for name, own in read.get("prices", {}).items()}
        return Released(groups, tables, prices, read.get("bought_as", ""))
    except (ValueError, KeyError, TypeError, OverflowError) as error:
        raise InvariantBroken("a stored release does not fit its statement") from error


def may_be_repriced(stored: bytes) -> bool:
    """Whether a stored release may have been bought at other prices than its statement's; if so, it surely says yes."""
    return b'"prices":' in stored


def _table(columns: Mapping[str, Sequence[Any]]) -> dict[str, Any]:
    """The columns by name; one that is an earlier one itself is only named."""
    written, names = dict[str, Any](), dict[int, str]()
    for name, column in columns.items():
        written[name] = {SAME: names[id(column)]} if id(column) in names else _column(column)
        names.setdefault(id(column), name)
    return written


def _keys(column: Sequence[Any]) -> Any:
    """A column of keys as JSON holds it; days as whole numbers."""
    days = len(column) >= LONG and type(column[0]) is date and set(map(type, column)) == {date}
    return _column(list(map(date.toordinal, column)) if days else column)


def _column(column: Sequence[Any]) -> Any:
    """A column as JSON holds it."""
    if len(column) < LONG:
        return column
    if not isinstance(column, np.ndarray) and (kinds := set(map(type, column))) != {int}:
        return [value.isoformat() for value in column] if kinds <= {date, datetime} else column  # `_plain`, but faster
    values = np.asarray(column)
    if values.dtype != np.int64:
        return column
    least, most = int(values.min()), int(values.max())
    width = next(own for own in (1, 2, 4, 8) if -(1 << 8 * own - 1) <= least and most < 1 << 8 * own - 1)
    return {BYTES: base64.b64encode(values.astype(f"<i{width}").tobytes()).decode(), WIDTH: width}


def _chosen(plan: Plan) -> dict[str, Type]:
    """By its name, of which type each aggregate's values are that are chosen among those of a column."""
    read = {own.name: own.argument for own in plan.aggregates if FUNCTIONS[own.function].kind is Kind.CHOICE}
    return {name: argument.facts.type for name, argument in read.items() if argument is not None}


def _read_table(columns: Mapping[str, Any], chosen: Type | None) -> dict[str, Sequence[Any]]:
    """The columns by name; of what was chosen, the values are of this type."""
    found: dict[str, Sequence[Any]] = {}
    for name, column in columns.items():
        own = found[column[SAME]] if isinstance(column, dict) and SAME in column else _read(column)
        found[name] = own if chosen is None or name != "value" else _typed(own, chosen)
    return found


def _read(column: Any) -> Sequence[Any]:
    if not isinstance(column, dict):
        return column  # type: ignore[no-any-return]  # as JSON holds it
    values: list[int] = np.frombuffer(base64.b64decode(column[BYTES]), f"<i{column[WIDTH]}").tolist()
    return values


def _plain(value: Any) -> Any:
    """What JSON does not know: dates, exact numbers, and numpy's scalars and arrays."""
    if isinstance(value, Fraction):
        return str(value)
    return value.isoformat() if isinstance(value, date) else value.tolist()


def _price(amounts: Mapping[str, Any]) -> Price:
    exact: dict[str, Any] = {kind: None if amount is None else Fraction(amount) for kind, amount in amounts.items()}
    return Price(**exact)


def _groups(own: Any, types: Sequence[Type]) -> GroupColumns:
    """The groups of one grouping; in ledgers of earlier versions they stand one by one."""
    if isinstance(own, list):
        if any(len(group) != len(types) for group in own):
            raise ValueError("a group does not have as many values as there are keys")
        own = {"size": len(own), "columns": [[group[index] for group in own] for index in range(len(types))]}
    columns = [_typed(column, type_) for column, type_ in zip(own["columns"], types, strict=True)]
    return GroupColumns(columns, own["size"])


def _typed(column: Any, type_: Type) -> Sequence[Any]:
    """A column of keys; most values are as JSON holds them."""
    values = _read(column)
    if type_ is Type.DATE and values is not column:
        return list(map(date.fromordinal, values))
    if type_ is Type.DATE:
        return [None if value is None else date.fromisoformat(value) for value in values]
    if type_ is Type.TIMESTAMP:
        return [None if value is None else datetime.fromisoformat(value) for value in values]
    return values
