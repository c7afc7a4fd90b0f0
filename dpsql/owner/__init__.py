"""The owner's side, which may see the source.

`process` is the one process that reads it, `jobs` the parent's side of that, `shape` what the policy tells it.
`catalog` says what the plan may know of the result, and `template` writes a first policy. The rooms:

building   a version of the bounded tables: all of it, or none
advice     facts about sizes and tails, measured privately (`dpsql advise`)
checking   do the data fit the policy? For the owner's eyes (`dpsql check`)
"""
