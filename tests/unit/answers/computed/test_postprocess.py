"""After the noise: rows that need no worker are those the worker gives, and derived domains are kept apart."""

from __future__ import annotations

from datetime import date, datetime
from decimal import Decimal
from typing import Any
from unittest.mock import patch

import pytest

from dpsql.answers.computed import postprocess
from dpsql.answers.computed.far import fitting
from dpsql.answers.computed.intervals import level_of_picked, output_intervals
from dpsql.answers.computed.postprocess import PostProcess
from dpsql.engine import lower
from dpsql.engine.log import OPERATOR
from dpsql.errors import EngineFailed, ProgrammingError, UnsupportedQuery
from dpsql.plan.over_answers import stages
from dpsql.plan.types import Type
from dpsql.session import Session
from dpsql.worker import client
from dpsql.worker.process import WorkerFailed


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT sex, COUNT(*), SUM(age), AVG(age) FROM patients GROUP BY sex",
        "SELECT visited_on, COUNT(*), SUM(cost) FROM visits GROUP BY visited_on",
        "SELECT floor(age / 10), age > 18, COUNT(*), COUNT(*) AS again FROM patients GROUP BY 1, 2",
        "SELECT date_trunc('year', visited_on), AVG(cost) FROM visits GROUP BY 1",
        "SELECT SUM(weight) FROM patients",
    ],
)
def test_rows_that_need_no_work_are_those_that_the_worker_gives(session: Session, sql: str) -> None:
    bare = session.query(sql, epsilon=0.1).rows
    worked = session.query(f"{sql} LIMIT 100000", epsilon=0.1).rows  # LIMIT is the worker's business
    assert bare == worked
    assert [list(map(type, row)) for row in bare] == [list(map(type, row)) for row in worked]


def test_a_day_in_the_place_of_a_moment_is_its_midnight() -> None:
    noon, day = datetime(2024, 1, 31, 12), date(2024, 1, 31)
    assert fitting([noon, day, None], Type.TIMESTAMP) == [noon, datetime(2024, 1, 31), None]
    assert fitting([day], Type.DATE) == [day]


def test_the_same_key_with_another_parameter_has_its_own_domain(session: Session) -> None:
    text = "SELECT floor(age / ?), COUNT(*) FROM patients GROUP BY 1"
    by_tens, by_fifties, again = (session.query(text, [width], epsilon=0.1).rows for width in (10, 50, 10))
    assert [row[0] for row in by_tens] == list(range(12))
    assert [row[0] for row in by_fifties] == [0, 1, 2]
    assert by_tens == again


GROUPED = "(SELECT sex, COUNT(*) AS n, AVG(age) AS a FROM patients GROUP BY sex)"


def charges(session: Session) -> int:
    return len(session._backend.ledger.log())


@pytest.mark.parametrize("rows", [2**63, 2**64, 10**30])
def test_a_limit_beyond_all_rows_is_no_limit(session: Session, rows: int) -> None:
    for asked, parameters in ((str(rows), []), ("?", [rows])):
        assert len(session.query(f"SELECT COUNT(*) FROM patients LIMIT {asked}", parameters, epsilon=0.1).rows) == 1
        assert session.query(f"SELECT COUNT(*) FROM patients OFFSET {asked}", parameters, epsilon=0.1).rows == []


@pytest.mark.parametrize("rows", [-1, True, None, "2", 1.5])
def test_a_limit_that_is_no_number_of_rows_is_refused_before_the_charge(session: Session, rows: Any) -> None:
    before = charges(session)
    with pytest.raises(UnsupportedQuery, match="whole number from 0"):
        session.query("SELECT COUNT(*) FROM patients LIMIT ?", [rows])
    assert charges(session) == before


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT ? AS z, COUNT(*) FROM patients",
        "SELECT COUNT(*) FROM patients WHERE city = ?",
        "SELECT sex || ?, COUNT(*) FROM patients GROUP BY 1",
        "SELECT COUNT(*) FROM patients GROUP BY sex HAVING sex > ?",
    ],
)
def test_half_of_a_surrogate_pair_is_refused_wherever_it_stands(session: Session, sql: str) -> None:
    before = charges(session)
    with pytest.raises(ProgrammingError, match="surrogate"):
        session.query(sql, ["a\ud800"])
    assert charges(session) == before


@pytest.mark.parametrize("number", ["1e-400", "-1e-301", "1e300"])
def test_a_number_that_is_no_double_of_full_precision_is_refused(session: Session, number: str) -> None:
    with pytest.raises(ProgrammingError, match="Pass a number within"):
        session.query("SELECT COUNT(*) FROM patients WHERE age = ?", [Decimal(number)])


