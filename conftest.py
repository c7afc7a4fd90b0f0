"""All tests, doctests and examples state what chance may do to them: see tests/false_alarms.py."""

pytest_plugins = ["tests.false_alarms"]
