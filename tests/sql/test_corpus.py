"""Every statement of the corpus means what is written below it, or is refused in the words written there."""

from __future__ import annotations

from collections import Counter

import pytest

from dpsql.errors import Error, ProgrammingError, UnsupportedQuery
from tests.effort import few_calls
from tests.sql.corpus import Block, blocks
from tests.sql.described import described
from tests.sql.meaning import Bench

ACCEPTED, REFUSED, LATER = blocks("accepted.sql"), blocks("refused.sql"), blocks("later.sql")

MOST_CALLS = 1_000_000  # Of functions, until a statement is refused that is too large. It is a choice: a second.
BOMBS = {
    "more text than is read": "SELECT COUNT(*) FROM patients WHERE city = '" + "x" * 20_000 + "'",
    "more words than are read": "SELECT COUNT(*) FROM patients WHERE age IN (" + "1," * 1_500 + "1)",
    "deep parentheses": "SELECT COUNT(*) FROM patients WHERE " + "(" * 500 + "age > 1" + ")" * 500,
    "deep sub-queries": "SELECT COUNT(*) FROM " + "(SELECT * FROM " * 60 + "patients" + ")" * 60,
    "a long chain of NOT": "SELECT COUNT(*) FROM patients WHERE " + "NOT " * 1_000 + "true",
    "a long chain of minus": "SELECT SUM(" + "- " * 1_000 + "age) FROM patients",
    "a long chain of plus": "SELECT SUM(age" + " + age" * 900 + ") FROM patients",
    "deep functions": "SELECT SUM(" + "abs(" * 100 + "age" + ")" * 100 + ") FROM patients",
    "deep CASE": "SELECT SUM(" + "CASE WHEN age > 1 THEN " * 100 + "1" + " END" * 100 + ") FROM patients",
    "a number that doubles": "SELECT SUM(" + "pow(" * 20 + "age" + ", 9)" * 20 + ") FROM patients",
    "a cube of many keys": f"SELECT COUNT(*) FROM patients GROUP BY CUBE ({', '.join(['age'] * 40)})",
    "many joins": "SELECT COUNT(*) FROM visits v0"
    + "".join(f" JOIN visits v{i} USING (patient_id)" for i in range(1, 200)),
    "a long name": f"SELECT {'a' * 10_000} FROM patients",
    "a long line of commas": "SELECT " + "," * 1_000,
    "open parentheses": "SELECT " + "(" * 1_000,
    "many decimals": "SELECT COUNT(*) FROM patients WHERE age > 0." + "3" * 1_000,
}


def sayings(found: list[Block], every: int = 1) -> list[object]:
    """The blocks as test parameters, named by their place; all but every so many-th are marked slow."""
    return [
        pytest.param(block, id=block.place, marks=[pytest.mark.slow] if at % every else [])
        for at, block in enumerate(found)
    ]


@pytest.mark.every(2, 1)
@pytest.mark.parametrize("block", sayings([*ACCEPTED, *REFUSED, *LATER]))
def test_a_statement_means_what_stands_below_it(block: Block, benches: dict[str, Bench]) -> None:
    assert described(benches[block.policy].session, block) == block.expected


@pytest.mark.parametrize("block", sayings([*REFUSED, *LATER], every=3))
def test_a_refusal_names_a_place_and_a_way_out(block: Block, benches: dict[str, Bench]) -> None:
    session = benches[block.policy].session
    with pytest.raises((UnsupportedQuery, ProgrammingError)) as caught:
        session.query(block.sql, block.parameters, **block.options)
    refusal = caught.value
    assert type(refusal).__module__ == "dpsql.errors", "callers know its class"
    if isinstance(refusal, UnsupportedQuery):
        assert refusal.hint, "a refusal says what to write instead"
        lines = block.sql.split("\n")
        if refusal.position is not None:
            line, column = refusal.position
            assert line <= len(lines) and column <= len(lines[line - 1]) + 1


def test_a_refusal_spends_nothing(benches: dict[str, Bench]) -> None:
    for bench in benches.values():
        assert bench.session.budget().spent.epsilon == 0


@pytest.mark.parametrize("text", BOMBS.values(), ids=BOMBS.keys())
def test_a_statement_that_is_too_large_is_refused_at_once(text: str, benches: dict[str, Bench]) -> None:
    with few_calls(MOST_CALLS), pytest.raises(Error):
        benches["hospital"].session.explain(text)


def test_the_corpus_is_as_large_as_promised_and_says_everything_once() -> None:
    assert len(ACCEPTED) >= 150
    assert len(REFUSED) >= 150
    asked = Counter(
        (block.sql, block.policy, repr(block.options), repr(block.parameters)) for block in [*ACCEPTED, *REFUSED]
    )
    assert [statement for statement, count in asked.items() if count > 1] == []
