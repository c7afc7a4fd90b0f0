"""What is safe and readable on a screen."""

from __future__ import annotations

from datetime import date
from decimal import Decimal
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpsql.answers.shown.screen import number, percent, plain, safe, text_table, with_error


@given(st.text())
def test_safe_text_is_printable_whatever_comes(text: str) -> None:
    assert all(mark.isprintable() or mark.isspace() for mark in safe(text))
    assert not set(safe(text)) & set("\x1b\x9b\x00\x7f\n\r\t\u202e\u2066\u2028")


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("\x1b[1;31mred\x1b[0m", "red"),
        ("\x9b31mred", "red"),
        ("\x1b]8;;http://evil\x07link\x1b]8;;\x07", "link"),
        ("\x1b]0;title\x1b\\rest", "rest"),
        ("\x1bPq#0\x1b\\rest", "rest"),
        ("user\u202etxt.exe", "usertxt.exe"),
        ("one\r\ntwo\tthree", "one two three"),
        ("zero\u200bwidth\ufeff", "zerowidth"),
        ("Zürich 東京 naïve", "Zürich 東京 naïve"),
    ],
)
def test_escapes_controls_and_overrides_go_and_letters_stay(text: str, shown: str) -> None:
    assert safe(text) == shown


@pytest.mark.parametrize(
    ("value", "ends", "shown"),
    [
        (1234, (1214.4, 1253.6), "1234 ± 20"),
        (12_345_678.9, (12_295_678.9, 12_395_678.9), "12346000 ± 50000"),
        (0.123456, (0.121, 0.125912), "0.1235 ± 0.0025"),
        (5, (4.5, 5.5), "5 ± 1"),
        (0.001, (0.0, 0.1), "0.0010 [0.0000, 0.1000]"),
        (364.2, (0, 20_000), "360 [0, 20000]"),
        (364.2, (364.199999, 20_000), "360 [360, 20000]"),
        (0, (0, 20_000), "0 [0, 20000]"),
        (-0.04, (-9.04, 8.96), "0.0 ± 9.0"),
        (Decimal("1.50"), (1, 2), "1.50 ± 0.50"),
        (Fraction(1, 3), (Fraction(0), Fraction(2, 3)), "0.33 ± 0.34"),
        (2**100, (2**100 - 1, 2**100 + 1), f"{2**100} ± 1"),
        (1e300, (0, 2e300), "1" + "0" * 300 + " ± 1" + "0" * 300),
        (7, (7, 7), "7"),
        (7, (None, None), "7 ± ?"),
        (57_982.93, (54_714.7, None), "58000 [54700, ?]"),
        (43, (None, 52), "43 [?, 52]"),
        (7.25, (7.25, None), "7.250 [7.250, ?]"),
        (46_300.0, (-6.223e9, 1e6), "46300 [-6.3e+09, 1000000]"),
        (2000.0, (-8.9e15, 7.7e15), "2000 [-8.9e+15, 7.7e+15]"),
        (-60, (-60, 1500), "-60 [-60, 1500]"),
        (date(2024, 3, 1), (date(2024, 2, 1), None), "2024-03-01 [2024-02-01, ?]"),
        ([1.5, 2.5], ([None, 2.0], [1.75, 3.0]), "[1.50 [?, 1.75], 2.50 ± 0.50]"),
        (None, (None, None), "NULL"),
        (date(2024, 3, 1), (date(2024, 2, 1), date(2024, 4, 1)), "2024-03-01 [2024-02-01, 2024-04-01]"),
        (float("inf"), (0.0, float("inf")), "inf [0.0, inf]"),
    ],
)
def test_a_value_is_rounded_to_two_digits_of_its_error(value: Any, ends: tuple[Any, Any], shown: str) -> None:
    assert with_error(value, ends) == shown


@given(st.floats(-1e12, 1e12), st.floats(1e-9, 1e12), st.floats(1e-9, 1e12))
def test_a_printed_interval_never_is_narrower_than_the_interval(value: float, below: float, above: float) -> None:
    low, high = value - below, value + above
    shown = with_error(value, (low, high))
    if "[" in shown:
        left, right = shown[shown.index("[") + 1 : -1].split(", ")
        assert float(left) <= low
        assert float(right) >= high
    elif "±" in shown:
        exact = [Decimal(str(part)) for part in (low, value, high)]
        assert Decimal(shown.split(" ± ")[1]) >= max(exact[2] - exact[1], exact[1] - exact[0])


def test_plain_values_read_as_sql_writes_them() -> None:
    assert [plain(value) for value in (None, True, False, 1, Fraction(4, 2), Fraction(1, 4))] == [
        *("NULL", "true", "false", "1", "2", "0.25")
    ]


def test_numbers_are_short_and_infinity_is_a_word() -> None:
    assert [number(size) for size in (0, 0.123456, 1234567, 1e12, float("inf"), None)] == [
        *("0", "0.1235", "1235000", "1e+12", "infinite", "-")
    ]


def test_tables_align_wide_letters_and_cut_long_cells() -> None:
    lines = text_table(["k", "v"], [["東京", "1"], ["x" * 80, "2"]], right=[False, True]).splitlines()
    assert lines[2] == "東京" + " " * 58 + "1"
    assert lines[3] == "x" * 59 + "…  2"


@given(st.text(alphabet="ab 東é", max_size=200), st.integers(1, 80))
def test_a_table_is_folded_to_the_screen_and_loses_no_sign(text: str, screen: int) -> None:
    table = text_table(["k", "v", "n"], [["x", text, "12"]], right=[False, False, True], widest=None, screen=screen)
    lines = table.splitlines()
    assert max(sum(2 if mark == "東" else 1 for mark in line) for line in lines) <= max(screen, 1 + 2 + 20 + 2 + 2)
    assert sorted("".join(lines[2:]).replace(" ", "")) == sorted(f"x{text}12".replace(" ", ""))


def test_a_table_that_fits_the_screen_stays_as_it_is() -> None:
    rows = [["patients.age", "values are outside the bounds.", "12"]]
    names, right = ["where", "what", "count"], [False, False, True]
    wide = text_table(names, rows, right=right, widest=None)
    assert text_table(names, rows, right=right, widest=None, screen=max(map(len, wide.splitlines()))) == wide


def test_a_level_is_never_shown_as_100_percent() -> None:
    for digits in range(1, 13):
        shown = percent(1 - 10**-digits)
        assert shown == ("90" if digits == 1 else "99." + "9" * (digits - 2)).rstrip(".")
