"""What strangers and users may say at doors, drawn at random: the messages of each protocol, whole, broken and odd."""

from __future__ import annotations

import json
import random
import re
import struct
from collections.abc import Sequence
from typing import Any

import pyarrow as pa

from dpsql.server.flight.messages import any_message
from dpsql.server.flight.wire import field
from tests.unit.server.flight.client import stream_messages
from tests.unit.server.postgres.raw import SYNC, bind, describe, execute, message, parse, startup

__all__ = ["STATEMENTS", "arrow", "call", "command", "form", "http", "later", "startups", "texts"]

STATEMENTS = (
    "", ";", "SELECT 1", "SELECT ?", "SELECT $1", "SELECT $1::int + $2", "SHOW TABLES", "SHOW BUDGET",
    "DESCRIBE people",
    "EXPLAIN SELECT COUNT(*) FROM people WHERE age > $1", "SELECT * FROM people", "BEGIN", "COMMIT", "ROLLBACK",
    "SET x = 1", "SET epsilon = 'x'", "RESET ALL", "DISCARD ALL", "COPY people TO STDOUT", "COPY people FROM STDIN",
    "SELECT * FROM pg_catalog.pg_class", "SELECT * FROM pg_type WHERE oid = $1", "DECLARE c CURSOR FOR SELECT 1",
    "SELECT \x00", "SELECT '\ufffd\U0001f600'", "SELECT " + "(" * 2000, "/*" * 100, "SELECT 1; SELECT 2; SELECT 3",
)  # fmt: skip
"""Statements that cost nothing, or are refused."""
NUMBERS = (0, 1, 2, 7, 255, 256, 32767, 65535, 2**31 - 1, 2**31, 2**32 - 1, 2**63 - 1, 2**64 - 1)


def noise(rng: random.Random, most: int = 64) -> bytes:
    """Any bytes."""
    return rng.randbytes(rng.randrange(most))


def spoiled(data: bytes, rng: random.Random) -> bytes:
    """The same, mostly; or with some bytes changed, put in, left out, or the end cut off."""
    made = bytearray(data)
    for _ in range(rng.choice((0, 0, 1, 1, 2, 5))):
        at = rng.randrange(len(made) + 1)
        match rng.randrange(4):
            case 0:
                made[at : at + 1] = rng.randbytes(1)
            case 1:
                made[at:at] = rng.choice((noise(rng), b"\xff\xff\xff\xff", b"\x00" * 4, b"\x7f\xff\xff\xff"))
            case 2:
                del made[at : at + rng.choice((1, 2, 4, 8))]
            case _:
                del made[at:]
    return bytes(made)


# ------------------------------------------------------------------------------------------------------- PostgreSQL


def startups(rng: random.Random) -> bytes:
    """What a stranger says."""
    codes = (80877102, 80877103, 80877104, 3 << 16, (3 << 16) + 2, 2 << 16, 0, 2**31 - 1)
    first = rng.choice(
        (
            startup(user=rng.choice(("ana", "nobody", "", "x" * 5000)), database=rng.choice(("clinic", "other", ""))),
            startup(user="ana", database="clinic", options="-c x=1", replication="true", client_encoding="LATIN1"),
            *(struct.pack(">iI", rng.choice((8, 8, 16, 4, -1)), code) + noise(rng, 9) for code in codes),
            noise(rng, 2000),
            b"GET / HTTP/1.1\r\nHost: x\r\n\r\n",
            b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + noise(rng, 600),
        )
    )
    said = (b"n,,n=,r=abc", b"y,,n=,r=abc", b"p=tls-unique,,n=,r=", b"", b"c=biws,r=abc,p=eA==", noise(rng, 200))
    own = rng.choice(said)
    name = rng.choice((b"SCRAM-SHA-256", b"SCRAM-SHA-256-PLUS", b"", b"MD5", noise(rng, 20)))
    sasl = name + b"\0" + struct.pack(">i", rng.choice((len(own), len(own), -1, 2**31 - 1))) + own
    more = [message(b"p", rng.choice((sasl, own, b"password\0"))) for _ in range(rng.randrange(4))]
    return spoiled(first + b"".join(spoiled(one, rng) for one in more), rng)


def later(rng: random.Random) -> bytes:
    """What a user says who was let in."""
    said = b"".join(_message(rng) for _ in range(rng.randint(1, 8)))
    return rng.choice((said, said, spoiled(said, rng))) + rng.choice((SYNC, SYNC, b""))


