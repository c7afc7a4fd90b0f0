"""How an open ledger is read and written: one transaction on the newest state, then the mark; anew after a failure.

A mark is on the disk beside the one in force before its record is committed, and in its place behind it. So a disk that
is full refuses a charge while nothing is charged yet. A process that dies in between leaves a ledger that is ahead of
its mark by that one record, of which nobody has seen an answer.

After a failed write nobody knows what is on the disk. The ledger is then opened again by whoever asks next, with all
that an opening checks, and refuses as long as that fails.

Tests: tests/unit/ledger/test_writing.py, tests/faults.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext
from pathlib import Path
from threading import RLock

from dpsql.closing import Closing
from dpsql.errors import LedgerError
from dpsql.ledger.file import LedgerFile
from dpsql.ledger.granting import Granting
from dpsql.ledger.mark import HighWater, Marks
from dpsql.ledger.opening import check_mark
from dpsql.ledger.refusals import ChargeStands, LimitsChanged
from dpsql.ledger.state import LedgerState
from dpsql.ledger.turns import ProcessTurns
from dpsql.privacy.accounting import PolicyLimits

__all__ = ["WrittenLedger"]

FORKED = (
    "This process was forked from the one that opened the policy, and may not use its ledger. Nothing was read or "
    "charged. Open the policy again here."
)
"""What a child process is told."""


class WrittenLedger(Closing):
    """A ledger that is open; what stands in it is `dpsql.ledger.ledger.Ledger`'s.

    Args:
        file: Its file.
        state: What its records add up to.
        limits: Those of the policy.
        marks: The folder of its mark, and its own path; None for one in memory.
        failpoint: Called with each name of `dpsql.ledger.ledger.FAILPOINTS` that is passed.

    Attributes:
        turns: Of processes that ask the same at the same moment.
    """

    def __init__(
        self,
        file: LedgerFile,
        state: LedgerState,
        limits: PolicyLimits,
        marks: tuple[Marks, Path] | None,
        failpoint: Callable[[str], None],
    ) -> None:
        self._file = file
        self._state = state
        self._limits = limits
        self._marks = marks
        self._failpoint = failpoint
        self._lock = RLock()
        self._process = os.getpid()
        self._closed = ""
        """What is said of it since it was closed."""
        self._broken = False
        self._unanswered = False
        self._granting = Granting(limits, state)
        self.turns = ProcessTurns(None if marks is None else marks[1])

    @property
    def failed(self) -> bool:
        """Whether a write failed, and nobody could open the ledger again since."""
        return self._broken

    @property
    def unanswered(self) -> bool:
        """Whether what the last charge paid for could not be kept, as on a disk where a record fits and no more."""
        return self._unanswered

    def stands(self) -> bool:
        """Whether the ledger can be used: where a write failed, it is opened again for that."""
        try:
            with self._reading():
                return True
        except LedgerError:
            return False

    def close(self, said: str = "This ledger was closed. Open it again.") -> None:
        """Lets go of the file.

        Args:
            said: What whoever uses it afterwards reads.
        """
        with self._lock:
            self._closed = self._closed or said
            self._file.close()
            self.turns.close()

    @contextmanager
    def _usable(self) -> Iterator[None]:
        """Alone with a ledger that can be used; outside the marks' lock.

        Raises:
            LedgerError: It is closed, or another process's; or a write had failed, and it cannot be opened again.
        """
        with self._lock:
            if os.getpid() != self._process:
                raise LedgerError(FORKED)
            if self._closed:
                raise LedgerError(self._closed)
            if self._broken and self._marks is None:
                raise LedgerError("This ledger failed before. Nothing was read. Open it again.")
            if self._broken:
                with self._marks_locked():
                    self._open_again()
                self._broken = False
            yield

    @contextmanager
    def _reading(self) -> Iterator[None]:
        with self._usable():
            self._catch_up()
            yield

    @contextmanager
    def _writing(self) -> Iterator[None]:
        """One transaction on the newest state, and its mark. The mark's lock makes processes queue up in order."""
        with self._usable(), self._marks_locked():
            self._failpoint("before-begin")
            begun = False
            try:
                self._file.refuse_replaced()
                with self._marked():
                    begun = True
                    self._failpoint("after-begin")
                    self._catch_up()
                    self._check_mark()
                    yield
                    self._failpoint("after-insert")
            except LedgerError as failure:  # after a failed write nobody knows what is on the disk
                self._broken = begun and not isinstance(failure, LimitsChanged)
                self._unanswered |= isinstance(failure, ChargeStands)
                raise
            self._failpoint("after-mark")

    @contextmanager
    def _marked(self) -> Iterator[None]:
        """One transaction, under the marks' lock; its mark is written before it is committed, and put in place behind.

        Raises:
            ChargeStands: It is committed, and then something failed.
        """
        with ExitStack() as prepared:
            with self._file.transaction():
                yield
                place = prepared.enter_context(self._mark_ahead())
            try:
                self._failpoint("after-commit")
                self._file.refuse_replaced()
                place()
                self._catch_up()
            except LedgerError as failure:
                raise ChargeStands(failure) from failure

    def _mark_ahead(self) -> AbstractContextManager[Callable[[], None]]:
        """The mark of the last record there is now, written and not yet in force."""
        if self._marks is None:
            return nullcontext(lambda: None)
        sequence, digest = self._file.head()
        return self._marks[0].ahead(self._state.ledger, HighWater(self._state.epoch, sequence, digest.hex()))

    def _marks_locked(self) -> AbstractContextManager[None]:
        return nullcontext() if self._marks is None else self._marks[0].locked()

    def _open_again(self) -> None:
        """Reads the same file from its beginning, holds it against its mark, and proves that both can be written."""
        file = self._file.again()
        try:
            state = LedgerState.of(file)
            if state.ledger != self._state.ledger:
                raise LedgerError("Another ledger lies in the place of this one. Nothing was read. Open it again.")
            state.refuse_changed(self._state.pinned)
            if self._marks is not None:
                marks, path = self._marks
                check_mark(marks, path, file, state)
                marks.replace(state.ledger, state.high_water)  # at its mark or past it, as was seen: never backwards
                file.prove_writable()
        except BaseException:
            file.close()
            raise
        self._file, self._state = file, state
        self._granting = Granting(self._limits, state)

    def _catch_up(self) -> None:
        self._state.catch_up(self._file)
        if self._state.limits != self._limits.encoded:
            raise LimitsChanged

    def _check_mark(self) -> None:
        if self._marks is not None:
            check_mark(*self._marks, self._file, self._state)
