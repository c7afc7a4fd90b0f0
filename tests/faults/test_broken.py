"""What breaks around a ledger and a query, one thing at a time: locks, disks of the network, workers, memory, sources.

Ledgers that are cut, copied, set back or altered, and clocks that are set, are tried in `tests/attacks`.
"""

from __future__ import annotations

import os
import re
import resource
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import duckdb
import pytest

import dpsql
from dpsql import proxy as proxies
from dpsql import testing
from dpsql.errors import EngineFailed, LedgerError, OperationalError
from dpsql.ledger import folders, mark
from dpsql.policy import load_policy
from dpsql.proxy import Proxy
from dpsql.testing import Noiseless
from dpsql.worker import client
from dpsql.worker.client import Worker
from tests.faults.scenes import POLICY, PRIVATE, SOURCE
from tests.unit.ledger.accounts import ask, limits, opened

COUNT = "SELECT COUNT(*) AS n FROM patients"
pytestmark = pytest.mark.chance(0, "no noise is drawn, or nothing is asserted of it")


@pytest.fixture(params=[500])
def people(request: pytest.FixtureRequest) -> int:
    number: int = request.param
    return number


@pytest.fixture
def policy(tmp_path: Path, people: int) -> Path:
    (tmp_path / "source").mkdir()
    (tmp_path / "place" / "data").mkdir(parents=True)
    with duckdb.connect(str(tmp_path / "source" / "clinic.duckdb")) as connection:
        connection.execute(SOURCE.replace("500", str(people)))
    (tmp_path / "place" / "clinic.yaml").write_text(POLICY)
    return tmp_path / "place" / "clinic.yaml"


@pytest.fixture
def proxy(policy: Path) -> Iterator[Proxy]:
    with testing.open(policy, Noiseless()) as found:
        yield found


def worker_of(proxy: Proxy) -> Worker:
    found: Worker = proxy._backend.engine._workers.workers[0]  # type: ignore[attr-defined]  # the engine of DuckDB has some
    return found


def process_of(proxy: Proxy) -> int:
    child = worker_of(proxy)._child
    assert child is not None
    return child._process.pid


@pytest.mark.parametrize("kind", ["nfs4", "cifs", "fuse.glusterfs"])
@pytest.mark.parametrize("on", ["data", "marks"])
def test_a_ledger_or_its_mark_on_a_disk_of_the_network_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str, on: str
) -> None:
    """Two machines could hold one lock there: each asks its own kernel."""
    place = tmp_path / "data" / "ledger.db"
    place.parent.mkdir()
    (tmp_path / "marks").mkdir()
    other = tmp_path / ("marks" if on == "data" else "data")
    monkeypatch.setattr(os, "major", lambda device: device)
    monkeypatch.setattr(os, "minor", lambda device: 0)
    real = Path.stat

    def stat(self: Path, *, follow_symlinks: bool = True) -> os.stat_result:
        found = list(real(self, follow_symlinks=follow_symlinks))
        found[2] = 1 if self == other else 2  # the device
        return os.stat_result(found)

    mounts = tmp_path / "mounts"
    mounts.write_text(f"21 1 1:0 / / rw - ext4 /dev/sda rw\n22 1 2:0 / /mnt rw shared:1 - {kind} host:/x rw\n")
    monkeypatch.setattr(folders, "MOUNTS", mounts)
    monkeypatch.setattr(Path, "stat", stat)
    with pytest.raises(LedgerError, match=rf"{on} is on a file system of the network \({kind}\).*of this machine"):
        opened(place)
    assert not place.exists()


def test_of_two_machines_with_one_ledger_and_marks_of_their_own_the_second_is_refused(tmp_path: Path) -> None:
    place, elsewhere = tmp_path / "data" / "ledger.db", tmp_path / "other machine"
    place.parent.mkdir()
    with opened(place) as one:
        ask(one)
        with pytest.raises(LedgerError, match="no high-water mark"):
            type(one).open(place, pinned=one._state.pinned, limits=limits(), mark=elsewhere)
        ask(one)


HOLDS = """
import sqlite3, sys
sql = sqlite3.connect(sys.argv[1], isolation_level=None)
sql.execute("BEGIN IMMEDIATE")
print("held", flush=True)
sys.stdin.read()
"""


def test_a_ledger_that_another_program_has_locked_is_told_and_charges_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from dpsql.ledger import file

    monkeypatch.setattr(file, "PATIENCE", 0.2)
    place = tmp_path / "data" / "ledger.db"
    place.parent.mkdir()
    with opened(place) as ledger:
        ask(ledger)
        holder = [sys.executable, "-c", HOLDS, str(place)]
        with subprocess.Popen(holder, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as other:
            assert other.stdout
            assert other.stdout.readline() == "held\n"
            with pytest.raises(LedgerError, match=r"locked for writing: database is locked\. Nothing was read"):
                ask(ledger)
            other.communicate("")
        ask(ledger)  # and goes on once it is free
        assert len([entry for entry in ledger.log() if entry.kind == "charge"]) == 2


def test_marks_that_another_process_holds_are_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mark, "PATIENCE", 0.05)
    place = tmp_path / "data" / "ledger.db"
    place.parent.mkdir()
    with (
        opened(place) as ledger,
        folders.held(tmp_path / "marks" / "lock", patience=1),
        pytest.raises(LedgerError, match="Another process has held"),
    ):
        ask(ledger)


