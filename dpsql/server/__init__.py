"""Doors of the owner's process that others reach: users and limits of all of them, and each door by itself.

Tests: tests/unit/server.
"""
