"""What is asked of a policy: of each mechanism, of every private table, under caps and chains."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

from dpsql.audit.made_up import MadeUp
from dpsql.audit.questions import questions
from dpsql.audit.stand_in import stand_in
from dpsql.mechanisms import MECHANISMS
from dpsql.sql.parse import parse
from tests.unit.audit.policies import SMALL, WIDE, loaded


def test_every_mechanism_is_asked_for_something(tmp_path: Path) -> None:
    made = [MadeUp(stand_in(loaded(tmp_path, text))) for text in (SMALL, WIDE)]
    asked = [one for own in made for one in questions(own, Fraction(1))]
    assert {one.mechanism for one in asked} == {own.name for own in MECHANISMS} - {"public"}
    for one in asked:
        parse(one.template.sql)
        assert one.template.options.get("mechanism", "metric") == one.mechanism


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
