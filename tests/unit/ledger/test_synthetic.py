"""Synthetic tables in the ledger: who is charged, who may read, and that no record changes what was spent."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import pytest

from dpsql.errors import BudgetExceeded, InvariantBroken, ProgrammingError
from dpsql.ledger.ledger import Ledger
from dpsql.ledger.tables import LedgerTables
from dpsql.privacy.kinds import Loss, Pure
from tests.unit.ledger.accounts import TENTH, ask, opened, spent


def create(ledger: Ledger, table: str, analyst: str = "ana") -> int:
    return LedgerTables(ledger).make(
        analyst, TENTH, statement="made", fingerprint=f"synthetic/{analyst}/{table}", table=table
    )


def share(ledger: Ledger, *readers: str, loss: Loss = TENTH, table: str = "ages") -> int:
    return LedgerTables(ledger).share(readers, loss, statement="made", fingerprint=f"synthetic/{table}", table=table)


def all_spent(ledger: Ledger) -> tuple[float, ...]:
    return spent(ledger, None), spent(ledger, "ana"), spent(ledger, "eve")


def test_a_table_is_a_charge_with_a_name(place: Path) -> None:
    with opened(place) as ledger:
        ledger.keep(create(ledger, "ages"), "synthetic/ana/ages", b"rows")
        create(ledger, "ages", analyst="eve")
        assert all_spent(ledger) == (0.2, 0.1, 0.1)
        with pytest.raises(InvariantBroken):
            ledger.keep(create(ledger, "other"), "synthetic/ana/ages", b"rows")
    with opened(place) as ledger:
        assert list(LedgerTables(ledger).of("ana")) == ["ages", "other"]
        assert LedgerTables(ledger).of("eve")["ages"].fingerprint == "synthetic/eve/ages"
        assert LedgerTables(ledger).of("bob") == {}
        assert ledger.find("synthetic/ana/ages") == (b"rows", TENTH)


def test_a_name_is_taken_until_it_is_dropped_and_nothing_is_given_back(place: Path) -> None:
    with opened(place) as ledger:
        create(ledger, "ages")
        with pytest.raises(ProgrammingError, match="There is a table 'ages'"):
            create(ledger, "ages")
        assert spent(ledger) == 0.1
        LedgerTables(ledger).drop("ana", "ages")
        with pytest.raises(ProgrammingError, match="no synthetic table 'ages'"):
            LedgerTables(ledger).drop("ana", "ages")
        create(ledger, "ages")
        assert spent(ledger) == 0.2
    with opened(place) as ledger:
        assert list(LedgerTables(ledger).of("ana")) == ["ages"]
        assert [entry.kind for entry in ledger.log()][-3:] == ["synthetic", "drop", "synthetic"]
        assert spent(ledger) == 0.2


def test_the_owners_table_is_charged_to_the_total_once_and_to_every_reader(place: Path) -> None:
    with opened(place) as ledger:
        ledger.keep(share(ledger, "ana", "eve", "bob"), "synthetic/ages", b"rows")
        assert all_spent(ledger) == (0.1, 0.1, 0.2)  # eve and bob share one account
        with pytest.raises(ProgrammingError, match="not of your making"):
            LedgerTables(ledger).drop("ana", "ages")
    with opened(place) as ledger:
        assert all_spent(ledger) == (0.1, 0.1, 0.2)
        ((table, readers),) = LedgerTables(ledger).every()
        assert (table.maker, readers) == ("", {"ana": True, "eve": True, "bob": True})
        LedgerTables(ledger).drop_for_all("synthetic/ages")
        assert LedgerTables(ledger).every() == []
        assert all_spent(ledger) == (0.1, 0.1, 0.2)


def test_a_reader_of_a_later_day_pays_the_whole_price_at_the_first_reading_and_the_total_nothing(place: Path) -> None:
    with opened(place) as ledger:
        share(ledger, "ana")
        assert LedgerTables(ledger).grant("synthetic/ages", "eve") == ""
        assert all_spent(ledger) == (0.1, 0.1, 0)
        assert not LedgerTables(ledger).of("eve")["ages"].paid
    with opened(place) as ledger:
        for _ in range(2):
            LedgerTables(ledger).read("eve", {"ages": "synthetic/ages"})
        assert all_spent(ledger) == (0.1, 0.1, 0.1)
    with opened(place) as ledger:
        assert all_spent(ledger) == (0.1, 0.1, 0.1)
        assert LedgerTables(ledger).of("eve")["ages"].paid
        with pytest.raises(ProgrammingError, match="may read ages already"):
            LedgerTables(ledger).grant("synthetic/ages", "eve")


def test_a_first_reading_pays_for_the_table_that_is_read_and_for_no_other_of_its_name(memory: Ledger) -> None:
    share(memory, "ana")
    LedgerTables(memory).grant("synthetic/ages", "eve")
    with pytest.raises(ProgrammingError, match="another table by now"):
        LedgerTables(memory).read("eve", {"ages": "synthetic/ages of yesterday"})
    assert spent(memory, "eve") == 0


def test_the_owner_is_told_who_cannot_pay_and_nobody_is_charged(memory: Ledger) -> None:
    ask(memory, Pure(Fraction(19, 10)))
    before = all_spent(memory)
    with pytest.raises(BudgetExceeded, match=r"charged to every reader, epsilon 0.5 here; analyst 'ana' has 0.1 of 2"):
        share(memory, "eve", "ana", loss=Pure(Fraction(1, 2)))
    with pytest.raises(BudgetExceeded, match="analysts without a budget of their own have 1 of 1"):
        share(memory, "eve", "bob", loss=Pure(Fraction(3, 5)))
    assert all_spent(memory) == before
    share(memory, "eve", loss=Pure(Fraction(1, 2)))
    assert "analyst 'ana' has 0.1 of 2" in LedgerTables(memory).grant("synthetic/ages", "ana")
    with pytest.raises(BudgetExceeded, match=r"analyst 'ana' has 0.1 of 2"):
        LedgerTables(memory).read("ana", {"ages": "synthetic/ages"})
    assert spent(memory) == before[1]


def test_a_name_that_a_reader_has_is_the_owners_to_avoid(memory: Ledger) -> None:
    create(memory, "ages")
    with pytest.raises(ProgrammingError, match="ana: There is a table 'ages'"):
        share(memory, "eve", "ana")
    share(memory, "eve")
    with pytest.raises(ProgrammingError, match="ana: There is a table 'ages'"):
        LedgerTables(memory).grant("synthetic/ages", "ana")
    with pytest.raises(ProgrammingError, match="no release 'synthetic/none'"):
        LedgerTables(memory).grant("synthetic/none", "ana")
    LedgerTables(memory).grant("synthetic/ana/ages", "bob")  # an analyst's own table is the owner's to grant, too
    LedgerTables(memory).drop("ana", "ages")
    assert LedgerTables(memory).of("bob") == {}
