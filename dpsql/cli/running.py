"""What commands run in: an open proxy, a bar of progress, the engine's own words for the owner, and safe text.

Tests: tests/unit/cli.
"""

from __future__ import annotations

import re
import shutil
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING

from dpsql.errors import OperationalError, PolicyError

if TYPE_CHECKING:
    from dpsql.proxy import Proxy

__all__ = ["line", "opened", "progress", "screen_width", "told"]

MOMENT = 2.0  # Seconds until the first line of progress, where there is no terminal. It is a choice.
PAUSE = 30.0  # Seconds between two of them. It is a choice: a build of an hour leaves 120 lines in a log.


@contextmanager
def opened(policy: Path, *, lines: bool = False) -> Iterator[Proxy]:
    """The policy's proxy, with progress where a first version is built; as `progress`."""
    from dpsql import proxy as proxies

    with progress(lines=lines) as bar:
        proxy = proxies.open(policy, progress=bar)
    try:
        yield proxy
    finally:
        proxy.close()


@contextmanager
def told(policy: Path) -> Iterator[None]:
    """For the owner's commands alone: a failure whose text is fixed names the log, and ends with the engine's words."""
    from dpsql.engine.log import FILE, TELLS, overheard

    with overheard() as said:
        try:
            yield
        except (OperationalError, PolicyError) as error:
            if not said:
                raise
            from dpsql.owner.jobs import UNREAD
            from dpsql.policy import load_policy
            from dpsql.proxy import owners_folder

            log = owners_folder(load_policy(policy)) / FILE
            where = f"The owner's log is {line(str(log))}." if log.exists() else "What the engine said:"
            text, file = str(error).replace(TELLS, where), _file_in("\n".join(said))
            if file is not None:
                text = text.replace(UNREAD, f"{UNREAD[:-1]}: {line(file)}.")
            raise OperationalError("\n".join([text, *said])) from None


def _file_in(said: str) -> str | None:
    """The first file of which an engine speaks, by its whole path in quotes."""
    return next((path for path in re.findall(r"""['"](/[^'"\n]+)['"]""", said) if Path(path).is_file()), None)


@contextmanager
def progress(*, lines: bool = False) -> Iterator[Callable[[str, float], None]]:
    """A bar on stderr, from the first step on, where that is a terminal.

    Args:
        lines: Whether a line now and then is written where it is none, as into a service's log.
    """
    with ExitStack() as ends:
        shown: list[Callable[[str, float], None]] = []

        def step(name: str, done: float) -> None:
            if not shown:
                shown.append(ends.enter_context(_bar()))
            shown[0](name, done)

        yield step if sys.stderr.isatty() else _Lines() if lines else _silent


@contextmanager
def _bar() -> Iterator[Callable[[str, float], None]]:
    from rich.console import Console  # here: most commands have done their work before there is a step to show
    from rich.markup import escape
    from rich.progress import Progress

    with Progress(console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("", total=1.0)
        yield lambda step, done: bar.update(task, description=escape(line(step)), completed=done)


class _Lines:
    """A line of what is done, at first after a moment, for most is done by then, and then hardly ever."""

    def __init__(self) -> None:
        self._next = monotonic() + MOMENT

    def __call__(self, step: str, done: float) -> None:
        if (now := monotonic()) >= self._next:
            self._next = now + PAUSE
            sys.stderr.write(f"{line(step)}: {done:.0%}\n")
            sys.stderr.flush()


def _silent(step: str, done: float) -> None:
    """Nobody looks."""


def screen_width() -> int | None:
    """Columns of the terminal that is written to; None where it is none: programs read a line a row."""
    return shutil.get_terminal_size().columns if sys.stdout.isatty() else None


def line(text: str) -> str:
    """The text on one line, without anything that a terminal would act on."""
    from dpsql.answers.shown.screen import safe

    return safe(text)
