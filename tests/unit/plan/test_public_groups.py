"""PUBLIC_GROUPS means the same in OPTIONS, as a keyword argument and by SET."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

import dpsql.testing
from dpsql.errors import ProgrammingError, UnsupportedQuery
from dpsql.session import Session
from dpsql.testing import FixedSampler
from tests.sql.databases import build

JOINED = "state, COUNT(*) AS patients FROM patients RIGHT JOIN cities ON city = name GROUP BY state"
ASKED = f"SELECT {JOINED}"
WRITTEN = f"SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS (group_selection_strategy = PUBLIC_GROUPS) {JOINED}"


@pytest.fixture
def session(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Session]:
    with dpsql.testing.open(build("hospital", tmp_path_factory.mktemp("lists")), FixedSampler("lists")) as proxy:
        yield proxy.session(analyst="ana")


def test_a_keyword_lists_the_groups_as_OPTIONS_do(session: Session) -> None:
    with pytest.raises(UnsupportedQuery, match="PUBLIC_GROUPS"):
        session.query(ASKED)
    written = session.query(WRITTEN)
    asked = session.query(ASKED, group_selection_strategy="public_groups")
    assert (asked.rows, asked.replayed) == (written.rows, True)
    for text in (ASKED, f"EXPLAIN {ASKED}"):
        quote = session.explain(text, group_selection_strategy="PUBLIC_GROUPS")
        assert quote.cost == session.explain(WRITTEN).cost
    (again,) = session.query_all([ASKED], group_selection_strategy="PUBLIC_GROUPS")
    assert again.replayed
    assert session.price(ASKED, group_selection_strategy="PUBLIC_GROUPS").epsilon == 0
    with pytest.raises(UnsupportedQuery, match="PUBLIC_GROUPS"):  # what was planned with it is not what is asked now
        session.query(ASKED)
    wrapped = session.query(f"SELECT * FROM ({ASKED}) AS t LIMIT 3", group_selection_strategy="PUBLIC_GROUPS")
    assert wrapped.replayed and len(wrapped.rows) == 3


def test_SET_lists_the_groups_too_until_it_is_reset(session: Session) -> None:
    session.query("SET group_selection_strategy = PUBLIC_GROUPS")
    assert session.outline(ASKED).columns == ("state", "patients")
    assert not session.query(ASKED).replayed
    assert session.query(WRITTEN).replayed
    assert session.query("SELECT COUNT(*) AS n FROM patients LEFT JOIN cities ON city = name").rows
    session.query("RESET group_selection_strategy")
    with pytest.raises(UnsupportedQuery, match="PUBLIC_GROUPS"):
        session.outline(ASKED)


def test_another_strategy_lists_nothing_and_two_are_refused(session: Session) -> None:
    with pytest.raises(UnsupportedQuery, match="a public table may not keep its rows"):
        session.query(ASKED, group_selection_strategy="LAPLACE_THRESHOLD")
    with pytest.raises(ProgrammingError, match="group_selection_strategy is LAPLACE_THRESHOLD in the call"):
        session.query(WRITTEN, group_selection_strategy="LAPLACE_THRESHOLD")


def test_answers_that_are_joined_are_asked_as_without_it(session: Session) -> None:
    each = "(SELECT sex, COUNT(*) AS n FROM patients{} GROUP BY sex)"
    sql = f"SELECT a.sex, b.n FROM {each.format('')} AS a LEFT JOIN {each.format(' WHERE age > 3')} AS b USING (sex)"
    assert session.explain(sql, group_selection_strategy="PUBLIC_GROUPS").cost == session.explain(sql).cost
