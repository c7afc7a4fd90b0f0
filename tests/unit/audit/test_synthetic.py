"""Synthetic tables on record: what they were made of, cell by cell, and made again with other noise."""

from __future__ import annotations

from dpsql.audit.replay import RunPart
from dpsql.audit.synthetic import watched_table
from dpsql.mechanisms.releases.table import TablePlan
from dpsql.privacy.tables import RawTable
from dpsql.testing_samplers import FixedSampler, Noiseless
from tests.unit.mechanisms.releases.test_table import planned

RAW = RawTable({"k0": [0, 1], "m0": [3, 5]})


def plan() -> TablePlan:
    return planned([3], method="cells")


def test_a_release_is_the_same_and_on_record() -> None:
    heard: list[RunPart] = []
    watched = watched_table(plan(), heard.append)
    mine, other = (table.release(RAW, ["k0"], FixedSampler(1))[0].columns for table in (watched, plan()))
    assert mine == other
    (part,) = heard
    assert part.groups == ((0,), (1,), (2,))
    assert part.raw == {(0,): (3,), (1,): (5,), (2,): (0,)}


def test_it_is_made_again_by_cell_with_other_noise() -> None:
    heard: list[RunPart] = []
    watched_table(plan(), heard.append).release(RAW, ["k0"], FixedSampler(1))
    again = heard[0].again
    assert again is not None
    assert again(Noiseless()).columns["rows"] == [3, 5, 0]
    assert len({tuple(again(FixedSampler(seed)).columns["rows"]) for seed in range(20)}) > 1
