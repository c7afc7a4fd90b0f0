"""Caps that are found, under attack: what one unit moves through SQL, at every cap that may be chosen.

The exact loss of whole transcripts is worked out in tests/unit/mechanisms/capped.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from dataclasses import replace
from typing import Any
from unittest.mock import patch

import pytest

from dpsql.audit.audits import charge, fresh_noise, sensitivity, threshold
from dpsql.audit.replay import BOTH, Replay, RunPart
from dpsql.audit.seen import same_but_draws
from dpsql.engine import lower
from dpsql.engine.base import EngineStatement
from dpsql.engine.counted import counted_in_order
from dpsql.engine.printer import Printer
from dpsql.engine.ranked import ranked
from dpsql.mechanisms.capped.groups import CappedThreshold
from dpsql.mechanisms.capped.release import CappedRelease
from dpsql.mechanisms.capped.statistics import CappedStatistics
from dpsql.mechanisms.choice.clamp import ClampSearch
from dpsql.mechanisms.located.clamp import Clamps
from dpsql.mechanisms.located.release import LocatedRelease
from dpsql.plan.needs import Values
from dpsql.privacy.tables import RawTable, ReleasedTable
from dpsql.testing_samplers import Noiseless
from dpsql.worker.making import Counted
from tests.attacks.templates import Template
from tests.attacks.world import World

CAPPED = {"mechanism": "capped", "epsilon": 400}  # so much that the sizes of a few units are believed
QUESTIONS = (
    Template("SELECT MEDIAN(cost) FROM visits", options=CAPPED),
    Template("SELECT QUANTILE_DISC(score, 0.9) FROM visits WHERE cost > 10", options=CAPPED),
    Template("SELECT cost > 50 AS dear, MEDIAN(score), AVG(cost), STDDEV(cost) FROM visits GROUP BY 1", options=CAPPED),
    Template(
        "SELECT p.sex, AVG(v.cost) FROM visits v JOIN patients p USING (patient_id) GROUP BY p.sex", options=CAPPED
    ),
    Template("SELECT MEDIAN(n.grade) FROM visits v JOIN notes n USING (patient_id)", options=CAPPED),
    Template("SELECT AVG(score) FROM visits", options={"mechanism": "capped", "rho": 0.1}),
    Template("SELECT diagnosis, COUNT(DISTINCT patient_id) FROM visits GROUP BY 1", options={**CAPPED, "delta": 1e-3}),
    Template(
        "SELECT ward, diagnosis, COUNT(DISTINCT patient_id) AS n, SUM(cost) FROM visits WHERE cost > 10 GROUP BY 1, 2",
        options={**CAPPED, "delta": 1e-3},
    ),
    Template("SELECT MEDIAN(cost) FROM visits", options={**CAPPED, "max_rows_contributed": 2}),  # refused
)
PLACED = tuple(
    Template(sql, options={"mechanism": mechanism, "epsilon": epsilon})
    for sql in (
        "SELECT p.sex, AVG(v.cost) FROM visits v JOIN patients p USING (patient_id) GROUP BY p.sex",
        "SELECT score > 3, STDDEV(cost) FROM visits GROUP BY 1",
    )
    for mechanism, epsilon in (("capped", 1), ("capped", 400), ("located", 1), ("located", 300))
)
"""Statistics whose clamp is one choice for all groups with few rows, and those of groups with many."""


@pytest.fixture(scope="module")
def world() -> Iterator[World]:
    with World(3, removed=["the heaviest", "in all groups"], last=()) as world:
        yield world


@pytest.fixture(scope="module")
def replay(world: World) -> Replay:
    return world.replay(QUESTIONS, BOTH)


def far(one: RunPart, two: RunPart, units: int) -> list[str]:
    """Where one unit moves more than the noise is for: the sizes, or the rows within a cap."""
    release, found = one.release, []
    assert isinstance(release, CappedRelease)
    assert one.ranked is not None
    assert two.ranked is not None
    sizes = [release.search.counted(part.ranked, Noiseless()) for part in (one, two) if part.ranked is not None]
    if sum(abs(a - b) for a, b in zip(*sizes, strict=True)) > units:
        found.append("the sizes")
    if isinstance(release, CappedThreshold):
        return found + [f"the groups within {edge}" for edge in _groups_too_far(release, one, two, units)]
    for place, edge in enumerate(release.search.edges):
        inner = release.inners[place]  # type: ignore[attr-defined]  # both kinds have them
        moved = inner.query.moved if isinstance(release, CappedStatistics) else inner.query.moved.l1
        rows = [_rows(release.within(part.ranked, place)) for part in (one, two) if part.ranked is not None]
        came, went = (rows[0] - rows[1]).total(), (rows[1] - rows[0]).total()
        # A quantile without groups is proved for rows that are replaced, in pairs.
        if max(came, went) > edge or (came + went > moved and moved != edge):
            found.append(f"the rows within {edge}")
    return found


def _groups_too_far(release: CappedThreshold, one: RunPart, two: RunPart, units: int) -> Iterator[int]:
    """The caps within which a unit moves more groups, or one group further, than the noise is for."""
    for place, edge in enumerate(release.search.edges):
        counts = [
            Counter(dict(zip(part.groups, release.within(part.ranked, place).column("m0"), strict=True)))
            for part in (one, two)
            if part.ranked is not None
        ]
        came, went = counts[0] - counts[1], counts[1] - counts[0]
        twice = [n for n in (*came.values(), *went.values()) if n > 1]
        if twice or max(came.total(), went.total()) > edge or came.total() + went.total() > units * edge:
            yield edge


def _rows(raw: RawTable) -> Counter[tuple[int, int]]:
    cells = zip(*(raw.column(name) for name in ("group", "value", "rows")), strict=True)
    return Counter({(group, value): int(many) for group, value, many in cells})


def convicted(replay: Replay) -> list[str]:
    found = []
    for where, one, two in replay.pairs():
        units = 2 if one.promise.neighbours == "replace_one" else 1
        for part, other in zip(one.parts, two.parts, strict=True):
            if not isinstance(part.release, CappedRelease):  # a total beside the choice of its groups
                continue
            found += [f"{where}: {what}" for what in far(part, other, units)]
    return found


def test_neighbours_see_the_same_statements_charges_columns_and_refusals(replay: Replay) -> None:
    assert same_but_draws(replay) == []  # which draws follow the sizes depends on the noised ones


def test_sizes_and_rows_move_no_further_than_noise_is_for(replay: Replay) -> None:
    assert convicted(replay) == []
    caps = [set(part.released["cap"]) for _, run in replay.all() for part in run.parts if "cap" in part.released]
    assert len(set().union(*caps)) > 1
    assert sum(run.error is not None for _, run in replay.all()) == len(replay.runs)  # the last template


def test_a_choice_of_groups_is_what_its_threshold_promises_at_the_cap_that_was_found(replay: Replay) -> None:
    chosen = Replay({key: [run for run in runs if "DISTINCT" in run.template.sql] for key, runs in replay.runs.items()})
    for audit in (sensitivity, charge, fresh_noise, threshold):
        assert audit(chosen) == []
    shown = [part for _, run in chosen.all() for part in run.parts if isinstance(part.release, CappedThreshold)]
    assert len(shown) == 2 * len(chosen.runs)
    assert any(part.release.selected(ReleasedTable(part.released)) for part in shown)


def _rows_of_a_clamp_count_thirtyfold() -> AbstractContextManager[object]:
    def thirtyfold(clamps: Clamps, groups: Any) -> list[int]:
        return [30 * k for k in whole(clamps, groups)]

    whole = Clamps.counts
    return patch.object(Clamps, "counts", thirtyfold)


def _the_clamp_is_chosen_by_groups_that_have_none() -> AbstractContextManager[object]:
    def every(search: LocatedRelease, groups: Any, sampler: Any) -> int:
        return whole(search, groups[:-1], sampler) if groups else whole(search, groups, sampler)

    whole = LocatedRelease.clamp
    return patch.object(LocatedRelease, "clamp", every)


def _the_clamp_is_looked_up() -> AbstractContextManager[object]:
    def looked_up(search: ClampSearch, counts: list[int], sampler: Any) -> int:
        return next(at for at, _ in enumerate(search.edges) if 10 * sum(counts[: at + 1]) >= 9 * sum(counts))

    return patch.object(ClampSearch, "choose", looked_up)


def _the_centre_is_looked_up() -> AbstractContextManager[object]:
    def looked_up(search: LocatedRelease, values: Any, rows: Any, *_: Any) -> int:
        return int(values[len(values) // 2])

    return patch.object(LocatedRelease, "centre", looked_up)


def placed(world: World) -> Replay:
    return world.replay(PLACED, BOTH)


def test_the_choices_of_statistics_of_several_groups_are_compared_under_the_same_released_numbers(world: World) -> None:
    found = placed(world)
    for audit in (sensitivity, charge, fresh_noise):
        assert audit(found) == []
    parts = [part for _, run in found.all() for part in run.parts if part.ranked is not None]
    assert len(parts) == len(PLACED) * len(found.runs)
    clamps = {clamp is None for part in parts for clamp in part.released["clamp"]}
    assert clamps == {True, False}
    assert any(len(part.groups) > len(part.choices) > 0 for part in parts)  # one choice for all of them


def test_a_choice_that_weighs_rows_too_much_is_convicted(world: World) -> None:
    with _rows_of_a_clamp_count_thirtyfold():
        found = placed(world)
        assert any("loses" in problem for problem in sensitivity(found))
        assert any("loses" in problem for problem in charge(found))


def test_a_choice_that_does_not_follow_from_what_was_released_is_convicted(world: World) -> None:
    with _the_clamp_is_chosen_by_groups_that_have_none():
        found = placed(world)
    assert any("do not follow" in problem for problem in fresh_noise(found))


@pytest.mark.parametrize("bug", [_the_clamp_is_looked_up, _the_centre_is_looked_up])
def test_a_place_that_is_not_drawn_is_convicted(
    bug: Callable[[], AbstractContextManager[object]], world: World
) -> None:
    """By audits that share the bug, as they share the code: what is not drawn must be missed by its number."""
    with bug():
        assert any("not drawn" in problem for problem in fresh_noise(placed(world)))


def test_what_is_charged_is_the_price_before_the_engine_is_asked(replay: Replay) -> None:
    for _, run in replay.all():
        assert len(run.charges) == (0 if run.error else 1)
        assert all(spent == run.spent for _, _, spent in run.statements)


def _every_row_is_last() -> AbstractContextManager[object]:
    def last(*given: Any) -> tuple[str, str, str]:
        rows, rank, _ = whole(*given)
        return rows, rank, "1"

    whole = ranked
    return patch.object(lower, "ranked", last)


def _everything_is_first() -> AbstractContextManager[object]:
    def first(*given: Any) -> tuple[str, str, str]:
        rows, _, ends = whole(*given)
        return rows, "0", ends

    whole = ranked
    return patch.object(lower, "ranked", first)


def _the_worker_takes_everything_for_first() -> AbstractContextManager[object]:
    def first(printer: Printer, need: Values, *given: Any) -> EngineStatement:
        own = whole(printer, need, *given)
        assert isinstance(own.made, Counted) and own.made.edges
        return replace(own, made=replace(own.made, edges=tuple(100 * edge for edge in own.made.edges)))

    whole = counted_in_order
    return patch.object(lower, "counted_in_order", first)


@pytest.mark.parametrize(
    ("bug", "words"),
    [
        (_every_row_is_last, "JOIN notes"),
        (_every_row_is_last, "diagnosis, COUNT(DISTINCT"),
        (_everything_is_first, "JOIN notes"),
        (_everything_is_first, "diagnosis, COUNT(DISTINCT"),
        (_the_worker_takes_everything_for_first, "SELECT MEDIAN(cost)"),
        (_the_worker_takes_everything_for_first, "JOIN patients"),
    ],
)
def test_bugs_in_the_statement_are_convicted(world: World, bug: Any, words: str) -> None:
    question = next(question for question in QUESTIONS if words in question.sql)
    with bug():
        assert convicted(world.replay([question], BOTH[:1]))
