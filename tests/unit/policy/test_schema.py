"""The JSON Schema that editors use is the one that the models mean."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from dpsql.policy.schema import policy_schema, schema_text

CHECKED_IN = Path(__file__).parents[3] / "schemas" / "policy.schema.json"


def test_the_checked_in_schema_has_not_drifted() -> None:
    remedy = "run: python -m dpsql.policy.schema > schemas/policy.schema.json"
    assert CHECKED_IN.read_text(encoding="utf-8") == schema_text(), remedy


def test_the_module_prints_the_schema() -> None:
    printed = subprocess.run(
        [sys.executable, "-W", "error", "-m", "dpsql.policy.schema"],
        capture_output=True,
        check=True,
        cwd=CHECKED_IN.parents[1],
    )
    assert printed.stdout.decode() == schema_text()


def test_every_section_is_closed_and_every_key_of_the_core_is_explained() -> None:
    sections = {"Policy": policy_schema(), **policy_schema()["$defs"]}
    for name, section in sections.items():
        assert section["additionalProperties"] is False, name
        if name != "ColumnMechanisms":
            assert all("description" in key for key in section["properties"].values()), name


def test_no_key_takes_null() -> None:
    assert '"null"' not in schema_text() and ": null" not in schema_text()
