"""The machine's clock is set, back or ahead: nothing that was spent comes back, and no answer is drawn anew.

Source: systems that refresh a budget by the day; here it belongs to the data, and no time decides anything of it.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, tzinfo
from fractions import Fraction
from pathlib import Path
from unittest.mock import patch

import pytest

from dpsql.errors import BudgetExceeded
from dpsql.ledger.ledger import Ledger, Pinned, PolicyLimits
from dpsql.privacy.accounting import Limits
from dpsql.privacy.kinds import Pure

PINNED = Pinned(unit="person", neighbours="add_remove", composition="basic")
LIMITS = PolicyLimits(Limits(Fraction(2)), {"ana": Limits(Fraction(2))})
ONE = Pure(Fraction(1))


@pytest.mark.parametrize("years", [-10, 10])
def test_a_clock_that_is_set_gives_no_budget_back(tmp_path: Path, years: int) -> None:
    class Set(datetime):
        @classmethod
        def now(cls, tz: tzinfo | None = None) -> Set:
            moment = datetime.now(tz or UTC) + timedelta(days=365 * years)
            return cls(*moment.timetuple()[:6], tzinfo=tz)

    def opened() -> Ledger:
        return Ledger.open(tmp_path / "data" / "ledger.db", pinned=PINNED, limits=LIMITS, mark=tmp_path / "marks")

    (tmp_path / "data").mkdir()
    with opened() as ledger:
        charge = ledger.charge("ana", ONE, statement="SELECT 1", fingerprint="f")
        ledger.store(charge, "f", b"answer")
    with patch("dpsql.ledger.file.datetime", Set), opened() as ledger:
        found = ledger.find("f")
        assert found is not None
        assert found[0] == b"answer"
        ledger.charge("ana", ONE, statement="SELECT 2", fingerprint="g")
        with pytest.raises(BudgetExceeded):
            ledger.charge("ana", ONE, statement="SELECT 3", fingerprint="h")
    with opened() as ledger, pytest.raises(BudgetExceeded):
        ledger.charge("ana", ONE, statement="SELECT 4", fingerprint="i")
