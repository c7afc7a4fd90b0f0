"""The ledger, used as it should be."""

from __future__ import annotations

import stat
import threading
from contextlib import suppress
from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule, run_state_machine_as_test

from dpsql.errors import BudgetExceeded, InvariantBroken, LedgerError, OperationalError, UnsupportedQuery
from dpsql.ledger.ledger import FAILPOINTS, Ledger, Pinned, PolicyLimits
from dpsql.ledger.owner import reset
from dpsql.ledger.state import LedgerState
from dpsql.privacy.account import UNIT, Composition
from dpsql.privacy.accounting import Limits
from dpsql.privacy.kinds import Approximate, Concentrated, Free, Loss, Pure, RandomDPLoss
from dpsql.privacy.loss import Composed
from tests.unit.ledger.accounts import BASIC, TENTH, ask, limits, opened, spent


def test_a_charge_is_there_after_opening_again(place: Path) -> None:
    with opened(place) as ledger:
        identity, key = ledger.id, ledger.contribution_key
        ask(ledger)
        ask(ledger, Approximate(Fraction(1, 5), Fraction(1, 10**7)))
    with opened(place) as ledger:
        assert (ledger.id, ledger.contribution_key) == (identity, key)
        assert len(key) == 32
        assert ledger.budget("ana").spent.epsilon == 0.3
        assert ledger.budget("ana").spent.delta == 1e-7
        assert ledger.budget("ana").remaining == Fraction(17, 10)
        assert ledger.budget("ana").limit == limits().analysts["ana"]


def test_only_the_owner_can_read_the_files(place: Path) -> None:
    with opened(place) as ledger:
        ask(ledger)
        files = [*place.parent.iterdir(), *(place.parent.parent / "marks").iterdir()]
        assert {stat.S_IMODE(file.stat().st_mode) for file in files} == {0o600}
    place.chmod(0o644)
    with pytest.raises(LedgerError, match="chmod 600"):
        opened(place)


def test_a_budget_is_filled_exactly_and_never_overspent(memory: Ledger) -> None:
    for _ in range(20):
        ask(memory)
    with pytest.raises(BudgetExceeded) as refusal:
        ask(memory, Pure(UNIT))
    assert (refusal.value.needed, refusal.value.remaining) == (UNIT, Fraction(0))
    assert memory.budget("ana").remaining == 0
    assert spent(memory) == 2


def test_a_refusal_says_what_it_costs_what_is_left_and_what_to_ask(memory: Ledger) -> None:
    ask(memory, Pure(Fraction(7, 4)))
    with pytest.raises(BudgetExceeded) as refusal:
        ask(memory, Pure(Fraction(2, 5)))
    assert str(refusal.value) == (
        "This query costs epsilon 0.4; analyst 'ana' has 0.25 of 2 left for unit 'patient_id'. Nothing was read. "
        "Ask again with epsilon = 0.25 or less."
    )
    ask(memory, Pure(Fraction(1, 4)))


def test_the_total_stops_an_analyst_who_has_something_left() -> None:
    with Ledger.open(None, pinned=BASIC, limits=limits(total=2, ana=2, others=1)) as ledger:
        ask(ledger, Pure(Fraction(1)), analyst="eve")
        assert ledger.budget("ana").remaining == 1
        assert ledger.repeats_left("ana", TENTH) == 10
        with pytest.raises(BudgetExceeded, match=r"all analysts together have 1 of 2 left"):
            ask(ledger, Pure(Fraction(3, 2)))
        assert ledger.budget(None).remaining == 1


def test_invented_names_share_one_account(memory: Ledger) -> None:
    for number in range(10):
        ask(memory, analyst=f"eve{number}")
    with pytest.raises(BudgetExceeded, match="analysts without a budget of their own have 0 of 1"):
        ask(memory, analyst="mallory")
    assert spent(memory, "another") == spent(memory, "*") == 1


