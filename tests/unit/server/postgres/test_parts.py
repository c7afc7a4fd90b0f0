"""The parts of the door by themselves: SCRAM against RFC 7677's own example, values in both forms, words."""

from __future__ import annotations

import asyncio
import base64
import hashlib
import hmac
import struct
from datetime import UTC, date, datetime
from decimal import Decimal
from unittest.mock import Mock

import pytest

from dpsql.errors import BudgetExceeded, DataError, EngineFailed, OperationalError
from dpsql.plan.types import Type
from dpsql.server.postgres import types
from dpsql.server.postgres.messages import ProtocolViolation
from dpsql.server.postgres.rewriting import rewritten
from dpsql.server.postgres.scan import statements
from dpsql.server.postgres.scram import Exchange, begin
from dpsql.server.postgres.settings import Settings
from dpsql.server.postgres.states import PgRefusal, fields_of
from dpsql.server.postgres.wire import STARTUP, Wire
from dpsql.server.users import Verifier, _keys


def test_scram_is_rfc_7677_s_example() -> None:
    salt = base64.b64decode("W22ZaJ0SNY7soEsUEjb6gQ==")
    verifier = Verifier(salt, 4096, *_keys("pencil", salt, 4096))
    nonce = "rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0"
    first = f"r={nonce},s=W22ZaJ0SNY7soEsUEjb6gQ==,i=4096"
    exchange = Exchange(verifier, "n,,", "n=user,r=rOprNGfwEbeRWgbNEkqO", nonce, first)
    stored, last = exchange.key(f"c=biws,r={nonce},p=dHzbZapWIk4jUhN+Ute9ytag9zjfMHgsqmmiz7AndVQ=".encode())
    assert stored == verifier.stored_key
    assert last == b"v=6rriTRBi23WpRR/wtup+mMhUZUn/dB5nLTJRsjl95G4="


@pytest.mark.parametrize("first", [b"p=tls-unique,,n=,r=x", b"n,a=bob,n=,r=x", b"n,,n=", b"\xff", b""])
def test_another_first_message_is_refused(first: bytes) -> None:
    with pytest.raises(ProtocolViolation):
        begin(first, Verifier.of("x"))


@pytest.mark.parametrize("final", [b"", b"c=biws,r=abc,p=AAAA", b"c=eSws,r=abcd,p=", b"c=biws,r=abcX,p=!!"])
def test_another_last_message_is_refused(final: bytes) -> None:
    with pytest.raises(ProtocolViolation):
        begin(b"n,,n=,r=abc", Verifier.of("x")).key(final)


@pytest.mark.parametrize("told", ["", "abc", "abcd", "that of another exchange"])
def test_a_right_proof_that_names_another_nonce_is_refused(told: str) -> None:
    salt = bytes(range(16))
    exchange = begin(b"n,,n=,r=abc", Verifier(salt, 4096, *_keys("pencil", salt, 4096)))

    def final(nonce: str) -> bytes:
        """What a client says that knows the token."""
        key = hmac.digest(hashlib.pbkdf2_hmac("sha256", b"pencil", salt, 4096), b"Client Key", "sha256")
        signed = f"n=,r=abc,{exchange.first},c=biws,r={nonce}".encode()
        signature = hmac.digest(hashlib.sha256(key).digest(), signed, "sha256")
        proof = base64.b64encode(bytes(a ^ b for a, b in zip(key, signature, strict=True)))
        return f"c=biws,r={nonce},p={proof.decode()}".encode()

    assert exchange.key(final(exchange.nonce))[0] == exchange.verifier.stored_key
    with pytest.raises(ProtocolViolation, match="nonce"):
        exchange.key(final(told))


