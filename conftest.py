"""All tests, doctests and examples: what chance may do to them, where they build their tables, and their order."""

from __future__ import annotations

import pytest

pytest_plugins = ["tests.false_alarms", "tests.building"]

LONG = ("tests/unit/test_readme.py", "tests/unit/test_tour.py", "tests/attacks/")
"""Files that take long as one piece: they come first, so that all processes end together."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Long files first, otherwise in the order in which they were found."""
    items.sort(key=lambda item: not item.nodeid.startswith(LONG))
