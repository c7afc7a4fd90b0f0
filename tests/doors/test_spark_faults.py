"""A cluster that is full, too old, or lets nobody in: one clear error, and nothing charged that was not read.

Each fault is answered at a door before a real server.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import grpc
import pytest

import dpsql
import dpsql.testing
from dpsql.engine.spark.connecting import SETTINGS, SparkFailed, opened
from dpsql.errors import EngineFailed, OperationalError, PolicyError
from dpsql.policy import load_policy
from dpsql.proxy import refresh
from dpsql.testing_samplers import Noiseless
from examples.spark import Server
from tests.doors.broken_cluster import Broken, Fault, before
from tests.doors.elsewhere import OnSpark, made
from tests.doors.test_bad_input_elsewhere import ASKED, ODD, POLICY

pytestmark = [pytest.mark.doors, pytest.mark.chance(0, "no noise is looked at")]

FULL = (grpc.StatusCode.INTERNAL, "java.io.IOException: No space left on device")
MEMORY = (grpc.StatusCode.RESOURCE_EXHAUSTED, "Resources exhausted: 77 people")
NO_ROUTINE = (grpc.StatusCode.INTERNAL, "[UNRESOLVED_ROUTINE] Cannot resolve routine `split_part`")
DENIED = (grpc.StatusCode.PERMISSION_DENIED, "[INSUFFICIENT_PERMISSIONS] of 77 people")
STRANGER = (grpc.StatusCode.UNAUTHENTICATED, "no such token")

SLOW = 1.0  # Seconds that a busy server takes to read a statement. A choice: far more than an idle one takes.

Place = tuple[Broken, Path]


@pytest.fixture
def place(cluster: Server, tmp_path: Path) -> Iterator[Place]:
    """The door, and a policy that goes through it."""
    there = OnSpark(cluster)
    (tmp_path / "odd.yaml").write_text(POLICY)
    policy = there.moved(tmp_path / "odd.yaml", there.load(made(tmp_path, ODD)), deadline=there.soon)
    with before(cluster.port) as (door, port):
        policy.write_text(policy.read_text().replace(f":{cluster.port}/", f":{port}/"))
        yield door, policy


def test_without_a_fault_the_door_is_not_seen(place: Place) -> None:
    door, policy = place
    with dpsql.testing.open(policy, Noiseless()) as proxy:
        assert [row[1] for row in proxy.session(analyst="ana").query(ASKED).rows] == [50, 50]
    assert len(door.seen) > 20


@pytest.mark.parametrize(
    ("method", "part", "fault", "told"),
    [
        ("", b"", STRANGER, "does not let dpsql in"),
        ("", b"split_part", NO_ROUTINE, "lacks what dpsql's SQL is made of. Name one of version 4 or newer"),
        ("ExecutePlan", b"parquet", FULL, "not enough disk or memory. Nothing was built"),
        ("ExecutePlan", b"parquet", MEMORY, "not enough disk or memory. Nothing was built"),
        ("AnalyzePlan", b"`Odd`", DENIED, "has no table or view Odd .* or cannot read it"),
    ],
)
def test_an_opening_that_fails_says_what_to_do(place: Place, method: str, part: bytes, fault: Fault, told: str) -> None:
    door, policy = place
    door.answers = lambda called, message: fault if called.startswith(method) and part in message else None
    with pytest.raises((OperationalError, PolicyError), match=told) as failed:
        dpsql.open(policy)
    assert "77" not in str(failed.value)
    door.answers = lambda called, message: None
    with dpsql.open(policy) as proxy:
        assert proxy.session(analyst="ana").budget().spent.epsilon == 0


@pytest.mark.parametrize("fault", [FULL, MEMORY, DENIED, STRANGER])
def test_a_statement_that_fails_has_the_fixed_text_before_and_after_its_charge(place: Place, fault: Fault) -> None:
    door, policy = place
    with dpsql.open(policy) as proxy:
        session = proxy.session(analyst="ana")
        assert session.query("SELECT COUNT(*) FROM odd").rows
        door.answers = lambda called, message: fault if called == "AnalyzePlan" and b"SUM" in message else None
        with pytest.raises(OperationalError, match=r"not ready\. Nothing was spent"):
            session.query("SELECT SUM(upper) FROM odd")
        assert session.budget().spent.epsilon == 1
        door.answers = lambda called, message: fault if called == "ExecutePlan" and b"SUM" in message else None
        with pytest.raises(EngineFailed) as failed:
            session.query("SELECT SUM(upper) FROM odd")
        assert str(failed.value) == str(EngineFailed())
        assert session.budget().spent.epsilon == 2
        door.answers = lambda called, message: None
        assert session.query("SELECT SUM(upper) FROM odd").rows
        assert session.query("SELECT COUNT(*) FROM odd").replayed


def test_a_build_that_fails_midway_leaves_the_version_that_stands(place: Place) -> None:
    door, policy = place
    with dpsql.open(policy) as proxy:
        assert proxy._backend.engine.version == 1
    count = 0

    def after_some(called: str, message: bytes) -> Fault | None:
        nonlocal count
        writes = called == "ExecutePlan" and b"parquet" in message
        count += writes
        return MEMORY if count > 1 and writes else None

    door.answers = after_some
    with pytest.raises(OperationalError, match="not enough disk or memory"):
        refresh(policy)
    door.answers = lambda called, message: None
    with dpsql.open(policy) as proxy:
        assert proxy._backend.engine.version == 1
        assert proxy.session(analyst="ana").query("SELECT COUNT(*) FROM odd").rows
    assert refresh(policy) == 2


def test_a_server_that_is_busy_is_waited_for_as_long_as_is_said(place: Place, cluster: Server) -> None:
    door, policy = place
    remote = load_policy(policy).engine.source(str)["remote"]

    def busy(called: str, message: bytes) -> Fault | None:
        time.sleep(SLOW if called == "AnalyzePlan" else 0)
        return None

    door.answers = busy
    with closing(opened(remote, 10 * SLOW)) as session:  # a build waits for much longer
        assert [name for name, _ in session.columns("SELECT 1 AS one")] == ["one"]
        session.seconds = SLOW / 4
        with pytest.raises(SparkFailed) as failed:
            session.columns("SELECT 1 AS one")
    assert failed.value.gone and failed.value.late


def test_whatever_a_session_was_set_to_the_answers_are_the_same(place: Place, cluster: Server) -> None:
    _, policy = place
    others = {name: "false" if value == "true" else "true" for name, value in SETTINGS.items()}
    others["spark.sql.session.timeZone"] = "Asia/Kolkata"
    with cluster.asked() as session:
        session._set(others)  # Sail's is one session with the owner's, of one name
        with dpsql.testing.open(policy, Noiseless()) as proxy:
            assert [row[1] for row in proxy.session(analyst="ana").query(ASKED).rows] == [50, 50]
        session.settle()
