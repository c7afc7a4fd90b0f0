"""What the data owner promises: the policy file, checked and frozen."""

from dpsql.policy.engine import EngineSection
from dpsql.policy.load import load_policy
from dpsql.policy.model import BudgetSection, DefaultPrice, Limit, Policy
from dpsql.policy.table import ColumnPolicy, TablePolicy, Via
from dpsql.policy.template import first_policy

__all__ = [
    "BudgetSection",
    "ColumnPolicy",
    "DefaultPrice",
    "EngineSection",
    "Limit",
    "Policy",
    "TablePolicy",
    "Via",
    "first_policy",
    "load_policy",
]
