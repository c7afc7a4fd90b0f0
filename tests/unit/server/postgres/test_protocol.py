"""The protocol, by a raw client: who comes in, both kinds of queries, errors in their fields, what no driver sends."""

from __future__ import annotations

import struct
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Event
from typing import Any

import duckdb
import pytest

from dpsql.server.core import Guest
from dpsql.server.postgres import door as door_module
from dpsql.server.postgres import open_door
from dpsql.server.postgres.wire import PENDING
from tests.unit.server.clinic import POLICY, open_clinic, refresh
from tests.unit.server.opening import opened
from tests.unit.server.postgres.conftest import Open
from tests.unit.server.postgres.raw import Raw, bind, describe, execute, message, parse, startup

pytestmark = pytest.mark.chance(0, "keys and tokens are drawn; nothing of noise is asserted")
BY_SEX = "SELECT sex, COUNT(*) AS n FROM people GROUP BY sex"


# ----------------------------------------------------------------------------------------------------------- coming in


def test_a_token_opens_the_door_and_settings_are_told(door: Open) -> None:
    raw = door.raw()
    reply = raw.enter("ana", door.clinic.tokens["ana"], application_name="psql", options="-c epsilon=0.125")
    assert (reply.errors, reply.status, len(raw.key)) == ([], "I", 8)
    assert reply.kinds.count("S") == 13
    assert "epsilon 0.125" in raw.ask("SELECT COUNT(*) FROM people WHERE age > 80").notices[0]
    raw.send(message(b"X"))
    assert raw.receive() == ("", b"")


@pytest.mark.parametrize(
    ("user", "token", "database", "code"),
    [
        ("ana", "wrong", "clinic", "28P01"), ("eve", "wrong", "clinic", "28P01"), ("", "wrong", "clinic", "28P01"),
        ("ana", "right", "postgres", "3D000"),
    ],
)  # fmt: skip
def test_strangers_and_wrong_tokens_get_one_error(door: Open, user: str, token: str, database: str, code: str) -> None:
    raw = door.raw()
    reply = raw.enter(user, door.clinic.tokens["ana"] if token == "right" else token, database)
    assert (reply.code, reply.errors[0]["S"]) == (code, "FATAL")
    assert code != "28P01" or reply.errors[0]["M"] == "The user's name or token is wrong."
    door.clinic.server.lockout.right(user, "127.0.0.1")


def test_nobody_asks_as_another_by_the_name_in_scram_or_in_a_setting(door: Open, ana: Raw) -> None:
    assert ana.ask("SET SESSION AUTHORIZATION bob").code == "0A000"
    assert ana.ask("SET role = 'bob'").tags == ["SET"]
    before = door.spent("bob")
    assert ana.ask("SELECT current_user, session_user").rows == [[b"ana", b"ana"]]
    assert ana.ask("SELECT COUNT(*) FROM people WHERE age > 1").rows
    assert door.spent("bob") == before


@pytest.mark.parametrize(
    "said",
    [
        b"\0\0\0\7abc", b"\0\xff\xff\xff", b"GET / HTTP/1.1\r\n\r\n", struct.pack(">ii", 8, 2 << 16),
        struct.pack(">ii", 12, 3 << 16) + b"user", startup(user="ana") + message(b"Q", b"SELECT 1\0"),
        startup(user="ana") + message(b"p", b"MD5\0\0\0\0\0"), startup(user="ana") + message(b"p", b"\xff\xff"),
    ],
)  # fmt: skip
def test_what_is_no_greeting_ends_the_connection_and_nothing_else(door: Open, said: bytes) -> None:
    raw = door.raw()
    raw.send(said)
    raw.socket.shutdown(1)
    while raw.receive()[0]:
        pass
    assert door.ana().ask("SELECT 1").rows == [[b"1"]]


