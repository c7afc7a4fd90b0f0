"""Which cases of many that are alike `make test` asks: every second or third one. `make test-slow` asks all.

Above a test that is asked of many parameters,

    @pytest.mark.every(3)

leaves every third case to `make test`, and marks the others slow. Where a test has several sets of parameters the
places of a case in each of them are added up: every parameter of each set is in a case that `make test` asks, as long
as another set has at least as many parameters. ``every(2, 1)`` begins with the second case.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import Any

import pytest

__all__ = ["every_third", "in_turns"]


PLACES: dict[tuple[str, int], dict[str, int]] = defaultdict(dict)
"""Where each parameter stands in its set, by the test and the number of the set."""


def pytest_itemcollected(item: pytest.Item) -> None:
    """Marks slow what `make test` leaves out."""
    if mark := item.get_closest_marker("every"):
        number, first = (*mark.args, 0)[:2]
        assert isinstance(item, pytest.Function)
        test = item.nodeid.partition("[")[0]
        places = [PLACES[test, at] for at in range(len(item.callspec._idlist))]
        turn = sum(own.setdefault(name, len(own)) for own, name in zip(places, item.callspec._idlist, strict=True))
        if (turn - first) % number:
            item.add_marker("slow")


def every_third(cases: Sequence[tuple[Any, ...]]) -> list[Any]:
    """The cases as parameters, two of three marked slow."""
    return [_marked(case, place % 3 != 0) for place, case in enumerate(cases)]


def in_turns(ones: Iterable[tuple[Any, ...]], others: Sequence[tuple[Any, ...]]) -> list[Any]:
    """Each of the ones with each of the others: all but every third pair, or second one where there are two others,
    are marked slow, and each of either has one that is not.
    """
    pairs = [(at + place, (*one, *other)) for at, one in enumerate(ones) for place, other in enumerate(others)]
    return [_marked(pair, turn % min(len(others), 3) != 0) for turn, pair in pairs]


def _marked(case: tuple[Any, ...], slow: bool) -> Any:
    return pytest.param(*case, marks=[pytest.mark.slow] if slow else [])
