"""Raw to released: what a prepared statement's mechanisms make of the engine's numbers, and how sure that is.

Tests: tests/unit/answers.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from dpsql.answers.answer import Measurement
from dpsql.answers.intervals import Bars
from dpsql.answers.quote import advice
from dpsql.answers.screen import Ends
from dpsql.answers.stored import Released
from dpsql.errors import InvariantBroken
from dpsql.mechanisms.foretold import foretold_rows
from dpsql.plan.needs import Cells, Ordered, Values
from dpsql.plan.plans import Plan
from dpsql.prepare import Measured, Prepared
from dpsql.privacy.account import Composition
from dpsql.privacy.loss import summary
from dpsql.privacy.sampling import Sampler
from dpsql.privacy.tables import Group, RawTable, ReleasedTable

__all__ = ["bars_of", "measurements_of", "noised", "release"]


Noised = Callable[[Measured, Sequence[RawTable], Sequence[str], Sequence[Group]], ReleasedTable]
"""What a release makes of the raw numbers, for groups with these keys: `noised` with a source of noise."""


def release(prepared: Prepared, raw: Sequence[RawTable], noise: Noised) -> Released:
    """Raw numbers turned into released ones: the groups are chosen first, where they must be.

    Args:
        prepared: The releases.
        raw: What the engine found, a table for each of `Prepared.readings`.
        noise: `noised`, with its source of noise.
    """
    tables: dict[str, ReleasedTable] = {}
    groups = [grouping.groups for grouping in prepared.groupings]
    if prepared.selection is not None:
        chooser = prepared.measured[prepared.selection]
        candidates = _candidates(prepared.plan, raw[chooser.reading])
        released = noise(chooser, raw, prepared.keys_of(chooser), candidates)
        kept = chooser.choice.release.selected(released)
        groups = [tuple(candidates[row] for row in kept)]
        tables[chooser.name] = ReleasedTable(
            {name: [values[row] for row in kept] for name, values in released.columns.items()}
        )
    for measured in prepared.measured:
        if measured.name not in tables:
            appearing = groups[measured.grouping]
            if appearing is None:
                raise InvariantBroken("groups must be chosen, but nothing chooses them")
            if measured.place == 0:
                released = noise(measured, raw, prepared.keys_of(measured), appearing)
            tables[measured.name] = released.place(measured.place)
    return Released(tuple(group or () for group in groups), tables)


def noised(
    measured: Measured, raw: Sequence[RawTable], keys: Sequence[str], groups: Sequence[Group], sampler: Sampler
) -> ReleasedTable:
    """One release of a prepared statement, over the groups that appear; each of them gets a number."""
    table, need = raw[measured.reading], measured.choice.release.need
    if not measured.request.source.keys:  # the rows are not grouped, whatever the answer's rows are called
        keys, groups = (), ((),)
    if isinstance(need, Cells | Ordered):
        own = table
    elif isinstance(need, Values):
        own = table.by_group(keys, groups, need.columns)
    else:
        own = table.aligned(keys, groups, {f"m{i}": name for i, name in enumerate(measured.columns)})
    return measured.choice.release.release(own, sampler)


def _candidates(plan: Plan, raw: RawTable) -> list[Group]:
    """Discovered groups inside the listed domains, in the order of their keys: never in the order of the data."""
    domains = [None if key.domain is None else frozenset(key.domain) for key in plan.keys]
    found = [
        tuple(value + 0.0 if isinstance(value, float) else value for value in group)  # 0.0 for -0.0, which it equals
        for group in raw.groups([key.name for key in plan.keys])
        if all(domain is None or value in domain for value, domain in zip(group, domains, strict=True))
    ]
    return sorted(found, key=lambda group: tuple((value is None, 0 if value is None else value) for value in group))


def bars_of(prepared: Prepared, released: Released, name: str, moved: Sequence[Any] | None) -> Bars:
    """The releases' own intervals of one aggregate, grouping after grouping, by confidence; moved with their values."""
    own = [measured for measured in prepared.measured if measured.aggregate.name == name]

    def bars(level: float) -> list[Ends]:
        found = [ends for m in own for ends in m.choice.release.intervals(released.tables[m.name], level)]
        if moved is None:
            return found
        return [
            (None if low is None else low + by, None if high is None else high + by)
            for (low, high), by in zip(found, moved, strict=True)
        ]

    return bars


def measurements_of(prepared: Prepared, composition: Composition) -> tuple[Measurement, ...]:
    """What was measured, each release named by all that it answers; losses as the ledger's composition adds them up."""
    names: list[tuple[Measured, list[str]]] = []
    for measured in prepared.measured:
        if measured.place == 0:
            names.append((measured, []))
        names[-1][1].append(measured.aggregate.text)
    rows = foretold_rows(prepared.plan)
    return tuple(_measurement(first, ", ".join(dict.fromkeys(texts)), rows, composition) for first, texts in names)


def _measurement(measured: Measured, name: str, rows: tuple[str, ...], composition: Composition) -> Measurement:
    release = measured.choice.release
    return Measurement(
        name=name,
        mechanism=release.mechanism,
        loss=summary(release.loss, composition),
        sensitivity=release.sensitivity,
        scale=release.scale,
        half_width=release.half_width,
        notes=(*measured.notes, *advice(measured.aggregate), *rows),
    )
