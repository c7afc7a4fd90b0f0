"""Delta and Iceberg tables of a cluster's catalogue: a build reads one version of them, and its number is known.

Sail has both built in. Apache Spark needs libraries of theirs in Java, which this test does not fetch.
"""

from __future__ import annotations

from itertools import count
from pathlib import Path

import duckdb
import pytest

import dpsql
from dpsql.engine.log import overheard
from dpsql.engine.spark.bounded import read
from dpsql.engine.spark.lakes import newest
from dpsql.errors import OperationalError, PolicyError
from dpsql.owner.building.builder import version_directory
from dpsql.owner.building.versions import numbered
from dpsql.policy import load_policy
from dpsql.proxy import cache_directory, current, open_ledger, refresh
from examples.spark import Server

pytestmark = [pytest.mark.doors, pytest.mark.chance(0, "no noise is looked at")]

_NUMBERS = count()
ASKED = "SELECT COUNT(*) FROM visits"
POLICY = """\
version: 1
name: lake
engine: {{kind: spark, remote: "{remote}", schema: "{schema}", bounded: {bounded}}}
neighbours: add_remove
budget: {{ledger: lake.db, mark: mark, composition: basic, total: {{epsilon: 30}}, per_query: {{epsilon: 1}},
         analysts: {{"*": {{epsilon: 20}}}}}}
tables:
  visits:
    unit: person
    rows_per_unit: 2{source}
    columns:
      ward: {{type: text, values: [A, B]}}
"""


class Lake:
    """One table of the catalogue, in a schema of its own, and a policy over it.

    Attributes:
        folder: Where its files lie.
        policy: The file.
    """

    def __init__(self, cluster: Server, where: Path, kind: str) -> None:
        self._cluster, self._schema = cluster, f"lake_{next(_NUMBERS)}"
        self.folder, self.policy = where / "visits", where / "lake.yaml"
        self.told(f"CREATE SCHEMA {self._schema}")
        self.told(f"CREATE TABLE {self.name} (person BIGINT, ward STRING) USING {kind} LOCATION '{self.folder}'")
        self.write()

    @property
    def name(self) -> str:
        return f"{self._schema}.visits"

    def write(self, source: str = "") -> None:
        keys = {"remote": self._cluster.remote, "schema": self._schema, "bounded": self._cluster.bounded}
        self.policy.write_text(POLICY.format(**keys, source=source))

    def told(self, sql: str) -> None:
        with self._cluster.asked() as session:
            session.told(sql)

    def add(self, person: int) -> None:
        self.told(f"INSERT INTO {self.name} VALUES ({person}, 'A')")

    def number(self) -> int:
        with self._cluster.asked() as session:
            version = newest(session, self.name)
        assert version is not None
        return int(version.split()[-1])


@pytest.fixture(params=["delta", "iceberg"])
def lake(cluster: Server, tmp_path: Path, request: pytest.FixtureRequest) -> Lake:
    if cluster.home is not None:
        pytest.skip("this Apache Spark has no library of Delta or Iceberg")
    return Lake(cluster, tmp_path, request.param)


def built(policy: Path) -> int:
    """Rows of the bounded table of the first version."""
    with open_ledger(load_policy(policy)) as ledger:
        made = read(version_directory(cache_directory(load_policy(policy), ledger), 1))
    place, _ = made.tables["visits"]
    (files,) = Path(made.where).glob(f"dpsql_{made.build}/{place}")
    with duckdb.connect() as here:
        return int(here.execute(f"SELECT count(*) FROM read_parquet('{files}/**/*.parquet')").fetchall()[0][0])


def test_a_commit_is_a_change_that_the_owner_is_told_by_its_number(lake: Lake) -> None:
    lake.add(1)
    first = lake.number()
    refresh(lake.policy)
    with dpsql.open(lake.policy) as proxy:
        assert proxy.session(analyst="ana").query(ASKED).rows
    lake.add(2)
    second = lake.number()
    assert second != first
    with overheard() as said, pytest.raises(OperationalError, match="The data changed since version 1") as changed:
        dpsql.open(lake.policy)
    assert said == [f"visits was built from version {first} of visits, which is at {second} now"]
    assert str(second) not in str(changed.value)
    refresh(lake.policy)
    dpsql.open(lake.policy).close()
    (now,) = numbered(load_policy(lake.policy), *current(load_policy(lake.policy)))
    assert (now.built, now.now) == (second, second)


def test_a_build_reads_the_version_of_its_beginning(lake: Lake) -> None:
    lake.add(1)
    first = lake.number()

    def commit(step: str, share: float) -> None:
        if step == "building visits":
            lake.add(2)

    refresh(lake.policy, progress=commit)
    (now,) = numbered(load_policy(lake.policy), *current(load_policy(lake.policy)))
    assert (now.built, now.now) == (first, lake.number()) and now.built != now.now
    assert built(lake.policy) == 1


def test_a_folder_of_a_lake_is_no_folder_of_files(lake: Lake) -> None:
    lake.add(1)
    lake.write(f"\n    source: {lake.folder}")
    with pytest.raises(PolicyError, match="holds a Delta, Iceberg or DuckLake table"):
        dpsql.open(lake.policy)


@pytest.mark.parametrize("part", ["", "ward=A/"])
@pytest.mark.parametrize("source", ["", "ducklake-018f-1.parquet"])
def test_nor_is_one_of_files_that_ducklake_writes(lake: Lake, tmp_path: Path, part: str, source: str) -> None:
    (tmp_path / "data" / part).mkdir(parents=True)
    written = tmp_path / "data" / part / "ducklake-018f-1.parquet"
    duckdb.sql(f"COPY (SELECT 1 AS person, 'A' AS ward) TO '{written}'")
    lake.write(f"\n    source: {tmp_path / 'data'}/{part if source else ''}{source}")
    with pytest.raises(PolicyError, match="holds a Delta, Iceberg or DuckLake table"):
        dpsql.open(lake.policy)
