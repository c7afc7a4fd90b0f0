"""What does not fit in memory while the source is read lies in a private folder, and nothing of it stays."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from dpsql.engine.duckdb import database
from dpsql.errors import OperationalError
from dpsql.owner.checking.check import check
from dpsql.owner.scratch import scratch
from tests.unit.owner.clinic import data, policy


@pytest.fixture(autouse=True)
def _own_state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))


def left(folder: Path) -> list[str]:
    """What stands where jobs have their folders."""
    return sorted(file.name for file in (folder / "dpsql" / "reading").iterdir() if file.name != ".lock")


def test_a_folder_is_private_and_gone_afterwards(tmp_path: Path) -> None:
    own = policy(tmp_path)
    with scratch(own) as folder:
        assert folder.is_relative_to(tmp_path / "dpsql")
        assert all(level.stat().st_mode & 0o777 == 0o700 for level in (folder, folder.parent))
    assert left(tmp_path) == []


def test_the_folder_of_a_killed_job_is_removed_by_the_next_one_and_one_in_use_is_not(tmp_path: Path) -> None:
    own = policy(tmp_path)
    killed = (
        "import sys, time; from pathlib import Path; from dpsql.owner.scratch import scratch\n"
        "from tests.unit.owner.clinic import policy\n"
        "with scratch(policy(Path(sys.argv[1]))) as folder:\n"
        "    (folder / 'spilled').write_text('Wilhelmina')\n"
        "    print('there', flush=True); time.sleep(600)\n"
    )
    with subprocess.Popen([sys.executable, "-c", killed, tmp_path], stdout=subprocess.PIPE) as process:
        assert process.stdout
        process.stdout.readline()
        with scratch(own):
            assert len(left(tmp_path)) == 2
        os.kill(process.pid, signal.SIGKILL)
    assert len(left(tmp_path)) == 1
    with scratch(own) as folder:
        assert left(tmp_path) == [folder.name]


def test_what_does_not_fit_in_memory_goes_there_and_nowhere_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    into = tmp_path / "into"
    with database.reading({}, into) as source:
        source.rows("SET memory_limit = '50MB'")
        sorting = "SELECT max(n) FROM (SELECT row_number() OVER (ORDER BY hash(range), range) AS n FROM range(4000000))"
        assert source.rows(sorting) == [(4_000_000,)]
        assert source.rows("SELECT current_setting('temp_directory')") == [(str(into),)]
        assert into.is_dir()  # it was used
    assert not (tmp_path / ".tmp").exists()


def test_a_check_leaves_nothing_behind(tmp_path: Path) -> None:
    data(tmp_path)
    check(policy(tmp_path))
    assert left(tmp_path) == []


def test_a_cache_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    data(tmp_path)
    (tmp_path / "dpsql").write_text("a file")
    with pytest.raises(OperationalError, match=r"cannot be written in .*engine\.cache"):
        check(policy(tmp_path))