def test_without_a_shared_account_strangers_are_refused() -> None:
    with Ledger.open(None, pinned=BASIC, limits=limits(others=None)) as ledger:
        for attempt in (lambda: ask(ledger, analyst="eve"), lambda: ledger.budget("eve")):
            with pytest.raises(BudgetExceeded, match="'eve' has no budget"):
                attempt()


def test_what_is_free_is_logged_and_costs_nothing(memory: Ledger) -> None:
    ask(memory, Free("replayed"))
    assert memory.budget("ana").spent.epsilon == 0
    assert memory.repeats_left("ana", Free("public")) is None
    assert memory.log()[-1].loss == Free("replayed")


def test_a_loss_that_does_not_fit_the_composition_is_refused_and_leaves_nothing(memory: Ledger) -> None:
    with pytest.raises(UnsupportedQuery):
        ask(memory, Concentrated(Fraction(1, 100)))
    assert [entry.kind for entry in memory.log()] == ["opening"]


def test_the_same_answer_comes_from_the_store(memory: Ledger) -> None:
    assert memory.find("city count") is None
    charge = ask(memory, fingerprint="city count")
    memory.store(charge, "city count", b"released")
    memory.store(charge, "city count", b"another")  # a second writer changes nothing
    assert memory.find("city count") == (b"released", TENTH)
    assert spent(memory) == 0.1


def test_an_answer_is_only_stored_under_the_charge_that_paid_for_it(memory: Ledger) -> None:
    charge = ask(memory, fingerprint="a")
    for wrong in (charge + 1, 1):
        with pytest.raises(InvariantBroken):
            memory.store(wrong, "a", b"x")
    with pytest.raises(InvariantBroken):
        memory.store(charge, "b", b"x")


def test_gamma_is_charged_once_in_the_total_and_once_for_each_analyst() -> None:
    gamma = Fraction(1, 100)
    each = Limits(Fraction(1), gamma=gamma)
    allowed = PolicyLimits(Limits(Fraction(9), gamma=gamma), {"ana": each, "bob": each})
    with Ledger.open(None, pinned=BASIC, limits=allowed) as ledger:
        for analyst in ("ana", "ana", "bob"):
            ask(ledger, RandomDPLoss(Fraction(1, 10), gamma, "patients", 1), analyst=analyst)
        assert ledger.budget("ana").spent.gamma == ledger.budget("bob").spent.gamma == 0.01
        assert ledger.budget(None).spent.gamma == 0.01
        with pytest.raises(BudgetExceeded, match="gamma"):
            ask(ledger, RandomDPLoss(Fraction(1, 10), gamma, "patients", 2))


def test_a_new_table_version_is_on_record_and_refreshes_no_budget(place: Path) -> None:
    with opened(place) as ledger:
        assert ledger.version() == 0
        ledger.new_version("first build", 1)
        assert ledger.version() == 1
        ask(ledger)
        ledger.new_version("monthly load", 2)
        with pytest.raises(OperationalError, match="the ledger came to version 2"):
            ledger.new_version("the same load", 2)
        assert ledger.version() == 2
    with opened(place) as ledger:
        assert ledger.version() == 2
        assert spent(ledger) == 0.1
        assert [entry.reason for entry in ledger.log() if entry.kind == "refresh"] == [
            "version 1: first build",
            "version 2: monthly load",
        ]


def test_the_third_overrun_suspends_until_the_owners_reset(place: Path) -> None:
    with opened(place) as ledger:
        for count in range(3):
            assert not ledger.suspended("eve"), count
            ledger.record_overrun("eve")
        assert ledger.suspended("eve")
        assert not ledger.suspended("ana")
        with pytest.raises(BudgetExceeded, match="suspended"):
            ask(ledger, analyst="eve")
        assert ledger.budget("eve").remaining == 0
        assert ledger.repeats_left("eve", TENTH) == 0
    reset(place, pinned=BASIC, limits=limits(), reason="talked to eve", mark=place.parent.parent / "marks", account="*")
    with opened(place) as ledger:
        ask(ledger, analyst="eve")


