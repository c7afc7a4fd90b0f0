"""Flight SQL by hand: what is free and what is charged, sessions, parameters, refusals, broken and huge messages."""

from __future__ import annotations

import json
import logging
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import grpc
import pyarrow as pa
import pytest

from dpsql.server.events import EVENTS
from dpsql.server.flight.door import FlightDoor
from dpsql.server.flight.messages import any_message
from dpsql.server.flight.sessions import STATEMENTS
from dpsql.server.flight.wire import field, read
from tests.unit.server.clinic import COUNT, Clinic
from tests.unit.server.flight.client import Client, stream_messages
from tests.unit.server.opening import opened

pytestmark = pytest.mark.chance(0, "no noise is drawn")
OLDER = "SELECT COUNT(*) AS n FROM people WHERE age >= ? AND sex = ?"


def spent(clinic: Clinic, analyst: str = "ana") -> float:
    return clinic.proxy.session(analyst=analyst).budget().spent.epsilon


@contextmanager
def heard(event: str) -> Iterator[list[str]]:
    """The lines of the owner's log about one kind of event."""
    found: list[str] = []
    handler = logging.Handler()
    handler.emit = lambda record: found.extend([record.getMessage()] * (f'"{event}"' in record.getMessage()))  # type: ignore[method-assign]
    EVENTS.addHandler(handler)
    yield found
    EVENTS.removeHandler(handler)


def bound(*values: object) -> list[tuple[bytes, bytes]]:
    return stream_messages(pa.table({str(i): [value] for i, value in enumerate(values)}))


def refused(code: str, says: str, client: Client, sql: str) -> None:
    with pytest.raises(grpc.RpcError, match=says) as caught:
        client.query(sql)
    assert caught.value.code() is grpc.StatusCode[code]


# ------------------------------------------------------------------------------------------------------------ answers


def test_a_schema_is_free_and_an_answer_is_charged_once(clinic: Clinic, ana: Client) -> None:
    before = spent(clinic)
    info = ana.info("CommandStatementQuery", field(1, COUNT))
    schema = pa.ipc.read_schema(pa.py_buffer(info.blob(1)))
    assert spent(clinic) == before
    table = ana.get(info)
    assert table.to_pydict() == {"n": [100]}
    assert table.schema.equals(schema)
    assert spent(clinic) == before + 0.5
    assert table.schema.metadata[b"dpsql_cost"] == b"epsilon 0.5"
    notes = table.schema.metadata[b"dpsql_notes"].decode().split("\n")
    assert len(notes) == len({*notes}) > 0
    assert json.loads(ana.last)["dpsql_left"] == f"epsilon {39.5 - before:g}, delta 2.5e-08"
    again = ana.get(info)
    assert again.equals(table)
    assert again.schema.metadata[b"dpsql_cost"] == b"nothing: released before"
    assert spent(clinic) == before + 0.5
    options = [read(read(own).blob(2)).text(1) for own in read(ana.act("GetSessionOptions")[0]).blobs(1)]
    assert "nothing: released before" in options


def test_a_list_is_a_list(ana: Client) -> None:
    info = ana.info("CommandStatementQuery", field(1, "SELECT QUANTILE_CONT(age, [0.25, 0.75]) AS q FROM people"))
    table = ana.get(info)
    assert table.schema.equals(pa.ipc.read_schema(pa.py_buffer(info.blob(1))))
    assert table.schema.field("q").type == pa.list_(pa.float64())
    assert [len(own) for own in table.to_pydict()["q"]] == [2]


def test_intervals_are_columns_where_they_are_asked_for(clinic: Clinic, ana: Client) -> None:
    ana.more = (("dpsql-intervals", "on"),)
    assert ana.query(COUNT).column_names == ["n", "n_low", "n_high"]
    ana.more = ()
    assert ana.query(COUNT).column_names == ["n"]
    ana.query("SET intervals = on")
    info = ana.info("CommandStatementQuery", field(1, COUNT))
    assert pa.ipc.read_schema(pa.py_buffer(info.blob(1))).names == ["n", "n_low", "n_high"]
    assert ana.get(info).column_names == ["n", "n_low", "n_high"]
    with Client(ana.where, f"Bearer {clinic.tokens['ana']}") as other:
        assert other.query(COUNT).column_names == ["n"]


