"""Random statements bought together and one by one: what is drawn is charged, and stored answers are those alone."""

from __future__ import annotations

from collections import Counter
from unittest.mock import patch

import pytest

from dpsql.answers.computed.postprocess import PostProcess
from dpsql.engine.base import EngineStatement
from dpsql.prepare.batch import Batch
from tests.attacks.random_batches import audited, but_the_last
from tests.attacks.random_replay import assert_none_convicts

SEEDS = (7,)
MANY = 100


def test_what_is_drawn_is_charged_and_what_is_stored_is_the_answer(after: PostProcess) -> None:
    seen = Counter[str]()
    assert [problem for seed in SEEDS for problem in audited(seed, after, seen)] == []
    assert seen["batches"] >= len(SEEDS)
    assert seen["pairs"]


@pytest.mark.slow
def test_it_is_in_many_new_worlds(after: PostProcess, seed: int) -> None:
    assert_none_convicts("world", audited, after, range(seed, seed + MANY), "tests.attacks.random_batches")


def test_a_statement_of_a_batch_that_is_not_charged_is_convicted(after: PostProcess) -> None:
    with patch.object(Batch, "loss", property(but_the_last)):
        assert any("charged" in problem for seed in SEEDS for problem in audited(seed, after))


def test_stored_answers_that_are_found_whatever_was_read_are_convicted(after: PostProcess) -> None:
    with patch.object(EngineStatement, "identity", property(lambda _: "")):
        assert any("answered otherwise" in problem for seed in SEEDS for problem in audited(seed, after))
