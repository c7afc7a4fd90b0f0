"""Answers: values, errors beside them, and text that no terminal or browser acts on."""

from __future__ import annotations

import sys
from dataclasses import replace
from datetime import date, datetime
from fractions import Fraction
from typing import Any

import pytest

from dpsql.answers.answer import NOT_PRIVATE, Answer, Measurement, public
from dpsql.answers.budget import Budget
from dpsql.answers.quotes.quoted import Quote, QuoteColumn
from dpsql.answers.shown.costs import cost_text
from dpsql.answers.shown.extras import MissingExtra
from dpsql.answers.shown.screen import Ends
from dpsql.errors import DataError, Error, ProgrammingError
from dpsql.ledger.ledger import Ledger, Pinned
from dpsql.plan.types import Type
from dpsql.privacy.account import Composition
from dpsql.privacy.accounting import Limits, PolicyLimits
from dpsql.privacy.loss import PrivacyLoss

HOSTILE = "<script>\x1b[31mred\x1b]0;title\x07\u202egnitirw\x9b2J"


def answer_of(
    rows: list[tuple[Any, ...]],
    *,
    columns: tuple[str, ...] = ("city", "n"),
    types: tuple[Type, ...] = (Type.TEXT, Type.INTEGER),
    half: float = 20,
    replayed: bool = False,
    private: bool = True,
) -> Answer:
    """An answer whose column ``n`` is noised with the given 95% half width; other levels scale it."""

    def intervals(column: int, confidence: float) -> list[Ends]:
        if columns[column] != "n":
            return []
        reach = half * confidence / 0.95
        values = [row[column] for row in rows]
        return [(None, None) if value is None else (value - reach, value + reach) for value in values]

    loss = PrivacyLoss(epsilon=0.5)
    made = (Measurement("COUNT(*)", "laplace", loss, 1.0, 2.0, half),)
    return Answer(columns, types, rows, loss, made, replayed, private, 0.95, intervals)


def test_an_answer_has_a_length_and_iterates_over_its_rows() -> None:
    answer = answer_of([("Rome", 7), ("Troy", 12)])
    assert len(answer) == 2
    assert list(answer) == [("Rome", 7), ("Troy", 12)]


def test_interval_of_a_noised_column_is_one_pair_a_row_at_the_asked_confidence() -> None:
    answer = answer_of([("Rome", 100), ("Troy", None)], half=19)
    assert answer.interval("n") == [(81, 119), (None, None)]
    assert answer.interval("n", confidence=0.5) == [(90, 110), (None, None)]


@pytest.mark.parametrize("confidence", [0, 1, -1, 1.5, float("nan")])
def test_confidence_outside_zero_and_one_is_refused(confidence: float) -> None:
    with pytest.raises(DataError, match="between 0 and 1"):
        answer_of([("Rome", 1)]).interval("n", confidence=confidence)


def test_interval_of_an_unknown_column_names_the_columns_there_are() -> None:
    with pytest.raises(ProgrammingError, match=r"no column 'm'. Its columns are city, n"):
        answer_of([("Rome", 1)]).interval("m")


def test_interval_of_an_exact_column_is_refused() -> None:
    with pytest.raises(ProgrammingError, match="'city' holds no noise"):
        answer_of([("Rome", 1)]).interval("city")


def test_interval_of_a_repeated_name_asks_for_AS_and_printing_shows_both_errors() -> None:
    answer = answer_of([(100, 200)], columns=("n", "n"), types=(Type.INTEGER, Type.INTEGER))
    with pytest.raises(ProgrammingError, match="Name each with AS"):
        answer.interval("n")
    assert str(answer).splitlines()[2].split("  ") == ["100 ± 20", "200 ± 20"]


def test_interval_of_an_answer_without_rows_is_empty() -> None:
    assert answer_of([]).interval("n") == []


def test_printed_table_rounds_to_the_error_and_rows_stay_as_they_are() -> None:
    answer = answer_of([("Rome", 12_347)], half=563)
    assert "12350 ± 570" in str(answer)
    assert answer.rows == [("Rome", 12_347)]
    assert repr(answer) == str(answer)


def test_printed_table_ends_with_the_cost_and_says_what_the_error_is() -> None:
    text = str(answer_of([("Rome", 7)]))
    assert "1 row. Cost: epsilon 0.5." in text
    assert "95% confidence interval" in text


