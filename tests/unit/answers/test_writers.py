"""Answers as files."""

from __future__ import annotations

import csv
import io
import json
from datetime import date, datetime
from typing import Any

import pytest

from dpsql.answers.answer import NOT_PRIVATE, Answer, Measurement, public
from dpsql.answers.writers import WRITERS, to_csv, to_json, to_parquet
from dpsql.plan.types import Type
from dpsql.privacy.loss import PrivacyLoss


def of_text(*texts: str) -> Answer:
    """One text column called t."""
    return public(("t",), (Type.TEXT,), [(text,) for text in texts])


def counted(*, private: bool = True) -> Answer:
    """One city and its noised count."""
    loss = PrivacyLoss(epsilon=float("inf"), rho=0.5)
    made = (Measurement("COUNT(*)", "gaussian", loss, 1.0, 1.0, 1.96),)
    return Answer(
        ("city", "n"),
        (Type.TEXT, Type.INTEGER),
        [("Rome", 7)],
        loss,
        made,
        False,
        private,
        0.9,
        lambda column, confidence: [(5, 9)] if column == 1 else [],
    )


def read(answer: Answer) -> list[list[str]]:
    return list(csv.reader(io.StringIO(to_csv(answer).decode())))


@pytest.mark.parametrize(
    "formula", ["=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "\r=1", "\x00=1", "\x1b[0m=1", "\u202e=1", "＝1", "\n=1", " =1"]
)
def test_text_that_a_spreadsheet_would_run_is_quoted(formula: str) -> None:
    cell = read(of_text(formula))[1][0]
    assert not cell.strip().startswith(("=", "+", "-", "@", "＝"))
    assert cell.startswith("'")


def test_a_column_name_that_a_spreadsheet_would_run_is_quoted() -> None:
    assert read(public(("=1",), (Type.TEXT,), []))[0] == ["'=1"]


def test_numbers_stay_numbers_also_below_zero() -> None:
    answer = public(("a", "b"), (Type.INTEGER, Type.REAL), [(-3, -0.5), (None, 12_345.678)])
    assert read(answer)[1:] == [["-3", "-0.5"], ["", "12345.678"]]


def test_commas_quotes_dates_and_booleans_survive_csv() -> None:
    answer = public(
        ("t", "d", "s", "b"),
        (Type.TEXT, Type.DATE, Type.TIMESTAMP, Type.BOOLEAN),
        [('a, "b"', date(2024, 1, 2), datetime(2024, 1, 2, 3, 4), True)],
    )
    assert read(answer)[1] == ['a, "b"', "2024-01-02", "2024-01-02T03:04:00", "true"]


def test_an_empty_text_is_not_what_null_is_in_csv() -> None:
    rows = [("", 1, "x"), (None, 2, 'say "no", twice'), ("plain", None, "")]
    answer = public(("t", "n", "u"), (Type.TEXT, Type.INTEGER, Type.TEXT), rows)
    text = to_csv(answer).decode()
    assert text.splitlines()[1:] == ['"",1,x', ',2,"say ""no"", twice"', 'plain,,""']
    assert [line[0] for line in read(answer)[1:]] == ["", "", "plain"]
    assert len(read(of_text("", "a"))) == 3  # no line of one column is left blank, which readers skip


def test_json_holds_rows_intervals_cost_and_measurements() -> None:
    document = json.loads(to_json(counted()))
    assert document["columns"] == [
        {"name": "city", "type": "text"},
        {"name": "n", "type": "integer", "confidence": 0.9, "intervals": [[5, 9]]},
    ]
    assert document["rows"] == [["Rome", 7]]
    assert document["cost"]["rho"] == 0.5
    assert document["cost"]["epsilon"] is None
    assert document["measurements"][0]["mechanism"] == "gaussian"
    assert (document["replayed"], document["private"]) == (False, True)
    assert "warning" not in document


def test_json_has_one_row_a_line() -> None:
    assert b'\n    ["Rome", 7]\n' in to_json(counted())


def test_json_is_printable_ascii() -> None:
    assert all(32 <= byte < 127 or byte == 10 for byte in to_json(of_text("\x1b[31m\x7f\u202e\x00é")))
    assert json.loads(to_json(of_text("\x1b\x7fé")))["rows"] == [["\x1b\x7fé"]]


def test_parquet_reads_back() -> None:
    from pyarrow import parquet

    assert parquet.read_table(io.BytesIO(to_parquet(counted()))).to_pylist() == [{"city": "Rome", "n": 7}]


def test_every_format_says_when_an_answer_is_not_private() -> None:
    from pyarrow import parquet

    fake = counted(private=False)
    assert read(fake) == [["city", "n", NOT_PRIVATE], ["Rome", "7", ""]]
    assert json.loads(to_json(fake))["warning"] == NOT_PRIVATE
    assert parquet.read_table(io.BytesIO(to_parquet(fake))).schema.metadata[b"dpsql"] == NOT_PRIVATE.encode()


def test_the_formats_are_csv_json_and_parquet() -> None:
    assert list(WRITERS) == ["csv", "json", "parquet"]


def test_a_value_of_a_foreign_type_is_an_error() -> None:
    foreign: Any = object()
    with pytest.raises(TypeError, match="object is not a type of answers"):
        to_json(public(("x",), (Type.TEXT,), [(foreign,)]))
