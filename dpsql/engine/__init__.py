"""Where exact numbers come from.

base.py      what an engine offers
lower.py     plan to SQL
printer.py   expressions as SQL: quoted, qualified, with bound parameters
duckdb.py    the default engine
log.py       the owner's log
"""
