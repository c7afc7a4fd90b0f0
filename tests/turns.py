"""Which cases of many that are alike `make test` asks, and which of those that take hours `make test-slow` asks.

Above a test that is asked of many parameters,

    @pytest.mark.every(3)

leaves every third case to `make test`, and marks the others slow. Where a test has several sets of parameters the
places of a case in each of them are added up: every parameter of each set is in a case that `make test` asks, as long
as another set has at least as many parameters. ``every(2, 1)`` begins with the second case.

    @pytest.mark.sweep(8)

is for slow cases that take many minutes together: one run of `make test-slow` asks an eighth of them, and names the
others as skipped. The ``SEED`` that it prints says which; any eight seeds in a row ask all, and so does one run with
``TURN=all``. pytest alone asks all, unless ``--turn`` is given.
"""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import Any

import pytest

__all__ = ["every_third", "in_turns", "waiting"]

WAITS = "its turn comes with another SEED; TURN=all asks it, too"

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


def pytest_addoption(parser: pytest.Parser) -> None:
    """Adds ``--turn``."""
    parser.addoption("--turn", default="all", help="which part of long sweeps is asked: a whole number, or all of them")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Skips what waits for another turn: skipped tests are counted and named, and none is lost in silence."""
    if (turn := config.getoption("turn")) == "all":
        return
    sweeps = defaultdict[tuple[str, int], dict[str, pytest.Item]](dict)
    for item in items:
        if (mark := item.get_closest_marker("sweep")) and item.get_closest_marker("slow"):
            sweeps[item.nodeid.partition("[")[0], mark.args[0]][item.nodeid] = item
    for (_, number), cases in sweeps.items():
        for name in waiting(cases, number, int(turn)):
            cases[name].add_marker(pytest.mark.skip(reason=WAITS))


def waiting(names: Iterable[str], number: int, turn: int) -> list[str]:
    """The cases that a turn leaves out: all but every so many-th, in an order that has nothing to do with theirs.

    Each turn asks some, if there are any, and each case is asked in one of ``number`` turns in a row.

    >>> [len(waiting("abcdefg", 3, turn)) for turn in (0, 1, 2)], waiting("ab", 3, 0) == waiting("ab", 3, 2)
    ([4, 5, 5], True)
    """
    mixed = sorted(names, key=lambda name: hashlib.sha256(name.encode()).digest())
    return [name for place, name in enumerate(mixed) if (place - turn) % min(number, len(mixed))]


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
