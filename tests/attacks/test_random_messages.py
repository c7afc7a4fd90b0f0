"""Random messages at every door: it stays, it charges nothing, and the next honest client is answered as before."""

from __future__ import annotations

from pathlib import Path

import pytest

from dpsql.server.doors import DOORS, DoorKind
from tests.attacks.random_messages import over_stdio, tried
from tests.unit.server.clinic import open_clinic, write_clinic

pytestmark = pytest.mark.chance(0, "tokens and keys are drawn; nothing of noise is asserted")
EVERY = pytest.mark.parametrize("kind", DOORS, ids=lambda kind: kind.name)


@pytest.mark.every(2)
@EVERY
def test_a_door_outlives_random_messages(kind: DoorKind, tmp_path: Path, seed: int) -> None:
    with open_clinic(tmp_path) as clinic:
        assert tried(kind, clinic, 60, seed)[1] == []


@pytest.mark.slow
@EVERY
def test_a_door_outlives_thousands_of_random_messages(kind: DoorKind, tmp_path: Path, seed: int) -> None:
    with open_clinic(tmp_path) as clinic:
        assert tried(kind, clinic, 5000, seed + 1)[1] == []


@pytest.mark.slow
def test_an_agents_pipe_outlives_random_messages(tmp_path: Path, seed: int) -> None:
    assert over_stdio(write_clinic(tmp_path), 500, seed) == []
