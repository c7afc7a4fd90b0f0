"""Released numbers: made of raw ones by the mechanisms, kept as bytes, put in order, brought to agree with their
totals.

Tests: tests/unit/answers.
"""
