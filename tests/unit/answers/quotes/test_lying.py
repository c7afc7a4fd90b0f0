"""What a quote says of quantiles: for which rows and values the half width is, and nothing of an interval that was
declined."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

import dpsql.testing
from dpsql.answers.quotes.quoted import COMPUTED
from dpsql.session import Session
from tests.sql.databases import build

NONE = "WITH DIFFERENTIAL_PRIVACY OPTIONS (interval = 'none')"


@pytest.fixture(scope="module")
def session(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Session]:
    with dpsql.testing.open(build("hospital", tmp_path_factory.mktemp("lying")), dpsql.testing.Noiseless()) as proxy:
        yield proxy.session(analyst="ana")


def test_of_values_of_which_bounds_alone_are_known_a_quantile_is_told_to_be_as_wide_at_most(session: Session) -> None:
    quote = session.explain("SELECT MEDIAN(age) AS m, MEDIAN(age) + 1 AS next FROM patients", epsilon=0.5)
    columns = {column.name: column for column in quote.columns}
    assert columns["next"].mechanism == COMPUTED
    assert columns["m"].error == columns["next"].error == f"up to ± {columns['m'].half_width:.3g}"
    assert columns["m"].foretold == columns["m"].half_width
    (said,) = (note for note in quote.notes if "evenly" in note)
    assert said.startswith("m: its half width is for 100,000 rows, by the number that the policy guesses")
    assert "where they lie within 1/8 of these it is about 1/8 of it" in said
    assert "rows or fewer an interval reaches to a bound" in said
    assert "up to ±" in str(quote)
    assert "up to ±" in dict(zip(quote.to_answer().rows[0], quote.to_answer().columns, strict=True)).popitem()[0]


def test_of_values_whose_spread_is_declared_it_is_told_as_a_guess(session: Session) -> None:
    quote = session.explain("SELECT MEDIAN(cost) AS m FROM visits", epsilon=5)
    assert quote.columns[0].error.startswith("± ")
    assert any("values as far apart as they are thought to be" in note for note in quote.notes)


def test_where_an_end_is_a_bound_the_other_one_is_told(session: Session) -> None:
    """An interval that is long on one side alone says where some of the rows are."""
    quote = session.explain("SELECT QUANTILE_CONT(age, 0.99) AS q FROM patients WHERE age > 100", epsilon=0.01)
    notes = " ".join(quote.notes)
    assert "an end of its interval, or both, is a bound then. Of more than about" in notes
    assert "evenly" not in notes


@pytest.mark.parametrize("of", ["MEDIAN(age)", "MAX(age)", "MEDIAN(cost)", "QUANTILE_CONT(cost, 0.99)"])
@pytest.mark.parametrize("epsilon", [0.0001, 1])
def test_nothing_is_said_of_an_interval_that_was_declined(session: Session, of: str, epsilon: float) -> None:
    table = "visits" if "cost" in of else "patients"
    sql = f"SELECT {NONE} {of} AS m, {of} + 1 AS next FROM {table}"
    quote = session.explain(sql, epsilon=epsilon)
    columns = {column.name: column for column in quote.columns}
    assert columns["m"].error.endswith(", without interval") and columns["m"].foretold is None
    assert columns["next"].error == "not foretold"
    answer = session.query(sql, epsilon=epsilon)
    assert answer.interval("m") == [(None, None)]
    said = [note.replace("no interval was bought", "") for note in (*quote.notes, *answer.notes)]
    assert not any("interval" in note or "its half width" in note or note != note.strip() for note in said)


@pytest.mark.parametrize("of", ["AVG(cost)", "MEDIAN(cost)"])
def test_noise_that_the_statement_fixes_is_no_guess_and_is_the_same_for_any_rows(session: Session, of: str) -> None:
    fixed = "WITH DIFFERENTIAL_PRIVACY OPTIONS (mechanism = 'preprocessing', sensitivity = 1, centre = 400)"
    sql = f"SELECT {fixed} {of} AS m FROM visits"
    quote = session.explain(sql, epsilon=1)
    (low, high) = session.query(sql, epsilon=1).interval("m")[0]
    assert (high - low) / 2 == pytest.approx(quote.columns[0].half_width, rel=0.01)
    assert not any("guess" in note or "The error of" in note for note in quote.notes)
    assert not any("is a guess" in note for note in session.explain(sql, half_width={"m": 30}).notes)
