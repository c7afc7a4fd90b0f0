"""The owner changes budgets, accounts, approvals, users and tables while analysts ask: each charge has one answer.

Whatever an analyst is told is an answer, or one refusal of the package's own; what was refused was not charged, and
what was charged was answered. Which thread comes first is left to the system, so that each run tries others.
"""

from __future__ import annotations

import random
from collections import Counter
from contextlib import suppress
from pathlib import Path
from threading import Event, Thread

import pytest

from dpsql.errors import Error, InvariantBroken
from dpsql.server.lockout import Lockout
from dpsql.server.mcp_http import AskingGuest
from dpsql.server.refusals import NotAdmitted
from dpsql.server.tools import Tools
from tests.unit.server.clinic import POLICY, Clinic, guest, open_clinic, refresh

pytestmark = pytest.mark.chance(0, "tokens are drawn, of 256 bits; nothing of noise is asserted")
BOB = "bob: {epsilon: 1, delta: 1.0e-7}"
PLENTY = POLICY.replace("epsilon: 100,", "epsilon: 100000,").replace("ana: {epsilon: 40,", "ana: {epsilon: 9000,")
RICH = "bob: {epsilon: 9000, delta: 1.0e-7}"
EDITS = (
    ("", ""), (RICH, "bob: {epsilon: 8000, delta: 1.0e-7}"), (RICH, "'*': {epsilon: 9000, delta: 1.0e-7}"),
    (f", {RICH}", ""), (f", {RICH}", f", {RICH}, cleo: {{epsilon: 1}}"), ("server: {", "server: {rows: 3, #"),
    ("server: {", "server: {owner_approves_above: 0.001, "), ("bounds: [0, 99]", "bounds: [0, 98]"),
    ("version: 1", "version: one"),
)  # fmt: skip
"""What stands in the policy, and what the owner writes in its place."""
EPSILON = 0.01


class Asking:
    """An analyst who asks until told to stop, by an agent's tools and at once.

    Attributes:
        answered: How many charges were answered.
        wrong: What should not have been told.
    """

    def __init__(self, clinic: Clinic, name: str, seed: int) -> None:
        self._clinic, self._name, self._chance = clinic, name, random.Random(seed)
        self.answered, self.wrong, self.ends = 0, list[str](), Event()
        self.thread = Thread(target=self._run)

    def _run(self) -> None:
        own = guest(self._clinic, self._name)
        while not self.ends.is_set():
            tools = Tools(AskingGuest(own), lambda: 1.0, own.left)
            at = self._chance.randrange(10_000)
            sql = f"SELECT COUNT(*) AS n FROM people WHERE age > {at % 80} AND weight > {at // 80}"
            try:
                if self._chance.random() < 0.7:
                    told = tools.asked(sql, EPSILON).told
                    self.answered += told is not None and told.cost == f"epsilon {EPSILON}"
                else:
                    answers = own.query_all([sql, f"{sql} AND smokes"], epsilon=EPSILON)
                    self.answered += any(answer.cost.epsilon for answer in answers)
            except NotAdmitted:  # the owner gave another token
                own.close()
                with suppress(NotAdmitted):
                    own = guest(self._clinic, self._name)
            except InvariantBroken as bug:
                self.wrong.append(repr(bug))
            except Error as refusal:
                self.wrong += [str(refusal)] if "stays charged" in str(refusal) else []
            except Exception as bug:  # noqa: BLE001 - told in the test's own thread
                self.wrong.append(repr(bug))
        own.close()


def changes(clinic: Clinic, chance: random.Random) -> None:
    """The owner changes something, and the server looks at it."""
    assert clinic.proxy.policy.file is not None
    was, now = chance.choice(EDITS)
    clinic.proxy.policy.file.write_text(PLENTY.replace(BOB, RICH).replace(was, now, 1) if was else PLENTY)
    clinic.server._limits.look()
    if chance.random() < 0.1:
        with suppress(Error):  # who has no account becomes no user
            clinic.server.users.remove("bob")
        with suppress(Error):
            clinic.tokens["bob"] = clinic.server.users.add("bob", clinic.proxy.policy)
        clinic.server.lockout = Lockout()  # the token of before was tried in vain meanwhile
    if chance.random() < 0.1:
        refresh(clinic)
        clinic.server._limits.look()


@pytest.mark.parametrize("many", [40, pytest.param(600, marks=pytest.mark.slow)])
def test_whatever_the_owner_changes_meanwhile_each_charge_is_answered(tmp_path: Path, many: int, seed: int) -> None:
    with open_clinic(tmp_path, PLENTY.replace(BOB, RICH)) as clinic:
        asking = [Asking(clinic, name, seed + at) for at, name in enumerate(("ana", "bob", "ana", "bob"))]
        for one in asking:
            one.thread.start()
        chance = random.Random(seed)
        try:
            for _ in range(many):
                changes(clinic, chance)
        finally:
            for one in asking:
                one.ends.set()
                one.thread.join()
        charges = Counter(entry.analyst for entry in clinic.proxy.ledger.log() if entry.kind == "charge")
    assert [wrong for one in asking for wrong in one.wrong] == []
    assert charges.total() == sum(one.answered for one in asking) > 0
