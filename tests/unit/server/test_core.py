"""Who comes in, how often somebody may try, how much each may ask, and what the owner's log says of it."""

from __future__ import annotations

import asyncio
import gc
import os
import signal
from pathlib import Path
from threading import Thread

import pytest

from dpsql.errors import Error, OperationalError, ProgrammingError, UnsupportedQuery
from dpsql.policy import load_policy
from dpsql.policy.server import ServerSection
from dpsql.server import running
from dpsql.server.core import Server
from dpsql.server.doors import DoorKind
from dpsql.server.gate import Gate
from dpsql.server.listening import Listen, Tls, refuse_in_the_clear
from dpsql.server.lockout import TRIES, WRONG, Lockout
from dpsql.server.refusals import NotAdmitted, Stopping, TooMuch, UsersUnusable
from dpsql.server.users import ITERATIONS, OWNER, SALT, Users
from tests.unit.ledger.accounts import full_disk
from tests.unit.server.clinic import COUNT, POLICY, Clinic, guest, open_clinic

pytestmark = pytest.mark.chance(0, "tokens are drawn, of 256 bits; nothing of noise is asserted")


class Clock:
    now = 1000.0

    def __call__(self) -> float:
        return self.now


# -------------------------------------------------------------------------------------------------------------- users


def test_only_what_checks_a_token_is_kept_and_for_the_owner_alone(tmp_path: Path) -> None:
    (tmp_path / "clinic.yaml").write_text(POLICY)
    policy, file = load_policy(tmp_path / "clinic.yaml"), tmp_path / "clinic.users"
    token = Users(file).add("ana", policy)
    assert file.stat().st_mode & 0o777 == 0o600
    assert token.split("-", 1)[1] not in file.read_text()
    (user,) = Users(file).all()
    assert (user.name, token.startswith(user.id + "-"), len(token)) == ("ana", True, 10 + 1 + 43)
    assert user.verifier.fits(token)
    assert not user.verifier.fits(token[:-1])
    file.chmod(0o644)
    with pytest.raises(OperationalError, match="chmod 600"):
        Users(file).all()


def test_a_full_disk_leaves_the_users_as_they_are_and_nothing_beside_them(tmp_path: Path) -> None:
    (tmp_path / "clinic.yaml").write_text(POLICY)
    policy, users = load_policy(tmp_path / "clinic.yaml"), Users(tmp_path / "users")
    users.add("ana", policy)
    before = sorted(tmp_path.iterdir())
    with full_disk(), pytest.raises(OperationalError, match="users cannot be written: File too large"):
        users.remove("ana")
    assert sorted(tmp_path.iterdir()) == before
    assert [user.name for user in users.all()] == ["ana"]


def test_users_come_and_go_while_a_server_runs(tmp_path: Path) -> None:
    (tmp_path / "clinic.yaml").write_text(POLICY)
    policy = load_policy(tmp_path / "clinic.yaml")
    runs, owner = Users(tmp_path / "users"), Users(tmp_path / "users")
    assert runs.all() == ()
    token = owner.add("ana", policy)
    user = runs.of_token(token)
    assert user is not None
    assert (user.name, runs.named("ana"), runs.named("bob")) == ("ana", user, None)
    owner.remove("ana")
    assert runs.of_token(token) is None
    assert not runs.stands(user)
    owner.add("ana", policy)
    assert not runs.stands(user)


def test_a_stranger_has_one_salt_that_nothing_fits(tmp_path: Path) -> None:
    # A salt that changed from one exchange to the next would tell that there is no such user.
    users = Users(tmp_path / "users")
    eve, again, other = (users.stranger(name) for name in ("eve", "eve", "mallory"))
    assert eve.salt == again.salt != other.salt
    assert (len(eve.salt), eve.iterations) == (SALT, ITERATIONS)
    assert eve.stored_key != again.stored_key
    assert Users(tmp_path / "users").stranger("eve").salt != eve.salt  # nobody can work it out


@pytest.mark.parametrize(
    ("name", "says"),
    [("eve", "has no account"), ("*", "has no account"), ("a b", "no analyst's name"), ("", "no analyst's name")],
)
def test_only_analysts_of_the_policy_are_users(name: str, says: str, tmp_path: Path) -> None:
    (tmp_path / "clinic.yaml").write_text(POLICY)
    with pytest.raises(ProgrammingError, match=says):
        Users(tmp_path / "users").add(name, load_policy(tmp_path / "clinic.yaml"))


