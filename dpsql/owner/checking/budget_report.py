"""Whether a policy's budget fits its data and itself, for the owner.

Tests: tests/unit/owner/checking/test_check.py.
"""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal

from dpsql.errors import PolicyError
from dpsql.owner.finding import Finding
from dpsql.owner.jobs import of_source
from dpsql.policy import Policy

__all__ = ["budget_findings"]

RARE = 100
"""Delta is at most one in this many times the number of units: the custom of the field, as `dpsql init` says."""


def budget_findings(policy: Policy) -> list[Finding]:
    """What is said of a delta that is large for so few units, and of analysts promised more than the total holds.

    Raises:
        OperationalError: If the data cannot be read.
    """
    return [*_delta(policy), *_beyond_the_total(policy), *_together(policy)]


def _delta(policy: Policy) -> Iterator[Finding]:
    delta = policy.budget.total.delta
    if not delta:
        return
    try:
        units: int = of_source(policy, "units")
    except PolicyError:
        return  # said already, with the table
    if units and delta * RARE * units > 1:
        what = (
            f"units are few for the total delta {_text(delta)}: with that chance nothing protects them. "
            f"Write at most {_text(1 / Decimal(RARE * units))}."
        )
        yield Finding(None, None, what, units, None, "warning")


def _beyond_the_total(policy: Policy) -> Iterator[Finding]:
    total = policy.budget.total
    for name, own in policy.budget.analysts.items():
        above = [
            f"{kind} {_text(mine)} is above the total's {_text(all_of_it)}"
            for kind, mine, all_of_it in (
                ("epsilon", own.epsilon, total.epsilon),
                ("delta", own.delta, total.delta),
                ("gamma", own.gamma, total.gamma),
            )
            if mine > all_of_it
        ]
        if above:
            what = f"analyst {name}: {', and '.join(above)}. The total ends first."
            yield Finding(None, None, what, None, None, "warning")


def _together(policy: Policy) -> Iterator[Finding]:
    """A note where each analyst's limit is within the total, and all of them are beyond it."""
    total, own = policy.budget.total, policy.budget.analysts.values()
    for kind, each, all_of_it in (
        ("epsilon", [one.epsilon for one in own], total.epsilon),
        ("delta", [one.delta for one in own], total.delta),
        ("gamma", [one.gamma for one in own], total.gamma),
    ):
        promised = sum(each, Decimal())
        if promised > all_of_it >= max(each):
            what = f"together analysts are promised {kind} {_text(promised)}, more than the total's {_text(all_of_it)}"
            yield Finding(None, None, f"{what}: who asks first is served.", None, None, "note")


def _text(number: Decimal) -> str:
    return f"{number:.2g}" if number < 1 else f"{number:g}"
