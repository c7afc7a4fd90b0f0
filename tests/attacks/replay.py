"""The replay harness: the same questions with the same noise on neighbouring databases, everything on record.

A `World` (see `world`) asks the templates on a database and its neighbours and returns the runs: which statements the
engine saw, which noise was drawn from which law, which exact numbers went in and which released ones came out, what the
ledger charged, what the analyst got. The audits compare the runs.

Source: Re:cord-play (arXiv 2602.17454) found violations in most libraries this way: same noise on neighbours, and the
sensitivity that is declared beside the one that occurs.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any

import numpy.typing as npt

from dpsql.answers.answer import Answer
from dpsql.answers.release import Released
from dpsql.backend import Backend
from dpsql.engine.base import EngineStatement
from dpsql.errors import Error
from dpsql.mechanisms.base import Offer
from dpsql.mechanisms.capped.release import CappedRelease
from dpsql.mechanisms.choice.groups import Whole, grouped
from dpsql.mechanisms.clamped_release import ClampedRelease, Sizes, sizes_of
from dpsql.mechanisms.preprocessing.release import ByRows, PreprocessedRelease
from dpsql.mechanisms.top_k import TopKRelease
from dpsql.plan.needs import Values
from dpsql.prepare import Measured, Prepared
from dpsql.privacy.kinds import Loss
from dpsql.privacy.sampling import ExpOf, Integers, Sampler
from dpsql.privacy.tables import Group, RawTable, ReleasedTable
from dpsql.session import Session
from dpsql.testing_samplers import FixedSampler
from tests.attacks.charged import Charged
from tests.attacks.templates import Template
from tests.settled import settled

__all__ = [
    "BOTH", "CROSSED", "Choice", "Draw", "Part", "Promise", "Replay", "Run", "asked", "neighbours_of", "preprocessed",
]  # fmt: skip


@dataclass(frozen=True)
class Promise:
    """What a policy's answers are proved under."""

    neighbours: str
    composition: str

    def __str__(self) -> str:
        return f"{self.neighbours}, {self.composition}"


BOTH = (Promise("add_remove", "zcdp"), Promise("replace_one", "basic"))
CROSSED = (Promise("add_remove", "basic"), Promise("replace_one", "zcdp"))


@dataclass(frozen=True)
class Draw:
    """One call of the sampler.

    Attributes:
        law: ``laplace``, ``gaussian``, ...
        parameter: Scale or variance, in grid steps.
        noise: What it returned.
    """

    law: str
    parameter: Any
    noise: tuple[int, ...]


@dataclass(frozen=True)
class Choice:
    """One use of the exponential mechanism, or of permute-and-flip.

    Attributes:
        law: ``intervals`` or ``permute_and_flip``.
        exponent: What one unit of a score weighs.
        widths: How many candidates have each score.
        scores: The scores.
    """

    law: str
    exponent: Fraction
    widths: tuple[int, ...]
    scores: tuple[int, ...]


@dataclass(frozen=True)
class Part:
    """One release within a run.

    Attributes:
        release: The offer that was taken.
        selects: Whether it chose the groups.
        discovered: Whether the groups come from the data rather than from a declared domain.
        groups: The groups it released, in order.
        raw: The exact integers of every group that occurs (listed ones only where the groups are listed).
        released: What came out, column by column.
        draws: The sampler's noise meanwhile.
        choices: The sampler's choices meanwhile: as many for each group, group after group.
        values: Of a preprocessed statistic: each group's distinct values, and how many rows hold each.
        cells: Of the row for what stays hidden: the exact integers of every group that occurs.
        shown: Of that row: the groups that it leaves out.
        drawn: Whether its groups were drawn from those that are listed.
        ranked: Of a cap that is found: the exact counts by value and rank.
    """

    release: Offer
    selects: bool
    discovered: bool
    groups: tuple[Group, ...]
    raw: Mapping[Group, tuple[int, ...]]
    released: Mapping[str, Sequence[Any]]
    draws: tuple[Draw, ...]
    choices: tuple[Choice, ...]
    values: Mapping[Group, tuple[Whole, Whole]] = field(default_factory=dict)
    cells: Mapping[Group, tuple[int, ...]] = field(default_factory=dict)
    shown: frozenset[Group] = frozenset()
    sizes: Sizes | None = None
    drawn: bool = False
    ranked: RawTable | None = None

    def over(self, cells: Mapping[Group, tuple[int, ...]]) -> Mapping[Group, tuple[int, ...]]:
        """These groups as this release reads them: all together but for those shown, where it is of what is hidden."""
        if not self.cells and not self.shown:
            return cells
        hidden = [numbers for group, numbers in cells.items() if group not in self.shown]
        return {(): tuple(map(sum, zip(*hidden, strict=True)))} if hidden else {}


@dataclass(frozen=True)
class Run:
    """One template on one database.

    Attributes:
        statements: For each engine statement: text, parameters, and what the analyst had spent when it ran.
        parts: The releases, in order.
        charges: The losses that the ledger put on record.
        answer: What the analyst got, or None.
        error: The error's type and text, or None.
        spent: The analyst's account afterwards.
    """

    template: Template
    promise: Promise
    statements: tuple[tuple[str, tuple[Any, ...], str], ...]
    parts: tuple[Part, ...]
    charges: tuple[Loss, ...]
    answer: Answer | None
    error: tuple[str, str] | None
    spent: str


