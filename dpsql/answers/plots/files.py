"""Files that pictures are written to. It needs no matplotlib, so that a wrong name is told before anything is asked."""

from __future__ import annotations

from pathlib import Path

from dpsql.answers.shown.extras import of_extra
from dpsql.answers.shown.screen import safe
from dpsql.errors import ProgrammingError
from dpsql.given import path_given

__all__ = ["kind_of", "ready_for"]

KINDS = ("png", "svg")
"""The endings of pictures' names."""


def kind_of(file: str | Path) -> str:
    """The kind of picture that a file's name ends in.

    Raises:
        ProgrammingError: It ends otherwise.

    >>> kind_of("people.SVG")
    'svg'
    """
    kind = (
        path_given(file, "The picture", "Write the name of its file, which ends in .png or .svg.")
        .suffix.lower()
        .removeprefix(".")
    )
    if kind not in KINDS:
        raise ProgrammingError(f"{safe(str(file))} is no name of a picture. Let it end in .png or .svg.")
    return kind


def ready_for(file: Path) -> None:
    """Checks, before anything is paid for, that a picture can be written there.

    Raises:
        MissingExtra: matplotlib is not installed.
        ProgrammingError: The name does not say which kind, or there is no such folder.
    """
    kind_of(file)
    of_extra("matplotlib", "plot")
    if file.is_dir() or not file.absolute().parent.is_dir():
        raise ProgrammingError(f"{safe(str(file))} cannot be written: there is no folder {safe(str(file.parent))}.")
