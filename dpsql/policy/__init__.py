"""What the data owner promises: the policy file, checked and frozen."""

from dpsql.policy.column import ColumnPolicy
from dpsql.policy.engine import EngineSection
from dpsql.policy.load import load_policy
from dpsql.policy.model import BudgetSection, DefaultPrice, Limit, Policy
from dpsql.policy.table import TablePolicy, Via

__all__ = [
    "BudgetSection",
    "ColumnPolicy",
    "DefaultPrice",
    "EngineSection",
    "Limit",
    "Policy",
    "TablePolicy",
    "Via",
    "load_policy",
]
