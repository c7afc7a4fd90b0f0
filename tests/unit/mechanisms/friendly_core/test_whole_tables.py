"""dp_kmeans in SQL: what it answers, what stands around it, what it costs, what is refused before anything is read."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from decimal import Decimal
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pytest

import dpsql
import dpsql.testing
from dpsql.errors import ProgrammingError, UnsupportedQuery
from dpsql.session import Session

POLICY = """
version: 1
name: places
engine: {{kind: duckdb, database: places.duckdb}}
neighbours: {neighbours}
budget:
  ledger: places.ledger.db
  composition: {composition}
  total: {{epsilon: 1000, delta: 1.0e-3}}
  analysts: {{ana: {{epsilon: 900, delta: 1.0e-3}}}}
  per_query: {{epsilon: 4, delta: 1.0e-6}}
tables:
  places:
    unit: person
    rows_per_unit: 1
    rows_about: 35000
    columns:
      x: {{type: real}}
      y: {{type: real}}
      town: {{type: text, values: [a, b]}}
      secret: {{type: real}}
      height: {{type: real}}
      weight: {{type: real, grid: 0.001}}
  trips:
    unit: person
    rows_per_unit: 3
    rows_about: 24000
    columns: {{x: {{type: real, bounds: [-1, 1]}}, y: {{type: real, bounds: [-1, 1]}}}}
  cities: {{public: true, key: name}}
mechanisms:
  places.secret: {{ban: [friendly_core]}}
idealised_numerics: {idealised}
"""
CENTRES = np.array([[-0.6, 0.1], [0.0, -0.5], [0.5, 0.5]])
MATRIX = "dp_covariance((SELECT height, weight FROM places), parts => 200)"
CALL = "dp_kmeans((SELECT x, y FROM places), k => 3, bound => 1, scale => (0.001, 1))"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The database of all tests here."""
    where = tmp_path_factory.mktemp("places")
    rng, n = np.random.default_rng(1), 18_000
    points = CENTRES[rng.integers(0, 3, n)] + rng.normal(0, 0.02, (n, 2))
    with duckdb.connect(str(where / "places.duckdb")) as database:
        database.execute("CREATE TABLE places (person INTEGER, x DOUBLE, y DOUBLE, town VARCHAR, secret DOUBLE)")
        rows = [(i, *point, "ab"[i % 2], 0.0) for i, point in enumerate(points.tolist())]
        database.execute(
            "INSERT INTO places SELECT unnest($1), unnest($2), unnest($3), unnest($4), 0",
            [list(column) for column in zip(*(row[:4] for row in rows), strict=True)],
        )
        database.execute(
            "INSERT INTO places VALUES (-1, NULL, 0, 'a', 0), (-2, 'nan', 0, 'a', 0), (-3, 'inf', 1, 'a', 0)"
        )
        database.execute("ALTER TABLE places ADD COLUMN height DOUBLE")
        database.execute("ALTER TABLE places ADD COLUMN weight DOUBLE")
        pairs = rng.multivariate_normal([170, 70], [[100, 60], [60, 100]], n)
        database.execute(
            "UPDATE places SET height = p.h, weight = p.w "
            "FROM (SELECT unnest($1) AS i, unnest($2) AS h, unnest($3) AS w) AS p WHERE person = p.i",
            [list(range(n)), pairs[:, 0].tolist(), pairs[:, 1].tolist()],
        )
        database.execute("CREATE TABLE trips AS SELECT person, x, y FROM places, range(2)")
        database.execute("CREATE TABLE cities AS SELECT 'a' AS name")
    return where


@contextmanager
def opened(
    folder: Path,
    sampler: Any,
    neighbours: str = "add_remove",
    composition: str = "zcdp",
    idealised: str = "true",
) -> Iterator[Session]:
    policy = folder / f"{neighbours}-{composition}-{idealised}.yaml"
    policy.write_text(POLICY.format(neighbours=neighbours, composition=composition, idealised=idealised))
    with dpsql.testing.open(policy, sampler=sampler) as proxy:
        yield proxy.session(analyst="ana")