@pytest.mark.parametrize(
    ("value", "oid", "text", "binary"),
    [
        (-7, types.INT8, b"-7", struct.pack(">q", -7)), (1.5, types.FLOAT8, b"1.5", struct.pack(">d", 1.5)),
        (2.0, types.FLOAT8, b"2", struct.pack(">d", 2)), (False, types.BOOL, b"f", b"\0"),
        ("é\0", types.TEXT, "é".encode(), "é".encode()), (date(1999, 12, 31), types.DATE, b"1999-12-31", b"\xff" * 4),
        (datetime(2000, 1, 1, 0, 0, 1), types.TIMESTAMP, b"2000-01-01 00:00:01", struct.pack(">q", 10**6)),
        (datetime(2000, 1, 1, 0, 0, 1), types.TIMESTAMPTZ, b"2000-01-01 00:00:01+00", struct.pack(">q", 10**6)),
        (Decimal("0.5"), types.FLOAT8, b"0.5", struct.pack(">d", 0.5)), (float("inf"), types.FLOAT8, b"Infinity", None),
        (2**64, types.NUMERIC, b"18446744073709551616", struct.pack(">9H", 5, 4, 0, 0, 1844, 6744, 737, 955, 1616)),
        (Decimal("-0.00012"), types.NUMERIC, b"-0.00012", struct.pack(">HhHHHH", 2, -1, 0x4000, 5, 1, 2000)),
        (Decimal("1E+5"), types.NUMERIC, b"100000", struct.pack(">HhHHHH", 2, 1, 0, 0, 10, 0)),
        (0, types.NUMERIC, b"0", struct.pack(">HhHH", 0, 0, 0, 0)),
        ([0.5, None], 1022, b"{0.5,NULL}", struct.pack(">iiiiiidi", 1, 1, types.FLOAT8, 2, 1, 8, 0.5, -1)),
        ([datetime(2000, 1, 1)], 1115, b'{"2000-01-01 00:00:00"}', None),
        ([1, 2], types.INT4_ARRAY, b"{1,2}", None), ([], types.TEXT_ARRAY, b"{}", struct.pack(">iii", 0, 0, 25)),
    ],
)  # fmt: skip
def test_results_are_written_in_both_forms(value: object, oid: int, text: bytes, binary: bytes | None) -> None:
    assert types.encoded(value, oid, binary=False) == text
    assert binary is None or types.encoded(value, oid, binary=True) == binary


def test_a_number_beyond_its_type_is_told() -> None:
    with pytest.raises(DataError, match="64 bits"):
        types.encoded(2**63, types.INT8, binary=False)


@pytest.mark.parametrize(
    ("data", "oid", "wanted", "value"),
    [
        (b"7", 0, Type.INTEGER, 7), (b"7", 0, None, "7"), (b"7", types.VARCHAR, Type.REAL, Decimal(7)),
        (b"1990-01-01", 0, Type.DATE, date(1990, 1, 1)), (b"1990-01-01 00:00:00", 0, Type.DATE, date(1990, 1, 1)),
        (b"1990-01-01 +00", 0, Type.DATE, date(1990, 1, 1)),
        (b"2024-01-31 10:00:00+01:30", types.TIMESTAMP, None, datetime(2024, 1, 31, 10)),
        (b"2024-01-31 10:00:00+01:30", types.TIMESTAMPTZ, None, datetime(2024, 1, 31, 8, 30, tzinfo=UTC)),
        (b"2024-01-31 10:00:00", types.TIMESTAMPTZ, None, datetime(2024, 1, 31, 10)),
        (b"1890-01-31 10:00:00-00:01:15", types.TIMESTAMP, None, datetime(1890, 1, 31, 10)),
        (b"2024-01-31 10:00:00.12+02", types.TIMESTAMP, None, datetime(2024, 1, 31, 10, 0, 0, 120_000)),
        (b"on", types.BOOL, None, True), (b"0.1", types.NUMERIC, None, Decimal("0.1")), (None, 25, None, None),
        (b"2024-01-31 10:00:00.5", 0, Type.TIMESTAMP, datetime(2024, 1, 31, 10, 0, 0, 500_000)),
    ],
)  # fmt: skip
def test_parameters_are_read_as_their_place_takes_them(
    data: bytes | None, oid: int, wanted: Type | None, value: object
) -> None:
    assert types.parameter(data, oid, wanted, binary=False) == value


