"""Bounded tables: built as one version, whole or not at all, and opened where they are sound.

`builder` is the parent's side. In the owner's process `views` builds table by table: `owners` says whose a row is,
`bounded` puts values inside their bounds, `caps` and `one_pass` rows in their order within their unit; `totals`,
`by_size`, `by_rank`, `value_counts` and `open_days` are what is added up beforehand. `again` and `appended` keep what
did not change.

Tests: tests/unit/owner/building.
"""
