"""The house's count of itself finds the constants that no sentence explains."""

from __future__ import annotations

import pytest

from tests.house import unexplained

EXPLAINED = '''
BESIDE = 3  # Older files that are kept.
# Above, it may be told
# in more than one line.
ABOVE = 2**20
BELOW: int = 60
"""In seconds. A guess."""
CODE = {"a": (1, 2)}  # `widths` of the columns, in characters.
PAGE = [
    1,
    2,  # a row's own comment
]  # In the order of the page.
ZERO, ONE = 0, -1
NAME = "5"
SPACED = ("a",  "b")  # fmt: skip
small = 5
'''


def test_constants_that_a_sentence_explains_pass() -> None:
    assert unexplained(EXPLAINED) == []


@pytest.mark.parametrize(
    "text",
    [
        "A = 3\n",
        "A = 3  # older files.\n",
        "A = 3  # Older files\n",
        "A = 3  # fmt: skip\n",
        "A = {'a': Fraction(1, 2)}\n",
        "A: int = 1 << 20\n",
        "A = -2.5\n'''In seconds'''\n",
        "# This is of another.\n\nA = 3\n",
        "A = [\n    2,  # A row's own.\n    3,\n]\n",
        "A = 'a'  # of a column\n",
        "A = {  # of a column\n    'a': 'b',\n}\n",
        "B = 1  # This is of another.\nA = 2\n",
    ],
)
def test_constants_that_no_sentence_explains_are_found(text: str) -> None:
    assert unexplained(text) == ["A"]
