"""What a policy's answers really lose: made-up neighbours, asked the same, and a lower bound from many draws.

`auditing.audit` is the whole of it, for ``dpsql audit POLICY``. No private data are read: everything is made up from
the policy (`made_up`), built by the real builder, and asked through a real session (`world`), of questions for each
mechanism (`questions`). What happens is on record (`replay`), and two ways look at it. `audits` compare the records of
neighbours, number by number. `measured` and `held_out` draw the noise again many times, and bound the loss from below.

The tests of the house replay with it, too: tests/attacks, tests/statistical.

Tests: tests/unit/audit, tests/attacks, tests/statistical.
"""
