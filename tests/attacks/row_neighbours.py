"""The replay harness for metrics: the same statements with the same noise on databases that differ in one row.

A `Street` holds some databases, each with the same people and one row more, and asks all of them the same. What an
answer tells of that row is worked out from what was recorded alone: the law and the parameter that the sampler was
called with, and the exact integers, which are the released ones without the noise that was drawn.
"""

from __future__ import annotations

import itertools
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import Any, Self

import numpy as np

from dpsql.audit.charged import Charged
from dpsql.audit.moves import range_of_moves
from dpsql.audit.noted import before_noise
from dpsql.audit.replay import Drawing, Pick, is_failure, spoken
from dpsql.audit.watched import Recorder
from dpsql.backend import Backend
from dpsql.mechanisms.metric.release.noise import BranchNoise, GroupNoise
from dpsql.mechanisms.metric.row_metric import RowMetric
from dpsql.prepare import Measured
from dpsql.privacy.kinds import Free, Loss, MetricLoss
from dpsql.privacy.loss import Composed
from dpsql.privacy.tables import Group, RawTable, ReleasedTable
from dpsql.session import Session
from dpsql.testing_samplers import FixedSampler
from tests.unit.mechanisms.metric.homes import PEOPLE, Row, opened

__all__ = ["ABSENT", "Run", "Street", "asked_of", "charged", "convicted", "spread", "told"]

ABSENT = "absent"


@dataclass(frozen=True)
class Exact:
    """One draw of noise, and the exact integers that it was added to."""

    draw: Drawing
    numbers: tuple[int, ...]


@dataclass(frozen=True)
class Run:
    """One statement on one database.

    Attributes:
        seen: All that may not depend on the row: engine statements, laws, charges, columns, errors.
        rows: The answer's rows.
        exact: The noised integers.
        choices: The choices by scores.
        losses: What the ledger charged.
        error: The error's type and text, or None.
        failed: Whether the error is a failure, and no refusal.
    """

    seen: tuple[Any, ...]
    rows: list[tuple[Any, ...]]
    exact: tuple[Exact, ...]
    choices: tuple[Pick, ...]
    losses: tuple[Loss, ...]
    error: tuple[str, str] | None
    failed: bool = False


