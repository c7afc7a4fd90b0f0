"""Conversions and filters."""

from __future__ import annotations

import math
from dataclasses import replace
from decimal import Decimal, localcontext
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from dp_accounting.rdp import rdp_privacy_accountant
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import norm

from dpsql.errors import InvariantBroken
from dpsql.privacy.account import DELTA_UNIT, UNIT, Account, Composition
from dpsql.privacy.accounting import (
    Limits,
    PolicyLimits,
    PrivacyFilter,
    Zcdp,
    epsilon_of_rho,
    pure_epsilon_of_rho,
    rho_of_epsilon,
    rho_of_pure,
)
from dpsql.privacy.conversions import _order_for
from dpsql.privacy.kinds import Approximate, Concentrated, Free, Loss, MetricLoss, PerClass, Pure, RandomDPLoss
from dpsql.privacy.loss import Composed

ONE = Fraction(1)
MILLIONTH = Fraction(1, 10**6)

epsilons = st.fractions(min_value=Fraction(1, 1000), max_value=30, max_denominator=10**6)
deltas = st.integers(1, 12).map(lambda digits: Fraction(1, 10**digits))
compositions: st.SearchStrategy[Composition] = st.sampled_from(["basic", "zcdp"])
losses: st.SearchStrategy[Loss] = st.one_of(
    st.builds(Pure, epsilons),
    st.builds(Approximate, epsilons, deltas),
    st.builds(Concentrated, epsilons, epsilons, deltas),
)


def granted(budget: PrivacyFilter, spent: Account, loss: Loss, composition: Composition) -> bool:
    return budget.shortfall(spent, loss.account(composition)) is None


def spend(budget: PrivacyFilter, wishes: list[Loss], composition: Composition) -> Account:
    spent = Account()
    for loss in wishes:
        if granted(budget, spent, loss, composition):
            spent += loss.account(composition)
    return spent


@given(st.fractions(min_value=Fraction(1, 10**12), max_value=200, max_denominator=10**12))
def test_rho_of_a_pure_loss_encloses_the_exact_value_from_above(epsilon: Fraction) -> None:
    with localcontext() as context:
        context.prec = 110
        x = Decimal(epsilon.numerator) / Decimal(epsilon.denominator)
        exact = Fraction(x * (1 - (-x).exp()) / (1 + (-x).exp()))
    assert exact <= rho_of_pure(epsilon) <= exact * (1 + Fraction(1, 10**38))


@given(st.fractions(min_value=0, max_value=50, max_denominator=10**12))
@settings(max_examples=20)
def test_pure_epsilon_of_rho_is_the_largest(rho: Fraction) -> None:
    epsilon = pure_epsilon_of_rho(rho)
    assert math.ceil(rho_of_pure(epsilon) / UNIT) * UNIT <= rho
    assert math.ceil(rho_of_pure(epsilon + UNIT) / UNIT) * UNIT > rho


@pytest.mark.every(3)
@pytest.mark.parametrize("rho", [1e-6, 1e-3, 0.1, 1.0, 10.0])
@pytest.mark.parametrize("delta", [1e-12, 1e-6, 1e-2])
def test_epsilon_of_rho_agrees_with_dp_accounting(rho: float, delta: float) -> None:
    ours = float(epsilon_of_rho(Fraction(rho), Fraction(delta)))
    orders = 1 + np.geomspace(1e-4, 1e8, 40_000)
    theirs, _ = rdp_privacy_accountant.compute_epsilon(orders, orders * rho, delta)
    assert ours == pytest.approx(theirs, rel=1e-4)


@given(epsilons, deltas)
@settings(max_examples=20)
def test_rho_of_epsilon_is_safe_and_tight(epsilon: Fraction, delta: Fraction) -> None:
    rho = rho_of_epsilon(epsilon, delta)
    assert epsilon_of_rho(rho, delta) <= epsilon * (1 + Fraction(1, 10**12))
    assert epsilon_of_rho(rho * Fraction(1001, 1000), delta) > epsilon


