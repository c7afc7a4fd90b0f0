"""Fuzzing: no statement is charged and then fails; what is refused was neither charged nor read."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator
from pathlib import Path

import hypothesis
import pytest
from hypothesis import HealthCheck, Phase, given, settings

import dpsql.testing
from dpsql.session import Session
from dpsql.testing import FixedSampler
from tests.attacks.fuzzing import Asked, asked_around, complaint, watched
from tests.sql.corpus import blocks
from tests.sql.databases import POLICIES, build
from tests.sql.generate import statements

RICH = "{epsilon: 1.0e+9, delta: 0.9, gamma: 0.9}"


@pytest.fixture(scope="module", params=POLICIES)
def session(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory, seed: int) -> Iterator[Session]:
    """A session whose budget does not run out; its noise is the same for the same seed."""
    policy: Path = build(request.param, tmp_path_factory.mktemp("fuzzed"))
    text = re.sub(r"(total|ana|\"\*\"): +\{epsilon[^}]*\}", rf"\1: {RICH}", policy.read_text(encoding="utf-8"))
    policy.write_text(text, encoding="utf-8")
    with dpsql.testing.open(policy, FixedSampler(seed)) as proxy:
        yield proxy.session(analyst="ana")


def fuzz(session: Session, name: str, seed: int, count: int) -> int:
    """How many are answered of so many statements around those of the corpus, and as many around random ones."""
    session, engine = watched(session)
    rng = random.Random(f"{name} {seed}")
    corpus = [
        Asked(block.sql, tuple(block.parameters), dict(block.options))
        for block in blocks("accepted.sql")
        if block.policy == name
    ]
    complaints, answered = [], 0

    def ask(base: Asked) -> None:
        nonlocal answered
        asked = asked_around(session, base, rng)
        wrong, well = complaint(session, engine, asked)
        answered += well
        if wrong:
            complaints.append(f"{wrong}\n    {asked}")

    for _ in range(count):
        ask(rng.choice(corpus))

    @hypothesis.seed(seed)
    @settings(
        max_examples=count,
        deadline=None,
        database=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(statements(session._backend.catalog))
    def random_statements(sql: str) -> None:
        ask(Asked(sql))

    random_statements()
    assert not complaints, "\n".join(complaints)
    assert complaint(session, engine, corpus[0]) == ("", True)  # what was refused was not refused for what came before
    return answered


def test_nothing_is_charged_and_then_fails(session: Session, request: pytest.FixtureRequest, seed: int) -> None:
    fuzz(session, request.node.callspec.params["session"], seed, 14)


@pytest.mark.slow
def test_nothing_of_thousands_is_charged_and_then_fails(
    session: Session, request: pytest.FixtureRequest, seed: int
) -> None:
    assert fuzz(session, request.node.callspec.params["session"], seed + 1, 1500) > 150  # or little was tried