def test_many_rows_come_in_batches_of_a_megabyte(ana: Client) -> None:
    table = ana.query("SELECT age, COUNT(*) AS n FROM people GROUP BY age")
    assert (table.num_rows, table.schema.types) == (50, [pa.int64(), pa.int64()])


# ----------------------------------------------------------------------------------------------------------- sessions


def test_set_holds_in_the_session_of_a_login_alone(clinic: Clinic, ana: Client, where: str) -> None:
    ana.query("SET epsilon = 0.125")
    before = spent(clinic)
    ana.query("SELECT COUNT(*) FROM people WHERE age > 3")
    assert spent(clinic) == before + 0.125
    with Client(where) as second:
        second.login("ana", clinic.tokens["ana"])
        second.query("SELECT COUNT(*) FROM people WHERE age > 4")
    assert spent(clinic) == before + 0.625
    with Client(where, f"Bearer {clinic.tokens['ana']}") as shared:
        refused("INVALID_ARGUMENT", "shared by all who send", shared, "SET epsilon = 0.1")
        refused("INVALID_ARGUMENT", "shared by all who send", shared, "SET intervals = on")
        assert shared.query(COUNT).num_rows == 1


def test_set_holds_from_its_description_on_in_the_order_of_these(clinic: Clinic, ana: Client) -> None:
    first = ana.info("CommandStatementQuery", field(1, "SET epsilon = 0.125"))
    second = ana.info("CommandStatementQuery", field(1, "SET epsilon = 0.25"))
    before = spent(clinic)
    ana.query("SELECT COUNT(*) FROM people WHERE age > 1")
    assert ana.get(second).to_pylist() == [{"option": "epsilon", "value": "0.25"}]
    assert ana.get(first).to_pylist() == [{"option": "epsilon", "value": "0.125"}]
    ana.query("SELECT COUNT(*) FROM people WHERE age > 2")
    assert spent(clinic) == before + 0.5


def test_session_options_are_set_statements(ana: Client) -> None:
    options = {"epsilon": field(1, "0.25"), "intervals": field(2, 1), "catalog": field(1, "clinic"), "x": field(1, "y")}
    body = b"".join(field(1, field(1, name) + field(2, value)) for name, value in options.items())
    wrong = [read(own).text(1) for own in read(ana.act("SetSessionOptions", body)[0]).blobs(1)]
    assert wrong == ["x"]
    assert ana.query("SELECT COUNT(*) AS n FROM people WHERE age > 5").column_names == ["n", "n_low", "n_high"]


def test_a_session_that_ended_is_told(clinic: Clinic, where: str) -> None:
    with Client(where) as client:
        client.login("ana", clinic.tokens["ana"])
        client.act("CloseSession")
        refused("UNAUTHENTICATED", "Log in again", client, COUNT)


def test_strangers_are_not_admitted_and_locked_out(clinic: Clinic, where: str) -> None:
    for header in ("", "Bearer x", f"Bearer {clinic.tokens['']}", "Basic !!", "Digest x"):
        with Client(where, header) as stranger:
            refused("UNAUTHENTICATED", "UNAUTHENTICATED", stranger, COUNT)
    with Client(where) as client:
        for _ in range(5):
            with pytest.raises(grpc.RpcError, match="name or token is wrong"):
                client.login("eve", "wrong")
        with pytest.raises(grpc.RpcError, match="Too many wrong tokens"):
            client.login("eve", "wrong")


def test_silent_sessions_end_and_one_analyst_has_a_quarter_of_the_places(
    clinic: Clinic, door: FlightDoor, where: str
) -> None:
    clients = [Client(where) for _ in range(8)]
    for client in clients:
        client.login("bob", clinic.tokens["bob"])
    refused("UNAUTHENTICATED", "has ended", clients[0], "SHOW BUDGET")
    assert clients[-1].query("SHOW BUDGET").num_rows == 1
    inside = clinic.server.gate.inside
    door.sessions._clock = lambda: time.monotonic() + 1801
    door.sessions.sweep()
    door.sessions._clock = time.monotonic
    assert clinic.server.gate.inside < inside
    refused("UNAUTHENTICATED", "has ended", clients[-1], "SHOW BUDGET")
    for client in clients:
        client.__exit__()


# ------------------------------------------------------------------------------------------------- prepared statements


