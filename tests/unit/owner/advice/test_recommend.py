"""What facts say of columns of mostly 0."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from dpsql.advising import facts_of
from dpsql.errors import PolicyError
from dpsql.owner.advice.advised import unresolved, with_bounds
from dpsql.owner.advice.questions import Tally
from dpsql.owner.advice.recommend import recommended
from dpsql.policy import load_policy
from tests.unit.test_advising import RARE, advised, write_fines, write_orders


@pytest.mark.parametrize(
    ("fined", "nullable", "said"),
    [
        (1000, False, "fine: about 90% of the units have 0 (write nullable: true if some have no value); at most "),
        (1000, True, "fine: at most "),  # they may be NULL as well
        (0, False, "fine: no value but 0 stands above the noise; at most "),
    ],
)
def test_units_with_0_are_what_is_left_of_all(tmp_path: Path, fined: int, nullable: bool, said: str) -> None:
    """Of 10,000 units, and counts as they would be without noise: some have a fine of 64 to 127."""
    write_orders(tmp_path / "data")
    write_fines(tmp_path / "data")
    policy = tmp_path / "shop.yaml"
    policy.write_text(RARE.replace("type: integer,", "type: integer, nullable: true,") if nullable else RARE)
    advised(policy)
    loaded = load_policy(policy)
    facts = facts_of(loaded)
    assert facts is not None

    def counts(asked: Tally) -> tuple[int, ...]:
        held = {None: (0, 10_000), "price": (0,), "fine": (0,) * 6 + (fined,)}[asked.column]
        return (*held, *(0,) * (asked.cells - len(held)))

    exact = replace(facts, sizes={asked: counts(asked) for asked in facts.sizes})
    found = recommended(loaded, exact)
    assert any(line.strip().startswith(said) for line in found.lines)
    place = {key[-1]: value for key, value in found.changes.items() if "fine" in key}
    if not fined:
        assert place == {}
        with pytest.raises(PolicyError, match=r"at most [\d.]+% of the units may have one; .*for nothing but 0"):
            with_bounds(loaded, exact)
    else:
        assert place["bounds"] == "[0, 130]"
        assert (place["centre"] == "0") is not nullable


@pytest.mark.parametrize(("type_", "nullable"), [("integer", False), ("integer", True), ("real", False)])
def test_a_column_in_which_hardly_anybody_can_have_another_value_than_0_has_bounds(
    tmp_path: Path, type_: str, nullable: bool
) -> None:
    """Of ten million units the noise may hide less than a hundredth."""
    write_orders(tmp_path / "data")
    write_fines(tmp_path / "data")
    policy = tmp_path / "shop.yaml"
    fine = f"fine:  {{type: {type_}, nullable: {str(nullable).lower()}, bounds: auto}}"
    policy.write_text(RARE.replace("fine:  {type: integer, bounds: auto}", fine))
    advised(policy)
    loaded = load_policy(policy)
    facts = facts_of(loaded)
    assert facts is not None

    def counts(asked: Tally) -> tuple[int, ...]:
        held = {None: (0, 10_000_000), "price": (0,) * 3 + (10_000_000,), "fine": (0,)}[asked.column]
        return (*held, *(0,) * (asked.cells - len(held)))

    exact = replace(facts, sizes={asked: counts(asked) for asked in facts.sizes})
    found = recommended(loaded, exact)
    assert {key[-1]: value for key, value in found.changes.items() if "fine" in key} == {"bounds": "[0, 1]"}
    assert with_bounds(loaded, exact).tables["orders"].columns["fine"].bounds == (0, 1)
    assert unresolved(loaded, exact) == []