def test_who_lost_the_account_while_a_statement_ran_has_overrun_all_the_same(memory: Ledger) -> None:
    for _ in range(3):
        ask(memory)
        memory.adopt(PolicyLimits(limits().total, {"bob": limits().total}))
        memory.record_overrun("ana")
        memory.adopt(limits())
    assert memory.suspended("ana")


@pytest.mark.parametrize("account", ["*", "eve"])
def test_a_stranger_is_suspended_alone_until_a_reset_of_the_name_or_of_the_shared_account(
    place: Path, account: str
) -> None:
    with opened(place) as ledger:
        for _ in range(3):
            ledger.record_overrun("eve")
        ledger.record_overrun("mallory")
        assert ledger.suspended("eve")
        assert not ledger.suspended("mallory")
        ask(ledger, analyst="mallory")
        with pytest.raises(BudgetExceeded, match="'eve' is suspended"):
            ask(ledger, analyst="eve")
        assert ledger.repeats_left("eve", TENTH) == 0
        assert ledger.repeats_left("mallory", TENTH)
        assert ledger.budget("eve").remaining == 0
        assert ledger.budget("mallory").remaining > 0
    marks = place.parent.parent / "marks"
    reset(place, pinned=BASIC, limits=limits(), reason="talked to eve", mark=marks, account=account)
    with opened(place) as ledger:
        assert not ledger.suspended("eve")


def test_the_log_tells_who_asked_what_at_which_loss(place: Path) -> None:
    with opened(place) as ledger:
        ledger.charge("ana", TENTH, statement="SELECT 'it''s \ud800'", fingerprint="f")
        entry = ledger.log()[-1]
    assert (entry.kind, entry.analyst, entry.loss) == ("charge", "ana", TENTH)
    assert entry.statement == "SELECT 'it''s \ud800'"
    assert entry.at.endswith("+00:00")


# limits and what is pinned


def test_a_ledger_whose_limits_another_process_changed_stops(place: Path) -> None:
    with opened(place) as ledger:
        opened(place, limits(ana=1)).close()
        with pytest.raises(LedgerError, match="changed by another process"):
            ask(ledger)
    with opened(place, limits(ana=1)) as ledger:
        assert spent(ledger) == 0


# the owner's commands


def test_threads_share_a_ledger_without_overspending(memory: Ledger) -> None:
    granted: list[int] = []

    def work() -> None:
        for _ in range(10):
            try:
                granted.append(ask(memory))
            except BudgetExceeded:
                return

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(granted) == len(set(granted)) == 20


def test_a_closed_ledger_says_so() -> None:
    ledger = Ledger.open(None, pinned=BASIC, limits=limits())
    ledger.close()
    with pytest.raises(LedgerError, match="Open it again"):
        ledger.budget("ana")


def test_a_charge_passes_every_failpoint_in_order(place: Path) -> None:
    passed: list[str] = []
    with Ledger.open(
        place, pinned=BASIC, limits=limits(), mark=place.parent.parent / "marks", failpoint=passed.append
    ) as ledger:
        passed.clear()
        ask(ledger)
    assert tuple(passed) == FAILPOINTS


def test_a_charge_waits_for_the_disk_and_a_stored_answer_does_not(place: Path) -> None:
    waits = list[bool]()

    def look(point: str) -> None:
        if point == "after-insert":
            waits.append(ledger._file._sql.execute("PRAGMA synchronous").fetchone() == (2,))

    marks = place.parent.parent / "marks"
    with Ledger.open(place, pinned=BASIC, limits=limits(), mark=marks, failpoint=look) as ledger:
        for number in range(2):
            charge = ask(ledger, fingerprint=f"q{number}")
            ledger.store(charge, f"q{number}", b"answer")
    assert waits == [True, False, True, False]


@pytest.mark.parametrize("point", FAILPOINTS)
def test_an_exception_anywhere_gives_no_charge_id_and_keeps_what_was_committed(place: Path, point: str) -> None:
    armed = False

    def fail(name: str) -> None:
        if armed and name == point:
            raise KeyboardInterrupt

    marks = place.parent.parent / "marks"
    with Ledger.open(place, pinned=BASIC, limits=limits(), mark=marks, failpoint=fail) as ledger:
        ask(ledger)
        armed = True
        with pytest.raises(KeyboardInterrupt):
            ask(ledger)
        armed = False
        expected = 2 if FAILPOINTS.index(point) >= FAILPOINTS.index("after-commit") else 1
        assert spent(ledger) == expected / 10
        ask(ledger)
    with opened(place) as ledger:
        assert spent(ledger) == pytest.approx((expected + 1) / 10)


