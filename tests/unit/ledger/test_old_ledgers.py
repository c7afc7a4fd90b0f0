"""Ledgers that earlier versions wrote stay valid, and what they hold is counted by today's rules.

A line of `ledgers/*.jsonl` is one record: sequence, kind, analyst, account, loss, detail, hash in hexadecimal.
"""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from fractions import Fraction
from pathlib import Path

import pytest

from dpsql.errors import LedgerError
from dpsql.ledger.file import FORMAT, LedgerFile
from dpsql.ledger.ledger import Ledger, Pinned, PolicyLimits
from dpsql.ledger.mark import HighWater, Marks
from dpsql.ledger.owner import reset
from dpsql.privacy.accounting import Limits
from dpsql.privacy.kinds import Pure

KEPT = Path(__file__).with_name("ledgers")
MILLIONTH = Fraction(1, 10**6)


def put_back(name: str, path: Path, marks: Path) -> None:
    """Makes the ledger's file and mark of the kept records."""
    records = [json.loads(line) for line in (KEPT / name).read_text().splitlines()]
    with LedgerFile.draft(path):
        pass
    with closing(sqlite3.connect(path)) as sql, sql:
        sql.executemany(
            "INSERT INTO record VALUES (?, ?, ?, ?, ?, ?, ?)", [(*row[:-1], bytes.fromhex(row[-1])) for row in records]
        )
    sql.close()
    last = records[-1]
    marks.mkdir()
    Marks(marks, lambda _: None).replace(
        json.loads(records[0][5])["ledger"], HighWater(0, last[0], str(last[-1]).lower())
    )


def test_a_ledger_of_the_rule_with_one_sum_of_delta(tmp_path: Path) -> None:
    """Its Gaussians carry the pairs that they were priced for, and so open the sum of epsilon again."""
    path, marks = tmp_path / "data" / "ledger.db", tmp_path / "marks"
    path.parent.mkdir()
    put_back("one_sum_of_delta.jsonl", path, marks)
    eight = Limits(Fraction(8), MILLIONTH)
    limits = PolicyLimits(eight, {"ana": eight, "*": Limits(Fraction(1), MILLIONTH)})
    with Ledger.open(path, pinned=Pinned("patient_id", "add_remove", "zcdp"), limits=limits, mark=marks) as ledger:
        ana = ledger.budget("ana")
        assert (ana.spent.epsilon, ana.spent.delta) == (2.01, 1.11e-7)  # 1 + 0.01 + 0.5 + 0.5; 1e-9 + 1e-8 + 1e-7
        assert ledger.budget("eve").spent.epsilon == 0.642938271021  # a price in rho alone
        ledger.charge("ana", Pure(Fraction(1, 2)), statement="SELECT 1", fingerprint="f")


def test_a_ledger_of_a_newer_format_asks_for_the_newer_dpsql_and_for_no_reset(tmp_path: Path) -> None:
    path, marks = tmp_path / "data" / "ledger.db", tmp_path / "marks"
    path.parent.mkdir()
    put_back("one_sum_of_delta.jsonl", path, marks)
    with closing(sqlite3.connect(path)) as sql, sql:
        sql.execute(f"PRAGMA user_version = {FORMAT + 1}")
    sql.close()
    limits, pinned = PolicyLimits(Limits(Fraction(8), MILLIONTH), {}), Pinned("patient_id", "add_remove", "zcdp")
    with pytest.raises(LedgerError, match="Install the newer one") as opening:
        Ledger.open(path, pinned=pinned, limits=limits, mark=marks)
    assert "reset" not in str(opening.value)
    before = path.read_bytes()
    with pytest.raises(LedgerError, match="Install the newer one"):
        reset(path, pinned=pinned, limits=limits, reason="it does not open", mark=marks)
    assert path.read_bytes() == before
