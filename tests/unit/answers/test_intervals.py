"""Intervals of large answers take time in proportion to their rows, and are the same as row by row."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

import dpsql.testing
from dpsql.answers.answer import Answer
from dpsql.answers.finish import Intervals
from dpsql.answers.intervals import Bars
from dpsql.answers.screen import Ends
from dpsql.session import Session
from dpsql.testing import Noiseless
from examples import hospital

ROOT = Path(__file__).parents[3]
BY_AGE = "SELECT sex, age, COUNT(*) AS n, SUM(weight) AS w FROM patients GROUP BY sex, age"


@pytest.fixture(scope="module")
def session(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Session]:
    home = tmp_path_factory.mktemp("intervals")
    shutil.copy(ROOT / "policies" / "hospital.yaml", home)
    hospital.build(home / "hospital.duckdb", patients=200, visits=1000)
    with dpsql.testing.open(home / "hospital.yaml", Noiseless()) as proxy:
        yield proxy.session(analyst="ana")


def counted(answer: Answer) -> tuple[Intervals, list[float]]:
    """The answer's intervals, and the levels at which those of released values are asked for."""
    held, asked = answer._intervals, list[float]()
    assert isinstance(held, Intervals)

    def counting(own: Bars) -> Bars:
        def bars(level: float) -> list[Ends]:
            asked.append(level)
            return list(own(level))

        return bars

    return replace(held, bars={name: counting(own) for name, own in held.bars.items()}), asked


def test_released_intervals_are_asked_for_once_a_level_whatever_the_groups(session: Session) -> None:
    answer = session.query(f"SELECT age, SUM(n) AS s FROM ({BY_AGE}) GROUP BY age", epsilon=0.2)
    intervals, asked = counted(answer)
    assert len(answer.rows) > 100
    found = intervals(1, 0.95)
    assert found == answer.interval("s")
    assert asked == [1 - 0.05 / 3]  # three rows a group
    assert None not in (end for pair in found for end in pair)
