"""Texts of moments, with and without an offset from UTC: on every engine they are the same moments, or NULL.

PostgreSQL and Spark are asked in tests/doors.
"""

from __future__ import annotations

import duckdb
import pytest

from dpsql.engine.dialect import Dialect
from dpsql.engine.duckdb.dialect import DUCKDB

READ = {
    "2024-06-15T10:15:00+02:00": "2024-06-15 08:15:00",
    "2024-06-15T10:15:00Z": "2024-06-15 10:15:00",
    "2024-06-15T10:15:00-05:00": "2024-06-15 15:15:00",
    "2024-06-15 10:15:00+0200": "2024-06-15 08:15:00",
    "2024-06-15 10:15:00+02": "2024-06-15 08:15:00",
    "2024-06-15 10:15:00 +02:00": "2024-06-15 08:15:00",
    "2024-06-15 10:15:00 -0330": "2024-06-15 13:45:00",
    "2024-06-15 10:15:00 UTC": "2024-06-15 10:15:00",
    "2024-06-15 10:15:00z": "2024-06-15 10:15:00",
    "2024-06-15 10:15Z": "2024-06-15 10:15:00",
    "2024-06-15T10:15:00.25+05:30": "2024-06-15 04:45:00.25",
    "2024-06-15T23:15:00-05:00": "2024-06-16 04:15:00",
    "2024-01-01T01:00:00+02:00 ": "2023-12-31 23:00:00",
    "2024-06-15 10:15:00": "2024-06-15 10:15:00",
    "2024-06-15": "2024-06-15 00:00:00",
    "2024-06-15 10:15:00 Europe/Berlin": None,
    "2024-06-15 10:15:00 PM": None,
    "2024-06-15 10:15:00+25:00": None,
    "2024-06-15 10:15:00+02:60": None,
    "2024-06-15 10:15:00+02:00:30": None,
    "2024-06-15 10:15:00+2": None,
    "2024-06-15+02:00": None,
    "2024-02-30T10:15:00+02:00": None,
    "10:15:00+02:00": None,
    ":00Z": None,
    "": None,
}
"""Each text, and the moment that it says in UTC."""
WITHOUT = {"2024-06-15 10:15:00", "2024-06-15", "2024-06-15+02:00", ""}
"""Of these, those that have no offset behind a time of day; of the others that are no moments nothing is said."""


def asked(words: Dialect) -> str:
    """SQL of the moment, the day and whether there is an offset, of each text by its place."""
    texts = " UNION ALL ".join(f"SELECT {place} AS place, {words.text(text)} AS t" for place, text in enumerate(READ))
    moment, day, offset = (words.call(name, "s.t") for name in ("timestamp_of_text", "date_of_text", "has_offset"))
    as_text = words.call("text_from_timestamp", moment), words.call("text_from_date", day)
    return f"SELECT {', '.join(as_text)}, {offset} AS o FROM ({texts}) AS s ORDER BY place"


def hold(found: list[tuple[str | None, str | None, bool]]) -> None:
    """Holds what an engine says of the texts to what they say."""
    for (text, expected), (moment, day, offset) in zip(READ.items(), found, strict=True):
        assert moment == expected, text
        assert day == (expected and expected[:10]), text
        assert not (text in WITHOUT and offset), text
        assert offset or expected is None or text in WITHOUT, text


@pytest.mark.parametrize("zone", ["UTC", "Asia/Tokyo"])
def test_texts_with_an_offset_are_moments_in_utc_in_whatever_zone_the_session_is(zone: str) -> None:
    with duckdb.connect() as connection:
        connection.execute(f"SET TimeZone = '{zone}'")
        hold(connection.execute(asked(DUCKDB)).fetchall())


@pytest.mark.parametrize("text", ["9999-12-31T23:59:59-05:00", "0001-01-01T00:00:00+02:00", "infinity", "x:00+02:00"])
@pytest.mark.parametrize("primitive", ["timestamp_of_text", "date_of_text"])
def test_no_text_ends_the_reading(text: str, primitive: str) -> None:
    with duckdb.connect() as connection:
        sql = f"SELECT CAST({DUCKDB.call(primitive, 's.t')} AS VARCHAR) FROM (SELECT {DUCKDB.text(text)} AS t) AS s"
        assert len(connection.execute(sql).fetchall()) == 1
