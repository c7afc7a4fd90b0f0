"""What is asked of a policy: of each mechanism, of every private table, under caps and chains."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

from dpsql.audit.made_up import MadeUp
from dpsql.audit.questions import questions
from dpsql.audit.stand_in import stand_in
from dpsql.mechanisms import MECHANISMS
from dpsql.mechanisms.releases.table import METHODS
from dpsql.sql.parse import parse
from tests.unit.audit.policies import SMALL, WIDE, loaded


def test_every_mechanism_is_asked_for_something(tmp_path: Path) -> None:
    made = [MadeUp(stand_in(loaded(tmp_path, text))) for text in (SMALL, WIDE)]
    asked = [one for own in made for one in questions(own, Fraction(1))]
    methods = set(METHODS) - {"mbi"}  # the extra `synthetic`
    assert {one.mechanism for one in asked} == {own.name for own in MECHANISMS} - {"public"} | methods
    for one in asked:
        parse(one.template.sql)
        if one.mechanism not in methods:
            assert one.template.options.get("mechanism", "metric") == one.mechanism


def test_synthetic_tables_have_names_of_their_own_and_few_cells(tmp_path: Path) -> None:
    made = MadeUp(stand_in(loaded(tmp_path, WIDE)))
    texts = [one.template.sql for one in questions(made, Fraction(3, 2)) if one.mechanism in METHODS]
    assert len({text.split()[3] for text in texts}) == len(texts) > 10
    cut = "WITH (method = 'cells', epsilon = 1.5) AS SELECT width_bucket(age, -3, 110, 6) AS x0 FROM people"
    assert any(text.endswith(cut) for text in texts)


def test_functions_of_whole_tables_are_asked_of_points(tmp_path: Path) -> None:
    texts = [one.template.sql for one in questions(MadeUp(stand_in(loaded(tmp_path, SMALL))), Fraction(1))]
    points = "(SELECT cost AS x, cost AS y FROM visits)"
    assert f"SELECT * FROM dp_kmeans({points}, k => 2, bound => 200, scale => (0.2, 200))" in texts
    assert f"SELECT * FROM dp_covariance({points})" in texts


def test_every_private_table_is_asked_about_and_joined(tmp_path: Path) -> None:
    texts = [one.template.sql for one in questions(MadeUp(stand_in(loaded(tmp_path, WIDE))), Fraction(1))]
    for table in ("people", "orders", "accounts"):
        assert f"SELECT COUNT(*) FROM {table}" in texts
    assert "SELECT COUNT(*) FROM orders AS a JOIN people AS b ON a.person = b.person" in texts
    assert not any("towns" in text for text in texts)


def test_a_name_that_sql_keeps_for_itself_is_quoted(tmp_path: Path) -> None:
    text = SMALL.replace("cost:", "select:")
    texts = [one.template.sql for one in questions(MadeUp(stand_in(loaded(tmp_path, text))), Fraction(1))]
    assert 'SELECT SUM("select") FROM visits' in texts