# replayed ledger == live ledger

WISHES: list[Loss] = [
    TENTH,
    Pure(Fraction(1, 3)),
    Approximate(Fraction(1, 7), Fraction(1, 10**8)),
    Concentrated(Fraction(1, 1000), Fraction(1, 5), Fraction(1, 10**9)),
    RandomDPLoss(Fraction(1, 10), Fraction(1, 100), "patients", 1),
    Composed((TENTH, Free("public")), count=2),
]
NAMES = ["ana", "bob", "eve", "*"]


class Replay(RuleBasedStateMachine):
    """Whatever happens to a ledger, reading its records anew gives the accounts that it has."""

    composition: Composition = "basic"

    def __init__(self) -> None:
        super().__init__()
        pinned = Pinned("patient_id", "add_remove", self.composition)
        self.limits = limits()
        self.ledger = Ledger.open(None, pinned=pinned, limits=self.limits)

    def teardown(self) -> None:
        self.ledger.close()

    @rule(analyst=st.sampled_from(NAMES), loss=st.sampled_from(WISHES))
    def charge(self, analyst: str, loss: Loss) -> None:
        possible = self.ledger.repeats_left(analyst, loss)
        try:
            ask(self.ledger, loss, analyst)
        except BudgetExceeded:
            assert possible == 0
        else:
            assert possible != 0

    @rule(loss=st.sampled_from(WISHES))
    def publish(self, loss: Loss) -> None:
        with suppress(BudgetExceeded):
            self.ledger.publish("facts", 1, loss, statement="facts", parts=["a"])

    @rule()
    def write(self) -> None:
        self.ledger.note_written()

    @rule()
    def refresh(self) -> None:
        self.ledger.new_version("again", self.ledger.version() + 1)

    @rule(analyst=st.sampled_from(NAMES))
    def overrun(self, analyst: str) -> None:
        self.ledger.record_overrun(analyst)

    @rule(account=st.sampled_from(["", "ana", "*"]))
    def reset(self, account: str) -> None:
        with self.ledger._writing():
            self.ledger._file.append("reset", account=account, detail={"reason": "", "epoch": 0})

    @invariant()
    def replayed_is_live(self) -> None:
        live, replayed = self.ledger._state, LedgerState.of(self.ledger._file)
        live.catch_up(self.ledger._file)
        assert replayed.total == live.total
        for name in NAMES:
            assert replayed.spent(name, self.limits) == live.spent(name, self.limits)
            assert replayed.suspended(name) == live.suspended(name)
        assert (replayed.high_water, replayed.version) == (live.high_water, live.version)

    @invariant()
    def the_limits_hold(self) -> None:
        self.ledger._granting.refuse_overspent()


class ReplayZcdp(Replay):
    composition = "zcdp"


@pytest.mark.parametrize("machine", [Replay, ReplayZcdp])
def test_a_replayed_ledger_equals_the_live_one(machine: type[RuleBasedStateMachine]) -> None:
    run_state_machine_as_test(machine, settings=settings(max_examples=20, stateful_step_count=15, deadline=None))


def test_ledgers_in_memory_keep_the_same_rows_and_each_at_a_path_its_own(memory: Ledger, tmp_path: Path) -> None:
    with Ledger.open(None, pinned=BASIC, limits=limits()) as again:
        assert again.contribution_key == memory.contribution_key
        assert again.id != memory.id
    keys = set()
    for name in ("one", "two"):
        place = tmp_path / name / "clinic.ledger.db"
        place.parent.mkdir()
        with opened(place) as ledger:
            keys.add(ledger.contribution_key)
    assert len(keys | {memory.contribution_key}) == 3
