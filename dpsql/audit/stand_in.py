"""The policy as an audit opens it: what it promises to people, over other data, with a budget that never runs out.

Tests: tests/unit/audit/test_made_up.py.
"""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path

from dpsql.engines import offered
from dpsql.policy import Limit, Policy
from dpsql.policy.column import ColumnPolicy
from dpsql.policy.server import ServerSection
from dpsql.policy.table import TablePolicy

__all__ = ["AUDITOR", "DATABASE", "placed", "stand_in"]

AUDITOR = "audit"
"""The analyst who asks."""
DATABASE = "made_up.duckdb"
ENDLESS = Limit(epsilon=Decimal(10**6), delta=Decimal("0.9"), gamma=Decimal("0.9"))
"""More than an audit spends. What a price is charged does not hang on what is left."""
AUTO = (0, 100)
"""What stands for ``bounds: auto`` here: those that `dpsql advise` would find follow from the data."""


def stand_in(policy: Policy) -> Policy:
    """The policy over made-up tables in DuckDB.

    The budget, the places of files and the owner's word for dear queries are other ones. All that bears on noise is
    the owner's: units, caps, bounds, domains, neighbours, composition, metrics, classes, cells, bans and defaults.
    """
    budget = policy.budget.model_copy(
        update={"total": ENDLESS, "analysts": {AUDITOR: ENDLESS}, "advised": None, "mark": None}
    )
    metrics = {
        name: own.model_copy(
            update={"limit": dict.fromkeys(own.limits, Decimal(10**6)) if own.combine == "sum" else Decimal(10**6)}
        )
        for name, own in policy.metrics.items()
    }
    section = {"kind": "duckdb", "database": DATABASE, "memory": policy.engine.memory, "deadline": "10min"}
    return policy.model_copy(
        update={
            "engine": offered("duckdb", "section").SECTION.model_validate(section),
            "budget": budget,
            "tables": {name: _table(own) for name, own in policy.tables.items()},
            "metrics": metrics,
            "server": ServerSection(),
        }
    )


def placed(policy: Policy, folder: Path) -> Policy:
    """The policy, as if its file lay in a folder."""
    found = policy.model_copy()
    found._file = folder / "policy.yaml"
    return found


def _table(table: TablePolicy) -> TablePolicy:
    columns = {name: _column(own) for name, own in table.columns.items()}
    return table.model_copy(update={"source": None, "columns": columns})


def _column(column: ColumnPolicy) -> ColumnPolicy:
    """The column; with bounds where they are still to be found."""
    if not column.auto:
        return column
    declared = {name: getattr(column, name) for name in column.model_fields_set if name != "bounds"}
    return ColumnPolicy.model_validate({**declared, "bounds": AUTO})
