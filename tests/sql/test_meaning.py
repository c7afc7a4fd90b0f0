"""Without noise, an answer is DuckDB's own answer to the same text over the same bounded tables."""

from __future__ import annotations

import pytest

from tests.sql.corpus import Block, blocks
from tests.sql.meaning import Bench, compare, leaves_out, planned_to_compare
from tests.sql.reference import Edited


def marked(block: Block) -> object:
    """The block as a test parameter; what is not yet right must still be wrong."""
    marks = [] if block.notyet is None else [pytest.mark.xfail(reason=block.notyet, raises=AssertionError, strict=True)]
    return pytest.param(block, id=block.place, marks=marks)


@pytest.mark.every(2)
@pytest.mark.parametrize("block", [marked(block) for block in blocks("accepted.sql")])
def test_an_answer_without_noise_is_the_answer_of_duckdb(block: Block, benches: dict[str, Bench]) -> None:
    bench = benches[block.policy]
    plan = planned_to_compare(bench, block)
    if leaves_out(plan):
        pytest.skip("it leaves out rows or groups of some people")
    assert compare(bench, block, plan).difference() == ""


def test_the_comparison_sees_a_difference(benches: dict[str, Bench]) -> None:
    for sql, reference in (
        ("SELECT COUNT(*) FROM patients", "SELECT COUNT(*) + 1 FROM patients"),
        ("SELECT AVG(cost) FROM visits", "SELECT AVG(cost) + 0.02 FROM visits"),
        (
            "SELECT sex, COUNT(*) FROM patients GROUP BY sex",
            "SELECT sex, COUNT(*) FROM patients WHERE sex = 'F' GROUP BY 1",
        ),
        (
            "SELECT sex, COUNT(*) FROM patients GROUP BY sex ORDER BY sex",
            "SELECT sex, COUNT(*) FROM patients GROUP BY 1 ORDER BY 1 DESC",
        ),
        ("SELECT SUM(age) FROM patients", "SELECT SUM(age)::DOUBLE FROM patients"),
    ):
        block = Block(lines=(), sql=sql, reference=reference)
        assert compare(benches["hospital"], block).difference() != "", sql


def test_dpsql_words_are_cut_out_of_the_text() -> None:
    text = "SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS (epsilon = (1)) SUM(x, epsilon => (1)) AS s FROM t -- =>"
    assert Edited.of(text).plain().text.split() == "SELECT SUM(x) AS s FROM t -- =>".split()
