"""What a query means: from the analyst's text to a plan that only public facts went into.

Tests: tests/sql.
"""
