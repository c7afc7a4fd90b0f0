"""GoogleSQL's public compliance cases for differential privacy, asked of the proxy: how many are met.

    python bench/google_cases.py [--only-print]

The cases are those of github.com/google/googlesql, googlesql/compliance/testdata/differential_privacy.test, at commit
b93adf2d1f (Apache License 2.0). bench/google_cases.sql restates them: tables and options are ours, an epsilon of 1e20
is a test sampler without noise; where there are no bounds, the policy's are wide; and
a mechanism is named for means, variances and lists of quantiles that else would be located, or capped, among three
people. Writes docs/google_cases.md.
"""

from __future__ import annotations

import argparse
import json
import re
import shutil
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import duckdb
from page import ROOT

import dpsql.testing

CASES = Path(__file__).with_name("google_cases.sql")
PAGE = ROOT / "docs" / "google_cases.md"
POLICY = ROOT / "policies" / "google_cases.yaml"
DP = "OPTIONS (epsilon = 100)"  # What {dp} stands for.
LAPLACE = "OPTIONS (epsilon = 100, mechanism = 'laplace')"  # What {laplace} stands for.
NEAR = 0.02  # How far a number may lie from theirs, in the column's unit: our reals are whole tenths.

INTRODUCTION = """# GoogleSQL's compliance cases

The public cases with which GoogleSQL tests its differential privacy, asked of the proxy without noise, over tables of
the same rows: what people write for BigQuery, and whether it means the same here. They are restated in
[bench/google_cases.sql](../bench/google_cases.sql) from
[google/googlesql](https://github.com/google/googlesql), `compliance/testdata/differential_privacy.test` (Apache
License 2.0). `python bench/google_cases.py` writes this page.

- **met**: the same answer, or refused there and here.
- **otherwise**: answered, but not as there; the reason stands beside it.
- **refused**: with the message beside it.

What is not met is kept on purpose: it would be met only where an answer told who is in the data, a group were hidden
that every database has, one release were sold twice, or one name meant two things."""

UNITS = "AVG is the mean of rows; with contribution_bounds_per_group it is that of the units' means, as there."
EMPTY = (
    "There an error tells that there are no rows. Here that would tell who is there, so the answer is noise around 0."
)
OTHERWISE = {
    "avg_int64_implicit_bounds_multi_user_with_report_json": UNITS,
    "avg_int64_implicit_bounds_multi_user_with_report_proto": UNITS,
    **dict.fromkeys(
        (
            "basic_sum_int64_implicit_bounds_multi_user_with_report_json_zero_rows",
            "avg_int64_implicit_bounds_multi_user_with_report_json_zero_rows",
            "basic_count_int64_implicit_bounds_multi_user_with_report_json_zero_rows",
            "basic_sum_int64_implicit_bounds_multi_user_with_report_proto_zero_rows",
            "avg_int64_implicit_bounds_multi_user_with_report_proto_zero_rows",
            "basic_count_int64_implicit_bounds_multi_user_with_report_proto_zero_rows",
            "approx_bounds_on_no_data_returns_null",
        ),
        EMPTY,
    ),
    "min_privacy_units_per_group_is_one": "A delta of 0.99 hides groups of one unit; theirs is 1, which hides nothing.",
    "verify_randomness_of_var_pop_implicit_bounds": "The same sub-query twice is one release, bought once: new noise "
    "for each would cost twice as much, and tell no more than one of them at the whole price.",
    "basic_delta_not_set": "One group needs no delta, so none must be given.",
    "basic_avg_double_implicit_bounds_multi_user": UNITS,
    "delta_eliminates_row": "A statement without GROUP BY has one group, which is there in every database.",
    "delta_eliminates_row_for_avg": "The same.",
    **dict.fromkeys(
        (
            "approx_quantiles_double_explicit_bounds_multi_user_with_report_json",
            "approx_quantiles_int64_explicit_bounds_multi_user_with_report_json",
            "approx_quantiles_double_explicit_bounds_multi_user_with_report_proto",
            "approx_quantiles_int64_explicit_bounds_multi_user_with_report_proto",
        ),
        "They are the quantiles of the rows, those of QUANTILE_DISC; there they are points of a tree.",
    ),
    **dict.fromkeys(
        (
            "verify_non_randomness_of_percentile_cont_implicit_bounds",
            "verify_non_randomness_of_percentile_cont_implicit_bounds_2",
        ),
        "Rows are private without the clause, too, and a quantile is a value of the grid, not one between two rows.",
    ),
    "per_aggregation_epsilon": "A delta of 0.99 hides groups of one unit, and the variance of one row is 0.",
}
"""Why an answer is another than theirs, where that is on purpose."""

DATA = """
CREATE TABLE one AS SELECT * FROM (VALUES (1, NULL, NULL), (2, 2, 1.5), (3, 1, 1.5), (4, NULL, 2.5), (5, 1, 3.5),
    (6, 2, NULL), (7, 1, -0.5), (8, 4, -1.5), (9, 2, 1.5), (10, 3, 2.5)) AS t(note, int64_val, double_val);
ALTER TABLE one ADD COLUMN uid INTEGER;
UPDATE one SET uid = note;
CREATE TABLE two AS SELECT * REPLACE ([1, 2, 3, 1, 2, 2, 1, 2, 3, 2][note] AS uid) FROM one;
CREATE TABLE three AS SELECT * REPLACE ([1, 2, 1, 1, 1, 2, 1, 1, 3, 1][note] AS uid) FROM one;
CREATE TABLE four AS SELECT * REPLACE (NULL::INTEGER AS int64_val, NULL::DOUBLE AS double_val) FROM three
    WHERE note <= 7;
CREATE TABLE listed AS SELECT * FROM (VALUES (0), (1), (3), (4), (1234), (1)) AS t(int64_val);
"""


