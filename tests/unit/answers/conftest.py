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


@pytest.fixture(scope="session")
def small_hospital(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Its policy, beside data that no test changes."""
    home = tmp_path_factory.mktemp("answers")
    shutil.copy(ROOT / "policies" / "hospital.yaml", home)
    hospital.build(home / "hospital.duckdb", patients=200, visits=1000)
    return home / "hospital.yaml"


@pytest.fixture(scope="module")
def session(small_hospital: Path) -> Iterator[Session]:
    with dpsql.testing.open(small_hospital, Noiseless()) as proxy:
        yield proxy.session(analyst="ana")
