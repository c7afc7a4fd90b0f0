"""``dpsql serve``: doors that may open, a statement through one, an end at SIGTERM; one clear error for the rest."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys

import pytest

from tests.unit.cli.clinic import Clinic, assert_one_clear_error
from tests.unit.server.postgres.raw import Raw

pytestmark = pytest.mark.chance(0, "the noise of one count is drawn; nothing of it is asserted")


@pytest.mark.slow
def test_an_analyst_asks_over_a_socket_until_the_owner_stops_the_server(clinic: Clinic) -> None:
    token = clinic.dpsql("user", "add", "clinic.yaml", "ana").out.strip()
    command = [sys.executable, "-m", "dpsql.cli", "serve", "clinic.yaml", "--postgres", "127.0.0.1:0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=os.environ) as server:
        try:
            assert server.stdout is not None
            told = server.stdout.readline()
            assert told.startswith("postgres: postgresql://NAME:TOKEN@127.0.0.1:")
            raw = Raw(int(told.split(":")[-1].split("/")[0]))
            assert raw.enter("ana", token).status == "I"
            assert raw.ask("SELECT COUNT(*) FROM visits").tags == ["SELECT 1"]
        finally:
            server.send_signal(signal.SIGTERM)
        assert raw.reply().errors[0]["C"] == "57P01"
        raw.close()
        _, said = server.communicate(timeout=60)
        assert server.returncode == 0
        assert all(line.endswith("%") for line in said.splitlines()), "how far the build is, and nothing else"
    assert "0.5" in clinic.dpsql("budget", "clinic.yaml", "--analyst", "ana").out
    log = clinic.folder / "mark" / "server.log"
    assert log.stat().st_mode & 0o777 == 0o600
    events = [json.loads(line)["event"] for line in log.read_text().splitlines()]
    assert events == ["open", "admitted", "statement", "stopping", "left", "stopped"]


def test_what_may_not_be_opened_is_told_before_anything_is(clinic: Clinic) -> None:
    assert clinic.dpsql("serve", "clinic.yaml").code == 2
    assert clinic.dpsql("serve", "clinic.yaml", "--postgres", "127.0.0.1:0", "--tls-cert", "x").code == 2
    assert_one_clear_error(clinic.dpsql("serve", "clinic.yaml", "--postgres", "nowhere"), "is no address")
    assert_one_clear_error(clinic.dpsql("serve", "clinic.yaml", "--postgres", "0.0.0.0:0"), "--tls-cert")
    wrong = ("--tls-cert", "clinic.yaml", "--tls-key", "clinic.yaml")
    assert_one_clear_error(clinic.dpsql("serve", "clinic.yaml", "--postgres", "0.0.0.0:0", *wrong), "no certificate")
    with socket.create_server(("127.0.0.1", 0)) as taken:
        where = f"127.0.0.1:{taken.getsockname()[1]}"
        assert_one_clear_error(clinic.dpsql("serve", "clinic.yaml", "--postgres", where), "cannot listen")
