"""What a policy may hold and an owner may do, over other engines: without noise they say what DuckDB says.

Statements are the corpus's (test_postgres_engine.py, test_spark_engine.py); here is all else: random differential
privacy, metrics, functions of a whole table, synthetic tables; check, advise, refresh.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from fractions import Fraction
from pathlib import Path
from typing import Any

import duckdb
import pytest

import dpsql
import dpsql.testing
from dpsql.advising import advise
from dpsql.owner.checking.check import check
from dpsql.policy import load_policy
from dpsql.privacy.sampling import Sampler
from dpsql.proxy import refresh
from dpsql.session import Session
from dpsql.testing_samplers import FixedSampler, Noiseless
from tests.attacks.test_replay_clusters import COVARIANCE, KMEANS
from tests.attacks.test_replay_clusters import POLICY as PLACES
from tests.doors.elsewhere import Elsewhere
from tests.unit import test_advising, test_random_dp
from tests.unit.mechanisms.metric import homes
from tests.unit.owner import clinic
from tests.unit.releasing import test_creating

pytestmark = [pytest.mark.doors, pytest.mark.chance(0, "both engines are noised alike, or not at all")]


def survey(folder: Path) -> Path:
    """People with random differential privacy."""
    with duckdb.connect(str(folder / "survey.duckdb")) as data:
        data.execute("CREATE TABLE towns AS FROM (VALUES ('Aix'), ('Bonn'), ('Delft'), ('Goes')) t(name)")
        data.execute(
            "CREATE TABLE people AS SELECT i AS pid, ['Aix', 'Bonn', 'Delft', 'elsewhere'][1 + i % 4] AS town, "
            "['F', 'M'][1 + i % 2] AS sex, i % 100 AS age FROM range(600) t(i)"
        )
        data.execute("CREATE TABLE visits AS SELECT i % 200 AS pid, ['a', NULL][1 + i % 2] AS ward FROM range(9) t(i)")
    (folder / "survey.yaml").write_text(test_random_dp.POLICY)
    return folder / "survey.yaml"


def street(folder: Path) -> Path:
    """People under a metric."""
    return homes.homes(folder, homes.policy("add_remove", presence=True))


def places(folder: Path) -> Path:
    """Points in two heaps."""
    with duckdb.connect(str(folder / "places.duckdb")) as data:
        data.execute(
            "CREATE TABLE places AS SELECT i AS person, i % 2 + (i * 37 % 101) / 5000.0 AS x, "
            "-(i % 2) + (i * 53 % 97) / 5000.0 AS y FROM range(6000) t(i)"
        )
    (folder / "places.yaml").write_text(PLACES.format(name="places", neighbours="add_remove"))
    return folder / "places.yaml"


Asked = Mapping[str, Mapping[str, Any]]
RANDOM: dict[str, Any] = {"mechanism": "random_dp"}
SEVERAL: dict[str, tuple[Callable[[Path], Path], Sampler, Asked]] = {
    "random_dp": (
        survey,
        Noiseless(),
        {
            "SELECT town, COUNT(*) AS n FROM people GROUP BY town": RANDOM,
            "SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward": RANDOM,
        },
    ),
    "metrics": (
        street,
        Noiseless(),
        {
            "SELECT COUNT(*) FROM people WHERE age >= 4": {},
            "SELECT sex, town, COUNT(*), SUM(age) FROM people GROUP BY sex, town": {},
            "SELECT t.region, COUNT(*), AVG(age) FROM people p JOIN towns t ON p.town = t.name GROUP BY t.region": {},
            "SELECT SUM(t.height * age) FROM people p LEFT JOIN towns t ON p.town = t.name WHERE sex <> 'M'": {},
            "SELECT MODE(town) FROM people WHERE age > 1": {},
        },
    ),
    "functions of whole tables": (places, FixedSampler("places"), {KMEANS: {}, COVARIANCE: {}}),
    "synthetic tables": (
        test_creating.build,
        Noiseless(),
        {
            "CREATE SYNTHETIC TABLE ages WITH (method = 'tree', epsilon = 1) AS SELECT age FROM people": {},
            "SELECT COUNT(*), AVG(age) FROM ages WHERE age BETWEEN 20 AND 29": {},
            "CREATE SYNTHETIC TABLE who WITH (method = 'cells') AS "
            "SELECT sex, seen AS Day, age >= 50 AS old FROM people WHERE age < 60": {},
            "SELECT sex, day, old, COUNT(*) FROM who GROUP BY 1, 2, 3 ORDER BY 1, 2, 3": {},
            "CREATE SYNTHETIC TABLE costs AS SELECT cost // 10 AS c, age // 10 AS a "
            "FROM visits JOIN people USING (person)": {},
            "SELECT c, a, COUNT(*) FROM costs GROUP BY 1, 2 ORDER BY 1, 2": {},
            "SELECT SUM(a) FROM costs WHERE c > 3": {},
            "DROP TABLE ages": {},
            "SHOW TABLES": {},
            "SELECT * FROM towns": {},
        },
    ),
}  # fmt: skip
"""What there is beside statements: a policy over DuckDB, the noise, and what is asked, in this order."""

FAR = {"functions of whole tables": 0.05}
"""How far answers may be apart: DuckDB's worker gives rows in order, so the same draws deal others into a part there.
The noise itself, of some 0.002, is the same."""

Both = tuple[Session, Session]


@pytest.fixture(params=SEVERAL)
def name(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def both(elsewhere: Elsewhere, name: str, tmp_path: Path) -> Iterator[Both]:
    """A session on DuckDB, and one on the other engine."""
    write, sampler, _ = SEVERAL[name]
    here = write(tmp_path)
    (file,) = tmp_path.glob("*.duckdb")
    there = elsewhere.moved(here, elsewhere.load(file))
    with dpsql.testing.open(here, sampler) as one, dpsql.testing.open(there, sampler) as two:
        yield one.session(analyst="ana"), two.session(analyst="ana")


def test_what_is_no_plain_statement_is_answered_as_on_duckdb(both: Both, name: str) -> None:
    here, there = both
    for sql, options in SEVERAL[name][2].items():
        ours, theirs = here.query(sql, **options), there.query(sql, **options)
        assert (ours.columns, ours.cost) == (theirs.columns, theirs.cost), sql
        assert len(ours.rows) == len(theirs.rows) > 0, sql
        for one, two in zip(ours.rows, theirs.rows, strict=True):
            assert all(_near(a, b, FAR.get(name, 1e-9)) for a, b in zip(one, two, strict=True)), (sql, one, two)
    assert here.budget().spent == there.budget().spent


def _near(one: Any, two: Any, far: float) -> bool:
    return bool(one == two or (isinstance(one, float) and math.isclose(one, two, rel_tol=1e-9, abs_tol=far)))


def test_check_finds_what_it_finds_on_duckdb(elsewhere: Elsewhere, tmp_path: Path) -> None:
    clinic.data(tmp_path)
    here = clinic.policy(tmp_path)
    (file,) = tmp_path.glob("*.duckdb")
    there = here.model_copy(update={"engine": elsewhere.section(file)})
    ours, theirs = (
        {(found.table, found.column, found.what, found.count, found.share, found.severity) for found in check(policy)}
        for policy in (here, there)
    )
    cautions = {found for found in theirs if found[0] is None}
    assert len(cautions) == (elsewhere.kind == "spark")
    assert theirs - cautions == ours
    assert len(ours) > 10


def orders(folder: Path, most: int) -> Path:
    """A DuckDB file of the shop of `dpsql advise`, in which people have at most so many orders."""
    test_advising.write_orders(folder, most)
    file = folder / f"shop{most}.duckdb"
    with duckdb.connect(str(file)) as data:
        data.execute(f"CREATE TABLE orders AS FROM '{folder}/orders.parquet'")
    return file


def shop(folder: Path, elsewhere: Elsewhere) -> tuple[Path, str]:
    """That shop on another engine: its policy, and what holds it there."""
    file = orders(folder, 3)
    (folder / "shop.yaml").write_text(test_advising.POLICY.replace("    source: data/orders.parquet\n", ""))
    name = elsewhere.load(file)
    policy = elsewhere.moved(folder / "shop.yaml", name)
    (policy.parent / "data").mkdir()
    return policy, name


def test_advise_measures_once_keeps_and_sees_a_refresh(elsewhere: Elsewhere, tmp_path: Path) -> None:
    policy, name = shop(tmp_path, elsewhere)
    with pytest.raises(dpsql.PolicyError, match="run dpsql advise"):
        dpsql.open(policy)
    first, again = (advise(policy, epsilon=Fraction(1, 2), sampler=Noiseless()) for _ in range(2))
    assert (first.charged, again.charged) == (True, False)
    assert first.lines[0] == (
        "orders: about 4,000 units, at least 6,200 rows. Above the noise are seen about 7,999; "
        "units with 4 rows and more may be hidden, with any number of rows."
    )
    with dpsql.open(policy) as proxy:
        facts = proxy._backend.catalog.tables["orders"].advised
        assert facts is not None
        assert (facts.current, facts.units) == (True, test_advising.PEOPLE)
        session = proxy.session(analyst="ana")
        assert len(session.query("SELECT COUNT(*), SUM(price) FROM orders").rows) == 1
        assert session.budget().spent.epsilon == 1
    elsewhere.again(name, orders(tmp_path, 5))
    with pytest.raises(dpsql.OperationalError, match="The data changed since version 1"):
        dpsql.open(policy)
    assert refresh(policy) == 2
    advised = load_policy(policy)
    assert not any(found.severity == "error" for found in check(advised))
    with dpsql.open(policy) as proxy:
        facts = proxy._backend.catalog.tables["orders"].advised
        assert facts is not None
        assert not facts.current
    renewed = advise(policy, epsilon=Fraction(1, 2), sampler=Noiseless())
    assert renewed.charged
    assert renewed.lines[0] == (
        "orders: about 4,000 units, at least 9,500 rows. Above the noise are seen about 13,600; "
        "units with 8 rows and more may be hidden, with any number of rows."
    )
