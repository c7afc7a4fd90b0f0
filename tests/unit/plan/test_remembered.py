"""What is kept of a relation is its own, and is worked out once."""

from __future__ import annotations

from dpsql.plan.catalog import TableInfo
from dpsql.plan.known.stability import rows_per_unit
from dpsql.plan.nodes import Relation, Scan
from dpsql.plan.remembered import MOST_KEPT, remembered


def _scan(name: str, rows_per_unit: int = 1) -> Scan:
    return Scan(TableInfo(name, {}, rows_per_unit=rows_per_unit), "t0")


def test_what_is_found_of_each_relation_is_worked_out_once() -> None:
    asked: list[str] = []

    @remembered
    def name_of(relation: Relation) -> str:
        """Its table's name."""
        assert isinstance(relation, Scan)
        asked.append(relation.table.name)
        return relation.table.name

    visits, patients = _scan("visits"), _scan("patients")
    assert [name_of(relation) for relation in (visits, patients, visits, patients)] == [
        "visits", "patients", "visits", "patients",
    ]  # fmt: skip
    assert asked == ["visits", "patients"]
    assert name_of(_scan("visits")) == "visits"  # equal, but another one
    assert asked == ["visits", "patients", "visits"]
    assert name_of.__doc__ == "Its table's name."


def test_a_relation_in_the_memory_of_one_that_is_gone_is_another() -> None:
    found = [(rows, rows_per_unit(_scan("visits", rows))) for rows in range(1, 4 * MOST_KEPT)]
    assert all(rows == own for rows, own in found)


def test_no_more_than_so_many_are_kept() -> None:
    asked: list[int] = []

    @remembered
    def found(relation: Relation) -> int:
        asked.append(id(relation))
        return len(asked)

    relations = [_scan(f"t{number}") for number in range(MOST_KEPT + 1)]
    first = [found(relation) for relation in relations]
    assert found(relations[-1]) == first[-1]  # the last one is kept
    assert found(relations[0]) == MOST_KEPT + 2  # the first made room
