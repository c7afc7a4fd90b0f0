"""Synthetic tables through SQL: made once, read for nothing, nobody else's, dropped without refund."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

import dpsql
import dpsql.testing
from dpsql.answers.shown.costs import cost_text
from dpsql.errors import BudgetExceeded, ProgrammingError, UnsupportedQuery
from dpsql.plan.types import Type
from dpsql.privacy.sampling import Integers
from dpsql.proxy import Proxy
from dpsql.releasing.stored import read_stored, written
from dpsql.session import Session
from dpsql.testing_samplers import FixedSampler
from dpsql.worker import wire
from tests.connected import connected

POLICY = """
version: 1
name: clinic
engine: {kind: duckdb, database: clinic.duckdb}
neighbours: add_remove
budget:
  ledger: clinic.ledger.db
  mark: marks
  composition: basic
  total: {epsilon: 20, delta: 1.0e-6}
  analysts: {ana: {epsilon: 10, delta: 1.0e-6}, "*": {epsilon: 1}}
  per_query: {epsilon: 0.5}
tables:
  people:
    unit: person
    rows_per_unit: 1
    rows_about: 400
    columns:
      age:  {type: integer, bounds: [0, 99]}
      sex:  {type: text, values: [F, M], nullable: true}
      seen: {type: date, bounds: [2024-01-01, 2024-01-31]}
      note: {type: text}
  visits:
    unit: person
    rows_per_unit: 3
    columns:
      cost: {type: integer, bounds: [0, 100]}
      code: {type: integer, bounds: [0, 999999]}
  towns: {public: true}
