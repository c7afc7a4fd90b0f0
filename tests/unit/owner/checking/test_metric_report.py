"""What `dpsql check` tells the owner of metrics."""

from __future__ import annotations

from pathlib import Path

from typer.testing import CliRunner

from dpsql.cli import app
from dpsql.owner.checking.check import check
from dpsql.owner.checking.metric_report import metric_findings
from dpsql.policy import load_policy
from tests.unit.mechanisms.metric.homes import TOWNS, Row, homes, policy


def test_the_owner_is_shown_how_a_metric_comes_out(tmp_path: Path) -> None:
    whole, age, sex, town = metric_findings(load_policy(homes(tmp_path, policy())))
    assert {finding.severity for finding in (whole, age, sex, town)} == {"note"}
    assert "two rows are at most 9.5 apart" in whole.what and "its limits allow epsilon 38 in all" in whole.what
    assert "values are 0.5 apart from the closest others, and the farthest 2.5" in age.what
    assert "At multiple 1 the number of rows with one value has noise of scale 0.5, and" in sex.what
    assert "Alm and Bach are closest, 0.5 apart; the farthest are 5 apart" in town.what
    assert "noise of scale 0.2222 (Cern) to 2 (Alm)" in town.what


def test_a_metric_that_is_none_is_an_error_of_the_policy(tmp_path: Path) -> None:
    text = policy().replace(
        "{kind: discrete, epsilon: 2}", "{kind: matrix, distances: [[0, 1, 3], [1, 0, 1], [3, 1, 0]]}"
    )
    (finding,) = metric_findings(load_policy(homes(tmp_path, text)))
    assert (finding.severity, "F and X are 3 apart, but only 2 by way of M" in finding.what) == ("error", True)


def people(telling: bool) -> list[Row]:
    """Sixty people: the men live in Alm, the women in Bach; or everybody anywhere."""
    towns = [str(town[0]) for town in TOWNS]
    return [
        (number, number % 5, "FM"[number % 2], towns[number % 2 if telling else (number // 2) % 2])
        for number in range(60)
    ]


def test_an_attribute_that_tells_another_is_a_warning(tmp_path: Path) -> None:
    file = homes(tmp_path, policy(), people=people(telling=True))
    found = [finding for finding in check(load_policy(file)) if "tells" in finding.what]
    assert [(finding.column, finding.severity) for finding in found] == [("sex", "warning"), ("town", "warning")]
    assert found[0].what.startswith("tells town: by it 100% are guessed right, 50% without.")


def test_attributes_that_have_nothing_to_do_with_each_other_are_none(tmp_path: Path) -> None:
    file = homes(tmp_path, policy(), people=people(telling=False))
    assert not [finding for finding in check(load_policy(file)) if "tells" in finding.what]


def test_the_command_shows_it_all(tmp_path: Path) -> None:
    result = CliRunner().invoke(app, ["check", str(homes(tmp_path, policy()))])
    assert "metric home: two rows are at most 9.5 apart" in result.output
    (tmp_path / "broken").mkdir()
    text = policy().replace("{kind: chain, epsilon: 0.5}", "{kind: chain, gaps: [1]}")
    result = CliRunner().invoke(app, ["check", str(homes(tmp_path / "broken", text))])
    assert result.exit_code == 1
    assert "6 values have 5 gaps between them, not 1" in result.output
