"""Constants mean what DuckDB means by them, exactly, or are refused."""

from __future__ import annotations

from datetime import date, datetime
from decimal import Decimal

import duckdb
import pytest

from dpsql.errors import UnsupportedQuery
from dpsql.sql.literals import read_date, read_interval, read_moment, read_number, read_timestamp
from dpsql.sql.parse import parse


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("0", 0),
        ("007", 7),
        ("9" * 38, 10**38 - 1),
        ("1.", Decimal(1)),
        (".5", Decimal("0.5")),
        ("1.50", Decimal("1.5")),
        ("1e3", Decimal(1000)),
        ("1.5E-3", Decimal("0.0015")),
        ("1e300", Decimal(10) ** 300),
        ("0." + "1" * 37, Decimal("0." + "1" * 37)),
    ],
)
def test_numbers_are_exact(text: str, value: int | Decimal) -> None:
    read = read_number(text).value
    assert read == value
    assert type(read) is type(value)


@pytest.mark.parametrize(
    "text",
    ["", ".", "e5", "1e", "-1", "1_0", "0x1", "١", "1e301", "1e-301", "1e99999999999", "1" * 39, "0" * 39, "inf"],
)
def test_other_numbers_are_refused(text: str) -> None:
    with pytest.raises(UnsupportedQuery) as caught:
        read_number(text, (1, 5))
    assert (caught.value.construct, caught.value.position) == ("number", (1, 5))


@pytest.mark.parametrize("text", ["2024-02-29", "0001-01-01", "9999-12-31"])
def test_dates_are_the_engines(text: str) -> None:
    assert [(read_date(text).value,)] == duckdb.execute(f"SELECT DATE '{text}'").fetchall()


@pytest.mark.parametrize(
    "text",
    [
        "2023-02-29",
        "2024-1-1",
        "2024-13-01",
        "0000-01-01",
        "20240101",
        "2024-W01-1",
        " 2024-01-01",
        "infinity",
        "٢٠٢٤-٠١-٠١",
        "2024-01-01 (BC)",
    ],
)
def test_other_dates_are_refused(text: str) -> None:
    with pytest.raises(UnsupportedQuery, match="Write it like DATE '2024-05-31'"):
        read_date(text)


@pytest.mark.parametrize(
    "text",
    [
        "2024-02-29",
        "2024-02-29 13:00",
        "2024-02-29T13:00:59",
        "2024-02-29 13:00:59.5",
        "2024-02-29 13:00:59.123456",
        "2024-02-29 13:00Z",
        "2024-02-29T13:00:59Z",
        "2024-02-29T13:00:59.5Z",
    ],
)
def test_timestamps_are_the_engines(text: str) -> None:
    assert [(read_timestamp(text).value,)] == duckdb.execute(f"SELECT TIMESTAMP '{text}'").fetchall()


@pytest.mark.parametrize(
    "text",
    [
        "2024-02-29 24:00",
        "2024-02-29Z",
        "2024-02-29 13:00ZZ",
        "2024-02-29 13:00+00",
        "2024-02-29 13:00+02",
        "2024-02-29 13:00 Europe/Rome",
        "2024-02-30 10:00",
        "2024-02-29 13",
        "2024-02-29 13:00:59.1234567",
        "now",
        "epoch",
    ],
)
def test_zones_and_other_timestamps_are_refused(text: str) -> None:
    with pytest.raises(UnsupportedQuery, match="or TIMESTAMPTZ"):
        read_timestamp(text)


@pytest.mark.parametrize(
    ("text", "moment"),
    [
        ("2024-02-29 13:00", datetime(2024, 2, 29, 13)),
        ("2024-02-29 13:00Z", datetime(2024, 2, 29, 13)),
        ("2024-02-29 13:00+02", datetime(2024, 2, 29, 11)),
        ("2024-02-29T22:00:00.5-0530", datetime(2024, 3, 1, 3, 30, 0, 500_000)),
        ("2024-02-29 13:00:59+05:45", datetime(2024, 2, 29, 7, 15, 59)),
        ("2024-02-29", datetime(2024, 2, 29)),
    ],
)
def test_moments_with_an_offset_are_in_utc_as_the_engine_has_them(text: str, moment: datetime) -> None:
    assert read_moment(text).value == moment
    own = f"SELECT epoch_us(TIMESTAMPTZ '{text}') = epoch_us($1)"
    with duckdb.connect() as connection:
        connection.execute("SET TimeZone = 'UTC'")
        assert connection.execute(own, [moment]).fetchall() == [(True,)]


@pytest.mark.parametrize("text", ["2024-02-29 13:00 Europe/Rome", "2024-02-29 13:00+15", "0001-01-01 00:00+01", "now"])
def test_moments_of_other_forms_are_refused(text: str) -> None:
    with pytest.raises(UnsupportedQuery):
        read_moment(text)


def test_a_timestamp_is_no_date() -> None:
    assert type(read_timestamp("2024-01-01").value) is datetime
    assert type(read_date("2024-01-01").value) is date


@pytest.mark.every(3)
@pytest.mark.parametrize("unit", ["year", "quarter", "month", "week", "day", "hour", "minute", "second"])
@pytest.mark.parametrize("form", ["INTERVAL '{}' {}", "INTERVAL '{}' {}S", "INTERVAL '{} {}'", "INTERVAL '{} {}s'"])
@pytest.mark.parametrize("count", [1, 3, -2])
def test_intervals_are_the_engines(form: str, unit: str, count: int) -> None:
    body = form.format(count, unit).removeprefix("INTERVAL ")
    text, _, after = body[1:].partition("'")
    ours = read_interval(text, after.strip() or None)
    assert (ours.count, ours.unit) == (count, unit)
    assert duckdb.execute(f"SELECT {form.format(count, unit)} = to_{unit}s({count})").fetchall() == [(True,)]


@pytest.mark.parametrize(
    ("text", "unit"),
    [
        ("2 months ago", None),
        ("1 year 2 months", None),
        ("3", None),
        ("3.5", "day"),
        ("3 days", "day"),
        ("", "day"),
        ("3 fortnights", None),
        ("1:00:00", None),
        ("2147483648", "day"),
        ("99999999999999999999", "day"),
        ("P1D", None),
    ],
)
def test_other_intervals_are_refused(text: str, unit: str | None) -> None:
    with pytest.raises(UnsupportedQuery, match="Write a whole number of one unit"):
        read_interval(text, unit)


@pytest.mark.parametrize(
    ("written", "meant"),
    [("(-5) DAY", "'-5' DAY"), ("('5') HOURS", "'5' HOUR"), ("(5) MONTH", "'5' MONTH"), ("(- 5) DAY", "'-5' DAY")],
)
def test_an_interval_in_parentheses_is_one_without(written: str, meant: str) -> None:
    assert parse(f"SELECT d + INTERVAL {written} FROM t") == parse(f"SELECT d + INTERVAL {meant} FROM t")


@pytest.mark.parametrize(
    "written", ["-5 DAY", "(5)", "(2 + 3) DAY", "(-'5') DAY", "(2.5) DAY", "((5)) DAY", "( DAY", "(5 DAY"]
)
def test_other_intervals_of_a_statement_are_refused(written: str) -> None:
    with pytest.raises(UnsupportedQuery):
        parse(f"SELECT d + INTERVAL {written} FROM t")
