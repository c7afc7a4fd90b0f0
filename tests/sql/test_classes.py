"""Where all classes agreed to the same, a sensitivity for each of them changes no answer, whatever the relation."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

import dpsql.testing
from dpsql.errors import Error
from dpsql.mechanisms.preprocessing.personalised_release import ClippedTotal
from dpsql.prepare import Prepared
from tests.sql.corpus import Block, blocks
from tests.sql.databases import build
from tests.sql.described import planned
from tests.sql.meaning import Bench, compare, cuts

EQUAL = "privacy_classes: {table: patients, column: consent, share: {strict: 1, normal: 1}}\ntables:\n"


@pytest.fixture(scope="module")
def bench(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Bench]:
    """The hospital under a policy with classes of equal shares."""
    policy: Path = build("hospital", tmp_path_factory.mktemp("equal"))
    policy.write_text(policy.read_text().replace("tables:\n", EQUAL, 1))
    bench = Bench(dpsql.testing.open(policy, dpsql.testing.Noiseless()))
    yield bench
    bench.close()


def by_class(bench: Bench, block: Block) -> bool:
    """Whether every aggregate of the statement is a total with a sensitivity for each class."""
    try:
        plan = planned(bench.session, block)
    except Error:
        return False
    return isinstance(plan, Prepared) and all(isinstance(m.choice.release, ClippedTotal) for m in plan.measured)


@pytest.mark.slow
def test_classes_of_equal_shares_change_no_answer(bench: Bench) -> None:
    asked = 0
    for block in blocks("accepted.sql"):
        named = replace(block, options={**block.options, "mechanism": "preprocessing"})
        if block.policy == "hospital" and by_class(bench, named) and not cuts(bench, named):
            asked += 1
            assert compare(bench, named).difference() == "", block.place
    assert asked >= 80
