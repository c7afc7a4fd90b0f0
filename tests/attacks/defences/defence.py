"""One defence."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Defence"]


@dataclass(frozen=True)
class Defence:
    """One defence, and the code without it.

    Attributes:
        name: What it keeps, in words.
        file: Where it stands.
        stands: Its text there, once.
        without: What stands there when it is taken out.
        tests: Files of tests, or tests, of which one must go red.
    """

    name: str
    file: str
    stands: str
    without: str
    tests: tuple[str, ...]
