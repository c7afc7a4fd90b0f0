"""What compares with a constant lies between the ends that are said, which are steps that compare so themselves."""

from __future__ import annotations

import operator
from collections.abc import Callable
from datetime import date, datetime, timedelta

import pytest

from dpsql.plan.types import Type
from dpsql.plan.values.steps import NOTHING, moments_at

SIGNS: dict[str, Callable[[datetime, datetime], bool]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
    "=": operator.eq,
}
MIDNIGHT = datetime(2024, 3, 8)
CONSTANTS = [
    date(2024, 3, 8),
    *(MIDNIGHT + timedelta(microseconds=shift) for shift in (-1, 0, 1)),
    datetime(2024, 3, 8, 12),
]


def _moment(at: date) -> datetime:
    return at if isinstance(at, datetime) else datetime.combine(at, datetime.min.time())


@pytest.mark.parametrize("sign", SIGNS)
@pytest.mark.parametrize("constant", CONSTANTS, ids=str)
@pytest.mark.parametrize("kind", [Type.DATE, Type.TIMESTAMP])
def test_the_ends_are_those_of_the_values_that_compare_so(sign: str, constant: date, kind: Type) -> None:
    around = (
        [date(2024, 3, 6) + timedelta(days=n) for n in range(5)]
        if kind is Type.DATE
        else [_moment(constant) + timedelta(microseconds=n) for n in range(-3, 4)]
    )
    true = [own for own in around if SIGNS[sign](_moment(own), _moment(constant))]
    found = moments_at(sign, constant, kind)
    if not true:
        assert found == NOTHING
    else:
        assert found == (None if "<" in sign else true[0], None if ">" in sign else true[-1])


def test_beyond_the_calendar_nothing_is_narrowed() -> None:
    assert moments_at("<", date(1, 1, 1), Type.DATE) == (None, None)
    assert moments_at(">", datetime.max, Type.TIMESTAMP) == (None, None)
    assert moments_at(">=", datetime(9999, 12, 31, 1), Type.DATE) == (None, None)
