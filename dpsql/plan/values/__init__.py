"""What an expression is: its function, its type, and between which bounds its values lie.

`expressions` goes from names and calls to typed nodes, and `applied` takes the first row of the allow-list that fits
and is proved total there. `ranges` says which bounds follow, `implied` in which box of values a condition is true.

Tests: tests/sql.
"""
