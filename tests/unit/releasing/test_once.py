"""One charge pays for one table: what may have been read out of a ledger that is gone is not made again for nothing."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import dpsql
from dpsql.engine.base import EngineStatement
from dpsql.errors import BudgetExceeded, EngineFailed, ProgrammingError
from dpsql.ledger.ledger import Ledger
from dpsql.ledger.owner import reset, restore
from dpsql.ledger.tables import LedgerTables
from dpsql.policy import load_policy
from dpsql.privacy.loss import PrivacyLoss
from dpsql.privacy.tables import RawTable
from dpsql.proxy import Proxy
from tests.unit.releasing.test_creating import build, rows, spent

pytestmark = pytest.mark.chance(0, "asserts nothing of the draws")

SQL = "CREATE SYNTHETIC TABLE s WITH (method = 'cells', epsilon = 0.5) AS SELECT sex FROM people"
MISSING = "s was paid for, and the ledger that is here now does not have it"


@pytest.fixture
def policy(tmp_path: Path) -> Path:
    return build(tmp_path)


def opened(policy: Path) -> Proxy:
    return dpsql.open(policy)


def ledger_of(policy: Path) -> Path:
    found = load_policy(policy)
    return found.resolve(found.budget.ledger)


def fail(self: object, statement: EngineStatement) -> RawTable:
    raise EngineFailed


def test_a_table_is_on_the_disk_before_anything_of_it_is_shown(policy: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shown: list[bool] = []
    keep = Ledger.keep

    def watched(self: Ledger, charge: int, fingerprint: str, made: bytes) -> None:
        keep(self, charge, fingerprint, made)
        waited = self._file._sql.execute("PRAGMA synchronous").fetchone()[0]
        shown.append(waited == 2)  # FULL: the commit waited for the disk

    monkeypatch.setattr(Ledger, "keep", watched)
    with opened(policy) as proxy:
        proxy.session(analyst="ana").query(SQL)
        kinds = [entry.kind for entry in proxy._backend.ledger.log()]
    assert shown == [True]
    assert kinds[-2:] == ["synthetic", "kept"]


def test_a_ledger_restored_from_a_backup_makes_nothing_under_an_old_charge(policy: Path) -> None:
    backup, keep = policy.parent / "backup.db", Ledger.keep

    def between(self: Ledger, charge: int, fingerprint: str, made: bytes) -> None:
        self.backup(backup)
        keep(self, charge, fingerprint, made)

    with opened(policy) as proxy, pytest.MonkeyPatch.context() as patched:
        patched.setattr(Ledger, "keep", between)
        proxy.session(analyst="ana").query(SQL)
    mark = policy.parent / "marks"
    restore(backup, ledger_of(policy), reason="disk lost", mark=mark)
    with opened(policy) as proxy:
        session = proxy.session(analyst="ana")
        for asked in (SQL, "EXPLAIN " + SQL, "SELECT COUNT(*) FROM s"):
            with pytest.raises(ProgrammingError, match=MISSING):
                session.query(asked)
        with pytest.raises(ProgrammingError, match=MISSING):
            proxy.releases.export("s", policy.parent / "s.csv")
        session.query("DROP TABLE s")
        with pytest.raises(BudgetExceeded, match="restored from a backup"):
            session.query(SQL)
        pinned, limits = proxy._backend.ledger._state.pinned, proxy._backend.ledger._limits
    reset(ledger_of(policy), pinned=pinned, limits=limits, reason="go on", mark=mark)
    with opened(policy) as proxy:
        session = proxy.session(analyst="ana")
        assert session.query(SQL).cost.epsilon == spent(session) == 0.5


def test_a_table_whose_row_was_deleted_is_not_made_again(policy: Path) -> None:
    with opened(policy) as proxy:
        proxy.session(analyst="ana").query(SQL)
    with closing(sqlite3.connect(ledger_of(policy))) as sql, sql:
        assert sql.execute("DELETE FROM release").rowcount == 1
    sql.close()
    with opened(policy) as proxy:
        session = proxy.session(analyst="ana")
        with pytest.raises(ProgrammingError, match=MISSING):
            session.query(SQL)
        session.query("DROP TABLE s")
        assert session.query(SQL).cost.epsilon == 0.5
        assert spent(session) == 1


def test_an_engine_that_failed_leaves_a_table_that_is_owed(policy: Path) -> None:
    with opened(policy) as proxy:
        session = proxy.session(analyst="ana")
        with pytest.MonkeyPatch.context() as patched, pytest.raises(EngineFailed):
            patched.setattr(type(proxy._backend.engine), "run", fail)
            session.query(SQL)
        quote = session.explain(SQL)
        assert (quote.cost, quote.columns[0].loss, session.price(SQL)) == (PrivacyLoss(),) * 3
        assert "for nothing more" in " ".join(quote.notes)
        agreed: list[PrivacyLoss] = []
        assert session.query(SQL, agree=agreed.append).cost.epsilon == 0
        assert agreed == [PrivacyLoss()]
        assert (spent(session), len(rows(session, "SELECT COUNT(*) FROM s"))) == (0.5, 1)


def test_other_values_are_another_table_which_is_not_owed(policy: Path) -> None:
    """What was charged, and approved, is the statement with its values: they stand in the log."""
    sql = "CREATE SYNTHETIC TABLE s WITH (method = 'cells', epsilon = 0.5) AS SELECT age FROM people WHERE age > ?"
    with opened(policy) as proxy:
        session = proxy.session(analyst="ana")
        with pytest.MonkeyPatch.context() as patched, pytest.raises(EngineFailed):
            patched.setattr(type(proxy._backend.engine), "run", fail)
            session.query(sql, (40,))
        for other in ((50,), ("40",), (40.0,)):
            with pytest.raises(dpsql.Error):
                session.query(sql, other)
        with pytest.raises(ProgrammingError, match=r"Write the same statement again, .* with \$1 = 40\. Or DROP"):
            session.query(sql, (50,))
        assert session.query(sql, [40]).cost.epsilon == 0
        assert rows(session, "SELECT MIN(age) FROM s")[0][0] > 40
        (charge,) = (entry for entry in proxy._backend.ledger.log() if entry.kind == "synthetic")
        assert charge.statement.endswith("with $1 = 40")
        assert session.explain("SELECT COUNT(*) FROM people WHERE age > 40").cost.epsilon == 0.5
        with pytest.raises(BudgetExceeded):  # it looks for tables that would answer instead
            session.query("SELECT COUNT(*) FROM people WHERE age > 41", epsilon=50)


def lost(policy: Path, sql: str, parameters: list[Any]) -> None:
    """A charge whose process is lost before the table is kept."""
    with opened(policy) as proxy, pytest.MonkeyPatch.context() as patched, pytest.raises(EngineFailed):
        patched.setattr(type(proxy._backend.engine), "run", fail)
        proxy.session(analyst="ana").query(sql, parameters)


@pytest.mark.every(2)
@pytest.mark.parametrize("value", [np.int64(2), np.float64(2.5), Decimal("2.5"), 2])
def test_values_of_numpy_are_known_again(policy: Path, value: Any) -> None:
    sql = f"{SQL} WHERE age >= ?"
    lost(policy, sql, [value])
    with opened(policy) as proxy:
        session = proxy.session(analyst="ana")
        assert session.query(sql, [value]).cost.epsilon == 0
        assert spent(session) == 0.5


def test_what_is_not_there_is_granted_to_nobody_and_made_by_its_maker_alone(policy: Path) -> None:
    lost(policy, SQL, [])
    with opened(policy) as proxy:
        with pytest.raises(ProgrammingError, match="s is not there"):
            proxy.releases.grant("s", "eve")
        held = proxy._backend.ledger
        LedgerTables(held).grant(next(iter(held._state.synthetic.of["ana"].values())).fingerprint, "eve")  # as before
        with pytest.raises(ProgrammingError, match="Its maker can make it again"):
            proxy.session(analyst="eve").query(SQL)
        assert spent(proxy.session(analyst="eve")) == 0
        assert proxy.session(analyst="ana").query(SQL).cost.epsilon == 0
