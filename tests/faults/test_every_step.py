"""Every step fails once: processes are killed, disks are full or broken, the power is cut.

The steps are all calls that change a file or speak to another process (shim.c): none is placed by hand, none forgotten.
Haeberlen, Pierce, Narayan 2011, on budgets as attack surface; SQLite's own tests of crashes, full disks and lost writes
(https://sqlite.org/testing.html), for the method. `bench/faults.py` writes what came of it to docs/under_fire.md.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.faults.disk import CUTS, Disk, steps
from tests.faults.held import QUICK, SURVEYS, tried
from tests.faults.scenes import SCENES
from tests.faults.shim import NAME, ROOM, SYNC, needs_compiler
from tests.faults.victims import Victims, victims

pytestmark = [needs_compiler, pytest.mark.chance(0, "asserts nothing of the draws")]


def slow(scene: str, fault: str = "") -> list[pytest.MarkDecorator]:
    """What `make test` tries is done in seconds."""
    return [] if scene in ("LedgerAlone", "Tables") and fault in ("", *QUICK) else [pytest.mark.slow]


@pytest.fixture(scope="module", params=[pytest.param(scene, marks=slow(scene)) for scene in SCENES])
def victim(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Victims]:
    with victims(request.param, tmp_path_factory.mktemp("faults")) as found:
        yield found


@pytest.mark.parametrize(
    ("victim", "fault"),
    [pytest.param(scene, fault, marks=slow(scene, fault)) for scene in SCENES for fault in tried(scene)],
    indirect=["victim"],
    scope="module",
)
def test_no_charge_is_lost_none_made_twice_and_the_next_opening_works(victim: Victims, fault: str, seed: int) -> None:
    points, problems = SURVEYS[fault](victim, seed)
    assert points > 3
    assert problems == []


def on_disk(place: Path) -> dict[str, bytes | None]:
    """What lies there; the memory that SQLite shares among processes is no file that anybody reads again."""
    return {
        str(path.relative_to(place)): None if path.is_dir() else path.read_bytes()
        for path in sorted(place.rglob("*"))
        if not path.name.endswith("-shm")
    }


def test_the_journal_of_power_cuts_misses_nothing_that_changes_a_file(victim: Victims) -> None:
    victim.play(ROOM | SYNC | NAME, journal=True)
    disk = Disk(victim.scene.before, victim.scene.place)
    for step in steps(victim.journal):
        disk.do(step)
    left = disk.left(CUTS["all"], random.Random(0))
    assert {path: content for path, content in left.items() if not path.endswith("-shm")} == on_disk(victim.scene.place)
