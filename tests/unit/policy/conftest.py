"""A small sound policy, and ways to change one line of it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from dpsql.errors import PolicyError
from dpsql.policy import Policy, load_policy

CLINIC = """\
version: 1
name: clinic
engine: {kind: duckdb, database: clinic.duckdb}
neighbours: add_remove
budget:
  ledger: clinic.ledger.db
  composition: zcdp
  total: {epsilon: 2, delta: 1e-9}
  analysts: {ana: {epsilon: 1}, "*": {epsilon: 0.5}}
  per_query: {epsilon: 0.1}
tables:
  people:
    unit: pid
    key: pid
    rows_per_unit: 1
    columns:
      age: {type: integer, bounds: [0, 110]}
      town: {type: text, values_from: towns.name}
  visits:
    unit: pid
    rows_per_unit: 12
    columns:
      cost: {type: real, bounds: [0, 20000]}
      on_day: {type: date, bounds: [2020-01-01, 2025-12-31]}
  towns: {public: true, key: name}
"""


@pytest.fixture
def load(tmp_path: Path) -> Callable[..., Policy]:
    """Loads the clinic's policy after replacing each pair of texts."""

    def load_changed(*changes: tuple[str, str]) -> Policy:
        text = CLINIC
        for old, new in changes:
            assert old in text
            text = text.replace(old, new, 1)
        file = tmp_path / "clinic.yaml"
        file.write_text(text, encoding="utf-8")
        return load_policy(file)

    return load_changed


@pytest.fixture
def refusal(load: Callable[..., Policy], tmp_path: Path) -> Callable[..., str]:
    """The message that refuses the changed policy, without the directory."""

    def message(*changes: tuple[str, str]) -> str:
        with pytest.raises(PolicyError) as caught:
            load(*changes)
        return str(caught.value).replace(f"{tmp_path}/", "")

    return message
