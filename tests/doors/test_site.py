"""`make docs` builds the site, and no link and no anchor in it is broken."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.unit.test_readme import ROOT

pytestmark = pytest.mark.doors


def test_zensical_builds_the_site_without_a_warning(tmp_path: Path) -> None:
    pytest.importorskip("zensical", reason="the extra docs is not installed")
    subprocess.run([sys.executable, ROOT / "docs" / "site.py", tmp_path], check=True)
    build = [sys.executable, "-m", "zensical", "build", "--clean", "--strict"]
    ran = subprocess.run(build, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    for page in ("tutorial_owner", "tutorial_analyst", "reference", "choosing", "coming_from"):
        assert (tmp_path / "html" / page / "index.html").exists()
