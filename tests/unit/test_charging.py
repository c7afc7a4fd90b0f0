"""The owner's word before a large charge, at every door, and alerts after one."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

import dpsql
import dpsql.testing
from dpsql.answers.answer import Answer
from dpsql.charging import Charging, Spoken, Wish
from dpsql.dbapi import Connection
from dpsql.engine.log import OPERATOR
from dpsql.errors import ApprovalNeeded, BudgetExceeded, OperationalError
from dpsql.ledger.beside import Beside
from dpsql.ledger.ledger import Ledger
from dpsql.ledger.owner import reset, restore
from dpsql.ledger.refusals import ChargeStands
from dpsql.ledger.waiting import Waiting
from dpsql.privacy.kinds import Pure
from dpsql.sql.parse import parse
from tests.unit.ledger.accounts import BASIC, limits, opened
from tests.unit.server.clinic import write_clinic

POLICY = """
version: 1
name: clinic
engine: {kind: duckdb, database: clinic.duckdb}
neighbours: add_remove
budget:
  ledger: clinic.ledger.db
  composition: basic
  total: {epsilon: 40, delta: 1.0e-6}
  analysts: {ana: {epsilon: 10, delta: 1.0e-7}, bob: {epsilon: 10}, cy: {epsilon: 10}}
  per_query: {epsilon: 0.5}
server: {owner_approves_above: 1.0}
tables:
  people:
    unit: person
    rows_per_unit: 1
    rows_about: 100
    columns:
      age: {type: integer, bounds: [0, 99]}
      sex: {type: text, values: [F, M]}
"""
DEAR = "SELECT COUNT(*) AS n FROM people WHERE age > ?"


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("charging")
    write_clinic(folder, POLICY)
    return folder


@pytest.fixture(scope="module")
def proxy(home: Path) -> Iterator[dpsql.testing.TestProxy]:
    with dpsql.testing.open(home / "clinic.yaml", dpsql.testing.Noiseless()) as opened:
        yield opened


@pytest.fixture
def ana(proxy: dpsql.testing.TestProxy) -> dpsql.Session:
    return proxy.session(analyst="ana")


def waits(ask: Callable[..., object], *args: object, **options: object) -> ApprovalNeeded:
    with pytest.raises(ApprovalNeeded) as caught:
        ask(*args, **options)
    return caught.value


def approve(proxy: dpsql.testing.TestProxy, needed: ApprovalNeeded) -> None:
    proxy.waiting.approve(needed.id, proxy.ledger.version())


def test_a_dear_statement_waits_uncharged_and_runs_once_when_approved(
    proxy: dpsql.testing.TestProxy, ana: dpsql.Session
) -> None:
    before = ana.budget()
    needed = waits(ana.query, DEAR, [30], epsilon=1.5)
    assert isinstance(needed, OperationalError)
    assert f"`dpsql approve POLICY {needed.id}`" in str(needed)
    assert waits(ana.query, DEAR, [30], epsilon=1.5).id == needed.id
    assert ana.budget() == before
    approve(proxy, needed)
    assert ana.budget() == before  # nothing was run or charged by it
    assert ana.query(DEAR, [30], epsilon=1.5).cost.epsilon == 1.5
    again = ana.query(DEAR, [30], epsilon=1.5)
    assert (again.replayed, again.cost.epsilon) == (True, 0)


def test_a_limit_that_the_owner_takes_away_meanwhile_fails_no_statement(
    proxy: dpsql.testing.TestProxy, ana: dpsql.Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    charging, ask = proxy.backend.charging, proxy.waiting.ask

    def meanwhile(*asked: Any) -> str:
        charging.above = None
        return ask(*asked)

    monkeypatch.setattr(proxy.waiting, "ask", meanwhile)
    monkeypatch.setattr(charging, "above", charging.above)
    assert "as all above epsilon 1 does" in str(waits(ana.query, DEAR, [31], epsilon=1.5))
    assert ana.query(DEAR, [31], epsilon=1.5).cost.epsilon == 1.5


def test_an_approval_whose_charge_stands_without_an_answer_is_used_up(
    proxy: dpsql.testing.TestProxy, ana: dpsql.Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    approve(proxy, waits(ana.query, DEAR, [32], epsilon=1.5))
    before, charge = ana.budget().spent.epsilon, proxy.ledger.charge

    def fails(*asked: Any, **more: Any) -> int:
        raise ChargeStands(f"The mark of record {charge(*asked, **more)} cannot be put in its place.")

    with monkeypatch.context() as patched, pytest.raises(ChargeStands):
        patched.setattr(proxy.ledger, "charge", fails)
        ana.query(DEAR, [32], epsilon=1.5)
    waits(ana.query, DEAR, [32], epsilon=1.5)
    assert ana.budget().spent.epsilon == before + 1.5


def test_what_is_as_dear_as_the_limit_or_cheaper_does_not_wait(ana: dpsql.Session) -> None:
    assert ana.query(DEAR, [1], epsilon=1).cost.epsilon == 1
    assert ana.explain(DEAR, [1], epsilon=1.5).cost.epsilon == 1.5


def test_an_approval_is_void_for_anything_else(proxy: dpsql.testing.TestProxy, ana: dpsql.Session) -> None:
    needed = waits(ana.query, DEAR, [40], epsilon=1.25)
    approve(proxy, needed)
    bob = proxy.session(analyst="bob")
    assert waits(ana.query, DEAR, [41], epsilon=1.25).id != needed.id
    assert waits(ana.query, DEAR, [40], epsilon=1.3).id != needed.id
    assert waits(ana.query, DEAR, [40], epsilon=1.25, delta=1e-8, mechanism="gaussian").id != needed.id
    assert waits(bob.query, DEAR, [40], epsilon=1.25).id != needed.id
    assert ana.query("select count( * ) n from People where AGE > ? -- mine", [40], epsilon=1.25).cost.epsilon == 1.25


def test_an_approval_of_tables_that_a_restore_lost_is_none_for_others_of_the_same_version(tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    place, marks, waiting = tmp_path / "data" / "ledger.db", tmp_path / "marks", Waiting(Beside(None))
    wish = Wish(Pure(Fraction(1)), ["what is read"], [Spoken(parse("SELECT COUNT(*) FROM people"))])

    def ask(ledger: Ledger) -> None:
        with Charging(ledger, waiting, Fraction(1, 2), version=1).of("ana", wish):
            pass

    with opened(place) as ledger:
        ledger.backup(tmp_path / "saved.db")
        ledger.new_version("first", 1)
        approve = waits(ask, ledger).id
        waiting.approve(approve, 1)
    restore(tmp_path / "saved.db", place, reason="disk lost", mark=marks)
    reset(place, pinned=BASIC, limits=limits(), reason="after the restore", mark=marks)
    with opened(place) as ledger:
        ledger.new_version("other tables", 1)
        needed = waits(ask, ledger)
        assert needed.id != approve
        waiting.approve(needed.id, 1)
        ask(ledger)
        waits(ask, ledger)


def test_an_approval_stands_where_all_charges_end_in_the_moment_that_it_is_taken(tmp_path: Path) -> None:
    class Meanwhile(Waiting):
        """The owner's limits cannot be taken up from the moment on at which an approval is taken."""

        def take(self, identity: str) -> str | None:
            approval = super().take(identity)
            if approval is not None:
                charging.closed = "the limits are less than was spent"
            return approval

    (tmp_path / "data").mkdir()
    wish = Wish(Pure(Fraction(1)), ["what is read"], [Spoken(parse("SELECT COUNT(*) FROM people"))])
    with opened(tmp_path / "data" / "ledger.db") as ledger:
        ledger.new_version("first", 1)
        waiting = Meanwhile(Beside(None))
        charging = Charging(ledger, waiting, Fraction(1, 2), version=1)

        def ask() -> None:
            with charging.of("ana", wish):
                pass

        waiting.approve(waits(ask).id, 1)
        with pytest.raises(OperationalError, match="Nothing was charged"):
            ask()
        (stands,) = waiting.all()
        assert stands.state(1, stands.asked) == "approved"


