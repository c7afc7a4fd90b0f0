"""Real clients of Flight SQL at its door: ADBC, pyarrow's own, polars and DuckDB over ADBC; over TLS."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from dpsql.server.flight.door import FlightDoor
from dpsql.server.flight.messages import any_message
from dpsql.server.flight.wire import field
from dpsql.server.listening import Tls
from tests.doors.conftest import CERTIFICATE
from tests.unit.server.clinic import COUNT, Clinic, open_clinic
from tests.unit.server.opening import opened

pytestmark = [pytest.mark.doors, pytest.mark.chance(0, "no noise is drawn")]
adbc = pytest.importorskip("adbc_driver_flightsql.dbapi")
ROOTS = "adbc.flight.sql.client_option.tls_root_certs"


@dataclass(frozen=True)
class Flight:
    """A door that is open, and what a client needs of it."""

    clinic: Clinic
    where: str
    certificate: Path

    def connect(self, **more: str) -> Any:
        """ADBC's connection, as ana."""
        login = {} if more else {"username": "ana", "password": self.clinic.tokens["ana"]}
        return adbc.connect(self.where, db_kwargs={ROOTS: self.certificate.read_text(), **login, **more})

    def spent(self) -> float:
        """Ana's epsilon."""
        return self.clinic.proxy.session(analyst="ana").budget().spent.epsilon


@pytest.fixture(scope="module")
def flight(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Flight]:
    folder = tmp_path_factory.mktemp("flight")
    command = ["openssl", *CERTIFICATE.split(), "-keyout", "key.pem", "-out", "cert.pem"]
    subprocess.run(command, cwd=folder, check=True, capture_output=True)
    tls = Tls(folder / "cert.pem", folder / "key.pem")
    with open_clinic(folder) as clinic, opened(FlightDoor(clinic.server), "127.0.0.1:0", tls) as where:
        assert where.startswith("grpc+tls://")
        yield Flight(clinic, where, tls.certificate)


def test_adbc_asks_with_parameters_and_is_charged_once(flight: Flight) -> None:
    sql = "SELECT sex, COUNT(*) AS n FROM people WHERE age >= ? AND born = ? GROUP BY sex"
    before = flight.spent()
    with flight.connect() as connection, connection.cursor() as cursor:
        schema = cursor.adbc_prepare(sql)
        assert [own.type for own in schema] == ["int64", "date32[day]"]
        assert flight.spent() == before
        for _ in range(2):
            cursor.execute(sql, (10, date(1990, 1, 1)))
            assert cursor.fetchall() == [("F", 40), ("M", 0)]
        assert cursor.adbc_execute_schema(COUNT).names == ["n"]
        assert flight.spent() == before + 0.5
        told = connection.adbc_connection.get_option("adbc.flight.sql.session.options")
        assert "nothing: released before" in told


def test_adbc_sees_the_catalogue_and_intervals_and_refusals(flight: Flight) -> None:
    with flight.connect() as connection, connection.cursor() as cursor:
        (catalogue,) = connection.adbc_get_objects(depth="all").read_all().to_pylist()
        (schema,) = catalogue["catalog_db_schemas"]
        (table,) = schema["db_schema_tables"]
        assert (catalogue["catalog_name"], schema["db_schema_name"], table["table_name"]) == (
            "clinic",
            "main",
            "people",
        )
        assert len(table["table_columns"]) == 6
        assert connection.adbc_get_table_schema("people").field("weight").type == "double"
        assert connection.adbc_get_info()["vendor_name"] == "dpsql"
        cursor.execute("SET intervals = on")
        cursor.execute(COUNT)
        assert cursor.fetch_arrow_table().column_names == ["n", "n_low", "n_high"]
        with pytest.raises(adbc.ProgrammingError, match="counts people"):
            cursor.execute("SELECT person FROM people")
        connection.commit()


def test_adbc_with_the_token_as_bearer_and_intervals_by_header(flight: Flight) -> None:
    header = {
        "adbc.flight.sql.authorization_header": f"Bearer {flight.clinic.tokens['ana']}",
        "adbc.flight.sql.rpc.call_header.dpsql-intervals": "on",
    }
    with flight.connect(**header) as connection, connection.cursor() as cursor:
        cursor.execute(COUNT)
        assert cursor.fetch_arrow_table().column_names == ["n", "n_low", "n_high"]
        with pytest.raises(adbc.ProgrammingError, match="Log in"):
            cursor.execute("SET epsilon = 0.1")
    with pytest.raises(adbc.ProgrammingError, match="name or token is wrong"):
        flight.connect(username="ana", password="wrong")


def test_frames_over_adbc(flight: Flight) -> None:
    polars, duckdb = pytest.importorskip("polars"), pytest.importorskip("duckdb")
    with flight.connect() as connection:
        assert polars.read_database(COUNT, connection).to_dicts() == [{"n": 100}]
        with connection.cursor() as cursor:
            cursor.execute("SELECT sex, COUNT(*) AS n FROM people GROUP BY sex")
            own = duckdb.from_arrow(cursor.fetch_arrow_table())
        assert own.aggregate("SUM(n)").fetchall() == [(100,)]


def test_pyarrows_own_client_is_told_the_cost(flight: Flight) -> None:
    arrow = pytest.importorskip("pyarrow.flight")
    with arrow.FlightClient(flight.where, tls_root_certs=flight.certificate.read_bytes()) as client:
        header = client.authenticate_basic_token("ana", flight.clinic.tokens["ana"])
        options = arrow.FlightCallOptions(headers=[header])
        sql = "SELECT COUNT(*) AS n FROM people WHERE age > 40"
        command = any_message("CommandStatementQuery", field(1, sql))
        info = client.get_flight_info(arrow.FlightDescriptor.for_command(command), options)
        table = client.do_get(info.endpoints[0].ticket, options).read_all()
        assert info.schema.names == table.column_names == ["n"]
        assert table.schema.metadata[b"dpsql_cost"] == b"epsilon 0.5"
        with pytest.raises(arrow.FlightUnauthenticatedError, match="Log in"):
            client.get_flight_info(arrow.FlightDescriptor.for_command(command))
