"""What is known of rows from public facts alone: their names, whose they are, how many one unit has, what conditions
leave.

Sensitivity starts from `relations` (whose rows these are) and `stability` (how many of one unit's). `guesses` are never
for a proof: they serve to choose by, and to foretell errors.

Tests: tests/sql.
"""
