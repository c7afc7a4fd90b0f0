"""The time between two moments is compared with an interval as the moments are; with months and years it is refused."""

from __future__ import annotations

import pytest

from dpsql.errors import UnsupportedQuery
from dpsql.plan.values.spans import in_other_words
from dpsql.sql.syntax import Call, Expr, IntervalLiteral, Literal, Name

A, B, WEEK = Name(("a",)), Name(("b",)), IntervalLiteral(7, "day")
BETWEEN = Call("-", (A, B))


@pytest.mark.parametrize(
    ("sign", "turned"), [("=", "="), ("<>", "<>"), ("<", ">"), ("<=", ">="), (">", "<"), (">=", "<=")]
)
def test_either_side_may_hold_the_interval(sign: str, turned: str) -> None:
    assert in_other_words(Call(sign, (BETWEEN, WEEK))) == Call(sign, (A, Call("+", (B, WEEK))))
    assert in_other_words(Call(sign, (WEEK, BETWEEN))) == Call(turned, (A, Call("+", (B, WEEK))))


@pytest.mark.parametrize(
    "other",
    [
        Call("+", (BETWEEN, WEEK)),
        Call(">", (Call("-", (A, WEEK)), WEEK)),
        Call(">", (A, WEEK)),
        Call(">", (BETWEEN, Literal(7))),
        BETWEEN,
    ],
)
def test_what_is_no_such_comparison_stays(other: Expr) -> None:
    assert in_other_words(other) is None


@pytest.mark.parametrize(("unit", "days"), [("month", 60), ("quarter", 180), ("year", 720)])
def test_months_have_no_fixed_length(unit: str, days: int) -> None:
    for call in (Call("<", (BETWEEN, IntervalLiteral(2, unit))), Call(">", (IntervalLiteral(2, unit), BETWEEN))):
        with pytest.raises(UnsupportedQuery) as refused:
            in_other_words(call)
        assert f"a {unit} has no fixed number of days. Write INTERVAL {days} DAY, or " in str(refused.value)
        assert str(refused.value).endswith(f"start + INTERVAL 2 {unit.upper()} > end.")
