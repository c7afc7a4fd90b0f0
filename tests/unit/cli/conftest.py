"""The clinic, as each test of the command line finds it."""

from __future__ import annotations

from pathlib import Path

import duckdb
import pytest

from tests.unit.cli.clinic import Clinic


@pytest.fixture(scope="module")
def database(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("database") / "clinic.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.execute(
            "CREATE TABLE visits AS "
            "SELECT i AS visit_id, i % 100 AS patient_id, (i * 7) % 401 AS cost FROM range(1000) t(i)"
        )
    return path


@pytest.fixture
def clinic(
    tmp_path: Path, database: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> Clinic:
    (tmp_path / "clinic.duckdb").write_bytes(database.read_bytes())
    (tmp_path / "ledger").mkdir()
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    return Clinic(tmp_path, capsys).with_rows_per_unit(7)


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory, database: Path) -> Path:
    """A clinic's folder, shared by tests that spend nothing."""
    folder = tmp_path_factory.mktemp("built")
    (folder / "clinic.duckdb").write_bytes(database.read_bytes())
    (folder / "ledger").mkdir()
    return folder


@pytest.fixture
def open_clinic(built: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Clinic:
    monkeypatch.chdir(built)
    monkeypatch.setenv("XDG_STATE_HOME", str(built / "state"))
    return Clinic(built, capsys).with_rows_per_unit(7)
