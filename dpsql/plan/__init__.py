"""What a query means: from the analyst's text to a plan that only public facts went into.

`resolve` makes a plan (`plans`, of `nodes`) of syntax. What it asks lies in rooms, each of which knows only those
before it:

functions      the allow-list of functions over one row
values         what an expression is: its function, its type, the bounds of its values
known          what is known of rows: their names, whose they are, how many one unit has, what conditions leave
measured       what is asked of rows: keys and their groups, aggregates and what they measure
rows           FROM and WHERE: tables, joins, sub-queries, and what happens inside one unit
over_answers   queries over answers: windows, joins, several answers in one statement

Tests: tests/sql.
"""
