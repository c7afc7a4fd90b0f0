"""Several answers in one statement: one charge for all of them, each found again alone, intervals kept."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import dpsql
import dpsql.testing
from dpsql.answers.computed.postprocess import MADE_UP_ROWS
from dpsql.errors import BudgetExceeded, EngineFailed, ProgrammingError, UnsupportedQuery
from dpsql.worker.client import Worker, WorkerFailed
from tests.sql.databases import build

BY_SEX = "SELECT sex, COUNT(*) AS n FROM patients GROUP BY sex"
ALL = "SELECT 'all' AS sex, COUNT(*) AS n FROM patients"
OLD = "SELECT COUNT(*) FROM patients WHERE age > 50"
OF_OLD = f"SELECT (SELECT COUNT(*) FROM patients) - ({OLD}) AS young"


@pytest.fixture(scope="module")
def policy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build("hospital", tmp_path_factory.mktemp("several"))


@pytest.fixture
def proxy(policy: Path) -> Iterator[dpsql.testing.TestProxy]:
    with dpsql.testing.open(policy, dpsql.testing.FixedSampler("several")) as opened:
        yield opened


@pytest.fixture
def session(proxy: dpsql.testing.TestProxy) -> dpsql.Session:
    return proxy.session(analyst="ana")


def charges(session: dpsql.Session) -> list[str]:
    return [entry.kind for entry in session._backend.ledger.log() if entry.analyst == session.analyst]


def test_union_all_is_one_charge_of_the_sum(session: dpsql.Session) -> None:
    quote = session.explain(f"{BY_SEX} UNION ALL {ALL}", epsilon=0.25)
    answer = session.query(f"{BY_SEX} UNION ALL {ALL}", epsilon=0.25)
    assert quote.cost.epsilon == answer.cost.epsilon == session.budget().spent.epsilon == pytest.approx(0.5)
    assert charges(session) == ["charge"]
    assert answer.columns == ("sex", "n")
    assert [row[0] for row in answer.rows] == ["F", "M", "X", "all"]
    assert len(quote.columns) == len(answer.measurements) == 2
    assert quote.notes[0].startswith("Its 2 answers are bought together, each at the price named;")


NONE = "SELECT sex, COUNT(*) AS nobody FROM patients WHERE sex IS NULL GROUP BY sex"
NO_ROW = "SELECT {} adds no row and costs nothing: sex: none of its declared values meets the conditions."


@pytest.mark.parametrize(
    ("sql", "names", "note"),
    [
        (f"{BY_SEX} UNION ALL {NONE}", ("sex", "n"), "2 of 2"),
        (f"{NONE} UNION ALL {BY_SEX}", ("sex", "nobody"), "1 of 2"),
        (f"{NONE} UNION ALL {BY_SEX} UNION ALL {NONE}", ("sex", "nobody"), "3 of 3"),
        (f"{NONE} UNION {BY_SEX}", ("sex", "nobody"), "1 of 2"),
        (f"SELECT * FROM ({NONE} UNION ALL {BY_SEX}) AS a", ("sex", "nobody"), "1 of 2"),
        (f"WITH a AS ({NONE}), b AS ({BY_SEX}) FROM a UNION ALL FROM b", ("sex", "nobody"), "1 of 2"),
    ],
)
def test_a_select_of_a_union_that_has_no_row_adds_none_and_costs_nothing(
    session: dpsql.Session, sql: str, names: tuple[str, ...], note: str
) -> None:
    quote, answer = session.explain(sql, epsilon=0.25), session.query(sql, epsilon=0.25)
    assert quote.cost.epsilon == answer.cost.epsilon == pytest.approx(0.25)
    assert answer.columns == names
    assert [row[0] for row in answer.rows] == ["F", "M", "X"]
    assert NO_ROW.format(note) in quote.notes
    assert NO_ROW.format(note) in answer.notices
    assert not any("answers are bought together" in own for own in quote.notes)
    alone = session.query(BY_SEX, epsilon=0.25)
    if "WITH" not in sql:
        assert alone.replayed
    if "UNION ALL" in sql and alone.replayed:
        assert answer.interval(names[1]) == alone.interval("n")


def test_a_union_of_selects_that_all_have_no_row_is_refused(session: dpsql.Session) -> None:
    with pytest.raises(UnsupportedQuery, match=r"none of its declared values meets .* no row"):
        session.query(f"{NONE} UNION ALL {NONE}", epsilon=0.25)
    assert charges(session) == []


def test_each_part_is_the_answer_that_it_is_alone(session: dpsql.Session) -> None:
    both = session.query(f"{BY_SEX} UNION ALL {ALL}")
    one, two = session.query(BY_SEX), session.query(ALL)
    assert one.replayed
    assert two.replayed
    assert both.rows == [*one.rows, *two.rows]
    assert both.interval("n") == [*one.interval("n"), *two.interval("n")]
    assert both.interval("n", 0.5) == [*one.interval("n", 0.5), *two.interval("n", 0.5)]
    again = session.query(f"{BY_SEX} UNION ALL {ALL}")
    assert again.replayed
    assert (again.rows, again.cost.epsilon) == (both.rows, 0)
    assert charges(session) == ["charge"]


def test_the_same_sub_query_twice_is_one_release(session: dpsql.Session) -> None:
    answer = session.query(f"SELECT ({OLD}) <> ({OLD}) AS differ, ({OLD}) AS n", epsilon=0.5)
    assert answer.rows[0][0] is False
    assert answer.cost.epsilon == pytest.approx(0.5)
    assert session.query(OLD, epsilon=0.5).rows[0][0] == answer.rows[0][1]


def test_an_answer_that_two_ctes_ask_on_is_drawn_once(session: dpsql.Session) -> None:
    sql = f"WITH a AS ({BY_SEX}), b AS (SELECT * FROM a WHERE n > 20) SELECT n, (SELECT SUM(n) FROM a) AS s FROM b"
    answer = session.query(sql, epsilon=0.5)
    assert answer.cost.epsilon == pytest.approx(0.5)
    assert answer.rows[0][1] == sum(n for _, n in session.query(BY_SEX, epsilon=0.5).rows)


def test_what_was_released_before_is_not_paid_for_again(session: dpsql.Session) -> None:
    session.query(OLD, epsilon=0.5)
    assert session.explain(OF_OLD, epsilon=0.5).cost.epsilon == pytest.approx(0.5)
    assert session.query(OF_OLD, epsilon=0.5).cost.epsilon == pytest.approx(0.5)
    assert session.explain(OF_OLD, epsilon=0.5).cost.epsilon == 0


def test_all_is_charged_or_nothing_is(session: dpsql.Session) -> None:
    with pytest.raises(BudgetExceeded):
        session.query(f"{BY_SEX} UNION ALL {ALL}", epsilon=5)  # one would be granted
    with pytest.raises(UnsupportedQuery):
        session.query(f"{BY_SEX} UNION ALL SELECT sex, MEDIAN(age) FROM patients GROUP BY sex", mechanism="laplace")
    assert session.budget().spent.epsilon == 0
    assert charges(session) == []


def test_nothing_is_given_back_where_the_second_one_fails(
    session: dpsql.Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    run, ran = session._run, list[str]()

    def fails_second(statement: dpsql.engine.base.EngineStatement) -> dpsql.privacy.tables.RawTable:
        assert session.budget().spent.epsilon == pytest.approx(1)  # of both, before the first was read
        ran.append(statement.sql)
        if len(ran) == 2:
            raise EngineFailed
        return run(statement)

    monkeypatch.setattr(session, "_run", fails_second)
    with pytest.raises(EngineFailed):
        session.query(f"{BY_SEX} UNION ALL {ALL}", epsilon=0.5)
    assert session.budget().spent.epsilon == pytest.approx(1)


@pytest.mark.parametrize(("sql", "cost"), [(f"{BY_SEX} UNION ALL {ALL}", 1), (f"{BY_SEX} ORDER BY n", 0.5)])
def test_what_is_paid_for_and_not_worked_with_is_said_to_be_charged(
    session: dpsql.Session, monkeypatch: pytest.MonkeyPatch, sql: str, cost: float
) -> None:
    own = Worker.run

    def holds_little(worker: Worker, request: Any, *, deadline: float, tables: Any = None) -> Any:
        sizes = {len(values) for table in (tables or {}).values() for _, values in table.values()}
        if any(size % MADE_UP_ROWS for size in sizes):  # it is no rehearsal
            raise WorkerFailed("its memory is full.", answered=True)
        return own(worker, request, deadline=deadline, tables=tables)

    with monkeypatch.context() as full:
        full.setattr(Worker, "run", holds_little)
        with pytest.raises(EngineFailed, match="stays charged"):
            session.query(sql, epsilon=0.5)
    assert session.budget().spent.epsilon == pytest.approx(cost)
    assert session.query(sql, epsilon=0.5).replayed


def test_answers_that_may_have_too_many_rows_together_are_refused_before_the_charge(session: dpsql.Session) -> None:
    by_day = "SELECT visited_on AS day, diagnosis, COUNT(*) AS n FROM visits GROUP BY visited_on, diagnosis"
    for ask in (session.explain, session.query):
        for sql in (
            f"SELECT * FROM ({by_day}) a CROSS JOIN ({by_day}) b",
            f"FROM ({by_day}) a JOIN ({by_day}) b USING (day)",
        ):
            with pytest.raises(UnsupportedQuery, match="000 rows together, and 4,000,000 can be worked with"):
                ask(sql, epsilon=0.5)
    session.explain(f"SELECT * FROM ({by_day}) a JOIN ({by_day}) b USING (day, diagnosis)", epsilon=0.5)
    session.explain(f"SELECT * FROM ({by_day} LIMIT 500) a CROSS JOIN ({by_day} LIMIT 500) b", epsilon=0.5)
    assert session.budget().spent.epsilon == 0


def test_each_select_has_options_of_its_own(session: dpsql.Session) -> None:
    dp = "WITH DIFFERENTIAL_PRIVACY OPTIONS (epsilon = {})"
    sql = f"SELECT {dp.format(0.1)} COUNT(*) FROM patients UNION ALL SELECT {dp.format(0.3)} COUNT(*) FROM visits"
    assert session.query(sql).cost.epsilon == pytest.approx(0.4)
    session.query("SET epsilon = 0.2")
    assert session.explain(f"{OLD} UNION ALL {OLD}").cost.epsilon == pytest.approx(0.2)


def test_an_order_and_a_limit_are_of_the_whole(session: dpsql.Session) -> None:
    whole = session.query(f"{BY_SEX} UNION ALL {ALL}")
    first = session.query(f"{BY_SEX} UNION ALL {ALL} ORDER BY n DESC LIMIT 2")
    assert first.rows == sorted(whole.rows, key=lambda row: -row[1])[:2]
    assert first.replayed
    wide, narrow = first.interval("n")[0], whole.interval("n")[-1]
    assert wide[0] <= narrow[0] < narrow[1] <= wide[1]  # picked for its own noise


def test_no_row_is_free(session: dpsql.Session) -> None:
    answer = session.query(f"SELECT * FROM ({BY_SEX} UNION ALL {ALL}) AS u LIMIT 0")
    assert (answer.columns, answer.rows, charges(session)) == (("sex", "n"), [], [])
    assert session.explain(f"{BY_SEX} UNION ALL {ALL} LIMIT 0").cost.epsilon == 0


def test_a_difference_has_the_interval_of_both(session: dpsql.Session) -> None:
    ((young,),) = session.query(OF_OLD).rows
    ((low, high),) = session.query(OF_OLD).interval("young")
    parts = [session.query(sql) for sql in ("SELECT COUNT(*) FROM patients", OLD)]
    (a, b) = (part.interval(part.columns[0], 0.975)[0] for part in parts)
    assert young == parts[0].rows[0][0] - parts[1].rows[0][0]
    assert (low, high) == pytest.approx((a[0] - b[1], a[1] - b[0]))


def test_joined_answers_take_as_many_conditions_as_are_written(session: dpsql.Session) -> None:
    joined = f"SELECT a.sex FROM ({BY_SEX}) AS a JOIN ({BY_SEX}) AS b USING (sex)"
    answer = session.query(f"{joined} WHERE a.n > -1000 AND b.n > -1000 AND a.n < 1000000 AND a.sex <> 'X'")
    assert answer.rows == [("F",), ("M",)]


def test_rows_that_noise_joins_have_no_interval(session: dpsql.Session) -> None:
    both = f"FROM ({BY_SEX}) AS a JOIN ({ALL}) AS b ON a.n = b.n"
    assert session.query(f"SELECT a.n {both}").rows == []
    joined = session.query(f"SELECT a.sex, a.n, b.n AS m FROM ({BY_SEX}) AS a JOIN ({BY_SEX}) AS b USING (sex)")
    assert joined.interval("n") == joined.interval("m") == session.query(BY_SEX).interval("n")
    distinct = session.query(f"{BY_SEX} UNION {BY_SEX}")
    assert distinct.interval("n") == [(None, None)] * 3
    assert [note for note in distinct.notes if "UNION ALL keeps every row" in note]
    assert not any("UNION" in note for note in session.query(f"SELECT a.n {both}").notes)


def test_several_statements_may_hold_several_answers(session: dpsql.Session) -> None:
    asked = [f"{BY_SEX} UNION ALL {ALL}", BY_SEX, OF_OLD]
    quote = session.quote(asked, epsilon=0.25)
    answers = session.query_all(asked, epsilon=0.25)
    assert len(quote.statements) == 3
    assert quote.cost.epsilon == session.budget().spent.epsilon == pytest.approx(0.75)  # three counts
    assert answers[0].rows[:3] == answers[1].rows
    assert charges(session) == ["charge"]


def test_a_wanted_half_width_is_for_the_select_that_has_the_column(session: dpsql.Session) -> None:
    quote = session.explain(f"{BY_SEX} UNION ALL SELECT 'all', COUNT(*) FROM visits", half_width={"n": 10})
    assert quote.columns[0].half_width <= 10
    with pytest.raises(ProgrammingError, match="No SELECT has a column 'm'"):
        session.explain(f"{BY_SEX} UNION ALL {ALL}", half_width={"m": 10})


def test_an_outline_has_names_types_and_bars(session: dpsql.Session) -> None:
    outline = session.outline(f"{BY_SEX} UNION ALL SELECT consent, AVG(age) FROM patients GROUP BY consent")
    assert outline.columns == ("sex", "n")
    assert [kind.value for kind in outline.types] == ["text", "real"]
    assert outline.bars == (False, True)


def test_parameters_are_those_of_the_whole_statement(session: dpsql.Session) -> None:
    sql = "SELECT COUNT(*) FROM patients WHERE age > ? UNION ALL SELECT COUNT(*) FROM patients WHERE age > ? LIMIT ?"
    answer = session.query(sql, [50, 20, 2])
    assert answer.rows[0] == session.query(OLD).rows[0]


def test_a_synthetic_table_is_not_made_of_answers(session: dpsql.Session) -> None:
    with pytest.raises(UnsupportedQuery, match="rows of one SELECT"):
        session.query(f"CREATE SYNTHETIC TABLE t WITH (epsilon = 1) AS {BY_SEX} UNION ALL {ALL}")