@pytest.mark.parametrize(
    "sql",
    [
        f"SELECT n FROM {GROUPED} HAVING n > 1",
        f"SELECT sex, SUM(n) FROM {GROUPED} GROUP BY sex ORDER BY n",
        f"SELECT sex FROM {GROUPED} ORDER BY COUNT(*)",
        f"SELECT sex, SUM(n) FROM {GROUPED} GROUP BY sex HAVING n > 4",
        f"SELECT sex, CASE WHEN n > 4 THEN SUM(n) END FROM {GROUPED} GROUP BY sex",
        f"SELECT sex, CASE WHEN sex = 'F' THEN COUNT(*) END FROM {GROUPED}",
    ],
)
def test_a_column_that_is_neither_grouped_nor_aggregated_is_refused_before_the_charge(
    session: Session, sql: str
) -> None:
    before = charges(session)
    with pytest.raises(UnsupportedQuery, match="neither grouped by nor aggregated"):
        session.query(sql, epsilon=0.01)
    assert charges(session) == before


def test_an_aggregate_inside_case_is_one(session: Session) -> None:
    sql = f"SELECT CASE WHEN COUNT(*) > 2 THEN 'three' ELSE 'few' END FROM {GROUPED}"
    assert session.query(sql, epsilon=0.01).rows == [("three",)]


def test_what_the_second_worker_cannot_do_is_refused_before_the_charge(
    session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stages, "_check_grouped", lambda *_: None)  # a refusal that somebody forgot
    before = charges(session)
    with pytest.raises(UnsupportedQuery, match="cannot be done"):
        session.query(f"SELECT sex, SUM(n) FROM {GROUPED} GROUP BY sex HAVING n > 5", epsilon=0.01)
    assert charges(session) == before


@pytest.mark.parametrize(
    "shown",
    [
        "AVG(age)::FLOAT",
        "round(AVG(age)::REAL, 2)",
        "MEDIAN(age)::FLOAT4 / 2",
        "AVG(age)::DECIMAL(38, 2)",
        "population * 365",
    ],
)
def test_casts_of_released_reals_and_products_of_public_keys_are_answered(session: Session, shown: str) -> None:
    by = "FROM patients JOIN cities ON city = name GROUP BY population" if "population" in shown else "FROM patients"
    sql = f"SELECT {shown} AS x, COUNT(*) AS n {by}"
    session.explain(sql, epsilon=0.2)
    assert all(isinstance(x, int | float) for x in session.query(sql, epsilon=0.2)["x"])


def test_a_rounded_real_has_a_text_with_its_decimals(session: Session) -> None:
    text, value = (
        session.query(f"SELECT {shown} AS x FROM patients", epsilon=0.2)["x"][0]
        for shown in ("CAST(round(AVG(age), 1) AS VARCHAR) || ' years'", "round(AVG(age), 1)")
    )
    assert text == f"{value:.1f} years"


def test_a_column_goes_before_a_name_of_the_select_list_in_a_condition(session: Session) -> None:
    named, plain = (
        session.explain(f"SELECT sex AS {name}, COUNT(*) AS n FROM patients WHERE city IS NOT NULL GROUP BY sex").sql
        for name in ("city", "s")
    )
    assert named == plain


def test_what_cannot_be_done_is_refused_by_explain_too_naming_the_column(session: Session) -> None:
    sql = "SELECT COUNT(*) AS n, CAST((AVG(age) - 7) / 1e20 AS BIGINT) AS far FROM patients"
    for asked in (session.explain, session.query):
        with pytest.raises(UnsupportedQuery, match="what it does in column far with the released values"):
            asked(sql, epsilon=0.01)


CITIES = "SELECT city, COUNT(*) AS n, AVG(age) AS a FROM patients GROUP BY city"


@pytest.mark.parametrize(
    ("picked", "columns"),
    [
        ("ORDER BY n DESC LIMIT 2", {"n"}),
        ("HAVING COUNT(*) > 5", {"n"}),
        ("HAVING AVG(age) > 0 ORDER BY n LIMIT 3", {"n", "a"}),
        ("ORDER BY city LIMIT 2", set()),
        ("ORDER BY n DESC", set()),
    ],
)
def test_rows_kept_for_their_noised_values_have_intervals_for_all_that_could_have_been(
    session: Session, picked: str, columns: set[str]
) -> None:
    plain = session.query(CITIES, epsilon=0.11)
    answer = session.query(f"{CITIES} {picked}", epsilon=0.11)
    rows = {row[0]: index for index, row in enumerate(plain.rows)}
    assert 0 < len(answer) <= len(plain)
    level = level_of_picked(0.9, len(answer), len(plain))
    for name in ("n", "a"):
        own = plain.interval(name, level if name in columns else 0.9)
        assert answer.interval(name, 0.9) == [own[rows[row[0]]] for row in answer.rows]