def test_a_list_is_a_parameter(clinic: Clinic, ana: Client) -> None:
    own = ana.prepare("SELECT COUNT(*) AS n FROM people WHERE age = ANY(?)")
    assert pa.ipc.read_schema(pa.py_buffer(own.blob(3))).types == [pa.list_(pa.int64())]
    handle = field(1, own.blob(1))
    ana.put("CommandPreparedStatementQuery", handle, bound([7, 8]))
    info = ana.info("CommandPreparedStatementQuery", handle)
    assert ana.get(info).to_pydict() == {"n": [4]}


def test_a_prepared_statement_is_described_bound_and_asked(clinic: Clinic, ana: Client) -> None:
    before = spent(clinic)
    own = ana.prepare(OLDER)
    assert pa.ipc.read_schema(pa.py_buffer(own.blob(2))).types == [pa.int64()]
    assert pa.ipc.read_schema(pa.py_buffer(own.blob(3))).types == [pa.int64(), pa.string()]
    handle = field(1, own.blob(1))
    with pytest.raises(grpc.RpcError, match="takes 2 values"):
        ana.info("CommandPreparedStatementQuery", handle)
    ana.put("CommandPreparedStatementQuery", handle, bound(50, "F"))
    assert spent(clinic) == before
    info = ana.info("CommandPreparedStatementQuery", handle)
    assert ana.get(info).to_pydict() == {"n": [20]}
    ana.put("CommandPreparedStatementQuery", handle, bound(10, "F"))
    assert ana.get(info).to_pydict() == {"n": [20]}  # a ticket is the statement with its own parameters
    assert ana.get(ana.info("CommandPreparedStatementQuery", handle)).to_pydict() == {"n": [40]}
    assert spent(clinic) == before + 1
    ana.act("ClosePreparedStatement", any_message("ActionClosePreparedStatementRequest", handle))
    with pytest.raises(grpc.RpcError, match="no such prepared statement"):
        ana.info("CommandPreparedStatementQuery", handle)


@pytest.mark.parametrize(
    ("messages", "says"),
    [
        (bound(1), "takes 2 values"),
        (stream_messages(pa.table({"0": [1, 2], "1": ["F", "M"]})), "one row of parameters"),
        (stream_messages(pa.table({"0": [[1]], "1": ["F"]})), "is a list"),
        (stream_messages(pa.table({"0": [b"1"], "1": ["F"]})), "type bytes"),
        (stream_messages(pa.table({"0": [1] * 99, "1": ["F"] * 99}), "zstd"), "compressed"),
        (stream_messages(pa.table({"0": [1], "1": pa.array(["F"]).dictionary_encode()})), "dictionary"),
        ([(b"\x00" * 8, b"")], "Nothing was charged"),
        ([(b"\xff" * 64, b"x")], "no Arrow"),
        ([(header[:-9], body) for header, body in bound(1, "F")], "no Arrow"),
        ([(header, body[:-8]) for header, body in bound(1, "F")], "no Arrow"),
        (bound(1, "F" * 100_001), "100000 are the most"),
        (bound(1, "F" * 300_000), "larger than max"),
    ],
    ids=range(12),
)  # fmt: skip
def test_parameters_that_will_not_do_are_refused_uncharged(
    messages: list[tuple[bytes, bytes]], says: str, clinic: Clinic, ana: Client
) -> None:
    before, handle = spent(clinic), field(1, ana.prepare(OLDER).blob(1))
    with pytest.raises(grpc.RpcError, match=says):
        ana.put("CommandPreparedStatementQuery", handle, messages)
    assert spent(clinic) == before


def test_prepared_statements_of_others_cannot_be_named_and_there_are_not_many(
    clinic: Clinic, ana: Client, where: str
) -> None:
    handle = field(1, ana.prepare(COUNT).blob(1))
    with Client(where) as bob:
        bob.login("bob", clinic.tokens["bob"])
        with pytest.raises(grpc.RpcError, match="no such prepared statement"):
            bob.info("CommandPreparedStatementQuery", handle)
        bob.act("CloseSession")
    for _ in range(STATEMENTS - 1):
        ana.prepare(COUNT)
    with pytest.raises(grpc.RpcError, match="Close some") as caught:
        ana.prepare(COUNT)
    assert caught.value.code() is grpc.StatusCode.RESOURCE_EXHAUSTED


