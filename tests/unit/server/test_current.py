"""A policy that changes while its server runs: what is taken up, what stays, and that nobody waits for it."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path
from threading import Event, Thread
from typing import Any

import pytest

from dpsql.errors import ApprovalNeeded, BudgetExceeded, LedgerError, OperationalError, PolicyError
from dpsql.policy import Policy, load_policy
from dpsql.privacy.accounting import PolicyLimits
from dpsql.server import running
from dpsql.server.core import Server
from dpsql.server.current import CurrentLimits
from dpsql.server.doors import DoorKind
from dpsql.server.listening import Listen, Tls
from dpsql.server.mcp_http import AskingGuest
from dpsql.server.tools import Tools
from tests.unit.server.clinic import POLICY, Clinic, guest, open_clinic

pytestmark = pytest.mark.chance(0, "tokens are drawn, of 256 bits; nothing of noise is asserted")


@pytest.fixture
def file(tmp_path: Path) -> Path:
    (tmp_path / "clinic.yaml").write_text(POLICY)
    return tmp_path / "clinic.yaml"


def allowing(connections: int) -> str:
    return POLICY.replace("connections: 20", f"connections: {connections}")


def test_new_limits_are_taken_up_and_a_broken_policy_changes_nothing(file: Path) -> None:
    adopted = list[Policy]()
    limits = CurrentLimits(load_policy(file), adopted.append)
    file.write_text(allowing(7))
    assert limits.now().connections == 20
    limits.look()
    assert (limits.now().connections, len(adopted)) == (7, 1)
    limits.look()
    assert len(adopted) == 1
    for text in (allowing(0), ""):
        file.write_text(text)
        limits.look()
        assert limits.now().connections == 7
    file.unlink()
    limits.look()
    assert limits.now().connections == 7


def test_what_is_no_file_is_not_read_and_a_file_in_its_place_is(file: Path, events: list[dict[str, object]]) -> None:
    """Nobody writes into the pipe: who opened it would wait for ever."""
    limits = CurrentLimits(load_policy(file), lambda _: None)
    file.unlink()
    os.mkfifo(file)
    looks = Thread(target=limits.look, daemon=True)
    looks.start()
    looks.join(60)
    assert not looks.is_alive()
    file.unlink()
    file.write_text(allowing(7))
    limits.look()
    assert limits.now().connections == 7
    assert [event["event"] for event in events] == ["limits stay", "limits", "budget"]


def test_what_rests_on_the_limits_is_looked_at_after_them(file: Path) -> None:
    order = list[str]()
    limits = CurrentLimits(load_policy(file), lambda _: order.append("limits"), lambda: order.append("then"))
    limits.look()
    file.write_text(allowing(7))
    limits.look()
    assert order == ["then", "limits", "then"]


def test_nobody_waits_for_what_is_being_taken_up(file: Path) -> None:
    begun, goes_on = Event(), Event()

    def adopt(_: Policy) -> None:
        begun.set()
        assert goes_on.wait(60)

    limits = CurrentLimits(load_policy(file), adopt)
    file.write_text(allowing(7))
    looks = Thread(target=limits.look)
    looks.start()
    assert begun.wait(60)
    assert limits.now().connections == 7  # the look goes on
    goes_on.set()
    looks.join()


def test_what_could_not_be_adopted_is_tried_again_and_told_once(file: Path, events: list[dict[str, object]]) -> None:
    held, tried = [True], list[int]()

    def adopt(policy: Policy) -> None:
        tried.append(policy.server.connections)
        if held[0]:
            raise LedgerError("Another process holds it.")

    limits = CurrentLimits(load_policy(file), adopt)
    file.write_text(allowing(7))
    for _ in range(3):
        limits.look()
    held[0] = False
    for _ in range(3):
        limits.look()
    assert tried == [7] * 4
    assert [event["event"] for event in events] == ["limits", "budget stays", "budget"]


def test_what_the_file_itself_rules_out_is_tried_once(file: Path) -> None:
    tried = list[int]()

    def adopt(policy: Policy) -> None:
        tried.append(policy.server.connections)
        raise PolicyError("It allows less than was spent.")

    limits = CurrentLimits(load_policy(file), adopt)
    for connections in (7, 8):
        file.write_text(allowing(connections))
        limits.look()
        limits.look()
    assert tried == [7, 8]


def test_a_look_that_fails_is_not_the_last(file: Path, events: list[dict[str, object]]) -> None:
    failed, adopted = Event(), Event()

    def adopt(_: Policy) -> None:
        if not failed.is_set():
            failed.set()
            raise RuntimeError("a bug")
        adopted.set()

    limits = CurrentLimits(load_policy(file), adopt, pause=0.001)
    limits.watch()
    file.write_text(allowing(7))
    assert failed.wait(60)
    file.write_text(allowing(11))
    assert adopted.wait(60)
    limits.end()
    assert [event["kind"] for event in events if event["event"] == "bug"] == ["RuntimeError"]
    assert limits.now().connections == 11


class Toy:
    """A door whose owner lowers a limit while it is open, and stops the server when it holds."""

    def __init__(self, server: Server) -> None:
        self.server = server

    async def start(self, listen: Listen, tls: Tls | None) -> str:
        file = self.server.policy.file
        assert file is not None
        file.write_text(allowing(7))
        async with asyncio.timeout(60):
            while self.server.limits.connections != 7:
                await asyncio.sleep(0.01)
        raise PermissionError(13, "it holds")

    async def stop(self) -> None:
        pass


def open_door(server: Server) -> Toy:
    return Toy(server)


def test_a_server_that_runs_looks_at_its_policy_though_nobody_asks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(running, "DOORS", (DoorKind("toy", __name__, "A toy."),))
    with open_clinic(tmp_path) as clinic, pytest.raises(OperationalError, match="it holds"):
        asyncio.run(running.run(clinic.server, {"toy": Listen.read("127.0.0.1:9")}, None))


def changed(clinic: Clinic, *edits: tuple[str, str]) -> None:
    """The owner edits the policy, and the server looks at it once."""
    file = clinic.proxy.policy.file
    assert file is not None
    for was, now in edits:
        assert was in file.read_text()
        file.write_text(file.read_text().replace(was, now))
    clinic.server._limits.look()


def test_new_budgets_are_taken_up_as_a_new_opening_would(tmp_path: Path) -> None:
    with open_clinic(tmp_path) as clinic:
        bob, first = guest(clinic, "bob"), "SELECT COUNT(*) FROM people WHERE age > 1"
        bob.query(first)
        bob.query("SELECT COUNT(*) FROM people WHERE age > 2")
        third = "SELECT COUNT(*) FROM people WHERE age > 3"
        with pytest.raises(BudgetExceeded):
            bob.query(third)
        changed(clinic, ("bob: {epsilon: 1,", "bob: {epsilon: 2,"))
        assert not bob.query(third).replayed
        assert [entry.kind for entry in clinic.proxy.ledger.log()].count("limits") == 1
        changed(clinic, ("bob: {epsilon: 2,", "bob: {epsilon: 1.2,"))  # less than was spent
        fourth = "SELECT COUNT(*) FROM people WHERE age > 4"
        for name in ("ana", "bob"):
            own = guest(clinic, name)
            with pytest.raises(OperationalError, match="has changed the limits to what"):
                own.query(fourth)
            own.close()
        assert bob.query(first).replayed
        changed(clinic, ("bob: {epsilon: 1.2,", "bob: {epsilon: 1.6,"))
        with pytest.raises(BudgetExceeded, match=r"0\.1"):
            bob.query(fourth)
        bob.close()


def test_who_has_a_new_account_is_answered_for_what_is_charged(tmp_path: Path) -> None:
    """What follows a charge knows the accounts of now, not those of when the policy was opened."""
    with open_clinic(tmp_path) as clinic:
        changed(clinic, ("ana: {epsilon: 40,", "cleo: {epsilon: 1, delta: 1.0e-7}, ana: {epsilon: 40,"))
        clinic.tokens["cleo"] = clinic.server.users.add("cleo", clinic.proxy.policy)
        cleo = guest(clinic, "cleo")
        answer = cleo.query("SELECT COUNT(*) FROM people")
        assert answer.cost.epsilon == 0.5
        assert any("50% of the budget of analyst 'cleo'" in note for note in answer.notes)
        changed(clinic, ("bob: {epsilon: 1, delta: 1.0e-7}", '"*": {epsilon: 2, delta: 1.0e-7}'))
        bob = guest(clinic, "bob")  # who has none of their own any more
        assert bob.query("SELECT COUNT(*) FROM people").cost.epsilon == 0.5
        assert clinic.proxy.session(analyst="bob").budget().spent.epsilon == 0.5
        changed(clinic, ("cleo: {epsilon: 1,", "cleo: {epsilon: 4,"))
        assert not any("budget of" in note for note in cleo.query("SELECT COUNT(*) FROM people WHERE age > 1").notes)
        cleo.close()
        bob.close()


def test_who_lost_the_account_is_told_what_was_released_and_nothing_more(tmp_path: Path) -> None:
    with open_clinic(tmp_path) as clinic:
        ana, first = guest(clinic, "ana"), "SELECT COUNT(*) AS n FROM people"
        tools = Tools(AskingGuest(ana), lambda: 1.0, ana.left)
        told = tools.asked(first, None).told
        changed(clinic, ("ana: {epsilon: 40, delta: 1.0e-7}, ", ""))
        again = tools.asked(first, None).told
        assert told is not None and again is not None
        assert (again.rows, again.cost, again.left) == (told.rows, "nothing, this was released before", "nothing")
        with pytest.raises(BudgetExceeded, match="has no budget"):
            tools.asked(f"{first} WHERE age > 1", None)
        ana.close()


def test_what_was_charged_is_answered_where_nobody_knows_what_is_left(tmp_path: Path) -> None:
    """Another process may put other limits on record at any moment, and a server looks at them once a second."""
    with open_clinic(tmp_path) as clinic:
        ana = guest(clinic, "ana")
        tools = Tools(AskingGuest(ana), lambda: 1.0, ana.left)
        store, ledger = clinic.proxy.ledger.store, clinic.proxy.ledger

        def stored(*told: Any) -> None:
            store(*told)
            ledger._limits = PolicyLimits(ledger._limits.total, {})

        with pytest.MonkeyPatch.context() as patched:
            patched.setattr(ledger, "store", stored)
            answer = tools.asked("SELECT COUNT(*) AS n FROM people", None).told
        assert answer is not None
        assert (answer.rows[0][0], answer.cost, answer.left) == (100, "epsilon 0.5", "not known now")
        ana.close()


def test_what_waits_for_the_owner_follows_the_policy_and_other_changes_wait_for_a_restart(tmp_path: Path) -> None:
    with open_clinic(tmp_path) as clinic:
        ana = guest(clinic, "ana")
        changed(clinic, ("server: {", "server: {owner_approves_above: 0.4, "))
        with pytest.raises(ApprovalNeeded):
            ana.query("SELECT COUNT(*) FROM people")
        changed(
            clinic,
            ("owner_approves_above: 0.4, ", ""),
            ("bounds: [0, 99]", "bounds: [0, 90]"),
            ("ana: {epsilon: 40", "ana: {epsilon: 0.5"),
        )
        with pytest.raises(ApprovalNeeded):  # the limits of accounts and approvals are those of before
            ana.query("SELECT COUNT(*) FROM people")
        changed(clinic, ("bounds: [0, 90]", "bounds: [0, 99]"))
        assert ana.query("SELECT COUNT(*) FROM people").cost.epsilon == 0.5
        with pytest.raises(BudgetExceeded):
            ana.query("SELECT COUNT(*) FROM people WHERE age > 1")
        ana.close()
