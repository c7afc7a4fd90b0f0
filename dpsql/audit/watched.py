"""A session on record: everything that passes between its engine, its mechanisms and its sampler.

Tests: tests/attacks/test_replay_audit.py, tests/attacks/test_seeded_bugs.py.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import partial
from itertools import pairwise
from typing import Any

import numpy.typing as npt

from dpsql.answers.computed.postprocess import MADE_UP
from dpsql.answers.released.release import Released, noised
from dpsql.audit.charged import Charged
from dpsql.audit.replay import FREE, Drawing, Pick, Promise, Run, RunPart, is_failure, spoken
from dpsql.audit.synthetic import watched_table
from dpsql.audit.template import Template
from dpsql.backend import Backend
from dpsql.engine.base import EngineStatement
from dpsql.errors import Error
from dpsql.mechanisms.capped.release import CappedRelease
from dpsql.mechanisms.choice.groups import Whole, grouped
from dpsql.mechanisms.clamped.release import ClampedRelease, Sizes, sizes_of
from dpsql.mechanisms.located.release import LocatedRelease
from dpsql.mechanisms.preprocessing.release import ByRows, PreprocessedRelease
from dpsql.mechanisms.top_k import TopKRelease
from dpsql.plan.needs import Cells, Ordered, Values
from dpsql.plan.types import Awaited, Parameters, Value
from dpsql.prepare import Measured, Prepared
from dpsql.prepare.batch import Batch
from dpsql.privacy.sampling import ExpOf, Integers, Sampler
from dpsql.privacy.tables import Group, RawTable, ReleasedTable
from dpsql.releasing.creation import Creation
from dpsql.session import Session
from dpsql.sql import syntax
from dpsql.testing_samplers import FixedSampler

__all__ = ["Recorder", "Watched", "asked", "preprocessed"]


class Recorder:
    """A sampler that keeps what it was asked and what it returned."""

    def __init__(self, inner: Sampler) -> None:
        self._inner = inner
        self.draws: list[Drawing] = []
        self.choices: list[Pick] = []

    def _kept(self, law: str, parameter: Any, noise: npt.NDArray[Any]) -> npt.NDArray[Any]:
        self.draws.append(Drawing(law, parameter, tuple(int(k) for k in noise)))
        return noise

    def laplace(self, scale: Fraction, size: int) -> Integers:
        """(size,) noise."""
        return self._kept("laplace", scale, self._inner.laplace(scale, size))

    def gaussian(self, variance: Fraction, size: int) -> Integers:
        """(size,) noise."""
        return self._kept("gaussian", variance, self._inner.gaussian(variance, size))

    def bernoulli(self, p: Fraction | ExpOf, size: int) -> npt.NDArray[Any]:
        """(size,) coins."""
        return self._kept("bernoulli", p, self._inner.bernoulli(p, size))

    def bernoulli_of_each(self, gaps: Integers, exponent: Fraction) -> npt.NDArray[Any]:
        """(n,) coins."""
        asked = exponent, tuple(gaps.tolist())
        return self._kept("bernoulli_of_each", asked, self._inner.bernoulli_of_each(gaps, exponent))

    def integers(self, m: int, size: int) -> Integers:
        """(size,) uniform integers."""
        return self._kept("integers", m, self._inner.integers(m, size))

    def chances(self, numerators: Integers, m: int) -> npt.NDArray[Any]:
        """(n,) coins."""
        return self._kept("chances", (m, tuple(numerators.tolist())), self._inner.chances(numerators, m))

    def order(self, size: int) -> Integers:
        """(size,) numbers in a random order."""
        return self._kept("order", size, self._inner.order(size))

    def permute_and_flip(self, scores: Sequence[int], exponent: Fraction) -> int:
        """Index of the choice."""
        self.choices.append(Pick("permute_and_flip", exponent, (1,) * len(scores), tuple(scores)))
        return self._inner.permute_and_flip(scores, exponent)

    def intervals(self, widths: Sequence[int], scores: Sequence[int], exponent: Fraction) -> tuple[int, int]:
        """Interval and offset."""
        self.choices.append(Pick("intervals", exponent, tuple(widths), tuple(scores)))
        return self._inner.intervals(widths, scores, exponent)

    def intervals_of_each(
        self, starts: Integers, widths: Integers, scores: Integers, exponent: Fraction
    ) -> tuple[Integers, Integers]:
        """Intervals and offsets."""
        for begin, end in pairwise(starts.tolist()):
            own = tuple(widths[begin:end].tolist()), tuple(scores[begin:end].tolist())
            self.choices.append(Pick("intervals", exponent, *own))
        return self._inner.intervals_of_each(starts, widths, scores, exponent)


class Watched(Session):
    """A session that keeps what passes between engine, mechanisms and sampler. It changes none of it.

    Args:
        backend: What its proxy shares.
        analyst: Whose account is charged.
        seed: Names the stream of noise.
    """

    def __init__(self, backend: Backend, analyst: str, seed: str) -> None:
        self.recorder = Recorder(FixedSampler(seed))
        super().__init__(replace(backend, sampler=self.recorder), analyst)
        self.statements: list[tuple[str, tuple[Any, ...], str]] = []
        self.parts: list[RunPart] = []
        self._first = 0  # of the parts of the SELECT that is released now

    def spent(self) -> str:
        """The analyst's account, as text; an analyst without one has none."""
        try:
            return repr(self._backend.ledger.budget(self.analyst).spent)
        except Error as error:
            return type(error).__name__

    def _release(
        self, prepared: Prepared, draws: Mapping[str, str] | None = None, drawn: dict[str, ReleasedTable] | None = None
    ) -> Released:
        self._first = len(self.parts)
        return super()._release(prepared, draws, drawn)

    def _awaited(self, value: Awaited, index: int, batch: Batch, stored: Mapping[int, Released]) -> Value:
        """A made-up one: what is asked after a release is compared under the same released value."""
        return MADE_UP[value.type][1]

    def _create(
        self, statement: syntax.CreateSynthetic, parameters: Parameters, options: Mapping[str, Any]
    ) -> Creation:
        made = super()._create(statement, parameters, options)
        return replace(made, table=watched_table(made.table, self.parts.append))

    def _run(self, statement: EngineStatement) -> RawTable:
        public = statement.tables <= self._backend.engine.public.keys()
        self.statements.append((statement.identity, statement.parameters, FREE if public else self.spent()))
        return super()._run(statement)

    def _run_all(self, statements: Sequence[EngineStatement]) -> list[RawTable]:
        return [self._run(statement) for statement in statements]  # each is put on record

    def _noised(
        self, measured: Measured, raw: Sequence[RawTable], keys: Sequence[str], groups: Sequence[Group]
    ) -> ReleasedTable:
        drawn, chosen = len(self.recorder.draws), len(self.recorder.choices)
        released = super()._noised(measured, raw, keys, groups)
        discovered = measured.request.selects or any(part.selects for part in self.parts[self._first :])
        release, table = measured.choice.release, raw[measured.reading]
        values: Mapping[Group, tuple[Whole, Whole]] = {}
        occurring: Mapping[Group, tuple[int, ...]]
        sizes: Sizes | None = None
        ranked: RawTable | None = None
        if isinstance(release, CappedRelease | LocatedRelease):
            ranked = table.by_group(keys, groups, release.need.columns, rest=release.need.all_units)
        if isinstance(release, ClampedRelease):
            every = table.by_group(keys, groups, release.need.columns, rest=True)
            sizes = sizes_of(every, len(release.search.edges) + 1)
            place = released.columns["place"][0] if groups else 0
            occurring = {group: (k,) for group, k in zip(groups, release.within(sizes, place), strict=True)}
        elif isinstance(release, PreprocessedRelease):
            values = dict(zip(groups, grouped(table.by_group(keys, groups, ("value", "rows"))), strict=True))
            rows = dict(zip(groups, released.columns["rows"], strict=True))
            occurring = {group: preprocessed(release, *values[group], rows[group]) for group in groups}
        else:
            occurring = _integers(measured, table, keys)
        if measured.rest:
            return self._rest(measured, released, occurring, groups, drawn)
        listed, domains = set(groups), [key.domain for key in measured.request.source.keys]
        if discovered:  # what lies outside a listed domain is never shown, and is no group of a unit's
            listed |= {group for group in occurring if _inside(group, domains)}
        self.parts.append(
            RunPart(
                release=release,
                selects=measured.request.selects,
                discovered=discovered,
                groups=tuple(groups),
                raw={group: numbers for group, numbers in occurring.items() if group in listed},
                released={name: list(values) for name, values in released.columns.items()},
                draws=tuple(self.recorder.draws[drawn:]),
                choices=tuple(self.recorder.choices[chosen:]),
                values=values,
                sizes=sizes,
                drawn=any(isinstance(part.release, TopKRelease) for part in self.parts[self._first :]),
                ranked=ranked,
                again=partial(noised, measured, raw, keys, groups),
            )
        )
        return released

    def _rest(
        self,
        measured: Measured,
        released: ReleasedTable,
        cells: Mapping[Group, tuple[int, ...]],
        hidden: Sequence[Group],
        drawn: int,
    ) -> ReleasedTable:
        columns, draws = {n: list(v) for n, v in released.columns.items()}, tuple(self.recorder.draws[drawn:])
        shown = frozenset(cells).difference(hidden)
        part = RunPart(measured.choice.release, False, True, ((),), {}, columns, draws, (), {}, cells, shown)
        self.parts.append(replace(part, raw=part.over(cells)))
        return released