def _message(rng: random.Random) -> bytes:
    sql, name = rng.choice(STATEMENTS).replace("\x00", rng.choice(("", "\x00"))), rng.choice(("", "", "s", "x" * 70))
    wild = [rng.choice((-1, 0, 1, 2, 1000, 32767, -32768)) for _ in range(4)]
    values = [rng.choice((None, b"", b"1", b"x", noise(rng), b"\xff")) for _ in range(rng.randrange(4))]
    kind = bytes([rng.choice(b"QPBDECSFdcfpXH" + bytes([rng.randrange(256)]))])
    said = rng.choice(
        (
            message(b"Q", sql.encode() + b"\0"),
            message(b"Q", sql.encode()),
            parse(sql, [rng.choice((0, 23, 25, 1043, 16, 2**31 - 1)) for _ in range(rng.randrange(4))], name=name),
            parse(sql, name=name),
            bind(values, binary=rng.random() < 0.5, out=rng.randrange(2), name=name),
            message(b"B", b"\0" + name.encode() + b"\0" + struct.pack(">hhhh", *wild)),
            message(b"P", name.encode() + b"\0" + sql.encode() + b"\0" + struct.pack(">h", wild[0]) + noise(rng)),
            describe(rng.choice(("P", "S", "X", "")), name),
            execute(rng.choice((0, 1, -1, 2**31 - 1))),
            message(b"C", rng.choice((b"S", b"P", b"X")) + name.encode() + b"\0"),
            message(b"F", struct.pack(">ihhi", 1, *wild[:2], 0) + noise(rng)),
            message(rng.choice((b"d", b"c", b"f", b"p", b"H", b"X")), noise(rng)),
            message(kind, noise(rng, 300)),
            kind + struct.pack(">i", rng.choice((0, 3, 4, 5, -1, 2**31 - 1, 100_000, 2**20))) + noise(rng),
            SYNC,
        )
    )
    return said if rng.random() < 0.7 else spoiled(said, rng)


# ------------------------------------------------------------------------------------------------------- Flight SQL

COMMANDS = (
    "CommandStatementQuery", "CommandStatementUpdate", "CommandPreparedStatementQuery",
    "CommandPreparedStatementUpdate",
    "CommandGetCatalogs", "CommandGetDbSchemas", "CommandGetTables", "CommandGetTableTypes", "CommandGetSqlInfo",
    "CommandGetPrimaryKeys", "CommandGetExportedKeys", "CommandGetXdbcTypeInfo", "CommandStatementIngest",
    "CommandStatementSubstraitPlan", "TicketStatementQuery", "ActionCreatePreparedStatementRequest",
    "ActionClosePreparedStatementRequest", "ActionBeginTransactionRequest", "Command", "",
)  # fmt: skip


def _protobuf(rng: random.Random, depth: int = 3) -> bytes:
    """A message of no kind."""
    made = b""
    for _ in range(rng.randrange(5)):
        value: Any = rng.choice((rng.choice(STATEMENTS), rng.choice(NUMBERS), noise(rng), "%", -1))
        number = rng.choice((1, 2, 3, 4, 5, 1000, 2**29 - 1))
        made += field(number, _protobuf(rng, depth - 1) if depth and rng.random() < 0.3 else value)
    return made


def call(rng: random.Random) -> bytes:
    """A message of Flight's, or what is none."""
    return spoiled(rng.choice((_protobuf(rng), noise(rng, 300), b"\x0a" * rng.randrange(200), command(rng))), rng)


def command(rng: random.Random) -> bytes:
    """A command of Flight SQL's, mostly with what belongs to it."""
    body = rng.choice((field(1, rng.choice(STATEMENTS)), _protobuf(rng), noise(rng), b""))
    return spoiled(any_message(rng.choice(COMMANDS), body), rng)


TABLES: Sequence[pa.Table] = (
    pa.table({"a": [1, 2]}),
    pa.table({"a": ["x", None], "b": [1.5, float("nan")]}),
    pa.table({"a": pa.array([[1], None], pa.list_(pa.int64())), "b": pa.array(["x", "y"]).dictionary_encode()}),
    pa.table({}),
)


def arrow(rng: random.Random) -> list[bytes]:
    """An Arrow stream as DoPut takes it, spoiled in its heads, in its bodies or in their order."""
    parts = stream_messages(rng.choice(TABLES), rng.choice((None, None, "lz4", "zstd")))
    if rng.random() < 0.2:
        rng.shuffle(parts)
    made = [field(2, spoiled(header, rng)) + field(1000, spoiled(body, rng)) for header, body in parts]
    return [*made, *([call(rng)] if rng.random() < 0.2 else [])]


# ------------------------------------------------------------------------------------------ agents, and the page

TOOLS = ("query", "quote", "budget", "list_tables", "describe_table", "drop", "", "__class__")
VERBS = (
    "initialize",
    "ping",
    "tools/list",
    "tools/call",
    "resources/list",
    "prompts/get",
    "logging/setLevel",
    "completion/complete",
    "notifications/initialized",
    "notifications/cancelled",
    "notifications/progress",
    "sampling/createMessage",
    "x",
    "",
)


