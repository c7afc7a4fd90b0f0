"""Notes name what they are of, each once."""

from __future__ import annotations

from dpsql.session import Session


def test_a_release_of_two_statistics_has_the_notes_of_each_under_its_own_name(session: Session) -> None:
    sql = "SELECT CORR(weight, age) AS r, REGR_SLOPE(weight, age) AS b FROM patients"
    quote, answer = session.explain(sql, epsilon=0.01), session.query(sql, epsilon=0.01)
    for notes in (quote.notes, answer.notes):
        (r,) = (note for note in notes if note.startswith("r: Expected to say next to nothing"))
        (b,) = (note for note in notes if note.startswith("b: Expected to say next to nothing"))
        assert "any answer lies between -1 and 1" in r
        assert "where a line from bound to bound has a slope of" in b


def test_a_note_of_several_aggregates_is_said_once(session: Session) -> None:
    sql = "SELECT QUANTILE_CONT(cost, 0.2) AS a, QUANTILE_CONT(cost, 0.7) AS b FROM visits"
    for notes in (session.explain(sql, epsilon=0.001).notes, session.query(sql, epsilon=0.001).notes):
        assert len({note.partition(": ")[2] for note in notes}) == len(notes)
        assert any(note.startswith("a, b: ") for note in notes)


def test_advice_on_outermost_rows_names_the_column(session: Session) -> None:
    for sql, says in (
        ("SELECT MAX(cost) AS m FROM visits", "QUANTILE_CONT(cost, 0.99) says more."),
        ("SELECT MIN(visited_on) AS m FROM visits", "QUANTILE_DISC(visited_on, 0.01) says more."),
        ("SELECT MIN(cost + 1) AS m FROM visits", "QUANTILE_CONT(x, 0.01) says more."),
    ):
        (note,) = (note for note in session.explain(sql, epsilon=1).notes if "it rests on" in note)
        assert note.endswith(says)


def test_two_aggregates_that_differ_in_their_condition_have_two_names(session: Session) -> None:
    long = " OR ".join(f"cost = {n}" for n in range(20))
    sql = f"SELECT AVG(cost) FILTER (WHERE cost > 5) - AVG(cost) FILTER (WHERE {long}) AS d FROM visits"
    names = [column.name for column in session.explain(sql, epsilon=0.01).columns]
    assert names == ["d", "d: AVG(cost) FILTER (WHERE cost > 5)", "d: AVG(cost) FILTER (...)"]
