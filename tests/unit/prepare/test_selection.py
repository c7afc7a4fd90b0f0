"""What a hidden count of units gets of the price: the share that is expected to err least, of no more than there is."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import pytest

from dpsql.errors import ProgrammingError
from dpsql.mechanisms.base import Price
from dpsql.mechanisms.noise.thresholds import ThresholdRelease
from dpsql.mechanisms.threshold import Threshold
from dpsql.plan.needs import Contribution
from dpsql.plan.nodes import Aggregate
from dpsql.plan.options import Options
from dpsql.prepare.prices import prices
from dpsql.prepare.selection import SHARES, best_share
from dpsql.privacy.account import UNIT
from tests.unit.mechanisms.asking import OPEN, asking

MILLIONTH = Fraction(1, 10**6)
HIDDEN = Aggregate("selection", "count_units", None, "choice of groups")
REQUEST = asking("count_units", keys=(OPEN,), selects=True)
ONE = Options(epsilon=Fraction(1), delta=MILLIONTH)


def asked(count: int, epsilon: Fraction | None = None) -> list[Aggregate]:
    """A hidden count of units, and so many others, with a price of their own or without."""
    return [HIDDEN, *(Aggregate(f"a{i}", "sum", None, "SUM(cost)", epsilon=epsilon) for i in range(count))]


def share(count: int, rows: int = 10**5, options: Options = ONE, held: Contribution | None = None) -> Fraction:
    request = REQUEST if held is None else asking("count_units", keys=(OPEN,), selects=True, held=held)
    return best_share(request, rows, lambda part: prices(asked(count), 0, part, options, 1, table=False))


def errors(part: Fraction, count: int, rows: int) -> float:
    """The sum over groups of one size for each unit from 1 to rows, at a density of 1 / size: by adding up."""
    own, *values = prices(asked(count), 0, part, ONE, 1, table=False)
    release = Threshold().offer(asking("count_units", keys=(OPEN,), selects=True, price=own))
    assert isinstance(release, ThresholdRelease)
    assert values[0].epsilon is not None
    noise = 1 / float(values[0].epsilon)  # mean size of Laplace noise on one number
    return sum((size if size <= release.threshold else noise) / size for size in range(1, rows + 1))


@pytest.mark.parametrize("count", [1, 3, 10])
def test_it_is_the_share_whose_errors_over_all_sizes_add_up_to_least(count: int) -> None:
    rows = 10**5
    least = min(errors(part, count, rows) for part in SHARES)
    assert errors(share(count, rows), count, rows) <= least * 1.05


def test_the_more_is_asked_the_less_goes_to_the_choice_of_groups() -> None:
    shares = [share(count) for count in (1, 2, 4, 8, 16)]
    assert shares == sorted(shares, reverse=True)
    assert shares[0] > shares[-1]


@pytest.mark.parametrize("held", [Contribution(1, 1, 1), Contribution(45, 45, 45)])
@pytest.mark.parametrize("options", [ONE, Options(rho=Fraction(1, 10), delta=MILLIONTH)])
def test_every_share_adds_up_to_the_price(held: Contribution, options: Options) -> None:
    assert share(3, held=held, options=options) in SHARES
    for part in SHARES:
        own: Sequence[Price] = prices(asked(3), 0, part, options, 1, table=False)
        amounts = [price.epsilon if options.rho is None else price.rho for price in own]
        whole = sum((amount for amount in amounts if amount is not None), Fraction(0))
        asked_for = options.epsilon or options.rho
        assert asked_for is not None
        assert asked_for - 4 * UNIT <= whole <= asked_for
        assert sum(price.delta for price in own) <= MILLIONTH


def test_a_table_too_small_for_any_threshold_gets_the_lowest() -> None:
    assert share(1, rows=5) == max(SHARES)


def test_what_the_statement_says_holds() -> None:
    chosen = Options(epsilon=Fraction(1), delta=MILLIONTH, group_selection_epsilon=Fraction(1, 20))
    assert prices(asked(1), 0, share(1, options=chosen), chosen, 1, table=False)[0].epsilon == Fraction(1, 20)
    own = prices(asked(1, Fraction(3, 4)), 0, SHARES[0], ONE, 1, table=False)
    assert [price.epsilon for price in own] == [Fraction(1, 4), Fraction(3, 4)]
    with pytest.raises(ProgrammingError, match="add up to"):
        prices(asked(1, Fraction(2)), 0, SHARES[0], ONE, 1, table=False)
