"""What the data owner promises: the policy file, checked and frozen."""

from dpsql.policy.load import load_policy
from dpsql.policy.model import BudgetSection, EngineSection, Limit, Policy, Price, require_enforced
from dpsql.policy.table import Column, Table, Via
from dpsql.policy.template import first_policy

__all__ = [
    "BudgetSection",
    "Column",
    "EngineSection",
    "Limit",
    "Policy",
    "Price",
    "Table",
    "Via",
    "first_policy",
    "load_policy",
    "require_enforced",
]
