"""What is asked of rows: which groups there are, and which aggregates are measured in each.

`domains` says which groups a key can have, from declarations and never from data; `aggregate_calls` reads calls by the
table in `plan.aggregates`.

Tests: tests/sql.
"""
