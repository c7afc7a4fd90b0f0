"""Replay audit of functions of a whole table: the same question with the same noise, one person more or exchanged.

The engine gives rows in the order of their values. The person in question comes last, so that the same draws deal
everybody else into the same parts: the coupling of the proof.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import numpy.typing as npt
import pytest

import dpsql.testing
from dpsql.mechanisms.friendly_core.clusters import KMeans
from dpsql.mechanisms.friendly_core.covariance import Covariance
from dpsql.mechanisms.friendly_core.tuples import LARGEST
from dpsql.testing_samplers import FixedSampler

POLICY = """
version: 1
name: audit
engine: {{kind: duckdb, database: {name}.duckdb}}
neighbours: {neighbours}
budget:
  ledger: {name}.ledger.db
  composition: zcdp
  total: {{epsilon: 1000, delta: 1.0e-3}}
  analysts: {{ana: {{epsilon: 900, delta: 1.0e-3}}}}
  per_query: {{epsilon: 6, delta: 1.0e-6}}
tables:
  places:
    unit: person
    rows_per_unit: 1
    rows_about: 40000
    columns: {{x: {{type: real}}, y: {{type: real}}}}
idealised_numerics: true
"""
EPSILON = Fraction(6)
KMEANS = "SELECT * FROM dp_kmeans((SELECT x, y FROM places), k => 2, bound => 1, scale => (0.001, 1))"
COVARIANCE = "SELECT * FROM dp_covariance((SELECT x, y FROM places), parts => 100)"
CENTRES = np.array([[-0.5, 0.0], [0.4, 0.3]])
LAST = {"none": [], "near": [(0.9, 0.3)], "far": [(1e6, -1e6)], "infinite": [(float("inf"), 0.0)]}


class Recorder(FixedSampler):
    """The same noise every time; remembers what was asked for."""

    def __init__(self) -> None:
        super().__init__("audit")
        self.calls: list[tuple[str, int]] = []
        self.choices: list[tuple[list[int], Fraction]] = []
        self.laws: list[tuple[str, Fraction]] = []

    def integers(self, m: int, size: int) -> Any:
        self.calls.append(("integers", m))
        return super().integers(m, size)

    def gaussian(self, variance: Fraction, size: int) -> Any:
        self.calls.append(("gaussian", size))
        self.laws.append(("gaussian", variance))
        return super().gaussian(variance, size)

    def laplace(self, scale: Fraction, size: int) -> Any:
        self.calls.append(("laplace", size))
        self.laws.append(("laplace", scale))
        return super().laplace(scale, size)

    def intervals(self, widths: Sequence[int], scores: Sequence[int], exponent: Fraction) -> tuple[int, int]:
        self.calls.append(("intervals", len(widths)))
        self.choices.append((list(scores), exponent))
        return super().intervals(widths, scores, exponent)


class Seen:
    """One run: what was drawn, the parts' answers, the analyst's answer."""

    def __init__(self, folder: Path, name: str, neighbours: str, sql: str, monkeypatch: pytest.MonkeyPatch) -> None:
        self.sampler, self.elements = Recorder(), np.empty(0)
        rng = np.random.default_rng(3)
        points = CENTRES[rng.integers(0, 2, 6000)] + rng.normal(0, 0.02, (6000, 2))
        rows = [(i, *map(float, point)) for i, point in enumerate(points)] + [(-1, *row) for row in LAST[name]]
        with duckdb.connect(str(folder / f"{name}.duckdb")) as database:
            database.execute(
                "CREATE TABLE places AS SELECT unnest($1)::INTEGER AS person, unnest($2) AS x, unnest($3) AS y",
                [list(column) for column in zip(*rows, strict=True)],
            )
        policy = folder / f"{name}.yaml"
        policy.write_text(POLICY.format(name=name, neighbours=neighbours))
        true_tuples, true_matrix = KMeans._tuples, Covariance.matrix

        def tuples(plan: KMeans, points: Any, sampler: Any) -> Any:
            found = true_tuples(plan, points, sampler)
            self.elements = found[0]
            return found

        def matrix(plan: Covariance, rows: npt.NDArray[np.float64], sampler: Any) -> Any:
            self.elements = rows
            return true_matrix(plan, rows, sampler)

        with monkeypatch.context() as patched, dpsql.testing.open(policy, sampler=self.sampler) as proxy:
            patched.setattr(KMeans, "_tuples", tuples)
            patched.setattr(Covariance, "matrix", matrix)
            self.answer = proxy.session(analyst="ana").query(sql)


PAIRS = (
    ("add_remove", "none", "near"),
    ("add_remove", "none", "far"),
    ("replace_one", "near", "far"),
    ("replace_one", "far", "infinite"),
)


@pytest.fixture(scope="module", params=PAIRS, ids=" ".join)
def pair(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[str, Seen, Seen]:
    """Clusterings of two neighbouring databases."""
    neighbours, before, after = request.param
    with pytest.MonkeyPatch.context() as patched:
        one, other = (
            Seen(tmp_path_factory.mktemp("audit"), name, neighbours, KMEANS, patched) for name in (before, after)
        )
    return neighbours, one, other


def test_one_person_exchanges_one_tuple(pair: tuple[str, Seen, Seen]) -> None:
    _, one, other = pair
    assert (one.elements != other.elements).any(axis=(1, 2)).sum() <= 1
    assert (np.abs(other.elements) <= LARGEST).all()


def test_what_is_drawn_shows_nothing_of_who_is_there(pair: tuple[str, Seen, Seen]) -> None:
    _, one, other = pair
    assert one.sampler.calls == other.sampler.calls
    assert one.answer.columns == other.answer.columns
    assert len(one.answer.rows) == len(other.answer.rows)
    assert one.answer.cost == other.answer.cost
    assert one.answer.notes == other.answer.notes


def test_no_score_moves_further_than_its_exponent_pays_for(pair: tuple[str, Seen, Seen]) -> None:
    _, one, other = pair
    ((scores, exponent),), ((others, _),) = one.sampler.choices, other.sampler.choices
    assert 2 * exponent * max(abs(a - b) for a, b in zip(scores, others, strict=True)) <= EPSILON / 20


def test_the_last_steps_noise_is_public_and_pays_for_a_person_at_either_end(pair: tuple[str, Seen, Seen]) -> None:
    neighbours, one, other = pair
    (_, for_sums), (_, for_counts) = one.sampler.laws[-2:]
    assert one.sampler.laws[-2:] == other.sampler.laws[-2:]
    worst = 2 if neighbours == "add_remove" else 4
    paid = Fraction(LARGEST**2) / (2 * for_sums) * worst / 2 + Fraction(worst, 2) / (2 * for_counts)
    assert paid > 0
    assert for_sums == LARGEST**2 * for_counts
    rho = one.answer.measurements[0].loss.rho
    assert rho is None or paid <= Fraction(rho)


def test_answers_of_neighbours_are_near_each_other_under_the_same_noise(pair: tuple[str, Seen, Seen]) -> None:
    _, one, other = pair
    a, b = (np.array([row[1:] for row in seen.answer.rows], dtype=np.float64) for seen in (one, other))
    assert np.abs(a - b).max() < 0.01


def test_covariances_draw_and_cost_the_same_whoever_is_there(tmp_path: Path) -> None:
    seen = []
    for name in ("none", "far"):
        (tmp_path / name).mkdir()
        with pytest.MonkeyPatch.context() as patched:
            seen.append(Seen(tmp_path / name, name, "add_remove", COVARIANCE, patched))
    one, other = seen
    assert len(other.elements) == len(one.elements) + 1
    assert one.sampler.calls == other.sampler.calls
    assert (one.answer.cost, one.answer.notes) == (other.answer.cost, other.answer.notes)
    assert [len(row) for row in one.answer.rows] == [len(row) for row in other.answer.rows]
