"""Fuzzing: no statement is charged and then fails; what is refused was neither charged nor read."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from dpsql.session import Session
from tests.attacks.fuzzed import asked, explained, opened
from tests.sql.databases import POLICIES

ALL = 100_000
"""Statements that `make test-slow TURN=all` has explained, over all policies."""

PARTS = 5
"""Into which the statements of one policy are divided, each drawn from a seed of its own."""


@pytest.fixture(scope="module", params=POLICIES)
def name(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(scope="module")
def session(name: str, tmp_path_factory: pytest.TempPathFactory, seed: int) -> Iterator[Session]:
    with opened(name, tmp_path_factory.mktemp("fuzzed"), seed) as own:
        yield own


def test_nothing_is_charged_and_then_fails(session: Session, name: str, seed: int) -> None:
    asked(session, name, seed, 6)


@pytest.mark.every(2)
def test_nothing_that_is_explained_reads_spends_or_breaks(session: Session, name: str, seed: int) -> None:
    explained(session, name, seed, 45)


@pytest.mark.slow
@pytest.mark.sweep(5)
@pytest.mark.parametrize("part", range(PARTS))
def test_nothing_of_thousands_is_charged_and_then_fails(session: Session, name: str, seed: int, part: int) -> None:
    count = 1500 // PARTS
    assert asked(session, name, seed + 1 + part, count)["answered"] > count // 10  # or little was tried


@pytest.mark.slow
@pytest.mark.sweep(10)
@pytest.mark.parametrize("part", range(PARTS))
def test_nothing_of_a_hundred_thousand_that_are_explained_reads_spends_or_breaks(
    session: Session, name: str, seed: int, part: int
) -> None:
    count = ALL // len(POLICIES) // PARTS
    assert explained(session, name, seed + 1 + part, count)["explained"] > count // 20
