"""What callers may hand in, and what they are told: one error of the tree, without dpsql's own frames."""

from __future__ import annotations

import traceback
from collections.abc import Callable, Iterator
from datetime import date, datetime
from decimal import Decimal
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas
import pytest

import dpsql
import dpsql.testing
from dpsql.errors import DataError, Error, InvariantBroken, ProgrammingError, UnsupportedQuery, door
from dpsql.plan.parameters import values_of
from dpsql.sql import syntax
from dpsql.sql.parse import parse
from tests.sql.databases import build

STATEMENT = parse("SELECT COUNT(*) FROM people WHERE age > ?")
assert isinstance(STATEMENT, syntax.QueryStatement)
ONE = STATEMENT.select


@pytest.fixture(scope="module")
def proxy(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dpsql.testing.TestProxy]:
    with dpsql.testing.open(build("census", tmp_path_factory.mktemp("calls")), dpsql.testing.Noiseless()) as opened:
        yield opened


@pytest.fixture
def session(proxy: dpsql.testing.TestProxy) -> dpsql.Session:
    return proxy.session(analyst="ana")


@pytest.mark.parametrize("sql", [None, 5, b"SELECT 1", ["SELECT 1"]])
def test_a_statement_that_is_no_text_is_refused(session: dpsql.Session, sql: Any) -> None:
    for ask in (session.query, session.explain):
        with pytest.raises(ProgrammingError, match="Write SQL as text"):
            ask(sql)


@pytest.mark.parametrize("parameters", [5, None, "x", {"a": 1}])
def test_parameters_that_are_no_list_are_refused(session: dpsql.Session, parameters: Any) -> None:
    with pytest.raises(ProgrammingError, match=r"came as one value of type .*Write a list with one value for each"):
        session.query("SELECT COUNT(*) FROM people WHERE age > ?", parameters)


@pytest.mark.parametrize("value", [{"a"}, (one for one in "a"), pandas.Series(["a"]), {"a": 1}.keys()], ids=type)
def test_what_holds_values_and_is_no_list_is_to_be_made_one(session: dpsql.Session, value: Any) -> None:
    with pytest.raises(ProgrammingError, match=r"and = ANY \(\?\) takes a list\. Pass list\(\.\.\) of it\.$"):
        session.query("SELECT COUNT(*) AS n FROM people WHERE trade = ANY (?)", [value])


def endless() -> list[Any]:
    """A list in itself."""
    found: list[Any] = []
    found.append(found)
    return found


@pytest.mark.parametrize("value", [10**5000, Fraction(10**5000, 3), endless(), Decimal("sNaN")], ids=type)
def test_what_python_cannot_write_out_is_refused_as_all_else(session: dpsql.Session, value: Any) -> None:
    sql, kmeans = "SELECT COUNT(*) AS n FROM people WHERE age > ?", dict[str, Any](k=2, bound=9, scale=(1, 9))
    refused: list[Callable[[], object]] = [
        *(partial(ask, sql, [value]) for ask in (session.query, session.explain, session.price, session.outline)),
        partial(session.quote, [(sql, [value])]),
        *(partial(session.query, sql, [3], **{name: value}) for name in ("epsilon", "mechanism", "rest")),
        *(partial(session.explain, sql, [3], half_width=own) for own in (value, {"n": value})),
        partial(session.describe, value),
        partial(session.kmeans, value, **kmeans),
        *(partial(session.kmeans, "SELECT age FROM people", **{**kmeans, name: value}) for name in kmeans),
        partial(session.release, value, "SELECT age FROM people", epsilon=1),
        *(
            partial(session.release, "ages", "SELECT age FROM people", epsilon=1, **{name: value})
            for name in ("method", "workload", "alpha", "rows")
        ),
        partial(session.option, value),
    ]
    for ask in refused:
        with pytest.raises(ProgrammingError):
            ask()


@pytest.mark.parametrize("confidence", [[1], "0.9", True, 0, 1, Fraction(1, 2), 10**5000], ids=range(7))
def test_an_interval_of_no_confidence_is_refused(session: dpsql.Session, confidence: Any) -> None:
    answer = session.query("SELECT COUNT(*) AS n FROM people")
    with pytest.raises(DataError, match="write a number between 0 and 1"):
        answer.interval("n", confidence)


