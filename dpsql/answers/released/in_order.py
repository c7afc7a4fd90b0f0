"""Quantiles that rise: what is released of one column's places is put in their order, at no further cost.

Each quantile is drawn for itself, so that a first quarter may come out above the median, or MIN above MAX. In each
group the numbers that were released take the places in their order: the least one is that of the lowest fraction.

Theorem. The squares of the errors of a group's numbers add up to no more than before, whatever the data are.

Proof. The true quantiles rise with their fractions. Where two numbers a > b are released for s <= t,
(a - s)^2 + (b - t)^2 - (b - s)^2 - (a - t)^2 = 2 (a - b) (t - s) >= 0, and exchanging such pairs ends in order.  QED

That is so for quantiles that were drawn alike: by one mechanism, at one price. Of others a rough one would take the
place of a fine one. An interval stays that of its own draw, and reaches to the number that stands in it now: it holds
the truth no less often.

Tests: tests/unit/answers/released/test_in_order.py.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from itertools import pairwise
from typing import Any

from dpsql.answers.shown.screen import Ends
from dpsql.prepare import Measured
from dpsql.privacy.tables import listed

__all__ = ["reaching", "rising"]


def rising(measured: Sequence[Measured], values: Mapping[str, Sequence[Any]]) -> dict[str, Sequence[Any]]:
    """The numbers of all quantiles that do not rise with their fractions in every group, put in order.

    Args:
        measured: All that one SELECT measured.
        values: Of each aggregate, by its name, one number for each group.
    """
    found: dict[str, Sequence[Any]] = {}
    for names in _alike(measured):
        columns = [listed(values[name]) for name in names]
        if any(one > other for own in pairwise(columns) for one, other in zip(*own, strict=True)):
            rows = map(sorted, zip(*columns, strict=True))
            found |= zip(names, map(list, zip(*rows, strict=True)), strict=True)
    return found


def reaching(intervals: Sequence[Ends], values: Sequence[Any]) -> list[Ends]:
    """Intervals as wide as they are, and as it takes to hold the numbers that stand in them now."""
    return [
        (None if low is None else min(low, float(value)), None if high is None else max(high, float(value)))
        for (low, high), value in zip(intervals, listed(values), strict=True)
    ]


def _alike(measured: Sequence[Measured]) -> list[list[str]]:
    """The names of quantiles of the same values that were drawn alike, by rising fractions.

    Discrete ones are apart from all others, of dates all are discrete.
    """
    parts: dict[str, list[Measured]] = {}
    for own in measured:
        parts.setdefault(own.aggregate.name, []).append(own)
    alike: dict[Any, dict[Fraction, str]] = {}
    for name, every in parts.items():
        asked = every[0].aggregate
        if asked.rank is None:
            continue
        drawn = tuple((own.choice.release.mechanism, own.choice.release.loss) for own in every)
        discrete = asked.function == "quantile_disc" or asked.since is not None
        kind = discrete, asked.argument, asked.bounds, drawn
        alike.setdefault(kind, {})[asked.rank] = name
    return [[own[rank] for rank in sorted(own)] for own in alike.values()]
