"""SECURITY.md names code and tests that exist, every attack of its list, and no address that nobody reads."""

from __future__ import annotations

import re

from tests.unit.test_readme import ROOT

PAGE = ROOT / "SECURITY.md"
ATTACKS = 25
UNTESTED: set[int] = set()
"""Attacks that no test tries."""


def rows() -> list[list[str]]:
    """The cells of the tables that name code and tests."""
    lines = re.findall(r"^\| (.*) \|$", PAGE.read_text(encoding="utf-8"), re.MULTILINE)
    return [cells for line in lines if "tests/" in (cells := line.split(" | "))[-1] or "none" in cells[-1]]


def test_every_file_that_is_named_exists() -> None:
    named = re.findall(r"`((?:dpsql|tests|docs)/[\w/.]+)`", PAGE.read_text(encoding="utf-8"))
    assert len(named) > 60
    assert [path for path in named if not (ROOT / path).is_file()] == []
    for target in re.findall(r"\]\(([^)#]+)(?:#[^)]*)?\)", PAGE.read_text(encoding="utf-8")):
        assert (ROOT / target).is_file(), target


def test_every_attack_has_a_defence_in_the_code_and_a_test_or_says_none() -> None:
    numbered = {int(row[0]): row for row in rows() if row[0].isdecimal()}
    assert sorted(numbered) == list(range(1, ATTACKS + 1))
    found = [row for row in rows() if not row[0].isdecimal()]
    assert len(found) > 10
    for row in [row for number, row in numbered.items() if number not in UNTESTED] + found:
        assert "`dpsql/" in row[-2], row
        assert re.search(r"`tests/[\w/]+test_\w+\.py`", row[-1]), row
    for number in UNTESTED:
        assert numbered[number][-2].startswith("none")
        assert numbered[number][-1] == "none"


def test_a_named_bug_is_one_that_is_planted() -> None:
    from tests.attacks.seeded_bugs import BUGS

    named = set(re.findall(r"test_seeded_bugs\.py` \(([^)]+)\)", PAGE.read_text(encoding="utf-8")))
    assert named
    assert named <= {bug.name for bug in BUGS}


def test_a_hole_is_reported_in_private_and_to_no_invented_address() -> None:
    text = PAGE.read_text(encoding="utf-8")
    assert "Report a vulnerability" in text
    assert re.search(r"[\w.+-]+@[\w-]+\.\w+", text) is None
