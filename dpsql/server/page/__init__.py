"""The owner's page: what was spent, asked, released and served, without any value of an answer.

`facts` gathers what it shows from the ledger, `sections` writes it as HTML by `markup`, with a picture by `chart` and
the `style` of the whole. `dpsql report` writes it as one file; a server shows it, and takes the owner's word there.
"""
