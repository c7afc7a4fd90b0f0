"""When answers leave: as soon as they are there, or at public times alone, so that nobody learns how long they took.

The rule: what a question changes that others can see, beside its charge, it changes when its answer leaves. Until then
its answers are not in the ledger: quotes say what they said before, and whoever asks for the same waits in turn.

Theorem. Call a moment public that follows from when questions were asked, from what was charged and released, from how
long planning and the handling of released numbers take, and from how many times of the grid had passed when each
question was done. Every answer, refusal and quote leaves at a public moment, and says what it would say if each
question had been done exactly at that time of the grid at which its answer leaves.

Proof. By induction over the moments at which somebody sees something. What a question reads of the ledger was written
by a charge, or as an answer left. A question is charged before it reads private data: after its planning, and once it
has its turn. A turn ends as the answer leaves of whoever bought something in it (`at_leaving`); whoever found all of
it in the ledger ends it after no private work. So turns come at public moments, from which a question that waited
counts its times (`begin_anew`). From its charge on it changes nothing that can be seen until it leaves, which is at
the first time of the grid at which it is done, or until a time of the grid between (`step`), from which its times
count anew. QED

Outside of it are whether the work was done before a time of the grid; that statements of others wait for the same
processors and workers; what the owner makes for readers; and processes that end before the time. Their answers are
lost, as wherever a process ends between a charge and its answer.

Tests: tests/unit/test_times.py, tests/attacks/test_timing.py.
"""

from __future__ import annotations

import functools
import math
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import ParamSpec, Protocol, TypeVar, cast

__all__ = ["Times", "on_time"]

_Arguments = ParamSpec("_Arguments")
_Result = TypeVar("_Result")


@dataclass(slots=True)
class _Question:
    """What is being asked in this thread.

    Attributes:
        began: When its times begin, in seconds that only grow.
        leaving: What is done as its answer leaves, in this order.
    """

    began: float
    leaving: list[Callable[[], object]] = field(default_factory=list)


_ASKED: ContextVar[_Question | None] = ContextVar("asked", default=None)


@dataclass(frozen=True, slots=True)
class Times:
    """A grid of times after a question, at which its answer or its refusal leaves.

    Attributes:
        grid: In seconds, rising; after the last of them come its multiples. Empty where all leaves at once.
    """

    grid: tuple[float, ...] = ()

    def leaves(self, took: float) -> float:
        """The first time of the grid at or after so many seconds.

        >>> grid = Times((0.1, 1.0, 10.0))
        >>> grid.leaves(0.02), grid.leaves(0.3), grid.leaves(10.5), Times().leaves(0.3)
        (0.1, 1.0, 20.0, 0.3)
        """
        if not self.grid:
            return took
        last = self.grid[-1]
        return next((own for own in self.grid if own >= took), last * math.ceil(took / last))

    @contextmanager
    def kept(self, *, refusals_alone: bool = False) -> Iterator[None]:
        """Around all that is done for a question: it ends at one of these times, whichever way it ends.

        What is asked within it is part of it, and waits with it.

        Args:
            refusals_alone: Whether what goes well leaves at once: it reads nothing, and is no answer.
        """
        if not self.grid or _ASKED.get() is not None:
            yield
            return
        question = _Question(time.monotonic())
        before = _ASKED.set(question)
        try:
            yield
        except BaseException:
            self._leave(question)
            raise
        else:
            if not refusals_alone:
                self._leave(question)
        finally:
            _ASKED.reset(before)
            _done(question)

    def at_leaving(self, action: Callable[[], object]) -> None:
        """Has something done as the answer leaves; now, where that is as soon as it is there."""
        question = _ASKED.get()
        if question is None:
            action()
        else:
            question.leaving.append(action)

    def begin_anew(self) -> None:
        """The times of what is being asked begin now: at a moment at which another answer left."""
        question = _ASKED.get()
        if question is not None:
            question.began = time.monotonic()

    def step(self) -> None:
        """Waits for a time of the grid, so that what follows can be seen at once; from it the times begin anew."""
        question = _ASKED.get()
        if question is not None:
            self._leave(question)
            question.began = time.monotonic()

    def _leave(self, question: _Question) -> None:
        try:
            leaves = question.began + self.leaves(time.monotonic() - question.began)
            while (left := leaves - time.monotonic()) > 0:  # a sleep may end early
                time.sleep(left)
        finally:  # an interrupted question keeps what it paid for
            _done(question)


def _done(question: _Question) -> None:
    """Does what waited for the answer to leave: all of it, whichever fails."""
    with ExitStack() as all_of_it:
        for action in reversed(question.leaving):
            all_of_it.callback(action)
        question.leaving = []


class _Timed(Protocol):
    @property
    def times(self) -> Times: ...


class _Asking(Protocol):
    _backend: _Timed


def on_time(method: Callable[_Arguments, _Result]) -> Callable[_Arguments, _Result]:
    """The method of a session, whose answer or refusal leaves at one of its backend's times."""

    @functools.wraps(method)
    def called(*args: _Arguments.args, **kwargs: _Arguments.kwargs) -> _Result:
        __tracebackhide__ = True  # as in `errors.door`
        with cast(_Asking, args[0])._backend.times.kept():
            return method(*args, **kwargs)

    return called