class Watched(Session):
    """A session that keeps what passes between engine, release and sampler. It changes none of it."""

    def __init__(self, backend: Backend, seed: str) -> None:
        self.recorder = Recorder(FixedSampler(seed))
        super().__init__(replace(backend, sampler=self.recorder), "ana")
        self.statements: list[tuple[str, tuple[Any, ...]]] = []
        self.exact: list[Exact] = []
        self.bare: list[object] = []  # what came out without noise

    def _run(self, statement: Any) -> RawTable:
        self.statements.append((statement.sql, statement.parameters))
        return super()._run(statement)

    def _run_all(self, statements: Sequence[Any]) -> list[RawTable]:
        return [self._run(statement) for statement in statements]  # each is seen

    def _noised(
        self, measured: Measured, raw: Sequence[RawTable], keys: Sequence[str], groups: Sequence[Group]
    ) -> ReleasedTable:
        drawn, chosen = len(self.recorder.draws), len(self.recorder.choices)
        released = super()._noised(measured, raw, keys, groups)
        draws, release = self.recorder.draws[drawn:], measured.choice.release
        inner = getattr(release, "inner", None)
        if isinstance(inner, BranchNoise):
            self._keep_counts(release, raw[measured.reading], draws, released.columns["steps"])
        elif isinstance(inner, GroupNoise):
            self._keep_groups(inner.scales, draws, released.columns["steps"])
        elif draws:
            names = ("steps",) if "steps" in released.columns else ("sum", "count")
            for name, draw in zip(names, draws, strict=False):
                numbers = tuple(int(k) - noise for k, noise in zip(released.columns[name], draw.noise, strict=True))
                self.exact.append(Exact(draw, numbers))
            self.bare += [tuple(released.columns[name]) for name in names[len(draws) :]]
        elif len(self.recorder.choices) == chosen:  # nothing is noised: it must be the same whatever the rows are
            self.bare.append({name: tuple(column) for name, column in released.columns.items()})
        return released

    def _keep_groups(self, scales: Sequence[Fraction], draws: Sequence[Drawing], steps: Sequence[Any]) -> None:
        """Where groups have noise of their own: what each draw is added to, and the numbers without any."""
        for scale, draw in zip(_different(scales), draws, strict=True):
            own = [int(k) for k, at in zip(steps, scales, strict=True) if at == scale]
            self.exact.append(Exact(draw, tuple(k - noise for k, noise in zip(own, draw.noise, strict=True))))
        self.bare.append(tuple(int(k) for k, scale in zip(steps, scales, strict=True) if not scale))

    def _keep_counts(self, release: Any, raw: RawTable, draws: Sequence[Drawing], steps: Sequence[Any]) -> None:
        """Where answers are worked out from noised counts: these counts, and what answers owe to counts without noise.

        That what came out is worked out from them with just the noise that was drawn is seen here.
        """
        inner: BranchNoise = release.inner
        rows = np.array(raw.column("m0"), dtype=np.int64)
        (totals,) = (query.totals(release.domain.cells(raw), rows) for query in release.queries)
        counts = [*map(int, inner.branches.counts(np.array(totals))), sum(totals)]
        noise, scales = [0] * len(counts), (*inner.scales, inner.total_scale)
        for scale, draw in zip(_different(scales), draws, strict=True):
            places = [place for place, own in enumerate(scales) if own == scale]
            self.exact.append(Exact(draw, tuple(counts[place] for place in places)))
            for place, number in zip(places, draw.noise, strict=True):
                noise[place] = number
        noised, silent = (
            inner.branches.answers(inner.queries, np.array(found[:-1], dtype=object), found[-1])
            for found in (
                [a + b for a, b in zip(counts, noise, strict=True)],
                [0 if scale else k for k, scale in zip(counts, scales, strict=True)],
            )
        )
        assert list(noised) == list(steps), "an answer is not worked out from the noised counts"
        self.bare.append(tuple(map(int, silent)))


def _different(scales: Sequence[Fraction]) -> list[Fraction]:
    """The scales that are drawn at, in the order of the draws."""
    return [scale for scale in dict.fromkeys(scales) if scale]


class Street:
    """Databases of the same people with one row more, by the row's name; ``absent`` has none.

    Args:
        text: The policy.
        rows: Names to rows.
        towns: The public towns.
        broken: What is done to the metrics before anything is asked: a seeded bug.
    """

    def __init__(
        self,
        text: str,
        rows: Mapping[str, Row],
        towns: Sequence[Row],
        broken: Callable[[RowMetric], RowMetric] = lambda metric: metric,
    ) -> None:
        self._backends: dict[str, Backend] = {}
        with ExitStack() as stack:
            for name, row in rows.items():
                folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="street-")))
                people = [*PEOPLE, *([] if name == ABSENT else [row])]
                proxy = stack.enter_context(opened(folder, text, people=people, towns=towns))
                metrics = {key: broken(metric) for key, metric in proxy._backend.metrics.items()}
                self._backends[name] = replace(proxy._backend, metrics=metrics)
            self._open = stack.pop_all()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self._open.close()

    @property
    def metrics(self) -> Mapping[str, RowMetric]:
        """Those of the policy."""
        return next(iter(self._backends.values())).metrics

    def ask(self, sql: str, **options: Any) -> dict[str, Run]:
        """One statement on every database, with the same noise."""
        return {name: asked_of(backend, sql, options) for name, backend in self._backends.items()}