@dataclass(frozen=True)
class Case:
    """One case: its name there, the statement here, and what comes of it there, as text."""

    name: str
    sql: str
    wanted: str


@dataclass(frozen=True)
class Outcome:
    """What came of a case here: ``met``, ``otherwise`` or ``refused``, and why."""

    case: Case
    came: str
    why: str


def cases() -> list[Case]:
    """All cases, in the order of the file."""
    found = []
    for block in CASES.read_text().strip().split("\n\n"):
        head, statement = block.split("\n", 1)
        name, _, wanted = head.removeprefix("-- ").partition(" => ")
        inside = statement.replace("{dp}", f"SELECT WITH DIFFERENTIAL_PRIVACY {DP}")
        inside = inside.replace("{laplace}", f"SELECT WITH DIFFERENTIAL_PRIVACY {LAPLACE}")
        whole = f"SELECT WITH DIFFERENTIAL_PRIVACY {inside}" if inside.startswith("OPTIONS") else inside
        found.append(Case(name, whole, wanted))
    return found


def build(file: Path) -> None:
    """Writes the database."""
    with duckdb.connect(str(file)) as connection:
        connection.execute(DATA)
        for table in ("one", "two", "three", "four"):
            connection.execute(f"ALTER TABLE {table} ADD COLUMN int64_key INTEGER")
            connection.execute(f"UPDATE {table} SET int64_key = int64_val")
            connection.execute(f"ALTER TABLE {table} ALTER double_val TYPE DOUBLE")


def outcomes(folder: Path) -> Iterator[Outcome]:
    """What comes of every case, in an empty folder."""
    build(folder / "google_cases.duckdb")
    shutil.copy(POLICY, folder)
    with dpsql.testing.open(folder / POLICY.name, dpsql.testing.Noiseless()) as proxy:
        session = proxy.session(analyst="cases")
        for case in cases():
            try:
                rows = session.query(case.sql).rows
            except (dpsql.UnsupportedQuery, dpsql.ProgrammingError) as refusal:
                met = case.wanted == "refused"
                yield Outcome(case, "met" if met else "refused", " ".join(str(refusal).split()))
                continue
            if same(rows, case.wanted):
                yield Outcome(case, "met", "")
            else:
                why = OTHERWISE.get(case.name, "")
                yield Outcome(case, "otherwise", f"{why} Here: {shown(rows)}; there: {case.wanted}.".strip())


def same(rows: list[tuple[Any, ...]], wanted: str) -> bool:
    """Whether rows in any order are those that a case names."""
    if wanted == "no rows":
        return not rows
    theirs = [[word.strip() for word in re.split(r",(?![^\[]*\])", row)] for row in wanted.split(";")]
    ours = [list(row) for row in rows]
    for row in theirs:
        match = next((own for own in ours if len(own) == len(row) and all(map(near, own, row))), None)
        if match is None:
            return False
        ours.remove(match)
    return not ours


def report(text: str) -> dict[str, Any]:
    """A report as JSON has it."""
    if text.startswith("{"):
        return dict(json.loads(text)["result"])

    def numbers(field: str) -> list[float]:
        return [float(number) for number in re.findall(rf"{field}: (\S+)", text)]

    values, low, high = numbers("(?:int|float)_value"), numbers("lower_bound"), numbers("upper_bound")
    between = {"lower_bound": low, "upper_bound": high}
    return {"value": values if text.startswith("values") else values[0], "noise_confidence_interval": between}


def near(value: Any, word: str) -> bool:
    """Whether a value is what a word says."""
    if value is None or isinstance(value, bool):
        return str(value) == word
    if word.startswith("value "):
        word = word.removeprefix("value ")
        value = report(value)["value"]
    if isinstance(value, list):
        words = word.strip("[]").split(",")
        return len(words) == len(value) and all(map(near, value, words))
    if word == "its interval":
        ends = report(value)
        value, between = ends["value"], ends["noise_confidence_interval"]
        limits = zip(value, between["lower_bound"], between["upper_bound"], strict=True)
        return all(low <= own <= high for own, low, high in limits)
    try:
        return abs(float(value) - float(word)) <= NEAR
    except ValueError:
        return False


def shown(rows: list[tuple[Any, ...]]) -> str:
    """Rows as the cases write them."""
    texts = ("; ".join(", ".join(f"{v:g}" if isinstance(v, float) else str(v) for v in row) for row in rows[:6]),)
    return texts[0] or "no rows"


def page(found: list[Outcome]) -> str:
    """The page's text."""
    counts = {came: sum(one.came == came for one in found) for came in ("met", "otherwise", "refused")}
    lines = [*INTRODUCTION.splitlines(), ""]
    lines += [f"Of {len(found)} cases {', '.join(f'{n} are {came}' for came, n in counts.items())}.", ""]
    lines += ["| case | came of it | why |", "| --- | --- | --- |"]
    for one in found:
        why = "" if one.came == "met" else one.why.replace("|", "/")
        lines.append(f"| {one.case.name} | {one.came} | {why} |")
    return "\n".join(lines) + "\n"


def main() -> None:
    """Build, ask, write."""
    arguments = argparse.ArgumentParser(description="Asks GoogleSQL's cases, and writes docs/google_cases.md.")
    arguments.add_argument("--only-print", action="store_true", help="leave the page as it is")
    chosen = arguments.parse_args()
    with tempfile.TemporaryDirectory(prefix="google-") as scratch:
        text = page(list(outcomes(Path(scratch))))
    print(text)
    if not chosen.only_print:
        PAGE.write_text(text)


if __name__ == "__main__":
    main()
