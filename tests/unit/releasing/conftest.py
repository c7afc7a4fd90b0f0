"""The clinic of test_creating.py, once for the tests of a file."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

import dpsql.testing
from dpsql.proxy import Proxy
from tests.unit.releasing.test_creating import build


@pytest.fixture(scope="module")
def policy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build(tmp_path_factory.mktemp("clinic"))


@pytest.fixture
def proxy(policy: Path) -> Iterator[Proxy]:
    with dpsql.testing.open(policy, sampler=dpsql.testing.Noiseless()) as found:
        yield found
