"""The owner's log is a private file, and no screen of an analyst's."""

from __future__ import annotations

from pathlib import Path

import pytest

from dpsql.engine import log
from dpsql.engine.log import OPERATOR, keep_in, overheard


def test_a_record_is_written_once_to_a_file_of_the_owners(tmp_path: Path) -> None:
    before = list(OPERATOR.handlers)
    ends = [keep_in(tmp_path), keep_in(tmp_path)]  # two proxies under one mark
    OPERATOR.error("a value of a row: %s", "é\ud800")
    for end in ends:
        end()
    OPERATOR.error("nobody listens")
    (line,) = (tmp_path / log.FILE).read_text().splitlines()
    assert line.endswith(r": a value of a row: é\ud800")
    assert (tmp_path / log.FILE).stat().st_mode & 0o777 == 0o600
    assert OPERATOR.handlers == before


def test_it_is_rotated(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(log, "LARGEST", 200)
    end = keep_in(tmp_path)
    for number in range(100):
        OPERATOR.error("the engine failed: %s", number)
    end()
    files = sorted(tmp_path.iterdir())
    assert [file.name for file in files] == [log.FILE, *(f"{log.FILE}.{n}" for n in (1, 2, 3))]
    assert {file.stat().st_mode & 0o777 for file in files} == {0o600}
    assert max(file.stat().st_size for file in files) <= 200


def test_it_stays_open_until_it_is_rotated_or_taken_away_by_another(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened, private = list[str](), log._private

    def counted(path: str, flags: int) -> int:
        opened.append(path)
        return private(path, flags)

    monkeypatch.setattr(log, "_private", counted)
    end, file, aside = keep_in(tmp_path), tmp_path / log.FILE, tmp_path / f"{log.FILE}.1"

    def told(*lines: str) -> None:
        for line in lines:
            OPERATOR.error(line)
        assert [line.rpartition(": ")[2] for line in file.read_text().splitlines()] == list(lines)
        assert file.stat().st_mode & 0o777 == 0o600

    told("one", "two")
    file.rename(aside)
    told("three", "four")
    file.unlink()
    told("five", "six")
    assert len(opened) == 3
    assert aside.read_text().count("\n") == 2
    end()
    end = keep_in(tmp_path)
    OPERATOR.error("seven")
    end()
    assert file.read_text().count("\n") == 3


def test_where_it_cannot_be_written_nothing_of_it_is_printed(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    end = keep_in(tmp_path / "gone")
    OPERATOR.error("a value of a row")
    end()
    assert capfd.readouterr() == ("", "")


def test_an_owners_command_hears_what_is_logged_meanwhile() -> None:
    with overheard() as said:
        OPERATOR.error("%s failed: %s", "build", "no such column")
    OPERATOR.error("later")
    assert said == ["build failed: no such column"]
