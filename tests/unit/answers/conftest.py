"""A small hospital whose answers hold no noise."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

import dpsql.testing
from dpsql.session import Session
from dpsql.testing import Noiseless
from examples import hospital

ROOT = Path(__file__).parents[3]


@pytest.fixture(scope="module")
def session(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Session]:
    home = tmp_path_factory.mktemp("answers")
    shutil.copy(ROOT / "policies" / "hospital.yaml", home)
    hospital.build(home / "hospital.duckdb", patients=200, visits=1000)
    with dpsql.testing.open(home / "hospital.yaml", Noiseless()) as proxy:
        yield proxy.session(analyst="ana")
