"""Raw to released: what a prepared statement's mechanisms make of the engine's numbers.

Tests: tests/unit/answers.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from dpsql.errors import InvariantBroken
from dpsql.limits import MOST_OPEN_GROUPS
from dpsql.mechanisms.base import Price
from dpsql.plan.needs import Cells, Ordered, Sized, Values
from dpsql.plan.plans import Plan
from dpsql.plan.types import Type
from dpsql.prepare import Measured, Prepared
from dpsql.privacy.packed import Packed
from dpsql.privacy.sampling import Sampler
from dpsql.privacy.tables import Group, GroupColumns, RawTable, ReleasedTable, listed

__all__ = ["Released", "in_order_of", "noised", "release"]


Noised = Callable[[Measured, Sequence[RawTable], Sequence[str], Sequence[Group]], ReleasedTable]
"""What a release makes of the raw numbers, for groups with these keys: `noised` with a source of noise."""


@dataclass(frozen=True, slots=True)
class Released:
    """Everything that one statement released.

    Attributes:
        groups: For each grouping, its groups in order; they lead to no raw table.
        tables: One per measurement.
        prices: At which each aggregate was bought, by name, where they are not those of the statement alone.
        bought_as: Then, the fingerprint of the statement at these prices.
    """

    groups: tuple[GroupColumns, ...]
    tables: Mapping[str, ReleasedTable]
    prices: Mapping[str, Price] = field(default_factory=dict)
    bought_as: str = ""


def release(prepared: Prepared, raw: Sequence[RawTable], noise: Noised) -> Released:
    """Raw numbers turned into released ones: the groups are chosen first, where they must be.

    Args:
        prepared: The releases.
        raw: What the engine found, a table for each of `Prepared.readings`.
        noise: `noised`, with its source of noise.
    """
    tables: dict[str, ReleasedTable] = {}
    groups: list[Sequence[Group] | None] = [grouping.groups for grouping in prepared.groupings]
    candidates: Sequence[Group] = prepared.candidates or ()
    hidden: Sequence[Group] = ()
    if prepared.selection is not None:
        chooser = prepared.measured[prepared.selection]
        found = candidates or _candidates(prepared.plan, raw[chooser.reading])
        candidates = GroupColumns.of(found, len(prepared.plan.keys))
        released = noise(chooser, raw, prepared.keys_of(chooser), candidates)
        kept = np.asarray(chooser.choice.release.selected(released), dtype=np.int64)
        if _is_packed(candidates):
            kept = kept[in_order_of(candidates.take(kept).alone().columns)]
        groups[0] = candidates.take(kept)
        if any(measured.rest for measured in prepared.measured):
            left = np.ones(len(candidates), dtype=np.bool_)
            left[kept] = False
            hidden = candidates.take(np.flatnonzero(left))
        tables[chooser.name] = released.take(kept)
    for measured in prepared.measured:
        if measured.name not in tables:
            appearing = groups[measured.grouping]
            if appearing is None:
                raise InvariantBroken("groups must be chosen, but nothing chooses them")
            if measured.place == 0:
                over = hidden if measured.rest else appearing
                released = noise(measured, raw, prepared.keys_of(measured), over)
            tables[measured.name] = released.place(measured.place)
    by_column = (
        GroupColumns.of(own or (), len(g.keys)).alone() for own, g in zip(groups, prepared.groupings, strict=True)
    )
    return Released(tuple(by_column), tables)


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
        own = table.by_group(keys, groups, need.columns, rest=need.all_units)
    else:
        own = table.aligned(keys, groups, columns)
    return measured.choice.release.release(own, sampler)


def _candidates(plan: Plan, raw: RawTable) -> GroupColumns:
    """Discovered groups inside the listed domains, once each, in the order of their keys: never in that of the data.

    Of millions that came in parts only those that appear are put in order, later: noise is drawn for each alone.
    """
    columns, rows = [raw.column(key.name) for key in plan.keys], np.arange(len(raw))
    found = GroupColumns(columns, len(raw), raw, rows)
    for index, key in enumerate(plan.keys):
        if key.domain is not None:
            inside = frozenset(key.domain)
            found = found.take(np.flatnonzero([value in inside for value in listed(found.columns[index])]))
    if _is_packed(found) and len(found) > MOST_OPEN_GROUPS and not any(map(_is_plain_real, found.columns)):
        return found
    if any(key.expression.facts.type is Type.REAL for key in plan.keys):  # 0.0 for -0.0, which it equals
        once = dict.fromkeys(tuple(v + 0.0 if isinstance(v, float) else v for v in group) for group in found)
        found = GroupColumns.of(list(once), len(plan.keys))
    return found.take(in_order_of(found.columns))


def _is_plain_real(column: Sequence[Any]) -> bool:
    return isinstance(column, np.ndarray) and column.dtype.kind == "f"


def _is_packed(groups: GroupColumns) -> bool:
    return any(isinstance(column, Packed) for column in groups.columns)


def in_order_of(columns: Sequence[Sequence[Any]]) -> npt.NDArray[np.int64]:
    """(n,) places of the rows in the order of their values, column by column; NULL is last."""
    if all(isinstance(column, np.ndarray) and column.dtype == np.int64 for column in columns):
        return np.lexsort(columns[::-1])
    plain = map(listed, columns)
    ranked = [[(v is None, 0 if v is None else v) for v in own] if None in own else own for own in plain]
    keys = ranked[0] if len(ranked) == 1 else list(zip(*ranked, strict=True))
    return np.array(sorted(range(len(keys)), key=keys.__getitem__), dtype=np.int64)
