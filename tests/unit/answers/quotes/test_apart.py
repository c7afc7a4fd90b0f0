"""Columns of PIVOT, or of FILTER by the values of one column, are told of GROUP BY."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.sql.databases import open_proxy

APART = "each takes its part of the price, though no row is in two of them. GROUP BY {} asks for the same as rows"


@pytest.mark.parametrize(
    ("sql", "note"),
    [
        ("PIVOT patients ON sex USING COUNT(*) GROUP BY consent", f"F, M, X: {APART.format('consent, sex')}"),
        (
            "PIVOT (SELECT sex, age FROM patients) ON sex USING COUNT(*) AS n, AVG(age) AS a",
            f"F_n, M_n, X_n: {APART.format('sex')}",
        ),
        (
            "SELECT " + ", ".join(f"COUNT(*) FILTER (WHERE sex = '{s}' AND age > 50) AS {s}" for s in "FMX")
            + ", COUNT(*) AS n FROM patients",
            f"F, M, X: {APART.format('sex')}",
        ),
        ("PIVOT patients ON sex IN ('F', 'M') USING COUNT(*) GROUP BY consent", None),
        ("SELECT sex, COUNT(*) FILTER (WHERE age > 50), COUNT(*), AVG(age) FROM patients GROUP BY sex", None),
        (
            "SELECT COUNT(*) FILTER (WHERE sex = 'F'), COUNT(*) FILTER (WHERE sex = 'M' AND age > 9), "
            "AVG(age) FILTER (WHERE sex = 'X') FROM patients",
            None,
        ),
    ],
)  # fmt: skip
def test_columns_of_different_rows_are_told_of_group_by(sql: str, note: str | None, tmp_path: Path) -> None:
    with open_proxy("hospital", tmp_path) as proxy:
        session = proxy.session(analyst="corpus")
        notes = [own for own in session.explain(sql).notes if "though no row" in own]
        assert any(own.startswith(note) for own in notes) if note else not notes
        if note:
            assert notes[0].partition(": ")[2] in str(session.query(sql))
