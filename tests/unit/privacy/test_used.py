"""How much of an account is used, by the quantity that ends first on the route that ends last."""

from __future__ import annotations

from fractions import Fraction

import pytest

from dpsql.privacy.account import Account, Composition
from dpsql.privacy.accounting import Limits, PrivacyFilter
from dpsql.privacy.kinds import Approximate, Concentrated, Loss, Pure
from dpsql.privacy.used import delta_left, used

LIMITS = Limits(epsilon=Fraction(2), delta=Fraction(1, 10**6), gamma=Fraction(1, 10))


def share(composition: Composition, *losses: Loss) -> Fraction:
    account = sum((loss.account(composition) for loss in losses), Account())
    return used(PrivacyFilter.of(LIMITS, composition), account)


@pytest.mark.parametrize("composition", ["basic", "zcdp"])
def test_it_is_0_before_and_1_when_nothing_more_is_granted(composition: Composition) -> None:
    assert share(composition) == 0
    assert share(composition, Pure(Fraction(2))) == 1


def test_under_zcdp_the_less_used_route_counts() -> None:
    granted = PrivacyFilter.of(LIMITS, "zcdp")
    small = Pure(Fraction(1, 50))
    assert share("basic", *[small] * 50) == Fraction(1, 2)
    assert share("zcdp", *[small] * 50) < Fraction(1, 2)
    rho = Concentrated(Fraction(granted.plain.rho, 2 * 10**12))  # type: ignore[attr-defined]  # the zcdp bound's
    assert share("zcdp", rho) == pytest.approx(0.5)  # epsilon is bounded by no sum


def test_the_delta_left_is_that_of_the_route_that_is_open() -> None:
    granted = PrivacyFilter.of(LIMITS, "zcdp")
    pure = Pure(Fraction(1, 10)).account("zcdp")
    assert delta_left(granted, pure) == Fraction(1, 4 * 10**6)
    threshold = Approximate(Fraction(1, 10), Fraction(1, 10**7)).account("zcdp")
    assert delta_left(granted, threshold) == Fraction(15, 10**8)
    assert delta_left(PrivacyFilter.of(LIMITS, "basic"), threshold) == Fraction(9, 10**7)
    assert delta_left(granted, threshold.times(3)) == 0


def test_gamma_and_metrics_count_too() -> None:
    granted = PrivacyFilter.of(LIMITS, "basic")
    assert used(granted, Account(gamma={("b", 1): 5 * 10**10})) == Fraction(1, 2)
    assert used(granted, Account(metric={("m", ""): 1})) == 1
