"""What `dpsql advise` measures, privately and at a price, and what it would write into the policy.

`questions` asks for histograms of units by the policy alone, `measure` counts them in the owner's process, `advise` has
them noised and kept, `advised` reads bounds and caps from them, `recommend` says what the policy should hold.

Tests: tests/unit/owner/advice.
"""