@pytest.fixture(scope="module")
def session(folder: Path) -> Iterator[Session]:
    """Asks without noise."""
    with opened(folder, dpsql.testing.Noiseless()) as asking:
        yield asking


@pytest.fixture(scope="module")
def noisy(folder: Path) -> Iterator[Session]:
    """Asks with noise."""
    with opened(folder, dpsql.testing.FixedSampler(1)) as asking:
        yield asking


def errors(rows: Any) -> float:
    found = np.array([row[1:] for row in rows], dtype=np.float64)
    return float(np.abs(found - CENTRES[np.lexsort(CENTRES.T[::-1])]).max())


@pytest.mark.slow
def test_the_centres_come_numbered_under_their_columns_names(session: Session) -> None:
    answer = session.query(f"SELECT * FROM {CALL}")
    assert answer.columns == ("id", "x", "y")
    assert [row[0] for row in answer.rows] == [1, 2, 3]
    assert errors(answer.rows) < 0.003
    assert len(answer.measurements) == 1
    assert "dealt into" in str(answer)


def test_no_interval_is_promised_and_none_is_said_to_be_there(session: Session) -> None:
    clusters, matrix = f"SELECT * FROM {CALL}", f"SELECT * FROM {MATRIX}"
    assert {column.error for column in session.explain(matrix, epsilon=12).columns} == {"not foretold"}
    (said,) = {column.error for column in session.explain(clusters).columns}
    assert said.startswith("about 0.0")
    assert said.endswith(", without interval")
    assert "half the width" not in str(session.query(clusters))


def test_ordinary_sql_stands_around_it(session: Session) -> None:
    around = session.query(f"SELECT id, round(x, 1) AS x FROM {CALL} AS c WHERE c.y > 0 ORDER BY x DESC LIMIT 1")
    assert around.rows == [(3, 0.5)]
    aggregated = session.query(f"SELECT COUNT(*) AS n, MAX(x) AS far FROM (SELECT * FROM {CALL}) AS c")
    assert aggregated.rows[0][0] == 3
    named = session.query(f"WITH c AS (SELECT * FROM {CALL}) SELECT COUNT(y) FROM c")
    assert named.rows == [(3,)]


def test_the_same_question_is_free_the_second_time(noisy: Session) -> None:
    first, second = (noisy.query(f"SELECT * FROM {CALL}") for _ in range(2))
    assert (first.replayed, second.replayed) == (False, True)
    assert first.rows == second.rows
    assert errors(first.rows) < 0.02
    third = noisy.query(f"SELECT * FROM {CALL.replace('0.001', '0.002')}")
    assert not third.replayed


def test_it_costs_what_it_is_priced_at(folder: Path) -> None:
    with opened(folder, dpsql.testing.FixedSampler(3), "replace_one", "basic") as session:
        answer = session.query(f"SELECT * FROM {CALL}", epsilon=5, delta=1e-6)
        assert answer.cost.epsilon == 5
        assert 0 < answer.cost.delta <= 1e-6
        spent = session.budget().spent
        assert (spent.epsilon, spent.delta) == (answer.cost.epsilon, answer.cost.delta)
        assert errors(answer.rows) < 0.02


def test_a_price_in_rho_is_one_too(noisy: Session) -> None:
    answer = noisy.query(f"SELECT * FROM {CALL}", rho=2, delta=1e-6)
    assert answer.cost.rho == pytest.approx(2, abs=1e-6)
    assert errors(answer.rows) < 0.02


def test_explain_shows_the_parts_and_spends_nothing(session: Session) -> None:
    before = session.budget().spent
    quote = session.explain(f"SELECT * FROM {CALL}")
    assert session.budget().spent == before
    assert "parts of about" in str(quote)
    assert {column.mechanism for column in quote.columns} == {"friendly_core"}
    assert 0 < quote.columns[0].half_width < 0.05


