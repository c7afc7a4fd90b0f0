"""One clinic for all tests of a file, what the owner's log says, and what a door shows that speaks TLS."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from dpsql.server.events import EVENTS
from dpsql.server.listening import Tls
from tests.unit.server.clinic import Clinic, open_clinic


@pytest.fixture(scope="module")
def clinic(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Clinic]:
    with open_clinic(tmp_path_factory.mktemp("clinic")) as opened:
        yield opened


@pytest.fixture
def events() -> Iterator[list[dict[str, object]]]:
    found: list[dict[str, object]] = []
    handler = logging.Handler()
    handler.emit = lambda record: found.append(json.loads(record.getMessage()))  # type: ignore[method-assign]
    EVENTS.addHandler(handler)
    yield found
    EVENTS.removeHandler(handler)


@pytest.fixture(scope="session")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Tls:
    key, folder = ec.generate_private_key(ec.SECP256R1()), tmp_path_factory.mktemp("tls")
    name, now = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "127.0.0.1")]), datetime.now(UTC)
    signed = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(1)
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
        .sign(key, hashes.SHA256())
    )
    (folder / "cert.pem").write_bytes(signed.public_bytes(serialization.Encoding.PEM))
    unsealed = serialization.NoEncryption()
    private = key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, unsealed)
    (folder / "key.pem").write_bytes(private)
    return Tls(folder / "cert.pem", folder / "key.pem")
