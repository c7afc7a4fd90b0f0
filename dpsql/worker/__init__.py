"""The locked process: one statement in, one table out.

    client.py    the parent's side: `Worker.run`
    process.py   starting and stopping a child process
    wire.py      what travels between the two: JSON headers and Arrow tables, never pickles
    columns.py   Arrow tables to Python columns, on the parent's side
    __main__.py  the child's side: opens the bounded file (or nothing), locks itself, answers
    limits.py    what the operating system forbids the child
    verify.py    DuckDB's own reading of a statement, compared with what was meant

The parent never imports the database engine, and this package never imports what decides or releases.
"""
