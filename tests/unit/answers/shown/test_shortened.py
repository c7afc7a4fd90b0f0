"""Long lists in the engine's SQL are cut for people; programs have all of it."""

from __future__ import annotations

import pytest

from dpsql.answers.quotes.quoted import Quote
from dpsql.answers.shown.shortened import LONG, shortened
from dpsql.privacy.loss import PrivacyLoss

VALUES = ["CAST(${n} AS BIGINT)", "CAST(${n} AS DECIMAL(38, 2))", "${n}", "-{n}", "1.5e{n}", "'a, ''{n}'''"]


@pytest.mark.parametrize("value", VALUES)
@pytest.mark.parametrize("other", VALUES)
def test_long_lists_are_cut_to_a_few_items(value: str, other: str) -> None:
    items = [(value, other)[n % 2].format(n=n) for n in range(1, 641)]
    sql = f"SELECT (1, 2) FROM t WHERE x IN ({', '.join(items)}) AND y = 'a'"
    shown = f"SELECT (1, 2) FROM t WHERE x IN ({', '.join(items[:5])}, ... 635 more) AND y = 'a'"
    assert shortened(sql) == shown


def test_branches_that_differ_in_a_value_are_cut() -> None:
    branches = [f'WHEN "k0" = CAST(${n} AS VARCHAR) THEN {n - 1}' for n in range(1, 101)]
    sql = f"CASE {' '.join(branches)} ELSE 100 END"
    assert shortened(sql) == f"CASE {' '.join(branches[:5])} ... 95 more ELSE 100 END"


def test_short_lists_and_other_text_stay() -> None:
    sql = f'SELECT "a, b", {", ".join(map(str, range(LONG)))} FROM t WHERE "x" IN (1, 2, 3)'
    assert shortened(sql) == sql


def test_a_quote_is_cut_as_it_is_shown_and_whole_for_programs() -> None:
    sql = f"SELECT COUNT(*) FROM t WHERE x IN ({', '.join(map(str, range(640)))})"
    quote = Quote(PrivacyLoss(), (), sql, None)
    assert quote.sql == sql
    for shown in (str(quote), quote._repr_html_()):
        assert "x IN (0, 1, 2, 3, 4, ... 635 more)" in shown