def test_a_replayed_answer_says_that_it_was_free() -> None:
    assert "Cost: nothing" in str(answer_of([("Rome", 7)], replayed=True))


def test_long_answers_are_cut_in_print_only() -> None:
    answer = answer_of([(f"city {i}", i) for i in range(100)])
    assert "city 59" in str(answer)
    assert "city 60" not in str(answer)
    assert "100 rows, the first 60 shown." in str(answer)
    assert "city 99" in answer.to_text()


def test_an_answer_without_real_noise_says_so_everywhere() -> None:
    answer = answer_of([("Rome", 7)], private=False)
    assert str(answer).startswith(NOT_PRIVATE)
    assert NOT_PRIVATE in answer._repr_html_()
    assert answer.to_arrow(intervals=True).schema.metadata == {b"dpsql": NOT_PRIVATE.encode()}
    assert answer.to_pandas().attrs["dpsql"] == NOT_PRIVATE
    assert NOT_PRIVATE not in str(answer_of([("Rome", 7)]))


def test_nothing_in_a_printed_table_acts_on_a_terminal() -> None:
    text = str(answer_of([(HOSTILE, 7)], columns=("a\x1b[2Jb", "n")))
    assert all(mark.isprintable() or mark == "\n" for mark in text)
    assert "<script>redgnitirw" in text


def test_html_is_escaped() -> None:
    html = answer_of([(HOSTILE, 7)], columns=("<b>", "n"))._repr_html_()
    assert "<script" not in html
    assert "&lt;script&gt;" in html
    assert "<b>" not in html
    assert "\x1b" not in html
    assert '>7<span style="opacity:0.65"> ± 20</span></td>' in html


ALL_TYPES = answer_of(
    [
        (7, 1.5, True, "Rome", date(2024, 1, 2), datetime(2024, 1, 2, 3, 4, 5), None),
        (None, None, None, None, None, None, None),
    ],
    columns=("n", "r", "b", "t", "d", "s", "z"),
    types=(Type.INTEGER, Type.REAL, Type.BOOLEAN, Type.TEXT, Type.DATE, Type.TIMESTAMP, Type.NULL),
)


def test_arrow_holds_every_type_and_null() -> None:
    table = ALL_TYPES.to_arrow()
    assert [str(kind) for kind in table.schema.types] == [
        *("int64", "double", "bool", "string", "date32[day]", "timestamp[us]", "null")
    ]
    assert [tuple(row.values()) for row in table.to_pylist()] == ALL_TYPES.rows


def test_pandas_and_polars_hold_the_same_rows() -> None:
    assert ALL_TYPES.to_polars().rows() == ALL_TYPES.rows
    frame = ALL_TYPES.to_pandas()
    assert list(frame.columns) == list(ALL_TYPES.columns)
    assert frame["t"][0] == "Rome"
    assert frame["n"].isna().tolist() == [False, True]
    days = public(("d",), (Type.DATE,), [(date.min,), (date.max,), (None,)]).to_pandas()["d"]
    assert days.dtype.kind == "M"
    assert [*days.dt.year[:2], days.isna()[2]] == [1, 9999, True]


def test_integers_beyond_64_bits_survive_in_arrow() -> None:
    answer = public(("s",), (Type.INTEGER,), [(2**80,), (-5,), (None,)])
    assert answer.to_arrow().column("s").to_pylist() == [2**80, -5, None]


def test_repeated_names_are_numbered_in_frames() -> None:
    answer = public(("n", "n"), (Type.INTEGER, Type.INTEGER), [(1, 2)])
    assert answer.to_polars().columns == ["n", "n_1"]


@pytest.mark.parametrize(
    ("method", "module", "extra"),
    [("to_pandas", "pandas", "pandas"), ("to_arrow", "pyarrow", "arrow"), ("to_polars", "polars", "polars")],
)
def test_a_missing_library_says_which_extra_to_install(
    monkeypatch: pytest.MonkeyPatch, method: str, module: str, extra: str
) -> None:
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(MissingExtra, match=rf"pip install '\.\[{extra}\]'") as caught:
        getattr(ALL_TYPES, method)()
    assert isinstance(caught.value, Error)
    assert isinstance(caught.value, ImportError)


