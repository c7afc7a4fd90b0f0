"""docs/functions.md lists the functions that an analyst may call, and each of them answers."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import duckdb
import pytest

import dpsql.testing
from dpsql.plan.functions import FUNCTIONS, Function
from dpsql.plan.functions.page import page
from dpsql.plan.types import Type
from dpsql.session import Session

PAGE = Path(__file__).parents[2] / "docs" / "functions.md"


def test_the_list_of_functions_is_the_allow_list() -> None:
    assert PAGE.read_text(encoding="utf-8") == page(), "Run `make schema`."


@pytest.fixture(scope="module")
def every_type(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Session]:
    """A session on a table with one column of each type, named after it."""
    home = tmp_path_factory.mktemp("types")
    types = {Type.INTEGER: "BIGINT", Type.REAL: "DOUBLE", Type.TEXT: "VARCHAR", Type.BOOLEAN: "BOOLEAN"} | {
        Type.DATE: "DATE",
        Type.TIMESTAMP: "TIMESTAMP",
    }
    with duckdb.connect(str(home / "types.duckdb")) as connection:
        columns = ", ".join(f"a_{kind.value} {engine}" for kind, engine in types.items())
        connection.execute(f"CREATE TABLE types (id BIGINT, {columns})")
        connection.execute("INSERT INTO types VALUES (1, 2, 2.5, 'two', true, '2002-02-02', '2002-02-02 02:02:02')")
    bounds = {"integer": ", bounds: [1, 9]", "real": ", bounds: [0, 9]", "date": ", bounds: [2000-01-01, 2009-12-31]"}
    lines = [f"      a_{kind.value}: {{type: {kind.value}{bounds.get(kind.value, '')}}}" for kind in types]
    (home / "types.yaml").write_text(
        "version: 1\nname: types\nengine: {kind: duckdb, database: types.duckdb}\nneighbours: add_remove\n"
        "budget: {ledger: types.ledger.db, composition: basic, total: {epsilon: 9000}, "
        'analysts: {"*": {epsilon: 9000}}, per_query: {epsilon: 1}}\n'
        "tables:\n  types:\n    unit: id\n    rows_per_unit: 1\n    columns:\n" + "\n".join(lines) + "\n"
    )
    with dpsql.testing.open(home / "types.yaml", sampler=dpsql.testing.Noiseless()) as proxy:
        yield proxy.session(analyst="anyone")


TOGETHER = 8  # Functions in one statement: most of what each takes is the statement's.
CONSTANTS: dict[Type, list[Any]] = {Type.TEXT: ["%Y", "a"], Type.INTEGER: [2], Type.REAL: [1, 9]}


def called(function: Function) -> str:
    """The function as the docs spell it, on columns of its types, constants where it wants them."""
    text, arguments = function.spelling, []
    for index, kind in enumerate(function.parameters):
        check = function.constants.get(index)
        if check is None:
            arguments.append("a_" + kind.value)
            continue
        choices = [value for value in CONSTANTS[kind] if check(value) is None] if callable(check) else check
        arguments.append(repr(choices[-1 if arguments[1:] and kind is Type.REAL else 0]))
    text = text.replace("{*}", ", ".join(arguments)).replace("{rest}", ", ".join(arguments[1:]))
    if ":" in function.name and function.name.startswith("add"):
        arguments[1] = "2"
    for index, argument in enumerate(arguments):
        text = text.replace(f"{{{index}}}", argument)
    return text.replace("(2) ", "2 ")


def test_every_listed_function_is_accepted_and_answers(every_type: Session) -> None:
    for first in range(0, len(FUNCTIONS), TOGETHER):
        some = [f"({called(function)}) IS NOT NULL OR true" for function in FUNCTIONS[first : first + TOGETHER]]
        sql = f"SELECT {', '.join(f'COUNT(*) FILTER (WHERE {condition})' for condition in some)} FROM types"
        assert every_type.query(sql).rows == [(1,) * len(some)], sql
