"""The list of defences is of the code as it stands; ``bench/defences.py`` takes them out, one at a time."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.attacks.defences import DEFENCES, Defence

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("defence", DEFENCES, ids=lambda defence: defence.name)
def test_what_is_taken_out_stands_once_and_its_tests_are_there(defence: Defence) -> None:
    text = (ROOT / defence.file).read_text()
    assert text.count(defence.stands) == 1
    compile(text.replace(defence.stands, defence.without), defence.file, "exec")
    assert all((ROOT / test).exists() for test in defence.tests)


def test_a_defence_is_listed_once() -> None:
    assert len({defence.name for defence in DEFENCES}) == len(DEFENCES)