@pytest.mark.slow
def test_a_filter_and_a_mean_of_each_person_are_rows_too(session: Session) -> None:
    filtered = CALL.replace("FROM places", "FROM places WHERE town IN ('a', 'b')")
    assert errors(session.query(f"SELECT * FROM {filtered}").rows) < 0.003
    per_person = CALL.replace(
        "SELECT x, y FROM places",
        "SELECT x, y FROM (SELECT person, AVG(x) AS x, AVG(y) AS y FROM trips GROUP BY person)",
    )
    assert errors(session.query(f"SELECT * FROM {per_person}").rows) < 0.02


def test_too_few_that_agree_is_an_answer_of_nulls_at_the_same_price(noisy: Session) -> None:
    nobody = noisy.query(f"SELECT * FROM {CALL.replace('FROM places', 'FROM places WHERE x > 5')}")
    assert nobody.rows == [(1, None, None), (2, None, None), (3, None, None)]
    assert nobody.cost == noisy.explain(f"SELECT * FROM {CALL.replace('FROM places', 'FROM places WHERE x > 4')}").cost
    assert any("NULL says that too few parts agreed" in note for note in nobody.notes)
    assert not any("NULL says" in note for note in noisy.query(f"SELECT * FROM {CALL}").notes)


def test_a_quote_says_which_data_give_no_centres(session: Session) -> None:
    notes = session.explain(f"SELECT * FROM {CALL}").notes
    assert any("give NULL whatever the price" in note and "standard deviations apart" in note for note in notes)
    one = session.explain(f"SELECT * FROM {CALL.replace('k => 3', 'k => 1')}")
    assert not any("whatever the price" in note for note in one.notes)


def test_a_session_asks_for_clusters_without_sql_around_them(session: Session) -> None:
    query = "SELECT x, y FROM places WHERE weight > ?"
    answer = session.kmeans(query, [0], k=3, bound=1, scale=(0.001, Decimal(1)), parts=400, epsilon=4)
    assert errors(answer.rows) < 0.003
    with pytest.raises(ProgrammingError, match="finite number"):
        session.kmeans(query, [0], k=3, bound=float("inf"), scale=(0.001, 1))


def test_covariances_come_as_a_matrix_with_their_label(session: Session, noisy: Session) -> None:
    for asking, tolerance in ((session, 0.2), (noisy, 0.9)):
        answer = asking.query(f"SELECT * FROM {MATRIX}", epsilon=12)
        assert answer.columns == ("variable", "height", "weight")
        assert [row[0] for row in answer.rows] == ["height", "weight"]
        found = np.array([row[1:] for row in answer.rows], dtype=np.float64)
        assert found[0, 1] == found[1, 0]
        assert found == pytest.approx(np.array([[100, 60], [60, 100]]), rel=tolerance)
        assert "idealised numerics" in str(answer)
        assert "idealised numerics" in str(asking.explain(f"SELECT * FROM {MATRIX}", epsilon=12))


def test_arithmetic_with_covariances_stands_around_it(session: Session) -> None:
    sql = f"SELECT MAX(height) AS h FROM (SELECT * FROM {MATRIX}) WHERE variable = 'weight'"
    assert session.query(sql, epsilon=12).rows[0][0] == pytest.approx(60, rel=0.2)


def test_a_session_asks_for_covariances_too(session: Session) -> None:
    answer = session.covariance("SELECT weight FROM places WHERE weight > ?", [0], parts=200, epsilon=12)
    assert answer.rows[0] == ("weight", pytest.approx(100, rel=0.2))


def test_statistics_of_two_columns_need_no_bounds_where_idealised_numerics_are_admitted(session: Session) -> None:
    sql = (
        "SELECT CORR(height, weight) AS c, COVAR_SAMP(height, weight) AS v, REGR_SLOPE(height, weight) AS s FROM places"
    )
    answer = session.query(sql, epsilon=36, delta=3e-6)
    assert {one.mechanism for one in answer.measurements} == {"friendly_core"}
    assert answer.rows[0] == (pytest.approx(0.6, abs=0.1), pytest.approx(60, rel=0.25), pytest.approx(0.6, abs=0.15))
    assert "idealised numerics" in str(answer)
    with pytest.raises(UnsupportedQuery, match="rows_about"):
        session.query("SELECT town, CORR(height, weight) FROM places GROUP BY town", epsilon=12, delta=1e-6)


