"""What a caller hands to Python's doors: where it is of another kind than is taken, one sentence says so.

Tests: tests/unit/test_given.py.
"""

from __future__ import annotations

import operator
import os
from collections.abc import Sequence
from pathlib import Path

from dpsql.errors import ProgrammingError

__all__ = [
    "AGREE",
    "PROGRESS",
    "function_given",
    "kind_given",
    "path_given",
    "policy_path_given",
    "sql_given",
    "text_given",
    "texts_given",
    "whole_given",
]


AGREE = "Write a function of a loss, or leave it out."
"""What is asked before a charge."""
PROGRESS = "Write a function of a step's name and of the share done, or leave it out."
"""What is told of steps."""


def text_given(value: object, what: str, write: str) -> str:
    """The text.

    Args:
        value: What was given.
        what: What it is, as the beginning of a sentence.
        write: What to write instead.

    Raises:
        ProgrammingError: It is no text.

    >>> text_given("ages", "The name", "Write it as text.")
    'ages'
    """
    if not isinstance(value, str):
        raise _other(value, what, write)
    return value


def sql_given(value: object) -> str:
    """The text of a statement.

    Raises:
        ProgrammingError: It is no text.
    """
    return text_given(value, "The statement", "Write SQL as text.")


def texts_given(value: object, what: str, write: str) -> Sequence[str]:
    """The list of texts. A text alone is none, though it is a sequence of its letters.

    Raises:
        ProgrammingError: It is no list or tuple, or holds what is no text.
    """
    if not isinstance(value, list | tuple):
        raise _other(value, what, write)
    if other := [one for one in value if not isinstance(one, str)]:
        raise _other(other[0], f"A value in {what[:1].lower()}{what[1:]}", write)
    return value


def path_given(value: object, what: str, write: str) -> Path:
    """The path.

    Raises:
        ProgrammingError: It is none.

    >>> path_given("hospital.yaml", "The policy", "Write the path of its file.").name
    'hospital.yaml'
    """
    text = os.fspath(value) if isinstance(value, str | os.PathLike) else None
    if not isinstance(text, str):
        raise _other(value, what, write)
    return Path(text)


def policy_path_given(value: object) -> Path:
    """The path of a policy file.

    Raises:
        ProgrammingError: It is none.
    """
    return path_given(value, "The policy", "Write the path of its file, such as 'hospital.yaml'.")


def whole_given(value: object, what: str, write: str) -> int:
    """The whole number; one of numpy's, too.

    Raises:
        ProgrammingError: It is none.

    >>> whole_given(3, "The number of rows", "Write a whole number.")
    3
    """
    try:
        return operator.index(value)  # type: ignore[arg-type]  # whether it is one is what is asked
    except TypeError:
        raise _other(value, what, write) from None


def function_given(value: object, what: str, write: str) -> None:
    """Nothing, where it can be called or is None.

    Raises:
        ProgrammingError: It is something else.
    """
    if value is not None and not callable(value):
        raise _other(value, what, write)


def kind_given(value: object, kind: type, what: str, write: str) -> None:
    """Nothing, where it is of that kind.

    Raises:
        ProgrammingError: It is of another.
    """
    if not isinstance(value, kind):
        raise _other(value, what, write)


def _other(value: object, what: str, write: str) -> ProgrammingError:
    return ProgrammingError(f"{what} is of type {type(value).__name__}. {write}")
