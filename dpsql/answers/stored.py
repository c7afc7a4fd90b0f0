"""Released tables as bytes: what the ledger keeps, so that the same statement is answered again for free.

Tests: tests/unit/answers.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any

from dpsql.errors import InvariantBroken
from dpsql.plan.plans import Plan
from dpsql.plan.types import Type
from dpsql.privacy.tables import Group, ReleasedTable

__all__ = ["Released", "read_released", "write_released"]


@dataclass(frozen=True, slots=True)
class Released:
    """Everything that one statement released.

    Attributes:
        groups: For each grouping, its groups in order.
        tables: One per measurement.
    """

    groups: tuple[tuple[Group, ...], ...]
    tables: Mapping[str, ReleasedTable]


def write_released(released: Released) -> bytes:
    """The release as JSON."""
    tables = {name: dict(table.columns) for name, table in released.tables.items()}
    return json.dumps({"groups": released.groups, "tables": tables}, default=_plain).encode()


def read_released(plan: Plan, groupings: Sequence[Sequence[int]], stored: bytes) -> Released:
    """The release that was stored for the same plan.

    Args:
        plan: The statement.
        groupings: The keys, by index, of each grouping.
        stored: What `write_released` made.

    Raises:
        InvariantBroken: If the bytes are not a release of this plan.
    """
    try:
        read = json.loads(stored)
        types = [[plan.keys[index].expression.facts.type for index in keys] for keys in groupings]
        groups = tuple(_groups(listed, own) for listed, own in zip(read["groups"], types, strict=True))
        return Released(groups, {name: ReleasedTable(columns) for name, columns in read["tables"].items()})
    except (ValueError, KeyError, TypeError) as error:
        raise InvariantBroken("a stored release does not fit its statement") from error


def _plain(value: Any) -> Any:
    """What JSON does not know: dates, and numpy's scalars and arrays."""
    return value.isoformat() if isinstance(value, date) else value.tolist()


def _groups(listed: Sequence[Sequence[Any]], types: Sequence[Type]) -> tuple[Group, ...]:
    """The groups of one grouping; most values are as JSON holds them."""
    if any(len(group) != len(types) for group in listed):
        raise ValueError("a group does not have as many values as there are keys")
    if not {Type.DATE, Type.TIMESTAMP} & set(types):
        return tuple(map(tuple, listed))
    return tuple(tuple(_typed(v, t) for v, t in zip(group, types, strict=True)) for group in listed)


def _typed(value: Any, type_: Type) -> Any:
    if value is None:
        return None
    if type_ is Type.DATE:
        return date.fromisoformat(value)
    return datetime.fromisoformat(value) if type_ is Type.TIMESTAMP else value
