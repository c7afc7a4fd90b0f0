"""Policies that are audited: no data of theirs exist."""

from __future__ import annotations

from pathlib import Path

from dpsql.policy import Policy, load_policy

__all__ = ["SMALL", "WIDE", "loaded"]

SMALL = """
version: 1
name: small
engine: {kind: duckdb, database: nowhere.duckdb}
neighbours: add_remove
budget:
  ledger: small.ledger.db
  composition: zcdp
  total: {epsilon: 4, delta: 1.0e-6}
  analysts: {ana: {epsilon: 2, delta: 1.0e-6}}
  per_query: {epsilon: 0.5, delta: 1.0e-9}
tables:
  visits:
    unit: person
    rows_per_unit: 4
    max_groups_per_unit: 3
    columns:
      cost: {type: real, bounds: [0, 200], grid: 0.01}
      ward: {type: text, values: [A, B, C], nullable: true}
      diagnosis: {type: text}
"""
"""One table; of each kind of column one."""

WIDE = """
version: 1
name: wide
engine: {kind: postgres, dsn: host=/nowhere dbname=shop user=owns, query_dsn: host=/nowhere dbname=shop user=asks}
neighbours: replace_one
budget:
  ledger: wide.ledger.db
  composition: basic
  total: {epsilon: 4, gamma: 0.02}
  analysts: {ana: {epsilon: 2, gamma: 0.02}}
  per_query: {epsilon: 0.5}
  advised: {epsilon: 0.1}
tables:
  people:
    unit: person
    rows_per_unit: 1
    every_unit: true
    columns:
      age: {type: integer, bounds: [-3, 110]}
      town: {type: text, values_from: towns.name}
      income: {type: decimal, bounds: auto}
      well: {type: boolean, nullable: true}
  orders:
    unit: {via: accounts, on: account}
    key: [year, part]
    rows_per_unit: 6
    columns:
      year: {type: integer, bounds: [2020, 2022]}
      part: {type: text, values: [a, b]}
      price: {type: real}
      paid_on: {type: date, bounds: [2020-01-01, 2022-12-31]}
      seen_at: {type: timestamp}
  accounts:
    unit: person
    key: account
    rows_per_unit: 2
    columns: {kind: {type: text}}
  towns: {public: true, key: name}
random_dp:
  people: {assume: exchangeable, base_partition: [town], gamma_limit: 0.5, row_floor: 50000}
metrics:
  home:
    table: people
    combine: sum
    attributes:
      age: {kind: chain, epsilon: 0.01}
      town: {kind: euclidean, of: [towns.x, towns.y], epsilon: 0.1}
    limit: {age: 4, town: 4}
"""
"""Chains, keys of several columns, every unit, a metric, cells; and an engine that is not there."""


def loaded(folder: Path, text: str) -> Policy:
    """The policy of a file."""
    file = folder / "policy.yaml"
    file.write_text(text)
    return load_policy(file)
