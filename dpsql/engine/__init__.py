"""Where exact numbers come from.

    base.py      what an engine offers
    dialect.py   how a database spells our SQL; DIALECTS.md, how three of them do
    lower.py     plan to SQL
    printer.py   expressions as SQL: quoted, qualified, with bound parameters
    duckdb/      the default engine
    log.py       the owner's log

Which engines there are, and how each is built and opened, is the owner's to know: `dpsql.owner.engines`.
"""
