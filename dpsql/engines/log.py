"""The owner's log: the one place for what an engine said, which may speak of rows."""

from __future__ import annotations

import logging

__all__ = ["OPERATOR"]

OPERATOR = logging.getLogger("dpsql.operator")
OPERATOR.propagate = False  # only a handler that the owner puts here gets it: no screen, no notebook
OPERATOR.addHandler(logging.NullHandler())  # without one, Python would print errors to stderr
