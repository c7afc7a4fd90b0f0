"""A refresh beside a running server: new statements are asked of the new version, those under way end at theirs."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from threading import Event, Thread

import pytest

from dpsql.errors import LedgerError, OperationalError
from dpsql.owner.in_use import to_remove
from dpsql.policy import load_policy
from dpsql.server.core import Guest
from dpsql.server.tables import AGAIN, CurrentTables
from dpsql.session import Session
from tests.unit.server.clinic import COUNT, Clinic, guest, open_clinic, refresh

pytestmark = pytest.mark.chance(0, "tokens are drawn, of 256 bits; nothing of noise is asserted")


def versions(clinic: Clinic) -> list[str]:
    return sorted(place.name for place in clinic.proxy._cache.glob("v*"))


def test_new_statements_are_asked_of_the_new_version_without_a_restart(
    tmp_path: Path, events: list[dict[str, object]]
) -> None:
    with open_clinic(tmp_path) as clinic:
        ana = guest(clinic)
        assert ana.query(COUNT).rows == [(100,)]
        refresh(clinic, 60)
        assert ana.query(COUNT).replayed  # nobody looked yet
        clinic.server._limits.look()
        answer = ana.query(COUNT)
        assert (answer.rows, answer.replayed) == ([(60,)], False)
        assert ana.query(COUNT).replayed
        assert guest(clinic).query(COUNT).replayed
        clinic.server._limits.look()
    assert [event["version"] for event in events if event["event"] == "tables"] == [2]


def test_many_refreshes_and_every_worker_killed_end_no_statement(tmp_path: Path) -> None:
    with open_clinic(tmp_path) as clinic:
        ana = guest(clinic)
        assert not ana.query(COUNT).replayed
        for _ in range(3):
            refresh(clinic)
        assert versions(clinic) == ["v1", "v3", "v4"]
        clinic.proxy.backend.engine.close()
        assert not ana.query("SELECT COUNT(*) FROM people WHERE age > 1").replayed  # of version 1, by a new worker
        clinic.server._limits.look()
        assert clinic.proxy.backend.version == 4
        assert not ana.query(COUNT).replayed
        refresh(clinic)
        assert versions(clinic) == ["v4", "v5"]


def under_way(ana: Guest, meanwhile: Callable[[], None]) -> None:
    """Does something while the guest's session is at work."""
    begun, goes_on = Event(), Event()

    def work(session: Session) -> None:
        begun.set()
        assert goes_on.wait(60)
        assert session.query("SELECT COUNT(*) FROM people WHERE age > 2").rows

    thread = Thread(target=ana.ask, args=("slow", work))
    thread.start()
    assert begun.wait(60)
    meanwhile()
    goes_on.set()
    thread.join()


def test_a_statement_under_way_ends_at_its_version_whose_engine_ends_then(tmp_path: Path) -> None:
    with open_clinic(tmp_path) as clinic:
        ana, bob, before = guest(clinic), guest(clinic, "bob"), clinic.proxy.backend
        place, seen = clinic.proxy._cache / "v1", list[object]()

        def meanwhile() -> None:
            refresh(clinic)
            clinic.server._limits.look()
            seen.extend([clinic.proxy.backend.version, bob.ask("", lambda session: session.version), to_remove(place)])
            seen.append(any(worker.standing for worker in before.engine._workers.workers))  # type: ignore[attr-defined]  # DuckDB's

        under_way(ana, meanwhile)
        assert seen == [2, 2, None, True]
        assert not any(worker.standing for worker in before.engine._workers.workers)  # type: ignore[attr-defined]  # as above
        removed = to_remove(place)
        assert removed is not None
        removed.close()
        assert ana.ask("", lambda session: session.version) == 2


def test_what_set_said_outlives_a_refresh(tmp_path: Path) -> None:
    with open_clinic(tmp_path) as clinic:
        ana = guest(clinic)
        ana.query("SET epsilon = 0.25")
        refresh(clinic)
        clinic.server._limits.look()
        assert ana.query(COUNT).cost.epsilon == 0.25


def test_where_nothing_may_be_charged_nothing_is_after_a_refresh_either(tmp_path: Path) -> None:
    with open_clinic(tmp_path) as clinic:
        ana = guest(clinic)
        clinic.proxy.backend.charging.closed = "It allows less than was spent."
        refresh(clinic)
        clinic.server._limits.look()
        assert clinic.proxy.backend.version == 2
        with pytest.raises(OperationalError, match="Nothing was charged"):
            ana.query(COUNT)


def test_a_version_that_does_not_open_changes_nothing_and_is_tried_again(
    tmp_path: Path, events: list[dict[str, object]]
) -> None:
    now = [0.0]
    with open_clinic(tmp_path) as clinic:
        ana, tables = guest(clinic), CurrentTables(clinic.proxy, lambda: now[0])
        ana.query(COUNT)
        refresh(clinic)
        database = tmp_path / "clinic.duckdb"
        aside = database.rename(tmp_path / "aside")
        for _ in range(3):
            tables.look()
        now[0] = AGAIN
        tables.look()
        assert clinic.proxy.backend.version == 1
        assert ana.query(COUNT).replayed
        aside.rename(database)
        now[0] = 2 * AGAIN - 1
        tables.look()
        assert clinic.proxy.backend.version == 1
        now[0] = 2 * AGAIN
        tables.look()
        assert clinic.proxy.backend.version == 2
    assert [event["event"] for event in events if str(event["event"]).startswith("tables")] == ["tables stay", "tables"]


def test_a_version_of_other_tables_waits_for_a_restart(tmp_path: Path, events: list[dict[str, object]]) -> None:
    with open_clinic(tmp_path) as clinic:
        file = clinic.proxy.policy.file
        assert file is not None
        file.write_text(file.read_text().replace("bounds: [0, 99]", "bounds: [0, 90]"))
        refresh(clinic, policy=load_policy(file))
        clinic.server._limits.look()
        assert clinic.proxy.backend.version == 1
        assert guest(clinic).query(COUNT).rows == [(100,)]
    (why,) = (str(event["why"]) for event in events if event["event"] == "tables stay")
    assert why.endswith("refresh POLICY. Where the policy's tables were changed, start the server again.")


def test_a_ledger_that_cannot_be_read_is_read_again_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, events: list[dict[str, object]]
) -> None:
    with open_clinic(tmp_path) as clinic:
        refresh(clinic)
        with monkeypatch.context() as patched:

            def held(_: object) -> int:
                raise LedgerError("Another process holds it.")

            patched.setattr(type(clinic.proxy.ledger), "version", held)
            clinic.server.tables.look()
        clinic.server.tables.look()
        assert clinic.proxy.backend.version == 2
    assert [event["event"] for event in events if "tables" in str(event["event"])] == ["tables stay", "tables"]


def test_a_server_that_closes_ends_all_versions(tmp_path: Path) -> None:
    with open_clinic(tmp_path) as clinic:
        before = clinic.proxy.backend

        def meanwhile() -> None:
            refresh(clinic)
            clinic.server._limits.look()
            clinic.server.tables.end()
            assert to_remove(clinic.proxy._cache / "v1") is not None

        under_way(guest(clinic), meanwhile)
        before.close()
