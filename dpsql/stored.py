"""Released tables as bytes: what the ledger keeps, so that the same statement is answered again for free."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any

from dpsql.errors import InvariantBroken
from dpsql.plan.nodes import Plan
from dpsql.plan.types import Type
from dpsql.privacy.tables import Group, ReleasedTable

__all__ = ["Released", "read_released", "write_released"]


@dataclass(frozen=True, slots=True)
class Released:
    """Everything that one statement released: its groups, and one table per aggregate."""

    groups: tuple[Group, ...]
    tables: Mapping[str, ReleasedTable]


def write_released(released: Released) -> bytes:
    """The release as JSON."""
    groups = [[_plain(value) for value in group] for group in released.groups]
    tables = {
        name: {column: [_plain(value) for value in values] for column, values in table.columns.items()}
        for name, table in released.tables.items()
    }
    return json.dumps({"groups": groups, "tables": tables}).encode()


def read_released(plan: Plan, stored: bytes) -> Released:
    """The release that was stored for the same plan.

    Raises:
        InvariantBroken: If the bytes are not a release of this plan.
    """
    try:
        read = json.loads(stored)
        types = [key.expression.facts.type for key in plan.keys]
        groups = tuple(
            tuple(_typed(value, type_) for value, type_ in zip(group, types, strict=True)) for group in read["groups"]
        )
        return Released(groups, {name: ReleasedTable(columns) for name, columns in read["tables"].items()})
    except (ValueError, KeyError, TypeError) as error:
        raise InvariantBroken("a stored release does not fit its statement") from error


def _plain(value: Any) -> Any:
    if hasattr(value, "item"):  # numpy scalars
        value = value.item()
    return value.isoformat() if isinstance(value, date) else value


def _typed(value: Any, type_: Type) -> Any:
    if value is None:
        return None
    if type_ is Type.DATE:
        return date.fromisoformat(value)
    return datetime.fromisoformat(value) if type_ is Type.TIMESTAMP else value
