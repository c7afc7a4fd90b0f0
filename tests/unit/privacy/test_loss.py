"""The algebra of losses."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpsql.errors import InvariantBroken, LedgerError, UnsupportedQuery
from dpsql.privacy.account import DELTA_UNIT, UNIT, Account, Composition, readable, units
from dpsql.privacy.kinds import Approximate, Concentrated, Free, Loss, MetricLoss, PerClass, Pure, RandomDPLoss
from dpsql.privacy.loss import Composed, PrivacyLoss, decode, encode, summary

HALF = Fraction(1, 2)
TINY = Fraction(1, 10**6)
COMPOSITIONS: tuple[Composition, ...] = ("basic", "zcdp")

amounts = st.fractions(min_value=Fraction(1, 10**9), max_value=20, max_denominator=10**9)
shares = st.fractions(min_value=Fraction(1, 10**9), max_value=Fraction(1, 2), max_denominator=10**9)
names = st.text(max_size=4)
simple: st.SearchStrategy[Loss] = st.one_of(
    st.builds(Free, st.sampled_from(["public", "replayed"])),
    st.builds(Pure, amounts, st.none() | amounts),
    st.builds(Approximate, amounts, shares, st.none() | amounts),
    st.builds(Concentrated, amounts, amounts, shares),
    st.builds(Concentrated, amounts, amounts, st.just(Fraction(3, 4)), shares),
    st.builds(RandomDPLoss, amounts, shares, st.sampled_from(["city", "sex"]), st.integers(1, 2)),
    st.builds(MetricLoss, names, st.dictionaries(names, amounts, min_size=1, max_size=3)),
    st.builds(PerClass, st.fixed_dictionaries({"strict": amounts, "normal": amounts})),
)
losses: st.SearchStrategy[Loss] = st.recursive(
    simple, lambda part: st.builds(Composed, st.lists(part, max_size=3).map(tuple), st.integers(1, 3)), max_leaves=5
)


@given(losses)
def test_a_loss_survives_json(loss: Loss) -> None:
    assert decode(json.loads(json.dumps(encode(loss)))) == loss


@settings(max_examples=40)
@given(losses, st.integers(1, 5), st.sampled_from(COMPOSITIONS))
def test_count_is_the_same_as_composing_that_often(loss: Loss, count: int, composition: Composition) -> None:
    account = loss.account(composition)
    added = account
    for _ in range(count - 1):
        added += account
    assert Composed((loss,), count=count).account(composition) == added
    assert Composed((loss,) * count).account(composition) == added


@settings(max_examples=40)
@given(losses, losses, losses)
def test_the_order_of_composition_does_not_matter(a: Loss, b: Loss, c: Loss) -> None:
    assert (a.priced() + b.priced()) + c.priced() == c.priced() + (b.priced() + a.priced())


@given(amounts)
def test_what_is_printed_is_never_below_the_loss(epsilon: Fraction) -> None:
    printed = summary(Pure(epsilon), "zcdp").epsilon
    assert epsilon <= Fraction(repr(printed)) <= epsilon + 2 * UNIT


@given(amounts)
def test_the_rho_of_a_pure_loss_is_at_least_that_of_randomised_response(epsilon: Fraction) -> None:
    rho = Pure(epsilon).priced().rho * UNIT
    assert float(rho) >= float(epsilon) * math.tanh(float(epsilon) / 2) * (1 - 1e-14)
    assert rho <= epsilon**2 / 2 + UNIT


def test_a_price_shows_as_it_was_asked() -> None:
    assert repr(summary(Pure(HALF), "zcdp")) == (
        "PrivacyLoss(epsilon=0.5, delta=0, rho=None, gamma=0, metric={}, classes={})"
    )
    assert summary(Approximate(Fraction(3, 10), TINY), "zcdp") == PrivacyLoss(epsilon=0.3, delta=1e-6)
    assert summary(Concentrated(Fraction(1, 50), HALF, TINY), "zcdp") == PrivacyLoss(epsilon=0.5, delta=1e-6, rho=0.02)
    assert summary(Concentrated(Fraction(1, 50), HALF, TINY), "basic") == PrivacyLoss(epsilon=0.5, delta=1e-6)
    assert summary(Concentrated(Fraction(1, 50)), "zcdp") == PrivacyLoss(epsilon=math.inf, rho=0.02)
    assert summary(RandomDPLoss(HALF, Fraction(1, 100), "city", 1), "zcdp") == PrivacyLoss(epsilon=0.5, gamma=0.01)
    assert summary(MetricLoss("home", {"age": HALF, "presence": HALF}), "zcdp") == PrivacyLoss(
        metric={"home": {"age": 0.5, "presence": 0.5}}
    )
    assert summary(MetricLoss("home", {"": HALF}), "zcdp") == PrivacyLoss(metric={"home": 0.5})
    assert summary(Free("public"), "zcdp") == PrivacyLoss()


def test_a_class_shows_what_its_units_lose_beside_everybody() -> None:
    loss = Composed((Pure(Fraction(1, 4)), PerClass({"strict": Fraction(1, 8), "normal": HALF})))
    assert summary(loss, "zcdp") == PrivacyLoss(epsilon=0.75, classes={"strict": 0.375, "normal": 0.75})


def test_a_loss_that_is_the_same_for_all_is_shown_for_each_class() -> None:
    assert summary(Pure(HALF), "zcdp", ["strict", "normal"]) == PrivacyLoss(0.5, classes={"strict": 0.5, "normal": 0.5})


def test_a_third_is_charged_rounded_up() -> None:
    assert units(Fraction(1, 3)) * UNIT > Fraction(1, 3)
    assert readable(Account(epsilon=1, delta=1), rho=False, classes={}) == PrivacyLoss(epsilon=1e-12, delta=1e-18)


def test_a_gaussian_is_charged_the_pair_it_was_priced_for_beside_rho() -> None:
    for composition in COMPOSITIONS:
        account = Concentrated(Fraction(1, 50), HALF, TINY).account(composition)
        assert (account.epsilon, account.delta) == (units(HALF), units(TINY, DELTA_UNIT))
        assert (account.rho, account.outside) == (units(Fraction(1, 50)), 0)
    alone = Concentrated(Fraction(1, 50)).account("zcdp")
    assert (alone.epsilon, alone.delta, alone.rho) == (None, 0, units(Fraction(1, 50)))


def test_what_rho_does_not_cover_is_added_up_as_delta() -> None:
    alone = Concentrated(Fraction(1, 50), outside=TINY)
    assert (alone.account("zcdp").delta, alone.account("zcdp").rho) == (units(TINY, DELTA_UNIT), units(Fraction(1, 50)))
    priced = Concentrated(Fraction(1, 50), HALF, 2 * TINY, outside=TINY)
    assert priced.account("zcdp").delta == units(2 * TINY, DELTA_UNIT)
    assert priced.account("zcdp").outside == units(TINY, DELTA_UNIT)
    with pytest.raises(InvariantBroken, match="must cover what is outside"):
        Concentrated(Fraction(1, 50), HALF, TINY, outside=TINY)


def test_a_price_in_rho_alone_cannot_enter_a_basic_ledger() -> None:
    with pytest.raises(UnsupportedQuery, match="Price the statement by epsilon and delta"):
        Composed((Pure(HALF), Concentrated(HALF))).account("basic")


def test_a_proved_rho_is_used_only_where_it_is_less() -> None:
    assert Pure(HALF, rho=HALF**2 / 8).priced().rho == HALF**2 / 8 / UNIT
    assert Pure(HALF, rho=Fraction(9)).priced().rho == Pure(HALF).priced().rho


def test_gamma_is_one_bad_event_however_often_it_is_used() -> None:
    loss = RandomDPLoss(HALF, Fraction(1, 100), "city", 1)
    both = Composed((loss, loss, replace(loss, version=2), replace(loss, partition="sex"))).priced()
    assert sum(both.gamma.values()) * UNIT == Fraction(3, 100)
    assert both.epsilon == 2 / UNIT


def test_per_class_losses_of_different_classes_are_not_added() -> None:
    with pytest.raises(InvariantBroken, match="different classes"):
        Composed((PerClass({"strict": HALF}), PerClass({"normal": HALF}))).priced()


@pytest.mark.parametrize("wrong", [Fraction(0), Fraction(-1), 0.5, 1, "1", None])
def test_an_amount_is_an_exact_fraction_above_zero(wrong: Any) -> None:
    with pytest.raises((InvariantBroken, TypeError)):
        Pure(wrong).priced()


@pytest.mark.parametrize(
    "make",
    [
        lambda: Approximate(HALF, Fraction(1)),
        lambda: Concentrated(HALF, epsilon=HALF),
        lambda: Concentrated(HALF, epsilon=HALF, delta=Fraction(2)),
        lambda: RandomDPLoss(HALF, Fraction(1), "city", 1),
        lambda: RandomDPLoss(HALF, TINY, "city", 0),
        lambda: MetricLoss("home", {}),
        lambda: MetricLoss("home", {"age": Fraction(0)}),
        lambda: PerClass({}),
        lambda: Composed((Pure(HALF),), count=0),
        lambda: Free("cheap"),  # type: ignore[arg-type]  # the point of the test
    ],
)
def test_a_senseless_loss_cannot_be_made(make: Any) -> None:
    with pytest.raises(InvariantBroken):
        make()


@pytest.mark.parametrize(
    "data",
    [
        {},
        {"kind": "renyi", "epsilon": "1/2"},
        {"kind": ["pure"], "epsilon": "1/2"},
        {"kind": "pure"},
        {"kind": "pure", "epsilon": "1/2", "tau": "1"},
        {"kind": "pure", "epsilon": 0.5},
        {"kind": "pure", "epsilon": "0.5"},
        {"kind": "pure", "epsilon": "-1/2"},
        {"kind": "pure", "epsilon": "1/0"},
        {"kind": "pure", "epsilon": "0"},
        {"kind": "random_dp", "epsilon": "1", "gamma": "1/9", "partition": "city"},
        {"kind": "random_dp", "epsilon": "1", "gamma": "1/9", "partition": "city", "version": 1.0},
        {"kind": "metric", "name": "home", "multiples": {"age": "x"}},
        {"kind": "metric", "name": "home", "multiples": ["age"]},
        {"kind": "composed", "parts": [{"kind": "free"}], "count": 1},
        {"kind": "composed", "parts": [], "count": True},
    ],
)
def test_what_is_no_loss_is_refused(data: dict[str, Any]) -> None:
    with pytest.raises(LedgerError, match="no loss that this version"):
        decode(data)


def test_losses_that_hold_several_numbers_are_keys_as_others_are() -> None:
    one, two = ({"a": Fraction(1), "b": Fraction(2)}, {"b": Fraction(2), "a": Fraction(1)})
    assert len({PerClass(one), PerClass(two), MetricLoss("m", one), MetricLoss("m", two)}) == 2
    assert len({PerClass(one), PerClass({"a": Fraction(1)}), MetricLoss("m", one), MetricLoss("n", one)}) == 4
