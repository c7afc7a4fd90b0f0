"""Eleven data sets that their policies describe badly, and the statements that `coverage.py` asks of them.

Anybody can make them: the repository's own hospital, shop and cities, lognormal incomes, Pareto claims, gains that
are mostly 0, a panel of few people, staff of whom some have many times the usual pay, a crowd with all the rows that
the policy allows of whom few meet a condition, measures without bounds, and scores within tight bounds of which some
are at the far end, from a fixed generator. Centres lie far from the data, spreads are 10 to 1000 times too small or too
large, ``rows_about`` is off by 10 to 100 times, bounds are up to 1000 times too wide, values are skewed, and conditions
pick parts that lie far from the whole.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import date, timedelta
from pathlib import Path

import duckdb
import numpy as np
from page import ROOT

sys.path.insert(0, str(ROOT))
from examples import hospital, shop

CLASSES = (
    "counts",
    "sums",
    "averages",
    "variances",
    "quantiles",
    "extremes",
    "ratios",
    "joins",
    "grouped",
    "top-k",
    "open groups",
)


@dataclass(frozen=True)
class Question:
    """A statement, in one of `CLASSES`.

    Attributes:
        kind: Its class.
        sql: What is asked, and what DuckDB is asked over the bounded tables.
        keys: How many of the first columns name the group.
        picks: What follows for dpsql alone: HAVING, ORDER BY, LIMIT.
        delta: Of the statement, for open groups.
    """

    kind: str
    sql: str
    keys: int = 0
    picks: str = ""
    delta: float | None = None


@dataclass(frozen=True)
class DataSet:
    """Rows, what the policy says of them, and what is asked.

    Attributes:
        name: Its name.
        tables: The policy's ``tables``, in YAML.
        make: Writes the database.
        questions: The statements.
    """

    name: str
    tables: str
    make: Callable[[Path], None]
    questions: tuple[Question, ...]

    @property
    def policy(self) -> str:
        """The whole policy file."""
        return (
            f"version: 1\nname: {self.name}\nengine: {{kind: duckdb, database: {self.name}.duckdb, memory: 2GiB, "
            f"deadline: 60s}}\nneighbours: add_remove\nbudget:\n  ledger: {self.name}.ledger.db\n  composition: zcdp\n"
            "  total: {epsilon: 1000000, delta: 0.1}\n  analysts: {ana: {epsilon: 1000000, delta: 0.1}}\n"
            f"  per_query: {{epsilon: 1}}\ntables:\n{self.tables}"
        )


def plain(kind: str, table: str, *columns: str, where: str = "") -> tuple[Question, ...]:
    """One statement for each column, of all rows or of those that a condition picks."""
    return tuple(Question(kind, f"SELECT {c} AS x FROM {table}{where and ' WHERE ' + where}") for c in columns)


def by(key: str, table: str, *columns: str, where: str = "", kind: str = "grouped") -> tuple[Question, ...]:
    """One statement for each column, by a listed key."""
    under = where and " WHERE " + where
    return tuple(Question(kind, f"SELECT {key} AS k, {c} AS x FROM {table}{under} GROUP BY {key}", 1) for c in columns)


def open_groups(key: str, table: str, *columns: str) -> tuple[Question, ...]:
    """One statement for each column, by a key whose values nobody listed."""
    return tuple(replace(asked, delta=1e-5) for asked in by(key, table, *columns, kind="open groups"))


def statistics(table: str, x: str, whole: str, part: str) -> tuple[Question, ...]:
    """The usual statistics of one column over all rows, and over a part that lies elsewhere."""
    found: tuple[Question, ...] = ()
    for where in (whole, part):
        found += plain("counts", table, f"COUNT({x})", where=where)
        found += plain("sums", table, f"SUM({x})", where=where)
        found += plain("averages", table, f"AVG({x})", where=where)
        found += plain("variances", table, f"VAR_POP({x})", f"STDDEV({x})", where=where)
        found += plain("quantiles", table, f"MEDIAN({x})", f"QUANTILE_CONT({x}, 0.9)", where=where)
        found += plain("extremes", table, f"MIN({x})", f"MAX({x})", where=where)
        found += plain("ratios", table, f"SUM({x}) / COUNT({x})", where=where)
    return (*found, *plain("averages", table, f"AVG({x}) FILTER (WHERE {part})"))


# ------------------------------------------------------------------------------------------------------ hospital

HOSPITAL = """\
  patients:
    unit: patient_id
    key: patient_id
    rows_per_unit: 1
    rows_about: 200
    columns:
      age:    {type: integer, bounds: [0, 100000], centre: 5, spread: 1}
      sex:    {type: text, values: [F, M, X, U, V]}
      city:   {type: text, values_from: cities.name}
      weight: {type: real, bounds: [2, 250], grid: 0.1, nullable: true, centre: 240, spread: 1}
  visits:
    unit: patient_id
    key: visit_id
    rows_per_unit: 12
    rows_about: 1000000
    columns:
      cost:       {type: real, bounds: [0, 20000], centre: 15000, spread: 3, grid: 0.01, nullable: true}
      visited_on: {type: date, bounds: [2020-01-01, 2025-12-31]}
      diagnosis:  {type: text, nullable: true}
  cities: {public: true, key: name}
