"""The tour of `make demo`: an owner checks a policy, an analyst asks, a budget runs out. Every number is drawn afresh.

    python examples/tour.py POLICY

POLICY is a copy of policies/hospital.yaml beside the database that examples/hospital.py makes, in a directory without
a ledger. The tour goes through the real command line and the Python API, and spends from the budgets of that copy.
"""

from __future__ import annotations

import random
import subprocess
import sys
from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import accumulate
from pathlib import Path
from textwrap import dedent, fill, indent
from typing import Any

import duckdb

import dpsql

__all__ = ["main"]

LEGEND = "\n± is half the width of a 95% confidence interval; [low, high] is such an interval."


@dataclass(frozen=True, slots=True)
class Question:
    """One statement of the tour.

    Attributes:
        title: What it asks, in words.
        sql: How it asks.
        parameters: One value for each ``?``.
        options: Keyword arguments of `dpsql.Session.query`.
    """

    title: str
    sql: str
    parameters: tuple[Any, ...] = ()
    options: dict[str, Any] = field(default_factory=dict)


QUESTIONS = (
    Question("How many patients are there?", "SELECT COUNT(*) AS patients FROM patients"),
    Question(
        "How many of each sex, and how old are they? Two answers share one price.",
        "SELECT sex, COUNT(*) AS n, AVG(age) AS mean_age FROM patients GROUP BY sex",
    ),
    Question(
        "How heavy are they, by decade of age? Groups may be computed; all decades of the declared ages are listed.",
        "SELECT age // 10 * 10 AS decade, AVG(weight) AS mean_kg FROM patients GROUP BY decade",
    ),
    Question(
        "Where do they live? Joined with a public table; the totals of a ROLLUP agree with their parts.",
        """
        SELECT c.state, p.sex, COUNT(*) AS n FROM patients p JOIN cities c ON p.city = c.name
        WHERE c.state IN ('CA', 'NY') GROUP BY ROLLUP (c.state, p.sex)
        """,
    ),
    Question(
        "What share is 65 or older? Arithmetic over noised numbers is free, and its error is worked out.",
        "SELECT 100.0 * COUNT(*) FILTER (WHERE age >= 65) / COUNT(*) AS percent FROM patients",
    ),
    Question(
        "How many visits a month, early in 2025? One patient counts with at most 12 visits, as the policy says.",
        """
        SELECT date_trunc('month', visited_on) AS month, COUNT(*) AS visits FROM visits
        WHERE visited_on BETWEEN DATE '2025-01-01' AND DATE '2025-06-30' GROUP BY month ORDER BY month
        """,
    ),
    Question(
        "What does a visit cost, by sex? The bounds set the noise, few people make it wide.",
        """
        SELECT p.sex, MEDIAN(v.cost) AS median_cost, AVG(v.cost) AS mean_cost
        FROM visits v JOIN patients p USING (patient_id) GROUP BY p.sex
        """,
    ),
    Question(
        "What does a patient cost? A sub-query may add up each person's own rows: its sums are never shown.",
        """
        SELECT AVG(total) AS mean_total, MEDIAN(total) AS median_total
        FROM (SELECT patient_id, SUM(cost) AS total FROM visits GROUP BY patient_id)
        """,
    ),
    Question(
        "Where do most live who had a visit dearer than 5,000? HAVING, ORDER BY and LIMIT see noised counts only.",
        """
        SELECT city, COUNT(*) AS n FROM patients
        WHERE patient_id IN (SELECT patient_id FROM visits WHERE cost > ?)
        GROUP BY city HAVING n > 50 ORDER BY n DESC LIMIT 5
        """,
        parameters=(5000,),
    ),
    Question(
        "Which diagnoses are common? Nobody listed them beforehand, so rare ones stay hidden. That takes some delta.",
        """
        SELECT diagnosis, COUNT(DISTINCT patient_id) AS patients FROM visits
        GROUP BY diagnosis ORDER BY patients DESC LIMIT 6
        """,
        options={"delta": 1e-8},
    ),
)

