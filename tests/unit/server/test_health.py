"""Whether a server takes statements: by its engine, which is looked at though nobody asks."""

from __future__ import annotations

from pathlib import Path
from threading import Event

import pytest

from dpsql.errors import OperationalError
from dpsql.server.health import Health
from tests.unit.server.clinic import COUNT, guest, open_clinic

pytestmark = pytest.mark.chance(0, "tokens are drawn, of 256 bits; nothing of noise is asserted")


def test_an_engine_that_does_not_stand_is_told_once_and_looked_at_again(events: list[dict[str, object]]) -> None:
    fails = [True]

    def stand() -> None:
        if fails[0]:
            raise OperationalError("It does not stand.")

    health = Health(stand)
    assert health.ready
    for fails[0] in (True, True, False, False, True):
        health.look()
        assert health.ready is not fails[0]
    assert [event["event"] for event in events] == ["not ready", "ready", "not ready"]


def test_it_is_looked_at_though_nobody_asks() -> None:
    looked = Event()
    health = Health(looked.set, pause=0.001)
    health.watch()
    assert looked.wait(60)
    health.end()


def test_a_server_is_not_ready_without_its_tables_and_ready_with_them(tmp_path: Path) -> None:
    with open_clinic(tmp_path) as clinic:
        health, engine = clinic.server._health, clinic.proxy.backend.engine
        health.look()
        assert clinic.server.ready
        place = clinic.proxy._cache / "v1"
        engine.close()
        aside = place.rename(place.with_name("aside"))
        health.look()
        assert not clinic.server.ready
        aside.rename(place)
        health.look()
        assert clinic.server.ready
        assert guest(clinic).query(COUNT).rows == [(100,)]
