"""Columns whose values are lists, at the doors of Python and of the command line: several quantiles, one price."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterator
from pathlib import Path

import polars
import pyarrow as pa
import pytest
from pyarrow import parquet

import dpsql
from dpsql.answers.writers import to_csv, to_json, to_parquet
from dpsql.plan.types import ListOf, Type
from dpsql.session import Session
from tests.sql.databases import open_proxy

pytestmark = pytest.mark.chance(0, "no noise is drawn")
SQL = "SELECT sex, QUANTILE_CONT(age, [0.25, 0.5, 0.75]) AS q, COUNT(*) AS n FROM patients GROUP BY sex"
PARTS = (0.25, 0.5, 0.75)
EACH = ", ".join(f"QUANTILE_CONT(age, {p}) AS q{p}".replace("q0.", "q") for p in PARTS)


@pytest.fixture(scope="module")
def session(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Session]:
    with open_proxy("hospital", Path(tmp_path_factory.mktemp("lists"))) as proxy:
        yield proxy.session(analyst="ana")


def test_a_list_is_its_columns_gathered_with_their_values_errors_and_price(session: Session) -> None:
    listed = session.query(SQL, epsilon=0.5)
    each = session.query(f"SELECT sex, {EACH}, COUNT(*) AS n FROM patients GROUP BY sex", epsilon=0.5)
    assert listed.columns == ("sex", "q", "n")
    assert listed.types == (Type.TEXT, ListOf(Type.REAL), Type.INTEGER)
    assert listed.rows == [(sex, [a, b, c], n) for sex, a, b, c, n in each.rows]
    assert listed.roles[1].barred
    for level in (0.95, 0.5):
        bars = zip(*(each.interval(name, level) for name in ("q25", "q5", "q75")), strict=True)
        ends = [([low for low, _ in own], [high for _, high in own]) for own in bars]
        assert listed.interval("q", level) == ends
    assert session.explain(SQL, epsilon=0.25).cost == session.explain(SQL.replace("[0.25", "[0.2"), epsilon=0.25).cost
    assert session.query(SQL, epsilon=0.5).replayed


def test_the_quote_names_each_element_and_a_width_may_be_wanted_of_one(session: Session) -> None:
    quote = session.explain(SQL, epsilon=1)
    assert [column.name for column in quote.columns] == ["q[1]", "q[2]", "q[3]", "n"]
    assert session.explain(SQL, half_width={"q[2]": 30}).cost.epsilon > 0
    with pytest.raises(dpsql.ProgrammingError, match=r"q\[1\], q\[2\]"):
        session.explain(SQL, half_width={"q": 30})


def test_a_list_that_names_its_epsilon_has_so_much_for_all_its_elements(session: Session) -> None:
    sql = "SELECT QUANTILE_CONT(age, [0.1, 0.5, 0.9], epsilon => 0.3) FROM patients"
    losses = [column.loss.epsilon for column in session.explain(sql).columns]
    assert len(losses) == 3
    assert 0.3 - 1e-9 < sum(losses) <= 0.3 + 1e-9


def test_an_element_alone_measures_nothing_else_and_a_length_nothing(session: Session) -> None:
    (column,) = session.explain("SELECT APPROX_QUANTILES(age, 100)[OFFSET(50)] AS half FROM patients").columns
    assert column.name == "half"
    free = session.query("SELECT ARRAY_LENGTH(APPROX_QUANTILES(age, 100)) AS n FROM patients")
    assert (free.rows, free.cost.epsilon) == ([(101,)], 0)


def test_a_list_of_one_and_a_number_of_the_same_name_are_told_apart(session: Session) -> None:
    asked = "SELECT QUANTILE_CONT(age, [0.5]) AS q FROM patients", "SELECT QUANTILE_CONT(age, 0.5) AS q FROM patients"
    first, second = (session.query(sql, epsilon=0.125) for sql in asked)
    assert first.rows == [([value],) for (value,) in second.rows]
    assert second.replayed


def test_frames_have_lists_and_their_ends(session: Session) -> None:
    answer = session.query(SQL, epsilon=0.5)
    table = answer.to_arrow(intervals=True)
    assert table.column_names == ["sex", "q", "q_low", "q_high", "n", "n_low", "n_high"]
    assert table.schema.field("q").type == table.schema.field("q_low").type == pa.list_(pa.float64())
    assert [row["q"] for row in table.to_pylist()] == answer["q"]
    assert [(row["q_low"], row["q_high"]) for row in table.to_pylist()] == answer.interval("q")
    assert answer.to_polars()["q"].dtype == polars.List(polars.Float64)
    assert [list(own) for own in answer.to_pandas()["q"]] == answer["q"]
    assert parquet.read_table(pa.BufferReader(to_parquet(answer))).column("q").to_pylist() == answer["q"]
    assert "q ± " in answer.footnote


def test_texts_have_lists_as_json_and_an_error_beside_each_element(session: Session) -> None:
    answer = session.query(SQL, epsilon=0.5)
    read = list(csv.DictReader(to_csv(answer).decode().splitlines()[:4]))
    assert [json.loads(row["q"]) for row in read] == answer["q"]
    document = json.loads(to_json(answer))
    assert (document["columns"][1]["type"], document["rows"][0][1]) == ("real[]", answer["q"][0])
    assert document["columns"][1]["intervals"][0] == list(answer.interval("q")[0])
    for text in (answer.to_text(), answer._repr_html_()):
        assert text.count("[0, 110]") >= 3  # of a group of 11 people nothing is told at such a price


def test_a_report_has_the_list_in_it(session: Session) -> None:
    plain = session.query("SELECT APPROX_QUANTILES(age, 2) AS q FROM patients", epsilon=0.5)
    sql = "SELECT APPROX_QUANTILES(age, 2, report_format => 'JSON') AS q FROM patients"
    answer = session.query(sql, epsilon=0.5)
    assert answer.types == (Type.TEXT,)
    result = json.loads(answer["q"][0])["result"]
    assert result["value"] == plain["q"][0]
    assert result["noise_confidence_interval"]["lower_bound"] == plain.interval("q")[0][0]
    assert answer.ends(0) == []


def test_what_is_described_before_is_what_comes(session: Session) -> None:
    answer, outline = session.query(SQL, epsilon=0.5), session.outline(SQL)
    assert (outline.columns, outline.types, outline.bars) == (answer.columns, answer.types, (False, True, True))
    none = session.query(f"SELECT * FROM ({SQL}) AS t LIMIT 0")
    assert (none.columns, none.types, none.roles) == (answer.columns, answer.types, answer.roles)
    assert none.to_arrow().schema.types == answer.to_arrow().schema.types


ALL = "SELECT 'all', QUANTILE_CONT(age, [0.25, 0.5, 0.75]), COUNT(*) FROM patients"


def test_lists_of_several_answers_keep_their_values_and_errors(session: Session) -> None:
    one, two = (session.query(sql, epsilon=0.5) for sql in (SQL, ALL))
    both = session.query(f"{SQL} UNION ALL {ALL}", epsilon=0.5)
    assert (both.columns, both.types, both.replayed) == (one.columns, one.types, True)
    assert both.rows == [*one.rows, *two.rows]
    for level in (0.95, 0.5):
        assert both.interval("q", level) == [*one.interval("q", level), *two._intervals(1, level)]
    none = session.query(f"SELECT * FROM ({SQL} UNION ALL {ALL}) AS t LIMIT 0", epsilon=0.5)
    assert (none.columns, none.types, none.roles) == (both.columns, both.types, both.roles)


def test_lists_stand_in_joins_and_their_elements_wherever_a_number_does(session: Session) -> None:
    one = session.query(SQL, epsilon=0.5)
    joined = session.query(
        f"SELECT a.sex, b.q, a.q[3] - a.q[1] AS width, b.n AS n FROM ({SQL}) AS a "
        f"JOIN (SELECT sex AS s, q, q[2] AS n FROM ({SQL})) AS b ON a.sex = b.s WHERE len(b.q) = 3 ORDER BY a.sex",
        epsilon=0.5,
    )
    assert joined.types[1] == ListOf(Type.REAL)
    assert joined.rows == [(sex, q, q[2] - q[0], q[1]) for sex, q, _ in sorted(one.rows)]
    assert sorted(joined.interval("q")) == sorted(one.interval("q"))
    chosen = session.query(f"SELECT a.q[2] FROM ({SQL}) AS a JOIN ({SQL}) AS b ON a.q[1] = b.q[1]", epsilon=0.5)
    assert chosen.interval("a.q[2]") == [(None, None)] * len(chosen.rows)  # noise decided which rows there are


def test_columns_of_one_name_are_told_apart_lists_or_not(session: Session) -> None:
    asked = "SELECT COUNT(*) AS n, QUANTILE_CONT(age, [0.5]) AS n, SUM(age) AS n, COUNT(age) AS n_1 FROM patients"
    beside = "SELECT COUNT(*) AS m FROM patients"
    (alone,) = session.query(asked, epsilon=0.5).rows
    answer = session.query(f"SELECT * FROM ({asked}) AS a JOIN ({beside}) AS b ON TRUE", epsilon=0.5)
    assert answer.columns == ("n", "n_1", "n_2", "n_1_1", "m")
    assert answer.rows[0][:4] == alone


def test_a_picture_leaves_lists_out(session: Session) -> None:
    session.query(SQL, epsilon=0.5).plot()
    with pytest.raises(dpsql.ProgrammingError, match="number"):
        session.query("SELECT sex, QUANTILE_CONT(age, [0.25]) AS q FROM patients GROUP BY sex", epsilon=0.1).plot()
