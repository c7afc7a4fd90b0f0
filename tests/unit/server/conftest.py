"""One clinic for all tests of a file."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.unit.server.clinic import Clinic, open_clinic


@pytest.fixture(scope="module")
def clinic(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Clinic]:
    with open_clinic(tmp_path_factory.mktemp("clinic")) as opened:
        yield opened
