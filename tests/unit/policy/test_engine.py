"""The keys of an engine are its folder's: a made-up one is a folder here, and a line."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

from dpsql.engines import ENGINES
from dpsql.owner.shape import shape_of
from dpsql.policy import Policy
from dpsql.policy.schema import policy_schema

Load = Callable[..., Policy]
Refusal = Callable[..., str]

DUCKDB = "engine: {kind: duckdb, database: clinic.duckdb}"
MARKED = (DUCKDB, "engine: {kind: marked, remote: 'sc://there', memory: 3GiB}")


@pytest.fixture
def line(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The line of the made-up engine."""
    monkeypatch.setitem(ENGINES, "marked", "tests.unit.policy.marked")
    policy_schema.cache_clear()
    yield
    policy_schema.cache_clear()


@pytest.mark.usefixtures("line")
def test_its_section_is_read_by_its_own_folder(load: Load) -> None:
    policy = load(MARKED)
    assert (policy.engine.kind, policy.engine.memory_bytes) == ("marked", 3 * 2**30)
    shape = shape_of(policy)
    assert (shape.engine, shape.source) == ("marked", {"remote": "sc://there"})
    assert Policy.model_validate(policy.model_dump(exclude_unset=True)).engine == policy.engine
    assert shape.digest != shape_of(load((DUCKDB, MARKED[1].replace("there", "elsewhere")))).digest


@pytest.mark.usefixtures("line")
@pytest.mark.parametrize(
    ("section", "message"),
    [
        ("{kind: marked}", "engine.remote: this is missing; write remote: there"),
        ("{kind: marked, remote: x, database: y}", "engine.database: there is no such key here"),
        ("{kind: duckdb, remote: x}", "engine.remote: there is no such key here"),
        ("{kind: marked, remote: x, memory: 2GB}", "engine.memory: 2GB is not an amount of memory"),
        (
            "{kind: oracle}",
            "engine.kind: oracle is no engine of this version; write duckdb or postgres or spark or marked",
        ),
        ("{kind: [marked]}", "engine.kind: ['marked'] is no engine of this version"),
        ("{remote: x}", "engine.kind: this is missing; write kind: duckdb or postgres or spark or marked"),
        ("marked", "engine: this is not a mapping; write key: value lines below it, or {key: value}"),
    ],
)
def test_what_is_wrong_is_said_with_its_place(refusal: Refusal, section: str, message: str) -> None:
    assert message in refusal((DUCKDB, f"engine: {section}"))


@pytest.mark.usefixtures("line")
def test_it_says_where_its_tables_may_lie(refusal: Refusal) -> None:
    text = refusal(MARKED, ("    unit: pid\n    key", "    source: people.csv\n    unit: pid\n    key"))
    assert "tables.people: people is a file; remove source" in text


def test_a_policy_without_the_section_is_shown_one(refusal: Refusal) -> None:
    text = refusal((f"{DUCKDB}\n", ""))
    assert "engine: this is missing; write engine: {database: hospital.duckdb, kind: duckdb}" in text


@pytest.mark.usefixtures("line")
def test_the_schema_has_the_keys_of_each() -> None:
    sections = policy_schema()["properties"]["engine"]["oneOf"]
    assert [set(section["properties"]) - {"kind", "memory", "deadline", "cache"} for section in sections] == [
        {"database"},
        {"dsn", "query_dsn", "bounded"},
        {"remote", "schema", "bounded"},
        {"remote"},
    ]
