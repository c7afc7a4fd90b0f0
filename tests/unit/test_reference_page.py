"""docs/reference.md is what the code says."""

from __future__ import annotations

from dpsql import errors
from dpsql.plan.options import NAMES
from dpsql.policy.schema import policy_schema
from tests.reference import page
from tests.unit.test_readme import ROOT


def test_the_reference_is_made_from_the_code_of_today() -> None:
    assert (ROOT / "docs" / "reference.md").read_text(encoding="utf-8") == page(), "Run `make schema`."


def test_every_key_option_and_error_is_there_with_a_meaning() -> None:
    rows = [line.split(" | ") for line in page().splitlines() if line.startswith("| `")]
    assert all(row[-1].strip(" |") for row in rows)
    told = "\n".join(row[0] for row in rows)
    sections = [policy_schema(), *policy_schema()["$defs"].values()]
    for key in {key for section in sections for key in section.get("properties", {})}:
        assert f"`{key}`" in told, key
    for option in NAMES:
        assert f"`{option}`" in told, option
    for name in ("BudgetExceeded", "PolicyError", "UnsupportedQuery", "ApprovalNeeded"):
        assert name in errors.__all__
        assert f"**`{name}`**" in page()