"""
JOINED = "visits JOIN patients USING (patient_id)"


def make_hospital(path: Path) -> None:
    hospital.build(path, patients=20_000, visits=100_000)


# ---------------------------------------------------------------------------------------------------------- shop

SHOP = """\
  customers:
    unit: customer_id
    key: customer_id
    rows_per_unit: 1
    rows_about: 500000
    columns:
      region:  {type: text, values: [north, east, south, west]}
      segment: {type: text, values: [household, office, school]}
      born:    {type: integer, bounds: [0, 10000], centre: 100, spread: 1}
  orders:
    unit: customer_id
    key: order_id
    rows_per_unit: 10
    rows_about: 1000
    columns:
      ordered_on: {type: date, bounds: [2023-01-01, 2025-12-31]}
      channel:    {type: text, values: [web, phone, store, fax, pigeon]}
      shipping:   {type: decimal, bounds: [0, 5000], centre: 4000, spread: 1}
  lineitems:
    unit: {via: orders, on: order_id}
    key: item_id
    rows_per_unit: 40
    rows_about: 1500
    columns:
      product:  {type: text, values_from: products.name}
      quantity: {type: integer, bounds: [1, 20]}
      price:    {type: decimal, bounds: [0, 50000], centre: 40000, spread: 2}
      returned: {type: boolean}
  products: {public: true, key: name}
"""


def make_shop(path: Path) -> None:
    shop.build(path, customers=10_000, orders=30_000)


# ------------------------------------------------------------------------------------------------------- incomes

INCOMES = f"""\
  people:
    unit: person
    key: person
    rows_per_unit: 1
    rows_about: 100000
    columns:
      income: {{type: integer, bounds: [0, 100000000], centre: 5000000, spread: 1000}}
      region: {{type: integer, values: {list(range(1, 41))}}}
      age:    {{type: integer, bounds: [0, 130]}}
      town:   {{type: text}}
"""


def make_incomes(path: Path) -> None:
    """4,000 people: lognormal incomes, regions that fall off steeply, most of the 40 nearly empty."""
    rng = np.random.default_rng(1)
    n = 4000
    _store(
        path,
        "people",
        person=np.arange(n),
        income=np.rint(rng.lognormal(10.3, 1.2, n)).astype(np.int64),
        region=np.minimum(rng.zipf(1.7, n), 30),
        age=rng.integers(0, 100, n),
        town=np.array([f"town {k}" for k in np.minimum(rng.zipf(1.3, n), 3000)]),
    )


# -------------------------------------------------------------------------------------------------------- claims

CLAIMS = """\
  claims:
    unit: holder
    key: claim
    rows_per_unit: 20
    rows_about: 300000
    columns:
      amount: {type: real, bounds: [-1000, 1000000], grid: 0.01, centre: 900000, spread: 1}
      kind:   {type: text, values: [fire, water, theft, storm, hail, flood, quake, other]}
      place:  {type: text}