@given(epsilons, deltas)
@settings(max_examples=20)
def test_the_best_order_is_the_one_that_prices_in_the_ledger_were_made_with(epsilon: Fraction, delta: Fraction) -> None:
    def value(log_excess: float) -> float:
        excess = math.exp(log_excess)
        log_delta = math.log(delta.numerator) - math.log(delta.denominator)
        gap = (-log_delta - excess * math.log1p(1 / excess) - math.log1p(excess)) / excess
        return (gap - float(epsilon)) / (1 + excess)

    best = min((0.25 * k for k in range(-80, 121)), key=value)
    low, high = best - 0.25, best + 0.25
    for _ in range(60):
        left, right = low + (high - low) / 3, high - (high - low) / 3
        low, high = (low, right) if value(left) <= value(right) else (left, high)
    assert _order_for(epsilon, delta) == 1 + Fraction(math.exp((low + high) / 2))


@given(epsilons, deltas)
@settings(max_examples=20)
def test_a_gaussian_that_fills_rho_keeps_the_promise(epsilon: Fraction, delta: Fraction) -> None:
    bound = Zcdp.of(epsilon, delta)
    shift, e = math.sqrt(2 * bound.rho * UNIT), float(epsilon)
    if shift > 0:
        # Balle and Wang 2018, Thm 5: the exact delta of a Gaussian with this shift in standard deviations.
        exact = norm.cdf(shift / 2 - e / shift) - math.exp(e + norm.logcdf(-shift / 2 - e / shift))
        assert exact <= bound.conversion_delta


def test_without_delta_no_rho_has_a_finite_epsilon() -> None:
    assert rho_of_epsilon(ONE, Fraction(0)) == 0
    budget = PrivacyFilter.of(Limits(epsilon=ONE), "zcdp")
    assert not granted(budget, Account(), Concentrated(Fraction(1, 10**6)), "zcdp")
    assert granted(budget, Account(), Pure(ONE), "zcdp")
    assert not granted(budget, Account(), Approximate(ONE, Fraction(1, 10**18)), "zcdp")


@given(epsilons, deltas, st.lists(losses, max_size=8), compositions)
@settings(max_examples=20)
def test_remaining_is_exactly_the_largest_pure_epsilon(
    epsilon: Fraction, delta: Fraction, wishes: list[Loss], composition: Composition
) -> None:
    budget = PrivacyFilter.of(Limits(epsilon, delta), composition)
    spent = spend(budget, wishes, composition)
    rest = budget.remaining(spent)
    assert rest == 0 or granted(budget, spent, Pure(rest), composition)
    assert not granted(budget, spent, Pure(rest + UNIT), composition)


@given(epsilons, deltas, st.lists(losses, max_size=4), losses, compositions)
@settings(max_examples=20)
def test_repeats_left_is_exactly_how_often_it_is_granted(
    epsilon: Fraction, delta: Fraction, wishes: list[Loss], loss: Loss, composition: Composition
) -> None:
    budget = PrivacyFilter.of(Limits(epsilon, delta), composition)
    spent = spend(budget, wishes, composition)
    count = budget.repeats_left(spent, loss.account(composition))
    assert count is not None
    if count:
        assert granted(budget, spent, Composed((loss,), count=count), composition)
    assert not granted(budget, spent, Composed((loss,), count=count + 1), composition)


def test_what_is_free_can_be_repeated_for_ever() -> None:
    assert PrivacyFilter.of(Limits(ONE), "basic").repeats_left(Account(), Free("public").account("basic")) is None


@given(epsilons, deltas, st.lists(losses, max_size=12))
@settings(max_examples=20)
def test_zcdp_never_grants_less_than_basic_with_a_quarter_of_the_delta(
    epsilon: Fraction, delta: Fraction, wishes: list[Loss]
) -> None:
    pure = [loss for loss in wishes if not isinstance(loss, Concentrated)]
    quarter = PrivacyFilter.of(Limits(epsilon, delta / 4), "basic")
    spent = spend(quarter, pure, "basic")
    assert PrivacyFilter.of(Limits(epsilon, delta), "zcdp").shortfall(Account(), spent) is None


@given(epsilons, deltas, st.lists(losses, max_size=12))
@settings(max_examples=20)
def test_granted_charges_stay_within_the_limits(epsilon: Fraction, delta: Fraction, wishes: list[Loss]) -> None:
    basic = spend(PrivacyFilter.of(Limits(epsilon, delta), "basic"), wishes, "basic")
    assert basic.epsilon is not None
    assert basic.epsilon * UNIT <= epsilon
    assert basic.delta * DELTA_UNIT <= delta
    zcdp = spend(PrivacyFilter.of(Limits(epsilon, delta), "zcdp"), wishes, "zcdp")
    room = delta / 4
    by_epsilon = zcdp.epsilon is not None and zcdp.epsilon * UNIT <= epsilon and zcdp.delta * DELTA_UNIT <= room
    by_rho = zcdp.rho * UNIT <= rho_of_epsilon(epsilon, delta / 2) and zcdp.outside * DELTA_UNIT <= room
    assert by_epsilon or by_rho


