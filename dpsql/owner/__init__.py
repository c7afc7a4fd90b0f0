"""The owner's side, which may see the source. Rooms, in the order of the data:

shape.py          what the policy says about the tables
sources.py        the owner's files
bounded.py        the SQL that puts values and rows inside their bounds
owners.py         whose row it is: the unit, or a chain of keys to it
public.py         public tables and their facts
views.py          building the bounded file, table by table
process.py        the process that does all this: it alone reads the source
jobs.py           the parent's side of it
builder.py        a version of the tables: all of it, or none
engines.py        the engines there are: how each is built and opened
versions.py       opening one over a version that is sound
facts.py          what is kept beside a bounded file
catalog.py        what the plan may know of the tables
check.py          do the data fit the policy? With the reports beside it, for the owner's eyes
"""
