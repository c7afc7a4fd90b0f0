"""The ledger, used as it should be."""

from __future__ import annotations

import stat
import threading
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule, run_state_machine_as_test

from dpsql.errors import BudgetExceeded, InvariantBroken, LedgerError, OperationalError, PolicyError, UnsupportedQuery
from dpsql.ledger.ledger import FAILPOINTS, Ledger, Pinned, PolicyLimits
from dpsql.ledger.owner import reset, restore, verify
from dpsql.ledger.standing import Standing
from dpsql.privacy.account import UNIT, Account, Composition
from dpsql.privacy.accounting import Limits
from dpsql.privacy.kinds import Approximate, Concentrated, Free, Loss, MetricLoss, Pure, RandomDPLoss
from dpsql.privacy.loss import Composed

BASIC = Pinned(unit="patient_id", neighbours="add_remove", composition="basic")
TENTH = Pure(Fraction(1, 10))


def limits(total: int | Fraction = 20, ana: int | Fraction = 2, others: int | Fraction | None = 1) -> PolicyLimits:
    analysts = {"ana": Limits(Fraction(ana), Fraction(1, 10**6))}
    if others is not None:
        analysts["*"] = Limits(Fraction(others), Fraction(1, 10**6))
    return PolicyLimits(Limits(Fraction(total), Fraction(1, 10**5), Fraction(1, 50)), analysts)


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """Where the ledger lies; its marks lie in the folder beside."""
    (tmp_path / "data").mkdir()
    return tmp_path / "data" / "clinic.ledger.db"


@pytest.fixture
def memory() -> Iterator[Ledger]:
    with Ledger.open(None, pinned=BASIC, limits=limits()) as ledger:
        yield ledger


def opened(place: Path, allowed: PolicyLimits | None = None, pinned: Pinned = BASIC) -> Ledger:
    return Ledger.open(place, pinned=pinned, limits=allowed or limits(), mark=place.parent.parent / "marks")


def ask(ledger: Ledger, loss: Loss = TENTH, analyst: str = "ana", fingerprint: str = "f") -> int:
    return ledger.charge(analyst, loss, statement="SELECT COUNT(*) FROM visits", fingerprint=fingerprint)


def spent(ledger: Ledger, analyst: str | None = "ana") -> float:
    return ledger.budget(analyst).spent.epsilon


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


@pytest.mark.parametrize(
    "changed",
    [
        Pinned("visit_id", "add_remove", "basic"),
        Pinned("patient_id", "replace_one", "basic"),
        Pinned("patient_id", "add_remove", "zcdp"),
        Pinned("patient_id", "add_remove", "basic", classes="'strict' 1/4"),
    ],
)
def test_a_policy_that_changes_what_is_pinned_is_refused(place: Path, changed: Pinned) -> None:
    opened(place).close()
    with pytest.raises(PolicyError, match=r"write .* again"):
        opened(place, pinned=changed)
    with pytest.raises(PolicyError, match=r"write .* again"):
        reset(place, pinned=changed, limits=limits(), reason="no", mark=place.parent.parent / "marks")


def test_limits_may_change_on_record(place: Path) -> None:
    with opened(place) as ledger:
        ask(ledger, Pure(Fraction(2)))
    with opened(place, limits(ana=3)) as ledger:
        assert ledger.budget("ana").remaining == 1
    opened(place, limits(ana=3)).close()
    with opened(place, limits(ana=2)) as ledger:
        assert [entry.kind for entry in ledger.log()] == ["opening", "charge", "limits", "limits"]


def with_pair(epsilon: int, delta: Fraction) -> PolicyLimits:
    own = limits()
    return replace(own, analysts={**own.analysts, "ana": Limits(Fraction(epsilon), delta)})


