"""Long sweeps: every case has its turn, and one that waits is told of."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests import turns
from tests.turns import WAITS, waiting

SWEEP = """
import pytest

@pytest.mark.sweep(3)
@pytest.mark.parametrize("case", [0, *(pytest.param(own, marks=pytest.mark.slow) for own in range(1, 9))])
def test_many(case): pass

@pytest.mark.slow
def test_one(): pass
"""
QUICK = {"test_many[0]", "test_one"}
SLOW = {f"test_many[{case}]" for case in range(1, 9)}


class Seen:
    """Which tests ran, and which were skipped, with what was said of them."""

    def __init__(self) -> None:
        self.ran = set[str]()
        self.skipped = dict[str, str]()

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Notes it."""
        name = report.nodeid.rpartition("::")[2]
        if report.skipped:
            assert isinstance(report.longrepr, tuple)
            self.skipped[name] = report.longrepr[2]
        elif report.when == "call" and report.passed:
            self.ran.add(name)


def run(folder: Path, *options: str) -> Seen:
    (folder / "test_sweep.py").write_text(SWEEP)
    (folder / "pytest.ini").write_text("[pytest]\nmarkers =\n    slow\n    sweep\n")
    seen = Seen()
    quiet = ["-q", "-s", "--no-header", "--no-summary", "-p", "no:cacheprovider", "--import-mode=importlib"]
    quiet += ["-p", "no:unraisableexception"]  # which looks five times for garbage of all tests before
    assert pytest.main([str(folder), f"--rootdir={folder}", *quiet, *options], plugins=[turns, seen]) == 0
    return seen


@pytest.fixture(autouse=True)
def _no_plugins(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")


def test_turns_in_a_row_ask_every_case_once_and_tell_of_those_that_wait(tmp_path: Path) -> None:
    asked = list[str]()
    for turn in (4294967295, 4294967296, 4294967297):
        seen = run(tmp_path, f"--turn={turn}")
        assert seen.ran >= QUICK
        assert seen.skipped == dict.fromkeys(SLOW - seen.ran, f"Skipped: {WAITS}")
        asked += seen.ran - QUICK
    assert sorted(asked) == sorted(SLOW)


def test_all_is_asked_by_all_and_where_no_turn_is_named(tmp_path: Path) -> None:
    for options in ([], ["--turn=all"]):
        seen = run(tmp_path, *options)
        assert seen.ran == QUICK | SLOW
        assert not seen.skipped


@pytest.mark.parametrize("count", [1, 2, 7, 8, 9, 64, 1000])
@pytest.mark.parametrize("first", [0, 5, 2**32 - 4])
def test_parts_are_of_one_size_and_each_case_is_in_one_of_them(count: int, first: int) -> None:
    names = {str(number) for number in range(count)}
    asked = [names - {*waiting(names, 8, turn)} for turn in range(first, first + 8)]
    assert set().union(*asked) == names
    assert {len(part) for part in asked} <= {max(count // 8, 1), -(-count // 8)}
    assert count < 8 or sum(map(len, asked)) == count


def test_cases_next_to_each_other_are_not_always_asked_together() -> None:
    names = [f"test[{number}-{kind}]" for number in range(40) for kind in ("even", "odd")]
    asked = {*names} - {*waiting(names, 4, 0)}
    assert {name.partition("-")[2] for name in asked} == {"even]", "odd]"}
