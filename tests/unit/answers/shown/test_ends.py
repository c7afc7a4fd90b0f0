"""Errors travel with the numbers: intervals as columns, in frames and files."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Iterator
from datetime import date
from fractions import Fraction
from typing import Any

import pytest

import dpsql
import dpsql.testing
from dpsql.answers.answer import Answer
from dpsql.answers.shown.ends import with_ends
from dpsql.answers.shown.screen import Ends
from dpsql.answers.writers import to_csv, to_parquet
from dpsql.errors import ProgrammingError
from dpsql.plan.over_answers.roles import ColumnRole
from dpsql.plan.types import Type
from dpsql.privacy.loss import PrivacyLoss
from tests.sql.databases import build

INTEGER, REAL, TEXT, DATE = Type.INTEGER, Type.REAL, Type.TEXT, Type.DATE

KEY_AND_VALUE = (ColumnRole.KEY, ColumnRole.VALUE)


def answer_of(
    columns: tuple[str, ...],
    types: tuple[Type, ...],
    rows: list[tuple[Any, ...]],
    held: dict[int, list[Ends]],
    roles: tuple[ColumnRole, ...] = (),
) -> Answer:
    """An answer with these intervals."""
    loss = PrivacyLoss(epsilon=0.5)
    return Answer(columns, types, rows, loss, (), False, True, 0.95, lambda at, level: held.get(at, []), (), (), roles)


COUNTED = answer_of(
    ("city", "n", "kg"),
    (TEXT, INTEGER, REAL),
    [("Rome", 7, 1.5), ("Troy", 12, None)],
    {1: [(4, 10), (9, 15)], 2: [(Fraction(1, 4), Fraction(11, 4)), (None, None)]},
)
WIDE = ["city", "n", "n_low", "n_high", "kg", "kg_low", "kg_high"]


def test_ends_stand_beside_each_noised_column_in_every_frame() -> None:
    rows = [("Rome", 7, 4, 10, 1.5, 0.25, 2.75), ("Troy", 12, 9, 15, None, None, None)]
    arrow = COUNTED.to_arrow(intervals=True)
    assert arrow.column_names == WIDE
    assert [tuple(row.values()) for row in arrow.to_pylist()] == rows
    assert [str(kind) for kind in arrow.schema.types[1:5]] == ["int64"] * 3 + ["double"]
    assert COUNTED.to_polars(intervals=True).rows() == rows
    frame = COUNTED.df(intervals=True)
    assert list(frame.columns) == WIDE
    assert frame["n_low"].tolist() == [4, 9]
    assert math.isnan(frame["kg_high"][1])


def test_a_frame_without_ends_says_how_wide_the_intervals_are() -> None:
    told = "Half the width of the 95% intervals: n ± 3, kg ± 1.25. intervals=True adds their ends."
    assert COUNTED.footnote == told
    assert COUNTED.to_pandas().attrs == {"dpsql_errors": told}
    assert COUNTED.to_arrow().schema.metadata == {b"dpsql_errors": told.encode()}
    assert COUNTED.to_pandas(intervals=True).attrs == {}
    assert answer_of(("a",), (TEXT,), [("x",)], {}).to_pandas().attrs == {}


def test_files_with_ends_are_read_back_with_them() -> None:
    from pyarrow import parquet

    shown = COUNTED.with_intervals()
    assert next(csv.reader(io.StringIO(to_csv(shown).decode()))) == WIDE
    assert parquet.read_table(io.BytesIO(to_parquet(shown))).column_names == WIDE


def test_columns_that_share_a_name_keep_their_own_ends() -> None:
    twice = answer_of(("n", "n"), (INTEGER, INTEGER), [(5, 50)], {0: [(4, 6)], 1: [(40, 60)]}).with_intervals()
    assert twice.columns == ("n", "n_low", "n_high", "n_1", "n_1_low", "n_1_high")
    assert twice.rows == [(5, 4, 6, 50, 40, 60)]
    assert twice.ends(3) == [(40, 60)]
    assert twice.ends(4) == []


def test_an_end_whose_name_a_column_has_is_numbered_and_the_column_keeps_its_name() -> None:
    names = ("n_high", "n", "n_low", "n_low_1")
    kinds = (INTEGER,) * 4
    assert with_ends(names, kinds, (False, True, False, False)).columns == (
        *("n_high", "n", "n_low_2", "n_high_1", "n_low", "n_low_1"),
    )


def test_ends_of_whole_numbers_are_whole_and_ends_without_a_bound_are_null() -> None:
    held: dict[int, list[Ends]] = {0: [(Fraction(7, 2), 6.5), (None, math.inf), (-(2**63) - 1, 2**63 - 1)]}
    answer = answer_of(("n",), (INTEGER,), [(5,), (6,), (7,)], held).with_intervals()
    assert answer.rows == [(5, 4, 6), (6, None, None), (7, None, 2**63 - 1)]


def test_an_answer_without_rows_has_the_same_columns() -> None:
    empty = answer_of(("d", "n"), (DATE, INTEGER), [], {}, roles=KEY_AND_VALUE)
    assert empty.with_intervals().columns == ("d", "n", "n_low", "n_high")
    assert empty.to_arrow(intervals=True).num_rows == 0


def test_a_column_that_may_hold_noise_and_has_no_intervals_has_null_ends() -> None:
    unknown = answer_of(("d", "n"), (DATE, REAL), [(date(2024, 1, 2), 1.0)], {}, roles=KEY_AND_VALUE)
    assert unknown.with_intervals().rows == [(date(2024, 1, 2), 1.0, None, None)]


def test_an_answer_gives_a_column_by_its_name() -> None:
    assert COUNTED["n"] == [7, 12]
    with pytest.raises(ProgrammingError, match=r"no column 'm'\. Its columns are city, n, kg"):
        COUNTED["m"]
    with pytest.raises(ProgrammingError, match="Several columns are called 'n'"):
        answer_of(("n", "n"), (INTEGER, INTEGER), [], {})["n"]


@pytest.fixture(scope="module")
def session(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dpsql.Session]:
    with dpsql.testing.open(build("census", tmp_path_factory.mktemp("ends")), dpsql.testing.Noiseless()) as proxy:
        yield proxy.session(analyst="ana")


@pytest.mark.parametrize("rest", ["", " LIMIT 0", " HAVING COUNT(*) < -1000000"])
def test_a_statement_has_the_same_ends_whatever_rows_it_has(session: dpsql.Session, rest: str) -> None:
    asked = f"SELECT employed, COUNT(*) AS n, DP_INTERVAL_LOW(n) AS low, COUNT(*) > 3 AS m FROM people GROUP BY 1{rest}"
    answer = session.query(asked, epsilon=1).with_intervals()
    assert answer.columns == ("employed", "n", "n_low", "n_high", "low", "m")
    assert [kind.value for kind in answer.types] == ["boolean", *["integer"] * 3, "real", "boolean"]
    for _, n, low, high, _, _ in answer.rows:
        assert low < n < high
    assert rest or answer.rows


@pytest.mark.parametrize("on", ["on", "true"])
def test_a_session_that_is_told_to_show_intervals_says_where_they_are(session: dpsql.Session, on: str) -> None:
    with pytest.raises(ProgrammingError, match="Here an answer has them: with_intervals"):
        session.query(f"SET intervals = {on}")
