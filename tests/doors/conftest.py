"""A real server in a process of its own, over TLS where openssl can make a certificate."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from dpsql.policy import load_policy
from dpsql.server.users import Users, users_file
from examples import postgres, spark
from tests.doors.elsewhere import Elsewhere, OnPostgres, OnSpark
from tests.unit.server.clinic import POLICY, write_clinic

CERTIFICATE = "req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=localhost -addext subjectAltName=IP:127.0.0.1"


@dataclass(frozen=True)
class Served:
    """A server's door.

    Attributes:
        port: On this machine.
        token: Ana's.
        certificate: What it shows, or None where it speaks no TLS.
    """

    port: int
    token: str
    certificate: Path | None

    @property
    def url(self) -> str:
        return f"postgresql://ana:{self.token}@127.0.0.1:{self.port}/clinic"


@pytest.fixture(scope="session")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    folder = tmp_path_factory.mktemp("served")
    described = POLICY.replace("  people:\n", "  people:\n    description: Whoever was ever here\n")
    described = described.replace("weight: {", "weight: {description: In kilograms, ")
    policy = load_policy(write_clinic(folder, described))
    token = Users(users_file(policy)).add("ana", policy)
    command = [sys.executable, "-m", "dpsql.cli", "serve", str(folder / "clinic.yaml"), "--postgres", "127.0.0.1:0"]
    certificate = folder / "cert.pem" if shutil.which("openssl") else None
    if certificate is not None:
        made = ["openssl", *CERTIFICATE.split(), "-keyout", "key.pem", "-out", "cert.pem"]
        subprocess.run(made, cwd=folder, check=True, capture_output=True)
        command += ["--tls-cert", str(certificate), "--tls-key", str(folder / "key.pem")]
    state = os.environ | {"XDG_STATE_HOME": str(folder / "state")}
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=state) as server:
        assert server.stdout is not None
        told = server.stdout.readline()
        yield Served(int(told.split(":")[-1].split("/")[0]), token, certificate)
        server.send_signal(signal.SIGTERM)
        assert server.wait(60) == 0


@pytest.fixture(scope="session")
def server() -> Iterator[postgres.Server]:
    """A PostgreSQL server with nothing in it."""
    programs = postgres.programs()
    if programs is None:
        pytest.skip("this machine has no PostgreSQL server")
    with postgres.running(programs) as server:
        yield server


@pytest.fixture(scope="session")
def cluster() -> Iterator[spark.Server]:
    """A Sail server, which speaks Spark Connect, with nothing in it; an Apache Spark where SPARK_HOME names one.

    SAIL_WORKERS=2 makes Sail a cluster, of which `test_spark_workers` asks less.
    """
    home = spark.apache()
    for package in ("pyspark",) if home else ("pyspark", "pysail"):
        pytest.importorskip(package, reason=f"{package} is not installed: pip install '.[sail]'")
    with spark.running(home, spark.workers()) as server:
        yield server


@pytest.fixture(scope="session", params=["postgres", "spark"])
def elsewhere(request: pytest.FixtureRequest) -> Elsewhere:
    """Every other engine, each in its turn."""
    if request.param == "postgres":
        return OnPostgres(request.getfixturevalue("server"))
    return OnSpark(request.getfixturevalue("cluster"))
