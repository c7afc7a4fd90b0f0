"""Google's examples are answered or refused as docs/google_examples.md says."""

from __future__ import annotations

import importlib
import re
import sys
from pathlib import Path
from typing import Any

import pytest

import dpsql.testing

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "google_examples.md").read_text()


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> list[Any]:
    """What becomes of every statement, without noise."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "path", [str(ROOT / "bench"), *sys.path])
        script = importlib.import_module("google_examples")
    return list(script.results(tmp_path_factory.mktemp("google"), dpsql.testing.Noiseless(), 1))


def test_each_example_is_answered_or_refused_as_the_page_says(found: list[Any]) -> None:
    said = re.findall(r"^\| ([A-Z]\d) .*? \| (answered|refused) \|", PAGE, flags=re.MULTILINE)
    assert [(result.statement.name, result.outcome) for result in found] == said
    assert len(said) >= 15


def test_each_refusal_stands_on_the_page(found: list[Any]) -> None:
    refusals = [result.refusal for result in found if result.refusal]
    assert len(refusals) == 3
    for refusal in refusals:
        assert f"> {refusal}\n" in PAGE


def test_without_noise_one_row_a_person_gives_duckdbs_answer(found: list[Any]) -> None:
    exact = {result.statement.name: result.errors for result in found if result.statement.name in ("R1", "R2", "C1")}
    assert {name: max(errors.values()) for name, errors in exact.items()} == {"R1": 0, "R2": 0, "C1": 0}
