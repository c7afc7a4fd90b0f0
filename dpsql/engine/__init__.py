"""Where exact numbers come from.

    base.py      what an engine offers to analysts
    database.py  what it offers to the owner's process
    dialect.py   how a database spells our SQL; DIALECTS.md, how three of them do
    lower.py     plan to SQL
    printer.py   expressions as SQL: quoted, qualified, with bound parameters
    duckdb/      the default engine
    log.py       the owner's log

Which engines there are stands in `dpsql.engines`, what their folders offer to the owner in `dpsql.owner.engines`.
"""
