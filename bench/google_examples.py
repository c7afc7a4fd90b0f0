"""Google's public examples of differential privacy in SQL, asked of the proxy.

    python bench/google_examples.py [--only-print]

The restaurant's day and week, the farm's carrots and the fruit are those of github.com/google/differential-privacy
(examples/zetasql, examples/cc, cc/postgres), the professors those of GoogleSQL's reference. Their statements stand in
bench/google_examples.sql: names of columns are ours, functions DuckDB's, the clause and its arguments GoogleSQL's. The
people are made up here, more of them than there. Writes docs/google_examples.md.
"""

from __future__ import annotations

import argparse
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import asked
import duckdb
from asked import ROUNDS, Result, outcomes, refusals, statements
from page import ROOT, circumstances

from dpsql.privacy.sampling import Sampler

QUERIES = Path(__file__).with_name("google_examples.sql")
PAGE = ROOT / "docs" / "google_examples.md"
POLICY = ROOT / "policies" / "google_examples.yaml"

INTRODUCTION = """# Google's examples

The public examples of Google's differential privacy in SQL, asked of the proxy: a restaurant's guests (R) and a farm's
carrots (C) and who ate which fruit (F), from
[google/differential-privacy](https://github.com/google/differential-privacy), and what professors asked the store for
(P), from the reference of GoogleSQL. The statements stand in
[bench/google_examples.sql](../bench/google_examples.sql), at the prices that the examples name; the people are made up
([policies/google_examples.yaml](../policies/google_examples.yaml)).

- **answered**: the error is |answer - truth| / |truth|, for each column its median over the groups. The truth is
  DuckDB's answer over all rows, also those that `max_groups_contributed` leaves out.
- **refused**: the message stands below, with the statement that it leads to.
- **tuned**: the same question with limits on what one person may contribute, so that it needs less noise."""

# Every "random" number is a hash of the row's own: the same rows on every machine.
DATA = """
CREATE MACRO u(i, salt) AS (hash(salt || i) % 1000003::UBIGINT)::DOUBLE / 1000003;

CREATE TABLE day_data AS
SELECT i AS visitor_id,
       TIMESTAMP '2020-01-01 09:00:00'
           + to_minutes((if(u(i, 'meal') < 0.5, 120, 480) + 200 * u(i, 'at'))::INTEGER) AS entered,
       (10 + 45 * u(i, 'minutes'))::INTEGER AS minutes_spent, (5 + 40 * u(i, 'euros'))::INTEGER AS euros_spent
FROM range(1, 1001) AS numbers(i);

CREATE TABLE week_data AS
SELECT i AS visitor_id, days[1 + j] AS day, (10 + 170 * pow(u(10 * i + j, 'minutes'), 2))::INTEGER AS minutes_spent,
       (5 + 45 * u(10 * i + j, 'euros'))::INTEGER AS euros_spent
FROM range(1, 1001) AS numbers(i), range(7) AS week(j),
     (SELECT ['Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat', 'Sun'] AS days)
WHERE u(10 * i + j, 'comes') < 0.2 + 0.06 * j;

CREATE TABLE professors AS
SELECT i AS id, ['pencil', 'pen', 'scissors', 'globe'][1 + floor(4 * pow(u(10 * i + j, 'item'), 2))::INTEGER] AS item,
       (100 * pow(u(10 * i + j, 'quantity'), 2))::INTEGER AS quantity
FROM range(1, 401) AS numbers(i), range(6) AS requests(j) WHERE u(10 * i + j, 'asks') < 0.6;

CREATE TABLE carrots AS
SELECT i AS animal_id, (120 * u(i, 'carrots'))::INTEGER AS carrots_eaten FROM range(1, 201) AS numbers(i);

CREATE TABLE fruit_eaten AS
SELECT i AS uid, known[1 + floor(6 * pow(u(100 * i + j, 'fruit'), 1.5))::INTEGER] AS fruit
FROM range(1, 2001) AS numbers(i), range(12) AS meals(j),
     (SELECT ['apple', 'banana', 'pear', 'cherry', 'plum', 'durian'] AS known)
WHERE u(100 * i + j, 'eats') < 0.5;
"""


def build(file: Path) -> None:
    """Writes the database."""
    with duckdb.connect(str(file)) as connection:
        connection.execute(DATA)


def results(folder: Path, sampler: Sampler | None = None, rounds: int = ROUNDS) -> Iterator[Result]:
    """What becomes of every statement, in an empty folder; with real noise, unless a sampler is given."""
    database = folder / "google_examples.duckdb"
    build(database)
    shutil.copy(POLICY, folder)
    with duckdb.connect(str(database), read_only=True) as raw:
        yield from asked.results(folder / POLICY.name, raw, statements(QUERIES), sampler, rounds)


def main() -> None:
    """Build, ask, write."""
    arguments = argparse.ArgumentParser(description="Asks Google's examples, and writes docs/google_examples.md.")
    arguments.add_argument("--only-print", action="store_true", help="leave the page as it is")
    chosen = arguments.parse_args()
    with tempfile.TemporaryDirectory(prefix="google-") as scratch:
        found = list(results(Path(scratch)))
    lines = [*INTRODUCTION.splitlines(), "", circumstances(), "", *outcomes(found), "", *refusals(found)]
    text = "\n".join(lines).rstrip("\n") + "\n"
    print(text)
    if not chosen.only_print:
        PAGE.write_text(text)


if __name__ == "__main__":
    main()
