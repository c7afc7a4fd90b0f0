"""docs/functions.md lists the functions that an analyst may call, and each of them answers."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import duckdb
import pytest

import dpsql.testing
from dpsql.plan.functions import FUNCTIONS, Function
from dpsql.plan.types import Type
from dpsql.session import Session


def imported(file: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(file.stem, file)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[file.stem] = module
    spec.loader.exec_module(module)
    return module


PAGE = imported(Path(__file__).parents[2] / "docs" / "functions.py")


def test_the_list_of_functions_is_the_allow_list() -> None:
    assert PAGE.PAGE.read_text(encoding="utf-8") == PAGE.page(), "Run `make schema`."


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
    bounds = {"integer": ", bounds: [0, 9]", "real": ", bounds: [0, 9]", "date": ", bounds: [2000-01-01, 2009-12-31]"}
    lines = [f"      a_{kind.value}: {{type: {kind.value}{bounds.get(kind.value, '')}}}" for kind in types]
    (home / "types.yaml").write_text(
        "version: 1\nname: types\nengine: {kind: duckdb, database: types.duckdb}\nneighbours: add_remove\n"
        "budget: {ledger: types.ledger.db, composition: basic, total: {epsilon: 9000}, "
        'analysts: {"*": {epsilon: 9000}}, per_query: {epsilon: 1}}\n'
        "tables:\n  types:\n    unit: id\n    rows_per_unit: 1\n    columns:\n" + "\n".join(lines) + "\n"
    )
    with dpsql.testing.open(home / "types.yaml", sampler=dpsql.testing.Noiseless()) as proxy:
        yield proxy.session(analyst="anyone")


CONSTANTS = {Type.TEXT: "'a'", Type.INTEGER: "2"}


def called(function: Function) -> str:
    """The function as the docs spell it, on columns of its types, constants where it wants them."""
    arguments = []
    for index, kind in enumerate(function.parameters):
        choices = function.choices.get(index)
        if choices:
            arguments.append(f"'{choices[0]}'")
        else:
            arguments.append(CONSTANTS[kind] if index in function.constants else f"a_{kind.value}")
    return str(PAGE.spelled(function.name, arguments))


def test_every_listed_function_is_accepted_and_answers(every_type: Session) -> None:
    for function in FUNCTIONS:
        sql = f"SELECT COUNT(*) FROM types WHERE ({called(function)}) IS NOT NULL OR true"
        assert every_type.query(sql).rows == [(1,)], sql
