"""A client of PostgreSQL's protocol in a few lines, which can also do what no driver does."""

from __future__ import annotations

import base64
import hashlib
import hmac
import socket
import struct
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

__all__ = ["Raw", "Reply", "bind", "describe", "execute", "message", "parse", "startup"]

SYNC = b"S\0\0\0\4"
"""The message that ends a group of others."""


def message(kind: bytes, body: bytes = b"") -> bytes:
    return kind + struct.pack(">i", len(body) + 4) + body


def startup(**parameters: str) -> bytes:
    body = struct.pack(">i", 3 << 16) + b"".join(f"{k}\0{v}\0".encode() for k, v in parameters.items()) + b"\0"
    return struct.pack(">i", len(body) + 4) + body


def parse(sql: str, oids: Sequence[int] = (), name: str = "") -> bytes:
    return message(b"P", f"{name}\0{sql}\0".encode() + struct.pack(f">h{len(oids)}i", len(oids), *oids))


def bind(values: Sequence[bytes | None] = (), *, binary: bool = False, out: int = 0, name: str = "") -> bytes:
    packed = b"".join(b"\xff" * 4 if v is None else struct.pack(">i", len(v)) + v for v in values)
    head = f"\0{name}\0".encode() + struct.pack(">hhh", 1, int(binary), len(values))
    return message(b"B", head + packed + struct.pack(">hh", 1, out))


def describe(kind: str = "P", name: str = "") -> bytes:
    return message(b"D", f"{kind}{name}\0".encode())


def execute(most: int = 0) -> bytes:
    return message(b"E", b"\0" + struct.pack(">i", most))


@dataclass
class Reply:
    """What came until the server was ready again."""

    kinds: str = ""
    columns: list[tuple[str, int]] = field(default_factory=list)
    rows: list[list[bytes | None]] = field(default_factory=list)
    tags: list[str] = field(default_factory=list)
    errors: list[dict[str, str]] = field(default_factory=list)
    notices: list[str] = field(default_factory=list)
    parameters: list[int] = field(default_factory=list)
    copied: list[bytes] = field(default_factory=list)
    status: str = ""

    @property
    def code(self) -> str:
        return self.errors[0]["C"]

    def take(self, kind: str, body: bytes) -> None:
        self.kinds += kind
        match kind:
            case "T":
                self.columns = list(_columns(body))
            case "D":
                self.rows.append(_values(body))
            case "C":
                self.tags.append(body[:-1].decode())
            case "E":
                self.errors.append(_fields(body))
            case "N":
                self.notices.append(_fields(body)["M"])
            case "d":
                self.copied.append(body)
            case "t":
                self.parameters = list(struct.unpack(f">{len(body[2:]) // 4}i", body[2:]))
            case "Z":
                self.status = body.decode()


def _columns(body: bytes) -> Iterator[tuple[str, int]]:
    at = 2
    for _ in range(struct.unpack(">h", body[:2])[0]):
        end = body.index(b"\0", at)
        yield body[at:end].decode(), struct.unpack(">i", body[end + 7 : end + 11])[0]
        at = end + 19


def _values(body: bytes) -> list[bytes | None]:
    values, at = list[bytes | None](), 2
    for _ in range(struct.unpack(">h", body[:2])[0]):
        (size,) = struct.unpack(">i", body[at : at + 4])
        values.append(None if size < 0 else body[at + 4 : at + 4 + size])
        at += 4 + max(size, 0)
    return values


def _fields(body: bytes) -> dict[str, str]:
    return {part[:1].decode(): part[1:].decode() for part in body.split(b"\0") if part}


class Raw:
    """One connection.

    Args:
        port: Of the door, on this machine.
    """

    def __init__(self, port: int) -> None:
        self.socket = socket.create_connection(("127.0.0.1", port), timeout=20)
        self.key = b""

    def send(self, *messages: bytes) -> None:
        self.socket.sendall(b"".join(messages))

    def receive(self) -> tuple[str, bytes]:
        """One message; ("", b"") when the server hung up."""
        head = self._taken(5)
        return (chr(head[0]), self._taken(int.from_bytes(head[1:], "big") - 4)) if head else ("", b"")

    def reply(self) -> Reply:
        """All messages until the server is ready, or has hung up."""
        reply = Reply()
        while True:
            kind, body = self.receive()
            reply.take(kind, body)
            if kind in ("Z", ""):
                return reply

    def ask(self, sql: str) -> Reply:
        """A simple query."""
        self.send(message(b"Q", sql.encode() + b"\0"))
        return self.reply()

    def tell(self, *messages: bytes) -> Reply:
        """An extended query."""
        self.send(*messages, SYNC)
        return self.reply()

    def enter(self, user: str, token: str, database: str = "clinic", **more: str) -> Reply:
        """Startup and SCRAM; the reply holds an error where it was refused."""
        self.send(startup(user=user, database=database, **more))
        reply = Reply()
        while True:
            kind, body = self.receive()
            if kind == "R":
                self._scram(body, token)
            elif kind == "K":
                self.key = body
            else:
                reply.take(kind, body)
                if kind in ("Z", "E", ""):
                    return reply

    def _scram(self, body: bytes, token: str) -> None:
        match int.from_bytes(body[:4], "big"):
            case 10:
                first = b"n,,n=,r=abc"
                self.send(message(b"p", b"SCRAM-SHA-256\0" + struct.pack(">i", len(first)) + first))
            case 11:
                said = body[4:].decode()
                nonce, salt, rounds = (part[2:] for part in said.split(","))
                salted = hashlib.pbkdf2_hmac("sha256", token.encode(), base64.b64decode(salt), int(rounds))
                key = hmac.digest(salted, b"Client Key", "sha256")
                final = f"c=biws,r={nonce}"
                signed = f"n=,r=abc,{said},{final}".encode()
                signature = hmac.digest(hashlib.sha256(key).digest(), signed, "sha256")
                proof = base64.b64encode(bytes(a ^ b for a, b in zip(key, signature, strict=True))).decode()
                self.send(message(b"p", f"{final},p={proof}".encode()))
                mine = hmac.digest(hmac.digest(salted, b"Server Key", "sha256"), signed, "sha256")
                self._expected = b"v=" + base64.b64encode(mine)
            case 12:
                assert body[4:] == self._expected, "the server did not prove that it holds the verifier"

    def _taken(self, count: int) -> bytes:
        data = b""
        while len(data) < count:
            more = self.socket.recv(count - len(data))
            if not more:
                return b""
            data += more
        return data

    def close(self) -> None:
        self.socket.close()