def asked_of(backend: Backend, sql: str, options: Mapping[str, Any]) -> Run:
    """One statement on one database, and what happened."""
    session = Watched(backend, f"{sql}, {options}")
    charged = Charged(backend.ledger)
    answer, error, failed = None, None, False
    try:
        answer = session.query(sql, **options)
    except Exception as other:  # noqa: BLE001 - whatever it is, an analyst sees that there is no answer
        error, failed = spoken(other), is_failure(other)
    losses = charged.losses()
    draws = [(draw.law, draw.parameter, len(draw.noise)) for draw in session.recorder.draws]
    choices = [(choice.law, choice.exponent, choice.widths) for choice in session.recorder.choices]
    shown = (
        None
        if answer is None
        else (answer.columns, answer.types, answer.cost, before_noise(answer.measurements), answer.replayed)
    )
    seen = (tuple(session.statements), draws, choices, losses, shown, error, tuple(session.bare))
    rows = [] if answer is None else answer.rows
    return Run(seen, rows, tuple(session.exact), tuple(session.recorder.choices), losses, error, failed)


def told(one: Run, two: Run) -> Fraction:
    """What the two answers can tell the two databases apart by, exactly: L1 moves over scales, ranges of scores."""
    loss = Fraction(0)
    for first, second in zip(one.exact, two.exact, strict=True):
        moved = sum(abs(a - b) for a, b in zip(first.numbers, second.numbers, strict=True))
        loss += moved / Fraction(first.draw.parameter)
    for a, b in zip(one.choices, two.choices, strict=True):
        loss += a.exponent * range_of_moves(a, b)
    return loss


def charged(run: Run) -> dict[str, Fraction]:
    """The multiples that a run was charged, by column."""
    found: dict[str, Fraction] = {}
    for loss in _flat(run.losses):
        for column, multiple in loss.multiples.items():
            found[column] = found.get(column, Fraction(0)) + multiple
    return found


def _flat(losses: Sequence[Loss]) -> Iterator[MetricLoss]:
    for loss in losses:
        match loss:
            case Composed():
                for _ in range(loss.count):
                    yield from _flat(loss.parts)
            case MetricLoss():
                yield loss
            case Free():
                pass
            case _:
                raise AssertionError(f"a statement under a metric was charged {loss}")


def spread(metric: RowMetric, paid: Mapping[str, Fraction], one: Row, other: Row) -> Fraction:
    """What was paid for a change between two rows given by their values, None for an absent one.

    By the definition of the distances, attribute by attribute: of all that is charged, nothing else is asked.
    """
    presence = metric.product.presence or Fraction(0)
    if not one or not other:
        return (
            paid.get("" if metric.one_number else "presence", Fraction(0)) * presence if one or other else Fraction(0)
        )
    places = [[dimension.values.index(value) for dimension, value in zip(metric.dimensions, row, strict=True)]
              for row in (one, other)]  # fmt: skip
    apart = [d.metric.distance(u, v) for d, u, v in zip(metric.dimensions, *places, strict=True)]
    if metric.one_number:
        return paid.get("", Fraction(0)) * metric.product.distance(*places)
    return sum((paid.get(d.name, Fraction(0)) * x for d, x in zip(metric.dimensions, apart, strict=True)), Fraction(0))


def convicted(metric: RowMetric, replay: Mapping[str, Mapping[str, Run]], places: Mapping[str, Row]) -> Iterator[str]:
    """Every statement that fails, or tells two rows apart better than was paid for, or shows them otherwise.

    Args:
        metric: Their metric.
        replay: Each statement's runs, by the row that is there.
        places: Where the metric puts each row, in the order of its attributes; nowhere where it is absent.
    """
    for sql, runs in replay.items():
        for name, run in runs.items():
            if run.error is not None and (run.failed or run.losses):
                yield f"{sql}: {name}: it fails: {': '.join(run.error)}"
        for one, two in itertools.combinations(runs, 2):
            if runs[one].seen != runs[two].seen:
                yield f"{sql}: {one} | {two} are seen"
            elif told(runs[one], runs[two]) > spread(metric, charged(runs[one]), places[one], places[two]):
                yield f"{sql}: {one} | {two} are told apart"
            elif places[one] == places[two] and runs[one].rows != runs[two].rows:
                yield f"{sql}: {one} | {two} are in one place, and have two answers"