def test_covariances_are_refused_where_the_owner_admits_no_idealised_numerics(folder: Path) -> None:
    with (
        opened(folder, dpsql.testing.Noiseless(), idealised="false") as session,
        pytest.raises(UnsupportedQuery, match=r"idealised.*idealised_numerics: true"),
    ):
        session.query(f"SELECT * FROM {MATRIX}", epsilon=12)


def test_parameters_stand_for_numbers(session: Session) -> None:
    answer = session.query(
        "SELECT * FROM dp_kmeans((SELECT x, y FROM places WHERE weight > ?), k => ?, bound => ?, scale => (0.001, ?))",
        [0, 3, 1, 1],
    )
    assert errors(answer.rows) < 0.003


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (CALL.replace("k => 3, ", ""), "k at 1:15: this argument is missing"),
        (CALL.replace("k => 3", "k => 3, k => 4"), "given once"),
        (CALL.replace("k => 3", "k => 2.5"), "whole number"),
        (CALL.replace("k => 3", "k => 0"), "whole number from 1"),
        (CALL.replace("k => 3", "k => 'three'"), "it takes a number"),
        (CALL.replace("k => 3", "k => 3, clusters => 4"), "there is no such argument"),
        (CALL.replace("(0.001, 1)", "0.001"), "it takes 2 numbers"),
        (CALL.replace("(0.001, 1)", "(1, 0.001)"), "scale is"),
        (CALL.replace("bound => 1", "bound => 0"), "bound > 0"),
        (CALL.replace("SELECT x, y FROM places", "SELECT x, y FROM places LIMIT 5"), "LIMIT"),
        (CALL.replace("SELECT x, y", "SELECT x, town"), "columns of numbers"),
        (CALL.replace("SELECT x, y", "SELECT x, person"), "privacy unit"),
        (CALL.replace("SELECT x, y", "SELECT x, y AS id"), "names its rows so"),
        (CALL.replace("SELECT x, y", "SELECT DISTINCT x, y"), "privacy unit"),
        (CALL.replace("SELECT x, y", "SELECT x, secret"), "bans"),
        (CALL.replace("FROM places", "FROM trips"), "group its query by the privacy unit"),
        (CALL.replace("SELECT x, y FROM places", "SELECT 1 AS x FROM cities"), "privacy unit"),
        (CALL.replace("k => 3", "k => 20"), "rows_about"),
        (CALL.replace("k => 3", "k => 60"), "too small"),
        (CALL.replace("dp_kmeans", "dp_kmean"), "dp_kmeans"),
        (MATRIX.replace("height, weight", "height, weight AS variable"), "names its rows so"),
        (MATRIX.replace("parts => 200", "parts => 1"), "parts is 1"),
        (MATRIX.replace("parts => 200", "k => 3"), "no such argument"),
        (MATRIX.replace(", parts => 200", ""), "rows_about"),
        (f"places, {CALL} AS c", "stand alone"),
        (f"places JOIN {CALL} AS c ON c.id = places.x", "stand alone"),
    ],
)
def test_what_it_cannot_be_is_refused_and_costs_nothing(session: Session, call: str, said: str) -> None:
    before = session.budget().spent
    with pytest.raises(UnsupportedQuery, match=said):
        session.query(f"SELECT * FROM {call}")
    assert session.budget().spent == before


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"mechanism": "laplace"}, "friendly_core"),
        ({"max_groups_per_unit": 2}, "max_groups_per_unit means nothing"),
        ({"epsilon": 0.01}, "too small"),
        ({"rho": 0.001}, "too small"),
        ({"metric": "home", "multiple": 1}, "metric and multiple out"),
    ],
)
def test_options_that_do_not_fit_are_refused(session: Session, options: dict[str, Any], said: str) -> None:
    with pytest.raises((UnsupportedQuery, ProgrammingError), match=said):
        session.query(f"SELECT * FROM {CALL}", **options)
