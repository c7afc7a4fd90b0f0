"""``dpsql audit``: its table, its JSON, its exit code, and what it is told."""

from __future__ import annotations

import json
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest

from dpsql.audit.auditing import Effort
from dpsql.cli import main
from tests.unit.audit.policies import SMALL
from tests.unit.audit.test_report import REPORT, ROW

BAD = replace(REPORT, rows=(ROW, replace(ROW, measured=2.0)))


def ran(folder: Path, *arguments: str, report: Any = REPORT) -> tuple[int, Effort | None]:
    """The exit code, and the settings that the audit got."""
    (folder / "small.yaml").write_text(SMALL)
    seen: list[Effort] = []

    def audited(_: object, settings: Effort, told: object) -> Any:
        seen.append(settings)
        return report

    with patch("dpsql.audit.auditing.audit", audited), pytest.raises(SystemExit) as end:
        main(["audit", str(folder / "small.yaml"), *arguments])
    return int(end.value.code or 0), seen[0] if seen else None


def test_the_table_is_printed_and_the_code_is_0(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert ran(tmp_path) == (0, Effort())
    assert "Nothing is convicted." in capsys.readouterr().out


def test_a_conviction_ends_with_1(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert ran(tmp_path, report=BAD)[0] == 1
    said = capsys.readouterr()
    assert "CONVICTED: epsilon" in said.out
    assert said.err == "Convicted: 1 of 2. More is lost than is claimed.\n"


def test_json_is_all_that_is_printed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert ran(tmp_path, "--json", report=BAD)[0] == 1
    assert json.loads(capsys.readouterr().out)["convicted"] == 1


def test_how_it_is_done_can_be_said(tmp_path: Path) -> None:
    given = ("--epsilon", "0.5", "--draws", "1000", "--seconds", "9", "--confidence", "0.99")
    assert ran(tmp_path, *given)[1] == Effort(Fraction(1, 2), 1000, 9.0, 0.99)


@pytest.mark.parametrize("given", [("--epsilon", "0"), ("--draws", "5"), ("--confidence", "1.5"), ("--seconds", "0")])
def test_what_makes_no_sense_is_wrong_usage(tmp_path: Path, given: tuple[str, str]) -> None:
    assert ran(tmp_path, *given) == (2, None)


def test_a_policy_that_is_none_is_told_in_a_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as end:
        main(["audit", str(tmp_path / "none.yaml")])
    assert end.value.code == 1
    assert len(capsys.readouterr().err.splitlines()) == 1
