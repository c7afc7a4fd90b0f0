"""Synthetic tables of many rows: made and read where few of these are different, else refused before the charge."""

from __future__ import annotations

from pathlib import Path

import pytest

import dpsql.testing
from dpsql.errors import UnsupportedQuery
from dpsql.testing_samplers import FixedSampler
from tests.unit.releasing.test_creating import build, rows


def enlarged(folder: Path, rows_about: int) -> Path:
    """The policy, where the owner guesses more people."""
    policy = build(folder)
    policy.write_text(policy.read_text().replace("rows_about: 400", f"rows_about: {rows_about}"))
    return policy


@pytest.mark.chance(0, "noise that is always the same")
def test_a_table_of_many_rows_is_made_and_read(tmp_path: Path) -> None:
    with dpsql.testing.open(enlarged(tmp_path, 20_000_000), FixedSampler("many")) as proxy:
        session = proxy.session(analyst="ana")
        session.query("CREATE SYNTHETIC TABLE t WITH (epsilon = 1, method = 'cells') AS SELECT age, sex FROM people")
        ((many,),) = rows(session, "SELECT COUNT(*) FROM t")
        assert many == sum(n for _, n in rows(session, "SELECT age, COUNT(*) FROM t GROUP BY age")) > 0


@pytest.mark.chance(0, "no noise is drawn")
@pytest.mark.parametrize(
    ("rows_about", "columns", "why"),
    [
        (2_000_000, "age, sex, seen, age % 50 AS half, age % 40 AS part", "2,000,000 rows may be different"),
        (25_000_001, "age, sex", "its rows have about 50,000,002 values"),
    ],
)
def test_what_would_be_too_large_is_refused_before_it_is_made(
    tmp_path: Path, rows_about: int, columns: str, why: str
) -> None:
    with dpsql.testing.open(enlarged(tmp_path, rows_about)) as proxy:
        session = proxy.session(analyst="ana")
        with pytest.raises(UnsupportedQuery, match=why):
            session.query(f"CREATE SYNTHETIC TABLE t WITH (epsilon = 1) AS SELECT {columns} FROM people")
        assert session.budget().spent.epsilon == 0
