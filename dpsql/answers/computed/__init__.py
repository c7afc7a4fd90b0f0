"""Columns computed from released values, in a worker without data, and the intervals of them.

`postprocess` has them computed. `intervals` holds for any computation, `linear` is shorter for sums and means, and
`totals` looks at several rows at once.

Tests: tests/unit/answers.
"""