def test_names_of_users_differ_in_more_than_case(tmp_path: Path) -> None:
    (tmp_path / "clinic.yaml").write_text(POLICY.replace("bob:", '"*":'))
    users, policy = Users(tmp_path / "users"), load_policy(tmp_path / "clinic.yaml")
    users.add("ana", policy)
    with pytest.raises(ProgrammingError, match="ana is a user already"):
        users.add("ANA", policy)
    users.add_owner()
    users.add_owner()
    assert [user.name for user in users.all()] == ["ana", OWNER]
    with pytest.raises(ProgrammingError, match="no user bob"):
        users.remove("bob")


def test_a_damaged_file_lets_nobody_in(tmp_path: Path) -> None:
    (tmp_path / "users").touch(mode=0o600)
    (tmp_path / "users").write_text('{"users": [{"id": 1}]}')
    with pytest.raises(OperationalError, match="is damaged"):
        Users(tmp_path / "users").of_token("x")


# ----------------------------------------------------------------------------------------------------------- coming in


def test_a_token_names_its_user(clinic: Clinic) -> None:
    server = clinic.server
    assert server.bearer(clinic.tokens["ana"], "flight", "a").name == "ana"
    assert server.owner(clinic.tokens[""], "a").name == OWNER
    for wrong in (clinic.tokens["ana"] + "x", clinic.tokens["ana"][:12], "", "eve-eve", "\ud800"):
        with pytest.raises(NotAdmitted, match=WRONG):
            server.bearer(wrong, "flight", "b")
    with pytest.raises(NotAdmitted, match=WRONG):
        server.owner(clinic.tokens["ana"], "b")
    with pytest.raises(NotAdmitted, match="page alone"):
        server.guest(server.users.all()[-1], "flight", "a")


def test_five_wrong_tokens_lock_a_name_for_one_address_and_then_for_longer() -> None:
    clock = Clock()
    lockout = Lockout(clock)
    for _ in range(TRIES):
        lockout.check("ana", "192.0.2.1")
        lockout.wrong("ana", "192.0.2.1")
    with pytest.raises(NotAdmitted, match="in 60 s"):
        lockout.check("ana", "192.0.2.1")
    lockout.check("ana", "192.0.2.2")
    lockout.check("bob", "192.0.2.1")
    clock.now += 61
    lockout.check("ana", "192.0.2.1")
    lockout.wrong("ana", "192.0.2.1")
    with pytest.raises(NotAdmitted, match="in 120 s"):
        lockout.check("ana", "192.0.2.1")
    clock.now += 121
    lockout.right("ana", "192.0.2.1")
    lockout.wrong("ana", "192.0.2.1")
    lockout.check("ana", "192.0.2.1")


def test_a_right_token_does_not_open_a_lock(clinic: Clinic) -> None:
    server = Server(clinic.proxy, clinic.server.users)
    for _ in range(TRIES):
        with pytest.raises(NotAdmitted, match=WRONG):
            server.bearer(clinic.tokens["bob"] + "x", "flight", "c")
    with pytest.raises(NotAdmitted, match="Too many"):
        server.bearer(clinic.tokens["bob"], "flight", "c")
    assert server.bearer(clinic.tokens["bob"], "flight", "d").name == "bob"
    server.close()


# ----------------------------------------------------------------------------------------------------------- asking


def test_each_guest_asks_in_their_own_name(clinic: Clinic, events: list[dict[str, object]]) -> None:
    ana, bob = guest(clinic), guest(clinic, "bob")
    ana.ask("set", lambda session: session.query("SET epsilon = 0.25"))
    assert ana.query(COUNT).cost.epsilon == 0.25
    assert bob.query(COUNT).cost.epsilon == 0.5
    assert not bob.query(COUNT, epsilon=0.25).replayed
    assert ana.query(COUNT).replayed
    assert clinic.proxy.session(analyst="bob").budget().spent.epsilon == 0.75
    with pytest.raises(UnsupportedQuery):
        ana.query("SELECT person FROM people")
    ana.close()
    bob.close()
    asked = [event for event in events if event["event"] == "statement"]
    assert [(event["analyst"], event.get("cost")) for event in asked] == [
        ("ana", "epsilon 0.25"), ("bob", "epsilon 0.5"), ("bob", "epsilon 0.25"), ("ana", "nothing: released before"),
        ("ana", None),
    ]  # fmt: skip
    assert asked[-1]["refused"] == "UnsupportedQuery"
    assert clinic.server.gate.inside == 0


