"""The ledger of a metric from disk: what was spent stays spent, whatever is renamed, restarted or built anew."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner

import dpsql
from dpsql.cli import app
from dpsql.errors import BudgetExceeded, PolicyError
from tests.unit.mechanisms.metric.homes import asked, homes, policy

ADULTS = "SELECT COUNT(*) FROM people WHERE age >= 3"
LATER = "SELECT COUNT(*) FROM people WHERE age >= 4"


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    return homes(tmp_path, policy())


@pytest.mark.chance(0, "asserts nothing of the draws")
def test_multiples_survive_a_restart_and_a_new_version_of_the_data(file: Path) -> None:
    with dpsql.open(file) as proxy:
        session = proxy.session(analyst="ana")
        first = asked(session, ADULTS, multiple=2)
    with dpsql.open(file) as proxy:
        session = proxy.session(analyst="ana")
        assert asked(session, ADULTS, multiple=2) == first  # the stored answer, free
        assert session.budget().spent.metric == {"home": {"age": 2}}
        proxy.refresh()
        session = proxy.session(analyst="ana")
        asked(session, ADULTS, multiple=2)  # of the new version, and charged: a row is its rows in all versions
        assert session.budget().spent.metric == {"home": {"age": 4}}
        with pytest.raises(BudgetExceeded, match=r"metric home\.age 0\.5; analyst 'ana' has 0 of 4 left"):
            asked(session, LATER, multiple=0.5)


@pytest.mark.chance(0, "asserts nothing of the draws")
def test_a_spent_metric_keeps_its_meaning_and_its_place_in_the_policy(file: Path) -> None:
    with dpsql.open(file) as proxy:
        asked(proxy.session(analyst="ana"), ADULTS)
        told = proxy.session(analyst="ana").budget().promise
    assert f"ana: {told}" in CliRunner().invoke(app, ["budget", str(file)]).output
    text = file.read_text()
    for old, new, refusal in (
        ("kind: chain, epsilon: 0.5", "kind: chain, epsilon: 5", r"metrics\.home is not what it was"),
        ("  home:\n", "  street:\n", r"total allows metric home\.age 0, but 1 was spent"),
        ("age: 4", "age: 0.5", r"total allows metric home\.age 0\.5, but 1 was spent"),
    ):
        assert old in text
        file.write_text(text.replace(old, new))
        with pytest.raises(PolicyError, match=refusal):
            dpsql.open(file)
