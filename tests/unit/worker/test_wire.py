"""Messages and tables survive the journey; what does not belong there is refused."""

from __future__ import annotations

from datetime import date, datetime, timedelta
from decimal import Decimal
from fractions import Fraction
from typing import Any

import nanoarrow
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpsql.errors import InvariantBroken
from dpsql.worker import columns, wire

VALUES = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(allow_nan=False, allow_infinity=False),
    st.text(),
    st.dates(),
    st.datetimes(),
    st.decimals(allow_nan=False, allow_infinity=False),
    st.fractions(),
)


@given(st.lists(VALUES))
def test_a_message_arrives_as_it_was_sent(values: list[Any]) -> None:
    got = wire.decode(wire.encode({"parameters": values}))["parameters"]
    assert got == values
    assert [type(value) for value in got] == [type(value) for value in values]


def test_exact_numbers_stay_exact() -> None:
    message = [Decimal("0.10"), Fraction(1, 3), 2**200, date(2024, 2, 29), datetime(2024, 2, 29, 1, 2, 3, 4)]
    assert str(wire.decode(wire.encode(message))) == str(message)


@pytest.mark.parametrize("value", [float("nan"), float("inf"), object(), b"bytes", {1, 2}])
def test_what_does_not_travel_is_refused(value: object) -> None:
    with pytest.raises(InvariantBroken):
        wire.encode([value])


@given(st.lists(st.tuples(st.one_of(st.none(), st.integers(-(2**63), 2**63 - 1)), st.one_of(st.none(), st.text()))))
def test_a_table_arrives_as_it_was_sent(rows: list[tuple[int | None, str | None]]) -> None:
    numbers, texts = [number for number, _ in rows], [text for _, text in rows]
    data = bytes(wire.table({"n": ("BIGINT", numbers), "t": ("VARCHAR", texts)}))
    got = columns.read(data, [("n", "BIGINT"), ("t", "VARCHAR")])
    assert list(got["n"]) == numbers
    assert list(got["t"]) == texts


def test_a_table_of_other_columns_is_refused_and_its_values_unsaid() -> None:
    data = bytes(wire.table({"n": ("VARCHAR", ["a secret"])}))
    for expected in ([("n", "BIGINT")], [("m", "VARCHAR")], []):
        with pytest.raises(ValueError, match="columns") as refusal:
            columns.read(data, expected)
        assert "secret" not in str(refusal.value)


def days(kind: str, values: list[int | None]) -> bytes:
    """Days, counted from 1970, as a table of one column."""
    own, step = (nanoarrow.date32(), 1) if kind == "DATE" else (nanoarrow.timestamp("us"), 24 * 3600 * 10**6)
    known = np.packbits(np.array([value is not None for value in values], dtype=np.bool_), bitorder="little")
    stored = np.array([2**31 - 1 if value is None else value * step for value in values], "i8")
    column = nanoarrow.c_array_from_buffers(own, len(values), [known, stored.astype("i4" if step == 1 else "i8")])
    table = nanoarrow.c_array_from_buffers(nanoarrow.struct({"d": own}), len(values), [None], children=[column])
    return bytes(wire.pack(table))


FIRST, LAST = (day.toordinal() - date(1970, 1, 1).toordinal() for day in (date.min, date.max))


@pytest.mark.parametrize("kind", ["DATE", "TIMESTAMP"])
@given(values=st.lists(st.none() | st.integers(FIRST, LAST) | st.sampled_from([FIRST, LAST])))
def test_days_arrive_as_they_were_sent(kind: str, values: list[int | None]) -> None:
    start = date(1970, 1, 1) if kind == "DATE" else datetime(1970, 1, 1)
    found = columns.read(days(kind, values), [("d", kind)])["d"]
    assert found == [None if value is None else start + timedelta(days=value) for value in values]
    assert {type(value) for value in found} <= {type(start), type(None)}


@pytest.mark.parametrize("kind", ["DATE", "TIMESTAMP"])
@pytest.mark.parametrize("day", [FIRST - 1, LAST + 1])
def test_days_outside_of_the_calendar_are_no_values(kind: str, day: int) -> None:
    with pytest.raises(ValueError, match="calendar"):
        columns.read(days(kind, [0, day]), [("d", kind)])
