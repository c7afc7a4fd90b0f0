"""A sum over its count is said to be a mean, and AVG to err less; nothing else is."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

import dpsql.testing
from dpsql.session import Session
from tests.sql.databases import build


@pytest.fixture(scope="module")
def session(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Session]:
    with dpsql.testing.open(build("hospital", tmp_path_factory.mktemp("means")), dpsql.testing.Noiseless()) as proxy:
        yield proxy.session(analyst="ana")


def said(session: Session, sql: str) -> list[str]:
    """The notes on means, which stand beside the quote and beside the answer."""
    found = [note for note in session.explain(sql).notes if "is a mean" in note]
    assert [note for note in session.query(sql).caps if "is a mean" in note] == found
    return found


@pytest.mark.parametrize(
    ("sql", "ratio"),
    [
        ("SELECT SUM(age) / COUNT(age) AS m FROM patients", "SUM(age) / COUNT(age)"),
        ("SELECT sex, 1.0 * SUM(age) / COUNT(age) AS m FROM patients GROUP BY sex", "SUM(age) / COUNT(age)"),
        (
            "SELECT SUM(age) AS s, COUNT(age) AS n, CAST(s AS DOUBLE) / NULLIF(n, 0) AS m FROM patients",
            "SUM(age) / COUNT(age)",
        ),
        ("SELECT s / n AS m FROM (SELECT SUM(age) AS s, COUNT(age) AS n FROM patients)", "SUM(age) / COUNT(age)"),
        (
            "SELECT SUM(age) FILTER (WHERE sex = 'F') / COUNT(age) FILTER (WHERE sex = 'F') AS m FROM patients",
            "SUM(age) FILTER (WHERE sex = 'F') / COUNT(age) FILTER (WHERE sex = 'F')",
        ),
    ],
)
def test_a_sum_over_its_count_is_a_mean(session: Session, sql: str, ratio: str) -> None:
    mean = ratio.split(" / ")[0].replace("SUM", "AVG")
    assert said(session, sql) == [f"m: {ratio} is a mean; {mean} says it with less error."]


def test_over_all_rows_it_is_one_where_each_has_a_value(session: Session) -> None:
    (note,) = said(session, "SELECT SUM(age) * 1.0 / COUNT(*) AS m FROM patients")
    assert note == "m: SUM(age) / COUNT(*) is a mean; AVG(age) says it with less error where no row lacks its value."


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT 100 * SUM(CASE WHEN age > 50 THEN 1 ELSE 0 END) / COUNT(*) AS m FROM patients",  # a share
        "SELECT SUM(age) FILTER (WHERE sex = 'F') / COUNT(*) AS m FROM patients",
        "SELECT SUM(cost) / COUNT(DISTINCT patient_id) AS m FROM visits",
        "SELECT SUM(cost) / COUNT(diagnosis) AS m FROM visits",
        "SELECT AVG(age) / COUNT(age) AS m FROM patients",
        "SELECT COUNT(age) / SUM(age) AS m FROM patients",
        "SELECT (SUM(age) + 1) / COUNT(age) AS m FROM patients",
    ],
)
def test_other_ratios_are_no_means(session: Session, sql: str) -> None:
    assert said(session, sql) == []


@pytest.mark.parametrize("around", ["age", "age - 55", "age - 110"])  # from 0 to 110
@pytest.mark.parametrize("mechanism", ["laplace", "gaussian"])
@pytest.mark.parametrize("beside", ["", ", SUM({0}) AS s, COUNT({0}) AS n"])
def test_the_mean_errs_less(session: Session, around: str, mechanism: str, beside: str) -> None:
    widths = []
    for call in ("AVG({0})", "SUM({0}) / COUNT({0})"):
        sql = f"SELECT {call} AS m{beside} FROM patients WHERE age >= 0".format(around)
        columns = session.explain(sql, epsilon=0.5, delta=1e-6, mechanism=mechanism).columns
        widths.append(next(column.half_width for column in columns if column.name == "m"))
    assert widths[0] < 0.7 * widths[1]
