"""Raw to released: what a prepared statement's mechanisms make of the engine's numbers; and that as bytes and back.

The ledger keeps the bytes, so that the same statement is answered again for free.

Tests: tests/unit/answers.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from datetime import date, datetime
from fractions import Fraction
from typing import Any

from dpsql.errors import InvariantBroken
from dpsql.mechanisms.base import Price
from dpsql.plan.needs import Cells, Ordered, Sized, Values
from dpsql.plan.plans import Plan
from dpsql.plan.types import Type
from dpsql.prepare import Measured, Prepared
from dpsql.privacy.sampling import Sampler
from dpsql.privacy.tables import Group, RawTable, ReleasedTable

__all__ = ["Released", "noised", "read_released", "release", "write_released"]


Noised = Callable[[Measured, Sequence[RawTable], Sequence[str], Sequence[Group]], ReleasedTable]
"""What a release makes of the raw numbers, for groups with these keys: `noised` with a source of noise."""


@dataclass(frozen=True, slots=True)
class Released:
    """Everything that one statement released.

    Attributes:
        groups: For each grouping, its groups in order.
        tables: One per measurement.
        prices: At which each aggregate was bought, by name, where they are not those of the statement alone.
    """

    groups: tuple[tuple[Group, ...], ...]
    tables: Mapping[str, ReleasedTable]
    prices: Mapping[str, Price] = field(default_factory=dict)


def release(prepared: Prepared, raw: Sequence[RawTable], noise: Noised) -> Released:
    """Raw numbers turned into released ones: the groups are chosen first, where they must be.

    Args:
        prepared: The releases.
        raw: What the engine found, a table for each of `Prepared.readings`.
        noise: `noised`, with its source of noise.
    """
    tables: dict[str, ReleasedTable] = {}
    groups = [grouping.groups for grouping in prepared.groupings]
    candidates, hidden = list(prepared.candidates or ()), list[int]()
    if prepared.selection is not None:
        chooser = prepared.measured[prepared.selection]
        candidates = candidates or _candidates(prepared.plan, raw[chooser.reading])
        released = noise(chooser, raw, prepared.keys_of(chooser), candidates)
        kept = chooser.choice.release.selected(released)
        groups[0] = tuple(candidates[row] for row in kept)
        hidden = sorted(set(range(len(candidates))).difference(kept))
        tables[chooser.name] = ReleasedTable(
            {name: [values[row] for row in kept] for name, values in released.columns.items()}
        )
    for measured in prepared.measured:
        if measured.name not in tables:
            appearing = groups[measured.grouping]
            if appearing is None:
                raise InvariantBroken("groups must be chosen, but nothing chooses them")
            if measured.place == 0:
                over = [candidates[row] for row in hidden] if measured.rest else appearing
                released = noise(measured, raw, prepared.keys_of(measured), over)
            tables[measured.name] = released.place(measured.place)
    return Released(tuple(group or () for group in groups), tables)


def noised(
    measured: Measured, raw: Sequence[RawTable], keys: Sequence[str], groups: Sequence[Group], sampler: Sampler
) -> ReleasedTable:
    """One release of a prepared statement, over the groups that appear; each of them gets a number.

    Or over all groups that do not appear together: one number.
    """
    table, need = raw[measured.reading], measured.choice.release.need
    columns = {f"m{i}": name for i, name in enumerate(measured.columns)}
    if measured.rest:
        return measured.choice.release.release(table.total(keys, groups, columns), sampler)
    if not measured.request.source.keys:  # the rows are not grouped, whatever the answer's rows are called
        keys, groups = (), ((),)
    if isinstance(need, Cells | Ordered):
        own = table
    elif isinstance(need, Values | Sized):
        own = table.by_group(keys, groups, need.columns)
    else:
        own = table.aligned(keys, groups, columns)
    return measured.choice.release.release(own, sampler)


def _candidates(plan: Plan, raw: RawTable) -> list[Group]:
    """Discovered groups inside the listed domains, once each, in the order of their keys: never in that of the data."""
    domains = [None if key.domain is None else frozenset(key.domain) for key in plan.keys]
    found = [
        tuple(value + 0.0 if isinstance(value, float) else value for value in group)  # 0.0 for -0.0, which it equals
        for group in raw.groups([key.name for key in plan.keys])
        if all(domain is None or value in domain for value, domain in zip(group, domains, strict=True))
    ]
    return sorted(
        dict.fromkeys(found), key=lambda group: tuple((value is None, 0 if value is None else value) for value in group)
    )


def write_released(released: Released) -> bytes:
    """The release as JSON."""
    tables = {name: dict(table.columns) for name, table in released.tables.items()}
    whole: dict[str, Any] = {"groups": released.groups, "tables": tables}
    if released.prices:
        whole["prices"] = {name: asdict(price) for name, price in released.prices.items()}
    return json.dumps(whole, default=_plain).encode()


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
        tables = {name: ReleasedTable(columns) for name, columns in read["tables"].items()}
        return Released(groups, tables, {name: _price(own) for name, own in read.get("prices", {}).items()})
    except (ValueError, KeyError, TypeError) as error:
        raise InvariantBroken("a stored release does not fit its statement") from error


def _plain(value: Any) -> Any:
    """What JSON does not know: dates, exact numbers, and numpy's scalars and arrays."""
    if isinstance(value, Fraction):
        return str(value)
    return value.isoformat() if isinstance(value, date) else value.tolist()


def _price(amounts: Mapping[str, Any]) -> Price:
    exact: dict[str, Any] = {kind: None if amount is None else Fraction(amount) for kind, amount in amounts.items()}
    return Price(**exact)


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
