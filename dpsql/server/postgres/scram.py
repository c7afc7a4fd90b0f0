"""SCRAM-SHA-256, the server's side (RFC 5802, RFC 7677), as PostgreSQL speaks it; without channel binding.

The token never travels: the client proves that it knows it, and the server that it holds its verifier.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import secrets
from dataclasses import dataclass

from dpsql.server.postgres.messages import ProtocolViolation
from dpsql.server.users import Verifier

__all__ = ["MECHANISM", "Exchange", "begin"]

MECHANISM = "SCRAM-SHA-256"
NONCE = 18  # Random bytes of the server's nonce, as PostgreSQL takes them.


@dataclass(frozen=True, slots=True)
class Exchange:
    """An exchange after the client's first message.

    Attributes:
        verifier: Of the user it says it is.
        header: What the client said of channel binding.
        bare: Its first message without that.
        nonce: Both nonces.
        first: The server's answer.
    """

    verifier: Verifier
    header: str
    bare: str
    nonce: str
    first: str

    def key(self, final: bytes) -> tuple[bytes, bytes]:
        """The StoredKey that follows from the client's proof, and the server's last message if it is the right one.

        Args:
            final: The client's last message.

        Raises:
            ProtocolViolation: It is no such message.
        """
        text = _text(final)
        without, _, proof = text.rpartition(",p=")
        fields = without.split(",")
        given = _bytes(proof)
        if len(fields) < 2 or fields[0] != f"c={base64.b64encode(self.header.encode()).decode()}":
            raise ProtocolViolation("the channel binding is not the one that was agreed on")
        if fields[1] != f"r={self.nonce}" or len(given) != hashlib.sha256().digest_size:
            raise ProtocolViolation("the nonce or the proof is not one of this exchange")
        message = f"{self.bare},{self.first},{without}".encode()
        signature = hmac.digest(self.verifier.stored_key, message, "sha256")
        stored = hashlib.sha256(bytes(a ^ b for a, b in zip(given, signature, strict=True))).digest()
        last = b"v=" + base64.b64encode(hmac.digest(self.verifier.server_key, message, "sha256"))
        return stored, last


def begin(initial: bytes, verifier: Verifier) -> Exchange:
    """The exchange that a client's first message begins.

    Args:
        initial: It.
        verifier: Of the user of the startup message: the name in this one is not looked at, as in PostgreSQL.

    Raises:
        ProtocolViolation: It is no such message, or asks for what is not offered.
    """
    text = _text(initial)
    binding, _, rest = text.partition(",")
    authzid, _, bare = rest.partition(",")
    if binding not in ("n", "y") or authzid:
        raise ProtocolViolation("channel binding is not offered")
    fields = bare.split(",")
    if len(fields) < 2 or not fields[0].startswith("n=") or not fields[1].startswith("r=") or len(fields[1]) < 3:
        raise ProtocolViolation("this is no first message of SCRAM")
    nonce = fields[1][2:] + base64.b64encode(secrets.token_bytes(NONCE)).decode()
    salt = base64.b64encode(verifier.salt).decode()
    return Exchange(verifier, f"{binding},{authzid},", bare, nonce, f"r={nonce},s={salt},i={verifier.iterations}")


def _text(data: bytes) -> str:
    try:
        return data.decode()
    except UnicodeDecodeError:
        raise ProtocolViolation("a message of SCRAM is not UTF-8") from None


def _bytes(text: str) -> bytes:
    try:
        return base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        raise ProtocolViolation("a message of SCRAM is not in base 64") from None
