"""What answers of several kinds mean together: under metrics, at a price in epsilon, by random differential privacy.

Tests: tests/unit/answers.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from fractions import Fraction
from typing import TYPE_CHECKING

from dpsql.answers.budget import Budget
from dpsql.privacy.loss import PrivacyLoss

if TYPE_CHECKING:
    from dpsql.mechanisms.metric.row_metric import RowMetric

__all__ = ["total_promise"]


def total_promise(budget: Budget, neighbours: str, metrics: Mapping[str, RowMetric]) -> str:
    """One line for a change of one row from i to j, one for gamma; '' where neither a metric nor gamma was spent.

    A unit's answers at a price in epsilon are for all its rows at once. A change of one row is a change of its unit's
    rows: under ``add_remove`` that counts twice, as rows that go and rows that come, so that (epsilon, delta) becomes
    (2 epsilon, (1 + e^epsilon) delta).

    Args:
        budget: What was spent, and its limit: under ``zcdp`` the epsilon spent holds within the limit's delta.
        neighbours: The policy's.
        metrics: The policy's, by name.
    """
    lines = _by_metric(budget, neighbours, metrics), _by_chance(budget.spent)
    return "\n".join(line for line in lines if line)


def _by_chance(spent: PrivacyLoss) -> str:
    if not spent.gamma:
        return ""
    return (
        f"All of this is for a random person, but for a chance of gamma {_number(spent.gamma)} over the draw of the "
        "data; whoever is alone in a cell of a base partition is shown exactly."
    )


def _by_metric(budget: Budget, neighbours: str, metrics: Mapping[str, RowMetric]) -> str:
    spent = budget.spent
    if not spent.metric:
        return ""
    once = (spent.delta if budget.composition == "basic" else budget.limit.delta) if spent.epsilon else 0
    plain, delta = _of_a_change(spent.epsilon, once, neighbours)
    widest, parts = Fraction(0), []
    for name, multiples in spent.metric.items():
        each = multiples if isinstance(multiples, Mapping) else {"": multiples}
        apart = [f"{_number(x)} d_{column}(i, j)" if column else f"{_number(x)} d(i, j)" for column, x in each.items()]
        parts.append(f"{' + '.join(apart)} by metric {name}")
        widest += metrics[name].epsilon_of({column: Fraction(x) for column, x in each.items()})
    total = _number(plain + float(widest)) if math.isfinite(plain) else "what its rho proves"
    first = [f"epsilon {_number(plain)}"] if plain else []
    both = f": {_number(once)} times 1 + e^{_number(spent.epsilon)}, as one person goes and one comes"
    twice = both if delta != once else ""
    chance = f", but for a chance of {_number(delta)} (delta{twice})" if delta else ""
    return (
        f"In total, a change of one row from i to j loses at most {' + '.join([*first, *parts])}: "
        f"epsilon {total} for the two rows that are farthest apart{chance}."
    )


def _of_a_change(epsilon: float, delta: float, neighbours: str) -> tuple[float, float]:
    """Epsilon and delta for rows that are replaced."""
    if neighbours != "add_remove":
        return epsilon, delta
    return 2 * epsilon, delta and min(1.0, (1 + math.exp(min(epsilon, 700))) * delta)


def _number(amount: float) -> str:
    """Rounded up, to four digits."""
    if not amount or not math.isfinite(amount):
        return f"{amount:g}"
    unit = 10.0 ** (math.floor(math.log10(amount)) - 3)
    return f"{math.ceil(amount / unit - 1e-9) * unit:.4g}"
