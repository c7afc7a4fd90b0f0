"""Private folders for jobs that read the source: what does not fit in memory lies there while they run.

Such a folder is removed when its job ends. What a killed job leaves behind, the next one removes.

Tests: tests/unit/owner/test_scratch.py.
"""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from dpsql.errors import OperationalError
from dpsql.ledger.folders import held, make_private
from dpsql.ledger.mark import default_folder
from dpsql.owner.in_use import to_remove, use

if TYPE_CHECKING:
    from dpsql.policy.model import Policy

__all__ = ["cache_root", "scratch", "writable"]

PATIENCE = 60.0  # Seconds to wait for another job that makes or removes a folder. It is a choice: that takes moments.


def cache_root(policy: Policy) -> Path:
    """Where all that is made of the data lies: the policy's choice, else the user's state directory."""
    chosen = policy.engine.cache
    return default_folder() if chosen is None else policy.resolve(chosen)


@contextmanager
def scratch(policy: Policy) -> Iterator[Path]:
    """A folder of mode 0700 for one job, below the cache; it is gone afterwards.

    Raises:
        OperationalError: If it cannot be made.
    """
    place = cache_root(policy) / "reading"
    try:
        with writable(place):
            make_private(place)
            with held(place / ".lock", patience=PATIENCE):  # so that nobody removes one before it is in use
                _remove_left(place)
                folder = Path(tempfile.mkdtemp(dir=place))
                in_use = use(folder)
    except TimeoutError:
        raise OperationalError(
            f"Another process has held {place / '.lock'} for {PATIENCE:.0f} seconds. See what became of it."
        ) from None
    with in_use:
        try:
            yield folder
        finally:
            shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def writable(directory: Path) -> Iterator[None]:
    """Turns what the disk says into an error of ours; a TimeoutError is about another process, and passes."""
    try:
        yield
    except TimeoutError:
        raise
    except OSError as error:
        raise OperationalError(
            f"The bounded tables cannot be written in {directory}: {error.strerror}. "
            "Make that directory writable, or name another as engine.cache in the policy."
        ) from None


def _remove_left(place: Path) -> None:
    for left in place.iterdir():
        if left.is_dir() and (alone := to_remove(left)) is not None:
            with alone:
                shutil.rmtree(left, ignore_errors=True)
