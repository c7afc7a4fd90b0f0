"""The table of aggregates: every list of them elsewhere is read from it, or holds names of it."""

from __future__ import annotations

import ast
from pathlib import Path
from typing import get_args

import pytest

import dpsql
from dpsql.mechanisms import MECHANISMS
from dpsql.mechanisms.choice.query import QUANTILES
from dpsql.mechanisms.friendly_core import pairs
from dpsql.mechanisms.metric import questions
from dpsql.mechanisms.noise import central, sensitivity
from dpsql.mechanisms.preprocessing import mechanism, statistics
from dpsql.plan.aggregates import CALLS, FUNCTIONS, NAMES, ByUnit, Kind, Takes
from dpsql.plan.functions.refused import REFUSED
from dpsql.plan.over_answers import stages
from dpsql.plan.rows import per_unit, windows
from dpsql.plan.table_functions import SIGNATURES
from dpsql.plan.types import Type
from dpsql.policy.mechanisms import ColumnMechanisms, MechanismName

OF_MECHANISMS = {
    "noise": {*sensitivity.KINDS, "avg", *central.STATISTICS},
    "choice": {*QUANTILES, "mode"},
    "friendly_core": {*pairs.STATISTICS, "avg"},
    "preprocessing": {*statistics.STATISTICS, *mechanism.WALKED, *mechanism.ONLY_NAMED},
    "metric": {*questions.FUNCTIONS},
}
"""What each family of mechanisms has a theorem for."""


def test_every_call_measures_a_function_of_the_table() -> None:
    assert {call.function for call in CALLS.values()} <= set(FUNCTIONS)


def test_every_function_is_measured_by_some_call() -> None:
    counted = {row.name for row in FUNCTIONS.values() if row.kind is Kind.COUNT}  # COUNT, by its arguments
    assert {call.function for call in CALLS.values()} | counted | set(SIGNATURES) == set(FUNCTIONS)


@pytest.mark.parametrize("family", OF_MECHANISMS)
def test_mechanisms_answer_functions_of_the_table(family: str) -> None:
    assert OF_MECHANISMS[family] <= set(FUNCTIONS)


def test_every_function_is_answered_by_some_mechanism() -> None:
    of_tables = {row.name for row in FUNCTIONS.values() if row.kind is Kind.TABLE}
    assert set.union(*OF_MECHANISMS.values()) == set(FUNCTIONS) - of_tables
    assert set(SIGNATURES) == of_tables


def test_an_aggregate_is_written_or_refused_and_never_both() -> None:
    assert not set(CALLS) & set(REFUSED)
    assert set(CALLS) < NAMES


def test_inside_one_unit_stands_what_the_table_says() -> None:
    rows = [row for row in FUNCTIONS.values() if row.inside_unit is not None]
    plain = {name for name, call in CALLS.items() if call.plain and call.function in {row.name for row in rows}}
    assert set(per_unit.INSIDE) == plain
    assert {row.name for row in rows} <= {"count_rows", "count_distinct", *(call.function for call in CALLS.values())}


def test_over_answers_stands_what_the_table_says() -> None:
    taken = {name: tuple(f.parameters[0] for f in functions) for name, functions in stages.AGGREGATES.items()}
    rows = {row.name: row.over_answers for row in FUNCTIONS.values() if row.over_answers}
    assert taken.pop("median") == (Type.REAL,)  # of quantiles it alone
    assert taken | {"count_distinct": tuple(f.parameters[0] for f in stages.COUNT_DISTINCT)} == rows
    assert all(
        f.result is FUNCTIONS[CALLS[name].function].result(f.parameters[0])
        for name, fs in stages.AGGREGATES.items()
        if name != "count"
        for f in fs
    )


def test_windows_take_the_aggregates_that_stand_over_answers() -> None:
    rows = {name: types for name, types in taken_by_windows().items() if name in CALLS}
    kept = [FUNCTIONS[name] for name in stages.AGGREGATES if name in FUNCTIONS]
    plain = [row for row in kept if row.kind in (Kind.COUNT, Kind.SUM, Kind.PLACE)]
    assert rows == {row.name: row.over_answers for row in plain}


def taken_by_windows() -> dict[str, tuple[Type, ...]]:
    names = {name for name, _ in windows.FUNCTIONS}
    return {name: tuple(types[0] for own, types in windows.FUNCTIONS if own == name and types) for name in names}


def test_owners_name_defaults_for_the_aggregates_that_the_table_says() -> None:
    keys = {row.default for row in FUNCTIONS.values() if row.default}
    assert {*keys, "median", "ban"} == set(ColumnMechanisms.model_fields)


def test_owners_name_the_mechanisms_that_there_are() -> None:
    # An exact public number needs no choice; a metric answers whole statements.
    assert set(get_args(MechanismName)) == {m.name for m in MECHANISMS} - {"public"}


def test_only_sums_over_rows_add_up() -> None:
    assert {row.name for row in FUNCTIONS.values() if row.additive} == {"count_rows", "count", "sum"}
    assert all(row.by_unit is ByUnit.TOTAL for row in FUNCTIONS.values() if row.additive)


def test_pairs_have_two_arguments() -> None:
    two = {call.function for call in CALLS.values() if call.takes is Takes.PAIR}
    assert two == {row.name for row in FUNCTIONS.values() if row.arguments == 2}


def lists_of_aggregates(file: Path) -> list[int]:
    """Lines of a module where three names of aggregates or more stand in one literal."""
    known = {*CALLS, *FUNCTIONS}
    found: list[int] = []
    for node in ast.walk(ast.parse(file.read_text())):
        if not isinstance(node, ast.Tuple | ast.List | ast.Set | ast.Dict):
            continue
        parts = node.keys if isinstance(node, ast.Dict) else node.elts
        names = [part.value for part in parts if isinstance(part, ast.Constant)]
        if len(names) > 2 and all(isinstance(name, str) and name in known for name in names):
            found.append(node.lineno)
    return found


def test_no_list_of_aggregates_stands_beside_the_table_and_the_mechanisms() -> None:
    root = Path(dpsql.__file__).parent
    elsewhere = [file for file in root.rglob("*.py") if root / "mechanisms" not in file.parents]
    assert [(file.name, line) for file in elsewhere for line in lists_of_aggregates(file)] == []
