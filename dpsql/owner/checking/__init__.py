"""Do the data fit the policy? Exact counts and shares for the owner's eyes: what `dpsql check` says.

Tests: tests/unit/owner/checking.
"""
