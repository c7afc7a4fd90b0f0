"""Located statistics under attack: neighbours through SQL, and bugs that the exact loss of a transcript must show.

The exact loss of whole transcripts is worked out in tests/unit/mechanisms/located.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import AbstractContextManager, nullcontext
from typing import Any
from unittest.mock import patch

import pytest

from dpsql.audit.replay import BOTH, Replay
from dpsql.audit.seen import same_but_draws
from dpsql.mechanisms.located import release as located
from dpsql.mechanisms.located import search
from dpsql.mechanisms.located.clamp import Clamps
from dpsql.mechanisms.located.parts import COUNT
from dpsql.mechanisms.located.place import Bins
from tests.attacks.templates import Template
from tests.attacks.world import World
from tests.unit.mechanisms.located.test_mechanism import FOUR_ROWS, TEN, loss, release_of, table

PLACED = {"mechanism": "located", "epsilon": 300}  # so much that a few rows are enough to be located
OF_UNITS = {"mechanism": "clamped", "epsilon": 0.5}  # too few units to be located
QUESTIONS = (
    Template("SELECT AVG(age) FROM patients", options=PLACED),
    Template("SELECT AVG(cost), VAR_POP(cost), COUNT(*) FROM visits WHERE score > 3", options=PLACED),
    Template("SELECT ward, AVG(cost / (score + 6)) FROM visits GROUP BY ward", options=PLACED),
    Template("SELECT sex, STDDEV(weight) FROM patients GROUP BY sex", options=PLACED),
    Template("SELECT AVG(score) FROM visits", options={"mechanism": "located", "rho": 0.1}),
    Template("SELECT AVG(cost) FROM visits WHERE score > 3", options={"mechanism": "clamped", "epsilon": 300}),
    Template("SELECT STDDEV(cost), VAR_POP(cost) FROM visits", options={"mechanism": "clamped", "epsilon": 300}),
    Template("SELECT VAR_SAMP(cost) FROM visits WHERE score > 3", options=OF_UNITS),
    Template("SELECT sex, AVG(cost) FROM visits JOIN patients USING (patient_id) GROUP BY sex", options=OF_UNITS),
    Template("SELECT AVG(reading) FROM notes", options=PLACED),  # no bounds: refused
)


@pytest.fixture(scope="module")
def replay() -> Iterator[Replay]:
    with World(3, removed=["the heaviest", "NaN and infinities"]) as world:
        yield world.replay(QUESTIONS, BOTH)


def test_neighbours_see_the_same_statements_charges_columns_and_refusals(replay: Replay) -> None:
    # Which draws a group has follows from its released number of rows, so the sampler's calls may differ.
    assert same_but_draws(replay) == []


def test_groups_are_located_and_charged_before_the_engine_is_asked(replay: Replay) -> None:
    placed = 0
    for _, run in replay.all():
        assert len(run.charges) == (0 if run.error else 1)
        assert all(spent == run.spent for _, _, spent in run.statements)
        for part in run.parts:
            assert None not in part.released["value"]
            placed += sum(middle is not None for middle in part.released.get("middle", ()))
    assert placed > 10


def _two_bins() -> AbstractContextManager[object]:
    def twice(bins: Bins, values: Any, rows: Any, centre: int) -> list[int]:
        return [2 * k for k in whole(bins, values, rows, centre)]

    whole = Bins.counts
    return patch.object(Bins, "counts", twice)


def _unclipped() -> AbstractContextManager[object]:
    def everything(groups: Any, clip: Any) -> list[int]:
        return [int(((values - clip.middle) * rows).sum()) for values, rows in groups]

    return patch.object(located, "totals", everything)


def _whole_price_twice() -> AbstractContextManager[object]:
    return patch.object(search, "COUNT", COUNT * 4)


@pytest.mark.parametrize("bug", [None, _two_bins, _unclipped, _whole_price_twice])
def test_bugs_show_in_the_exact_loss(bug: Any) -> None:
    held = table(1, 600, 30_000.0)
    largest = 0.0
    for at, far in enumerate((10**6, 30_000, 0)):
        unit = {far: 4}
        more = held.copy()
        more.update(unit)
        release = release_of("avg", TEN, held=FOUR_ROWS)
        if bug is None:
            largest = max(largest, loss(release, held, more, f"bug {at}"))
        else:
            with bug():
                largest = max(largest, loss(release, held, more, f"bug {at}"))
    assert (largest > 10.0) == (bug is not None)


def _rows_of_a_clamp_count_eightfold() -> AbstractContextManager[object]:
    def eightfold(clamps: Clamps, groups: Any) -> list[int]:
        return [8 * k for k in whole(clamps, groups)]

    whole = Clamps.counts
    return patch.object(Clamps, "counts", eightfold)


@pytest.mark.parametrize("bug", [None, _rows_of_a_clamp_count_eightfold, _unclipped])
def test_bugs_of_groups_with_few_rows_show_in_the_exact_loss(bug: Any) -> None:
    held, largest = table(1, 60, 30_000.0), 0.0
    with bug() if bug else nullcontext():
        for at, far in enumerate((10**6, 30_000, 0)):
            release = release_of("avg", TEN, held=FOUR_ROWS)
            largest = max(largest, loss(release, held, held + Counter({far: 4}), f"few {at}"))
    assert (largest > 10.0) == (bug is not None)