def test_rows_that_are_too_many_are_cut_with_their_intervals(clinic: Clinic) -> None:
    ana = guest(clinic)
    answer = ana.query("SELECT age, COUNT(*) AS n FROM people GROUP BY age")
    assert len(answer) == len(answer.interval("n")) == 50
    ana.close()


def test_limits_of_connections_statements_and_size() -> None:
    clock = Clock()
    gate, limits = Gate(clock), ServerSection(connections=2, statements_per_minute=3, statement_bytes=100)
    gate.enter("ana", limits)
    with pytest.raises(TooMuch, match="You have 1 connection, which is your most"):
        gate.enter("ana", limits)
    gate.enter("bob", limits)
    with pytest.raises(TooMuch, match="The server has 2 connections"):
        gate.enter("eve", limits)
    gate.leave("ana")
    gate.enter("ana", limits)
    assert gate.inside == 2
    with pytest.raises(TooMuch, match="101 bytes"):
        gate.statement("ana", 101, limits)
    for _ in range(3):
        gate.statement("ana", 100, limits)
        clock.now += 10
    with pytest.raises(TooMuch, match="Ask again in 30 s"):
        gate.statement("ana", 1, limits)
    gate.statement("bob", 1, limits)
    gate.statement("ana", 1, limits, free=True)
    clock.now += 30
    gate.statement("ana", 1, limits)


def test_statements_that_are_asked_together_count_each_all_of_them_or_none() -> None:
    clock = Clock()
    gate, limits = Gate(clock), ServerSection(statements_per_minute=3)
    with pytest.raises(TooMuch, match=r"These are 4 statements, and 3 in a minute are the most.*Ask for fewer at once"):
        gate.statement("ana", 1, limits, together=4)
    gate.statement("ana", 1, limits)
    clock.now += 10
    gate.statement("ana", 1, limits)
    with pytest.raises(TooMuch, match=r"3 statements in a minute are the most.*Ask again in 60 s"):
        gate.statement("ana", 1, limits, together=3)
    gate.statement("ana", 1, limits)
    gate.statement("ana", 1, limits, free=True, together=30)
    with pytest.raises(TooMuch, match="30 statements in a minute"):
        gate.statement("ana", 1, limits, free=True)


def test_a_removed_user_asks_nothing_more(clinic: Clinic) -> None:
    ana = guest(clinic)
    clinic.server.users.remove("ana")
    with pytest.raises(NotAdmitted, match="removed"):
        ana.query(COUNT)
    with pytest.raises(NotAdmitted, match="removed"):
        ana.admit(1)
    clinic.tokens["ana"] = clinic.server.users.add("ana", clinic.proxy.policy)
    with pytest.raises(NotAdmitted, match="removed"):
        ana.query(COUNT)
    ana.close()


def test_where_users_lie_is_told_to_the_owner_alone(tmp_path: Path, events: list[dict[str, object]]) -> None:
    """What is wrong with the file of users names its place: neither strangers nor analysts are told of it."""
    with open_clinic(tmp_path) as clinic:
        ana, file = guest(clinic), tmp_path / "clinic.users"
        file.chmod(0o644)
        for asked in (
            lambda: clinic.server.bearer(clinic.tokens["ana"], "flight", "a"),
            lambda: clinic.server.attempt("eve", "flight", "a"),
            lambda: ana.query(COUNT),
        ):
            with pytest.raises(OperationalError) as refused:
                asked()
            assert str(refused.value) == str(UsersUnusable())
        file.chmod(0o600)
        assert len(ana.query(COUNT)) == 1
        ana.close()
    assert {event["why"] for event in events if event["event"] == "users"} == {
        f"Others may read {file}. Write: chmod 600 {file}"
    }


