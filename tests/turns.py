"""Which cases of many that are alike `make test` asks: every second or third one. `make test-slow` asks all."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import pytest

__all__ = ["every_third", "in_turns"]


def every_third(cases: Sequence[tuple[Any, ...]]) -> list[Any]:
    """The cases as parameters, two of three marked slow."""
    return [_marked(case, place % 3 != 0) for place, case in enumerate(cases)]


def in_turns(ones: Iterable[tuple[Any, ...]], others: Sequence[tuple[Any, ...]]) -> list[Any]:
    """Each of the ones with each of the others: every second pair is marked slow, and each of either has one that is
    not.
    """
    pairs = [(at + place, (*one, *other)) for at, one in enumerate(ones) for place, other in enumerate(others)]
    return [_marked(pair, turn % 2 != 0) for turn, pair in pairs]


def _marked(case: tuple[Any, ...], slow: bool) -> Any:
    return pytest.param(*case, marks=[pytest.mark.slow] if slow else [])