def old_rule_grants(bound: Zcdp, granted: list[Loss]) -> bool:
    """The rule with one sum of delta, by which a Gaussian, with whatever pair, had no finite epsilon."""
    spent = Account()
    for loss in granted:
        spent += replace(loss, epsilon=None, delta=None).priced() if isinstance(loss, Concentrated) else loss.priced()
    return spent.delta <= bound.delta and (
        spent.rho <= bound.rho or (spent.epsilon is not None and spent.epsilon <= bound.epsilon)
    )


@given(epsilons, deltas, st.lists(losses | st.builds(Concentrated, epsilons), max_size=6))
def test_what_the_rule_with_one_sum_of_delta_granted_is_granted(
    epsilon: Fraction, delta: Fraction, wishes: list[Loss]
) -> None:
    bound = Zcdp.of(epsilon, delta)
    small: list[Loss] = []
    for loss in wishes:
        if old_rule_grants(bound, [*small, loss]):
            small.append(loss)
    assert bound.grants(Composed(tuple(small)).priced())


@pytest.mark.parametrize(("price", "times"), [(Fraction(1, 2), 16), (ONE, 8), (Fraction(2), 4), (Fraction(4), 2)])
def test_a_small_gaussian_leaves_the_sum_of_epsilon_open(price: Fraction, times: int) -> None:
    budget = PrivacyFilter.of(Limits(8 + Fraction(1, 100), MILLIONTH), "zcdp")
    gaussian = Concentrated(Fraction(1, 10**6), Fraction(1, 100), Fraction(1, 10**9)).account("zcdp")
    assert budget.repeats_left(gaussian, Pure(price).account("zcdp")) == times


def test_a_price_in_rho_alone_closes_the_sum_of_epsilon() -> None:
    budget = PrivacyFilter.of(Limits(Fraction(8), MILLIONTH), "zcdp")
    assert budget.repeats_left(Concentrated(UNIT).account("zcdp"), Pure(ONE).account("zcdp")) == 2


def test_gaussians_beyond_the_sum_of_delta_go_on_by_rho() -> None:
    budget = PrivacyFilter.of(Limits(ONE, MILLIONTH), "zcdp")
    gaussian = Concentrated(Fraction(1, 10**4), Fraction(1, 100), Fraction(1, 10**7)).account("zcdp")
    assert budget.repeats_left(Account(), gaussian) == 229  # rho 0.0229; delta sums to 23 times the limit
    spent = gaussian.times(229)
    proved = budget.plain.proved(spent)
    assert proved.delta == 0
    assert proved.epsilon is not None
    assert proved.epsilon * UNIT <= 1


@given(epsilons, deltas, st.lists(losses, max_size=6), losses, compositions)
@settings(max_examples=20)
def test_a_shortfall_needs_more_than_remains(
    epsilon: Fraction, delta: Fraction, wishes: list[Loss], loss: Loss, composition: Composition
) -> None:
    budget = PrivacyFilter.of(Limits(epsilon, delta), composition)
    short = budget.shortfall(spend(budget, wishes, composition), loss.account(composition))
    assert short is None or short.needed > short.remaining


@given(st.lists(st.tuples(st.booleans(), losses), max_size=12))
def test_under_basic_the_total_never_decides_where_the_limits_add_up_to_it(asked: list[tuple[bool, Loss]]) -> None:
    own, total = (PrivacyFilter.of(Limits(epsilon, epsilon / 100), "basic") for epsilon in (Fraction(4), Fraction(8)))
    spent = {False: Account(), True: Account()}
    for who, loss in asked:
        together = spent[False] + spent[True]
        assert own.remaining(spent[who]) <= total.remaining(together)
        if granted(own, spent[who], loss, "basic"):
            assert granted(total, together, loss, "basic")
            spent[who] += loss.account("basic")


