"""Columns of a panel, and the one bound that they are given."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from dpsql.advising import facts_of
from dpsql.owner.advice.recommend import contradictions, recommended
from dpsql.owner.advice.waves import waves_of
from dpsql.policy import load_policy
from dpsql.policy.column import ColumnPolicy
from tests.unit.test_advising import RARE, advised, write_fines, write_orders

INTEGER, REAL = (ColumnPolicy.model_validate({"type": type_, "bounds": [0, 9]}) for type_ in ("integer", "real"))


def test_waves_are_columns_of_one_type_named_alike_but_for_one_number() -> None:
    columns = {
        "pay_2019": INTEGER, "pay_2020": INTEGER, "rent_2019": INTEGER, "pay_2021": REAL, "pay": INTEGER,
        "pay_2019_1": INTEGER, "pay_2020_2": INTEGER, "pay_2020_1": INTEGER,
    }  # fmt: skip
    assert waves_of("pay_2019", columns) == ["pay_2020"]
    assert waves_of("pay_2019_1", columns) == ["pay_2020_1"]
    assert waves_of("pay_2020_1", columns) == ["pay_2019_1", "pay_2020_2"]
    assert waves_of("pay", columns) == []


def test_the_waves_of_a_panel_have_one_bound_unless_one_is_far_wider(tmp_path: Path) -> None:
    """Counts as without noise: the values of two waves end in bins beside each other, a third's far off."""
    write_orders(tmp_path / "data")
    write_fines(tmp_path / "data", "fine_2019", "fine_2020", "fine_2021")
    fine = "      fine:  {type: integer, bounds: auto}\n"
    policy = tmp_path / "shop.yaml"
    policy.write_text(RARE.replace(fine, "".join(fine.replace("fine", f"fine_{year}") for year in (2019, 2020, 2021))))
    advised(policy)
    loaded = load_policy(policy)
    facts = facts_of(loaded)
    assert facts is not None
    held = {"fine_2019": (0,) * 6 + (9000,), "fine_2020": (0,) * 5 + (9000,), "fine_2021": (0,) * 12 + (9000,)}
    sizes = {
        asked: (*(counts := held.get(str(asked.column), (0, 10_000))), *(0,) * (asked.cells - len(counts)))
        for asked in facts.sizes
    }
    exact = replace(facts, sizes=sizes)
    found = recommended(loaded, exact)
    bounds = {key[3]: value for key, value in found.changes.items() if key[-1] == "bounds" and key[3] in held}
    assert bounds == {"fine_2019": "[0, 130]", "fine_2020": "[0, 130]", "fine_2021": "[0, 8200]"}
    (told,) = (line for line in found.lines if line.startswith("  fine_2020:"))
    assert "outside [0, 63]; bounds: [0, 130], to be compared with fine_2019, fine_2021;" in told

    text = policy.read_text()
    for name, written in bounds.items():
        text = text.replace(f"{name}:  {{type: integer, bounds: auto", f"{name}:  {{type: integer, bounds: {written}")
    policy.write_text(text)
    said = [finding.column for finding in contradictions(load_policy(policy), exact)]
    assert not {"fine_2019", "fine_2020", "fine_2021"} & set(said)
