"""Synthetic tables in the ledger: a charge with a name, which a drop forgets, and no record changes what was spent."""

from __future__ import annotations

from pathlib import Path

import pytest

from dpsql.errors import InvariantBroken, ProgrammingError
from dpsql.ledger.ledger import Ledger
from tests.unit.ledger.accounts import TENTH, opened, spent


def create(ledger: Ledger, table: str, analyst: str = "ana") -> int:
    return ledger.charge(analyst, TENTH, statement="made", fingerprint=f"synthetic/{analyst}/{table}", table=table)


def test_a_table_is_a_charge_with_a_name(place: Path) -> None:
    with opened(place) as ledger:
        ledger.store(create(ledger, "ages"), "synthetic/ana/ages", b"rows")
        create(ledger, "ages", analyst="eve")
        assert (spent(ledger), spent(ledger, None)) == (0.1, 0.2)
        with pytest.raises(InvariantBroken):
            ledger.store(create(ledger, "other"), "synthetic/ana/ages", b"rows")
    with opened(place) as ledger:
        assert ledger.tables("ana") == {"ages": "synthetic/ana/ages", "other": "synthetic/ana/other"}
        assert ledger.tables("eve") == {"ages": "synthetic/eve/ages"}
        assert ledger.tables("bob") == {}
        assert ledger.find("synthetic/ana/ages") == (b"rows", TENTH)


def test_a_name_is_taken_until_it_is_dropped_and_nothing_is_given_back(place: Path) -> None:
    with opened(place) as ledger:
        create(ledger, "ages")
        with pytest.raises(ProgrammingError, match="There is a table 'ages'"):
            create(ledger, "ages")
        assert spent(ledger) == 0.1
        ledger.drop("ana", "ages")
        with pytest.raises(ProgrammingError, match="no synthetic table 'ages'"):
            ledger.drop("ana", "ages")
        create(ledger, "ages")
        assert spent(ledger) == 0.2
    with opened(place) as ledger:
        assert list(ledger.tables("ana")) == ["ages"]
        assert [entry.kind for entry in ledger.log()][-3:] == ["synthetic", "drop", "synthetic"]
        assert spent(ledger) == 0.2
