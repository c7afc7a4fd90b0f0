"""From a plan to what would be done: bounds in force, prices, one mechanism per aggregate, few engine statements.

Everything here rests on public facts: the policy, the statement, the options. Nothing has been charged or read.
"""

from __future__ import annotations

from dpsql.prepare.prepared import Grouping, Measured, Prepared, Reading
from dpsql.prepare.reads import refuse_unread
from dpsql.prepare.statement import prepare

__all__ = ["Grouping", "Measured", "Prepared", "Reading", "prepare", "refuse_unread"]