def test_statements_without_rows_are_done_and_selects_are_not_updates(clinic: Clinic, ana: Client) -> None:
    before = spent(clinic)
    with pytest.raises(grpc.RpcError, match="ask it as a query"):
        ana.put("CommandStatementUpdate", field(1, COUNT), [])
    with pytest.raises(grpc.RpcError, match="cannot be written"):
        ana.put("CommandStatementIngest", b"", [])
    (done,) = ana.put("CommandStatementUpdate", field(1, "SET epsilon = 0.25"), [])
    assert read(done.blob(1)).number(1) == 0
    assert spent(clinic) == before
    ana.query("SELECT COUNT(*) FROM people WHERE age > 6")
    assert spent(clinic) == before + 0.25


def test_transactions_and_cancelling_do_nothing(ana: Client) -> None:
    (begun,) = ana.act("BeginTransaction", any_message("ActionBeginTransactionRequest", b""))
    own = read(read(begun).blob(2)).blob(1)
    query = field(1, "SHOW TABLES") + field(2, own)
    info = ana.info("CommandStatementQuery", query)
    assert ana.act("CancelQuery", any_message("ActionCancelQueryRequest", b""))
    assert ana.act("CancelFlightInfo") == [field(1, 1)]
    assert ana.get(info).num_rows == 1
    assert ana.act("EndTransaction", any_message("ActionEndTransactionRequest", field(1, own))) == []
    assert len(ana.call("ListActions", "unary_stream", b"")) == 9
    assert ana.call("ListFlights", "unary_stream", b"") == []


# ----------------------------------------------------------------------------------------------------------- catalogue


def lists(client: Client, name: str, body: bytes = b"") -> pa.Table:
    info = client.info(name, body)
    table = client.get(info)
    assert table.schema.equals(pa.ipc.read_schema(pa.py_buffer(info.blob(1))))
    return table


def test_tables_are_listed_from_the_policy_alone(ana: Client) -> None:
    assert lists(ana, "CommandGetCatalogs").to_pylist() == [{"catalog_name": "clinic"}]
    assert lists(ana, "CommandGetDbSchemas", field(2, "m%")).to_pylist() == [
        {"catalog_name": "clinic", "db_schema_name": "main"}
    ]
    assert lists(ana, "CommandGetDbSchemas", field(1, "other")).num_rows == 0
    assert lists(ana, "CommandGetTableTypes").to_pylist() == [{"table_type": "TABLE"}]
    (people,) = lists(ana, "CommandGetTables", field(3, "peo_le") + field(4, "TABLE") + field(5, 1)).to_pylist()
    schema = pa.ipc.read_schema(pa.py_buffer(people["table_schema"]))
    assert (people["table_name"], schema.names) == ("people", ["person", "age", "sex", "born", "weight", "smokes"])
    assert schema.field("born").type == pa.date32()
    for body in (field(3, "x"), field(4, "VIEW"), field(1, "")):
        assert lists(ana, "CommandGetTables", body).num_rows == 0


@pytest.mark.parametrize("name", ["PrimaryKeys", "ExportedKeys", "ImportedKeys", "CrossReference"])
def test_no_keys_are_listed(name: str, ana: Client) -> None:
    assert lists(ana, f"CommandGet{name}").num_rows == 0


def test_what_the_server_can_do_is_told(ana: Client) -> None:
    told = {row["info_name"]: row["value"] for row in lists(ana, "CommandGetSqlInfo").to_pylist()}
    assert (told[0], told[3], told[504], told[503]) == ("dpsql", True, '"', 1)
    some = lists(ana, "CommandGetSqlInfo", field(1, bytes([0, 5, 99])))
    assert some.column("info_name").to_pylist() == [0, 5]
    none = lists(ana, "CommandGetSqlInfo", field(1, bytes([99])))
    assert (none.num_rows, none.schema) == (0, some.schema)
    assert lists(ana, "CommandGetXdbcTypeInfo").num_rows == 6
    assert lists(ana, "CommandGetXdbcTypeInfo", field(1, -5)).column("type_name").to_pylist() == ["integer"]


# ------------------------------------------------------------------------------------------------------------ refusals