def test_a_server_that_stops_takes_nothing_more(clinic: Clinic) -> None:
    server = Server(clinic.proxy, clinic.server.users)
    ana = guest(clinic, server=server)
    server.close()
    for refused in (lambda: ana.query(COUNT), lambda: ana.admit(1), lambda: guest(clinic, server=server)):
        with pytest.raises(Stopping):
            refused()
    ana.close()


def test_work_that_the_pool_no_longer_takes_is_refused_and_its_own_errors_are_its_own(clinic: Clinic) -> None:
    def fails() -> None:
        raise RuntimeError("of the work itself")

    server = Server(clinic.proxy, clinic.server.users)
    with pytest.raises(RuntimeError, match="of the work itself"):
        asyncio.run(server.work("ana", fails))
    server.pool.shutdown()
    with pytest.raises(Stopping):
        asyncio.run(server.work("ana", fails))


# ------------------------------------------------------------------------------------------------------------ listening


@pytest.mark.parametrize(
    "text", ["", "5433", "localhost", ":5433", "host:65536", "host:x", "unix:", "::1:5433", "h:-1"]
)
def test_what_is_no_address_is_told(text: str) -> None:
    with pytest.raises(ProgrammingError, match="is no address"):
        Listen.read(text)


@pytest.mark.parametrize(
    ("text", "network"),
    [("127.0.0.1:1", False), ("[::1]:1", False), ("localhost:1", False), ("unix:x", False), ("0.0.0.0:1", True),
     ("[::]:1", True), ("db.example:1", True)],
)  # fmt: skip
def test_a_network_needs_tls(text: str, network: bool, tmp_path: Path) -> None:
    listen = Listen.read(text)
    assert listen.network is network
    refuse_in_the_clear(listen, None, insecure=True)
    refuse_in_the_clear(listen, Tls(tmp_path, tmp_path), insecure=False)
    if network:
        with pytest.raises(OperationalError, match="in the clear"):
            refuse_in_the_clear(listen, None, insecure=False)
    with pytest.raises(OperationalError, match="no certificate and its key"):
        Tls(tmp_path / "cert", tmp_path / "key").context()


class Toy:
    """A door that says that it is open."""

    def __init__(self, server: Server) -> None:
        self.server = server

    async def start(self, listen: Listen, tls: Tls | None) -> str:
        if listen.port == 1:
            raise PermissionError(13, "Permission denied")
        Thread(target=lambda: os.kill(os.getpid(), signal.SIGTERM)).start()
        return f"toy://{listen}"

    async def stop(self) -> None:
        with pytest.raises(Stopping):  # whoever is in would go on asking meanwhile
            await self.server.work("ana", lambda: pytest.fail("this was begun after the signal"))
        assert self.server.pool.submit(lambda: "at work").result() == "at work"


def open_door(server: Server) -> Toy:
    return Toy(server)


def test_a_server_runs_until_it_is_told_to_stop(clinic: Clinic, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(running, "DOORS", (DoorKind("toy", __name__, "A toy."),))
    server, said = Server(clinic.proxy, clinic.server.users), list[str]()
    asyncio.run(running.run(server, {"toy": Listen.read("127.0.0.1:9")}, None, said.append))
    assert (said, server.stopping) == (["toy: toy://127.0.0.1:9"], True)
    with pytest.raises(Error, match=r"--toy cannot listen at 127\.0\.0\.1:1: Permission denied"):
        asyncio.run(running.run(Server(clinic.proxy, server.users), {"toy": Listen.read("127.0.0.1:1")}, None))


@pytest.mark.slow
def test_a_server_looks_for_garbage_often_though_its_start_did_not(
    clinic: Clinic, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(running, "DOORS", ())
    found, before = list[tuple[int, int]](), gc.get_threshold()

    async def seen() -> None:
        runs = asyncio.ensure_future(running.run(Server(clinic.proxy, clinic.server.users), {}, None))
        await asyncio.sleep(0)  # it has opened its doors, of which there are none, and waits
        found.append((gc.get_threshold()[0], gc.get_freeze_count()))
        runs.cancel()
        await asyncio.wait([runs])

    gc.set_threshold(400_000)
    try:
        asyncio.run(seen())
        found.append((gc.get_threshold()[0], gc.get_freeze_count()))
    finally:
        gc.set_threshold(*before)
    assert found == [(2_000, found[0][1]), (400_000, 0)]
    assert found[0][1] > 100_000
