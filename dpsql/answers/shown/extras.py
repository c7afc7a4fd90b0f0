"""Libraries that come with dpsql's extras, or the one clear error.

Tests: tests/unit/answers/test_answer.py, tests/unit/test_packaging.py.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

from dpsql.errors import InterfaceError

__all__ = ["MissingExtra", "of_extra"]


class MissingExtra(InterfaceError, ImportError):  # noqa: N818 - named as its neighbours in errors.py
    """A library that comes with one of dpsql's extras is not installed."""


def of_extra(module: str, extra: str) -> Any:
    """The module, or the one clear error."""
    try:
        return import_module(module)
    except ImportError:
        raise MissingExtra(
            f"{module} is not installed. Write, in the copy of dpsql's repository: pip install '.[{extra}]'"
        ) from None