class Recorder:
    """A sampler that keeps what it was asked and what it returned."""

    def __init__(self, inner: Sampler) -> None:
        self._inner = inner
        self.draws: list[Draw] = []
        self.choices: list[Choice] = []

    def _kept(self, law: str, parameter: Any, noise: npt.NDArray[Any]) -> npt.NDArray[Any]:
        self.draws.append(Draw(law, parameter, tuple(int(k) for k in noise)))
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
        self.choices.append(Choice("permute_and_flip", exponent, (1,) * len(scores), tuple(scores)))
        return self._inner.permute_and_flip(scores, exponent)

    def intervals(self, widths: Sequence[int], scores: Sequence[int], exponent: Fraction) -> tuple[int, int]:
        """Interval and offset."""
        self.choices.append(Choice("intervals", exponent, tuple(widths), tuple(scores)))
        return self._inner.intervals(widths, scores, exponent)


class Watched(Session):
    """A session that keeps what passes between engine, mechanisms and sampler. It changes none of it."""

    def __init__(self, backend: Backend, analyst: str, seed: str) -> None:
        self.recorder = Recorder(FixedSampler(seed))
        super().__init__(settled(replace(backend, sampler=self.recorder)), analyst)
        self.statements: list[tuple[str, tuple[Any, ...], str]] = []
        self.parts: list[Part] = []
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

    def _run(self, statement: EngineStatement) -> RawTable:
        self.statements.append((statement.sql, statement.parameters, self.spent()))
        return super()._run(statement)

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
        if isinstance(release, CappedRelease):
            ranked = table.by_group(keys, groups, release.need.columns)
        if isinstance(release, ClampedRelease):
            sizes = sizes_of(table.by_group(keys, groups, release.need.columns), len(release.search.edges) + 1)
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
        listed = set(groups)
        self.parts.append(
            Part(
                release=release,
                selects=measured.request.selects,
                discovered=discovered,
                groups=tuple(groups),
                raw={group: numbers for group, numbers in occurring.items() if discovered or group in listed},
                released={name: list(values) for name, values in released.columns.items()},
                draws=tuple(self.recorder.draws[drawn:]),
                choices=tuple(self.recorder.choices[chosen:]),
                values=values,
                sizes=sizes,
                drawn=any(isinstance(part.release, TopKRelease) for part in self.parts[self._first :]),
                ranked=ranked,
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
        part = Part(measured.choice.release, False, True, ((),), {}, columns, draws, (), {}, cells, shown)
        self.parts.append(replace(part, raw=part.over(cells)))
        return released


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
    """The exact integers of each group; none where values are chosen from, which `Choice` has on record."""
    if isinstance(measured.choice.release.need, Values):
        return {}
    columns = [[int(k) for k in table.column(name)] for name in measured.columns]
    return dict(zip(table.groups(keys), zip(*columns, strict=True), strict=True))


def asked(backend: Backend, template: Template, promise: Promise, seed: str) -> Run:
    session = Watched(backend, template.analyst, seed)
    charged = Charged(backend.ledger)
    answer, error = None, None
    try:
        answer = session.query(template.sql, template.parameters, **template.options)
    except Error as refused:
        error = type(refused).__name__, str(refused)
    return Run(
        template, promise, tuple(session.statements), tuple(session.parts), charged.losses(), answer, error,
        session.spent(),
    )  # fmt: skip


@dataclass(frozen=True)
class Replay:
    """The runs of one replay: promise and database to its runs, in the order of the templates."""

    runs: Mapping[tuple[Promise, str], Sequence[Run]]

    def pairs(self) -> Iterator[tuple[str, Run, Run]]:
        """Every pair of runs on neighbours, with what is between them."""
        promises = dict.fromkeys(promise for promise, _ in self.runs)
        for promise in promises:
            for one, two in neighbours_of([name for own, name in self.runs if own == promise], promise):
                sides = self.runs[promise, one], self.runs[promise, two]
                for first, second in zip(*sides, strict=True):
                    yield f"{promise}; {one} | {two}; {first.template}", first, second

    def all(self) -> Iterator[tuple[str, Run]]:
        """Every run."""
        for (promise, name), runs in self.runs.items():
            yield from ((f"{promise}; {name}; {run.template}", run) for run in runs)


def neighbours_of(names: Sequence[str], promise: Promise) -> Iterator[tuple[str, str]]:
    """With everybody and without one; or, where units are replaced, without one and without another."""
    if promise.neighbours == "add_remove":
        yield from (("everybody", name) for name in names if name.startswith("without"))
        if "nobody" in names:
            yield from ((name, "nobody") for name in names if name.startswith("only"))
        return
    for kind in ("without", "only"):
        same = [name for name in names if name.startswith(kind)]
        yield from ((one, two) for at, one in enumerate(same) for two in same[at + 1 :])