QUOTE = Quote(
    cost=PrivacyLoss(epsilon=0.5, delta=1e-9),
    columns=(
        QuoteColumn(
            "n", "laplace", PrivacyLoss(epsilon=0.5), 1.0, 2.0, 6.1, (("gaussian", "its error would be ± 19"),)
        ),
        QuoteColumn("mean\x1b[2J", "laplace", PrivacyLoss(epsilon=0.5), None, None, 3.25),
    ),
    sql="SELECT city,\n  COUNT(*) FROM patients",
    repeats_left=16,
    notes=("city has 12 groups.",),
)


def test_a_printed_quote_tells_mechanism_noise_error_cost_repeats_reasons_and_sql() -> None:
    text = str(QUOTE)
    for told in (
        *("laplace", "± 6.1", "n: not gaussian: its error would be ± 19", "Cost: epsilon 0.5, delta 1e-09."),
        *("16 times", "Nothing is spent", "Note: city has 12 groups.", "  SELECT city,", "    COUNT(*) FROM patients"),
    ):
        assert told in text
    assert text.index("Note: city") < text.index("n: not gaussian") < text.index("SELECT city")
    assert "\x1b" not in text


def test_a_quote_as_rows_costs_nothing_and_has_one_row_a_column() -> None:
    answer = QUOTE.to_answer()
    assert answer.cost == PrivacyLoss()
    assert answer.rows[0] == ("n", "laplace", "epsilon 0.5", 1.0, 2.0, 6.1, "gaussian: its error would be ± 19")
    assert answer.rows[1][3:5] == (None, None)


def test_a_printed_budget_never_shows_more_than_is_left_or_less_than_was_spent() -> None:
    budget = Budget(PrivacyLoss(epsilon=1.00000001), 0.9999999, PrivacyLoss(epsilon=2), composition="zcdp")
    text = str(budget)
    assert "epsilon 1.00001" in text
    assert "epsilon 0.999999\n" in text
    assert budget.to_answer().rows == [("epsilon 1.00001", "epsilon 2", 0.9999999, None, "zcdp", None)]


def test_a_budget_says_what_delta_is_left_where_there_is_one() -> None:
    spent, limit = PrivacyLoss(epsilon=1, delta=2e-6), PrivacyLoss(epsilon=2, delta=1e-5)
    budget = Budget(spent, 1.5, limit, "zcdp", delta_left=5.98e-7)
    assert budget.left == "Left: epsilon 1.5, delta 5.98e-07."
    assert str(budget).endswith("The delta left is of the quarter for queries.")
    assert budget.to_answer().rows[0][3] == 5.98e-07
    assert replace(budget, delta_left=0.0).epsilon_left == "epsilon 1.5, no delta"
    assert replace(budget, delta_left=None).epsilon_left == "epsilon 1.5"


@pytest.mark.parametrize(
    ("composition", "limit"),
    [("zcdp", "epsilon 2, delta 1e-05 (queries: delta 2.5e-06)"), ("basic", "epsilon 2, delta 1e-05")],
)
def test_a_limit_says_how_much_of_its_delta_queries_may_have(composition: Composition, limit: str) -> None:
    limits = Limits(Fraction(2), Fraction(1, 10**5))
    ledger = Ledger.open(None, pinned=Pinned("p", "add_remove", composition, ""), limits=PolicyLimits(limits, {}))
    budget = Budget.of(ledger.budget(None))
    assert budget.cells()[1] == budget.to_answer().rows[0][1] == limit
    assert ("keeps three quarters" in str(budget)) == (composition == "zcdp")
    assert budget.limit.delta == 1e-5


@pytest.mark.parametrize(
    ("loss", "text"),
    [
        (PrivacyLoss(), "nothing"),
        (PrivacyLoss(epsilon=1, gamma=0.01), "epsilon 1, gamma 0.01"),
        (PrivacyLoss(epsilon=float("inf"), rho=0.125), "rho 0.125"),
        (PrivacyLoss(metric={"home": {"age": 0.5, "sex": 2}}), "age 0.5, sex 2 times metric home"),
        (PrivacyLoss(metric={"home": 0.5}), "0.5 times metric home"),
        (PrivacyLoss(epsilon=0.5, classes={"strict": 0.125}), "epsilon 0.5, epsilon 0.125 for class strict"),
    ],
)
def test_a_loss_reads_as_words(loss: PrivacyLoss, text: str) -> None:
    assert cost_text(loss) == text