def test_the_limits_are_tested_before_it_waits_and_when_it_runs(proxy: dpsql.testing.TestProxy) -> None:
    cy = proxy.session(analyst="cy")
    with pytest.raises(BudgetExceeded):
        cy.query(DEAR, [5], epsilon=11)
    needed = waits(cy.query, DEAR, [5], epsilon=9.6)
    approve(proxy, needed)
    cy.query(DEAR, [6], epsilon=1)
    with pytest.raises(BudgetExceeded):
        cy.query(DEAR, [5], epsilon=9.6)
    assert proxy.waiting.all()[-1].used is None  # the approval was given back


def test_batches_synthetic_tables_and_the_db_api_wait_too(proxy: dpsql.testing.TestProxy) -> None:
    bob = proxy.session(analyst="bob")
    batch = ["SELECT AVG(age) FROM people", "SELECT SUM(age) FROM people"]
    needed = waits(bob.query_all, batch, epsilon=0.75)
    approve(proxy, needed)
    assert sum(answer.cost.epsilon for answer in bob.query_all(batch, epsilon=0.75)) == 1.5
    made = "CREATE SYNTHETIC TABLE ages WITH (epsilon = 2) AS SELECT age FROM people WHERE age > ?"
    needed = waits(bob.query, made, [10])
    assert waits(bob.query, made, [11]).id != needed.id
    approve(proxy, needed)
    assert bob.query(made, [10]).cost.epsilon == 2
    assert bob.query("SELECT COUNT(*) FROM ages").cost.epsilon == 0
    cursor = Connection(bob, close=lambda: None).cursor()
    waits(cursor.execute, "SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS (epsilon = 3) COUNT(*) FROM people")


def test_the_owner_reads_what_waits_with_its_values_and_options(
    proxy: dpsql.testing.TestProxy, ana: dpsql.Session
) -> None:
    needed = waits(ana.query, DEAR, [77], epsilon=1.75)
    (own,) = (one for one in proxy.waiting.all() if one.id == needed.id)
    assert own.statement == 'SELECT count(*) AS "n" FROM "people" WHERE ("age" > $1) with $1 = 77'
    assert (own.analyst, own.price, own.options) == ("ana", "epsilon 1.75", "epsilon = 1.75")


def test_half_four_fifths_and_nearly_all_are_told_to_the_owner_and_in_the_answer(home: Path) -> None:
    said = list[str]()
    handler = logging.Handler()
    handler.emit = lambda record: said.append(record.getMessage())  # type: ignore[method-assign]
    OPERATOR.addHandler(handler)
    try:
        with dpsql.testing.open(home / "clinic.yaml", dpsql.testing.Noiseless()) as proxy:
            ana = proxy.session(analyst="ana")
            answers: list[Answer] = [ana.query(DEAR, [age], epsilon=1) for age in range(10)]
            again = ana.query(DEAR, [9], epsilon=1)
    finally:
        OPERATOR.removeHandler(handler)
    told = {place: answer.notices for place, answer in enumerate(answers, 1) if answer.notices}
    assert {place: one[0][:3] for place, one in told.items()} == {5: "50%", 8: "80%", 10: "95%"}
    assert said == [one[0] for one in told.values()]
    assert answers[4].notes[-1] == "50% of the budget of analyst 'ana' is spent."
    assert again.notices == ()