def _inside(group: Group, domains: Sequence[Sequence[Value] | None]) -> bool:
    return all(domain is None or value in domain for value, domain in zip(group, domains, strict=True))


def preprocessed(release: PreprocessedRelease, values: Whole, occur: Whole, rows: int) -> tuple[int, ...]:
    """What gets noise in one group: its number of rows, where the sensitivity rests on it, and the moved statistic.

    Args:
        release: The offer.
        values, occur: The group's value counts.
        rows: The number of rows that was released, which sets the sensitivity.
    """
    steps = release.steps(values, occur, rows)
    return (int(occur.sum()), steps) if isinstance(release.amount, ByRows) else (steps,)


def _integers(measured: Measured, table: RawTable, keys: Sequence[str]) -> dict[Group, tuple[int, ...]]:
    """The exact integers of each group; none where values are chosen from, which `Pick` has on record,
    or rows are counted by cell for a release that knows what it makes of them."""
    if isinstance(measured.choice.release.need, Values | Cells | Ordered):
        return {}
    columns = [[int(k) for k in table.column(name)] for name in measured.columns]
    return dict(zip(table.groups(keys), zip(*columns, strict=True), strict=True))


def asked(backend: Backend, template: Template, promise: Promise, seed: str) -> Run:
    """One question, and what happened."""
    session = Watched(backend, template.analyst, seed)
    charged = Charged(backend.ledger)
    answer, error, failed = None, None, False
    try:
        answer = session.query(template.sql, template.parameters, **template.options)
    except Exception as other:  # noqa: BLE001 - whatever it is, an analyst sees that there is no answer
        error, failed = spoken(other), is_failure(other)
    return Run(
        template, promise, tuple(session.statements), tuple(session.parts), charged.losses(), answer, error,
        session.spent(), failed,
    )  # fmt: skip