"""


def make_claims(path: Path) -> None:
    """9,000 claims of 3,000 holders: Pareto amounts with refunds, three kinds of eight, places of all sizes."""
    rng = np.random.default_rng(2)
    n = 9000
    amount = 100 * (1 + rng.pareto(1.2, n)) * np.where(rng.random(n) < 0.05, -1, 1)
    _store(
        path,
        "claims",
        claim=np.arange(n),
        holder=np.minimum(rng.zipf(1.3, n), 3000),
        amount=np.round(amount, 2),
        kind=np.array(["water", "theft", "fire"])[np.minimum(rng.geometric(0.9, n), 3) - 1],
        place=np.array([f"place {k}" for k in np.minimum(rng.zipf(1.5, n), 5000)]),
    )


# --------------------------------------------------------------------------------------------------------- gains

GAINS = """\
  gains:
    unit: person
    key: person
    rows_per_unit: 1
    rows_about: 100000
    columns:
      gain:  {type: real, bounds: [0, 1000000], grid: 0.01, centre: 50000, spread: 10}
      swing: {type: integer, bounds: [-20000, 100000]}
      dated: {type: date, bounds: [2024-01-01, 2024-12-31]}
      part:  {type: integer, values: [0, 1, 2, 3]}
"""


def make_gains(path: Path) -> None:
    """10,000 people, of whom one of five gained anything, and one of twelve gained or lost."""
    rng = np.random.default_rng(4)
    n = 10_000
    some, swung = rng.random(n) < 0.2, rng.random(n) < 1 / 12
    _store(
        path,
        "gains",
        person=np.arange(n),
        gain=np.where(some, np.round(rng.lognormal(7, 0.8, n), 2), 0.0),
        swing=np.where(swung, np.rint(rng.normal(500, 3000, n)), 0).clip(-20_000, 100_000).astype(np.int64),
        dated=np.array([date(2024, 1, 1) + timedelta(days=int(day)) for day in rng.integers(0, 366, n)]),
        part=rng.integers(0, 4, n),
    )


# --------------------------------------------------------------------------------------------------------- panel

PANEL = """\
  years:
    unit: person
    key: [person, year]
    rows_per_unit: 8
    rows_about: 40000
    columns:
      year:  {type: integer, bounds: [1980, 1987]}
      wage:  {type: real, bounds: [-5, 50], grid: 0.001}
      weeks: {type: integer, bounds: [0, 53]}
"""


def make_panel(path: Path) -> None:
    """600 people, each asked once a year for eight years: a tenth of the rows that the policy guesses."""
    rng = np.random.default_rng(3)
    people, years = 600, 8
    own = np.repeat(rng.normal(1.6, 0.5, people), years)
    _store(
        path,
        "years",
        person=np.repeat(np.arange(people), years),
        year=np.tile(np.arange(1980, 1980 + years), people),
        wage=np.round(own + rng.normal(0, 0.2, people * years), 3),
        weeks=np.minimum(rng.geometric(0.02, people * years), 53)[::-1],
    )


# --------------------------------------------------------------------------------------------------------- staff

STAFF = """\
  staff:
    unit: person
    key: person
    rows_per_unit: 1
    rows_about: 12000
    columns:
      dept:  {type: text, values: [a, b, c, d, e]}
      pay:   {type: real, bounds: [0, 1000000], grid: 1, centre: 60000, spread: 13000}
      claim: {type: real, bounds: [0, 35000], grid: 0.01, centre: 570, spread: 480}
"""


def make_staff(path: Path) -> None:
    """12,000 people in departments of 240 to 6,000: 3 of 100 have ten times the pay of others, or fifty the claims."""
    rng = np.random.default_rng(11)
    n = 12_000
    partner, large = rng.random(n) < 0.03, rng.random(n) < 0.03
    _store(
        path,
        "staff",
        person=np.arange(n),
        dept=rng.choice(list("abcde"), n, p=[0.02, 0.05, 0.13, 0.3, 0.5]),
        pay=np.rint(np.where(partner, rng.uniform(3e5, 9e5, n), rng.normal(60e3, 15e3, n).clip(15e3))),
        claim=np.round(np.where(large, rng.uniform(15e3, 35e3, n), rng.uniform(100, 900, n)), 2),
    )


# --------------------------------------------------------------------------------------------------------- crowd

CROWD = """\
  orders:
    unit: person
    key: number
    rows_per_unit: 12
    rows_about: 36000
    columns:
      town:  {type: text, values: [here, there, elsewhere]}
      month: {type: integer, bounds: [1, 12]}
      price: {type: real, bounds: [0, 30], grid: 0.01}
