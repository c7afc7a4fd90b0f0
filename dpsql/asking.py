"""Who asks, for those far below a session who let analysts take turns. Nothing is allowed or charged by it.

Tests: tests/unit/test_asking.py.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from contextvars import ContextVar
from typing import ParamSpec, Protocol, TypeVar, cast

__all__ = ["in_turn", "who"]

_WHO: ContextVar[str] = ContextVar("who", default="")

_Arguments = ParamSpec("_Arguments")
_Result = TypeVar("_Result")


class _Asking(Protocol):
    @property
    def analyst(self) -> str: ...


def who() -> str:
    """The analyst for whom this thread is at work; empty where it is the owner."""
    return _WHO.get()


def in_turn(method: Callable[_Arguments, _Result]) -> Callable[_Arguments, _Result]:
    """The method of a session, during which `who` is its analyst."""

    @functools.wraps(method)
    def called(*args: _Arguments.args, **kwargs: _Arguments.kwargs) -> _Result:
        __tracebackhide__ = True  # as in `errors.door`
        before = _WHO.set(cast(_Asking, args[0]).analyst)
        try:
            return method(*args, **kwargs)
        finally:
            _WHO.reset(before)

    return called
