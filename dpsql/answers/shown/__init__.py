"""What answers look like: values, errors, notes and tables as text, HTML and Arrow, safe for a screen.

Tests: tests/unit/answers.
"""
