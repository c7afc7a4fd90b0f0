"""The owner's engine: what is set in it, and how it is opened.

Tests: tests/unit/engine, tests/unit/owner.
"""

from __future__ import annotations

from contextlib import AbstractContextManager
from pathlib import Path

import duckdb

__all__ = ["SETTINGS", "opened"]

BUFFERS = "2GiB"  # The engine's memory; beyond it, it works on disk, in the private directory. It is a choice.
SETTINGS: dict[str, str | bool | int | float | list[str]] = {
    "autoload_known_extensions": "false",
    "autoinstall_known_extensions": "false",
    "allow_community_extensions": "false",
    "python_enable_replacements": "false",
    "preserve_insertion_order": "false",
    "memory_limit": BUFFERS,
}


def opened(file: Path | None, spill: Path) -> AbstractContextManager[duckdb.DuckDBPyConnection]:
    """An engine over a file that is written, or over none; what does not fit in memory goes into a folder meanwhile."""
    return duckdb.connect(":memory:" if file is None else str(file), config=SETTINGS | {"temp_directory": str(spill)})
