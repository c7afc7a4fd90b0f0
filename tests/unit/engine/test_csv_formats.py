"""How CSV files write values, as a first policy proposes it: by formats and words of a list alone."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpsql.engine.duckdb.csv_formats import written
from dpsql.engine.duckdb.describe import describe
from dpsql.owner.template import first_policy
from dpsql.policy.csv_file import CsvPolicy


def options(*texts: str | None) -> dict[str, object]:
    return {option.name: option.value for option in written({"x": texts}).options}


@pytest.mark.parametrize(
    ("texts", "family"),
    [
        (["1", "22", "-3"], "integer"),
        (["1", "2.5", "1e3"], "real"),
        (["1.234,5", "7"], "real"),
        (["01234", "99999"], "text"),  # codes
        (["12345678901234567890", "1"], "text"),
        (["1", "2a"], "text"),
        (["2024-12-31", "2024-1-1"], "date"),
        (["2024-12-31T10:00:00Z"], "timestamp"),
        (["31.12.2024 10:30", "01.01.2024 00:00"], "timestamp"),
        (["31/12/24"], "date"),
        (["31.02.2024"], "text"),  # in no calendar
        (["yes", "no", "NA"], "boolean"),
        (["Ja", "nein"], "boolean"),
        (["ja", "ja"], "text"),  # one of two words is not enough
        (["1", "0"], "integer"),
        (["1.0", "0.0"], "integer"),  # whole numbers of a column in which some were missing
        (["1.0", "0.0", "2.5"], "real"),
        (["1.00", "20.00"], "real"),
        (["-", "12"], "integer"),
        (["nan", "north"], "text"),
    ],
)
def test_a_column_has_the_type_of_its_texts(texts: list[str], family: str) -> None:
    assert written({"x": texts}).types == {"x": family}


@pytest.mark.parametrize(
    ("texts", "found"),
    [
        (["31.12.2024"], {"dateformat": "%d.%m.%Y"}),
        (["12/31/2024", "01/02/2024"], {"dateformat": "%m/%d/%Y"}),
        (["1,5", "12,25"], {"decimal_separator": ","}),
        (["1.234,5"], {"decimal_separator": ",", "thousands": "."}),
        (["1,234", "1,234.5"], {"thousands": ","}),
        (["1'234", "2"], {"thousands": "'"}),
        (["1.234", "2.5"], {}),
        (["Ja", "ja", "nein"], {"true_values": ("Ja", "ja"), "false_values": ("nein",)}),
        (["yes", "no"], {}),
        (["NULL", "Bern"], {"nullstr": ("NULL",)}),
        (["NA", "SA"], {}),  # a word among words
        (["NA", "3"], {"nullstr": ("NA",)}),
        (["1", None], {}),
    ],
)
def test_the_options_are_those_of_the_texts(texts: list[str | None], found: dict[str, object]) -> None:
    assert options(*texts) == found


def test_a_format_that_cannot_be_told_from_another_is_named_with_it() -> None:
    (option,) = written({"x": ["01/02/2024"]}).options
    assert option.value == "%d/%m/%Y"
    assert "or %m/%d/%Y" in option.why
    (option,) = written({"x": ["1,234"]}).options
    assert option.value == ","
    assert "or decimal_separator" in option.why
    assert options("0,567", "1,234") == {"decimal_separator": ","}


def test_days_of_a_table_are_read_by_one_format() -> None:
    found = written({"a": ["31.12.2024", "01.02.2024"], "b": ["2024-12-31"], "c": ["2024-12-31 10:00:00"]})
    assert found.types == {"a": "date", "b": "text", "c": "timestamp"}
    assert found.options[0].why.endswith("; each date that is written otherwise stays text")
    found = written({"a": ["31.12.2024"], "b": ["2024-12-31"]})
    assert found.types == {"a": "text", "b": "date"}
    assert not found.options


def test_no_single_row_decides() -> None:
    many = [f"{day:02}.01.2024" for day in range(1, 29)] * 10
    assert written({"x": [*many, "somebody"]}) == written({"x": many})
    assert written({"x": ["north"] * 300 + ["5"]}).types == {"x": "text"}


@pytest.mark.parametrize(
    ("usual", "one"),
    [
        (["12", "7"], "2.5"),  # no real numbers for one
        (["12", "7"], "1,5"),
        (["12", "7"], "see below."),
        (["1,234"], "1,234.5"),
        (["01/02/2024"], "01/13/2024"),
        (["1", "2"], "NULL"),
        (["3", "4"], "NA"),
        (["Bern", "Thun"], "NULL"),
        (["ja", "nein"], "Ja"),
        (["ja", "nein"], "unknown"),
        (["true"], "false"),
    ],
)
def test_what_few_texts_show_decides_nothing(usual: list[str], one: str) -> None:
    many = usual * 300
    assert written({"x": [*many, one]}) == written({"x": many})


def test_what_ten_texts_show_is_shown_however_long_their_column_is() -> None:
    assert written({"x": ["12"] * 9990 + ["2.5"] * 10}).types == {"x": "real"}
    assert written({"x": ["no"] * 9990 + ["yes"] * 10}).types == {"x": "boolean"}
    assert options(*["Bern"] * 9990, *["NULL"] * 10) == {"nullstr": ("NULL",)}


def test_numbers_of_one_file_are_written_alike() -> None:
    found = written({"a": ["1.234", "2.500"], "b": ["1.234,5", "2"], "c": ["no number"]})
    assert found.types == {"a": "integer", "b": "real", "c": "text"}


@given(
    st.lists(st.text(max_size=12) | st.sampled_from(["ja", "nein", "NULL", "1,5", "1.234", "31.12.2024"]), max_size=5)
)
def test_what_is_proposed_can_be_loaded_and_holds_no_text_of_a_row_but_of_the_lists(texts: list[str]) -> None:
    CsvPolicy.model_validate(options(*texts))
    words = {word.lower() for name, value in options(*texts).items() if isinstance(value, tuple) for word in value}
    assert words <= {
        "null",
        "\\n",
        "#n/a",
        *"na n/a nan none - -- ? . k.a.".split(),
        "k. a.",
        "ja",
        "nein",
        "j",
        "n",
        "o",
        "s",
    }


def test_files_of_one_table_are_looked_at_together_and_broken_lines_propose_nothing(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("x;y\n1;31.12.2024\n")
    (tmp_path / "b.csv").write_text("x;y\n1,5;01.01.2024\n")
    (table,) = describe(tmp_path / "*.csv").values()
    assert [kind.family for _, kind in table.columns] == ["real", "date"]
    assert [option.name for option in table.csv] == ["dateformat", "decimal_separator"]
    (tmp_path / "c.csv").write_text("x;y\n1;2\n1\n")
    (table,) = describe(tmp_path / "c.csv").values()
    assert [kind.family for _, kind in table.columns] == ["untyped", "untyped"]


@pytest.mark.parametrize(
    ("texts", "seen"),
    [
        (["0,0", "3,0", "3,0"], "written as 1,0; type: real, if decimals may come"),
        (["1.0", "0.0"], "written as 1.0; type: real, if decimals may come"),
        (["1", "0"], None),
        (["0,0", "2,5"], None),
        (["1"] * 1_200 + ["1.0"] * 9, None),  # few texts say nothing
        (["2024-01-31"] * 98 + ["31.12.2024"] * 2, "most are days such as 2024-12-31, but fewer than 99 of 100"),
        (["31.12.2024"] * 9 + ["soon"], "most are days such as 31.12.2024, but fewer than 99 of 100"),
        (["31.12.2024 10:30"] * 9 + ["soon"], "most are times such as 31.12.2024 23:59, but fewer than 99 of 100"),
        (["1.5"] * 9 + ["much"], "most are numbers, but fewer than 99 of 100"),
        (["2024-01-31"] * 99 + ["soon"], None),
        (["2024-01-31"] * 2 + ["soon"] * 3, None),
        (["01234"] * 9 + ["x"], None),
    ],
)
def test_what_a_type_does_not_say_is_said_of_a_column(texts: list[str], seen: str | None) -> None:
    found = written({"x": texts}).seen
    assert found["x"].startswith(seen) if seen is not None else not found


def test_init_says_it_beside_the_column(tmp_path: Path) -> None:
    lines = [f"{i};{i % 3},0;{'31.12.2024' if i % 9 else 'soon'}" for i in range(50)]
    (tmp_path / "doses.csv").write_text("\n".join(["person;the dose;since", *lines]))
    text = first_policy("doses", "duckdb", {}, describe(tmp_path / "doses.csv"))
    assert "# the_dose: {type: integer, bounds: auto}  # written as 1,0; type: real" in text
    assert "# since: {type: text}  # most are days such as 31.12.2024, but fewer than 99" in text