@pytest.mark.parametrize(
    ("data", "oid", "value"),
    [
        (struct.pack(">i", -5), types.INT4, -5), (struct.pack(">d", 0.1), types.FLOAT8, 0.1), (b"\1", types.BOOL, True),
        (struct.pack(">i", 1), types.DATE, date(2000, 1, 2)), (b"x", types.TEXT, "x"),
        (struct.pack(">q", -1), types.TIMESTAMP, datetime(1999, 12, 31, 23, 59, 59, 999_999)),
        (struct.pack(">q", 1), types.TIMESTAMPTZ, datetime(2000, 1, 1, 0, 0, 0, 1)),
        (struct.pack(">HhHHHHH", 3, 1, 0x4000, 2, 1, 2345, 6700), types.NUMERIC, Decimal("-12345.67")),
        (struct.pack(">HhHH", 0, 0, 0, 0), types.NUMERIC, Decimal(0)),
    ],
)  # fmt: skip
def test_parameters_in_binary_are_read(data: bytes, oid: int, value: object) -> None:
    assert types.parameter(data, oid, None, binary=True) == value


def test_statements_are_cut_as_postgresql_cuts_them() -> None:
    text = "SELECT $$;$$, $a$;$$;$a$, E'\\';', U&';', \"a;\"\"b\" /* ; /* ; */ ; */ -- ;\n; COMMIT"
    assert [own for own, _ in statements(text)] == [text[: text.rindex('b"') + 2], "COMMIT"]
    assert statements("/* /* */ SELECT 1") == []
    assert [own for own, _ in statements("SELECT ';")] == ["SELECT ';"]


def test_spellings_of_the_catalogue_are_exchanged_and_strings_stay() -> None:
    def own(text: str) -> str:
        return rewritten(text, "o'ana", "clinic", {"pg_class": 1259}, Settings("ana").show)

    assert own("SELECT 'pg_catalog.x', \"pg_catalog\".pg_class.oid") == "SELECT 'pg_catalog.x', pgc.pg_class.oid"
    assert own("x = 'pg_class'::pg_catalog.regclass") == "x = CAST(1259 AS UINTEGER)"
    assert own("x = 'nope'::regclass OR '7'::regtype = y") == "x = CAST(NULL AS UINTEGER) OR CAST(7 AS UINTEGER) = y"
    assert own("a OPERATOR(pg_catalog.!~*) '^b$' COLLATE pg_catalog.default") == "a !~* '^b$' "
    assert own("'{a, \"b\"}'::text[]") == "['a', 'b']"
    assert own("current_user, t.user, x AS user, current_database()") == "'o''ana', t.user, x AS user, 'clinic'"
    assert own("a::pg_catalog.text, pg_catalog.version()") == "a::text, version()"
    assert own("pg_catalog.current_database(), pg_catalog.current_schema()") == "'clinic', 'public'"
    assert own("pg_catalog.current_setting('WORK_MEM')") == "current_setting('WORK_MEM', TRUE, '4MB')"
    assert own("current_setting('no', true), current_setting($1)") == (
        "current_setting('no', TRUE, NULL), current_setting($1)"
    )
    with pytest.raises(PgRefusal, match='unrecognized configuration parameter "no"'):
        own("current_setting('no')")


def test_each_refusal_has_a_code_of_postgresql_s() -> None:
    assert fields_of(EngineFailed())["C"] == "58000"
    assert fields_of(OperationalError("x"))["C"] == "55000"
    assert fields_of(BudgetExceeded("x", needed=1, remaining=0))["C"] == "53400"  # type: ignore[arg-type]  # numbers
    assert fields_of(ValueError("a value"))["M"] == fields_of(KeyError("b"))["M"]
    assert fields_of(ValueError("a value"))["C"] == "XX000"


@pytest.mark.parametrize(("size", "taken"), [(7, False), (8, True), (STARTUP, True), (STARTUP + 1, False)])
def test_a_startup_message_is_read_up_to_its_largest_size(size: int, taken: bool) -> None:
    async def startup() -> tuple[int, bytes]:
        reader = asyncio.StreamReader()
        reader.feed_data(struct.pack(">ii", size, 3 << 16) + bytes(size))
        return await Wire(reader, Mock(), 100).startup(60)

    if taken:
        assert asyncio.run(startup()) == (3 << 16, bytes(size - 8))
    else:
        with pytest.raises(ProtocolViolation):
            asyncio.run(startup())