def test_under_zcdp_the_total_may_decide_although_the_limits_add_up_to_it() -> None:
    own, total = (
        PrivacyFilter.of(Limits(epsilon, delta), "zcdp")
        for epsilon, delta in ((Fraction(4), MILLIONTH), (Fraction(8), 2 * MILLIONTH))
    )
    by_epsilon, by_rho = Pure(Fraction(4)).account("zcdp"), Pure(Fraction(1, 20)).account("zcdp").times(150)
    assert own.shortfall(Account(), by_epsilon) is own.shortfall(Account(), by_rho) is None
    assert total.shortfall(by_epsilon, by_rho) is not None


def test_many_small_pure_losses_cost_less_under_zcdp() -> None:
    small = Pure(Fraction(1, 100))
    limits = Limits(ONE, MILLIONTH)
    assert PrivacyFilter.of(limits, "basic").repeats_left(Account(), small.account("basic")) == 100
    assert PrivacyFilter.of(limits, "zcdp").repeats_left(Account(), small.account("zcdp")) == 458


def test_a_shortfall_names_the_quantity_that_lacks() -> None:
    budget = PrivacyFilter.of(Limits(ONE, MILLIONTH), "zcdp")

    def lacks(loss: Loss) -> str:
        short = budget.shortfall(Account(), loss.account("zcdp"))
        assert short is not None
        assert short.needed > short.remaining
        return short.quantity

    assert lacks(Pure(Fraction(2))) == "epsilon"
    assert lacks(Concentrated(ONE)) == "rho"
    assert lacks(Approximate(ONE, MILLIONTH)) == "delta"
    short = budget.shortfall(Account(), Approximate(ONE, MILLIONTH).account("zcdp"))
    assert short is not None
    assert (short.limit, short.declared) == (MILLIONTH / 4, MILLIONTH)  # what pays for queries, and what it is part of
    assert lacks(MetricLoss("home", {"age": ONE})) == "metric home.age"
    assert lacks(MetricLoss("home", {"": ONE})) == "metric home"
    assert lacks(RandomDPLoss(ONE, MILLIONTH, "city", 1)) == "gamma"
    assert lacks(PerClass({"strict": ONE})) == "epsilon of class strict"


def test_a_metric_has_a_limit_for_each_attribute() -> None:
    budget = PrivacyFilter.of(Limits(ONE, metric={"home": {"age": Fraction(2), "sex": ONE}}), "basic")
    spent = MetricLoss("home", {"age": ONE, "sex": ONE}).account("basic")
    assert budget.shortfall(Account(), spent) is None
    assert granted(budget, spent, MetricLoss("home", {"age": ONE}), "basic")
    assert not granted(budget, spent, MetricLoss("home", {"sex": UNIT}), "basic")
    assert not granted(budget, spent, MetricLoss("work", {"age": UNIT}), "basic")


def test_gamma_once_paid_is_not_asked_again() -> None:
    budget = PrivacyFilter.of(Limits(ONE, gamma=Fraction(1, 100)), "basic")
    loss = RandomDPLoss(Fraction(1, 10), Fraction(1, 100), "city", 1)
    assert granted(budget, loss.account("basic"), loss, "basic")
    assert not granted(budget, loss.account("basic"), RandomDPLoss(Fraction(1, 10), UNIT, "city", 2), "basic")


SHARES = {"strict": Fraction(1, 4), "normal": ONE}


def of_classes(price: Fraction) -> PerClass:
    return PerClass({name: share * price for name, share in SHARES.items()})


@pytest.mark.parametrize("composition", ["basic", "zcdp"])
def test_each_class_has_a_filter_of_its_own(composition: Composition) -> None:
    budget = PrivacyFilter.of(Limits(ONE, classes=SHARES), composition)
    loss = PerClass({"strict": Fraction(1, 8), "normal": Fraction(1, 4)})
    assert not granted(budget, Account(), PerClass({"strict": Fraction(1, 4) + UNIT, "normal": UNIT}), composition)
    assert not granted(budget, Account(), PerClass({"strict": UNIT, "normal": ONE + UNIT}), composition)
    assert budget.repeats_left(Account(), loss.account(composition)) == 2  # strict units have 1/4
    assert budget.repeats_left(Account(), of_classes(Fraction(1, 4)).account(composition)) == 4


