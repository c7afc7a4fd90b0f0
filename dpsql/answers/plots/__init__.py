"""Pictures of answers: `shapes` says which picture an answer is, `picture` lays it out, `marks` draws it in panels.

Everything but `shapes` needs matplotlib, which comes with the extra ``plot``.

Tests: tests/unit/answers/plots.
"""
