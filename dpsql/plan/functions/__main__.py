"""Prints docs/functions.md: ``python -m dpsql.plan.functions > docs/functions.md``."""

from __future__ import annotations

import sys

from dpsql.plan.functions.page import page

if __name__ == "__main__":
    sys.stdout.write(page())
