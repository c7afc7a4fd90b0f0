"""What is said before anything is spent: prices, expected errors, and notes on what an answer will not tell.

`quote` makes a quote (`quoted`) of a prepared statement. `foreseen` and its neighbours expect the width of computed
columns; the modules beside them each find one thing that an analyst should know.

Tests: tests/unit/answers.
"""
