"""Columns that are TRUE or FALSE of a noised number say how near to the line chance decides."""

from __future__ import annotations

import pytest

from dpsql.session import Session


@pytest.mark.parametrize(
    ("column", "words"),
    [
        ("BOOL_OR(cost > 19000)", "rows decide it, or none, it is left to chance: it asks whether a count with noise"),
        ("BOOL_AND(cost < 19000)", "rows decide it, or none, it is left to chance: it asks whether a count with noise"),
        ("COUNT(*) >= 2", "reaches 2."),
        ("COUNT(*) > 900", "of 900, to which it is compared, it is left to chance."),
        ("CASE WHEN AVG(cost) < 300 THEN 1 ELSE 0 END", "where AVG(cost) is within ±"),
    ],
)
def test_what_compares_a_noised_number_says_where_chance_decides(session: Session, column: str, words: str) -> None:
    sql = f"SELECT {column} AS said FROM visits"
    for notes in (session.explain(sql, epsilon=0.5).notes, session.query(sql, epsilon=0.5).notes):
        (note,) = (note for note in notes if "left to chance" in note)
        assert note.startswith("said: ") and words in note


def test_numbers_that_are_compared_with_nothing_do_not(session: Session) -> None:
    for sql in ("SELECT COUNT(*) AS n FROM visits", "SELECT MODE(sex) AS m FROM patients"):
        assert not any("left to chance" in note for note in session.explain(sql, epsilon=0.5).notes)