def test_tls_is_declined_where_there_is_none_and_a_newer_version_is_negotiated(door: Open) -> None:
    raw = door.raw()
    raw.send(struct.pack(">ii", 8, 80877103))
    assert raw.socket.recv(1) == b"N"
    body = struct.pack(">i", (3 << 16) + 2) + b"user\0ana\0_pq_.x\0y\0\0"
    raw.send(struct.pack(">i", len(body) + 4) + body)
    assert raw.receive() == ("v", struct.pack(">ii", 3 << 16, 1) + b"_pq_.x\0")


def test_too_many_connections_are_refused_and_let_in_when_others_leave(door: Open) -> None:
    limit, tokens = door.clinic.server.limits.connections, door.clinic.tokens
    _wait(lambda: door.clinic.server.gate.inside == 0)
    inside = [door.ana() for _ in range(limit // 2)]
    full = door.raw().enter("ana", tokens["ana"])
    assert (full.code, full.errors[0]["M"]) == ("53300", "You have 10 connections, which is your most. Close one.")
    for _ in range(limit // 2):  # the other half is for others
        inside.append(door.raw())
        assert not inside[-1].enter("bob", tokens["bob"]).errors
    full = door.raw().enter("bob", tokens["bob"])
    assert (full.code, full.errors[0]["M"][:29]) == ("53300", "The server has 20 connections")
    for own in inside:
        own.close()
    _wait(lambda: door.clinic.server.gate.inside < limit // 2)
    door.ana().close()


# ------------------------------------------------------------------------------------------------------- simple queries


def test_a_simple_query_has_columns_rows_and_its_cost_as_a_notice(door: Open, ana: Raw) -> None:
    reply = ana.ask(BY_SEX)
    assert reply.columns == [("sex", 25), ("n", 20)]
    assert reply.rows == [[b"F", b"50"], [b"M", b"50"]]
    assert (reply.tags, reply.status) == (["SELECT 2"], "I")
    assert reply.notices[0].startswith(("Cost: epsilon 0.5. Left for one query: epsilon ", "Cost: nothing"))
    before = door.spent()
    assert ana.ask(f"{BY_SEX} ;").notices[0].startswith("Cost: nothing, this was released before.")
    assert ana.ask(f"SELECT * FROM ({BY_SEX}) t LIMIT 1").rows == [[b"F", b"50"]]
    nothing = ana.ask("SELECT smokes, SUM(age) AS a FROM people GROUP BY smokes LIMIT 0")
    assert (nothing.columns, nothing.rows, nothing.notices) == ([("smokes", 16), ("a", 20)], [], [])
    assert door.spent() == before


def test_how_intervals_are_shown_is_told_once_a_connection(door: Open, ana: Raw) -> None:
    other = door.ana()
    other.ask("SET intervals = on")
    told = [any("SET intervals = on" in notice for notice in raw.ask(BY_SEX).notices) for raw in (ana, ana, other)]
    assert told == [True, False, False]


def test_statements_come_one_after_another_until_one_is_refused(ana: Raw) -> None:
    reply = ana.ask("BEGIN; SELECT 1;; SELECT 'a;b' AS \"x;\"; SELECT nope FROM people; SELECT 2")
    assert reply.tags == ["BEGIN", "SELECT 1", "SELECT 1"]
    assert reply.rows == [[b"1"], [b"a;b"]]
    assert reply.errors[0]["P"] == str("BEGIN; SELECT 1;; SELECT 'a;b' AS \"x;\"; SELECT nope".index("nope") + 1)
    assert reply.status == "T"
    assert ana.ask("ROLLBACK").status == "I"
    assert ana.ask(" -- nothing\n;").kinds == "IZ"


def test_an_error_has_its_code_position_and_hint(ana: Raw) -> None:
    told = ana.ask("SELECT 'é',\n  person FROM people").errors[0]
    assert (told["C"], told["S"], told["V"]) == ("0A000", "ERROR", "ERROR")
    assert told["P"] == "15"
    assert told["H"] == "COUNT(DISTINCT person) counts people."
    assert told["H"] not in told["M"]


@pytest.mark.parametrize(
    ("sql", "code"),
    [
        ("COPY people TO STDOUT", "0A000"), ("LISTEN x", "0A000"), ("NOTIFY x", "0A000"),
        ("DELETE FROM people", "0A000"), ("SET LOCAL rho = 1", "0A000"), ("SELECT set_config('rho', 1, true)", "0A000"),
        ("DECLARE c CURSOR WITH HOLD FOR SELECT 1", "0A000"), ("FETCH ALL FROM c", "34000"), ("VACUUM", "0A000"),
        ("PREPARE TRANSACTION 'x'", "0A000"), ("COMMIT PREPARED 'x'", "0A000"), ("SET nope = 1", "42704"),
        ("SHOW nope", "42704"), ("SET server_version = '9'", "55P02"), ("SET client_encoding = 'LATIN1'", "22023"),
        ("SET epsilon = '-1'", "22023"), ("SET intervals = perhaps", "22023"), ("SET epsilon", "42601"),
        ("DEALLOCATE nope", "26000"), ("SELECT COUNT(*) FROM people WHERE age > $1", "22023"),
        ("SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS (epsilon = 1000) COUNT(*) FROM people", "53400"),
        ("EXPLAIN ANALYZE SELECT COUNT(*) FROM people", "0A000"), ("SELECT * FROM pg_nope", "0A000"),
    ],
)  # fmt: skip
def test_what_is_refused_costs_nothing_and_the_connection_goes_on(door: Open, ana: Raw, sql: str, code: str) -> None:
    before = door.spent()
    reply = ana.ask(sql)
    assert (reply.code, reply.status, reply.rows) == (code, "I", [])
    assert door.spent() == before
    assert ana.ask("SELECT 1").rows == [[b"1"]]


def test_settings_are_postgresql_s_own_or_dpsql_s(ana: Raw) -> None:
    reply = ana.ask("SET application_name TO 'DBeaver 25 <x>'; SHOW application_name; RESET ALL; SHOW DateStyle")
    assert reply.rows == [[b"DBeaver 25 <x>"], [b"ISO, MDY"]]
    assert reply.kinds.startswith("SC")
    assert ana.ask("SET TIME ZONE 'Europe/Berlin'; SHOW timezone").rows == [[b"Europe/Berlin"]]
    assert ana.ask("SET SESSION CHARACTERISTICS AS TRANSACTION READ ONLY").tags == ["SET"]
    assert ana.ask("SET SESSION epsilon TO '0.25'; SHOW epsilon; RESET epsilon").rows == [[b"0.25"]]
    assert ana.ask("SET myapp.user = 'x'; SET NAMES 'UTF8'; SET search_path TO \"$user\", public").tags == ["SET"] * 3
    assert len(ana.ask("SHOW ALL").rows) > 60
    for clean in ("DISCARD ALL", "UNLISTEN *", "CLOSE ALL", "DEALLOCATE ALL", "SELECT pg_advisory_unlock_all()"):
        assert not ana.ask(clean).errors


def test_a_list_is_an_array(ana: Raw) -> None:
    sql = "SELECT QUANTILE_CONT(age, [0.25, 0.75]) AS q, QUANTILE_DISC(age, [0.5]) AS m FROM people"
    reply = ana.tell(parse(sql), describe("S"), bind(), execute())
    assert reply.columns == [("q", 1022), ("m", 1016)]
    assert [(own or b"")[:1] + (own or b"")[-1:] for own in reply.rows[0]] == [b"{}", b"{}"]
    binary = ana.tell(parse(sql), bind(out=1), execute()).rows[0]
    assert [len(own or b"") for own in binary] == [20 + 2 * 12, 20 + 12]


def test_intervals_are_columns_on_request(ana: Raw) -> None:
    sql = "SELECT sex, COUNT(*) AS n, COUNT(*) > 5 AS many FROM people GROUP BY sex"
    assert ana.ask("SET intervals = on").tags == ["SET"]
    reply = ana.ask(sql)
    assert [name for name, _ in reply.columns] == ["sex", "n", "n_low", "n_high", "many"]
    assert [float(x or 0) for x in reply.rows[0][1:4]] == [50, 44, 56]
    described = ana.tell(parse(sql), describe("S"), bind(), execute())
    assert len(described.columns) == len(described.rows[0]) == 5
    ana.tell(parse(sql, name="kept"), describe("S", "kept"))
    assert ana.ask("RESET intervals; SHOW BUDGET").tags == ["RESET", "SELECT 1"]
    assert ana.tell(bind(name="kept"), execute()).errors[0]["M"] == "cached plan must not change result type"
    assert len(ana.ask(sql).columns) == 3


def test_what_was_described_before_a_refresh_is_asked_after_it_where_its_columns_are_the_same(tmp_path: Path) -> None:
    """A public table may come to have other types; a private one has those of the policy."""
    levels, people = "SELECT name FROM levels", "SELECT sex, COUNT(*) AS n FROM people GROUP BY sex"
    write = f"COPY (SELECT {{}} AS name) TO '{tmp_path / 'levels.parquet'}'"
    duckdb.execute(write.format("1"))
    policy = f"{POLICY}  levels: {{public: true, source: levels.parquet}}\n"
    with open_clinic(tmp_path, policy) as clinic, opened(open_door(clinic.server)) as url:
        raw = Raw(int(url.split(":")[-1].split("/")[0]))
        assert not raw.enter("ana", clinic.tokens["ana"]).errors
        for name, sql in (("levels", levels), ("people", people)):
            assert not raw.tell(parse(sql, name=name), describe("S", name)).errors
        duckdb.execute(write.format("'high'"))
        refresh(clinic)
        clinic.server._limits.look()
        changed = raw.tell(bind(name="levels"), execute()).errors[0]
        assert (changed["M"], changed["H"]) == (
            "cached plan must not change result type",
            "Prepare it again: the tables changed.",
        )
        assert len(raw.tell(bind(name="people"), execute()).rows) == 2
        assert raw.ask(levels).rows == [[b"high"]]
        raw.close()


# ----------------------------------------------------------------------------------------------------- extended queries


def test_parameters_and_results_are_text_or_binary(ana: Raw) -> None:
    sql = (
        "SELECT smokes, born, COUNT(*) * 0.5 AS w, COUNT(*) AS n FROM people WHERE age >= $1 AND sex = $2 GROUP BY ALL"
    )
    reply = ana.tell(parse(sql), describe("S"), bind([b"0", b"F"]), execute())
    assert reply.kinds.replace("N", "") == "1tT2DDDDCZ"
    assert reply.parameters == [20, 25]
    assert [oid for _, oid in reply.columns] == [16, 1082, 701, 20]
    assert reply.rows[0] == [b"f", b"1990-01-01", b"20", b"40"]
    values = [struct.pack(">h", 0), b"F"]
    binary = ana.tell(parse(sql, [21, 1043]), bind(values, binary=True, out=1), execute())
    assert binary.rows[0] == [b"\0", struct.pack(">i", -3652), struct.pack(">d", 20), struct.pack(">q", 40)]
    assert binary.notices[0].startswith("Cost: nothing, this was released before")


def test_a_portal_gives_rows_as_they_are_wanted(ana: Raw) -> None:
    sql = "SELECT age, COUNT(*) AS n FROM people WHERE age < 25 GROUP BY age"
    reply = ana.tell(parse(sql), bind(), execute(10), execute(10), execute(10), execute(10))
    assert (len(reply.rows), reply.tags, reply.kinds.count("s")) == (25, ["SELECT 5", "SELECT 0"], 2)


def test_what_waits_for_a_client_to_ask_for_it_is_sent_before_it_fills_the_memory(ana: Raw) -> None:
    described = describe("S", "wide")
    assert not ana.tell(parse(f"SELECT {', '.join('1' * 2000)}", name="wide"), described).errors
    ana.send(*(described for _ in range(PENDING // 40_000 + 1)))  # 40 kB of columns for each; no Sync
    assert ana.receive()[0] == "t"
    assert ana.tell().kinds[:1] == "T"


def test_prepared_statements_are_kept_until_they_are_closed(ana: Raw) -> None:
    assert ana.tell(parse("SELECT COUNT(*) FROM people WHERE sex = $1", name="s")).kinds == "1Z"
    assert ana.tell(parse("SELECT 1", name="s")).code == "42P05"
    assert ana.tell(bind([b"F"], name="s"), execute()).rows == [[b"50"]]
    assert ana.tell(message(b"C", b"Ss\0")).kinds == "3Z"
    assert ana.tell(bind([b"F"], name="s"), execute(), describe()).kinds == "EZ"  # the rest is skipped until Sync
    assert ana.tell(parse("SELECT 1; SELECT 2")).code == "42601"
    assert ana.tell(parse(""), describe("S"), bind(), execute()).kinds == "1tn2IZ"
    assert ana.tell(parse("SET epsilon = 0.5"), describe("S"), bind(), describe(), execute()).kinds == "1tn2nCZ"
    assert ana.tell(parse("SELECT nope FROM people"), describe("S")).code == "0A000"
    assert ana.tell(message(b"D", b"Pnone\0")).code == "34000"


@pytest.mark.parametrize(
    ("value", "oid", "binary"),
    [(b"x", 20, False), (b"{1,x}", 1007, False), (b"{{1},{2}}", 1007, False), (b"x", 1007, True),
     (b"12", 20, True), (b"\xff\xff\xff", 700, True), (b"NaN", 701, False),
     (b"2024-13-01 00:00:00", 1114, False), (b"\xff", 25, False)],
)  # fmt: skip
def test_a_parameter_that_is_no_value_is_told(ana: Raw, value: bytes, oid: int, binary: bool) -> None:
    reply = ana.tell(
        parse("SELECT COUNT(*) FROM people WHERE age > $1", [oid]), bind([value], binary=binary), execute()
    )
    assert (reply.code, reply.kinds) == ("22023", "1EZ")


def test_an_array_stands_for_a_list_of_values_and_is_described_as_one(door: Open, ana: Raw) -> None:
    sql = "SELECT COUNT(*) FROM people WHERE {} = ANY($1)"
    one = ana.tell(parse(sql.format("sex")), describe("S"), bind([b"{F}"]), execute())
    assert (one.parameters, one.rows) == ([1009], [[b"50"]])
    before = door.spent()
    assert ana.ask("SELECT COUNT(*) FROM people WHERE sex IN ('F')").rows == one.rows
    assert ana.ask("SELECT COUNT(*) FROM people WHERE sex = ANY('{F}'::text[])").rows == one.rows
    assert ana.ask("SELECT COUNT(*) FROM people WHERE sex = ANY(ARRAY['F'])").rows == one.rows
    assert door.spent() == before, "it is the same statement"
    binary = struct.pack(">iiiii", 1, 0, 23, 2, 1) + struct.pack(">ii", 4, 7) + struct.pack(">ii", 4, 8)
    for oid, form in ((1007, True), (0, True), (0, False), (1016, False)):
        value = bind([binary if form else b"{7,8}"], binary=form)
        assert ana.tell(parse(sql.format("age"), [oid]), value, execute()).rows == [[b"4"]]
    assert ana.tell(parse(sql.format("person"), [1007]), bind([b"{7}"]), execute()).code == "0A000"
    assert ana.tell(parse(sql.format("age"), [1007]), bind([b"{}"]), execute()).code == "22023"


def test_the_ends_of_a_whole_number_beyond_64_bits_are_null(ana: Raw) -> None:
    assert ana.ask("SET intervals = on").tags == ["SET"]
    assert ana.ask("SET epsilon = 0.000000001").tags == ["SET"]
    reply = ana.ask("SELECT SUM(age * 10000000000000) AS n FROM people")
    assert [oid for _, oid in reply.columns] == [20] * 3
    assert [value for value in reply.rows[0] if value is not None] == [b"40500000000000000"]


# -------------------------------------------------------------------------------------------- what goes wrong meanwhile


@contextmanager
def _slow(monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[Event, Event]]:
    """Statements of guests wait until they may go on: the charge, then the answer."""
    begun, may = Event(), Event()
    query = Guest.query

    def slow(self: Guest, *args: Any, **options: Any) -> Any:
        answer = query(self, *args, **options)
        begun.set()
        may.wait(20)
        return answer

    monkeypatch.setattr(Guest, "query", slow)
    try:
        yield begun, may
    finally:
        may.set()
        monkeypatch.undo()


def test_a_cancelled_statement_stays_charged_and_is_then_free(
    door: Open, ana: Raw, monkeypatch: pytest.MonkeyPatch
) -> None:
    sql, before = "SELECT SUM(age) AS cancelled FROM people", door.spent()
    with _slow(monkeypatch) as (begun, may):
        ana.send(message(b"Q", sql.encode() + b"\0"))
        assert begun.wait(20)
        for key in (b"\0" * 8, ana.key[:4] + b"\0" * 4, b"x"):  # of nobody: nothing happens
            _cancel(door, key)
        _cancel(door, ana.key)
        assert ana.reply().code == "57014"
        may.set()
    assert door.spent() == before + 0.5
    assert ana.ask(sql).notices[0].startswith("Cost: nothing")


def _cancel(door: Open, key: bytes) -> None:
    raw = door.raw()
    raw.send(struct.pack(">ii", 8 + len(key), 80877102) + key)
    assert raw.receive() == ("", b"")


def test_a_client_that_vanishes_has_paid_and_finds_its_answer(door: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    sql, before, raw = "SELECT SUM(age) AS vanished FROM people WHERE age > 3", door.spent(), door.ana()
    with _slow(monkeypatch) as (begun, may):
        raw.send(message(b"Q", sql.encode() + b"\0"))
        assert begun.wait(20)
        raw.close()
        may.set()
    assert door.spent() == before + 0.5
    assert door.ana().ask(sql).notices[0].startswith("Cost: nothing")


@pytest.mark.parametrize(
    ("said", "code"),
    [
        (b"Q\0\0\0\0", "08P01"), (message(b"Z"), "08P01"), (message(b"Q", b"SELECT 1"), "08P01"),
        (message(b"B", b"\0\0\0\5"), "08P01"), (message(b"Q", b"\xff\0"), "08P01"),
        (b"Q" + struct.pack(">i", 200_000), "54000"), (b"\x7fELF\xff\xff\xff\xff", "54000"),
    ],
)  # fmt: skip
def test_a_broken_or_huge_message_ends_one_connection(door: Open, said: bytes, code: str) -> None:
    raw = door.ana()
    raw.send(said)
    reply = raw.reply()
    assert (reply.code, reply.errors[0]["S"], reply.status) == (code, "FATAL", "")
    assert door.ana().ask("SELECT 1").rows == [[b"1"]]


def test_who_proves_nothing_in_time_is_hung_up_on(door: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(door_module, "LET_IN", 0.05)
    raw = door.raw()
    raw.send(b"\0\0")
    kind, body = raw.receive()
    assert (kind, b"57P05" in body) == ("E", True)


def _wait(until: Any) -> None:
    ends = time.monotonic() + 20
    while not until() and time.monotonic() < ends:
        time.sleep(0.01)
    assert until()
