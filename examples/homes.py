"""Where patients live, asked under a metric and under plain epsilon-DP, side by side. Every number is drawn afresh.

    python examples/hospital.py DIRECTORY/hospital.duckdb
    cp policies/homes.yaml DIRECTORY
    python examples/homes.py DIRECTORY/homes.yaml

The policy's metric hides a move between two towns by 0.001 a kilometre: towns that are next to each other are as good
as indistinguishable, the ends of the country are not. Plain noise can hide all moves as well as the metric hides that
between the closest towns, or as badly as that between towns 500 km apart. The metric does both at once: each pair of
towns gets what it is worth, and answers that vary slowly over the map need little noise.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

import dpsql
from dpsql.answers.answer import Answer
from dpsql.answers.shown.screen import number, text_table
from dpsql.session import Session

__all__ = ["main", "told"]

QUESTIONS = {
    "average elevation of a home, in metres": """
        SELECT AVG(c.elevation_m) AS value FROM patients p JOIN cities c ON p.city = c.name
    """,
    "the same for patients of 65 and older": """
        SELECT AVG(c.elevation_m) AS value FROM patients p JOIN cities c ON p.city = c.name WHERE p.age >= 65
    """,
    "kilometres from the middle of the country": """
        SELECT AVG(sqrt(c.x_km * c.x_km + c.y_km * c.y_km)) AS value FROM patients p JOIN cities c ON p.city = c.name
    """,
    "patients in California": """
        SELECT COUNT(*) AS value FROM patients p JOIN cities c ON p.city = c.name WHERE c.state = 'CA'
    """,
    "patients west of the 110th meridian": """
        SELECT COUNT(*) AS value FROM patients p JOIN cities c ON p.city = c.name WHERE c.x_km < -1038
    """,
}
MULTIPLE = Fraction(1, 4)
CLOSEST, APART = 0.0002, 0.125  # epsilon: a quarter of the distance of the closest towns, and of 500 km


def main(policy: Path) -> str:
    """What Ana is told."""
    with dpsql.open(policy) as proxy:
        return told(proxy.session(analyst="ana"))


def told(session: Session) -> str:
    """The table of answers, each with half of its 95% interval, and what they cost."""
    rows = []
    for title, sql in QUESTIONS.items():
        answers = [
            session.query(sql, mechanism="metric", metric="home", multiple=MULTIPLE),
            session.query(sql, epsilon=CLOSEST),
            session.query(sql, epsilon=APART),
        ]
        rows.append([title, *map(shown, answers)])
    titles = ["question", f"metric, multiple {float(MULTIPLE)}", f"plain, epsilon {CLOSEST}", f"plain, epsilon {APART}"]
    return f"{text_table(titles, rows, right=[False, True, True, True])}\n\n{session.budget()}"


def shown(answer: Answer) -> str:
    """The one value of an answer, and half of its interval."""
    ((value,),), ((low, high),) = answer.rows, answer.interval("value")
    return f"{rounded(value)} ± {rounded(None if low is None or high is None else (high - low) / 2)}"


def rounded(value: Any) -> str:
    """Three digits."""
    return "-" if value is None else number(float(value), 3)


def _arguments(given: Sequence[str]) -> Path:
    if given in (["-h"], ["--help"]):
        print(__doc__)
        raise SystemExit(0)
    if len(given) != 1:
        raise SystemExit(__doc__)
    return Path(given[0])


if __name__ == "__main__":
    print(main(_arguments(sys.argv[1:])))