MADE_OF_IT = """
    SELECT AVG(visits) AS a_month, MAX(visits) - MIN(visits) AS apart FROM (
        SELECT date_trunc('month', visited_on) AS month, COUNT(*) AS visits FROM visits
        WHERE visited_on BETWEEN DATE '2025-01-01' AND DATE '2025-06-30' GROUP BY month)
"""
"""A query over the answer to one of `QUESTIONS`."""

RELEASES = {
    "ages": "CREATE SYNTHETIC TABLE ages AS SELECT age AS x FROM patients",
    "weights": "CREATE SYNTHETIC TABLE weights AS SELECT width_bucket(weight, 2, 250, 248) AS x FROM patients",
}
EXACT = {
    "ages": "SELECT least(age, 110), COUNT(*) FROM patients GROUP BY 1",
    "weights": "SELECT width_bucket(weight, 2, 250, 248), COUNT(*) FROM patients WHERE weight IS NOT NULL GROUP BY 1",
}
"""The same numbers exactly. The tour may look: the patients are made up, and no answer rests on it."""
RANGES = 5_000  # Ranges that are asked of each release.

REFUSED = (
    Question("Look at single rows:", "SELECT * FROM patients LIMIT 5"),
    Question("Misspell a column:", "SELECT AVG(wieght) FROM patients"),
    Question("Average what has no bounds, since some are 0 years old:", "SELECT AVG(weight / age) FROM patients"),
)

SMALL_BUDGET = (
    Question("", "SELECT AVG(age) AS mean_age FROM patients"),
    Question("", "SELECT COUNT(*) AS visits FROM visits"),
    Question("", "SELECT COUNT(*) AS women FROM patients WHERE sex = 'F'"),
)


def main(policy: Path) -> None:
    """Prints the tour.

    Args:
        policy: The policy file; its ledger gets the charges.
    """
    say(
        """
        A hospital wants its patients' records to be useful, and no patient to be found out. Its data lie in a database.
        dpsql stands between them and the analysts: SQL goes in, noised answers with their errors come out, and each
        answer is paid for from a budget that the hospital has set. All data here are made up.
        """
    )

    title("The owner checks whether the data keep the policy's promises")
    say("Only the owner sees this: the shares are exact.")
    command("check", policy)

    title("An analyst, Ana, wants counts that are off by 30 at most, 19 times of 20: what would they cost?")
    say("Nothing is read and nothing is spent.")
    command("explain", policy, "SELECT sex, COUNT(*) AS n FROM patients GROUP BY sex", "--half-width", "n=30")

    title("Ana asks ten questions, each for epsilon 0.5, which the policy sets where the query does not")
    with dpsql.open(policy) as proxy:
        ana = proxy.session(analyst="ana")
        for number, question in enumerate(QUESTIONS, start=1):
            show(f"{number}. {question.title}", question.sql)
            answer = str(ana.query(question.sql, question.parameters, **question.options))
            result(answer if number == 1 else answer.removesuffix(LEGEND))

        title("Pay once, then ask for ever: a table of made-up people, and 10,000 questions")
        released(ana, policy.parent / "hospital.duckdb")

        title("The first question again: the same answer, free. So is all that is made of an answer")
        say("Asking twice does not help to average the noise away.")
        result(str(ana.query(QUESTIONS[0].sql)).removesuffix(LEGEND))
        show("", MADE_OF_IT)
        result(str(ana.query(MADE_OF_IT)).removesuffix(LEGEND))

        title("Three questions that are refused, with what to write instead; they cost nothing")
        for question in REFUSED:
            show(question.title, question.sql)
            result(refusal(ana, question))

        title("Guests share an account of epsilon 1: the third question is too much")
        guest = proxy.session(analyst="guest")
        *granted, last = SMALL_BUDGET
        for question in granted:
            show("", question.sql)
            result(str(guest.query(question.sql)).removesuffix(LEGEND))
        show("", last.sql)
        result(refusal(guest, last))

    title("From the command line: one more question, and what is left")
    command("query", policy, "SELECT AVG(weight) AS mean_kg FROM patients", "--analyst", "ana", "--epsilon", "0.1")
    command("budget", policy)


