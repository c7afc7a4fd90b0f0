"""Notes name what they are of, each once."""

from __future__ import annotations

from dpsql.answers.shown.grouped import grouped
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


def test_what_is_printed_says_alike_notes_in_one_line_and_programs_have_them_all(session: Session) -> None:
    sql = "SELECT MIN(cost) AS a, MAX(cost) AS b, MIN(cost) FILTER (WHERE cost > 1) AS c FROM visits"
    for told in (session.explain(sql, epsilon=1), session.query(sql, epsilon=1)):
        assert [note.partition(": ")[0] for note in told.notes if "it rests on" in note] == ["a", "b", "c"]
        (line,) = (line for line in str(told).splitlines() if "it rests on" in line)
        assert line.startswith("Note: a: it rests on the outermost rows; QUANTILE_CONT(cost, 0.01) says more. Likewise")
        assert line.endswith(": b; c.")
        assert told._repr_html_().count("it rests on") == 1


def test_values_of_a_pivot_are_told_apart_and_many_are_counted(session: Session) -> None:
    values = ", ".join(map(str, range(10)))
    sql = f"SELECT * FROM (SELECT floor(cost / 100) AS h, cost FROM visits) PIVOT (MAX(cost) FOR h IN ({values}))"
    answer = session.query(sql, epsilon=1)
    (line,) = (line for line in grouped(answer.notes) if "it rests on" in line)
    assert line.partition(": it")[0].endswith(" and 4 others"), line
    (note,) = (note for note in answer.notes if "it rests on" in note)
    assert note.partition(": it")[0].count(",") == 9


def test_notes_are_alike_but_for_numbers_and_brackets() -> None:
    told = ["SUM(x, y), n: 3 of (a) lie out.", "m: 4.5 of (b) lie out.", "Of 3 rows.", "Of 4 rows.", "Of 3 rows."]
    assert grouped(told) == (
        "SUM(x, y), n: 3 of (a) lie out. Likewise, each with its own numbers: m.", "Of 3 rows.", "Of 4 rows.",
    )  # fmt: skip
    assert grouped(["a: b.", "a: b.", "c: b."]) == ("a; c: b.",)