"""


def build(home: Path, people: int = 400) -> Path:
    """The policy and its data; more people leave those before as they are."""
    (home / "clinic.yaml").write_text(POLICY.replace("database: clinic.duckdb", f"database: {home}/clinic.duckdb"))
    with connected(home / "clinic.duckdb") as database:
        database.execute(
            "CREATE TABLE people AS SELECT i AS person, i * 37 % 90 AS age, ['F', 'M', NULL][1 + i % 3] AS sex, "
            f"DATE '2024-01-01' + (i % 31)::INTEGER AS seen, 'x' AS note FROM range({people}) AS t(i)"
        )
        database.execute(
            f"CREATE TABLE visits AS SELECT i % {people} AS person, i % 80 AS cost, i AS code FROM range(900) AS t(i)"
        )
        database.execute("CREATE TABLE towns AS SELECT 'here' AS town, 7 AS size")
    return home / "clinic.yaml"


@pytest.fixture
def session(proxy: Proxy) -> Session:
    return proxy.session(analyst="ana")


def rows(session: Session, sql: str) -> list[tuple[Any, ...]]:
    return session.query(sql).rows


def spent(session: Session) -> float:
    return float(session.budget().spent.epsilon)


def test_a_table_is_paid_for_once_and_then_free(session: Session) -> None:
    made = session.query("CREATE SYNTHETIC TABLE ages WITH (method = 'tree', epsilon = 1) AS SELECT age FROM people")
    assert made.columns == ("table", "method", "rows", "error", "cost")
    assert made.rows[0][:3] == ("ages", "tree", 400)
    assert made.cost.epsilon == spent(session) == 1
    for low in range(0, 90, 10):
        found = session.query(f"SELECT COUNT(*), AVG(age) FROM ages WHERE age BETWEEN {low} AND {low + 9}")
        exact = [i * 37 % 90 for i in range(400) if low <= i * 37 % 90 <= low + 9]
        assert found.rows == [(len(exact), pytest.approx(sum(exact) / len(exact)))]
        assert found.released_from == ("ages",)
        assert found.cost.epsilon == 0
    assert spent(session) == 1


def test_columns_keep_their_types_values_and_nulls(session: Session) -> None:
    session.query(
        "CREATE SYNTHETIC TABLE who WITH (method = 'cells') AS "
        "SELECT sex, seen AS Day, age >= 50 AS old FROM people WHERE age < 60"
    )
    exact = [(("F", "M", None)[i % 3], i % 31, i * 37 % 90) for i in range(400)]
    wanted = [(sex, date(2024, 1, 1 + day), age >= 50) for sex, day, age in exact if age < 60]
    assert sorted(rows(session, "SELECT * FROM who"), key=repr) == sorted(wanted, key=repr)
    described = {row[0]: row[1:4] for row in session.describe("who").rows}
    assert described["Day"] == ("date", "[2024-01-01, 2024-01-31]", False)
    assert described["sex"] == ("text", "F, M", True)
    grouped = rows(session, "SELECT sex, COUNT(*) FROM WHO GROUP BY sex HAVING COUNT(*) > 1 ORDER BY 2 DESC, 1 LIMIT 2")
    assert len(grouped) == 2
    joined = rows(session, "SELECT COUNT(*) FROM who a JOIN who b ON a.day = b.day AND a.old <> b.old")
    assert joined[0][0] > 0


def test_several_rows_a_unit_pay_for_all_of_them(session: Session) -> None:
    cell = "CREATE SYNTHETIC TABLE {} WITH (epsilon = 1, method = 'cells'{}) AS SELECT cost // 10 AS c FROM visits"
    three, one = session.explain(cell.format("a", "")), session.explain(cell.format("b", ", max_rows_contributed = 1"))
    assert (three.columns[0].sensitivity, one.columns[0].sensitivity) == (3, 1)
    assert three.columns[0].half_width == pytest.approx(3 * one.columns[0].half_width, rel=0.1)
    session.query(cell.format("b", ", max_rows_contributed = 1"))
    assert rows(session, "SELECT COUNT(*) FROM b") == [(400,)]


@pytest.mark.parametrize("method", ["cells", "marginals"])
def test_a_table_of_nobody_is_empty(session: Session, method: str) -> None:
    """By the policy there may be people of 95; there are none."""
    made = session.release("none", "SELECT age, sex FROM people WHERE age >= 95", epsilon=1, method=method)
    assert made.rows[0][2] == 0
    assert rows(session, "SELECT COUNT(*), MAX(age), MIN(sex) FROM none") == [(0, None, None)]
    assert rows(session, "SELECT age, sex FROM none WHERE age = 96") == []
    assert session.describe("none").rows[0][1] == "integer"


def test_it_is_listed_dropped_and_never_given_back(session: Session) -> None:
    session.release("people_2", "SELECT age, sex FROM people", epsilon=0.5)
    assert ("people_2", "released", None, None, 400, "the table") in session.tables().rows
    with pytest.raises(ProgrammingError, match="There is a table 'people_2'"):
        session.release("people_2", "SELECT age FROM people", epsilon=0.5)
    session.query("DROP TABLE people_2")
    assert "people_2" not in [row[0] for row in session.tables().rows]
    with pytest.raises(UnsupportedQuery, match="no such table"):
        session.query("SELECT COUNT(*) FROM people_2")
    with pytest.raises(ProgrammingError, match="no synthetic table 'people_2'"):
        session.query("DROP TABLE people_2")
    assert spent(session) == 0.5
    session.release("people_2", "SELECT age, sex FROM people", epsilon=0.5)
    assert spent(session) == 1


def test_for_everybody_else_it_does_not_exist(proxy: Proxy, session: Session) -> None:
    session.release("mine", "SELECT age FROM people", epsilon=0.25)
    other = proxy.session(analyst="bob")
    assert other.tables().rows == proxy.session(analyst="eve").tables().rows
    for statement in ("SELECT COUNT(*) FROM mine", "DESCRIBE mine", "DROP TABLE mine"):
        with pytest.raises(dpsql.Error, match=r"no such table|no synthetic table"):
            other.query(statement)
    other.release("mine", "SELECT sex FROM people", epsilon=0.25)  # a name is the analyst's own
    assert len(rows(session, "SELECT age FROM mine")) == 400


@pytest.mark.chance(0, "the noise is real, and nothing of it is asserted")
def test_it_outlives_the_process_and_a_refresh(tmp_path: Path) -> None:
    path = build(tmp_path)
    with dpsql.open(path) as proxy:
        session = proxy.session(analyst="ana")
        session.query("CREATE SYNTHETIC TABLE kept WITH (epsilon = 1) AS SELECT age, sex FROM people")
        before = rows(session, "SELECT age, sex, COUNT(*) FROM kept GROUP BY age, sex ORDER BY age, sex")
        session.query("CREATE SYNTHETIC TABLE gone AS SELECT age FROM people")
        session.query("DROP TABLE gone")
    with dpsql.open(path) as proxy:
        proxy.refresh()
        session = proxy.session(analyst="ana")
        assert rows(session, "SELECT age, sex, COUNT(*) FROM kept GROUP BY age, sex ORDER BY age, sex") == before
        assert [row[0] for row in session.tables().rows if row[1] == "released"] == ["kept"]
        assert spent(session) == 1.5
        kinds = [entry.kind for entry in proxy.ledger.log()]
        assert kinds.count("synthetic") == 2
        assert kinds.count("drop") == 1


REFUSED = [
    ("CREATE SYNTHETIC TABLE t AS SELECT person FROM people", "privacy unit"),
    ("CREATE SYNTHETIC TABLE t AS SELECT note FROM people", "its values are not listed"),
    (
        "CREATE SYNTHETIC TABLE t WITH (readers = 'eve') AS SELECT age FROM people",
        "readers says nothing here. The",
    ),
    ("CREATE SYNTHETIC TABLE t AS SELECT code FROM visits", r"1,000,000 values.*width_bucket\(code, 0, 999999, "),
    (
        "CREATE SYNTHETIC TABLE t WITH (workload = 'rectangles(age, sex)') AS SELECT age, sex FROM people",
        "has no ranges",
    ),
    ("CREATE SYNTHETIC TABLE t AS SELECT COUNT(*) FROM people", "columns and expressions of one row"),
    ("CREATE SYNTHETIC TABLE t AS SELECT age, age AS again FROM people", "each once and under a name of its own"),
    ("CREATE SYNTHETIC TABLE t AS SELECT age FROM people LIMIT 5", "it is made of rows"),
    ("CREATE SYNTHETIC TABLE t AS SELECT age FROM people WHERE age > 200", "the table would be empty"),
    ("CREATE SYNTHETIC TABLE t AS SELECT town FROM towns", "public tables alone"),
    ("CREATE SYNTHETIC TABLE people AS SELECT age FROM people", "The policy has a table 'people'"),
    ("CREATE SYNTHETIC TABLE t WITH (method = 'smalldb') AS SELECT age FROM people", "proved under replace_one"),
    ("CREATE SYNTHETIC TABLE t WITH (method = 'halfspaces') AS SELECT age, sex FROM people", "holds no numbers"),
    ("CREATE SYNTHETIC TABLE t WITH (alpha = 1.5) AS SELECT age FROM people", "no share of the rows"),
    ("CREATE SYNTHETIC TABLE t WITH (alpha = 0.001, epsilon = 1) AS SELECT age FROM people", "Give more epsilon"),
    ("CREATE SYNTHETIC TABLE t WITH (rows = 9) AS SELECT age FROM people", "take method = 'smalldb'"),
    ("CREATE SYNTHETIC TABLE t WITH (rows = 0) AS SELECT age FROM people", "whole number from 1"),
    ("CREATE SYNTHETIC TABLE t WITH (workload = 'ranges(cost)') AS SELECT age FROM people", "names no column of age"),
    ("CREATE SYNTHETIC TABLE t WITH (workload = 'ranges(sex)') AS SELECT sex FROM people", "has no ranges"),
    ("CREATE SYNTHETIC TABLE t WITH (workload = 'all') AS SELECT age FROM people", "cannot be read from 'all'"),
    ("CREATE SYNTHETIC TABLE t WITH (mechanism = 'laplace') AS SELECT age FROM people", "mechanism says nothing here"),
    ("CREATE SYNTHETIC TABLE t WITH (epsilon = 1, rho = 1) AS SELECT age FROM people", "rho"),
    ("CREATE SYNTHETIC TABLE t WITH (method = 3) AS SELECT age FROM people", "Write its name"),
    ("CREATE SYNTHETIC TABLE t AS (SELECT age FROM people)", "Write CREATE SYNTHETIC TABLE name"),
    (
        "CREATE SYNTHETIC TABLE Some AS SELECT age FROM people",
        'SOME at 1:24: this is a keyword, not a name. Quote it: "some"',
    ),
    ("CREATE TABLE t AS SELECT age FROM people", "dpsql reads only"),
    ("DROP TABLE people", "no synthetic table 'people'"),
    ("DROP TABLE a, b", "Write DROP TABLE name"),
    ("SELECT COUNT(*) FROM people JOIN s USING (age)", "people holds people's"),
    ("SELECT COUNT(*) FROM people WHERE age IN (SELECT age FROM s)", "people holds people's"),
    ("CREATE SYNTHETIC TABLE t AS SELECT age FROM s", "public tables alone"),
]


def test_what_is_refused_costs_nothing_and_says_what_to_write(session: Session) -> None:
    session.release("s", "SELECT age FROM people", epsilon=1)
    for statement, words in REFUSED:
        with pytest.raises(dpsql.Error, match=words):
            session.query(statement)
    with pytest.raises(BudgetExceeded, match=r"costs epsilon 11; analyst 'ana' has 9 of 10"):
        session.release("t", "SELECT age FROM people", epsilon=11)
    with pytest.raises(ProgrammingError, match="no name of a table"):
        session.release("a b", "SELECT age FROM people")
    with pytest.raises(ProgrammingError, match="made of a SELECT"):
        session.release("t", "SHOW TABLES")
    assert spent(session) == 1
    assert [row[0] for row in session.tables().rows if row[1] == "released"] == ["s"]


def test_a_quote_reads_nothing_and_batches_mix(session: Session) -> None:
    quote = session.explain("CREATE SYNTHETIC TABLE q WITH (epsilon = 2) AS SELECT age, sex FROM people")
    assert (quote.cost.epsilon, quote.columns[0].mechanism, quote.repeats_left) == (2, "cells", 5)
    assert spent(session) == 0
    session.release("q", "SELECT age, sex FROM people", epsilon=2)
    free, paid = session.query_all(["SELECT COUNT(*) FROM q", "SELECT COUNT(*) FROM people"], epsilon=0.5)
    assert (free.rows, free.cost.epsilon, paid.cost.epsilon) == ([(400,)], 0, 0.5)
    assert session.explain("SELECT COUNT(*) FROM q").cost.epsilon == 0


class Recorded(FixedSampler):
    """Keeps which noise was asked for."""

    def __init__(self) -> None:
        super().__init__("neighbours")
        self.asked: list[tuple[Any, ...]] = []

    def laplace(self, scale: Fraction, size: int) -> Integers:
        self.asked.append(("laplace", scale, size))
        return super().laplace(scale, size)

    def permute_and_flip(self, scores: Sequence[int], exponent: Fraction) -> int:
        self.asked.append(("choice", exponent, len(scores)))
        return super().permute_and_flip(scores, exponent)


@pytest.mark.parametrize("method", ["cells", "marginals"])
def test_neighbours_ask_for_the_same_noise(tmp_path: Path, method: str) -> None:
    """One person more: the same draws in the same order, and charges that differ in nothing."""
    asked = []
    for people in (400, 401):
        home = tmp_path / str(people)
        home.mkdir()
        sampler = Recorded()
        with dpsql.testing.open(build(home, people), sampler=sampler) as proxy:
            session = proxy.session(analyst="ana")
            made = session.release("t", "SELECT age, sex, seen FROM people", epsilon=1, method=method)
            asked.append(([one for one in sampler.asked if one[0] != "order"], made.rows[0][1], made.cost))
    assert asked[0] == asked[1]
    assert len(asked[0][0]) == {"cells": 2, "marginals": 9}[method]  # ages lie on a tree of three levels


METHODS: tuple[tuple[str, str, dict[str, Any]], ...] = (
    ("cells", "SELECT age FROM people", {}),
    ("tree", "SELECT age FROM people", {}),
    ("intervals", "SELECT age FROM people", {}),
    ("mwem", "SELECT age // 10 AS age, sex FROM people", {"workload": "marginals(2), ranges(age)"}),
    ("halfspaces", "SELECT age - 50 AS x, month(seen) - 1 AS y FROM people WHERE age > 80", {}),
    ("marginals", "SELECT age, sex, seen FROM people", {"workload": "marginals(3)"}),
)


def test_every_method_makes_a_table_that_sql_reads(session: Session) -> None:
    for method, sql, given in METHODS:
        made = session.release(f"by_{method}", sql, method=method, epsilon=1, **given)
        assert made.rows[0][1] == method
        assert made.rows[0][3] > 0
        assert rows(session, f"SELECT COUNT(*) FROM by_{method}") == [(made.rows[0][2],)]


def test_alpha_buys_the_least_epsilon_that_proves_it(session: Session) -> None:
    sql = "CREATE SYNTHETIC TABLE fine WITH (alpha = {}) AS SELECT age FROM people"
    rough, fine = (session.explain(sql.format(alpha)) for alpha in (0.2, 0.1))
    assert fine.cost.epsilon == pytest.approx(2 * rough.cost.epsilon, rel=0.2)
    assert any("within 10% of the rows at once" in note for note in fine.notes)


def test_small_databases_are_for_tables_of_one_row_a_unit_replaced(tmp_path: Path) -> None:
    path = build(tmp_path)
    text = path.read_text().replace("neighbours: add_remove", "neighbours: replace_one")
    path.write_text(text.replace("    rows_about: 400", "    rows_about: 400\n    every_unit: true"))
    with dpsql.testing.open(path, sampler=dpsql.testing.Noiseless()) as proxy:
        session = proxy.session(analyst="ana")
        made = session.release("few", "SELECT age FROM people", epsilon=1, method="smalldb", rows=20)
        assert made.rows[0][1:3] == ("smalldb", 400)
        assert rows(session, "SELECT COUNT(*) FROM few") == [(400,)]
        with pytest.raises(UnsupportedQuery, match="proved under replace_one, for a whole table"):
            session.release("part", "SELECT age FROM people WHERE age > 9", epsilon=1, method="smalldb")


@pytest.mark.chance(0, "nothing is drawn: it is explained alone")
def test_every_door_explains_a_table_before_it_is_made(tmp_path: Path, session: Session) -> None:
    sql = "CREATE SYNTHETIC TABLE q WITH (workload = 'ranges(age)') AS SELECT age FROM people"
    quote = session.explain(f"EXPLAIN {sql}", epsilon=2)
    assert quote.cost.epsilon == session.explain(sql, epsilon=2).cost.epsilon == 2
    assert {name for name, _ in quote.columns[0].others} > {"tree", "mwem"}
    assert any("Making it takes up to about" in note for note in quote.notes)
    small = session.explain(sql, epsilon=0.0001)
    assert any("as much as there are rows" in note for note in small.notes)
    rows_of = session.query(f"EXPLAIN {sql}", epsilon=2)
    assert rows_of.rows[0][:3] == ("q", quote.columns[0].mechanism, "epsilon 2")
    with dpsql.connect(build(tmp_path), analyst="ana", epsilon=2) as connection:
        assert connection.execute(f"EXPLAIN {sql}").fetchall() == rows_of.rows
    for given, words in (({"half_width": {"n": 1}}, "alpha"), ({"confidence": 0.9}, "confidence says nothing here")):
        with pytest.raises(ProgrammingError, match=words):
            session.explain(sql, epsilon=2, **given)
    with pytest.raises(ProgrammingError, match="workload is 'marginals"):
        session.query(sql, workload="marginals(1)", epsilon=1)
    assert spent(session) == 0


def test_who_waits_is_told_each_step(session: Session) -> None:
    steps: list[tuple[str, float]] = []
    session.release("p", "SELECT age FROM people", epsilon=1, progress=lambda step, done: steps.append((step, done)))
    assert [step for step, _ in steps] == ["counting rows", "releasing by cells", "keeping it in the ledger"]
    steps.clear()
    sql = "CREATE SYNTHETIC TABLE q WITH (method = 'mwem', epsilon = 1) AS SELECT age FROM people"
    session.query(sql, progress=lambda step, done: steps.append((step, done)))
    rounds = [done for step, done in steps if step == "releasing by mwem"]
    assert len(rounds) > 3
    assert 0.1 == rounds[0] <= rounds[1] < rounds[-1] < 0.9


def test_a_quote_and_an_answer_say_of_which_columns_null_is_not_in_the_table(session: Session) -> None:
    """Rows that are in no cell are not counted, and the proved errors are of those that are."""
    sql = "CREATE SYNTHETIC TABLE lacking WITH (epsilon = 1) AS SELECT {} FROM people"
    said = "Rows whose age or day is NULL, or none of the declared values, are not in the table"
    shown = sql.format("age, sex, day(seen) AS day, age IS NULL AS missing")
    assert sum(note.startswith(said) for note in session.explain(shown).notes) == 1
    assert str(session.query(shown)).count(said) == 1
    assert not any("NULL" in note for note in session.explain(sql.format("sex").replace("lacking", "other")).notes)
    reading = "SELECT COUNT(*) AS n FROM lacking WHERE sex = 'F'"
    for notes in (session.explain(reading).notes, session.query(reading).notes):
        assert sum(note.startswith(f"lacking: {said}") for note in notes) == 1
    counts = "(SELECT sex, COUNT(*) AS n FROM people GROUP BY sex) a"
    for several in (
        f"SELECT a.sex, n, l.age FROM {counts} JOIN lacking l ON a.sex = l.sex LIMIT 2",
        f"SELECT sex, n FROM {counts} WHERE sex IN (SELECT sex FROM lacking)",
        "SELECT COUNT(*) AS n FROM lacking WHERE age > (SELECT AVG(age) FROM people)",
        "SELECT COUNT(*) AS n FROM people UNION ALL SELECT COUNT(*) FROM lacking",
    ):
        answer = session.query(several)
        for notes in (session.explain(several).notes, answer.notes):
            assert sum(note.startswith(f"lacking: {said}") for note in notes) == 1
        assert answer.released_from == ("lacking",)
        assert f"Cost: {cost_text(answer.cost)}" in str(answer)
        assert "It tells of lacking, too: synthetic rows have errors of their own." in str(answer)
        assert "first reading" not in str(answer)
    session.query(sql.format("sex").replace("lacking", "whole"))
    assert not any("NULL" in note for note in session.query("SELECT COUNT(*) AS n FROM whole").notes)


def test_a_table_that_was_kept_without_what_is_left_out_says_nothing_of_it() -> None:
    columns = [("sex", Type.TEXT)]
    for left_out in ((), ("age",)):
        kept = read_stored("t", "f", written(columns, [["F"]], [3], [["F"]], [], left_out))
        assert kept.left_out == left_out
    told = wire.decode(written(columns, [["F"]], [3], [["F"]], []))
    del told["left_out"]
    assert read_stored("t", "f", wire.encode(told)).left_out == ()