def test_rows_picked_by_a_query_over_the_answer_have_them_too(session: Session) -> None:
    plain = session.query(CITIES, epsilon=0.12)
    answer = session.query(f"SELECT * FROM ({CITIES}) AS t WHERE n > 5 ORDER BY a LIMIT 1", epsilon=0.12)
    level = level_of_picked(0.9, len(answer), len(plain))
    index = [row[0] for row in plain.rows].index(answer.rows[0][0])
    assert answer.interval("n", 0.9) == [plain.interval("n", level)[index]]
    assert answer.interval("a", 0.9) == [plain.interval("a", level)[index]]


def test_why_the_worker_without_data_failed_is_in_the_owners_log(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    def failing(*_: object, **__: object) -> None:
        raise WorkerFailed("out of memory")

    after = PostProcess(1 << 30)
    monkeypatch.setattr(after._workers.workers[0], "run", failing)
    OPERATOR.addHandler(caplog.handler)
    try:
        with pytest.raises(WorkerFailed):
            after.cells([], [], [])
    finally:
        OPERATOR.removeHandler(caplog.handler)
    assert "the worker without data failed: out of memory" in caplog.text


def test_more_groups_than_are_read_in_parts_are_a_failure_of_the_engine(
    session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lower, "MOST_OPEN_GROUPS", 1)
    monkeypatch.setattr(client, "MOST_IN_PARTS", 2)
    before = charges(session)
    assert session.query("SELECT sex, COUNT(*) FROM patients GROUP BY sex", epsilon=0.011).rows  # listed
    with pytest.raises(EngineFailed):
        session.query("SELECT diagnosis, COUNT(*) FROM visits GROUP BY diagnosis", epsilon=0.1, delta=1e-8)
    assert [entry.kind for entry in session._backend.ledger.log()[before:]] == ["charge", "charge", "overrun"]
    monkeypatch.setattr(lower, "MOST_OPEN_GROUPS", 10_000)
    session.query("SELECT diagnosis, COUNT(*) FROM visits GROUP BY diagnosis", epsilon=0.11, delta=1e-8)
    assert session._backend.ledger.log()[-1].kind == "charge"


def test_totals_over_an_answer_have_the_intervals_of_their_parts(session: Session) -> None:
    inner = "SELECT sex, age >= 40 AS old, COUNT(*) AS n FROM patients GROUP BY 1, 2"
    items = "SUM(n) AS s, MIN(n) AS low, MAX(n) AS high, COUNT(*) AS k, SUM(n) / COUNT(*) AS mean"
    sql = f"SELECT sex, {items} FROM ({inner})"
    answer, parts = session.query(f"{sql} GROUP BY sex", epsilon=0.2), session.query(inner, epsilon=0.2)
    each = dict(
        zip([row[:2] for row in parts.rows], parts.interval("n", 0.975), strict=True)
    )  # two parts: 1 - 0.05 / 2
    for row, s, low, high, mean in zip(answer.rows, *map(answer.interval, ("s", "low", "high", "mean")), strict=True):
        ends = [each[row[0], old] for old in (False, True)]
        lows, highs = [float(a or 0) for a, _ in ends], [float(b or 0) for _, b in ends]
        assert sum(s) == pytest.approx(sum(lows) + sum(highs))  # in the middle, and shorter: `test_linear`
        assert sum(lows) < s[0] < s[1] < sum(highs)
        assert low == pytest.approx((min(lows), min(highs)))
        assert high == pytest.approx((max(lows), max(highs)))
        assert mean == pytest.approx((s[0] / 2, s[1] / 2), abs=0.5)  # of whole numbers, and of halves
    assert [row[4] for row in answer.rows] == [2, 2, 2]  # exact
    (whole,) = session.query(f"SELECT SUM(n) AS s FROM ({inner})", epsilon=0.2).interval("s")
    assert whole[0] is not None and whole[1] is not None and whole[0] < 200 < whole[1]


def test_what_a_row_is_grouped_by_is_known_to_its_interval(session: Session) -> None:
    inner = "SELECT width_bucket(age, 0, 100, 4) AS k, COUNT(*) AS n FROM patients GROUP BY 1"
    parts = session.query(inner, epsilon=0.2)
    answer = session.query(f"SELECT k, n * k AS all_in_all, n / NULLIF(k, 0) AS each FROM ({inner})", epsilon=0.2)
    assert [row[0] for row in answer.rows] == [row[0] for row in parts.rows]
    known = zip(answer.rows, parts.interval("n"), answer.interval("all_in_all"), answer.interval("each"), strict=True)
    for (k, *_), (low, high), all_in_all, each in known:
        assert low is not None and high is not None
        if k:
            assert all_in_all == pytest.approx((low * k, high * k))
            assert each == pytest.approx((low / k, high / k))


def test_each_cell_of_a_pivoted_answer_has_the_interval_of_its_own_row(session: Session) -> None:
    inner = "SELECT sex, age >= 40 AS old, COUNT(*) AS n FROM patients GROUP BY 1, 2"
    parts = session.query(inner, epsilon=0.2)
    each = dict(zip([row[:2] for row in parts.rows], parts.interval("n"), strict=True))
    both = dict(zip([row[:2] for row in parts.rows], parts.interval("n", 0.975), strict=True))
    for sql in (
        f"PIVOT ({inner}) ON sex IN ('F', 'M') USING SUM(n)",
        f"WITH a AS ({inner}) PIVOT a ON sex IN ('F', 'M') USING MAX(n) GROUP BY old ORDER BY old",
        f"SELECT old, AVG(n) FILTER (WHERE sex = 'F') AS F, MIN(n) FILTER (WHERE 'M' = sex) AS M FROM ({inner}) "
        "GROUP BY old",
    ):
        answer = session.query(sql, epsilon=0.2)
        for column in "FM":
            assert answer.interval(column) == [each[column, row[0]] for row in answer.rows]
    less = session.query(
        f"SELECT old, F - M AS d FROM (PIVOT ({inner}) ON sex IN ('F', 'M') USING SUM(n))", epsilon=0.2
    )
    for (old, _), (low, high) in zip(less.rows, less.interval("d"), strict=True):
        ours, theirs = both["F", old], both["M", old]
        least, most = float(ours[0] or 0) - float(theirs[1] or 0), float(ours[1] or 0) - float(theirs[0] or 0)
        assert low is not None and high is not None and least < low < high < most  # two noises: `test_linear`
        assert low + high == least + most


def test_a_cell_without_a_row_is_null_and_has_no_interval(session: Session) -> None:
    inner = "SELECT sex, COUNT(*) AS n FROM patients WHERE sex <> 'X' GROUP BY sex"
    answer = session.query(f"PIVOT ({inner}) ON sex IN ('F', 'X') USING SUM(n)", epsilon=0.2)
    assert answer.rows[0][1] is None
    assert answer.interval("X") == [(None, None)]
    assert answer.interval("F") == session.query(inner, epsilon=0.2).interval("n")[:1]


@pytest.mark.parametrize(
    "sql",
    [
        f"SELECT SUM(n) FILTER (WHERE n > 3) AS s FROM {GROUPED}",
        f"SELECT SUM(n) AS s FROM {GROUPED} WHERE n > 3",
        "SELECT SUM(n) AS s FROM (SELECT sex, COUNT(*) AS n FROM patients GROUP BY sex HAVING n > 3)",
        f"SELECT SUM(n) AS s FROM {GROUPED} GROUP BY n",
        f"SELECT SUM(n) AS s FROM (SELECT sex, n FROM {GROUPED} ORDER BY n LIMIT 2)",
        f"SELECT COUNT(DISTINCT n) + SUM(n) AS s FROM {GROUPED}",
    ],
)
def test_where_noise_decides_which_rows_go_in_no_interval_is_told(session: Session, sql: str) -> None:
    assert set(session.query(sql, epsilon=0.2).interval("s")) == {(None, None)}


def test_what_was_rehearsed_once_is_not_rehearsed_again(session: Session) -> None:
    after = session._backend.post_process
    text = "SELECT sex, SUM(age) / (7 + COUNT(*)) AS r FROM patients WHERE age < ? GROUP BY 1"
    before = len(after._rehearsed)
    with patch.object(postprocess, "output_intervals", wraps=output_intervals) as worked_out:
        session.query(text, [20], epsilon=0.01)
        once = worked_out.call_count
        session.query(text, [30], epsilon=0.01)
    assert len(after._rehearsed) == before + 1
    assert worked_out.call_count == once > 0
