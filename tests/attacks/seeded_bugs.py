"""Bugs of kinds that other systems really had, each planted in one place, and the audit that must convict it.

Each is a context manager over the real code. None is reachable from the package.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import Any
from unittest.mock import patch

from dpsql.audit.audits import AUDITS
from dpsql.audit.measured import measured_loss
from dpsql.audit.replay import BOTH, Replay
from dpsql.engine import lower
from dpsql.engine.base import EngineStatement
from dpsql.engine.printer import Printer
from dpsql.mechanisms import gaussian_threshold, top_k
from dpsql.mechanisms.base import Request
from dpsql.mechanisms.capped.groups import CappedThreshold
from dpsql.mechanisms.choice.clamp import ClampSearch, above_edges
from dpsql.mechanisms.clamped import release as clamped_release
from dpsql.mechanisms.noise import sensitivity as moved
from dpsql.mechanisms.noise import thresholds
from dpsql.mechanisms.noise.laws import LaplaceLaw, Law
from dpsql.mechanisms.noise.noised import NoisedRelease
from dpsql.owner import shape
from dpsql.plan.needs import Contribution, Source
from dpsql.policy import EngineSection
from dpsql.prepare import rest as row_of_the_rest
from dpsql.prepare import sources
from dpsql.privacy.kinds import Pure
from dpsql.privacy.sampling import ExactSampler, Integers, Sampler
from dpsql.privacy.tables import RawTable, ReleasedTable
from dpsql.testing_samplers import FixedSampler
from tests.attacks.templates import Template, named
from tests.attacks.world import World

__all__ = ["BUGS", "Bug", "convictions", "small_world"]

Moved = Callable[[Path], EngineSection] | None
"""How the databases come to another engine, as `World` takes it."""
DRAWS = 20_000  # a side: enough to see the loss doubled at epsilon 1, every time

ASKED = (
    *named(
        "SELECT SUM(cost) FROM visits",
        "SELECT SUM(greatest(0, least(cost, 50)))",
        "SELECT AVG(cost) FROM visits",
        "SELECT ward, COUNT(*) AS n, SUM(cost)",
        "SELECT diagnosis, COUNT(DISTINCT patient_id)",
        "SELECT ward, COUNT(*, contribution_bounds_per_group",
        "SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS (rho = 4, delta = 1e-3, rest = true)",
        "SELECT ward, floor(score / 5) AS band, SUM(score) AS s, COUNT(*)",
        "SELECT COUNT(*) FROM visits WHERE cost > 10",
        "SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS (epsilon = 1, max_rows_contributed = 1)",
    ),
    Template(
        "SELECT diagnosis, COUNT(DISTINCT patient_id) AS people FROM visits GROUP BY diagnosis",
        options={"epsilon": 400, "delta": 1e-3, "mechanism": "capped"},  # enough that a few units are believed
    ),
)
"""What every run asks: plain, derived, mean, grouped, open, bounded in each group, the rest, the first of an order, a
clamp that is found, a cap of rows, and a cap that is found."""


def measured(replay: Replay, seed: int = 0) -> list[str]:
    """Releases that really lose more than they claim, by many draws on one pair of neighbours."""
    found = []
    for where, one, two in replay.pairs():
        if "in all groups" not in where:
            continue
        for at, (part, other) in enumerate(zip(one.parts, two.parts, strict=True)):
            if isinstance(part.release.loss, Pure) and not (part.choices or part.drawn):
                epsilon = float(part.release.loss.epsilon)
                other = replace(other, raw=part.over(other.cells)) if other.cells else other
                real = measured_loss(part, other, DRAWS, FixedSampler(f"{seed}, {at}, {where}"), epsilon, 0.0)
                if real > epsilon:
                    found.append(f"{where}: measured loss {real:.3g}, claimed {epsilon:.3g}")
    return found


@dataclass(frozen=True)
class Bug:
    """One bug.

    Attributes:
        name: Its name.
        planted: How, in words.
        audit: The audit that must convict it.
        plant: The context manager in which it is there.
        builds: Whether it acts where the bounded tables are built, so that a run needs tables of its own.
    """

    name: str
    planted: str
    audit: str
    plant: Callable[[], AbstractContextManager[object]]
    builds: bool = False


def _half_sensitivity() -> AbstractContextManager[object]:
    def half(l1: int, l2_squared: int, one_cell: bool) -> moved.Sensitivity:
        return whole(-(-l1 // 2), -(-l2_squared // 4), one_cell)

    whole = moved.Sensitivity
    return patch.object(moved, "Sensitivity", half)


def _half_noise() -> AbstractContextManager[object]:
    def half(sampler: ExactSampler, scale: Fraction, size: int) -> Integers:
        return whole(sampler, scale / 2, size)

    whole = ExactSampler.laplace
    return patch.object(ExactSampler, "laplace", half)


def _no_clamp() -> AbstractContextManager[object]:
    def unbounded(**declared: Any) -> shape.ColumnShape:
        return whole(**{**declared, "low": None, "high": None})

    whole = shape.ColumnShape
    return patch.object(shape, "ColumnShape", unbounded)


def _no_threshold() -> AbstractContextManager[object]:
    def everything(release: thresholds.ThresholdRelease, raw: RawTable, sampler: Sampler) -> ReleasedTable:
        return NoisedRelease.release(release, raw, sampler)

    return patch.object(thresholds.ThresholdRelease, "release", everything)


def _threshold_off_by_one() -> AbstractContextManager[object]:
    def at_least(release: thresholds.ThresholdRelease, raw: RawTable, sampler: Sampler) -> ReleasedTable:
        steps = NoisedRelease.release(release, raw, sampler).columns["steps"]
        shown = [k if k >= release.threshold else None for k in steps]
        return ReleasedTable({"value": shown, "steps": shown})

    return patch.object(thresholds.ThresholdRelease, "release", at_least)


def _threshold_of_one_group() -> AbstractContextManager[object]:
    def of_one(request: Request, law: Law, groups: int, delta: Fraction) -> tuple[int, Fraction]:
        above, _ = thresholds.threshold_of(request, law, groups, delta)
        return above, thresholds.threshold_delta(law, 1, above)

    return patch.object(gaussian_threshold, "threshold_of", of_one)


def _missing_group_cap() -> AbstractContextManager[object]:
    return _lowered_from(lambda source: replace(source, cap_groups=False))


def _missing_row_cap() -> AbstractContextManager[object]:
    return _lowered_from(lambda source: replace(source, cap_rows=False))


def _lowered_from(other: Callable[[Source], Source]) -> AbstractContextManager[object]:
    def uncapped(printer: Printer, source: Source, *rest: Any) -> EngineStatement:
        return whole(printer, other(source), *rest)

    whole = lower._aggregates
    return patch.object(lower, "_aggregates", uncapped)


def _one_group() -> AbstractContextManager[object]:
    return patch.object(sources, "most_groups", lambda *_: 1)


def _one_hidden_row() -> AbstractContextManager[object]:
    return patch.object(row_of_the_rest, "Contribution", lambda *_: Contribution(1, 1, 1))


def _one_draw() -> AbstractContextManager[object]:
    def of_one(request: Request, _: int, reach: int) -> Any:
        return whole(request, 1, reach)

    whole = top_k._rate
    return patch.object(top_k, "_rate", of_one)


def _reused_noise() -> AbstractContextManager[object]:
    drawn: dict[tuple[object, int], Integers] = {}

    def cached(law: Any, sampler: Sampler, size: int) -> Integers:
        if (law, size) not in drawn:
            drawn[law, size] = whole(law, sampler, size)
        return drawn[law, size]

    whole = LaplaceLaw.draw
    return patch.object(LaplaceLaw, "draw", cached)


def _float_noise() -> AbstractContextManager[object]:
    def floating(release: NoisedRelease, raw: RawTable, sampler: Sampler) -> ReleasedTable:
        noise = release.law.draw(sampler, len(raw))
        values = [k + float(n) * 0.999 for k, n in zip(raw.column("m0"), noise, strict=True)]
        return ReleasedTable({"value": values, "steps": values})

    return patch.object(NoisedRelease, "release", floating)


def _no_clamp_of_totals() -> AbstractContextManager[object]:
    def whole(release: clamped_release.ClampedRelease, sizes: clamped_release.Sizes, place: int) -> list[int]:
        last = len(release.search.edges) - 1
        return [total << release._digits(place) for total in clamped(release, sizes, last)]

    def least(search: ClampSearch, above: Sequence[int], sampler: Sampler) -> int:
        drawn(search, above, sampler)  # the loss must hold at every clamp that may come up: this is one
        return 0

    clamped, drawn = clamped_release.ClampedRelease.within, ClampSearch.choose
    stack = ExitStack()
    stack.enter_context(patch.object(ClampSearch, "choose", least))
    stack.enter_context(patch.object(clamped_release.ClampedRelease, "within", whole))
    return stack


def _no_cap_of_groups() -> AbstractContextManager[object]:
    def every(release: CappedThreshold, raw: RawTable, _: int) -> RawTable:
        return within(release, raw, len(release.inners) - 1)

    within: Callable[..., RawTable] = CappedThreshold.within
    stack = ExitStack()  # the loss must hold at every cap that may come up: this is one
    stack.enter_context(patch.object(CappedThreshold, "best", lambda *_: 0))
    stack.enter_context(patch.object(CappedThreshold, "within", every))
    return stack


def _clamp_by_raw_numbers() -> AbstractContextManager[object]:
    def best(search: ClampSearch, units: Sequence[int], sampler: Sampler) -> int:
        return next(place for place, many in enumerate(above_edges(units)) if many <= 2)

    return patch.object(ClampSearch, "choose", best)


BUGS = (
    Bug("half sensitivity", "`Sensitivity` is made with half of its L1 and L2", "sensitivity", _half_sensitivity),
    Bug("half noise", "`ExactSampler.laplace` draws at half the scale it is asked for", "measured loss", _half_noise),
    Bug("no clamp", "`ColumnShape` loses the bounds that the builder clamps to", "sensitivity", _no_clamp, builds=True),
    Bug("no threshold", "`ThresholdRelease.release` keeps every group", "threshold", _no_threshold),
    Bug("threshold off by one", "a group appears at the threshold, not above it", "threshold", _threshold_off_by_one),
    Bug(
        "threshold of one group", "a Gaussian threshold is charged for one group", "threshold", _threshold_of_one_group
    ),
    Bug("missing group cap", "the printed statement has no group cap", "sensitivity", _missing_group_cap),
    Bug("missing row cap", "the printed statement has no row cap", "sensitivity", _missing_row_cap),
    Bug("wrong group count", "`most_groups` says that a unit is in one group", "sensitivity", _one_group),
    Bug("one hidden row", "a unit counts with one row in the rest", "sensitivity", _one_hidden_row),
    Bug("one draw", "drawing two groups is charged as one draw", "sensitivity", _one_draw),
    Bug("totals above the clamp", "`ClampedRelease.within` clamps nothing", "sensitivity", _no_clamp_of_totals),
    Bug("groups above the cap", "`CappedThreshold.units` cuts nothing", "sensitivity", _no_cap_of_groups),
    Bug("clamp by raw numbers", "`ClampSearch.choose` looks at the histogram", "fresh noise", _clamp_by_raw_numbers),
    Bug("reused noise", "`LaplaceLaw.draw` returns its last draw again", "fresh noise", _reused_noise),
    Bug("float noise", "`NoisedRelease.release` adds a float", "grid", _float_noise),
)


def small_world(seed: int, moved: Moved = None) -> World:
    """Four neighbours, enough for every bug, with rows, order and secret key of that seed."""
    removed = ("the heaviest", "alone in its group", "in all groups", "one above the caps")
    return World(seed, removed=removed, last=(), moved=moved)


def convictions(world: World, bug: Bug | None, seed: int, moved: Moved = None) -> dict[str, list[str]]:
    """Audit to its findings: every audit without a bug, the named one with a bug planted from the start."""

    def by_draws(replay: Replay) -> list[str]:
        return measured(replay, seed)

    audits: Mapping[str, Callable[[Replay], list[str]]] = {**AUDITS, "measured loss": by_draws}
    if bug is None:
        replay = world.replay(_mixed(seed), BOTH[:1], seed=seed)
        return {name: audit(replay) for name, audit in audits.items()}
    with bug.plant():
        if bug.builds:
            with World(seed, removed=["the heaviest"], last=(), moved=moved) as own:
                replay = own.replay(_mixed(seed), BOTH[:1], seed=seed)
        else:
            replay = world.replay(_mixed(seed), BOTH[:1], seed=seed)
        return {bug.audit: audits[bug.audit](replay)}


def _mixed(seed: int) -> list[Template]:
    """The questions, from another one on each time."""
    start = seed % len(ASKED)
    return [*ASKED[start:], *ASKED[:start]]
