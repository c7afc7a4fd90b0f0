"""The locked process: one statement in, one table out.

`client` is the parent's side of one process (`Worker.run`), and `pool` of several; `process` starts and stops them.
`wire` is what travels between the two: JSON headers and Arrow tables, never pickles; `columns` reads these tables.
`__main__` is the child's side: it opens the bounded file (or nothing), has the operating system forbid it all else
(`limits`), and answers what DuckDB reads as it was meant (`verify`).

`making` says what is made of rows that lie unit by unit: `lying` reads them as they stream by, and `cutting`, `sizing`,
`counting`, `whole_keys`, `group_ranks` and `repeats` add them up or count them. `catalogue` is a process without any
data.

The parent never imports the database engine, and this package never imports what decides or releases.
"""
