"""``python -m dpsql.cli``.

Tests: tests/unit/cli.
"""

from dpsql.cli import main

main()
