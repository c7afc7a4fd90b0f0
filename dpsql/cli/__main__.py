"""``python -m dpsql.cli``."""

from dpsql.cli import main

main()
