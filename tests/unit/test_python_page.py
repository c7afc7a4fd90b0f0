"""docs/python.md runs from top to bottom."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from sqlalchemy.dialects import registry

from tests.unit.test_readme import ROOT, blocks, imported


@pytest.mark.chance(0, "asserts nothing of the draws")
def test_every_python_block_of_the_page_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    shutil.copy(ROOT / "policies" / "hospital.yaml", tmp_path)
    imported(ROOT / "examples" / "hospital.py").build(tmp_path / "hospital.duckdb", patients=300, visits=900)
    registry.register("dpsql", "dpsql.sqlalchemy", "DpsqlDialect")  # as the entry point of an installed dpsql does
    names: dict[str, object] = {}
    for _, code in blocks(ROOT / "docs" / "python.md", "python"):
        exec(compile(code, "python.md", "exec"), names)  # noqa: S102 - the page's own text
