"""What is closed at the end of ``with``, and what is of one process.

Tests: tests/unit/test_closing.py.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from types import TracebackType
from typing import NoReturn, Self, SupportsIndex

from dpsql.errors import InterfaceError

__all__ = ["Closing", "OfOneProcess"]


class OfOneProcess:
    """Something that holds files and processes: it can be neither copied nor sent elsewhere."""

    def __reduce_ex__(self, protocol: SupportsIndex) -> NoReturn:
        raise InterfaceError(
            f"A {type(self).__name__} can be neither copied nor pickled: it holds the ledger and processes of its own. "
            "Open the policy again in each process."
        )


class Closing(OfOneProcess, ABC):
    """Something that is closed: by its `close`, or at the end of ``with``, whatever happened there."""

    @abstractmethod
    def close(self) -> None:
        """Lets go of what it holds."""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
