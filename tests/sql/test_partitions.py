"""Without noise, what is said of all rows agrees with what is said of their parts (see `partitions`)."""

from __future__ import annotations

from unittest.mock import patch

import pytest

from tests.sql import partitions
from tests.sql.databases import POLICIES
from tests.sql.generate import Parted
from tests.sql.meaning import Bench
from tests.sql.partitions import difference, tried


@pytest.mark.every(2)
@pytest.mark.parametrize("policy", POLICIES)
def test_what_is_said_of_the_parts_of_the_rows_is_said_of_them_all(
    policy: str, benches: dict[str, Bench], seed: int
) -> None:
    tried(benches[policy], 3, seed)


@pytest.mark.slow
@pytest.mark.parametrize("policy", POLICIES)
def test_a_thousand_random_conditions_part_the_rows(policy: str, benches: dict[str, Bench], seed: int) -> None:
    assert tried(benches[policy], 250, seed)["compared"] > 100  # or little was compared


def test_the_comparison_sees_a_part_that_is_missing(benches: dict[str, Bench]) -> None:
    asked = Parted("visits AS v", "v.patient_id", "", "v.cost", "v.cost > 50")
    assert difference(benches["hospital"], asked) == ""
    with patch.object(partitions, "PARTS", ("{}", "NOT {}", "NOT {}")):
        assert "COUNT(*) of ()" in str(difference(benches["hospital"], asked))
    with patch.object(partitions, "PARTS", ("{}", "{} AND FALSE", "({}) IS NULL")):
        assert difference(benches["hospital"], asked)


def test_the_comparison_sees_an_extreme_that_is_missing(benches: dict[str, Bench]) -> None:
    asked = Parted("regions AS p", "p.code", "", "p.tax", "p.tax > 0.1", public=True)
    assert difference(benches["shop"], asked) == ""
    assert partitions._extremes(benches["shop"], asked, ["p.tax > 0.1", "p.tax IS NULL"]).startswith("MIN(p.tax)")
