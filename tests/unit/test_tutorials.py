"""Both tutorials run from top to bottom: commands without a process each, files as they stand on the page."""

from __future__ import annotations

import re
import shlex
import shutil
from pathlib import Path

import pytest

from dpsql.cli import main
from tests.unit.test_readme import ROOT, blocks, imported

PIECE = re.compile(r'^```(sh|yaml)(?: title="([\w.]+)")?\n(.*?)^```$', re.MULTILINE | re.DOTALL)


def run(command: str) -> None:
    """One line of a block, as the shell would run it."""
    words = shlex.split(command)
    if words[0] == "dpsql":
        with pytest.raises(SystemExit) as end:
            main(words[1:])
        assert not end.value.code, command
        return
    assert words[:2] == ["python", "examples/hospital.py"], command
    options = dict(zip(words[3::2], words[4::2], strict=True))
    build = imported(ROOT / "examples" / "hospital.py").build
    build(Path(words[2]), patients=int(options["--patients"]), visits=int(options["--visits"]))


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    return tmp_path


@pytest.mark.doors
@pytest.mark.chance(1e-12, "facts find the bounds of 20,000 patients: a bin of thousands, and noise of 400 in each")
def test_the_owners_tutorial_runs_from_top_to_bottom(folder: Path) -> None:
    page = (ROOT / "docs" / "tutorial_owner.md").read_text()
    kinds = []
    for language, name, text in PIECE.findall(page):
        kinds.append(language)
        if language == "yaml":
            (folder / name).write_text(text)
            continue
        for command in text.replace("\\\n", "").splitlines():
            run(command)
    assert kinds == ["sh", "sh", "yaml", *["sh"] * 6]
    assert "bounds: auto}" not in (folder / "clinic.yaml").read_text()


@pytest.mark.doors
@pytest.mark.chance(0, "asserts nothing of the draws")
def test_the_analysts_tutorial_runs_from_top_to_bottom(folder: Path) -> None:
    shutil.copy(ROOT / "policies" / "hospital.yaml", folder)
    imported(ROOT / "examples" / "hospital.py").build(folder / "hospital.duckdb", patients=300, visits=900)
    names: dict[str, object] = {}
    found = blocks(ROOT / "docs" / "tutorial_analyst.md", "python")
    assert len(found) >= 10
    for _, code in found:
        exec(compile(code, "tutorial_analyst.md", "exec"), names)  # noqa: S102 - the page's own text
