"""A policy that changes: what may change, on record, and what may not."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import pytest

from dpsql.errors import BudgetExceeded, LedgerError, PolicyError
from dpsql.ledger.ledger import Ledger, Pinned, PolicyLimits
from dpsql.ledger.owner import reset
from dpsql.privacy.accounting import Limits
from dpsql.privacy.kinds import Approximate, MetricLoss, Pure
from tests.unit.ledger.accounts import BASIC, ask, limits, opened, spent


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


def test_a_metric_that_was_spent_goes_by_the_values_that_it_went_by(place: Path) -> None:
    own, other = {"home": "a, b"}, {"home": "b, a"}
    with opened(place, with_metric("matrix")) as old, opened(place, with_metric("matrix")) as new:
        new.refuse_relisted(other)  # nothing was spent yet
        old.charge("ana", MetricLoss("home", {"age": Fraction(1, 2)}), statement="s", fingerprint="1", listed=own)
        spent = new.budget("ana")
        for ledger in (old, new):  # of whichever process
            with pytest.raises(PolicyError, match=r"metrics\.home goes by the places of values .* Nothing was charged"):
                ledger.charge(
                    "ana", MetricLoss("home", {"age": Fraction(1, 2)}), statement="s", fingerprint="2", listed=other
                )
        with pytest.raises(PolicyError, match=r"metrics\.home goes by the places"):
            new.refuse_relisted(other)
        assert new.budget("ana") == spent
        new.charge("ana", Pure(Fraction(1, 8)), statement="s", fingerprint="3", listed=other)  # of no metric
        new.charge("ana", MetricLoss("home", {"age": Fraction(1, 2)}), statement="s", fingerprint="4", listed=own)
    reset(place, pinned=BASIC, limits=with_metric("matrix"), reason="new", mark=place.parent.parent / "marks")
    with opened(place, with_metric("matrix")) as ledger:
        ledger.charge("ana", MetricLoss("home", {"age": Fraction(1)}), statement="s", fingerprint="5", listed=other)


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


def named(name: str, epsilon: int | Fraction = 1, delta: Fraction = Fraction(1, 10**6)) -> PolicyLimits:
    return PolicyLimits(limits().total, {**limits().analysts, name: Limits(Fraction(epsilon), delta)})


def test_a_name_that_leaves_the_shared_account_begins_with_all_that_it_has_spent(place: Path) -> None:
    with opened(place) as ledger:
        ask(ledger, analyst="eve")
        ask(ledger, analyst="mallory")
    with opened(place, named("eve")) as ledger:
        assert spent(ledger, "eve") == spent(ledger, "*") == 0.2
        ask(ledger, analyst="eve")
        assert (spent(ledger, "eve"), spent(ledger, "*"), spent(ledger, None)) == (0.3, 0.2, 0.3)
    with opened(place) as ledger:  # and back into the shared one
        assert spent(ledger, "eve") == spent(ledger, "*") == 0.3
        ask(ledger, analyst="mallory")
    with opened(place, named("eve")) as ledger:  # which she leaves again: nothing counts twice
        assert (spent(ledger, "eve"), spent(ledger, "*"), spent(ledger, None)) == (0.4, 0.3, 0.4)
        assert spent(ledger, "ana") == 0


def test_a_name_that_never_asked_begins_with_what_the_shared_account_spent_even_after_that_is_gone(place: Path) -> None:
    with opened(place) as ledger:
        ask(ledger, analyst="mallory")
    opened(place, limits(others=None)).close()
    without = PolicyLimits(limits().total, {name: own for name, own in named("zoe").analysts.items() if name != "*"})
    with opened(place, without) as ledger:
        assert (spent(ledger, "zoe"), spent(ledger, "ana")) == (0.1, 0)


def test_names_where_nobody_shares_an_account_begin_with_nothing(place: Path) -> None:
    with opened(place, limits(others=None)) as ledger:
        ask(ledger)
    without = PolicyLimits(limits().total, {"zoe": Limits(Fraction(1)), **limits(others=None).analysts})
    with opened(place, without) as ledger:
        assert (spent(ledger, "zoe"), spent(ledger, "ana")) == (0, 0.1)


def test_a_name_that_leaves_with_less_than_was_spent_or_another_promise_is_refused(place: Path) -> None:
    with opened(place) as ledger:
        ask(ledger, Pure(Fraction(1, 2)), analyst="mallory")
    with pytest.raises(PolicyError, match=r"eve allows epsilon 0.25, but 0.5 was spent already, by \"\*\", with which"):
        opened(place, named("eve", Fraction(1, 4)))
    with pytest.raises(PolicyError, match=r"analysts: eve was epsilon 1 with delta 1e-06 when answers were given"):
        opened(place, named("eve", Fraction(3, 4), Fraction(1, 10**5)))
    with opened(place, named("eve", 2)) as ledger:
        assert spent(ledger, "eve") == 0.5


def test_new_limits_are_adopted_on_record_and_those_below_what_was_spent_are_not(place: Path) -> None:
    with opened(place) as ledger:
        for _ in range(20):
            ask(ledger)
        with pytest.raises(BudgetExceeded):
            ask(ledger)
        ledger.adopt(limits(ana=3))
        ask(ledger)
        with pytest.raises(PolicyError):
            ledger.adopt(limits(ana=2))
        ask(ledger)
        ledger.adopt(limits(ana=3))
        assert [entry.kind for entry in ledger.log()].count("limits") == 1
    with opened(place, limits(ana=3)) as ledger:
        assert spent(ledger) == 2.2
    with pytest.raises(PolicyError):
        opened(place, limits(ana=2))


def test_a_ledger_goes_on_once_it_adopts_what_another_process_put_on_record(place: Path) -> None:
    with opened(place) as ledger:
        opened(place, limits(ana=1)).close()
        for _ in range(2):
            with pytest.raises(LedgerError, match="changed by another process"):
                ask(ledger)
        ledger.adopt(limits(ana=1))
        for _ in range(10):
            ask(ledger)
        with pytest.raises(BudgetExceeded):
            ask(ledger)
        assert [entry.kind for entry in ledger.log()].count("limits") == 1


def test_limits_that_meet_a_ledger_in_use_are_adopted_later(place: Path) -> None:
    with opened(place) as ledger, closing(sqlite3.connect(place, isolation_level=None)) as other:
        ledger._file._sql.execute("PRAGMA busy_timeout = 0")
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(LedgerError, match="locked"):
            ledger.adopt(limits(ana=1))
        other.execute("ROLLBACK")
        for _ in range(11):
            ask(ledger)  # under those of before
        with pytest.raises(PolicyError):
            ledger.adopt(limits(ana=1))
        ledger.adopt(limits(ana=3))
        for _ in range(19):
            ask(ledger)
        with pytest.raises(BudgetExceeded):
            ask(ledger)


def test_under_zcdp_a_refusal_says_that_a_quarter_of_delta_pays() -> None:
    own = PolicyLimits(Limits(Fraction(2), Fraction(1, 10**5)), {"ana": Limits(Fraction(2), Fraction(1, 10**5))})
    with Ledger.open(None, pinned=replace(BASIC, composition="zcdp"), limits=own) as ledger:
        assert ledger.budget("ana").delta_left == Fraction(25, 10**7)
        ask(ledger, Approximate(Fraction(1, 10), Fraction(2, 10**6)))
        assert ledger.budget("ana").delta_left == Fraction(5, 10**7)
        with pytest.raises(BudgetExceeded) as refusal:
            ask(ledger, Approximate(Fraction(1, 10), Fraction(1, 10**6)))
        ask(ledger, Approximate(Fraction(1, 10), Fraction(5, 10**7)))  # as the refusal says
    assert str(refusal.value) == (
        "This query costs delta 1e-6; analyst 'ana' has 5e-7 of 2.5e-6 left for unit 'patient_id'. Nothing was read. "
        "Of the delta 1e-5 of the policy, a quarter pays for queries. Ask again with delta = 5e-7 or less."
    )
