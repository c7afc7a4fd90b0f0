"""GoogleSQL's compliance cases come to what docs/google_cases.md says."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.mark.slow
def test_each_case_comes_to_what_the_page_says(tmp_path: Path) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "path", [str(ROOT / "bench"), *sys.path])
        script = importlib.import_module("google_cases")
    found = list(script.outcomes(tmp_path))
    assert script.page(found) == (ROOT / "docs" / "google_cases.md").read_text()
    assert sum(one.came == "met" for one in found) >= 75
