"""The owner is told which guesses the data belie, and never a value of a row."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import pytest

from dpsql.owner.checking.guess_report import guess_findings
from dpsql.policy import load_policy
from tests.connected import connected

POLICY = """
version: 1
name: guesses
engine: {{kind: duckdb, database: guesses.duckdb}}
neighbours: add_remove
budget:
  ledger: guesses.ledger.db
  composition: basic
  total: {{epsilon: 1, delta: 0}}
  analysts: {{ana: {{epsilon: 1, delta: 0}}}}
  per_query: {{epsilon: 0.5}}
tables:
  people:
    unit: person
    rows_per_unit: 2
    {rows}
    columns:
      pay: {{type: integer, bounds: [0, 1000]{guess}}}
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """300 people with pay from 0 to 299, one of them with 100 rows more, of which the cap leaves one."""
    home: Path = tmp_path_factory.mktemp("guesses")
    with connected(home / "guesses.duckdb") as data:
        data.execute("CREATE TABLE people AS SELECT i AS person, i AS pay FROM range(300) AS t(i)")
        data.execute("INSERT INTO people SELECT 150, 150 FROM range(100)")
    return home


def found(
    folder: Path, rows: str = "rows_about: 301", guess: str = ""
) -> list[tuple[str, int | None, Fraction | None]]:
    (folder / "guesses.yaml").write_text(POLICY.format(rows=rows, guess=guess))
    return [
        (finding.what, finding.count, finding.share) for finding in guess_findings(load_policy(folder / "guesses.yaml"))
    ]


@pytest.mark.parametrize("rows", ["rows_about: 101", "rows_about: 902", "rows_about: 301"])
def test_a_number_of_rows_within_three_times_is_good_enough(folder: Path, rows: str) -> None:
    assert found(folder, rows) == []


@pytest.mark.parametrize(("rows", "about"), [("rows_about: 100", 100), ("rows_about: 903", 903), ("", 10_000)])
def test_a_number_of_rows_that_is_off_by_three_times_is_told_with_how_to_find_one(
    folder: Path, rows: str, about: int
) -> None:
    ((what, count, share),) = found(folder, rows)
    assert what.startswith(f"rows are used, where rows_about is {about}:")
    assert "301" not in what  # the policy is public: what was counted may not be written there
    assert what.endswith("dpsql advise --write finds one privately.")
    assert (count, share) == (301, None)


def test_of_an_empty_table_a_number_of_rows_is_told_too(tmp_path: Path) -> None:
    with connected(tmp_path / "guesses.duckdb") as data:
        data.execute("CREATE TABLE people (person INTEGER, pay INTEGER)")
    ((what, count, _),) = found(tmp_path, "rows_about: 301")
    assert (what.startswith("rows are used, where rows_about is 301:"), count) == (True, 0)
    assert found(tmp_path, "rows_about: 1") == []


@pytest.mark.every(2)
@pytest.mark.parametrize(
    ("guess", "words", "count"),
    [
        (", centre: 150, spread: 75", None, None),
        (", centre: 1000, spread: 10", "further than 3 spreads", 400),
        (", centre: 150, spread: 1000", "within a third of the spread", 400),
        (", scale: [10, 300]", None, None),
        (", scale: [1000, 3000]", "less than the least", None),
        (", scale: [1, 5]", "more than the largest", None),
    ],
)
def test_a_place_or_a_width_that_most_values_belie_is_told(
    folder: Path, guess: str, words: str | None, count: int | None
) -> None:
    findings = found(folder, guess=guess)
    assert len(findings) == (words is not None)
    for what, number, share in findings:
        assert words is not None
        assert words in what
        assert number == count
        assert share is None or share == Fraction(number or 0, 400)


@pytest.mark.parametrize(("spread", "told"), [(60, []), (3000, ["within a third of the spread"])])
def test_of_a_column_of_mostly_0_the_spread_is_that_of_the_others(tmp_path: Path, spread: int, told: list[str]) -> None:
    with connected(tmp_path / "guesses.duckdb") as data:
        data.execute(
            "CREATE TABLE people AS SELECT i AS person, CASE WHEN i < 30 THEN 50 + i ELSE 0 END AS pay "
            "FROM range(301) AS t(i)"
        )
    said = [what for what, _, _ in found(tmp_path, guess=f", centre: 0, spread: {spread}")]
    assert len(said) == len(told) and all(word in what for word, what in zip(told, said, strict=True))


def test_of_whole_numbers_that_are_mostly_one_the_spread_is_that_of_the_others(tmp_path: Path) -> None:
    """Six of ten have 12, beside a centre of 12.3: they lie within a third of the spread, as near as they can."""
    with connected(tmp_path / "guesses.duckdb") as data:
        data.execute(
            "CREATE TABLE people AS SELECT i AS person, CASE WHEN i % 10 < 6 THEN 12 ELSE 8 + i % 10 END AS pay "
            "FROM range(300) AS t(i)"
        )
    assert found(tmp_path, "rows_about: 300", ", centre: 12.3, spread: 2.4") == []
    assert len(found(tmp_path, "rows_about: 300", ", centre: 13.6, spread: 5")) == 1
