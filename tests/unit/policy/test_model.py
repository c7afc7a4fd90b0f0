"""What a policy may say, and what its numbers become."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date, datetime
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any, get_args

import pytest
from pydantic import ValidationError

from dpsql.engine.duckdb.section import DuckDBSection
from dpsql.errors import PolicyError
from dpsql.mechanisms import MECHANISMS
from dpsql.policy import ColumnPolicy, Limit, Policy, load_policy
from dpsql.policy.mechanisms import MechanismName

Load = Callable[..., Policy]
Refusal = Callable[..., str]

HOSPITAL = Path(__file__).parents[3] / "policies" / "hospital.yaml"


def test_an_owner_can_name_every_mechanism_but_the_one_without_noise() -> None:
    assert {mechanism.name for mechanism in MECHANISMS} - {"public"} <= set(get_args(MechanismName))


def test_the_sample_policy_is_read_whole() -> None:
    policy = load_policy(HOSPITAL)
    assert policy.resolve(Path("hospital.duckdb")) == HOSPITAL.parent / "hospital.duckdb"
    assert list(policy.tables) == ["patients", "visits", "cities"]


def test_small_numbers_are_read_exactly() -> None:
    total = load_policy(HOSPITAL).budget.total
    assert (total.epsilon, total.delta, total.gamma) == (Decimal(20), Decimal("1e-5"), Decimal("0.02"))
    assert Fraction(load_policy(HOSPITAL).budget.per_query.delta) == Fraction(1, 10**9)


def test_a_float_is_refused_because_it_is_not_exact() -> None:
    with pytest.raises(ValidationError, match="not an exact number"):
        Limit.model_validate({"epsilon": 0.1})


def test_a_policy_cannot_be_changed() -> None:
    policy = load_policy(HOSPITAL)
    with pytest.raises(ValidationError, match="frozen"):
        policy.budget.total.epsilon = Decimal(100)


def test_absent_keys_have_the_documented_defaults(load: Load) -> None:
    policy = load()
    assert policy.engine.memory_bytes == 2 * 2**30
    assert policy.engine.deadline_seconds == 30
    assert policy.engine.cache is None and policy.budget.mark is None
    assert policy.budget.per_query.delta == 0 and policy.budget.total.gamma == 0
    assert policy.tables["people"].rows_about == 10_000
    assert policy.tables["visits"].max_groups_per_unit is None


def test_the_guess_at_the_rows_is_at_least_the_floor(load: Load) -> None:
    people = load(("rows_per_unit: 1\n", "rows_per_unit: 1\n    rows_at_least: 50000\n")).tables["people"]
    assert people.rows_about == 50_000


def test_bounds_have_the_type_of_their_column(load: Load) -> None:
    columns = load().tables["people"].columns | load().tables["visits"].columns
    assert columns["age"].bounds == (0, 110) and type((columns["age"].bounds or (None,))[0]) is int
    assert columns["cost"].bounds == (Decimal(0), Decimal(20000))
    assert columns["on_day"].bounds == (date(2020, 1, 1), date(2025, 12, 31))
    timed = ColumnPolicy(type="timestamp", bounds=(datetime(2020, 1, 1), datetime(2020, 1, 2)))
    assert timed.bounds == (datetime(2020, 1, 1), datetime(2020, 1, 2))
    by_day = ColumnPolicy(type="timestamp", bounds=(date(2020, 1, 1), datetime(2020, 1, 1, 12)))
    assert by_day.bounds == (datetime(2020, 1, 1), datetime(2020, 1, 1, 12))
    assert [type(end) for end in by_day.bounds] == [datetime, datetime]


@pytest.mark.parametrize(
    ("fields", "step"),
    [
        ({"type": "integer", "bounds": [0, 110]}, "1"),
        ({"type": "integer"}, "1"),
        ({"type": "real", "bounds": [0, 20000]}, "1/100"),
        ({"type": "real", "bounds": [0, 1]}, "1/10000000"),
        ({"type": "real", "bounds": [0, 2**10 * 5]}, "1/1000"),
        ({"type": "real", "bounds": [0, 2**20]}, "1/100"),
        ({"type": "real", "bounds": [0, 10**9]}, "1/100"),
        ({"type": "real", "bounds": [0, 10**15]}, "100000000"),  # in hundredths it would be more than 2^53
        ({"type": "real", "bounds": [5, 5]}, "1/1000000"),
        ({"type": "real", "bounds": [0, 0]}, "1/10000000"),
        ({"type": "real"}, "1/1000000"),
        ({"type": "real", "bounds": [0, 1], "grid": Decimal("0.25")}, "1/4"),
        ({"type": "decimal", "bounds": [0, 10**9]}, "1/100"),
        ({"type": "decimal", "bounds": [0, 1]}, "1/10000000"),
    ],
)
def test_the_grid_follows_from_type_and_bounds(fields: dict[str, Any], step: str) -> None:
    assert ColumnPolicy.model_validate(fields).grid_step == Fraction(step)


def test_memory_and_deadline_take_units() -> None:
    engine = DuckDBSection(kind="duckdb", memory="1536MiB", deadline="2min")
    assert (engine.memory_bytes, engine.deadline_seconds) == (1536 * 2**20, 120)


def test_paths_start_at_the_file_and_at_home(load: Load, tmp_path: Path) -> None:
    policy = load()
    assert policy.resolve(Path("data/a.parquet")) == tmp_path / "data" / "a.parquet"
    assert policy.resolve(Path("/srv/a.parquet")) == Path("/srv/a.parquet")
    assert policy.resolve(Path("~/a.parquet")) == Path.home() / "a.parquet"


def test_a_link_that_leads_to_itself_is_told_or_taken_as_it_is(load: Load, tmp_path: Path) -> None:
    (tmp_path / "loop.csv").symlink_to("loop.csv")
    policy = load()
    try:
        policy.resolve(Path("loop.csv")).resolve()  # newer versions of Python say nothing of it
    except PolicyError as refusal:
        assert "loop.csv is a link that leads to itself" in str(refusal)


METRICS = (
    "metrics: {home: {table: people, combine: sum, presence: 1.0, attributes: {age: {kind: chain, epsilon: 0.05}, "
    "town: {kind: euclidean, of: [towns.x, towns.y], epsilon: 0.01}}, limit: {age: 4, town: 4, presence: 4}}}\n"
)
LATER = {
    "metrics": METRICS,
    "random_dp": "random_dp: {people: {assume: iid, base_partition: [town], gamma_limit: 0.01, row_floor: 9}}\n",
    "privacy_classes": "privacy_classes: {table: people, column: town, share: {strict: 0.25, normal: 1}}\n",
}


def test_an_engine_that_is_none_is_named_with_its_line(refusal: Refusal) -> None:
    text = refusal(("kind: duckdb", "kind: oracle"))
    assert "clinic.yaml:3:16: engine.kind: oracle is no engine of this version; write duckdb" in text


def in_column(new: str) -> tuple[str, str]:
    return "{type: integer, bounds: [0, 110]}", new


KEYS = {
    "[pid, year]": "key.1: year is neither the unit nor among the columns; add it to columns",
    "[pid]": "key: this is empty; write at least one entry",
    "[age, age]": "key.1: age is there twice",
}


@pytest.mark.parametrize("key", KEYS)
def test_a_key_of_several_columns_names_columns_that_can_be_told_apart(refusal: Refusal, key: str) -> None:
    assert KEYS[key] in refusal(("key: pid", f"key: {key}"))


def test_a_key_of_several_columns_is_unique_beside_the_unit(load: Load) -> None:
    people = load(("key: pid", "key: [pid, age]")).tables["people"]
    assert people.key_column is None
    assert people.unique == ("age",)


COST = "cost: {type: real, bounds: [0, 20000]}"


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        (
            in_column("{type: integer, bounds: [9, 1]}"),
            "bounds: the low bound 9 is above the high bound 1; write [1, 9]",
        ),
        (in_column("{type: integer, bounds: [0, 1.5]}"), "age.bounds.1: 1.5 is not a whole number; write digits"),
        (in_column("{type: integer, bounds: 3}"), "age.bounds: this is not a pair; write [low, high]"),
        (in_column("{type: text, bounds: [a, b]}"), "age.bounds: a text column has no bounds; list its values"),
        (in_column("{type: date, bounds: [2020-01-01 10:00:00, 2021-01-01]}"), "is not a date; write year-month-day"),
        (in_column("{type: timestamp, bounds: ['2020-01-01', 2021-01-01]}"), "is not a timestamp without time zone"),
        (in_column("{type: timestamp, bounds: [2021-01-01 01:00:00, 2021-01-01]}"), "above the high bound"),
        (
            in_column("{type: integer, bounds: [0, 1], values: [1]}"),
            "age.values: bounds and values contradict each other",
        ),
        (in_column("{type: text, values: [a], values_from: towns.name}"), "values and values_from contradict"),
        (in_column("{type: real, values: [1]}"), "age.values: a real column cannot list its values; write bounds"),
        (in_column("{type: real, values_from: towns.name}"), "values_from: a real column cannot list its values"),
        (in_column("{type: text, values: [a, b, a]}"), "age.values.2: a is listed twice"),
        (in_column("{type: text, values: [1]}"), "age.values.0: 1 is not printable text; write it in quotes"),
        (in_column("{type: text, values: []}"), "age.values: this is not a list of values"),
        (in_column("{type: boolean, values: [1]}"), "1 is not true or false"),
        (in_column("{type: integer, bounds: [0, 10], centre: 11}"), "age.centre: the centre 11 is outside the bounds"),
        (in_column("{type: integer, spread: 0}"), "age.spread: 0 is not above 0"),
        (in_column("{type: integer, grid: 0.5}"), "age.grid: the grid 0.5 of an integer column is not a whole number"),
        (in_column("{type: text, grid: 0.5}"), "age.grid: a text column has no grid; remove grid"),
        (
            in_column("{type: date, max_length: 9}"),
            "age.max_length: a date column has no max_length; remove max_length",
        ),
        (in_column("{type: text, values: [a], max_length: 9}"), "age.max_length: values says how long the texts are"),
        (
            in_column("{type: integer, bounds: [0, 1e17]}"),
            "age.bounds: the bounds are more than 2^53 grid steps from 0",
        ),
        (in_column("{type: real, bounds: [0, 1e300]}"), "age.bounds: this number is out of range"),
        (in_column("{type: real, scale: [0, 3]}"), "age.scale: the two scales are not above 0"),
        (in_column("{type: text, values_from: people.town}"), "people is not a public table of this policy"),
        (in_column("{type: text, values_from: name}"), "'name' does not name a column; write table.column"),
        (
            ("{public: true, key: name}", "{public: true, columns: {x: {type: text}}}"),
            "towns has no column name; add it",
        ),
        (("{public: true, key: name}", "{public: true, columns: {name: {type: date}}}"), "towns.name is date, this"),
        (
            ("{public: true, key: name}", "{public: true, columns: {name: {type: text, values: [a]}}}"),
            "towns.columns.name.values: a public table is returned as it is, so nothing is promised",
        ),
        (
            ("{public: true, key: name}", "{public: true, columns: {beds: {type: integer, bounds: auto}}}"),
            "towns.columns.beds.bounds: a public table is returned as it is, so nothing is promised of its values; "
            "write the type alone, and remove bounds",
        ),
        (("key: name}", "unit: name}"), "towns.unit: a public table has no unit; remove unit, or public: true"),
        (
            ("{public: true, key: name}", "{key: name}"),
            "tables.towns: a private table needs unit, rows_per_unit, columns",
        ),
        (
            ("    rows_per_unit: 12\n", ""),
            "tables.visits: a private table needs rows_per_unit; write rows_per_unit: 12",
        ),
        ((COST, "pid: {type: integer}"), "visits.columns.pid: pid is the unit, which no answer may show"),
        ((COST, "Pid: {type: integer}"), "Pid and pid are one name in SQL"),
        ((COST, "On_Day: {type: integer}"), "On_Day and on_day are one name in SQL"),
        (
            ("    key: pid\n    rows_per_unit: 1\n", "    key: card\n    rows_per_unit: 1\n    every_unit: true\n"),
            "people.key: where every_unit has one row, the unit is the key; a row without another key would be left",
        ),
        (("  towns:", "  Visits: {public: true}\n  towns:"), "visits and Visits are one name in SQL"),
        ((COST, "cost$grid: {type: integer}"), "'cost$grid' is not a plain name"),
        (("  towns:", "  the towns:"), "'the towns' is not a plain name"),
        (("name: clinic", "name: a-b"), "'a-b' is not a plain name"),
        (("rows_per_unit: 12", "rows_per_unit: 12\n    every_unit: true"), "every_unit means one row per unit"),
        (("rows_per_unit: 1\n", "rows_per_unit: 1\n    every_unit: true\n"), "under add_remove the number of units is"),
        (
            ("rows_per_unit: 12", "rows_per_unit: 12\n    rows_at_least: 9\n    rows_about: 8"),
            "visits.rows_about: rows_about is below rows_at_least",
        ),
        (
            ("database: clinic.duckdb", "memory: 2GiB"),
            "people has no data; write source: FILE here, or engine.database",
        ),
        (
            ("per_query: {epsilon: 0.1}", "per_query: {epsilon: 0.6}"),
            "more than the limit 0.5 of analyst *; write at most",
        ),
        (
            ("per_query: {epsilon: 0.1}", "per_query: {epsilon: 1000001}"),
            "budget.per_query.epsilon: 1000001 is no price of a query; write a number from 1e-9 to 1e6",
        ),
        (
            ("per_query: {epsilon: 0.1}", "per_query: {rho: 1e-10}"),
            "budget.per_query.rho: 1E-10 is no price of a query; write a number from 1e-9 to 1e6",
        ),
        (
            ("per_query: {epsilon: 0.1}", "per_query: {epsilon: 0.1, delta: 1e-19}"),
            "budget.per_query.delta: 1E-19 is no delta of a query; write 0, or a number from 1e-18",
        ),
        (("per_query: {epsilon: 0.1}", "per_query: {delta: 0}"), "a query is priced by epsilon or by rho"),
        (("per_query: {epsilon: 0.1}", "per_query: {epsilon: 1, rho: 1}"), "a query is priced by epsilon or by rho"),
        (("per_query: {epsilon: 0.1}", "per_query: {epsilon: 0.1, delta: 1e-8}"), "the delta of a query is above"),
        (("composition: zcdp", "composition: basic\n  x: 1"), "budget.x: there is no such key here"),
        (("{epsilon: 2, delta: 1e-9}", "{epsilon: 2}"), "budget.total: zcdp needs a delta"),
        (("{epsilon: 2, delta: 1e-9}", "{epsilon: 0}"), "budget.total.epsilon: 0 is not above 0"),
        (("{epsilon: 2, delta: 1e-9}", "{epsilon: 2, delta: 1}"), "budget.total.delta: 1 is not a probability"),
        (("{epsilon: 2, delta: 1e-9}", "{epsilon: true}"), "budget.total.epsilon: this is not an exact number"),
        (("{epsilon: 2, delta: 1e-9}", "{epsilon: '2'}"), "budget.total.epsilon: this is not an exact number"),
        (('"*"', '"a b"'), "'a b' is not an analyst's name"),
        (('"*"', '"Ana"'), "ana and Ana differ in case alone"),
        (('{ana: {epsilon: 1}, "*": {epsilon: 0.5}}', "{}"), "budget.analysts: this is empty; write at least one"),
        (("kind: duckdb,", "kind: duckdb, memory: 2GB,"), "engine.memory: 2GB is not an amount of memory"),
        (("kind: duckdb,", "kind: duckdb, memory: 512MiB,"), "engine.memory: 512MiB is too little"),
        (("kind: duckdb,", "kind: duckdb, deadline: 30,"), "engine.deadline: 30 is not a duration; write a number and"),
        (("kind: duckdb,", "kind: duckdb, cache: 3,"), "engine.cache: this is not a path"),
    ],
)
def test_a_contradiction_is_refused_with_a_way_out(refusal: Refusal, change: tuple[str, str], expected: str) -> None:
    message = refusal(change)
    assert expected in message
    assert "; " in message and len(message.splitlines()) == 1


def test_a_query_cannot_be_priced_in_rho_under_basic_composition(refusal: Refusal) -> None:
    message = refusal(("composition: zcdp", "composition: basic"), ("{epsilon: 0.1}", "{rho: 0.1}"))
    assert "budget.per_query.rho: rho needs composition: zcdp; write epsilon instead" in message


def test_a_policy_without_a_private_table_protects_nobody(refusal: Refusal) -> None:
    private = (
        "unit: pid\n    key: pid\n    rows_per_unit: 1\n    columns:\n      age: {type: integer, bounds: [0, 110]}\n"
    )
    message = refusal(
        (private + "      town: {type: text, values_from: towns.name}", "public: true"),
        (
            "unit: pid\n    rows_per_unit: 12\n    columns:\n      cost: {type: real, bounds: [0, 20000]}\n"
            "      on_day: {type: date, bounds: [2020-01-01, 2025-12-31]}",
            "public: true",
        ),
    )
    assert (
        message
        == "clinic.yaml:11:1: tables: no table is private, so there is nobody to protect; write unit: ... for one"
    )


@pytest.mark.parametrize(
    ("sections", "expected"),
    [
        (("privacy_classes", "metrics"), "privacy_classes: privacy_classes and metrics cannot go together"),
        (("privacy_classes", "random_dp"), "privacy_classes: privacy_classes and random_dp cannot go together"),
    ],
)
def test_privacy_classes_stand_alone(refusal: Refusal, sections: tuple[str, str], expected: str) -> None:
    assert expected in refusal(("tables:\n", LATER[sections[0]] + LATER[sections[1]] + "tables:\n"))


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        (("visits.cost", "visits.x"), "mechanisms.visits.x: visits.x is not a column"),
        (("laplace", "magic"), "magic is not one of 'laplace', 'gaussian'"),
        (("avg:", "average:"), "there is no such key here; write "),
    ],
)
def test_the_owners_mechanisms_name_columns_aggregates_and_mechanisms(
    refusal: Refusal, change: tuple[str, str], expected: str
) -> None:
    wishes = "mechanisms: {visits.cost: {avg: laplace, ban: [gaussian]}}\n"
    assert change[0] in wishes
    assert expected in refusal(("tables:\n", wishes.replace(*change) + "tables:\n"))


def test_tables_and_columns_of_both_kinds_are_described(load: Load) -> None:
    policy = load(
        ("  people:\n", "  people:\n    description: Everybody who was ever here\n"),
        ("age: {type: integer,", "age: {description: 'In years, at the last visit', type: integer,"),
        ("towns: {public: true", "towns: {description: The list of 2020, columns: {name: {type: text, "
         "description: Without the canton}}, public: true"),
    )  # fmt: skip
    people, towns = policy.tables["people"], policy.tables["towns"]
    assert (people.description, people.columns["age"].description) == (
        "Everybody who was ever here",
        "In years, at the last visit",
    )
    assert (towns.description, towns.columns["name"].description) == ("The list of 2020", "Without the canton")


@pytest.mark.parametrize("text", ["", "  ", "a" * 501, "two\nlines", "a\x1b[31mb", "a\u202eb", "a\u200bb"])
def test_a_description_is_a_line_that_prints(text: str) -> None:
    with pytest.raises(ValidationError, match="no line of plain text of 500 characters at most"):
        ColumnPolicy.model_validate({"type": "text", "description": text})
    assert ColumnPolicy.model_validate({"type": "text", "description": "ä" * 500}).description == "ä" * 500