def released(session: dpsql.Session, data: Path) -> None:
    """Releases ages and weights, and asks many ranges of both.

    Args:
        session: It pays for them.
        data: The database, for the exact numbers.
    """
    for sql in RELEASES.values():
        show("", sql)
        result(str(session.query(sql)).removesuffix(LEGEND))
    chance, errors = random.Random(1), list[int]()
    with duckdb.connect(str(data), read_only=True) as database:
        database.execute("CREATE TEMP MACRO width_bucket(x, low, high, n) AS "
                         "least(greatest(floor((x - low) / (high - low) * n) + 1, 0), n + 1)::INTEGER")  # fmt: skip
        for name, exact in EXACT.items():
            sums = [running(rows) for rows in (
                session.query(f"SELECT x, COUNT(*) AS n FROM {name} WHERE x IS NOT NULL GROUP BY x").rows,
                database.execute(exact).fetchall(),
            )]  # fmt: skip
            for _ in range(RANGES):
                low, high = sorted(chance.sample(range(len(sums[0])), 2))
                errors.append(abs(sums[0][high] - sums[0][low] - sums[1][high] + sums[1][low]))
    worst = max(errors)
    asked = "SELECT COUNT(*) AS n FROM patients WHERE age BETWEEN 20 AND 40"
    one = session.quote([asked], half_width={"n": float(worst)})
    story = (
        f"How many patients have an age, or a weight in kg, between two numbers: {len(errors):,} such questions, asked "
        f"of the two tables, cost nothing. The worst answer is off by {worst:,} people, the middle one by "
        f"{sorted(errors)[len(errors) // 2]:,}. Each asked of the patients, with Laplace noise that keeps within "
        f"{worst:,} 19 times of 20, it would have cost epsilon {one.cost.epsilon:.2g}; all of them together "
        f"{one.cost.epsilon * len(errors):,.0f}."
    )
    print("\n" + fill(story, width=112))


def running(rows: Iterable[tuple[Any, ...]]) -> list[int]:
    """The number of rows with a value below each whole number from 0 to 251, from pairs of a value and a count."""
    held = {row[0]: row[1] for row in rows}
    return list(accumulate((held.get(x, 0) for x in range(251)), initial=0))


def refusal(session: dpsql.Session, question: Question) -> str:
    """The message of a statement that must be refused.

    Raises:
        RuntimeError: If it was answered.
    """
    try:
        answer = session.query(question.sql, question.parameters, **question.options)
    except dpsql.Error as error:
        return fill(f"{type(error).__name__}: {error}", width=108)
    raise RuntimeError(f"not refused: {question.sql}\n{answer}")


def title(text: str) -> None:
    """Prints a heading."""
    print(f"\n\n{text}\n{'═' * len(text)}", flush=True)


def say(text: str) -> None:
    """Prints narration."""
    print(dedent(text).strip())


def show(text: str, sql: str) -> None:
    """Prints a question in words, if there are any, and in SQL."""
    print("\n" + (f"{text}\n" if text else "") + indent(dedent(sql).strip(), "    "))


def result(text: str) -> None:
    """Prints what came back."""
    print("\n" + indent(text, "    "), flush=True)


def command(*arguments: object) -> None:
    """Prints a call of the dpsql command and what it writes.

    Raises:
        CalledProcessError: If it fails.
    """
    words = [f'"{word}"' if " " in str(word) else str(word) for word in ("dpsql", *arguments)]
    print(f"\n    $ {' '.join(words)}", flush=True)
    run = [sys.executable, "-m", "dpsql.cli", *map(str, arguments)]
    result(subprocess.run(run, check=True, text=True, stdout=subprocess.PIPE).stdout.rstrip())


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: python examples/tour.py POLICY")
    main(Path(sys.argv[1]))