"""


def make_crowd(path: Path) -> None:
    """3,000 people with as many rows as the policy allows, of whom 75 live in one town and 300 in another."""
    rng = np.random.default_rng(12)
    people, rows = 3_000, 12
    person = np.repeat(np.arange(people), rows)
    _store(
        path,
        "orders",
        person=person,
        number=np.arange(people * rows),
        town=np.where(person < 75, "here", np.where(person < 375, "there", "elsewhere")),
        month=np.tile(np.arange(1, rows + 1), people),
        price=np.round(rng.uniform(18, 22, people * rows), 2),
    )


# ------------------------------------------------------------------------------------------------------ measures

MEASURES = """\
  measures:
    unit: person
    key: person
    rows_per_unit: 1
    rows_about: 100000
    columns:
      part:   {type: integer, values: [0, 1, 2, 3]}
      height: {type: integer, centre: 165, spread: 10}
      heap:   {type: real, grid: 0.1, centre: 0, spread: 1}
      skew:   {type: real, grid: 0.01, centre: 1000, spread: 5}
      humps:  {type: integer, centre: 100, spread: 1000}
      same:   {type: integer, centre: 10, spread: 1}
"""


def make_measures(path: Path) -> None:
    """6,000 people with numbers that have no bounds: rounded, heaped, skewed, in two humps, and all alike."""
    rng = np.random.default_rng(13)
    n = 6_000
    side = rng.random(n) < 0.4
    _store(
        path,
        "measures",
        person=np.arange(n),
        part=rng.integers(0, 4, n),
        height=np.rint(rng.normal(169, 9.5, n)).astype(np.int64),
        heap=5.0 * rng.integers(0, 9, n),
        skew=np.round(rng.lognormal(4, 1.5, n), 2),
        humps=np.rint(np.where(side, rng.normal(-500, 20, n), rng.normal(700, 20, n))).astype(np.int64),
        same=np.full(n, 42),
    )


def unbounded(*columns: str) -> tuple[Question, ...]:
    """What is answered unasked of columns without bounds."""
    found: tuple[Question, ...] = ()
    for x in columns:
        found += plain("quantiles", "measures", f"MEDIAN({x})", f"QUANTILE_CONT({x}, 0.9)", f"QUANTILE_DISC({x}, 0.1)")
        found += plain("quantiles", "measures", f"MEDIAN({x})", where="part = 1")
        found += plain("averages", "measures", f"AVG({x})")
        found += plain("variances", "measures", f"VAR_POP({x})", f"STDDEV({x})")
    return found


# -------------------------------------------------------------------------------------------------------- scores

SCORES = """\
  scores:
    unit: pupil
    key: number
    rows_per_unit: 4
    rows_about: 6000
    columns:
      part:   {type: integer, values: [0, 1, 2, 3]}
      tenth:  {type: integer, bounds: [0, 100]}
      few:    {type: integer, bounds: [0, 100]}
      third:  {type: integer, bounds: [-100, 100]}
      humps:  {type: integer, bounds: [0, 100]}
      rating: {type: integer, bounds: [0, 100]}
"""
ENDS = {"tenth": 0.1, "few": 0.05, "third": 0.34}


def make_scores(path: Path) -> None:
    """6,000 scores of 2,000 pupils, 600 of them in one part: near 0 or 100, in two humps, or ratings from 1 to 5."""
    rng = np.random.default_rng(14)
    n = 6_000
    ends = {
        name: np.where(rng.random(n) < share, rng.integers(90, 101, n), rng.integers(0, 5, n))
        for name, share in ENDS.items()
    }
    _store(
        path,
        "scores",
        pupil=np.arange(n) // 3,
        number=np.arange(n),
        part=np.where(np.arange(n) % 10 == 0, 1, rng.choice([0, 2, 3], n, p=[0.25, 0.25, 0.5])),
        **ends,
        humps=np.where(rng.random(n) < 0.5, rng.integers(15, 25, n), rng.integers(75, 85, n)),
        rating=rng.integers(1, 6, n),
    )


def scored(*columns: str) -> tuple[Question, ...]:
    """Means and variances of each column, over all rows, a part, and each part."""
    found: tuple[Question, ...] = ()
    for x in columns:
        for where in ("", "part = 1"):
            found += plain("averages", "scores", f"AVG({x})", where=where)
            found += plain("variances", "scores", f"VAR_POP({x})", f"STDDEV({x})", where=where)
        found += by("part", "scores", f"AVG({x})", f"STDDEV({x})")
    return found


# -------------------------------------------------------------------------------------------------------- cities

CITIES = """\
  towns:
    unit: geonameid
    key: geonameid
    rows_per_unit: 1
    rows_about: 50000
    columns:
      state:      {type: text, values: [%s]}
      lat:        {type: real, bounds: [-90, 90], grid: 0.001, centre: -80, spread: 0.01}
      lon:        {type: real, bounds: [-180, 180], grid: 0.001}
      population: {type: integer, bounds: [0, 40000000], centre: 0, spread: 10}
      elevation:  {type: integer, bounds: [-500, 9000], centre: 8000, spread: 5, nullable: true}