def test_limits_of_which_neither_holds_the_other_are_refused(place: Path) -> None:
    """An answer in between could choose which of the two would be spent: what is promised would be neither."""
    opened(place, with_pair(2, Fraction(1, 10**4))).close()
    with opened(place, with_pair(2, Fraction(1, 10**6))) as ledger:  # nothing was granted under the other
        ask(ledger)
    opened(place, with_pair(1, Fraction(1, 10**7))).close()  # less of both
    for other in (with_pair(3, Fraction(1, 10**7)), with_pair(1, Fraction(1, 10**5))):
        with pytest.raises(PolicyError, match=r"analysts: ana was epsilon 2 with delta 1e-06 when answers were given"):
            opened(place, other)
    with opened(place, with_pair(3, Fraction(1, 10**6))) as ledger:  # more of one, as much of the other
        assert ledger.budget("ana").remaining == Fraction(29, 10)
    reset(place, pinned=BASIC, limits=other, reason="new year", mark=place.parent.parent / "marks")
    opened(place, other).close()


def test_an_account_of_her_own_may_not_promise_neither_of_two(place: Path) -> None:
    with opened(place) as ledger:
        ask(ledger, analyst="eve")  # by the shared account: epsilon 1, delta 1e-6
    own = PolicyLimits(limits().total, {**limits().analysts, "eve": Limits(Fraction(2), Fraction(1, 10**7))})
    with pytest.raises(PolicyError, match="analysts: eve was epsilon 1 with delta 1e-06"):
        opened(place, own)


def with_metric(definition: str, multiple: int = 2) -> PolicyLimits:
    own = limits()
    total = replace(own.total, metric={"home": {"age": Fraction(multiple)}})
    return replace(own, total=total, metrics={"home": definition})


def test_a_metric_that_was_spent_keeps_its_meaning(place: Path) -> None:
    with opened(place, with_metric("0.1 a year")) as ledger:
        ask(ledger, MetricLoss("home", {"age": Fraction(1)}))
    opened(place, with_metric("0.1 a year", multiple=3)).close()
    with pytest.raises(PolicyError, match=r"metrics\.home is not what it was .* Give the new one a name of its own"):
        opened(place, with_metric("1 a year"))
    reset(place, pinned=BASIC, limits=with_metric("1 a year"), reason="new", mark=place.parent.parent / "marks")
    opened(place, with_metric("1 a year")).close()


def test_a_metric_that_nobody_spent_may_change(place: Path) -> None:
    opened(place, with_metric("0.1 a year")).close()
    opened(place, with_metric("1 a year")).close()


@pytest.mark.parametrize("lowered", [limits(ana=1), limits(total=1)])
def test_limits_below_what_was_spent_are_refused(place: Path, lowered: PolicyLimits) -> None:
    with opened(place) as ledger:
        ask(ledger, Pure(Fraction(2)))
    with pytest.raises(PolicyError, match=r"allows epsilon 1, but 2 was spent already"):
        opened(place, lowered)
    reset(place, pinned=BASIC, limits=lowered, reason="new year", mark=place.parent.parent / "marks")
    with opened(place, lowered) as ledger:
        assert spent(ledger) == spent(ledger, None) == 0


def test_an_analyst_takes_the_past_along_into_an_account_of_her_own(place: Path) -> None:
    with opened(place) as ledger:
        ask(ledger, analyst="eve")
    own = PolicyLimits(limits().total, {**limits().analysts, "eve": Limits(Fraction(1))})
    with opened(place, own) as ledger:
        assert spent(ledger, "eve") == spent(ledger, "*") == 0.1
        ask(ledger, analyst="eve")
        assert (spent(ledger, "eve"), spent(ledger, "*")) == (0.2, 0.1)
    with opened(place) as ledger:  # and back into the shared one
        assert spent(ledger, "eve") == spent(ledger, "*") == 0.2
        assert spent(ledger, None) == 0.2


def test_a_ledger_whose_limits_another_process_changed_stops(place: Path) -> None:
    with opened(place) as ledger:
        opened(place, limits(ana=1)).close()
        with pytest.raises(LedgerError, match="changed by another process"):
            ask(ledger)
    with opened(place, limits(ana=1)) as ledger:
        assert spent(ledger) == 0


# the owner's commands


