"""From released numbers to an answer: what follows the noise, how it is kept, quoted and written.

`finish` makes an `answer` of one release, `several` of more. The rooms, each of which knows only those before it:

shown      values, notes and tables as text, HTML and Arrow
released   raw to released, kept as bytes, brought to agree with each other
plots      pictures of answers
computed   columns computed from released values, and their intervals
quotes     what is said before anything is spent: prices, expected errors, notes
"""
