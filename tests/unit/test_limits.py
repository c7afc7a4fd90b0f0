"""Public limits that several rooms keep stand in one place."""

from __future__ import annotations

import ast
from collections import Counter
from itertools import pairwise
from pathlib import Path

import dpsql
from dpsql import limits

ROOT = Path(dpsql.__file__).parent


def assigned(file: Path) -> list[str]:
    """The names of constants that a module gives a value."""
    targets = [node.targets for node in ast.parse(file.read_text()).body if isinstance(node, ast.Assign)]
    return [target.id for listed in targets for target in listed if isinstance(target, ast.Name)]


def test_a_limit_is_given_in_one_place_and_once() -> None:
    for file in ROOT.rglob("*.py"):
        names = Counter(assigned(file))
        assert set(names.values()) <= {1}, f"{file} gives a constant twice."
        assert not set(names) & set(limits.__all__) or file.name == "limits.py", f"{file} gives a limit of its own."


def test_every_limit_is_told_with_its_unit_and_origin() -> None:
    body = ast.parse((ROOT / "limits.py").read_text()).body
    for node, after in pairwise(body):
        if isinstance(node, ast.Assign) and getattr(node.targets[0], "id", "") in limits.__all__:
            assert isinstance(after, ast.Expr) and isinstance(after.value, ast.Constant)