"""
CITIES_CSV = ROOT / "examples" / "data" / "us_cities_50k.csv"


def make_cities(path: Path) -> None:
    """The 827 cities of the examples, real skew."""
    with duckdb.connect(str(path)) as connection:
        connection.execute(
            "CREATE TABLE towns AS SELECT geonameid, state, lat, lon, population::INTEGER AS population, "
            "elevation_m::INTEGER AS elevation FROM read_csv(?, header = true)",
            [str(CITIES_CSV)],
        )


def states() -> str:
    """Every state in the file, and ten that are not."""
    with duckdb.connect() as connection:
        found = connection.execute("SELECT DISTINCT state FROM read_csv(?) ORDER BY 1", [str(CITIES_CSV)]).fetchall()
    return ", ".join([f"'{state}'" for (state,) in found] + [f"nowhere{i}" for i in range(10)])


def _store(path: Path, table: str, **columns: np.ndarray) -> None:
    names = ", ".join(f"unnest(${name}) AS {name}" for name in columns)
    with duckdb.connect(str(path)) as connection:
        connection.execute(f"CREATE TABLE {table} AS SELECT {names}", {k: v.tolist() for k, v in columns.items()})


TOP = "ORDER BY x DESC LIMIT 5"

DATA = (
    DataSet(
        "hospital",
        HOSPITAL,
        make_hospital,
        (
            *statistics("visits", "cost", "", "cost > 2000"),
            *plain("averages", "patients", "AVG(weight)", "AVG(age)"),
            *plain("variances", "patients", "STDDEV(weight)", "CORR(weight, age)"),
            *plain("quantiles", "patients", "MEDIAN(weight)"),
            *plain("joins", JOINED, "COUNT(*)", "AVG(cost)", "SUM(weight)", where="age > 80"),
            *by("sex", "patients", "COUNT(*)", "AVG(weight)", "MEDIAN(age)", "STDDEV(weight)", "MAX(age)"),
            *by("sex", JOINED, "SUM(cost)", "MEDIAN(cost)", kind="joins"),
            Question("top-k", "SELECT city AS k, COUNT(*) AS x FROM patients GROUP BY city", 1, TOP),
            Question("top-k", "SELECT city AS k, COUNT(*) AS x FROM patients GROUP BY city", 1, "HAVING COUNT(*) > 50"),
            *open_groups("diagnosis", "visits", "COUNT(*)", "COUNT(DISTINCT patient_id)"),
        ),
    ),
    DataSet(
        "shop",
        SHOP,
        make_shop,
        (
            *statistics("lineitems", "price", "", "quantity > 6"),
            *plain("averages", "customers", "AVG(born)", where="region = 'north' AND segment = 'school'"),
            *plain("joins", "lineitems JOIN orders USING (order_id)", "COUNT(*)", "AVG(price)"),
            *by("channel", "orders", "COUNT(*)", "SUM(shipping)", "AVG(shipping)", "QUANTILE_CONT(shipping, 0.25)"),
            *by("product", "lineitems", "AVG(price)", "COUNT(*)", "MEDIAN(quantity)", "VAR_POP(quantity)"),
            Question("top-k", "SELECT product AS k, SUM(quantity) AS x FROM lineitems GROUP BY product", 1, TOP),
            Question("ratios", "SELECT 100.0 * SUM(price) / SUM(quantity) AS x FROM lineitems"),
        ),
    ),
    DataSet(
        "incomes",
        INCOMES,
        make_incomes,
        (
            *statistics("people", "income", "", "income > 200000"),
            *by("region", "people", "COUNT(*)", "AVG(income)", "MEDIAN(income)", "STDDEV(income)", "SUM(age)"),
            *by("region", "people", "AVG(income)", where="age > 90"),
            *open_groups("town", "people", "COUNT(*)", "AVG(age)", "SUM(age)"),
            Question("top-k", "SELECT region AS k, COUNT(*) AS x FROM people GROUP BY region", 1, TOP),
            Question("top-k", "SELECT region AS k, AVG(age) AS x FROM people GROUP BY region", 1, TOP),
            Question("top-k", "SELECT age AS k, SUM(income) AS x FROM people GROUP BY age", 1, TOP),
        ),
    ),
    DataSet(
        "claims",
        CLAIMS,
        make_claims,
        (
            *statistics("claims", "amount", "", "amount > 100000"),
            *by("kind", "claims", "COUNT(*)", "COUNT(DISTINCT holder)", "SUM(amount)", "AVG(amount)", "MIN(amount)"),
            *open_groups("place", "claims", "COUNT(*)", "COUNT(DISTINCT holder)", "AVG(amount)"),
            Question("top-k", "SELECT kind AS k, SUM(amount) AS x FROM claims GROUP BY kind", 1, "ORDER BY x LIMIT 2"),
        ),
    ),
    DataSet(
        "gains",
        GAINS,
        make_gains,
        (
            *statistics("gains", "gain", "", "part = 1"),
            *statistics("gains", "swing", "", "part = 2"),
            *by("part", "gains", "COUNT(*)", "SUM(gain)", "AVG(gain)", "STDDEV(gain)", "AVG(swing)"),
            *by("month(dated)", "gains", "COUNT(*)", "SUM(gain)", "AVG(gain)", "AVG(swing)"),
        ),
    ),
    DataSet(
        "panel",
        PANEL,
        make_panel,
        (
            *statistics("years", "wage", "", "weeks > 40"),
            *plain("sums", "years", "SUM(weeks)", "COUNT(*)"),
            *by("year", "years", "COUNT(*)", "SUM(wage)", "AVG(wage)", "MEDIAN(wage)"),
        ),
    ),
    DataSet(
        "staff",
        STAFF,
        make_staff,
        (
            *statistics("staff", "pay", "", "dept = 'b'"),
            *statistics("staff", "claim", "", "dept = 'c'"),
            *by("dept", "staff", "COUNT(*)", "SUM(pay)", "AVG(pay)", "STDDEV(pay)"),
            *by("dept", "staff", "SUM(claim)", "AVG(claim)", "STDDEV(claim)"),
        ),
    ),
    DataSet(
        "crowd",
        CROWD,
        make_crowd,
        (
            *statistics("orders", "price", "town = 'there'", "town = 'here'"),
            *plain("sums", "orders", "SUM(price) FILTER (WHERE town = 'here')", "SUM(price)", "COUNT(*)"),
            *by("town", "orders", "COUNT(*)", "SUM(price)", "AVG(price)"),
            *by("month", "orders", "COUNT(*)", "SUM(price)", where="town = 'here'"),
        ),
    ),
    DataSet(
        "measures",
        MEASURES,
        make_measures,
        (
            *unbounded("height", "heap", "skew", "humps", "same"),
            *by("part", "measures", "MEDIAN(height)", "MEDIAN(heap)"),
        ),
    ),
    DataSet("scores", SCORES, make_scores, scored("tenth", "few", "third", "humps", "rating")),
    DataSet(
        "cities",
        CITIES % states(),
        make_cities,
        (
            *statistics("towns", "population", "", "state = 'CA'"),
            *statistics("towns", "elevation", "", "lon < -100"),
            *plain("variances", "towns", "CORR(lat, lon)", "STDDEV(lat)", "VAR_SAMP(lon)"),
            *by("state", "towns", "COUNT(*)", "AVG(population)", "MEDIAN(elevation)", "MAX(population)"),
            Question("top-k", "SELECT state AS k, COUNT(*) AS x FROM towns GROUP BY state", 1, TOP),
            Question("top-k", "SELECT state AS k, SUM(population) AS x FROM towns GROUP BY state", 1, TOP),
            Question("ratios", "SELECT AVG(lat) / AVG(lon) AS x FROM towns"),
        ),
    ),
)
