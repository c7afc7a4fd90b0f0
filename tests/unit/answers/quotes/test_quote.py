"""What a quote says of each column of an answer."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest

import dpsql.testing
from dpsql.session import Session
from tests.sql.databases import build


@pytest.fixture(scope="module")
def session(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Session]:
    path = build("shop", tmp_path_factory.mktemp("quoted"))
    with dpsql.testing.open(path, dpsql.testing.Noiseless()) as opened:
        yield opened.session(analyst="ana")


def test_the_error_of_a_mode_is_so_many_rows(session: Session) -> None:
    mode = "SELECT MODE(status) AS m FROM orders"
    quote = session.explain(mode)
    (column,) = quote.columns
    assert column.error == f"± {column.half_width:.4g} rows"
    assert column.error in str(quote)
    assert column.error in str(session.quote([mode]))
    assert quote.to_answer().rows[0][5] is None


def test_what_half_widths_mean_is_said_where_a_column_has_one(session: Session) -> None:
    said = "± is half the width of a 95% confidence interval"
    assert said not in str(session.query("SELECT MODE(status) AS m FROM orders"))
    assert said in str(session.query("SELECT MODE(status) AS m, COUNT(*) AS n FROM orders"))


def test_why_a_mechanism_is_not_taken_is_said_once_for_all_columns_alike(session: Session) -> None:
    lines = str(session.explain("SELECT COUNT(*) AS n, COUNT(status) AS m, MODE(status) AS mode FROM orders")).split(
        "\n"
    )
    (alike,) = [line for line in lines if ": not random_dp: " in line]
    assert alike.startswith("  n, m, mode: ")
    reasons = [line.partition(": ")[2] for line in lines if ": not " in line]
    assert len(reasons) == len(set(reasons))


def test_that_a_half_width_rests_on_a_guess_of_the_spread_is_said(session: Session) -> None:
    notes = session.explain("SELECT CORR(items, total) AS r, AVG(total) AS m FROM orders", mechanism="laplace").notes
    (told,) = [note for note in notes if "lie closer together" in note]
    assert re.search(r"CORR\(items, total\) \(by standard deviations of [\d.,]+ and [\d.,]+\)", told)
    assert "AVG(" not in told
    assert not [note for note in session.explain("SELECT COUNT(*) FROM orders").notes if "lie closer together" in note]


def test_how_the_error_of_a_mean_grows_is_said_where_its_rows_are_guessed(session: Session) -> None:
    said = "of half as many it is about twice as large"
    assert said not in str(session.explain("SELECT AVG(total) FROM orders"))
    assert said in str(session.explain("SELECT AVG(total) FROM orders WHERE items = 2"))
    assert "The error of a standard deviation is for" in str(session.explain("SELECT STDDEV(total) FROM orders"))


@pytest.mark.parametrize("where", ["items = 2 AND total > 5", "items = 2 AND total BETWEEN 5 AND 9"])
@pytest.mark.parametrize("of", ["AVG(total)", "VAR_POP(total)", "AVG(total) FILTER (WHERE items < 9)"])
def test_that_several_conditions_together_leave_what_nobody_can_guess_is_said(
    session: Session, where: str, of: str
) -> None:
    said = "What several conditions leave together is often ten times fewer, or more: of a tenth as many it is about"
    assert said in str(session.explain(f"SELECT {of} FROM orders WHERE {where}"))
    assert said not in str(session.explain("SELECT AVG(total) FROM orders WHERE items BETWEEN 2 AND 5"))
