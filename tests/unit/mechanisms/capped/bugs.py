"""Bugs that are planted in capped releases: exact losses must show them."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, ExitStack
from typing import Any
from unittest.mock import patch

from dpsql.mechanisms.capped.release import CappedRelease
from dpsql.mechanisms.capped.sizes import SizeSearch
from dpsql.privacy.tables import RawTable

__all__ = ["BUGS"]


def no_cap(kind: type[CappedRelease]) -> AbstractContextManager[object]:
    """All rows of a unit count, whatever the cap."""

    stack = ExitStack()
    for name in ("within", "kept"):  # both ways to the rows within a cap
        stack.enter_context(patch.object(kind, name, _uncapped(getattr(kind, name))))
    return stack


def _uncapped(within: Callable[..., Any]) -> Callable[..., Any]:
    return lambda release, raw, place: within(release, raw, len(release.search.edges))


def every_row_a_unit(_: type[CappedRelease]) -> AbstractContextManager[object]:
    """Sizes count each row as if it were a unit."""

    def rows(search: SizeSearch, raw: RawTable, sampler: Any) -> list[int]:
        columns = {name: raw.column("rows" if name == "units" else name) for name in ("rank", "units")}
        return counted(search, RawTable(columns), sampler)

    counted = SizeSearch.counted
    return patch.object(SizeSearch, "counted", rows)


BUGS = (no_cap, every_row_a_unit)
