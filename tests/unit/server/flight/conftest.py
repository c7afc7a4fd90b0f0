"""One clinic with a Flight SQL door for all tests of a file."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from dpsql.server.flight.door import FlightDoor
from tests.unit.server.clinic import Clinic, open_clinic
from tests.unit.server.flight.client import Client
from tests.unit.server.opening import opened


@pytest.fixture(scope="module")
def clinic(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Clinic]:
    with open_clinic(tmp_path_factory.mktemp("clinic")) as found:
        yield found


@pytest.fixture(scope="module")
def door(clinic: Clinic) -> FlightDoor:
    return FlightDoor(clinic.server)


@pytest.fixture(scope="module")
def where(door: FlightDoor) -> Iterator[str]:
    with opened(door) as address:
        yield address


@pytest.fixture
def ana(clinic: Clinic, where: str) -> Iterator[Client]:
    with Client(where) as client:
        client.login("ana", clinic.tokens["ana"])
        yield client
        client.act("CloseSession")
