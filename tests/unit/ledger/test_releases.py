"""What is published to all: charged to the total and to every account, kept in the ledger, refused if altered."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from fractions import Fraction
from pathlib import Path

import pytest

from dpsql.errors import BudgetExceeded, InvariantBroken, LedgerError, PolicyError
from dpsql.ledger.ledger import FACTS, Ledger
from dpsql.ledger.owner import reset
from dpsql.privacy.kinds import Loss, Pure
from tests.unit.ledger.accounts import BASIC, TENTH, ask, limits, opened, spent


def publish(ledger: Ledger, loss: Loss = TENTH, version: int = 1) -> int:
    return ledger.publish(FACTS, version, loss, statement="facts", parts=["facts/1/a", "facts/1/b"])


def test_a_release_is_charged_to_the_total_once_and_to_every_account(memory: Ledger) -> None:
    publish(memory)
    assert (spent(memory, None), spent(memory), spent(memory, "eve")) == (0.1, 0.1, 0.1)
    ask(memory)
    assert (spent(memory, None), spent(memory), spent(memory, "eve")) == (0.2, 0.2, 0.1)


def test_who_cannot_pay_is_named_and_nobody_is_charged(memory: Ledger) -> None:
    ask(memory, Pure(Fraction(19, 10)))
    ask(memory, Pure(Fraction(1)), analyst="eve")
    with pytest.raises(BudgetExceeded) as refusal:
        publish(memory, Pure(Fraction(1, 5)))
    assert "analyst 'ana' has 0.1 of 2, analysts without a budget of their own have 0 of 1" in str(refusal.value)
    assert (spent(memory, None), spent(memory)) == (2.9, 1.9)


def test_its_parts_are_stored_under_its_charge_alone_and_found_again(place: Path) -> None:
    with opened(place) as ledger:
        charge = publish(ledger)
        ledger.keep(charge, "facts/1/b", b"payload")
        with pytest.raises(InvariantBroken):
            ledger.keep(charge, "facts/2/b", b"payload")
    with opened(place) as ledger:
        assert ledger.find("facts/1/b") == (b"payload", TENTH)
        assert ledger.find("facts/1/a") is None
        assert [(one.sequence, one.version, one.loss) for one in ledger.releases(FACTS)] == [(charge, 1, TENTH)]


def test_an_altered_release_is_refused(place: Path) -> None:
    with opened(place) as ledger:
        ledger.keep(publish(ledger), "facts/1/a", b"payload")
    with closing(sqlite3.connect(place)) as sql, sql:
        sql.execute("UPDATE release SET answer = x'00'")
    with opened(place) as ledger, pytest.raises(LedgerError, match="stored answer is not the one"):
        ledger.find("facts/1/a")


def test_an_account_that_begins_later_pays_what_the_shared_one_paid(place: Path) -> None:
    with opened(place, limits()) as ledger:
        publish(ledger)
        publish(ledger, version=2)
    more = limits()
    more.analysts["bob"] = more.analysts["ana"]  # type: ignore[index]  # a test's own dictionary
    with opened(place, more) as ledger:
        assert spent(ledger, "bob") == 0.2


def test_without_a_shared_account_a_later_one_pays_for_what_still_serves(place: Path) -> None:
    with opened(place, limits(others=None)) as ledger:
        publish(ledger)
        publish(ledger, Pure(Fraction(1, 5)), version=2)
    with opened(place, limits()) as ledger:
        assert (spent(ledger), spent(ledger, "eve")) == pytest.approx((0.3, 0.2))


def test_what_stands_in_the_policy_is_paid_for_by_whoever_comes_later(place: Path) -> None:
    with opened(place, limits(others=None)) as ledger:
        publish(ledger)
        ledger.note_written()
        publish(ledger, Pure(Fraction(1, 5)), version=2)
        publish(ledger, Pure(Fraction(1, 4)), version=3)
    with opened(place, limits()) as ledger:
        assert spent(ledger, "eve") == pytest.approx(0.35)


def test_an_account_that_could_not_pay_at_its_beginning_is_refused(place: Path) -> None:
    with opened(place, limits(others=None)) as ledger:
        publish(ledger)
    with pytest.raises(PolicyError, match=r"analysts: \* allows epsilon 0.05, but 0.1 was spent"):
        opened(place, limits(others=Fraction(1, 20)))


@pytest.mark.parametrize(("account", "left"), [(None, (0.1, 0.1, 0.1)), ("ana", (0.3, 0.1, 0.2))])
def test_a_reset_begins_with_what_all_still_read(
    place: Path, account: str | None, left: tuple[float, float, float]
) -> None:
    with opened(place) as ledger:
        publish(ledger)
        ask(ledger)
        ask(ledger, analyst="eve")
    reset(place, pinned=BASIC, limits=limits(), reason="drill", mark=place.parent.parent / "marks", account=account)
    with opened(place) as ledger:
        found = spent(ledger, None), spent(ledger), spent(ledger, "eve")
        assert found == pytest.approx(left)


def test_a_new_ledger_begins_with_the_facts_that_stand_in_the_policy_once(place: Path) -> None:
    for _ in range(2):
        with Ledger.open(
            place, pinned=BASIC, limits=limits(), mark=place.parent.parent / "marks", begins=TENTH
        ) as ledger:
            assert (spent(ledger, None), spent(ledger), spent(ledger, "eve")) == (0.1, 0.1, 0.1)
            assert [one.version for one in ledger.releases(FACTS)] == [0]


def test_a_restored_ledger_publishes_nothing(place: Path, tmp_path: Path) -> None:
    from dpsql.ledger.owner import restore

    with opened(place) as ledger:
        ledger.backup(tmp_path / "copy")
    restore(tmp_path / "copy", place, reason="drill", mark=place.parent.parent / "marks")
    with opened(place) as ledger, pytest.raises(BudgetExceeded, match="restored"):
        publish(ledger)
