"""A policy file's text is changed where it must be, and nowhere else."""

from __future__ import annotations

import difflib
from pathlib import Path

import pytest

from dpsql.errors import InvariantBroken
from dpsql.policy import load_policy
from dpsql.policy.editing import edited

POLICIES = sorted(Path("policies").glob("*.yaml"))


def changed(before: str, after: str) -> list[str]:
    lines = difflib.ndiff(before.splitlines(), after.splitlines())
    return [line for line in lines if line[0] in "+-"]


def test_a_value_is_replaced_with_its_comment_kept() -> None:
    text = "tables:\n  visits:\n    rows_per_unit: 12   # enforced\n"
    assert edited(text, {("tables", "visits", "rows_per_unit"): "8"}) == text.replace("12 ", "8 ")


def test_a_new_key_gets_a_line_of_its_own_or_a_place_between_the_braces() -> None:
    text = "# head\na:\n  b: {x: 1}  # kept\n  c:\n    d: 2\n"
    assert edited(text, {("a", "b", "y"): "[1, 2]", ("a", "z"): "3"}) == (
        "# head\na:\n  b: {x: 1, y: [1, 2]}  # kept\n  z: 3\n  c:\n    d: 2\n"
    )
    assert edited("a:\n  b:\n    c: 1", {("a", "z"): "3"}) == "a:\n  z: 3\n  b:\n    c: 1"


@pytest.mark.parametrize("file", POLICIES, ids=lambda file: file.stem)
def test_every_policy_of_the_repository_keeps_all_but_what_is_changed(file: Path, tmp_path: Path) -> None:
    policy, text = load_policy(file), file.read_text()
    tables = [name for name, table in policy.tables.items() if not table.public]
    changes: dict[tuple[str, ...], str] = {("tables", name, "rows_about"): "4321" for name in tables}
    changes |= {("budget", "advised"): "{epsilon: 0.05, delta: 0.0000001}"}
    after = edited(text, changes)
    assert edited(after, changes) == after
    assert len([line for line in changed(text, after) if line[0] == "+"]) == len(changes)
    (tmp_path / "policy.yaml").write_text(after)
    again = load_policy(tmp_path / "policy.yaml")
    assert {again.tables[name].rows_about for name in tables} == {4321}
    assert again.budget.advised is not None


def test_a_place_that_is_not_there_is_our_mistake() -> None:
    with pytest.raises(InvariantBroken):
        edited("a: {b: 1}\n", {("x", "b"): "2"})
    with pytest.raises(InvariantBroken):
        edited("a: 1\n", {("a", "b"): "2"})
