"""Which cases of many that are alike `make test` asks: every second one. `make test-slow` asks all."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import pytest

__all__ = ["every_second", "in_turns"]


def every_second(cases: Sequence[tuple[Any, ...]]) -> list[Any]:
    """The cases as parameters, every second of them marked slow."""
    return [_marked(case, place) for place, case in enumerate(cases)]


def in_turns(ones: Iterable[tuple[Any, ...]], others: Sequence[tuple[Any, ...]]) -> list[Any]:
    """Each of the ones with each of the others: every second pair is marked slow, and each of either has one that is
    not.
    """
    return [_marked((*one, *other), at + place) for at, one in enumerate(ones) for place, other in enumerate(others)]


def _marked(case: tuple[Any, ...], place: int) -> Any:
    return pytest.param(*case, marks=[pytest.mark.slow] if place % 2 else [])