def test_a_list_as_one_parameter_hears_of_one_mark_for_each_value(session: dpsql.Session) -> None:
    given: list[Any] = [[1, 2]]
    with pytest.raises(ProgrammingError, match="= ANY"):
        session.query("SELECT COUNT(*) FROM people WHERE age IN (?)", given)


NANOSECONDS = np.datetime64("2024-01-02T03:04:05.678901234", "ns")


@pytest.mark.parametrize(
    ("given", "taken"),
    [
        (np.int64(7), 7),
        (np.bool_(True), True),
        (np.float32(0.5), Decimal("0.5")),
        (np.float64(0.1), Decimal("0.1")),
        (np.str_("x"), "x"),
        (np.datetime64("2024-01-02"), date(2024, 1, 2)),
        (NANOSECONDS, datetime(2024, 1, 2, 3, 4, 5, 678901)),
        (np.datetime64("NaT", "D"), None),
    ],
)
def test_scalars_of_numpy_are_taken_as_the_values_that_they_are(given: Any, taken: Any) -> None:
    (value,) = values_of([given], ONE)
    assert (value, isinstance(value, type(taken))) == (taken, True)


@pytest.mark.parametrize("given", [np.float32("nan"), np.complex128(1), np.array([1]), pandas.NaT])
def test_other_values_of_numpy_and_pandas_are_refused(given: Any) -> None:
    with pytest.raises(ProgrammingError, match="A parameter is"):
        values_of([given], ONE)


@pytest.mark.parametrize("name", ["", "*", "a\nb", "x" * 201, "a\u202eb", 5])
def test_a_name_that_no_record_can_show_is_refused(proxy: dpsql.testing.TestProxy, name: Any) -> None:
    with pytest.raises(ProgrammingError, match="analyst"):
        proxy.session(analyst=name)


def test_a_refusal_shows_the_callers_line_and_no_frame_inside(session: dpsql.Session) -> None:
    with pytest.raises(UnsupportedQuery) as caught:
        session.query("SELECT age FROM people")
    files = [Path(frame.filename).name for frame in traceback.extract_tb(caught.value.__traceback__)]
    assert files == ["test_calls.py", "errors.py"]


def test_a_bug_keeps_its_traceback() -> None:
    def inside() -> None:
        raise InvariantBroken("it cannot be")

    with pytest.raises(Error) as caught:
        door(inside)()
    assert [frame.name for frame in traceback.extract_tb(caught.value.__traceback__)][-1] == "inside"


def test_two_columns_of_one_name_keep_their_own_errors(session: dpsql.Session) -> None:
    answer = session.query("SELECT SUM(age) AS n, AVG(age) AS n FROM people")
    assert str(answer).splitlines()[3].count("±") + str(answer).splitlines()[3].count("[") == 2
    with pytest.raises(ProgrammingError, match="Several columns are called"):
        answer.interval("n")


def test_a_quantile_without_its_interval_has_the_whole_price_and_counts_keep_theirs(session: dpsql.Session) -> None:
    columns = "MEDIAN(age) AS middle, COUNT(*) AS n, MEDIAN(age) + 1 AS more, DP_INTERVAL_LOW(middle) AS low"
    sql = f"SELECT {columns} FROM people"
    answer = session.query(sql, interval="none", epsilon=1)
    assert answer.interval("middle") == answer.interval("more") == [(None, None)]
    assert answer.rows[0][3] is None
    assert None not in answer.interval("n")[0]
    assert "± ?" in str(answer)
    assert any("no interval was bought" in note for note in answer.notes)
    assert not answer.replayed
    assert session.query(sql, interval="none", epsilon=1).replayed
    assert not session.query(sql, epsilon=1).replayed
    by_interval, by_value = (
        session.explain("SELECT MEDIAN(age) AS m FROM people", half_width={"m": 1}, **options).cost.epsilon
        for options in ({}, {"interval": "none"})
    )
    assert by_value < by_interval


