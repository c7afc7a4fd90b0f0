"""The owner's side, which may see the source. Rooms, in the order of the data:

shape.py          what the policy says about the tables
bounded.py        the SQL that puts values and rows inside their bounds
owners.py         whose row it is: the unit, or a chain of keys to it
public.py         public tables and their facts
views.py          building the bounded tables, one by one
process.py        the process that does all this: it alone reads the source
jobs.py           the parent's side of it
builder.py        a version of the tables: all of it, or none
engines.py        what an engine's folder offers: how it is built and opened
versions.py       opening one over a version that is sound
facts.py          the facts of public tables
catalog.py        what the plan may know of the tables
template.py       a first policy
check.py          do the data fit the policy? With the reports beside it, for the owner's eyes
"""