def _value(rng: random.Random, depth: int = 3) -> Any:
    """Any JSON."""
    if depth and rng.random() < 0.4:
        if rng.random() < 0.5:
            return [_value(rng, depth - 1) for _ in range(rng.randrange(4))]
        return {rng.choice(("sql", "epsilon", "table", "id", "_meta", "")): _value(rng, depth - 1) for _ in range(3)}
    return rng.choice(
        (None, True, 0, -1, 1e308, float("nan"), 2**70, "", "x", "\x00", "\ud800", "x" * 3000, *STATEMENTS[:12])
    )


def texts(rng: random.Random) -> bytes:
    """A request of JSON-RPC, or what is none."""
    said: Any = {"jsonrpc": "2.0", "id": rng.choice((1, 2, "a", None, 1.5, -1, [], {})), "method": rng.choice(VERBS)}
    arguments = rng.choice(
        ({"sql": rng.choice(STATEMENTS)}, {"table": "people"}, {"sql": 1, "epsilon": "x"}, _value(rng))
    )
    wild = {"name": rng.choice(TOOLS), "arguments": arguments}
    said["params"] = wild if said["method"] == "tools/call" or rng.random() < 0.3 else _value(rng)
    for _ in range(rng.choice((0, 0, 1, 2))):
        place = rng.choice(list(said))
        if rng.random() < 0.5:
            said[place] = _value(rng)
        else:
            said.pop(place)
            break
    deep = rng.choice(("[", '{"a":')) * rng.choice((100, 5000, 20_000))
    whole = json.dumps(rng.choice((said, said, said, said, [said, said], [said] * 50, [], _value(rng)))).encode()
    return rng.choice((whole, whole, whole, whole, whole, spoiled(whole, rng), deep.encode(), noise(rng, 500)))


def form(page: str) -> str:
    """The token that the forms of a page carry."""
    found = re.search(r'name="form"[^>]*value="([^"]+)"|value="([^"]+)"[^>]*name="form"', page)
    assert found, page[:500]
    return found[1] or found[2]


PATHS = (
    "/",
    "/enter",
    "/approve",
    "/healthz",
    "/leave/",
    "//",
    "/../../etc/passwd",
    "/%2e%2e/",
    "/%00",
    "/?a=b",
    "*",
    "/\x01",
    "",
    "http://evil.example/",
    "/" + "a" * 9000,
    "/approve?id=1",
    "/enter#x",
    "/é",
)


FORMS = "application/x-www-form-urlencoded"


def http(rng: random.Random, port: int, cookie: str, own: str) -> bytes:
    """A request or two as bytes, some of them the owner's."""
    return b"".join(_http(rng, port, cookie, own) for _ in range(rng.choice((1, 1, 1, 2))))


def _http(rng: random.Random, port: int, cookie: str, own: str) -> bytes:
    token = rng.choice((own, own, "", "x"))
    fields = (
        f"form={token}&id={rng.choice(('1', '', 'x', '%00', '%ff', 'a' * 3000))}",
        f"token={rng.choice(('', 'x', '%', 'a' * 4000))}",
        "&" * 3000,
        "=" * 99,
        "a=1&b=2&c=3&d=4&e=5",
        "x" * 6000,
        "",
    )
    body = rng.choice((rng.choice(fields).encode(), noise(rng, 300)))
    headers = [
        "Connection: close",
        f"Host: {rng.choice((f'127.0.0.1:{port}',) * 6 + ('evil.example', '', '[', 'localhost', '127.0.0.1:x'))}",
        f"Content-Length: {rng.choice((len(body),) * 8 + (0, -1, 2**40, 'x', len(body) + 1))}",
        f"Content-Type: {rng.choice((FORMS,) * 5 + ('text/plain', 'multipart/form-data; boundary=x'))}",
    ]
    headers += (
        [f"Cookie: {rng.choice((cookie, cookie, cookie, 'dpsql_owner=x', ';;=', 'x' * 3000))}"]
        if rng.random() < 0.7
        else []
    )
    odd = (
        "Transfer-Encoding: chunked",
        "Expect: 100-continue",
        "Upgrade: websocket",
        "Origin: http://evil.example",
        "Origin: null",
        "Sec-Fetch-Site: cross-site",
        "Range: bytes=0-",
        "X: " + "y" * 40_000,
        ": x",
        "no colon",
        "A: \x00",
        "B: \u00e9",
    )
    headers += rng.sample(odd, rng.choice((0, 0, 0, 1, 2)))
    method = rng.choice(
        ("GET", "POST", "POST", "POST", "HEAD", "PUT", "OPTIONS", "TRACE", "CONNECT", "get", "", "\x16\x03")
    )
    version = rng.choice(("HTTP/1.1",) * 8 + ("HTTP/1.0", "HTTP/2", "HTTP/9.9", ""))
    head = "\r\n".join([f"{method} {rng.choice(PATHS)} {version}", *headers]) + "\r\n\r\n"
    whole = head.encode("utf-8", "replace") + body
    return whole if rng.random() < 0.7 else spoiled(whole, rng)
