"""The command line. Exit code 0; 1 refused or failed, with one message on stderr; 2 wrong usage; 130 interrupted.

Every command imports what it needs when it runs, so that help is there at once.
"""

from __future__ import annotations

import atexit
import gc
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import NoReturn

from dpsql.cli import (  # noqa: F401 - their commands are in `app` then
    advise,
    analyst,
    approve,
    audit,
    init,
    owner,
    release,
    report,
    serve,
    shell,
    spent,
    user,
)
from dpsql.cli.app import app, of_one
from dpsql.cli.running import line
from dpsql.errors import Error, place_of

__all__ = ["app", "main"]

MADE = 400_000
"""Objects that are made before garbage is looked for. It is a choice: a start makes 120,000 that stay, and looking
through them once takes 40 ms."""
SURROUNDINGS = {
    "OPENBLAS_THREAD_TIMEOUT": "4",  # numpy's threads sleep at once: each spins for 2^this cycles before, 2^26 unasked
    "PYDANTIC_DISABLE_PLUGINS": "__all__",  # looked for in all that is installed; nobody else's code reads a policy
}
"""What libraries are told before they are loaded, where the environment says nothing else."""


def main(arguments: Sequence[str] | None = None) -> NoReturn:
    """Run the command line and leave with its exit code. No bad input ends in a traceback.

    Args:
        arguments: What stands after ``dpsql``; the process's own where absent.
    """
    gc.set_threshold(MADE)
    _open_streams()
    for name, value in SURROUNDINGS.items():
        os.environ.setdefault(name, value)
    atexit.register(_leave)
    for stream in (sys.stdout, sys.stderr):
        stream.reconfigure(errors="replace")  # type: ignore[union-attr]  # both are text streams here
    try:
        of_one(sys.argv[1:] if arguments is None else arguments)(args=arguments, prog_name="dpsql")
    except SystemExit as end:
        if end.code == 130:
            _complain("Interrupted. What was charged stays charged; `dpsql budget` shows it.")
        raise
    except Error as error:
        _complain(str(error))
    except OSError as error:
        _complain(f"{error.strerror}: {error.filename}" if error.filename else str(error.strerror or error))
    except Exception as bug:  # noqa: BLE001 - its text may hold anything, so only its kind and place are told
        _complain(f"This is a bug in dpsql: {type(bug).__name__} at {Path(place_of(bug)).name}. Please report it.")
    sys.exit(1)


def _open_streams() -> None:
    """A standard stream that is closed reads and writes nothing, and no file comes to have its number."""
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        if getattr(sys, name) is not None:
            continue
        own = os.open(os.devnull, os.O_RDWR)  # the lowest number that is free
        os.set_inheritable(own, own == number)
        try:
            os.fstat(number)
        except OSError:
            os.dup2(own, number)
        setattr(sys, name, os.fdopen(own, "w" if number else "r", encoding="utf-8"))


def _leave() -> None:
    """What stands at the end is not looked through for garbage: that would be a sixth of a start.

    A process that itself holds the database does look: the database's library complains of what nobody has freed.
    """
    if "duckdb" not in sys.modules:
        gc.freeze()


def _complain(message: str) -> None:
    """The message on stderr, without anything that a terminal would act on."""
    sys.stderr.write("\n".join(map(line, message.splitlines())) + "\n")
