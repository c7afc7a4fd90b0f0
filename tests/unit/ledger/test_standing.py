"""How much of the accounts is used, now and over time."""

from __future__ import annotations

from fractions import Fraction

import pytest

from dpsql.errors import BudgetExceeded
from dpsql.ledger.ledger import Ledger, Pinned
from dpsql.ledger.standing import POINTS, Standing
from dpsql.privacy.accounting import Limits, PolicyLimits
from dpsql.privacy.kinds import Pure

LIMITS = PolicyLimits(Limits(Fraction(10)), {"ana": Limits(Fraction(4)), "*": Limits(Fraction(1))})


@pytest.fixture
def ledger() -> Ledger:
    return Ledger.open(None, pinned=Pinned("person", "add_remove", "basic"), limits=LIMITS)


def charged(ledger: Ledger, analyst: str, epsilon: Fraction) -> None:
    ledger.charge(analyst, Pure(epsilon), statement="SELECT", fingerprint="f")


def test_what_a_charge_to_everybody_would_leave(ledger: Ledger) -> None:
    charged(ledger, "ana", Fraction(2))
    left = Standing(ledger).after(Pure(Fraction(3, 2)))
    assert [(one.account, one.epsilon, int(one.limit)) for one in left] == [
        ("", Fraction(13, 2), 10),
        ("ana", Fraction(1, 2), 4),
        ("*", None, 1),
    ]


def test_shares_of_the_own_account_and_of_the_total(ledger: Ledger) -> None:
    charged(ledger, "ana", Fraction(2))
    charged(ledger, "bob", Fraction(1, 2))
    use = Standing(ledger).use("bob")()
    assert (use.account, use.own, use.total) == ("*", Fraction(1, 2), Fraction(1, 4))
    assert Standing(ledger).now().accounts == {"ana": Fraction(1, 2), "*": Fraction(1, 2)}


def test_the_use_is_that_of_the_moment_whenever_it_is_worked_out(ledger: Ledger) -> None:
    then = Standing(ledger).use("ana")
    charged(ledger, "ana", Fraction(2))
    assert (then().own, Standing(ledger).use("ana")().own) == (Fraction(0), Fraction(1, 2))


def test_what_cannot_be_paid_is_refused_without_a_charge(ledger: Ledger) -> None:
    standing = Standing(ledger)
    standing.refuse_unpayable("ana", Pure(Fraction(4)))
    with pytest.raises(BudgetExceeded):
        standing.refuse_unpayable("ana", Pure(Fraction(5)))
    assert standing.use("ana")().own == 0


def test_the_limits_are_those_in_force_whenever_it_is_asked(ledger: Ledger) -> None:
    standing = Standing(ledger)
    charged(ledger, "ana", Fraction(2))
    ledger.adopt(
        PolicyLimits(Limits(Fraction(20)), {**LIMITS.analysts, "ana": Limits(Fraction(8)), "cleo": Limits(Fraction(2))})
    )
    use = standing.use("ana")()
    assert (use.own, use.total) == (Fraction(1, 4), Fraction(1, 10))
    assert standing.use("cleo")().own == 0
    assert standing.now().accounts == {"ana": Fraction(1, 4), "*": 0, "cleo": 0}
    assert [moment.accounts["ana"] for moment in standing.history()] == [Fraction(1, 4)]
    assert {left.account: left.limit for left in standing.after(Pure(Fraction(1)))}["cleo"] == 2


def test_history_is_what_the_accounts_were(ledger: Ledger) -> None:
    for step in range(4):
        charged(ledger, "ana", Fraction(1))
        assert [moment.accounts["ana"] for moment in Standing(ledger).history()] == [
            Fraction(count, 4) for count in range(1, step + 2)
        ]


def test_a_long_history_is_thinned_and_keeps_its_ends(ledger: Ledger) -> None:
    for _ in range(POINTS + 57):
        charged(ledger, "ana", Fraction(1, 1000))
    history = Standing(ledger).history()
    assert len(history) == POINTS
    assert [history[place].accounts["ana"] * 4000 for place in (0, -1)] == [1, POINTS + 57]
