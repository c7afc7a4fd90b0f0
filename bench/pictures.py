"""The pictures of docs/python.md: what answers of a made-up hospital, and of people who live around places, look like.

python bench/pictures.py            # writes docs/figures/answer_*.svg, each anew from fresh noise
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

import duckdb
import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import dpsql
from bench.page import ROOT
from examples.hospital import build

FIGURES = ROOT / "docs" / "figures"
HOSPITAL = {
    "bars": (
        "SELECT diagnosis, COUNT(*) AS n FROM visits GROUP BY diagnosis HAVING COUNT(*) > 5000 ORDER BY n DESC",
        0.05,
        "The most frequent diagnoses",
        {"n": "visits"},
    ),
    "line": (
        "SELECT date_trunc('month', visited_on) AS month, COUNT(*) AS n FROM visits GROUP BY month",
        0.5,
        "Visits a month",
        {"n": "visits"},
    ),
    "multiples": (
        "SELECT sex, CAST(floor(age / 10) AS INTEGER) * 10 AS decade, AVG(weight) AS weight FROM patients "
        "WHERE sex IN ('F', 'M') AND age < 100 GROUP BY ALL",
        0.1,
        "Mean weight by age and sex",
        {"weight": "kg", "decade": "years"},
    ),
}
"""Statement, epsilon, title and units of each picture of the hospital."""
PLACES = """\
version: 1
name: places
engine: {kind: duckdb, database: places.duckdb}
neighbours: add_remove
budget:
  ledger: places.ledger.db
  mark: mark
  composition: zcdp
  total: {epsilon: 20, delta: 1.0e-5}
  analysts: {ana: {epsilon: 10, delta: 1.0e-5}}
  per_query: {epsilon: 0.5, delta: 1.0e-9}
tables:
  people:
    unit: id
    key: id
    rows_per_unit: 1
    rows_about: 60000
    columns:
      x_km: {type: real, bounds: [-100, 100], scale: [0.1, 100]}
      y_km: {type: real, bounds: [-100, 100], scale: [0.1, 100]}
"""
CENTRES = "SELECT * FROM dp_kmeans((SELECT x_km, y_km FROM people), k => 5, bound => 100, scale => (0.1, 100))"


def of_the_hospital(home: Path) -> None:
    """Bars, a line, and small multiples."""
    (home / "hospital.yaml").write_text((ROOT / "policies" / "hospital.yaml").read_text())
    build(home / "hospital.duckdb")
    with dpsql.open(home / "hospital.yaml") as proxy:
        session = proxy.session(analyst="ana")
        for name, (sql, epsilon, title, units) in HOSPITAL.items():
            session.query(sql, epsilon=epsilon).plot(FIGURES / f"answer_{name}.svg", title=title, units=units)


def of_places(home: Path) -> None:
    """The centres of five groups of people, 12,000 around each."""
    rng = np.random.default_rng(17)  # any number does; the same makes the same places
    turns = np.arange(5) * 2 * np.pi / 5
    centres = 70 * np.stack([np.cos(turns), np.sin(turns)], axis=1)  # km from the middle
    spots = np.repeat(centres, 12_000, axis=0) + rng.normal(0, 4, (60_000, 2))
    (home / "places.yaml").write_text(PLACES)
    with duckdb.connect(str(home / "places.duckdb")) as connection:
        connection.execute("CREATE TABLE people (id INTEGER, x_km DOUBLE, y_km DOUBLE)")
        connection.execute(
            "INSERT INTO people SELECT * FROM (SELECT unnest($i), unnest($x), unnest($y))",
            {"i": [*range(len(spots))], "x": spots[:, 0].tolist(), "y": spots[:, 1].tolist()},
        )
    with dpsql.open(home / "places.yaml") as proxy:
        answer = proxy.session(analyst="ana").query(CENTRES, rho=1, delta=1e-8)
        answer.plot(FIGURES / "clusters.svg", title="Where people live: five centres")


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        of_the_hospital(Path(folder))
        of_places(Path(folder))