@pytest.mark.parametrize("composition", ["basic", "zcdp"])
def test_a_loss_of_everybody_counts_in_every_class(composition: Composition) -> None:
    budget = PrivacyFilter.of(Limits(ONE, classes=SHARES), composition)
    spent = Pure(Fraction(1, 8)).account(composition)
    assert granted(budget, spent, PerClass({"strict": Fraction(1, 8), "normal": Fraction(7, 8)}), composition)
    assert not granted(budget, spent, PerClass({"strict": Fraction(1, 8) + UNIT, "normal": UNIT}), composition)
    assert not granted(budget, spent, PerClass({"strict": UNIT, "normal": Fraction(7, 8) + UNIT}), composition)
    assert not granted(budget, spent, Pure(Fraction(1, 8) + UNIT), composition)


@given(epsilons, deltas, st.lists(losses, max_size=6), st.lists(epsilons.map(of_classes), max_size=4), compositions)
@settings(max_examples=20)
def test_remaining_is_the_largest_price_that_every_class_affords(
    epsilon: Fraction, delta: Fraction, wishes: list[Loss], more: list[Loss], composition: Composition
) -> None:
    budget = PrivacyFilter.of(Limits(epsilon, delta, classes=SHARES), composition)
    spent = spend(budget, [*wishes, *more], composition)
    price = budget.remaining(spent)
    if price:
        for loss in (of_classes(price), Pure(min(SHARES.values()) * price)):
            assert granted(budget, spent, loss, composition)
    assert not granted(budget, spent, of_classes(price + 5 * UNIT), composition)


@given(epsilons, deltas, st.lists(losses, max_size=6), st.lists(epsilons.map(of_classes), max_size=4), compositions)
@settings(max_examples=20)
def test_a_class_is_granted_what_its_own_limit_alone_would_grant(
    epsilon: Fraction, delta: Fraction, wishes: list[Loss], more: list[Loss], composition: Composition
) -> None:
    spent = spend(PrivacyFilter.of(Limits(epsilon, delta, classes=SHARES), composition), [*wishes, *more], composition)
    for name, share in SHARES.items():
        assert PrivacyFilter.of(Limits(share * epsilon, delta), composition).plain.grants(spent.of_class(name))


def test_a_shortfall_of_a_class_names_the_price_that_every_class_affords() -> None:
    budget = PrivacyFilter.of(Limits(ONE, classes=SHARES), "basic")
    spent = PerClass({"strict": Fraction(1, 20), "normal": Fraction(9, 10)}).account("basic")
    short = budget.shortfall(spent, Pure(Fraction(1, 4)).account("basic"))
    assert short is not None
    assert short.quantity == "epsilon of class strict"
    assert (short.needed, short.remaining, short.limit) == (Fraction(1, 4), Fraction(1, 5), Fraction(1, 4))
    assert short.affordable == Fraction(1, 10)  # strict units have 4/5 of a price left, normal ones 1/10


def test_a_per_class_loss_names_every_class() -> None:
    budget = PrivacyFilter.of(Limits(ONE, classes={"strict": ONE, "normal": ONE}), "basic")
    with pytest.raises(InvariantBroken, match="exactly the classes"):
        budget.shortfall(Account(), PerClass({"strict": ONE}).account("basic"))


def test_an_analyst_inherits_the_limits_of_metrics_and_classes() -> None:
    total = Limits(ONE, metric={"home": {"age": ONE}}, classes={"strict": ONE})
    limits = PolicyLimits(total, {"ana": Limits(Fraction(1, 2)), "bob": Limits(ONE, metric={"home": {"sex": ONE}})})
    assert limits.of("ana") == Limits(Fraction(1, 2), metric=total.metric, classes=total.classes)
    assert limits.of("bob").metric == {"home": {"sex": ONE}}
    assert (limits.account("ana"), limits.account("eve")) == ("ana", None)


@pytest.mark.parametrize(
    "wrong",
    [
        {"epsilon": Fraction(0)},
        {"epsilon": 1.0},
        {"epsilon": ONE, "delta": ONE},
        {"epsilon": ONE, "gamma": -ONE},
        {"epsilon": ONE, "classes": {"strict": Fraction(0)}},
        {"epsilon": ONE, "classes": {"strict": ONE + UNIT}},
    ],
)
def test_senseless_limits_cannot_be_made(wrong: dict[str, Any]) -> None:
    with pytest.raises(InvariantBroken):
        Limits(**wrong)
