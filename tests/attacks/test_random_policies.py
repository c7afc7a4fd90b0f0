"""Random statements under random policies, over data that fit them badly: no audit convicts (see `random_replay`)."""

from __future__ import annotations

from collections import Counter
from unittest.mock import patch

import pytest

from dpsql.answers.computed.postprocess import PostProcess
from dpsql.audit.audits import tightness
from dpsql.plan.known import stability
from tests.attacks.random_policies import draw
from tests.attacks.random_replay import assert_none_convicts, audited, replayed, statements

SEEDS = range(9)
MANY, PART = 300, 25


@pytest.mark.parametrize("seed", [pytest.param(seed, marks=[pytest.mark.slow] if seed > 1 else []) for seed in SEEDS])
def test_no_audit_convicts_under_a_random_policy(after: PostProcess, seed: int) -> None:
    seen = Counter[str]()
    assert list(audited(seed, after, seen)) == []
    assert seen["answered"] >= 2  # what is refused is no loss, and proves nothing


@pytest.mark.slow
@pytest.mark.sweep(4)
@pytest.mark.parametrize("first", range(0, MANY, PART))
def test_no_audit_convicts_under_many_new_policies(after: PostProcess, seed: int, first: int) -> None:
    worlds = range(seed + first, seed + first + PART)
    assert_none_convicts("policy", audited, after, worlds, "tests.attacks.random_replay")


@pytest.mark.parametrize(
    "construct",
    [
        "FILTER",
        "CASE",
        " WHERE ",
        "_per_group",
        "ROLLUP",
        "CUBE",
        "GROUPING SETS",
        "random_dp",
        "UNION ALL SELECT COUNT",
    ],
)
def test_the_statements_of_fixed_seeds_have_every_construct(construct: str) -> None:
    assert any(construct in str(statement) for seed in SEEDS for statement in statements(draw(seed)))


@pytest.mark.slow
def test_units_reach_the_whole_sensitivity(after: PostProcess) -> None:
    # An audit that never sees the worst case proves nothing.
    reached = 0
    for seed in range(20, 30):
        drawn = draw(seed)
        reached += max(tightness(replayed(drawn, statements(drawn), after)).values(), default=0.0) > 0.999
    assert reached >= 5


def test_a_plan_that_counts_too_few_rows_is_convicted(after: PostProcess) -> None:
    with patch.object(stability, "_on_key", lambda *_: True):
        convicted = any(problem for seed in (1, 5, 12) for problem in audited(seed, after))
    assert convicted
