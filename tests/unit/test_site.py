"""The pages make a site: each has its place, and no link leads out of it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.unit.test_readme import ROOT, imported


def test_every_page_has_its_place_and_every_link_stays_inside(tmp_path: Path) -> None:
    imported(ROOT / "docs" / "site.py").lay_out(tmp_path)
    pages = {page.name: page for page in (tmp_path / "docs").glob("*.md")}
    assert set(pages) == {page.name for page in (ROOT / "docs").glob("*.md")} | {"security.md"}
    for page in pages.values():
        for target in re.findall(r"\]\(([^)#]+)(?:#[^)]*)?\)", page.read_text()):
            inside = (page.parent / target).resolve()
            assert target.startswith("https://") or (inside.exists() and inside.is_relative_to(tmp_path)), target


def test_a_folder_of_somebody_else_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "novel.md").write_text("Call me Ishmael.")
    with pytest.raises(SystemExit, match="would be lost"):
        imported(ROOT / "docs" / "site.py").lay_out(tmp_path)
    assert (tmp_path / "docs" / "novel.md").exists()
