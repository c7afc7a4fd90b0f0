"""The owner's word by the command line, beside an analyst's command: two processes' worth of proxies on one file."""

from __future__ import annotations

import re

import pytest

from tests.unit.cli.clinic import Clinic, assert_one_clear_error

pytestmark = pytest.mark.chance(0, "the answer's noise is not looked at")
ASK = ("query", "clinic.yaml", "SELECT COUNT(*) FROM visits", "--analyst", "ana", "--epsilon", "0.75")


def test_a_dear_statement_runs_once_after_the_owners_word(clinic: Clinic) -> None:
    policy = clinic.folder / "clinic.yaml"
    policy.write_text(policy.read_text().replace("tables:", "server: {owner_approves_above: 0.5}\ntables:"))
    assert clinic.dpsql("approve", "clinic.yaml").out == "Nothing waits.\n"
    refused = clinic.dpsql(*ASK)
    assert_one_clear_error(refused, "epsilon 0.75", "owner_approves_above", "Nothing was charged")
    (waits,) = re.findall(r"dpsql approve POLICY ([0-9a-f]{8})", refused.err)
    listed = clinic.dpsql("approve", "clinic.yaml")
    assert re.search(rf"{waits}\s+waits\s+.*\bana\s+epsilon 0.75\s+SELECT count\(\*\) FROM \"visits\"", listed.out)
    assert_one_clear_error(clinic.dpsql("approve", "clinic.yaml", "00000000"), "is no id of a statement that waits")
    assert clinic.dpsql("approve", "clinic.yaml", waits).out == (
        "Approved: ana may ask it once within a day, for epsilon 0.75. Nothing was run or charged.\n"
    )
    assert clinic.dpsql(*ASK).code == 0
    assert "released before" in clinic.dpsql(*ASK).out
    assert clinic.dpsql("approve", "clinic.yaml").out == "Nothing waits.\n"
    assert (clinic.folder / "ledger" / "clinic.ledger.db.owner").stat().st_mode & 0o777 == 0o600
