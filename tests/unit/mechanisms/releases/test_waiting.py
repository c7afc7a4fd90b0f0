"""Whoever waits for a release is told the same steps whatever the rows are, from 0 on and never back."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from dpsql.mechanisms.releases.methods import Exact
from dpsql.mechanisms.releases.payment import Payment
from dpsql.mechanisms.releases.table import WAYS
from dpsql.mechanisms.releases.waiting import unheard
from dpsql.mechanisms.releases.workload import Wanted, read_workload
from dpsql.testing_samplers import FixedSampler

ONE = Wanted(("a",), (range(6),), read_workload("ranges(a)", ["a"]), rows_public=True, rows_about=12, rows=4)
TWO = Wanted(
    ("a", "b"), (range(3), range(3)), read_workload("marginals(1)", ["a", "b"]), rows_public=True, rows_about=12, rows=9
)


@pytest.mark.parametrize(("name", "asked", "least"), [("mwem", TWO, 3), ("smalldb", ONE, 9), ("smalldb", TWO, 2)])
def test_steps_are_public_and_never_fall(name: str, asked: Wanted, least: int) -> None:
    way = next(way for way in WAYS if way.name == name)
    payment = Payment("replace_one", epsilon=Fraction(1))
    heard = []
    for seed in range(2):
        told: list[float] = []
        codes = np.stack(np.unravel_index(np.array([0, 2, 4 + seed]), asked.sizes), axis=1)
        way.release(asked, payment, Exact(codes, np.array([400, 400, 400]), 0), FixedSampler("waiting"), told.append)
        assert told == sorted(told)
        assert len(told) >= least
        assert told[0] >= 0
        assert told[-1] <= 1
        heard.append(told)
    assert heard[0] == heard[1]
    unheard(1)
