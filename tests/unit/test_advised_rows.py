"""The guess of rows that `dpsql advise` writes: only what is seen is counted, and the noise may hide more."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import pytest

import dpsql
from tests.unit.test_advising import POLICY, advised, write_orders


def shop(folder: Path, own: str) -> Path:
    """The shop, with what its owner says of the rows."""
    write_orders(folder / "data")
    file = folder / "shop.yaml"
    file.write_text(POLICY.replace("rows_about: 8000", own))
    return file


def test_a_larger_guess_stays_where_the_noise_may_hide_as_many(tmp_path: Path) -> None:
    policy = shop(tmp_path, "rows_about: 8500")
    report = advised(policy)
    assert "  rows_about: 8500 stays: it is more than is seen, and the noise may hide as many." in report.lines
    assert not any("rows_about" in change for change in report.changes)
    with dpsql.open(policy) as proxy:
        assert proxy._backend.catalog.tables["orders"].rows_about == 8500
        assert proxy.session(analyst="ana").query("SHOW TABLES")["known_from"] == ["a guess"]


@pytest.mark.parametrize(
    ("own", "written"),
    [
        ("rows_about: 900000", "8000"),  # what is seen: there are not so many
        ("rows_about: 4000", "8000"),
        ("", "8000"),  # 10,000 is nobody's guess
    ],
)
def test_it_is_written_where_what_is_seen_contradicts_it(tmp_path: Path, own: str, written: str) -> None:
    changes = advised(shop(tmp_path, own), epsilon=Fraction(1, 2)).changes
    assert f"tables.orders.rows_about: {written}" in changes


def test_under_an_advised_cap_it_is_as_many_as_there_may_be_within_it(tmp_path: Path) -> None:
    changes = advised(shop(tmp_path, "rows_about: 12000"), narrow=True).changes
    assert {"tables.orders.rows_per_unit: 4", "tables.orders.rows_about: 10000"} <= set(changes)


def test_what_advise_wrote_of_the_rows_seen_is_known_from_it(tmp_path: Path) -> None:
    policy = shop(tmp_path, "rows_about: 8000")
    advised(policy)
    with dpsql.open(policy) as proxy:
        assert proxy.session(analyst="ana").query("SHOW TABLES")["known_from"] == ["advise"]
