"""A clinic of 1,000 visits and a command line over it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pytest

from dpsql.cli import main

__all__ = ["POLICY", "Clinic", "Ran", "assert_one_clear_error"]

POLICY = """\
version: 1
name: clinic
engine: {kind: duckdb, database: clinic.duckdb}
neighbours: add_remove
budget:
  ledger: ledger/clinic.ledger.db
  mark: mark
  composition: basic
  total: {epsilon: 3}
  analysts: {ana: {epsilon: 2}}
  per_query: {epsilon: 0.5}
tables:
  visits:
    unit: patient_id
    rows_per_unit: ROWS
    rows_about: 1000
    columns: {cost: {type: integer, bounds: [0, 400]}}
"""


@dataclass(frozen=True)
class Ran:
    """How one command ended."""

    code: int
    out: str
    err: str


@dataclass(frozen=True)
class Clinic:
    """A folder with a database of 1,000 visits by 100 patients, a policy, and a command line."""

    folder: Path
    capture: pytest.CaptureFixture[str]

    def dpsql(self, *arguments: str) -> Ran:
        with pytest.raises(SystemExit) as end:
            main(arguments)
        captured = self.capture.readouterr()
        return Ran(int(end.value.code or 0), captured.out, captured.err)

    def with_rows_per_unit(self, rows: int) -> Clinic:
        (self.folder / "clinic.yaml").write_text(POLICY.replace("ROWS", str(rows)))
        return self


def assert_one_clear_error(ran: Ran, *told: str) -> None:
    """Nothing on stdout, one message on stderr, exit code 1."""
    assert ran.code == 1
    assert ran.out == ""
    assert "Traceback" not in ran.err
    for text in told:
        assert text in ran.err