def fails_once(proxy: Proxy, sql: str, value: int) -> None:
    """The engine fails: one fixed text, the charge stands, and the next question is answered."""
    session = proxy.session(analyst="ana")
    with pytest.raises(EngineFailed) as failed:
        session.query(sql)
    assert str(failed.value) == EngineFailed.TEXT
    assert failed.value.__cause__ is None or not re.search(PRIVATE, str(failed.value.__cause__))
    assert session.budget().spent.epsilon == pytest.approx(0.1)
    assert session.query(sql).rows == [(value,)]
    assert session.budget().spent.epsilon == pytest.approx(0.2)


def test_a_worker_that_is_killed_at_work_fails_one_statement_whose_charge_stands(
    proxy: Proxy, monkeypatch: pytest.MonkeyPatch
) -> None:
    run, reply = Worker.run, client._reply

    def killed(self: Worker, *given: object, **named: object) -> object:
        monkeypatch.setattr(Worker, "run", run)
        self.stand()
        monkeypatch.setattr(client, "_reply", dying)
        os.kill(process_of(proxy), signal.SIGSTOP)  # it is found alive, and does not answer before it dies
        return run(self, *given, **named)  # type: ignore[arg-type]  # whatever it is given

    def dying(*given: object) -> object:
        monkeypatch.setattr(client, "_reply", reply)
        os.kill(process_of(proxy), signal.SIGKILL)
        return reply(*given)  # type: ignore[arg-type]  # whatever it is given

    monkeypatch.setattr(Worker, "run", killed)
    fails_once(proxy, COUNT, 500)


@pytest.mark.skipif(not hasattr(resource, "prlimit"), reason="only Linux limits another process")
@pytest.mark.parametrize("people", [500_000], indirect=True)
def test_an_engine_out_of_memory_fails_one_statement_whose_charge_stands(
    proxy: Proxy, people: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = Worker.run

    def starved(self: Worker, *given: object, **named: object) -> object:
        monkeypatch.setattr(Worker, "run", run)
        resource.prlimit(process_of(proxy), resource.RLIMIT_AS, (1 << 20, 1 << 20))  # less than it has already
        return run(self, *given, **named)  # type: ignore[arg-type]  # whatever it is given

    monkeypatch.setattr(Worker, "run", starved)
    fails_once(proxy, "SELECT COUNT(DISTINCT name) AS n FROM patients", people)


def replaced(source: Path) -> None:
    """Other people under the same name."""
    with duckdb.connect(str(source.with_name("other.duckdb"))) as connection:
        connection.execute(SOURCE.replace("range(500)", "range(700)"))
    source.with_name("other.duckdb").replace(source)


def deleted(source: Path) -> None:
    """No people any more."""
    source.unlink()


def garbled(source: Path) -> None:
    """No database any more."""
    source.write_bytes(b"Wilhelmina" * 1000)


@pytest.mark.every(2)
@pytest.mark.parametrize("happens", [replaced, deleted, garbled])
def test_a_source_that_is_replaced_changes_no_answer_and_is_refused_at_the_next_opening(
    policy: Path, happens: Callable[[Path], None]
) -> None:
    source = policy.parent.parent / "source" / "clinic.duckdb"
    with dpsql.open(policy) as running:
        first = running.session(analyst="ana").query(COUNT)
        happens(source)
        again = running.session(analyst="ana").query(COUNT)
        assert (again.rows, again.replayed) == (first.rows, True)
        running.session(analyst="ana").query("SELECT SUM(age) AS n FROM patients")
    with pytest.raises(OperationalError) as refused:
        dpsql.open(policy)
    assert re.search(PRIVATE, str(refused.value)) is None
    with proxies.open_ledger(running.policy) as ledger:
        assert len([entry for entry in ledger.log() if entry.kind == "charge"]) == 2


@pytest.mark.every(2)
@pytest.mark.parametrize("file", ["bounded.duckdb", "facts.json"])
@pytest.mark.parametrize("content", [b"", b"Wilhelmina" * 1000, None])
def test_bounded_tables_that_are_damaged_or_gone_are_refused_before_any_charge(
    policy: Path, file: str, content: bytes | None
) -> None:
    dpsql.open(policy).close()
    (found,) = (policy.parent / "cache").rglob(file)
    if content is None:
        found.unlink()
    else:
        found.write_bytes(content)
    with pytest.raises(dpsql.Error) as refused, dpsql.open(policy) as running:
        running.session(analyst="ana").query(COUNT)
    assert re.search(PRIVATE, str(refused.value)) is None
    loaded = load_policy(policy)
    with proxies.open_ledger(loaded) as ledger:
        assert [entry for entry in ledger.log() if entry.kind == "charge"] == []
    assert proxies.refresh(policy) == 2
    with dpsql.open(policy) as running:
        assert len(running.session(analyst="ana").query(COUNT).rows) == 1


def test_a_disk_without_the_ledgers_folder_is_told(policy: Path) -> None:
    dpsql.open(policy).close()
    shutil.rmtree(policy.parent / "data")
    with pytest.raises(LedgerError, match="is missing, and it was there before"):
        dpsql.open(policy)
