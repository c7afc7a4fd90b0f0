"""One proxy without noise per policy, for the whole folder."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.sql.databases import POLICIES, open_proxy
from tests.sql.meaning import Bench


@pytest.fixture(scope="session")
def benches(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Bench]]:
    """Per policy: a session without noise, and DuckDB over the same bounded tables."""
    folder = tmp_path_factory.mktemp("sql")
    opened = {name: Bench(open_proxy(name, folder)) for name in POLICIES}
    yield opened
    for bench in opened.values():
        bench.close()
