"""What is audited is a session; the other doors give its very numbers: they share it, and add no noise of their own."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from unittest.mock import patch

import pytest

import dpsql
from dpsql import dbapi
from dpsql.cli import main
from dpsql.testing_samplers import FixedSampler
from tests.unit.server.clinic import write_clinic

SQL = "SELECT sex, COUNT(*) AS n, AVG(age) AS a FROM people GROUP BY sex ORDER BY sex"
Rows = list[tuple[object, ...]]


def by_session(policy: Path, _: pytest.CaptureFixture[str]) -> Rows:
    with dpsql.open(policy) as proxy:
        return list(proxy.session(analyst="ana").query(SQL, epsilon=1).rows)


def by_dbapi(policy: Path, _: pytest.CaptureFixture[str]) -> Rows:
    with dbapi.connect(policy, analyst="ana", epsilon=1) as connection:
        return [tuple(row) for row in connection.cursor().execute(SQL).fetchall()]


def by_command_line(policy: Path, said: pytest.CaptureFixture[str]) -> Rows:
    said.readouterr()
    with pytest.raises(SystemExit) as end:
        main(["query", str(policy), SQL, "--analyst", "ana", "--epsilon", "1", "--format", "json"])
    assert not end.value.code
    columns = json.loads(said.readouterr().out)
    return [tuple(row) for row in columns["rows"]]


Door = Callable[[Path, pytest.CaptureFixture[str]], Rows]


def test_every_door_gives_the_numbers_of_the_session(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    found, doors = [], (by_session, by_dbapi, by_command_line)
    for number, door in enumerate(doors):
        folder = tmp_path / str(number)
        folder.mkdir()
        write_clinic(folder)
        with patch("dpsql.proxy.ExactSampler", lambda: FixedSampler("doors")):  # the same noise behind each of them
            found.append(door(folder / "clinic.yaml", capsys))
    assert len(found[0]) == 2
    assert found[0] == found[1] == found[2]