def test_refusals_are_grpcs_own_statuses_with_the_text(clinic: Clinic, ana: Client, where: str) -> None:
    refused("INVALID_ARGUMENT", "COUNT\\(DISTINCT person\\)", ana, "SELECT person FROM people")
    refused("INVALID_ARGUMENT", "reads only", ana, "COPY people TO 'x'")
    refused("RESOURCE_EXHAUSTED", "bytes, and 100000 are the most", ana, COUNT + " " * 100_001)
    with Client(where) as bob:
        bob.login("bob", clinic.tokens["bob"])
        for number in range(2):
            bob.query(f"SELECT COUNT(*) FROM people WHERE age > {number}")
        refused("RESOURCE_EXHAUSTED", "left", bob, "SELECT COUNT(*) FROM people WHERE age > 9")
        bob.act("CloseSession")


@pytest.mark.parametrize(
    "body", [b"\xff" * 20, b"\x0a\x7f", b"\x00", b"", field(2, b"x"), field(1, 2) + field(2, b"\x0a\x05x")]
)
def test_broken_messages_are_refused_and_the_server_lives(body: bytes, ana: Client) -> None:
    for method, shape in (("GetFlightInfo", "unary_unary"), ("GetSchema", "unary_unary"), ("DoGet", "unary_stream"),
                          ("DoAction", "unary_stream")):  # fmt: skip
        with pytest.raises(grpc.RpcError) as caught:
            ana.call(method, shape, body)
        assert caught.value.code() is grpc.StatusCode.INVALID_ARGUMENT
    with pytest.raises(grpc.RpcError):
        ana.call("DoPut", "stream_stream", iter([body]))
    assert ana.query("SHOW TABLES").num_rows == 1


def test_huge_messages_and_unknown_calls_are_grpcs_own_errors(ana: Client) -> None:
    for method, code in (("GetFlightInfo", "RESOURCE_EXHAUSTED"), ("DoExchange", "UNIMPLEMENTED")):
        with pytest.raises(grpc.RpcError) as caught:
            ana.call(method, "unary_unary", b"x" * 400_000)
        assert caught.value.code() is grpc.StatusCode[code]
    for name in ("CommandStatementSubstraitPlan", "TicketStatementQuery"):
        with pytest.raises(grpc.RpcError, match="is not served"):
            ana.info(name, b"")
    with pytest.raises(grpc.RpcError, match="none of this server's"):
        ana.fetch(field(1, any_message("CommandStatementQuery", field(1, COUNT))))
    with pytest.raises(grpc.RpcError, match="no action"):
        ana.act("DropEverything")


def test_a_ticket_written_by_hand_is_a_statement_of_who_brings_it(clinic: Clinic, ana: Client, where: str) -> None:
    info = ana.info("CommandStatementQuery", field(1, "SELECT COUNT(*) FROM people WHERE age > 20"))
    before = spent(clinic), spent(clinic, "bob")
    with Client(where) as bob:
        bob.login("bob", clinic.tokens["bob"])
        with pytest.raises(grpc.RpcError) as caught:
            bob.get(info)
        assert caught.value.code() is grpc.StatusCode.RESOURCE_EXHAUSTED  # bob's own account is spent
        bob.act("CloseSession")
    assert (spent(clinic), spent(clinic, "bob")) == before


def test_who_vanishes_pays_for_what_had_begun_and_the_answer_is_kept(clinic: Clinic, where: str) -> None:
    sql, before = "SELECT COUNT(*) AS n FROM people WHERE age > 21", spent(clinic)
    with Client(where, f"Bearer {clinic.tokens['ana']}") as client:
        info = client.info("CommandStatementQuery", field(1, sql))
        ticket = read(info.blob(3)).blob(1)
        with heard("statement") as events:
            client.start("DoGet", ticket)
            while spent(clinic) == before:
                time.sleep(0.001)
            client.__exit__()
            while not events:
                time.sleep(0.001)
    with Client(where, f"Bearer {clinic.tokens['ana']}") as client:
        assert client.get(info).schema.metadata[b"dpsql_cost"] == b"nothing: released before"
    assert spent(clinic) == before + 0.5


def test_a_unix_socket_is_a_door_and_a_taken_port_is_none(clinic: Clinic, tmp_path: Path, where: str) -> None:
    with opened(FlightDoor(clinic.server), f"unix:{tmp_path}/flight") as address:
        assert address == f"grpc+unix://{tmp_path}/flight"
        with Client(f"://unix:{tmp_path}/flight", f"Bearer {clinic.tokens['ana']}") as client:
            assert client.query("SHOW TABLES").num_rows == 1
    with pytest.raises(OSError, match="bind"), opened(FlightDoor(clinic.server), where.partition("://")[2]):
        pass