def test_a_half_width_without_a_column_is_refused_with_what_to_write(session: dpsql.Session) -> None:
    sql, several = "SELECT COUNT(*) AS n FROM people", "SELECT (SELECT COUNT(*) FROM people) AS n"
    spent = session.budget().spent
    asks: list[tuple[Any, Any]] = [
        (session.explain, sql), (session.explain, several), (session.quote, [sql]), (session.query_all, [sql])
    ]  # fmt: skip
    for ask, one in asks:
        with pytest.raises(ProgrammingError, match=r"half_width is 50; name the columns .* half_width=\{'n': 50\}"):
            ask(one, half_width=50)
    assert session.explain(sql, half_width={}).cost == session.explain(sql).cost
    assert session.budget().spent == spent


def test_a_half_width_that_rests_on_what_is_found_is_said_to_be_a_guess(session: dpsql.Session) -> None:
    guessed, known = (
        session.explain(
            f"SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS (mechanism = '{name}') AVG(age) AS mean FROM people",
            half_width={"mean": 2},
        )
        for name in ("located", "laplace")
    )
    assert any("its half width is a guess. `located`" in note for note in guessed.notes)
    assert not any("is a guess" in note for note in known.notes)


def test_a_mechanism_that_reaches_a_half_width_for_less_is_named(session: dpsql.Session) -> None:
    mean = "SELECT AVG(age) AS mean FROM people"
    quote = session.explain(mean, half_width={"mean": 2})
    (told,) = [note for note in quote.notes if "for a lower price" in note]
    name = told.partition("mechanism = '")[2].partition("'")[0]
    named = session.explain(mean, mechanism=name, half_width={"mean": 2})
    assert named.cost.epsilon < quote.cost.epsilon
    assert not any("for a lower price" in note for note in named.notes)


def test_a_half_width_of_a_mean_is_a_guess_where_a_condition_leaves_some_of_the_rows(session: dpsql.Session) -> None:
    mean = (
        "SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS (mechanism = 'laplace') AVG(age) AS mean FROM people WHERE age > 30"
    )
    quote = session.explain(mean, half_width={"mean": 20})
    assert any("its half width is a guess. It is for " in note for note in quote.notes)
    count = session.explain("SELECT COUNT(*) AS n FROM people WHERE age > 30", half_width={"n": 20})
    assert not any("is a guess" in note for note in count.notes)


def test_an_expected_error_that_rests_on_what_is_found_is_said_to_be_a_guess_once(session: dpsql.Session) -> None:
    sql = (
        "SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS (mechanism = '{}') AVG(age) AS mean, AVG(age) + 1 AS more FROM people"
    )
    found, known = (session.explain(sql.format(name)).notes for name in ("located", "laplace"))
    said = "The half width of mean is a guess: noise is found in the data"
    assert [note.startswith(said) for note in found].count(True) == 1
    assert not any("is a guess" in note for note in known)


def test_declining_an_interval_is_refused_where_nothing_reads_it(session: dpsql.Session) -> None:
    with pytest.raises(ProgrammingError, match="interval is an option of mechanism exponential"):
        session.query("SELECT COUNT(*) FROM people", interval="none")
    with pytest.raises(ProgrammingError, match="write none, or leave it out"):
        session.query("SELECT MEDIAN(age) FROM people", interval="wide")
    session.query("SET interval = 'none'")
    assert session.query("SELECT MEDIAN(age) AS m FROM people").interval("m") == [(None, None)]
    session.query("SELECT COUNT(*) FROM people")


def test_the_extremes_hint_at_what_says_more(session: dpsql.Session) -> None:
    assert (
        "MAX(age): it rests on the outermost rows; QUANTILE_CONT(age, 0.99) says more."
        in session.query("SELECT MAX(age) FROM people").notes
    )


@pytest.mark.parametrize("number", [10**400, -(10**400), 10**5000, Fraction(10**400), (1, 10**400)], ids=range(5))
def test_a_number_that_is_no_float_is_refused(session: dpsql.Session, number: Any) -> None:
    for option in ("epsilon", "delta", "rho", "sensitivity", "confidence", "gamma", "multiple", "centre", "scale"):
        with pytest.raises(ProgrammingError, match="write"):
            session.explain("SELECT COUNT(*) AS n FROM people", **{option: number})
    with pytest.raises(ProgrammingError, match="write a number above 0"):
        session.explain("SELECT COUNT(*) AS n FROM people", half_width={"n": number})