def test_a_reset_starts_afresh_and_leaves_a_record(place: Path) -> None:
    marks = place.parent.parent / "marks"
    with opened(place) as ledger:
        ask(ledger)
        ask(ledger, analyst="eve")
    assert reset(place, pinned=BASIC, limits=limits(), reason="ana left", mark=marks, account="ana") == ""
    with opened(place) as ledger:
        assert (spent(ledger), spent(ledger, "eve"), spent(ledger, None)) == (0, 0.1, 0.2)
    assert reset(place, pinned=BASIC, limits=limits(), reason="new year", mark=marks) == ""
    with opened(place) as ledger:
        assert (spent(ledger), spent(ledger, "eve"), spent(ledger, None)) == (0, 0, 0)
        assert [entry.reason for entry in ledger.log() if entry.kind == "reset"] == ["ana left", "new year"]


def test_a_restored_ledger_counts_as_fully_spent_until_the_reset(place: Path) -> None:
    marks, saved = place.parent.parent / "marks", place.parent / "saved.db"
    with opened(place) as ledger:
        identity = ledger.id
        ledger.store(ask(ledger, fingerprint="old"), "old", b"answer")
        ledger.backup(saved)
        ask(ledger)
        with pytest.raises(LedgerError, match="file at"):
            ledger.backup(saved)
    assert stat.S_IMODE(saved.stat().st_mode) == 0o600
    restore(saved, place, reason="disk failed", mark=marks)
    with opened(place) as ledger:
        assert ledger.id == identity
        assert ledger.find("old") == (b"answer", TENTH)
        assert ledger.budget("ana").remaining == ledger.budget(None).remaining == 0
        assert ledger.repeats_left("ana", TENTH) == 0
        with pytest.raises(BudgetExceeded, match="restored from a backup"):
            ask(ledger)
    reset(place, pinned=BASIC, limits=limits(), reason="after the restore", mark=marks)
    with opened(place) as ledger:
        ask(ledger)
        kinds = [entry.kind for entry in ledger.log()]
    assert kinds == ["opening", "charge", "backup", "restore", "reset", "charge"]
    assert [file for file in place.parent.iterdir() if "set-aside" in file.name]


def test_restoring_what_is_no_ledger_leaves_everything_as_it_was(place: Path) -> None:
    marks = place.parent.parent / "marks"
    with opened(place) as ledger:
        ask(ledger)
    (place.parent / "junk").write_bytes(b"no database" * 100)
    for source in (place.parent / "junk", place.parent / "nothing"):
        with pytest.raises(LedgerError):
            restore(source, place, reason="oops", mark=marks)
    with opened(place) as ledger:
        assert spent(ledger) == 0.1


def test_verify_reports_and_leaves_a_record(place: Path) -> None:
    marks = place.parent.parent / "marks"
    assert verify(place, mark=marks).problems == (f"There is no ledger at {place}.",)
    with opened(place) as ledger:
        ledger.store(ask(ledger, fingerprint="f"), "f", b"answer")
    report = verify(place, mark=marks)
    assert (report.records, report.answers, report.problems) == (3, 1, ())
    with opened(place) as ledger:
        assert ledger.log()[-1].kind == "verify"


def test_a_ledger_in_memory_cannot_be_backed_up(memory: Ledger, tmp_path: Path) -> None:
    with pytest.raises(LedgerError, match="in memory"):
        memory.backup(tmp_path / "b.db")


# several users at once


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
        live, replayed = self.ledger._standing, Standing.of(self.ledger._file)
        live.catch_up(self.ledger._file)
        assert replayed.total == live.total
        for name in NAMES:
            assert replayed.spent(name, self.limits) == live.spent(name, self.limits)
            assert replayed.suspended(name) == live.suspended(name)
        assert (replayed.high_water, replayed.version) == (live.high_water, live.version)

    @invariant()
    def the_limits_hold(self) -> None:
        standing = self.ledger._standing
        assert self.ledger._total.shortfall(Account(), standing.total) is None
        for name, granted in self.ledger._filters.items():
            assert granted.shortfall(Account(), standing.spent(name, self.limits)) is None


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
