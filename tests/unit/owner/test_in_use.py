"""A version of the bounded tables that somebody uses stays; with the last of them it may go."""

from __future__ import annotations

import fcntl
import gc
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from dpsql.owner.building import builder
from dpsql.owner.building.builder import build, version_directory
from dpsql.owner.building.versions import open_engine
from dpsql.owner.in_use import LOCK, to_remove, use
from tests.unit.owner.clinic import KEY, data, policy

USES = """
import sys
from pathlib import Path
from dpsql.owner.in_use import use
held = use(Path(sys.argv[1]))
print("used", flush=True)
sys.stdin.read()
"""


def built(folder: Path, *versions: int) -> list[str]:
    """The versions that are there when these were built, one after the other."""
    for version in versions:
        build(policy(folder), key=KEY, version=version, directory=folder / "cache")
    return sorted(place.name for place in (folder / "cache").glob("v*"))


def test_a_version_that_is_open_stays_until_it_is_closed(tmp_path: Path) -> None:
    data(tmp_path)
    built(tmp_path, 1)
    engine, held = open_engine(policy(tmp_path), tmp_path / "cache", 1)
    assert built(tmp_path, 2, 3, 4) == ["v1", "v3", "v4"]
    engine.close()
    engine.stand()  # a worker that starts now finds its file
    engine.close()
    held.close()
    held.close()
    assert built(tmp_path, 5) == ["v4", "v5"]


def test_a_version_that_nothing_has_any_more_is_not_used(tmp_path: Path) -> None:
    held = use(tmp_path)
    assert to_remove(tmp_path) is None
    del held
    gc.collect()
    assert to_remove(tmp_path) is not None


def test_several_use_a_version_and_a_process_that_is_killed_does_no_more(tmp_path: Path) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", USES, str(tmp_path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as other:
        assert other.stdout is not None
        assert other.stdout.readline() == "used\n"
        use(tmp_path).close()
        assert to_remove(tmp_path) is None
        other.send_signal(signal.SIGKILL)
        other.wait()
    removed = to_remove(tmp_path)
    assert removed is not None
    removed.close()


def test_nobody_begins_to_use_what_is_being_removed_or_is_gone(tmp_path: Path) -> None:
    place = tmp_path / "v1"
    place.mkdir()
    held = to_remove(place)
    assert held is not None
    with held, pytest.raises(FileNotFoundError):
        use(place)
    with pytest.raises(FileNotFoundError):
        use(tmp_path / "v2")


def test_what_was_removed_between_two_looks_is_gone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    place, lock = tmp_path / "v1", fcntl.flock
    place.mkdir()

    def late(handle: int, how: int) -> None:
        (place / LOCK).unlink()
        place.rmdir()
        lock(handle, how)

    monkeypatch.setattr(fcntl, "flock", late)
    with pytest.raises(FileNotFoundError):
        use(place)


def test_a_folder_without_locks_is_read_and_nothing_there_is_removed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def none(handle: int, how: int) -> None:
        raise OSError(37, "No locks available")

    monkeypatch.setattr(fcntl, "flock", none)
    use(tmp_path).close()
    assert to_remove(tmp_path) is None


def test_a_version_that_nobody_may_write_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(*_: object) -> int:
        raise PermissionError(13, "Permission denied")

    with monkeypatch.context() as patched:
        patched.setattr(os, "open", refused)
        use(tmp_path).close()


def test_a_version_of_before_without_the_file_is_used_and_removed_too(tmp_path: Path) -> None:
    data(tmp_path)
    built(tmp_path, 1)
    (version_directory(tmp_path / "cache", 1) / LOCK).unlink()
    with use(version_directory(tmp_path / "cache", 1)):
        assert built(tmp_path, 2, 3) == ["v1", "v2", "v3"]
    (version_directory(tmp_path / "cache", 2) / LOCK).unlink()
    assert built(tmp_path, 4) == ["v3", "v4"]


def test_a_worker_does_not_hold_what_its_parent_uses(tmp_path: Path) -> None:
    held = use(tmp_path)
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE, close_fds=False) as child:
        held.close()
        ends = time.monotonic() + 60
        while to_remove(tmp_path) is None:  # the kernel lets a new process run before it has closed all for it
            assert time.monotonic() < ends
            time.sleep(0.01)
        assert child.poll() is None
        child.communicate(b"\n")


def test_the_lock_is_on_a_file_of_its_own(tmp_path: Path) -> None:
    """What stands beside it is replaced, when a touched source was looked at; its lock would stay with the old one."""
    data(tmp_path)
    built(tmp_path, 1)
    _, held = open_engine(policy(tmp_path), tmp_path / "cache", 1)
    os.utime(tmp_path / "clinic.duckdb", ns=(1, 1))
    _, other = open_engine(policy(tmp_path), tmp_path / "cache", 1)
    facts = version_directory(tmp_path / "cache", 1) / builder.FACTS
    assert facts.exists()
    other.close()
    assert to_remove(facts.parent) is None
    held.close()
