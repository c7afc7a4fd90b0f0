"""Opting into random differential privacy: one clear error for each thing that its proof needs."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from dpsql.policy import Policy

Load = Callable[..., Policy]
Refusal = Callable[..., str]

SECTION = "random_dp: {people: {assume: exchangeable, base_partition: [age], gamma_limit: 0.01, row_floor: 50000}}\n"


def opted(*changes: tuple[str, str], section: str = SECTION) -> tuple[tuple[str, str], ...]:
    """The clinic's policy with the section in front of its tables, each of whose texts is replaced."""
    for old, new in changes:
        assert old in section
        section = section.replace(old, new, 1)
    return (("tables:\n", section + "tables:\n"),)


def test_the_section_is_read(load: Load) -> None:
    policy = load(*opted())
    assert policy.random_dp["people"].floor(policy.tables["people"]) == 50_000


def test_the_floor_may_be_that_of_a_table_with_one_row_a_unit(load: Load) -> None:
    floor = ("rows_per_unit: 1\n", "rows_per_unit: 1\n    rows_at_least: 20000\n")
    policy = load(*opted((", row_floor: 50000", "")), floor)
    assert policy.random_dp["people"].floor(policy.tables["people"]) == 20_000


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        (("people:", "nobody:"), "random_dp.nobody: nobody is not a private table of this policy"),
        (("people:", "towns:"), "random_dp.towns: towns is not a private table of this policy"),
        (("[age]", "[agw]"), "random_dp.people.base_partition.0: agw is not a column of people"),
        (("[age]", "[age, age]"), "random_dp.people.base_partition.1: age is named twice"),
        ((", row_floor: 50000", ""), "random_dp.people: nobody vouches for a number of units"),
        (("exchangeable", "independent"), "random_dp.people.assume: independent is not one of"),
        (("gamma_limit: 0.01", "gamma_limit: 1"), "random_dp.people.gamma_limit: 1 is not a probability"),
        (("[age]", "[]"), "random_dp.people.base_partition: this is empty"),
    ],
)
def test_a_section_that_its_table_does_not_allow_is_refused(
    refusal: Refusal, change: tuple[str, str], expected: str
) -> None:
    assert expected in refusal(*opted(change))


@pytest.mark.parametrize("column", ["cost", "note"])
def test_cells_of_an_open_domain_are_refused(refusal: Refusal, column: str) -> None:
    text = SECTION.replace("people", "visits").replace("[age]", f"[{column}]")
    note = ("      cost:", "      note: {type: text}\n      cost:")
    assert f"{column} has no declared domain, so its cells would come from the data" in refusal(
        *opted(section=text), note
    )


def test_the_floor_of_a_table_with_several_rows_a_unit_must_be_one_of_units(refusal: Refusal) -> None:
    text = SECTION.replace("people", "visits").replace("[age]", "[on_day]").replace(", row_floor: 50000", "")
    rows = ("rows_per_unit: 12\n", "rows_per_unit: 12\n    rows_at_least: 20000\n")
    assert "nobody vouches for a number of units" in refusal(*opted(section=text), rows)


def test_a_cap_of_groups_is_refused_because_it_makes_other_cells(refusal: Refusal) -> None:
    text = SECTION.replace("people", "visits").replace("[age]", "[on_day]")
    cap = ("rows_per_unit: 12\n", "rows_per_unit: 12\n    max_groups_per_unit: 3\n")
    assert "max_groups_per_unit leaves out groups of some units" in refusal(*opted(section=text), cap)


MEAN = "statistics: [{column: age, h: absolute_difference, gamma: 0.001}]"
REPLACED = (
    ("neighbours: add_remove", "neighbours: replace_one"),
    ("rows_per_unit: 1\n", "rows_per_unit: 1\n    every_unit: true\n"),
)


def test_a_declared_mean_is_read(load: Load) -> None:
    policy = load(*opted((", row_floor", f", {MEAN}, row_floor")), *REPLACED)
    assert [statistic.column for statistic in policy.random_dp["people"].statistics] == ["age"]


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        (
            ("column: age", "column: town"),
            "statistics.0.column: town is not a column of numbers with bounds that is never",
        ),
        (("column: age", "column: x"), "statistics.0.column: x is not a column of numbers"),
        (("gamma: 0.001", "gamma: 0"), "statistics.0.gamma: gamma 0 covers everybody"),
        (("absolute_difference", "squared"), "statistics.0.h: squared is not one of"),
    ],
)
def test_a_mean_that_cannot_be_declared_is_refused(refusal: Refusal, change: tuple[str, str], expected: str) -> None:
    section = SECTION.replace(", row_floor", f", {MEAN}, row_floor")
    assert expected in refusal(*opted(change, section=section), *REPLACED)


def test_a_mean_needs_a_public_number_of_rows(refusal: Refusal) -> None:
    section = SECTION.replace(", row_floor", f", {MEAN}, row_floor")
    assert "a statistic is proved for a public number of rows" in refusal(*opted(section=section))
    assert "a statistic is proved for a public number of rows" in refusal(*opted(section=section), REPLACED[0])
