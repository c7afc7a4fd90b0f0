"""One charge pays for each stage of facts once: what a ledger that is gone may have told is bought anew."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from fractions import Fraction
from pathlib import Path

import pytest

import dpsql
from dpsql.advising import AdviceReport, advise
from dpsql.errors import BudgetExceeded
from dpsql.ledger.ledger import FACTS, Ledger
from dpsql.ledger.owner import reset, restore
from dpsql.policy import load_policy
from dpsql.proxy import open_ledger
from dpsql.testing_samplers import Noiseless
from tests.unit.test_advising import POLICY, write_orders


@pytest.fixture
def policy(tmp_path: Path) -> Iterator[Path]:
    write_orders(tmp_path / "data")
    path = tmp_path / "shop.yaml"
    path.write_text(POLICY)
    yield path


def advised(policy: Path) -> AdviceReport:
    return advise(policy, epsilon=Fraction(1, 4), sampler=Noiseless())


def ledger_of(policy: Path) -> Path:
    return policy.parent / "data" / "shop.ledger.db"


def charges(policy: Path) -> int:
    with open_ledger(load_policy(policy)) as ledger:
        return len(ledger.releases(FACTS))


@pytest.mark.parametrize("stage", ["sizes", "totals"])
def test_facts_whose_row_was_deleted_are_not_drawn_again_for_nothing(policy: Path, stage: str) -> None:
    advised(policy)
    with closing(sqlite3.connect(ledger_of(policy))) as sql, sql:
        assert sql.execute("DELETE FROM release WHERE fingerprint LIKE ?", (f"%{stage}",)).rowcount == 1
    sql.close()
    assert advised(policy).charged
    assert charges(policy) == 2
    assert not advised(policy).charged


@pytest.mark.parametrize("stage", ["sizes", "totals"])
def test_facts_that_a_restored_ledger_lacks_are_refused_and_then_charged_anew(policy: Path, stage: str) -> None:
    backup, mark, keep = policy.parent / "backup.db", policy.parent / "marks", Ledger.keep

    def between(self: Ledger, charge: int, fingerprint: str, made: bytes) -> None:
        if fingerprint.endswith(stage):
            self.backup(backup)
        keep(self, charge, fingerprint, made)

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(Ledger, "keep", between)
        advised(policy)
    restore(backup, ledger_of(policy), reason="disk lost", mark=mark)
    with pytest.raises(BudgetExceeded, match="restored from a backup"):
        advised(policy)
    with open_ledger(load_policy(policy)) as ledger:
        pinned, limits = ledger._state.pinned, ledger._limits
    reset(ledger_of(policy), pinned=pinned, limits=limits, reason="go on", mark=mark)
    assert advised(policy).charged
    assert charges(policy) == 2
    with dpsql.open(policy):
        pass


def test_a_quote_of_facts_that_are_owed_says_that_they_cost_nothing_more(policy: Path) -> None:
    def lost(self: Ledger, charge: int, fingerprint: str, made: bytes) -> None:
        raise KeyboardInterrupt

    with pytest.MonkeyPatch.context() as patched, pytest.raises(KeyboardInterrupt):
        patched.setattr(Ledger, "keep", lost)
        advised(policy)
    told = advise(policy, epsilon=Fraction(1, 4), quote=True).quote
    assert "nothing more" in told
    assert "Facts cost" not in told
    assert not advised(policy).charged
    assert charges(policy) == 1
