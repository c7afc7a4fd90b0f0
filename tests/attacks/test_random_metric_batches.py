"""Random statements under a metric bought together: each pays for what it draws, and is the answer that it is alone."""

from __future__ import annotations

from collections import Counter
from unittest.mock import patch

import pytest

from dpsql.answers.computed.postprocess import PostProcess
from dpsql.prepare import batch as batches
from dpsql.prepare.batch import Batch
from tests.attacks.random_batches import but_the_last
from tests.attacks.random_metric_batches import audited
from tests.attacks.random_replay import assert_none_convicts

SEEDS = (3, 7, 8)  # Of each the mistakes below are convicted.
MANY = 100


def test_what_is_drawn_is_paid_and_what_is_stored_is_the_answer(after: PostProcess) -> None:
    seen = Counter[str]()
    assert [problem for seed in SEEDS for problem in audited(seed, after, seen)] == []
    assert seen["batches"] >= len(SEEDS)


@pytest.mark.slow
def test_it_is_on_many_new_streets(after: PostProcess, seed: int) -> None:
    assert_none_convicts("street", audited, after, range(seed, seed + MANY), "tests.attacks.random_metric_batches")


def test_a_statement_that_is_not_charged_is_convicted(after: PostProcess) -> None:
    with patch.object(Batch, "loss", property(but_the_last)):
        assert any("not all that is paid is charged" in problem for seed in SEEDS for problem in audited(seed, after))


def test_one_draw_for_statements_whose_noise_differs_is_convicted(after: PostProcess) -> None:
    with patch.object(batches, "canonical", lambda _: ""):
        assert any("does not draw it" in problem for seed in SEEDS for problem in audited(seed, after))
